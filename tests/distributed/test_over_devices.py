"""Ranks that compute on a device (the CPU emulation of one): parts reside there, exchanges pass through the host."""

import numpy as np

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile import algorithms
from grb_tile.backends import select
from support.ranks import on_ranks


def results():
    rows, cols = np.arange(400) % 90, np.arange(400) * 7 % 83
    A = gb.Matrix.from_coo(rows, cols, np.arange(400) % 7 + 1.0, nrows=90, ncols=90, dup_op=gb.binary.plus)
    v = gb.Vector.from_coo([0, 40, 80], [1.0, 2.0, 3.0], size=90)
    f, level, depth = gb.Vector.from_coo([0], True, size=90), gb.Vector(int, 90), 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, gb.semiring.any_pair)
        depth += 1
    S = gb.binary.first(A | A.T).new()
    return [
        A.mxv(v).new().to_dict(), v.vxm(A).new().to_dict(), level.to_dict(), A.mxm(A).new(mask=A.S).to_dicts(),
        A.T.new().to_dicts(), A[3:60:2, [1, 5, 2]].new().to_dicts(), A.apply(gb.indexunary.rowindex).new().to_dicts(),
        A.reduce_columnwise().new().to_dict(), v.ewise_add(A[:, 7].new()).new().to_dict(),
        algorithms.connected_components(S).count, algorithms.triangle_count(S),
        {k: round(x, 9) for k, x in algorithms.pagerank(A).values.to_dict().items()},
    ]  # fmt: skip


def test_calls_on_ranks_of_devices():
    want = results()
    with using_shim():
        found = on_ranks("ranks2", results, local=select.current().name, timeout=60)
    for k, value in enumerate(want):
        assert found[0][k] == value == found[1][k], k
