"""The standard figures of a device: those that README.md and tests/gpu/RECORD.md name, against what is recorded.

    python tests/benchmarks/gpu/standard.py [--only PART ...] [--record] [--dry-run]

Runs the functions of the benchmarks beside it, which verify their results, and prints the table that RECORD.md shows:
each figure, the recorded one of the same device with its commit, and their ratio.  Conversion (forms of a graph, made
once) is a column of its own.  At the end it lists what is slower than recorded by more than 7 % or 3 us, whichever is
more, and what has no recorded figure.  The exit status is 1 where a figure is slower, or has failed.

--record     write the figures of this run into standard.json, under the name of this device and this commit
--only       these parts alone; --record then leaves the figures of the others as they are
--dry-run    tiny graphs on the backend of --backend (the CPU's too): the whole way, but nothing is compared or recorded
"""

import argparse
import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "standard.json"
SHARE, LEAST_MS = 0.07, 0.003  # slower than recorded by more than the greater of the two: listed
HEAD = "| figure | ms | recorded | | commit | conversion ms | verified |"
TINY = 9  # log2 of the vertices of a dry run's graphs
SECONDS = 1.2  # for the calls of one algorithm


@dataclass(frozen=True)
class Figure:
    """name: what was measured; ms of a call (or of a unit of it); conversion: ms, once for a graph; None: not measured.

    verified: how the result was checked; failed: why there is no figure.
    """

    name: str
    ms: float | None
    conversion: float | None = None
    verified: str = ""
    failed: str = ""


# ---------------------------------------------------------------------- the parts


@contextlib.contextmanager
def collected(module, name):
    """The dictionaries that a benchmark reports within the block through its function `name`."""
    rows, plain = [], getattr(module, name)
    setattr(module, name, lambda **figures: rows.append(figures))
    try:
        yield rows
    finally:
        setattr(module, name, plain)


def searches(tiny):
    """bench_bfs: levels, parents, components; 64 sources at once.  bench_bfs_loop: the eight lines."""
    import bench_bfs
    import bench_bfs_loop
    from device_graphs import rmat

    from grb_tile.cli.timing import timed

    for name, make in bench_bfs.GRAPHS.items():
        store = rmat(TINY, 8) if tiny else make()
        if store is None:
            continue
        G, _, sources = bench_bfs.subject(store, 2 if tiny else 16)
        first = timed(lambda: bench_bfs.bfs(G, sources[0], parents=True))[1]  # noqa: B023
        for source in sources[:6]:
            bench_bfs.check(store, source, bench_bfs.bfs(G, source, parents=True))
        for parents in (False, True):
            ms = bench_bfs.measure(G, sources, parents)[0]
            yield Figure(f"bfs {'parents' if parents else 'levels'}, {name}", ms, first * 1e3, "every edge")
        with collected(bench_bfs, "note") as rows, contextlib.redirect_stdout(None):
            bench_bfs.components(name, G)
        yield Figure(f"components, {name}", rows[0]["components_ms"], None, "labels along edges")
        if name == "kron21":
            found = bench_bfs_loop.figures_of(store)
            yield Figure(f"bfs in eight lines, {name}", found["loop"], None, "equal to bfs")
        G = store = None  # one graph at a time in memory
        if tiny:
            break
    with collected(bench_bfs, "note") as rows, contextlib.redirect_stdout(None):
        bench_bfs.many(*((TINY, 8) if tiny else ()))
    conversion = rows[0]["first_call_ms"] - rows[0]["together_ms"]
    for key, what in (("together_ms", "levels"), ("with_parents_ms", "parents")):
        yield Figure(f"bfs_multi {what}, kron20, 64 sources", rows[0][key], conversion, "64 searches")


def paths(tiny):
    """bench_sssp: distances, and with predecessors."""
    import bench_sssp
    import numpy as np
    from device_graphs import rmat

    from grb_tile.cli.timing import timed

    for name, make in bench_sssp.GRAPHS.items():
        store = bench_sssp.weighted(rmat(TINY, 8)) if tiny else make()
        if store is None:
            continue
        G, _, sources = bench_sssp.subject(store, 2 if tiny else 8)
        first = timed(lambda: bench_sssp.sssp(G, sources[0]))[1]  # noqa: B023
        for predecessors, what in ((False, "sssp"), (True, "sssp with predecessors")):
            calls, _ = bench_sssp.calls_ms(G, sources[: 6 if predecessors else 16], predecessors)
            yield Figure(f"{what}, {name}", float(np.median(calls)), first * 1e3, "every edge")
        if tiny:
            break


def products(tiny):
    """bench_spmv: full vectors and other semirings, the device's time.  bench_spgemm: A A, triangles, k_truss."""
    import bench_spgemm
    import bench_spmv

    from grb_tile.backends import select

    backend = select.current()
    names = ("kron21", "fem40", "fem70", "cnr-2000", "ego-Twitter")
    graphs = bench_spmv.matrices(True) if tiny else bench_spmv.matrices(False, names)
    for name, structure in graphs:
        if structure is None:
            continue
        with collected(bench_spmv, "say") as rows:
            bench_spmv.spmv(backend, name, structure)
            if name == "kron21":
                bench_spmv.semirings(backend, name, structure)
        for row in rows:
            what = row.get("semiring", "plus_times")
            kind = row.get("type", "" if what == "lor_land" else "FP32")
            if row["part"] == "spmv" or what != "plus_times":
                label = f"spmv {what} {kind}".strip()
                yield Figure(f"{label}, {name}", row["device_us"] / 1e3, row.get("conversion_ms"), "sampled rows")
        structure = None
    with collected(bench_spgemm, "say") as rows:
        bench_spgemm.triangles(tiny)
        bench_spgemm.truss(tiny)
        for name, structure in bench_spgemm.matrices(tiny, ("fem40", "cnr-2000", "ego-Twitter", "fb-Cornell5")):
            bench_spgemm.products(name, structure, {})
    for row in rows:
        if row["part"] == "triangles" and row["labels"] == "ordered":
            yield Figure(f"triangles, {row['matrix']}, by degree", row["planned_ms"], row["order_ms"], "three ways")
        if row["part"] == "truss":
            yield Figure(f"k_truss(4), {row['matrix']}", row["ms"])
        if row["part"] == "products":
            yield Figure(f"A A plus_times FP64, {row['matrix']}", row["ms"], None, "cuSPARSE or SciPy")


ALGORITHMS = (
    "pagerank", "pagerank_tol", "components_uniform", "strong_components", "core_number", "louvain_level", "louvain",
    "leiden", "label_propagation", "spanning_forest", "coloring", "coloring_random", "independent_set", "betweenness_1",
    "betweenness_8", "betweenness_64", "katz", "eigenvector", "hits", "rcm", "topological", "triangles", "clustering",
)  # fmt: skip


def algorithms(tiny):
    """bench_algorithms: ms of a call, or of a unit of it (an iteration, a source, a round)."""
    from bench_algorithms import CASES, GRAPHS, measure

    for graph, make in GRAPHS.items():
        names = [name for name in ALGORITHMS if CASES[name][0] == graph]
        G = make(TINY if tiny else None) if names else None
        for name in names:
            row = measure(name, G, 0.05 if tiny else SECONDS, False, 60)
            failed = row.get("failed") or row.get("stopped") or ""
            ms = row.get("per_unit", row.get("median"))
            more = max(row["first"] - row["median"], 0.0) if "median" in row else None
            yield Figure(f"{name}, {graph}", None if failed else ms, more, row.get("checked", "no"), failed)


PARTS = {"searches": searches, "paths": paths, "products": products, "algorithms": algorithms}
NEEDS_CUPY = ("searches", "paths", "products")


# ---------------------------------------------------------------------- comparing


def slower(ms, recorded):
    """Is a figure slower than the recorded one by more than 7 % or 3 us, whichever is more?"""
    return ms - recorded > max(SHARE * recorded, LEAST_MS)


def compare(figures, recorded):
    """(lines of what is slower, of what failed, of what is not recorded, of what is recorded and did not run)."""
    found = {figure.name for figure in figures}
    late, failed, new = [], [], []
    for figure in figures:
        known = recorded.get(figure.name)
        if figure.ms is None:
            failed.append(f"{figure.name}: {figure.failed or 'no figure'}")
        elif known is None:
            new.append(figure.name)
        elif slower(figure.ms, known["ms"]):
            late.append(f"{figure.name}: {figure.ms:.4g} ms, recorded {known['ms']:.4g} at {known['commit']}")
    return late, failed, new, sorted(set(recorded) - found)


def table(figures, recorded):
    """The table of RECORD.md."""
    lines = [HEAD, "|---" * (HEAD.count("|") - 1) + "|"]
    for figure in figures:
        known = recorded.get(figure.name)
        before, commit = (f"{known['ms']:.4g}", known["commit"]) if known else ("not recorded", "")
        ratio = f"{figure.ms / known['ms']:.2f}x" if known and figure.ms is not None else ""
        ms = "failed" if figure.ms is None else f"{figure.ms:.4g}"
        conversion = "" if figure.conversion is None else f"{figure.conversion:.3g}"
        lines.append(f"| {figure.name} | {ms} | {before} | {ratio} | {commit} | {conversion} | {figure.verified} |")
    return "\n".join(lines)


def recorded_of(device, path=RECORDED):
    """{name: {"ms", "commit"}} of a device, as it is recorded."""
    if not path.exists():
        return {}
    return json.loads(path.read_text(encoding="utf-8")).get(device, {})


def record(device, figures, commit, path=RECORDED):
    """Write the figures of a run; those that it did not measure stay as they were."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    of_device = known.setdefault(device, {})
    of_device |= {each.name: {"ms": round(each.ms, 5), "commit": commit} for each in figures if each.ms is not None}
    known[device] = dict(sorted(of_device.items()))
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def device_name():
    """What figures are recorded under: "NVIDIA H200"; the backend's name where there is no device."""
    from grb_tile.backends import select

    backend = select.current()
    return (backend.describe_device() or backend.name).partition(" (")[0]


def run(parts, tiny):
    """The figures of the parts; a part that ends with an error has a figure that says so."""
    for part in parts:
        try:
            yield from PARTS[part](tiny)
        except (Exception, SystemExit) as error:  # noqa: BLE001  the other parts' figures are wanted all the same
            yield Figure(part, None, failed=f"{type(error).__name__}: {error}"[:300])


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=[*PARTS], default=[*PARTS], help="parts to run")
    parser.add_argument("--backend", default=None, help='"cuda"; of a dry run "auto"')
    parser.add_argument("--record", action="store_true", help="write standard.json")
    parser.add_argument("--dry-run", action="store_true", help="tiny graphs, nothing is compared or recorded")
    args = parser.parse_args(argv)
    if args.record and args.dry_run:
        parser.error("--record: a dry run has no figures to record; leave --dry-run out")
    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[2])]
    import environment

    import grb_tile as gb

    gb.config.set(backend=args.backend or ("auto" if args.dry_run else "cuda"))
    device, commit = device_name(), str(environment.commit()[0])[:7]
    parts = args.only
    if args.dry_run and device in ("cpu", "numpy", "reference"):
        print(f"no GPU: {', '.join(p for p in parts if p in NEEDS_CUPY) or 'nothing'} left out")
        parts = [part for part in parts if part not in NEEDS_CUPY]
    figures = list(run(parts, args.dry_run))
    recorded = {} if args.dry_run else recorded_of(device)
    print(f"{device}, commit {commit}\n\n{table(figures, recorded)}\n")
    late, failed, new, missing = compare(figures, recorded)
    for title, lines in (("slower", late), ("failed", failed)):
        print(f"{title}: {len(lines)}" + "".join(f"\n  {line}" for line in lines))
    if not args.dry_run:
        print(f"not recorded: {', '.join(new) or 'none'}")
        if set(parts) == set(PARTS):
            print(f"recorded, but not measured: {', '.join(missing) or 'none'}")
    if args.record and not failed:
        record(device, figures, commit)
    return int(bool(late or failed))


if __name__ == "__main__":
    sys.exit(main())
