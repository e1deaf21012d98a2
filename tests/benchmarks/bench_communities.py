"""Louvain and Leiden against igraph's: modularity and seconds, each run verified.

    pip install --target FOLDER igraph        # the peer, which the project does not need otherwise
    PYTHONPATH=.:FOLDER python tests/benchmarks/bench_communities.py [GRAPH ...] [--seeds 5] [--record]

Methods take turns, one run a seed.  A verified run has labels 0 .. count - 1, a modularity that NumPy finds again from
the edges, and for a Leiden connected communities.  Times are of the search alone: the Matrix, or igraph's Graph, is
there before, the Graph of the Matrix and its weights are made anew in each run.  LFR graphs need NetworkX, real ones
the data folder (graphs.data_folder): a graph that cannot be made is reported, and the run then ends with status 1.
"""

import argparse
import pathlib
import random
import statistics
import sys
from functools import partial

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2])]

import environment
import graphs
import numpy as np
import scipy.sparse as sp

from grb_tile import Matrix, algorithms as alg, generators
from grb_tile.cli.timing import timed

RESULTS = pathlib.Path(__file__).parent / "results" / "communities.md"
REAL = (
    "ca-CondMat", "email-Enron", "soc-Epinions1-und", "fb-Cornell5", "coauthor-physics", "wiki-Vote", "ego-Twitter",
    "as-caida20071105", "luxembourg_osm", "USA-road-NY", "wave", "uk-2007-05@100000", "cnr-2000",
)  # fmt: skip
OURS = "louvain", "leiden"
WHOLE = 10**6  # entries up to which Leiden iterates until nothing changes: kron16, of 2 million, takes 34 s a run
PAIRS = {"louvain": "multilevel", "leiden": "leiden 2"}  # what each is compared with


def lfr(mixing, n=20_000):
    """The benchmark graph of Lancichinetti, Fortunato, Radicchi (2008); mixing: the share of edges that leave."""
    import networkx as nx

    sizes = {"average_degree": 20, "max_degree": 200, "min_community": 20, "max_community": 1000}
    rows, cols = np.array(nx.LFR_benchmark_graph(n, 3, 1.5, mixing, seed=1, **sizes).edges).T
    return graphs.from_edges("lfr", n, rows, cols)


def grid(*sides):
    return graphs.of_matrix("grid", generators.grid(*sides))


GRAPHS = {
    **{f"kron{scale}": partial(graphs.kron, scale) for scale in (14, 16, 18)},
    "rmat16": lambda: graphs.of_matrix("rmat16", generators.rmat(16, 16, seed=1, directed=False)),
    "uniform16": lambda: graphs.of_matrix("uniform16", generators.uniform_random(1 << 16, 1 << 19, seed=1)),
    "grid256": partial(grid, 256, 256),
    "grid40^3": partial(grid, 40, 40, 40),
    "lfr 0.3": partial(lfr, 0.3),
    "lfr 0.5": partial(lfr, 0.5),
    "lfr 0.7": partial(lfr, 0.7),
    **{name: partial(graphs.real, name) for name in REAL},
}


def modularity(graph, label):
    """Q = [+_c  L(c) / 2m - (k(c) / 2m)^2],  L(c) the entries within community c, k(c) those of its rows."""
    rows, total = graph.rows(), graph.nvals
    sums = np.bincount(label, graph.degrees)
    return np.count_nonzero(label[rows] == label[graph.indices]) / total - float((sums / total) @ (sums / total))


def verified(graph, label, claimed, connected):
    """(modularity, communities), or AssertionError."""
    label = np.asarray(label)
    count = int(label.max()) + 1
    assert label.shape == (graph.n,) and np.array_equal(np.unique(label), np.arange(count)), "no partition"
    quality = modularity(graph, label)
    assert abs(quality - claimed) < 1e-9, (quality, claimed)
    if connected:
        rows = graph.rows()
        same = label[rows] == label[graph.indices]
        inside = sp.coo_array((np.ones(same.sum(), bool), (rows[same], graph.indices[same])), shape=(graph.n, graph.n))
        assert sp.csgraph.connected_components(inside, False)[0] == count, "a community is not connected"
    return quality, count


def methods(graph):
    """{name: function of a seed that gives (labels, modularity)}"""
    import igraph

    A = Matrix.from_csr(graph.indptr, graph.indices, True, nrows=graph.n, ncols=graph.n)
    rows = graph.rows()
    upper = rows < graph.indices
    theirs = igraph.Graph(n=graph.n, edges=np.column_stack((rows[upper], graph.indices[upper])))

    def ours(method, seed):
        found = method(alg.Graph(A, directed=False), seed=seed)
        return found.to_numpy(), found.modularity

    def peer(call, seed):
        random.seed(seed)  # igraph draws from Python's generator
        found = call()
        return found.membership, found.modularity

    leiden = partial(theirs.community_leiden, objective_function="modularity")
    return {
        "louvain": partial(ours, alg.louvain),
        "multilevel": partial(peer, theirs.community_multilevel),
        "leiden": partial(ours, alg.leiden),
        "leiden 2": partial(peer, partial(leiden, n_iterations=2)),
        "leiden -1": partial(peer, partial(leiden, n_iterations=-1)),
    }


def measured(graph, seeds):
    """{method: (modularities, seconds, communities)}, a number for each seed."""
    calls = methods(graph)
    if graph.nvals > WHOLE:
        del calls["leiden -1"]
    found = {name: ([], [], []) for name in calls}
    for name in OURS:
        calls[name](seeds)  # compiles
    for seed in range(seeds):
        for name, call in calls.items():
            (label, claimed), seconds = timed(partial(call, seed))
            quality, count = verified(graph, label, claimed, connected="leiden" in name)
            for numbers, number in zip(found[name], (quality, seconds, count), strict=True):
                numbers.append(number)
    return found


def lines(name, graph, found):
    """Rows of the table, one a method."""
    for method, (qualities, seconds, counts) in found.items():
        peer = found[PAIRS[method]] if method in PAIRS else None
        ratio = f"{statistics.median(seconds) / statistics.median(peer[1]):.2f}" if peer else ""
        gain = f"{statistics.median(qualities) - statistics.median(peer[0]):+.4f}" if peer else ""
        yield (
            f"| {name} | {'' if method in OURS else 'igraph '}{method} | {min(qualities):.4f} |"
            f" {statistics.median(qualities):.4f} | {max(qualities):.4f} | {gain} | {statistics.median(counts):.0f} |"
            f" {statistics.median(seconds):.3f} | {ratio} |"
        )


TEXT = """# Louvain and Leiden against igraph

`python tests/benchmarks/bench_communities.py --seeds {seeds} --record`. Methods take turns, one run a seed.
Q: the modularity, computed again with NumPy; to igraph: the median less that of igraph's method; ratio: the median of
the seconds over its. Louvain is compared with igraph's multilevel, Leiden with its Leiden of two iterations, the
default; -1 iterates until nothing changes, and is run on graphs of at most {whole:,} entries. Edges have no weights,
graphs are undirected and without loops.

"""
HEAD = "| graph | method | least Q | median Q | greatest Q | to igraph | communities | seconds | ratio |"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="GRAPH", help=f"of {', '.join(GRAPHS)}; all where none is named")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each method, seeds 0, 1, ...; default 5")
    parser.add_argument("--record", action="store_true", help="write results/communities.md")
    args = parser.parse_args(argv)
    try:
        import igraph
    except ImportError:
        parser.error("igraph is not installed: pip install --target FOLDER igraph, and put FOLDER on PYTHONPATH")
    unknown = set(args.names) - set(GRAPHS)
    if unknown:
        parser.error(f"GRAPH: {', '.join(sorted(unknown))} not among {', '.join(GRAPHS)}")
    print(HEAD, "|---" * (HEAD.count("|") - 1) + "|", sep="\n")
    rows, failed = [], []
    for name in args.names or GRAPHS:
        try:
            graph = GRAPHS[name]()
        except (FileNotFoundError, ImportError) as reason:
            failed.append(f"{name}: not measured, {reason}")
            continue
        for line in lines(name, graph, measured(graph, args.seeds)):
            rows.append(line)
            print(line, flush=True)
    for line in failed:
        print(line, file=sys.stderr)
    if args.record:
        facts = environment.describe()
        commit = f"{str(facts['commit'])[:7]}{' and changes' if facts['changed'] else ''}"
        RESULTS.write_text(
            TEXT.format(seeds=args.seeds, whole=WHOLE)
            + f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']:.1f}, igraph {igraph.__version__}, commit"
            f" {commit}.\n\n" + "\n".join([HEAD, "|---" * (HEAD.count("|") - 1) + "|", *rows, *failed]) + "\n",
            encoding="utf-8",
        )
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
