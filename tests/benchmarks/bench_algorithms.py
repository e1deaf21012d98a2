"""Graph algorithms against NetworkX, with and without conversion, SciPy and graphblas-algorithms.

    python tests/benchmarks/bench_algorithms.py [--only=NAME,NAME] [--scale-down=K] [--record]

Graphs are Graph500 Kronecker graphs (edge factor 16), of 1 M edges where NetworkX ends in time, smaller where it does
not: the column `edges` says.  The cases are in algorithm_cases_*.py.  Both sides run in turns in one process; a time is
the least of several calls, one call where NetworkX needs more than 5 s.  Our calls are warm: kernels are compiled.
`converted` is the NetworkX call itself with backend_priority = ["grb_tile"] and a graph that was not converted before:
conversion, dispatch and the dictionaries of the result count.  Where the backend leaves a call to NetworkX, the ratio
is about 1.  Results are compared before anything is timed.
--record writes results/algorithms.md; with --only it replaces the rows of these cases.
"""

import argparse
import contextlib
import importlib
import os
import pathlib
import sys
import warnings

os.environ.setdefault("GRB_TILE_JIT", "always")

import environment
import graphs
import numpy as np

from grb_tile.cli.timing import timed

RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "algorithms.md"
MODULES = ("algorithm_cases", "algorithm_cases_structure")
CASES = {}
BUDGET, MOST = 2.0, 7  # seconds and calls that are spent on one side of a case
HEAD = "| case | edges | grb_tile (ms) | ten vertices (ms) | NetworkX (ms) | ratio | ratio, converted | peers (ms) |"


class Subject:
    """One graph for all sides: `G` ours, `nx` NetworkX's, `scipy` a csr_array; each is made at its first use."""

    def __init__(self, csr, weights=None, directed=False):
        self.csr, self.directed = csr, directed
        self.weights = np.ones(csr.nvals) if weights is None else weights
        self._made = {}

    def _once(self, name, make):
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    @property
    def n(self):
        return self.csr.n

    @property
    def edges(self):
        return self.csr.nvals if self.directed else self.csr.nvals // 2

    @property
    def scipy(self):
        return self._once("scipy", lambda: self.csr.scipy(self.weights))

    @property
    def G(self):
        from grb_tile import Matrix
        from grb_tile.algorithms import Graph

        def make():
            A = Matrix.from_csr(self.csr.indptr, self.csr.indices, self.weights, nrows=self.n, ncols=self.n)
            return Graph(A, self.directed)

        return self._once("G", make)

    @property
    def nx(self):
        import networkx

        def make():
            made = networkx.DiGraph() if self.directed else networkx.Graph()
            made.add_nodes_from(range(self.n))
            rows = self.csr.rows()
            keep = slice(None) if self.directed else rows <= self.csr.indices
            ends = rows[keep].tolist(), self.csr.indices[keep].tolist(), self.weights[keep].tolist()
            if (self.weights == 1).all():
                made.add_edges_from(zip(*ends[:2], strict=True))
            else:
                made.add_weighted_edges_from(zip(*ends, strict=True))
            return made

        return self._once("nx", make)

    @property
    def graphblas(self):
        """The graph of graphblas-algorithms, over python-graphblas's Matrix."""
        import graphblas
        import graphblas_algorithms

        def make():
            csr = self.csr
            A = graphblas.Matrix.from_csr(csr.indptr, csr.indices, self.weights, nrows=self.n, ncols=self.n)
            return (graphblas_algorithms.DiGraph if self.directed else graphblas_algorithms.Graph)(A)

        return self._once("graphblas", make)


class Case:
    """ours(subject), networkx(subject), peers {name: function(subject)}; same(ours, theirs) raises if they differ."""

    def __init__(self, ours, networkx, same, peers=None, scale=16, directed=False, weighted=False):
        self.ours, self.networkx, self.same, self.peers = ours, networkx, same, peers or {}
        self.scale, self.directed, self.weighted = scale, directed, weighted

    def subject(self, scale):
        key = scale, self.directed, self.weighted
        if key not in SUBJECTS:
            csr = graphs.kron(scale, directed=self.directed)
            weights = graphs.weights(csr, np.float64, 1, 100) if self.weighted else None
            SUBJECTS[key] = Subject(csr, weights, self.directed)
        return SUBJECTS[key]


SUBJECTS = {}


def case(name, **options):
    """Register the case that a function returns as (ours, networkx, same[, peers])."""

    def register(function):
        CASES[name] = Case(*function(), **options)
        return function

    return register


def least(functions):
    """{name: least seconds}, the functions called in turns."""
    found = {name: [] for name in functions}
    spent = dict.fromkeys(functions, 0.0)
    open_ = set(functions)
    while open_:
        for name in [each for each in functions if each in open_]:
            _, seconds = timed(functions[name])
            found[name].append(seconds)
            spent[name] += seconds
            if spent[name] > BUDGET or len(found[name]) >= MOST:
                open_.discard(name)
    return {name: min(seconds) for name, seconds in found.items()}


def tiny(made):
    """Least seconds of a warm call on ten vertices."""
    i = np.arange(10)
    sources, targets = np.r_[i, i], np.r_[(i + 1) % 10, (i + 3) % 10]
    csr = graphs.from_edges("ten", 10, sources, targets, undirected=not made.directed)
    subject = Subject(csr, np.ones(csr.nvals), made.directed)
    for _ in range(3):
        made.ours(subject)
    return least({"ours": lambda: [made.ours(subject) for _ in range(10)]})["ours"] / 10


@contextlib.contextmanager
def dispatched():
    """NetworkX's functions run on grb_tile meanwhile; gives the graphs that were converted."""
    import networkx as nx

    from grb_tile.nx.interface import backend

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "nx"))
    import installed

    installed.register()
    graphs, convert = [], backend.convert_from_nx
    backend.convert_from_nx = lambda graph, *args, **options: (graphs.append(graph), convert(graph, *args, **options))[
        1
    ]
    try:
        with warnings.catch_warnings(), nx.config.backend_priority(algos=["grb_tile"]):
            warnings.simplefilter("ignore")
            yield graphs
    finally:
        backend.convert_from_nx = convert


def converted(call):
    """Least seconds of three calls, each with graphs that were not converted before."""
    found = []
    with dispatched() as graphs:
        for _ in range(3):
            found.append(timed(call)[1])
            while graphs:
                graphs.pop().__networkx_cache__.clear()
    return min(found)


def measure(name, made, down):
    """The row of a case as text."""
    subject = made.subject(made.scale - down)
    ours = made.ours(subject)
    made.same(ours, made.networkx(subject))
    for peer in made.peers.values():
        made.same(ours, peer(subject))
    sides = {"ours": lambda: made.ours(subject), "networkx": lambda: made.networkx(subject)}
    sides |= {peer: lambda run=run: run(subject) for peer, run in made.peers.items()}
    found = least(sides)
    mine, theirs = found["ours"], found["networkx"]
    small = tiny(made)
    with_conversion = theirs / converted(lambda: made.networkx(subject))
    peers = ", ".join(f"{peer} {found[peer] * 1e3:.3g} ({mine / found[peer]:.2f} x)" for peer in made.peers)
    row = (
        f"| {name} | {subject.edges:,} | {mine * 1e3:.3g} | {small * 1e3:.2f} | {theirs * 1e3:.4g} "
        f"| {theirs / mine:.3g} | {with_conversion:.3g} | {peers} |"
    )
    print(row, flush=True)
    return row


def record(rows):
    """Write the table: the rows measured now, and those of other cases as they were."""
    held = {}
    if RESULTS.exists():
        for line in RESULTS.read_text(encoding="utf-8").splitlines():
            if line.startswith("| ") and not line.startswith("| case"):
                held[line.split("|")[1].strip()] = line
    held |= rows
    held = {name: held[name] for name in sorted(held) if name in CASES}
    ratios = np.array([[float(cell) for cell in line.split("|")[6:8]] for line in held.values()])
    means = np.exp(np.log(ratios).mean(axis=0))
    facts = environment.describe()
    RESULTS.write_text(
        "# Graph algorithms against NetworkX and other libraries\n\n"
        "`python tests/benchmarks/bench_algorithms.py --record`: least time of a warm call, all sides in turns in one\n"
        "process, results compared. `ratio` is NetworkX's time over ours. `converted` is its time over that of the\n"
        "same call with `backend_priority` set to `grb_tile` and a graph that was not converted before: conversion,\n"
        "dispatch and dictionaries of the result count. Behind a peer's time is ours over it (above 1: grb_tile is\n"
        "slower).\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']:.1f}, commit {str(facts['commit'])[:7]}.\n\n"
        f"{len(held)} cases, geometric mean {means[0]:.0f}, converted {means[1]:.0f}; targets 50 and 12.\n\n"
        + HEAD + "\n" + "|---" * (HEAD.count("|") - 1) + "|\n" + "\n".join(held.values()) + "\n",
        encoding="utf-8",
    )  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names of cases, separated by commas")
    parser.add_argument("--scale-down", type=int, default=0, help="graphs of 2^K times fewer vertices")
    parser.add_argument("--record", action="store_true", help="write results/algorithms.md")
    args = parser.parse_args(argv)
    sys.modules.setdefault("bench_algorithms", sys.modules[__name__])  # where the modules of cases register
    for module in MODULES:
        importlib.import_module(module)
    names = args.only.split(",") if args.only else list(CASES)
    unknown = set(names) - set(CASES)
    if unknown:
        parser.error(f"--only: no case is called {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    print(HEAD)
    rows = {name: measure(name, CASES[name], args.scale_down) for name in names}
    if args.record:
        record(rows)


if __name__ == "__main__":
    main()
