"""`grb-tile gap`: the six kernels of the GAP benchmark suite under its rules, on a file or a generated graph."""

import argparse
import pathlib
import tempfile

import numpy as np

from grb_tile.backends.distributed.environment import rank_or_none
from grb_tile.cli import gap_verify, inputs, output
from grb_tile.cli.main import UsageError
from grb_tile.cli.timing import timed

# kernel: (trials, what is timed)
KERNELS = {
    "bfs": (64, "parents of a search from one source"),
    "sssp": (64, "distances from one source"),
    "pr": (16, "PageRank until the L1 change is below 1e-4"),
    "cc": (16, "weakly connected components"),
    "bc": (16, "betweenness from 4 sources"),
    "tc": (3, "triangles, renumbering by degree included"),
}
ROOTS = 4  # sources of a trial of bc
HIGHEST = 255  # greatest random weight

NOTES = """rules (Beamer, Asanovic, Patterson, "The GAP benchmark suite", arXiv 1508.03619; its reference code):
  a trial is one call of the kernel; reading or making the graph, its transpose and its degrees is not timed, any other
  preparation is.  64 trials of bfs and sssp, each from its source; 16 of pr, cc and bc (4 sources each); 3 of tc.
  sources: drawn from the nodes with outgoing edges, the same for bfs, sssp and bc
  sssp: whole weights from 1 to 255, drawn where the graph has none; bc: scores divided by the greatest
  pr: damping 0.85, FP32; nodes without outgoing edges lose their rank; cc, tc: edges are followed both ways
verified: every trial, by code that shares nothing with what is timed.
"""


def add_arguments(parser, name):
    """The graph, the kernels, the number of trials."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{NOTES}\n{parser.epilog}"
    inputs.add_file_options(parser, optional=True)
    parser.add_argument(
        "--generate", metavar="SPEC", help="a graph made here instead of FILE: kron:20:16, uniform:20:16, grid:1000"
    )
    parser.add_argument(
        "--kernels", default=",".join(KERNELS), metavar="NAMES", help=f"of {','.join(KERNELS)} (default all)"
    )
    parser.add_argument("--trials", type=int, metavar="N", help="of each kernel (default: as GAP has them)")
    parser.add_argument("--delta", type=float, help="bucket width of sssp (default: chosen from the weights)")
    parser.add_argument(
        "-n", "--ranks", type=int, metavar="N", help="share the graph among N processes, as `grb-tile run` starts them"
    )
    parser.add_argument("--seed", type=int, default=1, help="of graph, weights and sources (default 1)")
    parser.add_argument("--no-verify", dest="verify", action="store_false", help="do not check the results")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    inputs.add_common_options(parser)
    parser.set_defaults(plot=None)


def run(args):
    """Read or make the graph, run the trials, print the table."""
    from grb_tile.cli import generate

    kernels = _check(args)
    if args.ranks is not None and rank_or_none() is None:
        _start_ranks(args)
    world = None
    if rank_or_none() is not None:
        from grb_tile import dist

        world = dist.init()
        args.quiet = args.quiet or world.rank > 0
    with output.Line(args, "gap") as progress:
        loaded = generate.load(args, progress) if args.generate else inputs.load(args)
        suite = Suite(args, loaded, progress, world)
        rows = [suite.row(kernel) for kernel in kernels]
    if world is not None and world.rank:
        return
    facts = {"command": "gap", "graph": suite.facts, "seed": args.seed, "kernels": rows}
    if world is not None:
        facts["ranks"] = world.size
    lines = [
        output.graph_line(suite.facts),
        f"times      of a trial, seed {args.seed}, {'each verified' if args.verify else 'not verified'}",
        "",
        *output.table(
            [{key: row[key] for key in ("kernel", "trials", "ms", "median", "least")} for row in rows], ("kernel",)
        ),
    ]
    output.show(args, facts, lines)


def _start_ranks(args):
    """Run the same command on every rank, and exit with its status."""
    from grb_tile.cli import run as ranks

    with tempfile.TemporaryDirectory(prefix="grb-tile-gap-") as folder:
        script = pathlib.Path(folder) / "gap.py"  # a folder without modules, because it is the first of the path
        script.write_text("import sys\nfrom grb_tile.cli.main import main\nsys.exit(main())\n")
        ranks.run(
            argparse.Namespace(
                ranks=args.ranks, threads=None, over="auto", script=str(script), arguments=args.given,
                backend_of_ranks=None, tag=False,
            )
        )  # fmt: skip


def _check(args):
    """The kernels asked for.  Raises: UsageError."""
    from grb_tile.cli.generate import parsed

    if (args.file is None) == (args.generate is None):
        raise UsageError("name one graph: FILE, or --generate kron:20:16 (or uniform:20:16, grid:1000)")
    if args.generate and parsed(args.generate)[0] == "fem":
        raise UsageError(f"--generate {args.generate}: a matrix of finite elements is no graph of GAP; take kron:20:16")
    kernels = inputs.names_among("--kernels", args.kernels, KERNELS)
    for option, number, least in (("--trials", args.trials, 1), ("--seed", args.seed, 0)):
        if number is not None and number < least:
            raise UsageError(f"{option} {number}: expected {least} or more")
    return kernels


class Suite:
    """A graph in the forms that the kernels take; making them is not timed."""

    def __init__(self, args, loaded, progress, world=None):
        from grb_tile.algorithms import Graph

        self.args, self.progress, self.world = args, progress, world
        A = loaded.matrix
        if A.nrows != A.ncols or not A.nvals:
            raise UsageError(f"{loaded.path}: a {A.nrows} by {A.ncols} matrix of {A.nvals} entries; expected a graph")
        progress("preparing: transpose, degrees, symmetry")
        self.G = Graph(A, True if args.directed else None, name=loaded.path)
        _ = self.G.AT, self.G.out_degree, self.G.is_symmetric_structure
        self.facts = output.graph_facts(loaded, self.G)
        degrees = self.G.out_degree
        holding = degrees.to_coo(values=False)[0]
        random = np.random.default_rng(args.seed)
        most = max(KERNELS["bfs"][0], ROOTS * KERNELS["bc"][0], (args.trials or 0) * ROOTS)
        self.sources = random.choice(holding, most, replace=len(holding) < most).tolist()
        self.edges = gap_verify.Edges(self.G.A) if args.verify else None

    def row(self, kernel):
        """The times of a kernel, in ms.  Raises: WrongResult."""
        trials = self.args.trials or KERNELS[kernel][0]
        trial = getattr(self, f"_{kernel}")
        prepared = self._weighted() if kernel == "sssp" else None
        times = []
        for number in range(trials):
            self.progress(f"{kernel}: trial {number + 1} of {trials}")
            call, check = trial(number, prepared)
            if number == 0:
                trial(number, prepared)[0]()  # compiles; on another Graph, because that of tc caches results
            if self.world is not None:
                self.world.barrier()
            found, took = timed(call)
            if self.world is not None:  # a trial ends with the slowest rank
                took = max(self.world.allgather(took))
            times.append(took * 1e3)
            if self.args.verify:
                check(found)
        return {
            "kernel": kernel,
            "what": KERNELS[kernel][1],
            "trials": trials,
            "ms": sum(times) / trials,
            "median": float(np.median(times)),
            "least": min(times),
            "verified": self.args.verify,
        }

    def _bfs(self, number, _):
        from grb_tile.algorithms import bfs

        source = self.sources[number % len(self.sources)]
        return lambda: bfs(self.G, source, levels=False, parents=True).parents, lambda parents: gap_verify.bfs(
            self.edges, source, parents.to_dense(-1)
        )

    def _sssp(self, number, weighted):
        from grb_tile.algorithms import sssp

        G, edges = weighted
        source = self.sources[number % len(self.sources)]
        return lambda: sssp(G, source, delta=self.args.delta).distances, lambda distances: gap_verify.sssp(
            edges, source, distances.to_dense(np.inf, dtype="FP64")
        )

    def _weighted(self):
        """(Graph with positive whole weights, its Edges)."""
        from grb_tile import generators
        from grb_tile.algorithms import Graph

        A, G = self.G.A, self.G
        if A.dtype.name == "BOOL":
            A = generators.with_weights(A, 1, HIGHEST, dtype="INT32", seed=self.args.seed)
            G = Graph(A, G.directed)
        elif A.dtype.np_type.kind not in "iu" or int(G.emin) < 1:
            raise UsageError(
                "--kernels sssp: GAP's weights are positive whole numbers, those of the graph are "
                f"{A.dtype.name} from {G.emin} to {G.emax}; --weights unit takes 1 for each"
            )
        _ = G.AT, G.emin, G.emax
        return G, gap_verify.Edges(A) if self.args.verify else None

    def _pr(self, number, _):
        from grb_tile.algorithms import pagerank

        return lambda: pagerank(self.G, method="gap", dtype="FP32", max_iter=1000).ranks, lambda ranks: gap_verify.pr(
            self.edges, ranks.to_dense(dtype="FP64")
        )

    def _cc(self, number, _):
        from grb_tile.algorithms import connected_components

        return lambda: connected_components(self.G).labels, lambda labels: gap_verify.cc(self.edges, labels.to_dense())

    def _bc(self, number, _):
        from grb_tile.algorithms import betweenness

        roots = list(dict.fromkeys(self.sources[ROOTS * number : ROOTS * (number + 1)]))
        return (
            lambda: betweenness(self.G, sources=roots, batch=ROOTS, normalized="sum").values,
            lambda scores: gap_verify.bc(self.edges, roots, scores.to_dense(0)),
        )

    def _tc(self, number, _):
        from grb_tile import binary, graph
        from grb_tile.algorithms import Graph, triangle_count

        A = self.G.A if self.G.is_symmetric_structure else binary.pair(self.G.A | self.G.AT).new()
        G = Graph(A, None if self.G.is_symmetric else True)
        _ = G.is_symmetric_structure, G.out_degree, G.nself

        def run():
            graph.forget(A, "degree_ordered", "degree order")  # renumbering by degree is timed
            return triangle_count(G)

        return run, lambda count: gap_verify.tc(A, count)
