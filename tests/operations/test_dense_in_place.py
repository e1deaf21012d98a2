"""Small writes into dense matrices: against a model, in place where nothing else holds the arrays, on both backends."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, shim, using_shim
from grb_tile.backends import select
from grb_tile.storage import bits
from grb_tile.storage.store import Dense

NROWS, NCOLS = 40, 30
FORMATS = ("fullr", "fullc", "bitmapr", "bitmapc")
ENGINES = [
    pytest.param(False, id="host"),
    pytest.param(True, id="device", marks=pytest.mark.skipif(not EMULATED, reason="reads addresses of the emulation")),
]
INDICES = {
    "range": lambda n: slice(2, 6), "step": lambda n: slice(n - 1, 4, -3), "all": lambda n: slice(None),
    "list": lambda n: [7, 3, 9], "repeated": lambda n: [4, 8, 4, 1], "one": lambda n: 5,
}  # fmt: skip


def dense(format, dtype="INT64"):
    at = np.arange(NROWS * NCOLS)
    if format.startswith("bitmap"):
        at = at[at % 7 != 3]
    A = gb.Matrix.from_coo(at // NCOLS, at % NCOLS, at + 1, dtype, nrows=NROWS, ncols=NCOLS)
    A._store = select.current().convert(A._store, format)
    assert type(A._store) is Dense and A._store.format == format
    flat = A._store.flat
    if flat.words is not None:
        flat.values[~bits.to_bool(flat.words, flat.size)] = 77  # what stands at absent positions is arbitrary
    return A


def address(A):
    values = A._store.flat.values
    return values.ctypes.data if type(values) is np.ndarray else values.data.ptr


def engine(on_device):
    return using_shim() if on_device else select.using("cpu")


def listed(index, n):
    return [index] if isinstance(index, int) else list(range(n))[index] if isinstance(index, slice) else index


def after(model, I, J, value, accum):
    """{(i, j): x} after C(I, J) (accum)= value, a number or {(k, l): x}; the last place of a repeated one counts."""
    result, rows, columns = dict(model), listed(I, NROWS), listed(J, NCOLS)
    for (k, i), (m, j) in itertools.product(enumerate(rows), enumerate(columns)):
        x = value if isinstance(value, int) else value.get((k, m))
        old = model.get((i, j))
        if x is not None:
            result[i, j] = x if accum is None or old is None else old + x
        elif accum is None:
            result.pop((i, j), None)
        elif old is not None:
            result[i, j] = old
        else:
            result.pop((i, j), None)
    return result


def entries(A):
    return {(int(i), int(j)): int(x) for i, j, x in zip(*A.to_coo(), strict=True)}


@pytest.mark.parametrize("accum", [None, "plus"])
@pytest.mark.parametrize("format", FORMATS)
def test_regions_agree_with_a_model(format, accum):
    """Values of every form, twice: the second write meets what is its own; a copy made before keeps its entries."""
    for (one, of_I), (two, of_J) in itertools.product(INDICES.items(), repeat=2):
        I, J = of_I(NROWS), of_J(NCOLS)
        m, n = len(listed(I, NROWS)), len(listed(J, NCOLS))
        at = np.arange(m * n)
        for kind in ("number", "full", "by columns", "iso", "gaps"):
            A = dense(format)
            model, kept = entries(A), A.dup()
            for turn in (1, 2):
                some = at[at % 3 != 1] if kind == "gaps" else at
                numbers = np.full(some.size, 9) if kind == "iso" else -some - turn
                expected = {(int(k // n), int(k % n)): int(x) for k, x in zip(some, numbers, strict=True)}
                if kind == "number":
                    value = expected = 70 + turn
                elif "one" in (one, two):
                    if one == two or kind == "by columns":
                        break
                    value = gb.Vector.from_coo(some, numbers, size=m * n)
                else:
                    value = gb.Matrix.from_coo(some // n, some % n, numbers, nrows=m, ncols=n)
                    if kind != "gaps":
                        value._store = select.current().convert(value._store, f"full{'c' if kind[0] == 'b' else 'r'}")
                before = dict(model)
                model = after(model, I, J, expected, accum)
                (A if accum is None else A(gb.binary.plus))[I, J] << value
                assert entries(A) == model and A.nvals == len(model), (one, two, kind, turn)
            if turn == 2 and before:
                assert entries(kept) == entries(dense(format)), (one, two, kind)


def test_values_of_another_type_are_cast():
    A = dense("fullr", "INT8")
    A[2:4, 3:5] << gb.Matrix.from_dense([[1.75, 2.5], [-3.5, 300.0]])
    expected = dense("fullr", "INT8").to_dense()
    expected[2:4, 3:5] = gb.Matrix.from_dense([[1.75, 2.5], [-3.5, 300.0]]).apply("identity").new("INT8").to_dense()
    assert (A.to_dense() == expected).all()
    B = dense("fullr", "INT8")
    B(gb.binary.plus["FP64"])[2:4, 3:5] << gb.Matrix.from_dense([[0.75, 0.5], [0.5, 0.25]])
    assert B[2, 3].value == dense("fullr", "INT8")[2, 3].value


WRITES = {
    "element": lambda A: A[3, 4] << -5,
    "accumulated element": lambda A: A(gb.binary.plus)[3, 4] << -5,
    "region": lambda A: A[2:5, 3:6] << -5,
    "a region of values": lambda A: A[2:4, 3:5] << gb.Matrix.from_dense(np.array([[1, 2], [3, 4]])),
    "accumulated region": lambda A: A(gb.binary.plus)[2:5, 3:6] << -5,
    "row": lambda A: A[3, :] << gb.Vector.from_dense(np.arange(NCOLS)),
    "few by a mask": lambda A: A(gb.Matrix.from_coo([3], [4], True, nrows=NROWS, ncols=NCOLS).S) << -5,
}  # fmt: skip


@pytest.mark.parametrize("on_device", ENGINES)
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("format", ["fullr", "bitmapr"])
def test_a_small_write_copies_nothing(format, name, on_device):
    with engine(on_device):
        A = dense(format)
        if on_device:
            A._store = shim().to_device(A._store)
        for _ in range(2):  # the first may bring presence bits of its own
            WRITES[name](A)
            A.wait()
        before = address(A)
        WRITES[name](A)
        A.wait()
        assert type(A._store) is Dense and address(A) == before


HOLDERS = {
    "a copy": lambda A: A.dup(),
    "the transpose": lambda A: A.T.new(),
    "the store": lambda A: A._store,
    "its vector": lambda A: A._store.flat,
    "the values": lambda A: A._store.flat.values,
    "a part": lambda A: A[2:10, :].new(),
    "a cast": lambda A: A.dup("UINT64"),
    "other values": lambda A: A.apply("ainv").new(),
}


def content(x):
    if hasattr(x, "to_coo"):
        return [part.tolist() for part in x.to_coo()]
    if hasattr(x, "flat") and type(x) is Dense:
        x = x.flat
    if hasattr(x, "values"):
        backend = select.current()
        return [np.asarray(getattr(part, "get", lambda part=part: part)()).tolist() for part in backend.tuples(x)]
    return np.asarray(x.get() if hasattr(x, "get") else x).tolist()


@pytest.mark.parametrize("on_device", ENGINES)
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_what_somebody_holds_stays(holder, name, on_device):
    for format in ("fullr", "fullc", "bitmapr"):
        with engine(on_device):
            A = dense(format)
            if on_device:
                A._store = shim().to_device(A._store)
            held = HOLDERS[holder](A)
            before = content(held)
            WRITES[name](A)
            A.wait()
            assert content(held) == before, format
            del held
            changed = A.dup("INT64")
            assert changed[3, 4].value != 3 * NCOLS + 4 + 1 or name == "row"


def test_what_is_derived_follows_the_values():
    """The entries by rows, and the other order, are made anew after a write in place."""
    A = dense("fullr")
    u = gb.Vector.from_dense(np.ones(NCOLS, np.int64))
    for turn in range(3):
        A[3, 4] << 100 + turn
        A[5:7, 1:3] << turn
        expected = A.to_dense()
        assert (A.T.new().to_dense() == expected.T).all()
        assert A.select(">", 1000).new().nvals == int((expected > 1000).sum())
        assert (A.mxv(u).new().to_dense() == expected.sum(axis=1)).all()
        assert (A[[5, 3], :].new().to_dense() == expected[[5, 3]]).all()
