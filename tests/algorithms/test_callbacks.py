"""Every algorithm that takes a callback: its own loop gives what the whole operation gives, and ends where told to."""

import inspect
import itertools
import math

import numpy as np
import pytest
from every_algorithm import plain
from samples import edges, karate
from scipy.sparse import csgraph

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.algorithms import Report, strongly_connected_components
from support.seeds import generator

OPTIONS = {
    "ancestors": {"node": 3}, "bfs": {"source": 0, "parents": True}, "bfs_multi": {"sources": [0, 1]},
    "descendants": {"node": 0}, "eigenvector": {"strict": False},
    "hello": {"steps": 3}, "k_core": {"k": 2}, "k_shell": {"k": 2}, "k_truss": {"k": 3},
    "katz": {"alpha": 0.01}, "mcl": {"max_iter": 12, "strict": False},
    "pagerank_multi": {"personalization": [0, 1]}, "sssp": {"source": 0}, "coloring": {"seed": 1},
    "ego_graph": {"node": 0}, "random_walks": {"starts": [0, 1], "length": 4, "seed": 1}, "louvain": {"seed": 1},
    "leiden": {"seed": 1}, "maximal_independent_set": {"seed": 1}, "shortest_path": {"source": 0, "target": 5},
    "shortest_path_length": {"source": 0}, "single_source_shortest_path": {"source": 0}, "modularity": None,
    "partition_quality": None,
}  # fmt: skip
NAMES = [
    name
    for name in sorted(alg.__all__)
    if inspect.isfunction(getattr(alg, name))
    and "callback" in inspect.signature(getattr(alg, name)).parameters
    and OPTIONS.get(name, {}) is not None
]


def chain_of_cycles(count, length):
    """Cycles, each with an edge to the next: strong components of which none has most of the edges."""
    n = count * length
    found = [(length * c + k, length * c + (k + 1) % length) for c in range(count) for k in range(length)]
    found += [(length * c, length * (c + 1)) for c in range(count - 1)]
    order = generator("cycles", count, length).permutation(n)
    return edges([(order[i], order[j]) for i, j in found], n)


OF_TIES = ("parents", "predecessors", "mate_row", "mate_col")  # one of several that are right


def rounded(x):
    """The same result, of floats nine digits: sums of other orders differ in the last."""
    if isinstance(x, float):
        return 0.0 if abs(x) < 1e-12 else float(f"{x:.6g}") if math.isfinite(x) else repr(x)
    if isinstance(x, dict):
        return {key: rounded(value) for key, value in x.items() if key not in OF_TIES}
    return [rounded(each) for each in x] if isinstance(x, (list, tuple)) else x


GRAPHS = {
    "karate": karate,
    "cycles": lambda: chain_of_cycles(4, 3),
    "a lone last vertex": lambda: edges([(0, 1), (1, 2), (2, 0), (3, 1), (5, 3)], 7),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("graph", GRAPHS)
def test_with_a_callback(name, graph):
    function, options = getattr(alg, name), OPTIONS.get(name, {})
    G = GRAPHS[graph]()
    records = []

    def call(callback=None):
        try:
            return function(G, callback=callback, **options)
        except (ValueError, alg.CycleError) as error:  # a directed graph where an undirected one is needed
            return str(error)

    whole, stepped = call(), call(lambda record: records.append(record))
    assert rounded(plain(whole)) == rounded(plain(stepped))
    if isinstance(stepped, str) or not hasattr(stepped, "report"):
        return
    assert [record["iteration"] for record in records] == list(range(1, len(records) + 1))
    report = stepped.report
    assert report.iterations == len(records) and report.rounds == records
    assert report.stopped_by == whole.report.stopped_by != "callback" and report.converged == whole.report.converged
    for k in {1, 2, 3, len(records) // 2, len(records) - 1} & set(range(1, len(records) + 1)):
        found = call(lambda record, k=k: record["iteration"] == k).report
        assert (found.iterations, found.stopped_by, found.converged) == (k, "callback", False), (name, k)


NEEDS_VERTICES = ("ancestors", "bfs", "descendants", "sssp", "shortest", "ego_graph", "random_walks", "hello")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [0, 3])
def test_without_edges(name, n):
    """Ended by itself, after no round or more, whole and with a callback; refusals are the same."""
    function, options = getattr(alg, name), OPTIONS.get(name, {})
    options = {key: value for key, value in options.items() if n or key != "personalization"}
    if name == "pagerank_multi" and not n:
        options = {"personalization": []}
    if n == 0 and name.startswith(NEEDS_VERTICES):
        return

    def call(callback):
        try:
            return function(gb.Matrix(float, n, n), callback=callback, **options)
        except (ValueError, IndexError, alg.CycleError) as error:
            return str(error)

    whole, stepped = call(None), call(lambda record: None)
    assert rounded(plain(whole)) == rounded(plain(stepped))
    if hasattr(whole, "report"):
        for report in (whole.report, stepped.report):
            assert report.stopped_by in ("converged", "max_iter", "steps", "length")
            assert name in ("hello", "random_walks") or report.converged is (report.stopped_by == "converged")


def test_many_strong_components_of_the_same_size():
    for count, length in itertools.product((1, 2, 5), (1, 2, 4)):
        A = chain_of_cycles(count, length)
        S = gb.io.to_scipy_sparse(A)
        wanted, component = csgraph.connected_components(S, connection="strong")
        least = [int(np.flatnonzero(component == c)[0]) for c in component]
        for callback in (None, lambda record: False):
            found = strongly_connected_components(A, callback=callback)
            assert found.count == wanted and found.to_numpy().tolist() == least


def test_the_text_of_a_report():
    with Report("demo") as report:
        for residual in (0.5, 0.25):
            assert report.note(residual=residual) is False
    report.finish("max_iter", False)
    report.seconds = 1.25
    assert repr(report) == "Report(demo: 2 iterations, stopped by max_iter, converged=False, unweighted, 1.25 s)"
    assert (report.residual, report.iterations, report.has_callback) == (0.25, 2, False)
    report.converged = None
    assert repr(report) == "Report(demo: 2 iterations, stopped by max_iter, unweighted, 1.25 s)"
    calls = []
    report.adopt(lambda: calls.append(1) or [{"frontier": 1}, {"frontier": 4}])
    assert not calls and report.rounds == [{"iteration": 1, "frontier": 1}, {"iteration": 2, "frontier": 4}]
    assert report.iterations == 2 and calls == [1] and report.residual is None
