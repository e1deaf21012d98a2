"""Every result of a graph with labels is that of the same graph without, its vertices by their labels: dictionaries,
data frames, what a notebook shows."""

import re

import numpy as np
import pandas
import pytest
from every_algorithm import EVERY

import grb_tile as gb
from grb_tile import algorithms as alg

NUMBERS = [7, 2, 9, 4, 0, 11, 3, 5, 8, 1, 6, 10]
NAMES = [f"name{k}" for k in NUMBERS]
# columns of data frames that hold vertices; `values` of these results are vertices too
VERTICES = {"source", "target", "vertex", "row", "column", "parents", "predecessors"}
OF_VERTICES = {"bfs parents", "bipartite_matching", "bfs_multi parents"}
CALLS = EVERY | {
    "bfs parents": lambda G: alg.bfs(G, 0, parents=True, levels=False),
    "bfs_multi parents": lambda G: alg.bfs_multi(G, [0, 3], parents=True, levels=False),
    "bipartite_matching": alg.bipartite_matching,
    "ego_graph": lambda G: alg.ego_graph(G, 0, 2, undirected=True),
}


def graph(labels):
    rng = np.random.default_rng(5)
    i, j = np.nonzero(rng.random((12, 12)) < 0.3)
    A = gb.Matrix.from_coo(i, j, rng.integers(1, 5, i.size).astype(float), nrows=12, ncols=12)
    return alg.Graph(A, labels=labels)


def undirected(labels):
    G = graph(None)
    return alg.Graph(gb.binary.plus(G.A | G.A.T).new(), directed=False, labels=labels)


def acyclic(labels):
    return alg.Graph(gb.select.triu(graph(None).A, 1).new(), labels=labels)


def outcome(call, labels):
    """The result of the first of the graphs that the algorithm takes."""
    for made in (graph, undirected):
        try:
            return call(made(labels))
        except (ValueError, alg.AlgorithmError):
            pass
    return call(acyclic(labels))


def named(found, of_vertices):
    """A dictionary of vertices with their labels in the place of their numbers."""
    if isinstance(found, dict):
        return {named(key, True): named(value, of_vertices) for key, value in found.items()}
    if isinstance(found, tuple):
        return tuple(named(each, of_vertices) for each in found)
    return NAMES[found] if of_vertices else found


@pytest.mark.parametrize("name", sorted(CALLS))
def test_results_show_labels(name):
    with gb.config.set(backend="cpu"):  # two searches on a device may find other parents
        plain, labelled = (outcome(CALLS[name], labels) for labels in (None, NAMES))
    if isinstance(plain, alg.Graph):
        assert plain.A.isequal(labelled.A) and list(labelled.labels) == NAMES
        return
    if not isinstance(plain, alg.Result):
        assert not isinstance(plain, list) or not plain or labelled == [named(each, True) for each in plain]
        return
    assert labelled.to_dict() == named(plain.to_dict(), name in OF_VERTICES) or has_nan(plain)
    before, after = plain.to_pandas(), labelled.to_pandas()
    assert before.columns.tolist() == after.columns.tolist()
    if before.index.name is not None:
        assert after.index.tolist() == [NAMES[i] for i in before.index] and after.index.name == before.index.name
    for column in before:
        assert not re.fullmatch(r"[a-zA-Z]+_\d+", column), "values without a name of their own"
        if column in VERTICES:
            assert after[column].tolist() == [NAMES[i] for i in before[column]]
        else:
            assert pandas.api.types.is_numeric_dtype(after[column]) or after[column].dtype == bool
            assert np.array_equal(before[column].astype(float), after[column].astype(float), equal_nan=True)
    html = labelled._repr_html_()
    shown = set(re.findall(r"name\d+", html))
    assert shown <= set(NAMES) and (shown or not labelled.values.nvals), html


def has_nan(result):
    return bool(np.isnan(result.values.to_coo()[-1].astype(float)).any())


@pytest.mark.parametrize("name", sorted(OF_VERTICES | {"bfs", "sssp"}))
def test_a_notebook_shows_vertices_by_label(name):
    """As many labels as there are cells of vertices: a row's label and its value."""
    found = outcome(CALLS[name], NAMES)
    html = found._repr_html_()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", html)
    assert sum(cell.strip() in NAMES for cell in cells) >= 3, html
