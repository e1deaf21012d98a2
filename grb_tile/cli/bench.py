"""`grb-tile bench`: BFS, triangles and products, on a graph from a file or a generated one."""

import argparse
import json

from grb_tile.cli import inputs, output
from grb_tile.cli.main import UsageError
from grb_tile.io.replace import check_target

PARTS = ("bfs", "spmv", "spmspv", "blocks", "spmm", "sddmm", "spgemm", "masked", "triangles")
DEFAULT_PARTS = "bfs,spmv,spmspv"

NOTES = """what the figures mean:
  ms       median time of a call from Python until its result is complete, on a device too; the first call is separate
           (it compiles, moves the graph to the device and derives what it keeps); half a second of calls warms up
  queued   on a device: time of a call among many that are queued without waiting for each
  GTEPS    directed edges that leave the nodes reached (bfs), or entries of the columns that x selects (products),
           over ms, in 10^9 a second
  GB/s     bytes over ms in 10^9 a second.  spmv: entries x (index + value) + rows x (8 + value) + columns x value;
           spmspv: selected entries x (index + value) + nvals(x) x (16 + index + value) + nvals(w) x (index + value)
           spmm, sddmm: entries x (index + value) + rows x 8 + the values of the full matrices, each once
parts (names of --parts, with commas between):
  bfs      searches from --sources nodes; triangles: their number, of an undirected graph
  spmv     w = A x, x full; spmspv: x of each of --densities; blocks: spmv over 8 x 8 blocks, even where the planner
           prefers CSR; its GB/s count the bytes of the blocks
  spmm     C = A X, X full with as many columns as the figure says; sddmm: C<A> = X Y', as many columns in X and Y
  spgemm   C = A A; masked: C<A> = A A.  GTEPS counts multiplications; GB/s (multiplications + entries of A and C) x
           (index + value) + rows x 24
graphs of --generate (undirected; the same on every machine for one --seed):
  kron:SCALE[:EDGE_FACTOR]   Graph500 Kronecker, quadrants .57 .19 .19 .05, no loops, no duplicates, labels shuffled
  uniform:SCALE[:EDGE_FACTOR] both ends of each edge drawn at random
  grid:SIDE                  SIDE x SIDE nodes with up to four neighbours
  fem:SIDE                   kron(kron(kron(T, T), T), ones(3, 3)), T tridiagonal SIDE x SIDE
values of products: those of FILE where they differ, random ones in [0.5, 1.5) otherwise.
verified: all searches by the rule of the edges, products on 200 to 400 rows by NumPy in double precision, triangles by
SciPy.
"""


def add_arguments(parser, name):
    """The graph, the parts to time, and the output."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{NOTES}\n{parser.epilog}"
    inputs.add_file_options(parser, optional=True)
    parser.add_argument(
        "--generate", metavar="SPEC", help="a graph made here instead of FILE: kron:20:16, grid:1000, fem:40"
    )
    parser.add_argument(
        "--parts", default=DEFAULT_PARTS, metavar="NAMES", help=f"of {','.join(PARTS)} (default {DEFAULT_PARTS})"
    )
    parser.add_argument(
        "--sources", type=int, default=16, metavar="N", help="of searches, drawn from nodes with edges (16)"
    )
    parser.add_argument("--parents", action="store_true", help="time searches that find parents too")
    parser.add_argument(
        "--semiring",
        type=_names,
        default=("plus_times",),
        metavar="NAMES",
        help="of products, such as plus_times,min_plus,lor_land (default plus_times)",
    )
    parser.add_argument("--types", default="FP32,FP64", metavar="NAMES", help="default FP32,FP64")
    parser.add_argument(
        "--densities",
        type=_numbers,
        default=(0.1, 0.01, 0.001, 0.0001),
        metavar="D,D,...",
        help="densities of x of spmspv: entries over size (default 0.1,0.01,0.001,0.0001)",
    )
    parser.add_argument(
        "--columns", type=_counts, default=(16, 64), metavar="K,K,...", help="of the full matrices (default 16,64)"
    )
    parser.add_argument(
        "--repeat", type=int, default=5, metavar="N", help="timed calls of each search and product (default 5)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of graph, sources, values and densities (default 1)")
    parser.add_argument(
        "--peers",
        action="store_true",
        help="time the same products in SciPy and SuiteSparse:GraphBLAS, on a device in cuSPARSE, where installed",
    )
    parser.add_argument("--no-verify", dest="verify", action="store_false", help="do not check the results")
    parser.add_argument(
        "--json", metavar="FILE", help="also write each figure as a line of JSON; - for stdout, without table"
    )
    inputs.add_common_options(parser)
    parser.set_defaults(plot=None)


def _names(text):
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _counts(text):
    if not all(part.isdecimal() and int(part) > 0 for part in _names(text)):
        raise argparse.ArgumentTypeError(f"expected numbers of columns with commas between, not {text!r}")
    return tuple(map(int, _names(text)))


def _numbers(text):
    try:
        return tuple(float(part) for part in _names(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers with commas between, not {text!r}") from None


def run(args):
    """Generate or read the graph, run the requested measurements, print the table."""
    _check(args)
    from grb_tile.cli import generate
    from grb_tile.cli.bench_measure import Bench, device_facts

    with output.Line(args, "bench") as progress:
        loaded = generate.load(args, progress) if args.generate else inputs.load(args)
        bench = Bench(args, loaded, progress)
        # Each line is written when it is measured, so that an interrupted run leaves what it has.
        target = None if args.json in (None, "-") else open(args.json, "w", encoding="utf-8")
        try:
            for line in _lines(args, bench):
                record = {"command": "bench", "graph": bench.graph, **device_facts(), "seed": args.seed, **line}
                if args.json:
                    print(json.dumps(output.plain(record), allow_nan=False), file=target, flush=True)
                bench.figures.append(line)
        finally:
            if target is not None:
                target.close()
    if args.json != "-":
        print("\n".join(_report(bench, device_facts(), args)))


def _check(args):
    """Check the options.  Raises: UsageError."""
    from grb_tile import dtypes
    from grb_tile.cli.bench_measure import semiring_named
    from grb_tile.cli.generate import parsed
    from grb_tile.operators import get_typed_op

    if (args.file is None) == (args.generate is None):
        raise UsageError("name one graph: FILE, or --generate kron:20:16 (or grid:1000, fem:40)")
    if args.generate:
        parsed(args.generate)
    if args.json not in (None, "-"):
        check_target(args.json)
    args.parts = inputs.names_among("--parts", args.parts, PARTS)
    args.types = inputs.names_among("--types", args.types, ("FP32", "FP64"))
    for name in args.semiring:
        found = semiring_named(name)
        if found is None or found.is_positional:
            raise UsageError(
                f"--semiring {name}: expected names of gb.semiring without positions, such as plus_times, min_plus"
            )
        for type_name in args.types:
            try:
                get_typed_op(found, dtypes.lookup_dtype(type_name), kind="semiring")
            except KeyError:
                raise UsageError(f"--semiring {name}: has no meaning for {type_name}") from None
    for density in args.densities:
        if not 0 < density <= 1:
            raise UsageError(f"--densities {density:g}: expected shares above 0, at most 1")
    for option, number in (("--sources", args.sources), ("--repeat", args.repeat)):
        if number < 1:
            raise UsageError(f"{option} {number}: expected 1 or more")
    if args.seed < 0:
        raise UsageError(f"--seed {args.seed}: expected 0 or more")


def _lines(args, bench):
    from grb_tile.cli import bench_matrices

    if "bfs" in args.parts:
        yield bench.bfs(False)
        if args.parents:
            yield bench.bfs(True)
    if "triangles" in args.parts:
        yield bench_matrices.triangles(bench)
    for name in args.semiring:
        for dtype in args.types:
            if "spmv" in args.parts:
                yield bench.product(name, dtype)
            if "spmspv" in args.parts:
                for density in args.densities:
                    yield bench.product(name, dtype, density)
            if "blocks" in args.parts:
                yield bench_matrices.over_blocks(bench, name, dtype)
            for part in ("spmm", "sddmm"):
                if part in args.parts:
                    for columns in args.columns:
                        yield bench_matrices.with_full(bench, part, name, dtype, columns)
            for part in ("spgemm", "masked"):
                if part in args.parts:
                    yield bench_matrices.squared(bench, part, name, dtype)


def _report(bench, device, args):
    graph = bench.graph
    yield (
        f"graph      {graph['name']}: {graph['nrows']:,} by {graph['ncols']:,}, {graph['entries']:,} entries, "
        f"{'undirected' if graph['symmetric'] else 'directed'}; {'made' if args.generate else 'loaded'} in "
        f"{output.seconds_text(graph['load_seconds'])}, prepared in {output.seconds_text(graph['prepare_seconds'])}"
    )
    yield f"device     {device['device']} (backend {device['backend']})"
    yield (
        f"times      medians of {args.repeat} calls"
        + (f" from each of {args.sources} sources" if "bfs" in args.parts else "")
        + f", seed {args.seed}, "
        + ("verified" if args.verify else "not verified")
    )
    peers = dict.fromkeys(peer for line in bench.figures for peer in line.get("peers", ()))
    if peers:
        yield f"peers      medians of {args.repeat} calls of {', '.join(peers)}"
    yield ""
    rows = []
    for line in bench.figures:
        queued = {} if line["queued_ms"] is None else {"queued": line["queued_ms"]}
        rows.append(
            {
                "figure": line["figure"],
                "first ms": line["first_ms"],
                "ms": line["ms"],
                **queued,
                "GTEPS": line["gteps"],
                "GB/s": line["gb_per_second"],
                **{f"{peer.split()[0]} ms": ms for peer, ms in line.get("peers", {}).items()},
                "plan": _plan_text(line),
            }
        )
    yield from output.table(rows, left=("figure", "plan"))


def _plan_text(line):
    plan = line["plan"]
    levels = f", {line['levels']} levels, {line['pulled']} pulled" if "levels" in line else ""
    return f"{plan['method']} over {plan['format']}{levels}; {plan['engine']}; {plan['rule']}"
