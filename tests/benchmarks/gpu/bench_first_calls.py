"""First calls of a process on a GPU: twenty algorithms, each in a process of its own and all in one.

    python3 tests/benchmarks/gpu/bench_first_calls.py [NAME ...] [--scale 14] [--limit 145] [--one-by-one]

Seconds of the first call until the device is done, on a Kronecker graph that was made on the host (edge factor 16):

  empty       in a new process, nothing is cached, neither by grb_tile nor by CuPy; "all": one call after the other
  CuPys       the same with CuPy's kernels cached; all calls one after the other in one process
  cached      the same with grb_tile's kernels cached too
  next ms     the next call of the process of "empty"
  ours, CuPy  kernels that were compiled in the process of "empty", and the seconds of CuPy's, one after the other

--one-by-one compiles grb_tile's kernels in the calling thread alone (GRB_TILE_THREADS=1), as without compilation ahead.
After --limit seconds no process is begun, and columns that are missing have a dash.  Writes JSON lines to
$OUT/first_calls.jsonl when OUT is set.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE)]


def child(names, scale):
    """The calls in this process; prints one line of JSON."""
    start = time.perf_counter()
    import cupy
    from recorded_programs import GRAPHS, TWENTY, WEIGHTED

    import grb_tile as gb
    from grb_tile.backends import select
    from grb_tile.backends.cuda.runtime import compile as jit

    counts = {"ours": 0, "cupy": 0, "cupy_seconds": 0.0}
    ours, theirs = jit.compile_cubin, cupy.cuda.compiler._compile_using_nvrtc_no_warning

    def count_ours(*arguments):
        counts["ours"] += 1
        return ours(*arguments)

    def count_theirs(*arguments, **options):
        begun = time.perf_counter()
        try:
            return theirs(*arguments, **options)
        finally:
            counts["cupy"] += 1
            counts["cupy_seconds"] += time.perf_counter() - begun

    jit.compile_cubin, cupy.cuda.compiler._compile_using_nvrtc_no_warning = count_ours, count_theirs
    gb.config.set(backend="cpu")
    with gb.plan(force="numpy"):  # kernels of the CPU are not compiled meanwhile
        graphs = {kind: GRAPHS[kind](scale) for kind in {_graph(name, WEIGHTED) for name in names}}
    imported = time.perf_counter()
    gb.config.set(backend="cuda")
    backend = select.current()
    backend.synchronize()
    chosen = time.perf_counter()
    rows, whole = {}, 0.0
    for name in names:
        G, before = graphs[_graph(name, WEIGHTED)], dict(counts)
        begun = time.perf_counter()
        TWENTY[name](G)
        backend.synchronize()
        done = time.perf_counter()
        rows[name] = {"first": done - begun} | {key: counts[key] - before[key] for key in counts}
        whole += done - begun
        if len(names) == 1:
            TWENTY[name](G)
            backend.synchronize()
            rows[name]["next"] = time.perf_counter() - done
    print(json.dumps({"rows": rows, "first": whole, "import": imported - start, "choose": chosen - imported, **counts}))


def _graph(name, weighted):
    return "weighted" if name in weighted else "kron"


def measured(names, scale, ours, cupys, one_by_one):
    """What a child process printed; the caches are the folders `ours` and `cupys`."""
    environment = {**os.environ, "GRB_TILE_CACHE": str(ours), "CUPY_CACHE_DIR": str(cupys)}
    if one_by_one:
        environment["GRB_TILE_THREADS"] = "1"
    command = [sys.executable, __file__, "--child", ",".join(names), "--scale", str(scale)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1:]}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    from recorded_programs import TWENTY

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--scale", type=int, default=14)
    parser.add_argument("--limit", type=float, default=145)
    parser.add_argument("--one-by-one", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return child(given.child.split(","), given.scale)
    unknown = [name for name in given.names if name not in TWENTY]
    if unknown:
        raise SystemExit(f"no algorithm {unknown[0]!r}; there are {', '.join(TWENTY)}")
    names, start = given.names or list(TWENTY), time.monotonic()
    root, together = Path(tempfile.mkdtemp()), {}
    heads = f"{'empty':>7s} {'CuPys':>7s} {'cached':>7s} {'next ms':>8s} {'ours':>5s} {'CuPy':>5s} {'s':>6s}"
    print(f"{'seconds':30s} {heads}")

    def run(asked, ours, cupys):
        if time.monotonic() - start > given.limit:
            return {}
        return measured(asked, given.scale, root / ours, root / f"cupy-{cupys}", given.one_by_one)

    try:
        for column, ours in (("empty", "first"), ("cupys", "second"), ("cached", "second")):
            together[column] = run(names, ours, "first")
        show("all", together)
        for k, name in enumerate(names):
            row = {column: found.get("rows", {}).get(name, {}) for column, found in together.items()}
            show(name, row | {"empty": run([name], f"alone{k}", f"alone{k}")})
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(f"{time.monotonic() - start:.0f} s in all")
    return 0


def show(name, row):
    """One line of the table, and of $OUT/first_calls.jsonl."""
    empty = row["empty"]
    cells = [f"{found['first']:7.2f}" if "first" in found else f"{'-':>7s}" for found in row.values()]
    following = empty.get("rows", {}).get(name, {}).get("next")
    cells.append(f"{'-':>8s}" if following is None else f"{following * 1e3:8.1f}")
    cells += [f"{empty.get('ours', 0):5d} {empty.get('cupy', 0):5d} {empty.get('cupy_seconds', 0.0):6.2f}"]
    failed = [str(found["failed"]) for found in row.values() if "failed" in found]
    print(f"{name:30s} {' '.join(cells + failed)}", flush=True)
    if name == "all":
        print(
            f"{'':30s} backend chosen in {empty.get('choose', 0):.2f} s, imports and graph {empty.get('import', 0):.2f}"
        )
    if os.environ.get("OUT"):
        with open(Path(os.environ["OUT"]) / "first_calls.jsonl", "a") as file:
            file.write(json.dumps({"name": name, **row}) + "\n")


if __name__ == "__main__":
    sys.exit(main())
