"""A program of a user: .ci/run checks it with mypy against the installed package, tests/test_annotations.py runs it."""

import tempfile
from typing import assert_type

import numpy as np

import grb_tile as gb
from grb_tile import algorithms, binary, monoid, semiring
from grb_tile.algorithms import Graph


def levels(A: gb.Matrix, source: int) -> gb.Vector:
    """f<!v> = f A, level by level."""
    v = gb.Vector.from_coo([source], [0], "INT64", size=A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    level = 0
    while f.nvals:
        level += 1
        f(~v.S, replace=True) << semiring.any_pair[bool](f @ A)
        v(f.S) << level
    return v


A = gb.Matrix.from_coo([0, 0, 1, 2, 3], [1, 2, 3, 3, 4], [2.0, 1.0, 4.0, 6.0, 1.0], nrows=6, ncols=6)
assert_type(A, gb.Matrix)
assert levels(A, 0).to_dict() == {0: 0, 1: 1, 2: 1, 3: 2, 4: 3}

w = gb.Vector(float, 6)
assert_type(w, gb.Vector)
w << A.reduce_rowwise(monoid.plus)
w(accum=binary.plus) << A.mxv(w, semiring.min_plus)
w[5] = 1.5
C = gb.binary.plus(A | A.T).new()
C(A.S, gb.replace) << A @ A
assert (2 * A)[0, 1].new().value == 4.0

assert_type(algorithms.bfs(A, 0), algorithms.BfsResult)
assert_type(algorithms.sssp(Graph(A), 0), algorithms.SsspResult)
assert_type(algorithms.triangle_count(Graph(C)), int)

# What algorithms take: tables, arrays and files for graphs; labels for vertices
labelled = Graph(A, labels=["ann", "bob", "cyd", "dan", "eve", "fay"])
weights: dict[str, int] = {"ann": 2, "bob": 1}
algorithms.pagerank(labelled, personalization=weights)
algorithms.bfs(labelled, "ann", target="bob")
algorithms.bfs_multi(labelled, ["ann", "bob"])
algorithms.bfs_multi(A, np.array([0, 1]))
algorithms.sssp(labelled, "ann")
algorithms.shortest_path(labelled, "ann", "eve")
algorithms.jaccard(labelled, [("ann", "bob")])
algorithms.betweenness(np.eye(3), sources=[0])
algorithms.closeness(A.T, sources=range(2))
with tempfile.TemporaryDirectory() as folder:
    gb.io.write(f"{folder}/graph.csv", labelled)
    algorithms.degree(f"{folder}/graph.csv")
    algorithms.degree(gb.io.read(f"{folder}/graph.csv"))

with gb.plan(force="cols"), gb.config.set(backend="cpu"):
    A.mxv(w, semiring.plus_times).new()
print(gb.explain())
