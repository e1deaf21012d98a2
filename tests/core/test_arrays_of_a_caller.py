"""Arrays that a caller gives stay the caller's: a change of either side does not reach the other."""

import numpy as np
import pytest

import grb_tile as gb

I, J, P = (lambda: np.array([0, 1, 2])), (lambda: np.array([1, 2, 0])), (lambda: np.array([0, 1, 2, 3]))
MAKERS = {
    "Vector.from_coo": lambda i, j, p, x: gb.Vector.from_coo(i, x, size=3),
    "Vector.from_dense": lambda i, j, p, x: gb.Vector.from_dense(x),
    "Vector.from_dense, missing": lambda i, j, p, x: gb.Vector.from_dense(x, missing_value=99),
    "Matrix.from_coo": lambda i, j, p, x: gb.Matrix.from_coo(i, j, x, nrows=3, ncols=3),
    "Matrix.from_csr": lambda i, j, p, x: gb.Matrix.from_csr(p, j, x, ncols=3),
    "Matrix.from_csc": lambda i, j, p, x: gb.Matrix.from_csc(p, i, x, nrows=3),
    "Matrix.from_dcsr": lambda i, j, p, x: gb.Matrix.from_dcsr(i, p, j, x, nrows=3, ncols=3),
    "Matrix.from_dcsc": lambda i, j, p, x: gb.Matrix.from_dcsc(i, p, j, x, nrows=3, ncols=3),
    "Matrix.from_dense": lambda i, j, p, x: gb.Matrix.from_dense(x.reshape(1, 3)),
    "Matrix.build": lambda i, j, p, x: _built(gb.Matrix(x.dtype.newbyteorder("="), 3, 3), i, j, x),
    "Vector.build": lambda i, j, p, x: _built(gb.Vector(x.dtype.newbyteorder("="), 3), i, x),
    "assign": lambda i, j, p, x: _assigned(gb.Vector(x.dtype.newbyteorder("="), 3), i, x),
    "ss.import_csr": lambda i, j, p, x: gb.Matrix.ss.import_csr(nrows=3, ncols=3, indptr=p, col_indices=j, values=x),
    "ss.import_sparse": lambda i, j, p, x: gb.Vector.ss.import_sparse(size=3, indices=i, values=x),
    "ss.import_full": lambda i, j, p, x: gb.Vector.ss.import_full(x),
    "ss.import_bitmap": lambda i, j, p, x: gb.Vector.ss.import_bitmap(bitmap=np.ones(3, bool), values=x),
}


def _built(x, *arrays):
    x.build(*arrays)
    return x


def _assigned(x, at, values):
    x[at] = values
    return x


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.int8, ">f8"])
@pytest.mark.parametrize("indices", [np.int64, np.uint64, np.int32])
@pytest.mark.parametrize("name", MAKERS)
def test_neither_side_changes_the_other(name, indices, dtype):
    arrays = [make().astype(indices) for make in (I, J, P)] + [np.array([5, 6, 7], dtype)]
    before = [array.copy() for array in arrays]
    x = MAKERS[name](*arrays)
    wanted = x.dup()
    wanted = [part.copy() for part in wanted.to_coo()]
    for array in arrays:
        array[:] = 1
    assert all(map(np.array_equal, x.to_coo(), wanted))
    arrays = [array.copy() for array in before]
    x = MAKERS[name](*arrays)
    x(accum="plus") << 1
    x << x.apply("ainv")
    x[(0,) * x.ndim if x.ndim == 2 else 0] = 9
    x.wait()
    assert all(map(np.array_equal, arrays, before))
