"""Which floating-point values are true in a mask: as in SuiteSparse:GraphBLAS, those with a bit that is set."""

import contextlib

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends import select

BACKENDS = {"cpu": contextlib.nullcontext, "reference": lambda: select.using("reference"), "cuda": using_shim}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["FP32", "FP64", "FC32", "FC64"])
def test_a_negative_zero_is_true(dtype, backend):
    kind = gb.dtypes.lookup_dtype(dtype).np_type
    zero = complex(0.0, -0.0) if kind.kind == "c" else -0.0
    values = np.array([0, zero, 1, np.nan], kind)
    w, A = gb.Vector.from_dense([1, 2, 3, 4, 5]), gb.Matrix.from_dense([[1, 2], [3, 4]])
    v = gb.Vector.from_coo([0, 1, 2, 3], values, size=5)
    iso, plain = (gb.Vector.from_coo([1, 2], made, dtype, size=5) for made in (kind.type(zero), kind.type(0)))
    with BACKENDS[backend]():
        for u in (v, v.dup()):
            assert w.dup(mask=u.V).to_coo()[0].tolist() == [1, 2, 3]
            assert w.dup(mask=~u.V).to_coo()[0].tolist() == [0, 4]
        assert w.dup(mask=iso.V).nvals == 2 and w.dup(mask=plain.V).nvals == 0
        for form in ("csr",) if backend == "reference" else ("csr", "bitmapr", "fullc"):
            M = gb.Matrix.from_coo([0, 0, 1, 1], [0, 1, 0, 1], values, nrows=2, ncols=2)
            M._store = select.current().convert(M._store, form)
            C = A.dup()
            C(~M.V, replace=True) << 7
            assert C.to_coo()[0].tolist() == [0] and A.dup(mask=M.V).nvals == 3
        v(v.V) << 9  # the mask is the output
        assert v.to_coo()[1].tolist() == [0, 9, 9, 9]
