"""What a transposed matrix exports, with every option: what the matrix gives that is made of it."""

import inspect
import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.core.transposed import TransposedMatrix
from support.seeds import generator

OPTIONS = {
    "dtype": (None, "FP32"), "rows": (True, False), "columns": (True, False), "values": (True, False),
    "sort": (True, False), "order": ("rowwise", "columnwise"), "fill_value": (7,),
}  # fmt: skip
EXPORTS = [name for name in dir(TransposedMatrix) if name.startswith("to_")]
FORMS = ("csr", "bitmapr", "fullc", "iso")


def matrix(form):
    rng = generator("transposed", form)
    if form == "fullc":
        A = gb.Matrix.from_dense(rng.integers(0, 9, (4, 6)))
    else:
        i, j = (rng.random((4, 6)) < 0.5).nonzero()
        values = 5 if form == "iso" else rng.integers(0, 9, i.size)
        A = gb.Matrix.from_coo(i, j, values, "INT64", nrows=4, ncols=6)
    if form in ("bitmapr", "fullc"):
        A = gb.Matrix._from_store(gb.backends.select.current().convert(A._store, form))
    return A


def plain(found):
    """Arrays as (type, list), in tuples and dictionaries."""
    if isinstance(found, tuple):
        return tuple(map(plain, found))
    if isinstance(found, dict):
        return {int(key): plain(value) for key, value in found.items()}
    return (found.dtype.str, found.tolist()) if isinstance(found, np.ndarray) else found


def pairs(found):
    """Entries in no order: those of each position; parts that are not there are left out."""
    parts = [part for part in found if part is not None]
    return sorted(zip(*(part.tolist() for part in parts), strict=True)), [part is None for part in found]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", EXPORTS)
def test_exports(name, form):
    """Without an order asked for, COO and edge lists come in that of the matrix."""
    A = matrix(form)
    made = A.T.new()
    taken = [option for option in inspect.signature(getattr(A, name)).parameters if option in OPTIONS]
    for chosen in itertools.product(*(OPTIONS[option] for option in taken)):
        options = dict(zip(taken, chosen, strict=True))
        found, wanted = getattr(A.T, name)(**options), getattr(made, name)(**options)
        if name == "to_coo":
            assert pairs(found) == pairs(wanted), options
            assert [x is None or x.dtype for x in found] == [x is None or x.dtype for x in wanted], options
        elif name == "to_edgelist":
            order = np.lexsort(found[0].T[::-1])
            assert found[0][order].tolist() == wanted[0].tolist(), options
            assert (found[1] is None) == (wanted[1] is None), options
            assert found[1] is None or found[1][order].tolist() == wanted[1].tolist(), options
        else:
            assert plain(found) == plain(wanted), options


@pytest.mark.parametrize("form", FORMS)
def test_copies(form):
    A = matrix(form)
    M = gb.Matrix.from_coo([0, 2, 5], [1, 3, 0], [True, False, True], nrows=6, ncols=4)
    made = A.T.new()
    for dtype, mask in itertools.product((None, "FP32"), (None, M.S, M.V, ~M.S, ~M.V)):
        wanted = made.dup(dtype, mask=mask)
        for copy in (A.T.new, A.T.dup):
            found = copy(dtype, mask=mask, name="copy")
            assert found.isequal(wanted, check_dtype=True) and found.name == "copy" and found.shape == (6, 4)
        empty = A.T.dup(dtype, clear=True, mask=mask, name="empty")
        assert (empty.nvals, empty.shape, empty.dtype, empty.name) == (0, (6, 4), wanted.dtype, "empty")
    for i, j in itertools.product(range(6), range(4)):
        assert A.T.get(i, j) == A.get(j, i) and A.T.get(i, j, -1) == A.get(j, i, -1)
        assert ((i, j) in A.T) == ((j, i) in A)
    for k in (-7, -2, 0, 3, 7):
        if -6 < k < 4:
            assert A.T.diag(k).isequal(made.diag(k)) and A.T.diag(k, "FP32").dtype == "FP32"
    assert sorted(A.T) == sorted(made) and A.T.T is A and A.T.name == f"{A.name}.T"
