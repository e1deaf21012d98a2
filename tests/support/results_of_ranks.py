"""Calls of every kind with plain results, to be compared between ranks and one process."""

import numpy as np

import grb_tile as gb
from grb_tile import algorithms


def results(moves=True):
    """moves: with those of a loop of local moves, which takes most of the time."""
    rows, cols = np.arange(400) % 90, np.arange(400) * 7 % 83
    A = gb.Matrix.from_coo(rows, cols, np.arange(400) % 7 + 1.0, nrows=90, ncols=90, dup_op=gb.binary.plus)
    v = gb.Vector.from_coo([0, 40, 80], [1.0, 2.0, 3.0], size=90)
    f, level, depth = gb.Vector.from_coo([0], True, size=90), gb.Vector(int, 90), 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, gb.semiring.any_pair)
        depth += 1
    S = gb.binary.first(A | A.T).new()
    full = gb.Vector.from_dense(np.arange(90) % 5 + 0.5)
    return [
        A.mxv(v).new().to_dict(), v.vxm(A).new().to_dict(), level.to_dict(), A.mxm(A).new(mask=A.S).to_dicts(),
        A.mxv(full).new().to_dict(), A.mxv(gb.Vector.from_scalar(2.0, 90)).new().to_dict(),
        A.T.new().to_dicts(), A[3:60:2, [1, 5, 2]].new().to_dicts(), A.apply(gb.indexunary.rowindex).new().to_dicts(),
        A.reduce_columnwise().new().to_dict(), v.ewise_add(A[:, 7].new()).new().to_dict(),
        A[:5, :7].new().kronecker(A[80:, 60:80].new()).new().to_dicts(),
        A.ss.selectk("first", 2).to_dicts(),
        algorithms.random_walks(S, [0, 40], 5, seed=2).walks.tolist(),
        algorithms.connected_components(S).count, algorithms.triangle_count(S),
        {k: round(x, 9) for k, x in algorithms.pagerank(A).values.to_dict().items()},
        *([algorithms.louvain(S, seed=1).count] if moves else []),
    ]  # fmt: skip


def compare(found, want):
    for of_rank in found:
        for k, value in enumerate(of_rank):
            assert value == want[k], k
