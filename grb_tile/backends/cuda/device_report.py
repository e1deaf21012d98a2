"""The report of `grb-tile info --device`: facts of a device, its costs, and what each family of kernels uses on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...planner import tuning
from .elementwise.mapping import reduce_shape
from .graph import bfs, bfs_multi_graph, block_group, sssp
from .products import column_launch, segments

if TYPE_CHECKING:
    from .runtime.device import Device


def report_of(device: Device) -> dict[str, Any]:
    """{"device", "costs", "kernels"}: facts, figures in nanoseconds, and a text for each family of kernels."""
    launcher, profile = device.launcher, device.profile
    limits, free_total = launcher.limits, device.memory()
    return {
        "device": {
            "number": device.number,
            "name": launcher.device_name(),
            "compute_capability": f"{launcher.arch // 10}.{launcher.arch % 10}",
            "multiprocessors": launcher.processors,
            "threads_per_multiprocessor": limits.threads_per_processor,
            "shared_memory_per_block": limits.shared_per_block,
            "warp_reductions": limits.reduce_sync,
            "restricted": limits.restricted,
            "memory_free": free_total[0],
            "memory": free_total[1],
        },
        "costs": {
            "source": profile.source,
            "launch_ns": profile.launch_ns,
            "read_back_ns": profile.read_back_ns,
            "barrier_ns": profile.barrier_ns,
            "dram_gigabytes_per_second": profile.dram_bytes_ns,
            "atomic_ns": profile.atomic_ns,
            "gather_ns": profile.gather_ns,
            "latency_to_h200": profile.latency,
            "atomics_to_h200": profile.atomics,
            "bandwidth_to_h200": profile.bandwidth,
        },
        "kernels": dict(_kernels(device)),
    }


def _kernels(device):
    launcher, profile = device.launcher, device.profile
    limits, processors = launcher.limits, launcher.processors
    columns = min(segments.CACHED_COLUMNS, int(limits.shared_per_block * segments.TABLE_SHARE) // 4)
    yield (
        "row-wise products, full x",
        f"edge-balanced segments; relabelled columns: up to {columns:,} values of x (FP32) in shared memory",
    )
    yield "row-wise products, masks", "rows binned by length, 1 to 32 lanes a row; the first match where one decides"
    shape, slots = column_launch.LAUNCH, column_launch.high_degree_bytes(limits) // 12
    yield (
        "column-wise products",
        f"atomics, {shape['blocks'] * processors} blocks of {shape['block']} threads; from {tuning.HUB_EDGES:,} edges "
        f"on, {slots:,} high-degree rows (FP64) summed in shared memory",
    )
    most = int(tuning.LIST_NS * profile.dram_bytes_ns / 8.125)
    yield "results", f"a bitmap up to {most:,} positions of FP64, then read back and made a list"
    yield (
        "matrix products",
        f"two phases with hash tables and windows in {limits.dynamic_shared >> 10} KiB of shared memory a block",
    )
    yield "sums, inner products", f"{reduce_shape(launcher)[1]} blocks at most, the last one combines"
    yield (
        "BFS, SSSP",
        f"one grid of {processors * bfs.LAUNCH['per_processor']} blocks of up to {bfs.LAUNCH['block']} threads, "
        f"{'reductions of a warp in one instruction' if limits.reduce_sync else 'reductions of a warp by shuffles'}",
    )
    yield "BFS, high diameter", _group(launcher, bfs.LAUNCH)
    yield "SSSP, high diameter", _group(launcher, sssp.LAUNCH)
    hubs = bfs_multi_graph.hubs_of(limits)
    yield "multi-source BFS", f"64 searches a word; {hubs:,} highest-degree vertices in shared memory"


def _group(launcher, shape):
    blocks = min(shape["blocks"], launcher.processors)
    return f"{blocks} resident blocks, queues of {block_group.QUEUE_BYTES >> 10} KiB in global memory"
