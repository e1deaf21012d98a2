"""Graph.summary() against plain counting."""

import numpy as np
import pytest
from samples import edges, matrix, random_graph

import grb_tile as gb
from grb_tile.algorithms import Graph, density


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("number", range(6))
def test_facts_are_those_of_plain_counting(number, directed, base_seed):
    S = random_graph(1000 * base_seed + number, undirected=not directed)
    found = Graph(matrix(S), directed).summary()
    n = S.shape[0]
    entries = {(int(i), int(j)): S[i, j] for i in range(n) for j in S.indices[S.indptr[i] : S.indptr[i + 1]]}
    assert (found.nodes, found.directed) == (n, directed)
    assert found.loops == sum(i == j for i, j in entries)
    once = entries if directed else {(min(i, j), max(i, j)) for i, j in entries}
    assert found.edges == len(once)
    assert found.isolated == n - len({v for edge in entries for v in edge})
    degrees = sorted(sum(i == v for i, _ in entries) for v in range(n))
    assert (found.mean_degree, found.largest_degree) == (pytest.approx(np.mean(degrees)), degrees[-1])
    assert found.median_degree == degrees[-(-n // 2) - 1]
    assert found.degree_90 in degrees and sum(d <= found.degree_90 for d in degrees) >= 0.9 * n
    pairs = n * (n - 1) // (1 if directed else 2)
    assert found.density == pytest.approx(found.edges / pairs if pairs else 0)
    assert found.density == density(Graph(matrix(S), directed))
    weights = list(entries.values())
    assert (found.smallest_weight, found.largest_weight) == ((min(weights), max(weights)) if weights else (None, None))


def test_text_for_people_and_notebooks():
    G = Graph(edges([(0, 1), (1, 2)], 4, weights=5, both=True), name="a <b>")
    text = str(G.summary())
    assert text.splitlines()[0].split() == ["graph", "a", "<b>"]
    assert "4, 1 of them isolated" in text and "2 undirected" in text and "5 to 5" in text
    assert "a &lt;b&gt;" in G.summary()._repr_html_() and G.summary().as_dict()["edges"] == 2
    empty = str(Graph(gb.Matrix(float, 0, 0), name="").summary())
    assert "no edges" in empty and not empty.startswith("graph")


def test_complex_weights_have_no_smallest():
    found = Graph(edges([(0, 1), (1, 2)], 3, weights=1 + 2j)).summary()
    assert found.smallest_weight is found.largest_weight is None and "FC64, without order" in str(found)
