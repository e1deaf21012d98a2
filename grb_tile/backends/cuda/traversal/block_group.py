"""The launch of a kernel that a few blocks run together (kernels/traversal/cluster.cuh), in the form the device allows.

    cluster    one thread block cluster: queues and messages in its distributed shared memory
    grid       a few resident blocks: queues and messages in global memory, a barrier each round

The cluster is chosen where the occupancy says that one with at least LEAST_QUEUE bytes a queue is resident.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....planner.choose_traversal import without_cluster

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....planner.choose_traversal import Choice
    from ..runtime.launch import Launcher

MOST_QUEUE = 1 << 16  # bytes of each of a block's two queues
LEAST_QUEUE = 1 << 14  # below it a road network's levels overflow the queues, and the whole grid is faster


class GroupLaunch(NamedTuple):
    """A kept launch, its blocks, and the bytes of each of the two queues of a block."""

    launch: Any
    blocks: int
    queue_bytes: int
    in_cluster: bool

    def choice(self, planned: Choice) -> Choice:
        """The planned Choice, which names the form that runs."""
        return planned if self.in_cluster else without_cluster(planned, self.blocks)


def group_launch(
    launcher: Launcher, header: str, name: str, template: Callable[[int], tuple[str, ...]], count: int, cluster: int,
    blocks: int, threads: int,
) -> GroupLaunch:  # fmt: skip
    """The launch of `name`_cluster<template..., cluster>, or of `name`_grid<template...> on at most `blocks` blocks.

    template: the template arguments for queues of so many bytes.  count: arguments of a launch.
    """
    limits, queue = launcher.limits, launcher.limits.power_of_two_with(MOST_QUEUE, 2)
    threads = launcher.threads(threads)
    if queue >= LEAST_QUEUE and limits.cluster >= cluster:
        kernel = launcher.kernel(header, f"{name}_cluster", "", (*template(queue), str(cluster)))
        if kernel.resident_clusters(cluster, threads, 2 * queue) > 0:
            return GroupLaunch(kernel.launch(count, cluster, threads, 2 * queue), cluster, queue, True)
    kernel = launcher.kernel(header, f"{name}_grid", "", template(MOST_QUEUE))
    blocks = min(launcher.cluster(blocks), kernel.resident_blocks(threads))
    return GroupLaunch(kernel.launch(count, blocks, threads, cooperative=True), blocks, MOST_QUEUE, False)
