"""graphblas-algorithms over python-graphblas and over grb_tile: time, peak memory and result of every function.

    python tests/benchmarks/bench_dropin.py                       all of it; writes results/dropin.md and dropin.jsonl
    python tests/benchmarks/bench_dropin.py pagerank hits         these; prints the table

Each function runs with each library in a process of its own, turn by turn, on the graphs of dropin_calls.py.
`first` is the first call in the process, `warm` the fastest of those that fit in 1.5 s after it (two at least, one
where a call takes more than 30 s); each call gets a graph of its own, so that no property is cached.  Times are wall
times; `CPU` is the processor time of a warm call in all threads, which other processes on the machine hardly change.
The peak is that of the whole process.  A cell is met when warm is at most 1.2 times and the peak at most 1.5 times the
real library's; calls under 1 ms (the unit of a Python call here) are met when they stay under 1 ms.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = HERE / "results"
LIBRARIES = ("graphblas", "grb_tile")
TIME_TARGET, MEMORY_TARGET, SMALL = 1.2, 1.5, 1e-3
ENOUGH_SECONDS = 1.5

sys.path[:0] = [str(HERE)]
import dropin_calls  # noqa: E402


def flat(x):
    """The result as a list of arrays that two libraries must agree on."""
    import numpy as np

    kind = type(x).__name__
    if x is None:
        return [np.asarray("None")]
    if kind in ("Graph", "DiGraph"):
        return flat(x._A)
    if kind == "NodeMap" or kind == "NodeSet" or kind == "VectorMap":
        return flat(x.vector)
    if kind in ("VectorNodeMap", "NodeNodeMap"):
        return flat(x.matrix)
    if kind in ("Matrix", "Vector"):
        *positions, values = x.to_coo()
        return [*(np.asarray(p, np.int64) for p in positions), np.asarray(values)]
    if kind == "Scalar":
        return [np.asarray(x.value)]
    if kind == "TransposedMatrix":
        return flat(x.new())
    if isinstance(x, dict):
        return [array for key in sorted(x) for array in (*flat(key), *flat(x[key]))]
    if isinstance(x, (set, frozenset)):
        return [np.sort(np.array(list(x)))]
    if isinstance(x, (list, tuple)):
        try:
            return [np.asarray(x, float)]
        except (TypeError, ValueError):
            return [array for part in x for array in flat(part)]
    if hasattr(x, "__next__"):
        return [array for part in x for array in flat(part)]
    return [np.asarray(x)]


def consume(x):
    """Lazy results are computed: generators are read to the end."""
    return list(x) if hasattr(x, "__next__") else x


def work(label, library, path):
    """In the process of one library: time the call, write its result to `path`, print the record."""
    if library != "graphblas":
        sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "dropin")]
        import graphblas_alias

        graphblas_alias.install(library)
    import numpy as np
    from graphblas_algorithms import nxapi
    from graphblas_algorithms.interface import Dispatcher

    function = getattr(Dispatcher, label.split()[0], None) or getattr(nxapi, label.split()[0])
    small = label in dropin_calls.DENSE
    graphs = dropin_calls.Graphs(dropin_calls.DENSE_NODES if small else dropin_calls.NODES)
    result, seconds, cpu, began = None, [], [], time.perf_counter()
    while len(seconds) < 3 or time.perf_counter() - began < ENOUGH_SECONDS:
        arguments, keywords = dropin_calls.CALLS[label](graphs)
        result = None
        start, start_cpu = time.perf_counter(), time.process_time()
        result = consume(function(*arguments, **keywords))
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
        if sum(seconds) > 60 and len(seconds) > 1:
            break
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    np.savez(path, *flat(result))
    print(json.dumps({"first": seconds[0], "warm": min(seconds[1:]), "cpu": min(cpu[1:]), "peak": peak}))


def run_one(label, library, path):
    command = [sys.executable, __file__, "--work", label, library, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tempfile.gettempdir())
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def same(one, other):
    """Whether two files of arrays agree: positions exactly, values to 1e-6 of the largest."""
    import numpy as np

    with np.load(one) as a, np.load(other) as b:
        if sorted(a.files) != sorted(b.files):
            return False
        for name in a.files:
            x, y = a[name], b[name]
            if x.shape != y.shape or "U" in (x.dtype.kind, y.dtype.kind):
                if not np.array_equal(x, y):
                    return False
            elif not np.allclose(x, y, rtol=1e-5, atol=1e-9, equal_nan=True):
                return False
    return True


def measure(label):
    with tempfile.TemporaryDirectory(prefix="grb-dropin-") as folder:
        paths = {library: pathlib.Path(folder) / f"{library}.npz" for library in LIBRARIES}
        found = {library: run_one(label, library, paths[library]) for library in LIBRARIES}
        record = {"call": label, **found}
        if not any("failed" in part for part in found.values()):
            record["equal"] = same(*paths.values()) or label.startswith("bellman_ford_path") and "length" not in label
    return record


def verdict(record):
    """What is not met, as text; empty when all is."""
    theirs, ours = (record[library] for library in LIBRARIES)
    if "failed" in ours or "failed" in theirs:
        return "fails" if "failed" in ours and "failed" not in theirs else ""
    misses = [] if record["equal"] else ["other result"]
    if ours["warm"] > max(TIME_TARGET * theirs["warm"], SMALL):
        misses.append("time")
    if ours["peak"] > MEMORY_TARGET * theirs["peak"]:
        misses.append("memory")
    return ", ".join(misses)


def table(records):
    lines = [
        "| call | first, real (ms) | ours | warm, real (ms) | ours | ratio | CPU, real (ms) | ours | ratio "
        "| peak, real (MB) | ours | not met |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for record in records:
        theirs, ours = (record[library] for library in LIBRARIES)
        if "failed" in theirs or "failed" in ours:
            text = f"real: {theirs.get('failed', 'runs')}; ours: {ours.get('failed', 'runs')}"
            lines.append(f"| {record['call']} | {text} | | | | | | | | | | {verdict(record)} |")
            continue
        cells = [f"{theirs['first'] * 1e3:.1f}", f"{ours['first'] * 1e3:.1f}"]
        for figure in ("warm", "cpu"):
            mine, of_theirs = ours[figure], theirs[figure]
            cells += [f"{of_theirs * 1e3:.2f}", f"{mine * 1e3:.2f}", f"{mine / of_theirs:.2f}"]
        cells += [f"{theirs['peak'] / 1e6:.0f}", f"{ours['peak'] / 1e6:.0f}", verdict(record)]
        lines.append(f"| {record['call']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write(records):
    """results/dropin.jsonl and results/dropin.md."""
    import environment

    head = {"environment": environment.describe()}
    lines = [json.dumps(head), *(json.dumps(record) for record in records)]
    (RESULTS / "dropin.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    missed = sum(1 for record in records if verdict(record))
    about = head["environment"]
    text = (
        f"# graphblas-algorithms over grb_tile\n\n{__doc__.split(chr(10) * 2, 2)[2].strip()}\n\n"
        f"Graphs of {dropin_calls.NODES:,} nodes and {dropin_calls.NODES * dropin_calls.EDGES_PER_NODE:,} entries; "
        f"of {dropin_calls.DENSE_NODES:,} nodes where the result has n^2 entries (Floyd-Warshall: a quarter of that).\n"
        f"{about['cpu']}, {about['cores']} cores, load {about['load']:.1f}, {about['when']}, "
        f"commit {about['commit']}.\n"
        f"{len(records)} calls, {missed} not met.\n\n{table(records)}"
    )
    (RESULTS / "dropin.md").write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", nargs="*", help="labels of dropin_calls.CALLS; all without")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.work:
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        work(*chosen.work)
        return
    records = []
    for label in chosen.calls or dropin_calls.CALLS:
        records.append(measure(label))
        print(table(records[-1:]).splitlines()[-1], flush=True)
    if not chosen.calls:
        write(records)


if __name__ == "__main__":
    main()
