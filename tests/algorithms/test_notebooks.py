"""What notebooks show of graphs and results: facts, a few values with their labels, escaped and cut."""

import re
from html import unescape
from types import SimpleNamespace

import numpy as np
import pytest
from samples import edges, karate

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.algorithms import result
from grb_tile.algorithms.display_html import report_facts

NAMES = ["ann", "bob", "<i>cyd</i>", "dan", "e" * 100]


@pytest.fixture
def G():
    A = edges([(0, 1), (1, 2), (2, 3)], 5, [2.0, 0.5, 1.0], both=True)
    return alg.Graph(A, directed=False, name="<b>friends</b>", labels=NAMES)


def rows(html):
    """The texts of the cells, a list for each row of the tables."""
    found = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in found]
    return [[unescape(re.sub(r"</?(pre|tt)>", "", cell)) for cell in row] for row in cells]


def facts(html):
    """{fact: value} of the header."""
    keys, values = rows(html)[:2]
    return dict(zip(keys[1:], values, strict=True))


def test_a_graph(G):
    html = G._repr_html_()
    assert "<tt>&lt;b&gt;friends&lt;/b&gt;</tt>" in html and "<i>" not in html
    assert rows(html)[0][0] == "Graph" and facts(html) == {
        "vertices": "5", "edges": "3", "directed": "no", "weighted": "yes (FP64)",
        "labels": "ann, bob, <i>cyd</i>, ...",
    }  # fmt: skip


def test_a_graph_is_not_computed_with():
    A = gb.Matrix.from_coo([0, 1], [1, 2], 7, nrows=3, ncols=3)
    found = facts(alg.Graph(A, True)._repr_html_())
    assert (found["directed"], found["edges"], found["weighted"]) == ("yes", "2", "no (INT64, all the same)")
    A = edges([(0, 1), (1, 2)], 3, [1, 2])
    G = alg.Graph(A)
    found = facts(G._repr_html_())
    assert (found["directed"], found["entries"]) == ("not asked for yet", "2") and "edges" not in found
    assert not gb.graph.known(A)
    _ = G.directed
    assert facts(G._repr_html_())["directed"] == "yes"


def test_the_greatest_values_and_the_report(G):
    found = alg.pagerank(G)
    html = found._repr_html_()
    shown = facts(html)
    assert shown["iterations"] == str(found.iterations) and shown["converged"] == "yes"
    assert shown["vertices"] == "5" and shown["weighted"] == "no" and float(shown["seconds"]) > 0
    table = rows(html)[2:]
    assert table[0] == ["vertex", "ranks"] and "<i>" not in html
    wanted = found.top(5)
    assert [row[0] for row in table[1:]] == [str(v) if len(v) < 40 else v[:37] + "..." for v, _ in wanted]
    assert [float(row[1]) for row in table[1:]] == pytest.approx([x for _, x in wanted], abs=1e-6)


@pytest.mark.parametrize("converged", [True, False, None])
def test_only_what_iterates_says_whether_it_converged(converged):
    report = SimpleNamespace(
        algorithm="a", iterations=3, converged=converged, stopped_by="tol", weighted=False, seconds=1.23456
    )
    wanted = {"algorithm": "a", "iterations": 3, "weighted": False, "seconds": "1.23"}
    assert report_facts(report) == wanted | ({} if converged is None else {"converged": converged, "stopped by": "tol"})


def test_columns_absent_values_and_the_cut(G):
    found = alg.bfs(karate(), 0, parents=True)
    table = rows(found._repr_html_())[2:]
    assert table[0] == ["vertex", "levels", "parents"] and table[-1] == ["..."] * 3 and len(table) == 7
    assert [(int(v), int(level)) for v, level, _ in table[1:-1]] == found.top(5)
    assert all(found.parents[int(v)].value == int(parent) for v, _, parent in table[1:-1])
    hits = alg.HitsResult(gb.Vector.from_coo([1], 2.5, size=3), gb.Vector.from_coo([0], 1.0, size=3), None)
    assert rows(hits._repr_html_())[2:] == [["vertex", "hubs", "authorities"], ["1", "2.5", ""]]


def test_groups_show_the_first_vertices(G):
    found = alg.connected_components(G)
    table = rows(found._repr_html_())[2:]
    assert facts(found._repr_html_())["count"] == "2"
    assert [row[1] for row in table[1:]] == ["0", "0", "0", "0", "4"] and table[1][0] == "ann"
    assert facts(alg.louvain(karate())._repr_html_())["modularity"] == f"{alg.louvain(karate()).modularity:.6g}"


@pytest.mark.parametrize("call", [alg.edge_betweenness, alg.minimum_spanning_forest])
def test_edges(G, call):
    found = call(G)
    table = rows(found._repr_html_())[2:]
    assert [row[0] for row in table[1:]] == [f"{i} - {j}" for (i, j), _ in found.top(5)]
    assert table[1][0] in ("bob - <i>cyd</i>", "ann - bob")


def test_matrices_show_their_first_rows_and_columns(G):
    table = rows(alg.bfs_multi(G, [2, 4])._repr_html_())[2:]
    assert table[0] == ["", *NAMES[:4], "e" * 37 + "..."]
    assert table[1:] == [["<i>cyd</i>", "2", "1", "0", "1", ""], ["e" * 37 + "...", "", "", "", "", "0"]]
    table = rows(alg.apsp(karate())._repr_html_())[2:]
    assert len(table) == 7 and {len(row) for row in table} == {12} and table[-1] == ["..."] * 12


@pytest.mark.parametrize("seed", range(20))
def test_the_greatest_of_many_are_selected_before_they_are_copied(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 40))
    dtype = ("FP64", "INT8", "UINT64", "BOOL", "FP32")[seed % 5]
    x = rng.integers(0, 5, n).astype(gb.dtypes.lookup_dtype(dtype).np_type)
    if dtype[0] == "F":
        x[rng.random(n) < 0.3] = np.nan
    v = alg.VertexResult(gb.Vector.from_dense(x), None)
    i, j = np.divmod(rng.choice(n * n, 4 * n, replace=False), n)
    w = rng.integers(0, 6, 4 * n).astype(float)
    E = gb.Matrix.from_coo(i, j, w, nrows=n, ncols=n)
    both = gb.binary.max(E | E.T).new()
    e = alg.EdgeResult(E, None), alg.EdgeResult(both, None, directed=False)
    cases = [(found, k, smallest) for found in (v, *e) for k in (0, 1, 3, 7) for smallest in (False, True)]
    wanted = [found.top(k, smallest=smallest) for found, k, smallest in cases]
    monkeypatch.setattr(result, "MOST_COPIED", 8)
    for (found, k, smallest), expected in zip(cases, wanted, strict=True):
        if isinstance(found, alg.VertexResult):
            w = result._selected(found.values, k, smallest) if k else None
            assert w is None or w.nvals < 2 * k
        assert found.top(k, smallest=smallest) == expected, (k, smallest)
