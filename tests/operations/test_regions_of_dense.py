"""Assignments to regions of dense matrices: who else has the arrays, masks, operators of positions, memory."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends import select
from grb_tile.storage import host_memory


@pytest.mark.parametrize("write", ["lists", "row", "column", "backwards", "accumulated"])
def test_a_copy_on_a_device_does_not_outlive_a_write_on_the_host(write):
    C = gb.Matrix.from_dense(np.arange(9).reshape(3, 3))
    wanted, T = C.to_dense(), gb.Matrix.from_dense(np.array([[71, 72], [73, 74]]))
    with using_shim():
        assert (C.apply("ainv").new().to_dense() == -wanted).all()
    with select.using("cpu"):
        if write == "lists":
            C[[0, 1], [0, 1]] << T
            wanted[:2, :2] = [[71, 72], [73, 74]]
        elif write == "row":
            C[0, :] << 9
            wanted[0] = 9
        elif write == "column":
            C[:, 1] << gb.Vector.from_dense(np.array([4, 5, 6]))
            wanted[:, 1] = [4, 5, 6]
        elif write == "backwards":
            C[::-1, ::-1] << C.dup()
            wanted = wanted[::-1, ::-1]
        else:
            C[[2, 1], 1:3](accum="plus") << T
            wanted[[2, 1], 1:3] += [[71, 72], [73, 74]]
    with using_shim():
        assert (C.apply("ainv").new().to_dense() == -wanted).all()


@pytest.mark.parametrize("engine", ["cpu", "cuda"])
@pytest.mark.parametrize("complement", [False, True])
def test_new_entries_of_a_dense_matrix_under_a_mask(engine, complement):
    with using_shim() if engine == "cuda" else select.using(engine):
        A = gb.Matrix.from_coo([0, 0, 0, 1, 1, 1, 2, 2], [0, 1, 2, 0, 1, 2, 0, 1], 2, nrows=3, ncols=3)
        C = gb.Matrix.from_coo([2, 2, 2], [0, 1, 2], [2, 1, 4], nrows=3, ncols=3, dtype="INT8")
        C.ss.config["sparsity_control"] = "bitmap"
        C(~A.S if complement else A.S)[1:3, 2:3] << 7
        new = {2: 7} if complement else {}
        rows = {2: {0: 2, 1: 1, 2: 4} | new} | ({} if complement else {1: {2: 7}})
        assert C.to_dicts() == rows


@pytest.mark.parametrize("name, row, column", [("firsti", 1, 0), ("secondj", 0, 1)])
def test_operators_of_positions(name, row, column):
    """Of C's entry: its row, its column."""
    with select.using("cpu"):
        C = gb.Matrix.from_dense(np.arange(16).reshape(4, 4) + 100)
        wanted, T = C.to_dense(), gb.Matrix.from_dense(np.array([[1, 2], [3, 4]]))
        C[[3, 1], [2, 0]](accum=getattr(gb.binary.ss, name)) << T
        for i in (3, 1):
            for j in (2, 0):
                wanted[i, j] = row * i + column * j
        assert (C.to_dense() == wanted).all()


def test_a_copy_that_does_not_fit_is_refused_first(monkeypatch):
    with select.using("cpu"):
        C, T = gb.Matrix.from_scalar(1.0, nrows=3000, ncols=3000), gb.Matrix.from_dense(np.ones((2, 2)))
        monkeypatch.setattr(host_memory, "free_bytes", lambda *_: 1 << 20)
        with pytest.raises(gb.exceptions.OutOfMemory, match="3000 x 3000"):
            C[[0, 1], [0, 1]] << T
        assert C.ss.is_iso


def test_a_complex_result_of_operands_of_other_types():
    with using_shim():
        a = gb.Vector.from_dense(np.arange(5))
        assert a.ewise_mult(a, "cmplx").new().to_dense().tolist() == [k + 1j * k for k in range(5)]
        assert a.apply("cmplx", left=1).new().to_dense().tolist() == [1 + 1j * k for k in range(5)]
        M = gb.Matrix.from_coo([0, 1], [1, 0], [3, 4], nrows=2, ncols=2)
        assert M.ewise_mult(M, "cmplx").new().to_dicts() == {0: {1: 3 + 3j}, 1: {0: 4 + 4j}}
