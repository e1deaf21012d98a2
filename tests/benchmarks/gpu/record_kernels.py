"""Which kernels programs ask for together: makes grb_tile/backends/cuda/runtime/common_kernels.json.

    python tests/benchmarks/gpu/record_kernels.py                      # all programs, on the CPU emulation (needs g++)
    python tests/benchmarks/gpu/record_kernels.py NAME ...             # these alone; the others stay as they are
    python tests/benchmarks/gpu/record_kernels.py --device --scale 18  # on a GPU, beside what the emulation asks for

Run the first after a kernel, or what asks for it, has changed: tests/backends/cuda/test_recorded_kernels.py fails then.
A program of a device is recorded as `NAME, device, scale S`, because larger graphs take other kernels.  The costs are
NVRTC's processor time for sm_90 in tenths of a second; kernels that were recorded before keep theirs.
"""

import argparse
import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(Path(__file__).resolve().parent)]

from recorded_programs import GRAPHS, programs  # noqa: E402

from grb_tile.backends import select  # noqa: E402
from grb_tile.backends.cuda.backend import CudaBackend, real_launcher  # noqa: E402
from grb_tile.backends.cuda.runtime import compile as jit  # noqa: E402
from grb_tile.backends.cuda.runtime.kernel_groups import RECORD, KernelGroups  # noqa: E402

SCALES = (6, 10, 13)  # few entries, ten thousand, a hundred thousand
SMALLER = {"coloring": (6, 9), "maximal_independent_set": (6, 9)}  # their warps wait for each other, one at a time
SMALLER |= dict.fromkeys(("louvain", "louvain, weighted", "louvain, weighted_fp64", "leiden"), (6, 11))  # many rounds
SMALLER |= dict.fromkeys((name for name in programs() if name.startswith("matrix ")), (6, 10))  # many products
DEVICE = ", device, scale "


@contextmanager
def fresh_backend(launcher):
    """A backend of no kernels, which is "cuda" within the block."""
    before = select._made.get("cuda")
    select.register("cuda", CudaBackend(launcher=launcher))
    try:
        with select.using("cuda"):
            yield launcher
    finally:
        if before is None:
            del select._made["cuda"]
        else:
            select.register("cuda", before)


def emulated():
    """A launcher of the CPU emulation whose kernels are those of a device: tables have the device's sizes."""
    from cuda_emulation.launcher import EmulatedLauncher

    return EmulatedLauncher(small=False)


def asked_for(name, scales=None, launcher=emulated):
    """The instances that a program asks for, in that order; over graphs of 2^scale vertices."""
    graph, call = programs()[name]
    found = {}
    for scale in scales or SMALLER.get(name, SCALES):
        with fresh_backend(launcher()) as device:
            call(GRAPHS[graph](scale))
            found.update(device._kernels)
    return list(found)


def cost(instance):
    """Tenths of a second of processor time that NVRTC takes for sm_90, at least one."""
    text, expression = jit.source_text(*instance)
    start = time.process_time()
    jit.compile_cubin(text, expression, 90)
    return max(1, round(10 * (time.process_time() - start)))


def read():
    """The record as it is."""
    empty = {"functors": [], "kernels": [], "programs": {}}
    return KernelGroups(json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else empty)


def write(found):
    """The record of {program: instances}, and of the programs of the old one that are not among them."""
    known, costs = read(), {}
    for instance in dict.fromkeys(instance for asked in found.values() for instance in asked):
        costs[instance] = known.cost(instance) if known.holders(instance) else cost(instance)
    old, order = read(), list(programs())  # as late as possible: another process may have written meanwhile
    found = {name: asked for name, asked in old.programs.items() if name.partition(DEVICE)[0] in order} | found
    found = dict(sorted(found.items(), key=lambda item: (order.index(item[0].partition(DEVICE)[0]), item[0])))
    instances = dict.fromkeys(instance for asked in found.values() for instance in asked)
    numbers = {instance: k for k, instance in enumerate(instances)}
    functors = {text: k for k, text in enumerate(dict.fromkeys(instance[2] for instance in instances))}
    rows = [[i[0], i[1], functors[i[2]], i[3], costs[i] if i in costs else old.cost(i)] for i in instances]
    lines = [
        '{"functors": [\n' + ",\n".join(map(json.dumps, functors)) + "\n]",
        '"kernels": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]",
        '"programs": {\n'
        + ",\n".join(f"{json.dumps(name)}: {json.dumps([numbers[i] for i in asked])}" for name, asked in found.items())
        + "\n}}\n",
    ]
    RECORD.write_text(",\n".join(lines), encoding="utf-8")
    print(f"{len(rows)} kernels of {len(found)} programs in {RECORD.relative_to(ROOT)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--device", action="store_true")
    parser.add_argument("--scale", type=int, default=18)
    given = parser.parse_args()
    known = programs()
    unknown = [name for name in given.names if name not in known]
    if unknown:
        raise SystemExit(f"no program {unknown[0]!r}; there are {', '.join(known)}")
    found = {}
    try:
        for name in given.names or known:
            start = time.perf_counter()
            if given.device:
                asked = found[f"{name}{DEVICE}{given.scale}"] = asked_for(name, [given.scale], real_launcher)
            else:
                asked = found[name] = asked_for(name)
            print(f"{name}: {len(asked)} kernels, {time.perf_counter() - start:.1f} s", flush=True)
    finally:
        write(found)


if __name__ == "__main__":
    main()
