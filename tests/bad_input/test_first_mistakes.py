"""What a newcomer gets wrong first: names of other libraries, misspelt labels, arrays where objects are needed.  Each
error names what to write."""

import copy
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.algorithms.graph import OTHER_NAMES

TABLE = pd.DataFrame({"source": ["ann", "bob", "cyd"], "target": ["bob", "cyd", "dan"], "weight": [1.0, 2.0, 3.0]})


@pytest.fixture
def G():
    return alg.Graph(TABLE)


CALLS = [
    (lambda G: alg.bfs(G, "anna"), "source: no node is called 'anna'; did you mean 'ann'"),
    (lambda G: alg.bfs(G, "xyzzy"), "source: no node is called 'xyzzy'; the labels are in G.labels"),
    (lambda G: alg.bfs_multi(G, ["ann", "bobb"]), r"sources\[1\]: no node is called 'bobb'; did you mean 'bob'"),
    (lambda G: alg.pagerank(G, personalization={"cydd": 1}), "did you mean 'cyd'"),
    (lambda G: alg.bfs(G.A, None), "expected the number of a node .* got None of type NoneType; give one node"),
    (lambda G: alg.bfs(G.A, [0]), r"got \[0\] of type list; give one node"),
    (lambda G: alg.bfs(G.A, 1.0), r"got 1.0 of type float; write int\(source\)"),
    (lambda G: alg.bfs(G.A, "0"), "give the graph labels"),
    (lambda G: G.A @ [1, 2, 3, 4], r"Make one of it first: gb.Vector.from_dense\(x\)"),
    (lambda G: G.A @ np.ones(4), r"Make one of it first: gb.Vector.from_dense\(x\)"),
    (lambda G: G.A @ np.ones((4, 4)), r"Make one of it first: gb.Matrix.from_dense\(x\)"),
    (lambda G: G.A.mxv(np.ones(4)), r"Make one of it first: gb.Vector.from_dense\(x\)"),
    (lambda G: G.A.mxm([[1, 2], [3, 4]]), r"Make one of it first: gb.Matrix.from_dense\(x\)"),
    (lambda G: G.A.mxm("A"), r"Got: <class 'str'>\.$"),
    (lambda G: G.A["ann", 0], r"indices are numbers, G.vertex\(label\)"),
    (lambda G: G.A[1.5, 0], "indices are integers, such as 1"),
    (lambda G: G.A[float("nan"), 0], "indices are integers"),
    (lambda G: G.nodes, "has no attribute 'nodes'; write G.labels"),
    (lambda G: G.number_of_nodes(), "has no attribute 'number_of_nodes'; write G.n "),
    (lambda G: G.frobnicate, "has no attribute 'frobnicate$"),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_the_error_names_the_remedy(call, message, G):
    with pytest.raises((TypeError, KeyError, AttributeError)) as caught:
        call(G)
    assert re.search(message, str(caught.value).strip("\"'")), str(caught.value)


def test_names_that_errors_suggest_are_there(G):
    for name, here in OTHER_NAMES.items():
        assert not hasattr(G, name)
        for attribute in re.findall(r"\bG\.(\w+)", here):
            assert hasattr(G, attribute)


def test_many_labels_are_not_compared():
    labels = [f"user{k}" for k in range(30_000)]
    many = alg.Graph(gb.Matrix(bool, 30_000, 30_000), labels=labels)
    with pytest.raises(KeyError, match="no node is called 'usr1'; the labels are in G.labels"):
        alg.bfs(many, "usr1")


def test_graphs_are_copied_and_pickled(G):
    for other in (copy.copy(G), copy.deepcopy(G), pickle.loads(pickle.dumps(G))):
        assert other.labels == G.labels and other.A.isequal(G.A)


def test_pairs_in_a_table(G):
    pairs = pd.DataFrame({"a": ["ann", "ann"], "b": ["bob", "cyd"], "why": [1, 2]})
    wanted = alg.jaccard(G, [("ann", "bob"), ("ann", "cyd")]).to_dict()
    assert alg.jaccard(G, pairs).to_dict() == wanted
    numbers = pd.DataFrame({"a": [0, 0], "b": [1, 2]})
    assert list(alg.jaccard(G.A, numbers).to_dict().values()) == list(wanted.values())
