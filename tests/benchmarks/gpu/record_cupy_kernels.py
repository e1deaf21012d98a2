"""Which kernels of CuPy's programs ask for: makes grb_tile/backends/cuda/runtime/cupy_kernels.json.xz, on a device.

    python3 tests/benchmarks/gpu/record_cupy_kernels.py [--scales 8,14] [--at-once 6] [--limit 200] [--output FILE]

Every program of recorded_programs.py but single products, each in a process of its own, because CuPy keeps what a
process has asked for; after --limit seconds none is begun.  Run it for each version of CuPy: its sources differ.
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT), str(HERE)]

# A reader allocates the dictionary: 64 MiB of preset 9, for a text of 100 KB.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "dict_size": 1 << 20}]


def child(name, scales):
    """Run a program; prints what CuPy was asked to compile."""
    import cupy
    from cupy._core import core
    from recorded_programs import GRAPHS, programs

    import grb_tile as gb

    asked, whole = [], cupy.cuda.compiler._compile_module_with_cache
    added = set(core.assemble_cupy_compiler_options(()))
    headers = core._get_header_source()

    def noted(source, options=(), *, arch=None, extra_source=None, **rest):
        given = tuple(option for option in options if option not in added)
        if core.assemble_cupy_compiler_options(given) == tuple(options) and extra_source == headers and arch is None:
            rest_given = {key: value for key, value in rest.items() if value not in (None, False)}
            if all(isinstance(value, (str, int)) for value in rest_given.values()):
                asked.append([source, list(given), rest_given])
        return whole(source, options, arch=arch, extra_source=extra_source, **rest)

    gb.config.set(backend="cpu")
    graph, call = programs()[name]
    with gb.plan(force="numpy"):
        graphs = [GRAPHS[graph](scale) for scale in scales]
    cupy.cuda.compiler._compile_module_with_cache = noted
    gb.config.set(backend="cuda")
    for G in graphs:
        call(G)
    print(json.dumps(asked))


def main():
    import cupy
    from recorded_programs import programs

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", default="8,14")
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("--limit", type=float, default=200)
    parser.add_argument(
        "--output", default=str(ROOT / "grb_tile" / "backends" / "cuda" / "runtime" / "cupy_kernels.json.xz")
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    scales = list(map(int, given.scales.split(",")))
    if given.child:
        return child(given.child, scales)
    start, kernels, found = time.monotonic(), {}, {}
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(given.at_once) as pool:
        environment = {**os.environ, "CUPY_CACHE_DIR": cache}

        def run(name):
            if time.monotonic() - start > given.limit:
                return None
            command = [sys.executable, __file__, "--child", name, "--scales", given.scales]
            return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

        names = [name for name in programs() if not name.startswith(("vector ", "matrix ", "element-wise"))]
        for name, done in zip(names, pool.map(run, names), strict=True):
            if done is None or done.returncode:
                print(f"{name}: {'not run' if done is None else done.stderr.strip().splitlines()[-1:]}", flush=True)
                continue
            asked = [json.dumps(kernel) for kernel in json.loads(done.stdout.splitlines()[-1])]
            found[name] = sorted({kernels.setdefault(kernel, len(kernels)) for kernel in asked})
            print(f"{name}: {len(found[name])} kernels", flush=True)
    record = {"cupy": cupy.__version__, "kernels": [json.loads(kernel) for kernel in kernels], "programs": found}
    Path(given.output).write_bytes(lzma.compress(json.dumps(record).encode(), filters=FILTERS))
    print(f"{len(kernels)} kernels of {len(found)} programs, {Path(given.output).stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
