"""C(I, J) = T and C(I, J) (+)= T of vectors and dense matrices on the CUDA backend, against the CPU's composition."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedKernel
from grb_tile.backends import select
from grb_tile.storage.place import host
from support.seeds import generator

FORMS = ("full", "bitmap", "list", "iso", "empty")
SIZE = 150


def entries_of(rng, count, form):
    """(positions, values) of an object of `count` positions."""
    share = {"full": 1.0, "iso": 1.0, "bitmap": 0.6, "list": 0.04, "empty": 0.0}[form]
    at = np.flatnonzero(rng.random(count) < share)
    return at, np.full(at.size, 3) if form == "iso" else rng.integers(-4, 5, at.size)


def vector(rng, size, form, dtype):
    at, values = entries_of(rng, size, form)
    if form == "iso":
        return gb.Vector.from_scalar(3, size, dtype)
    return gb.Vector.from_coo(at, values, dtype, size=size)


def matrix(rng, shape, form, dtype):
    if form == "iso":
        return gb.Matrix.from_scalar(3, *shape, dtype)
    at, values = entries_of(rng, shape[0] * shape[1], form)
    made = gb.Matrix.from_coo(at // shape[1], at % shape[1], values, dtype, nrows=shape[0], ncols=shape[1])
    if form in ("bitmap", "full") and made.nvals:
        made._store = select.current().convert(made._store, f"{form}{'rc'[int(rng.integers(2))]}")
    return made


def index(rng, kind, size):
    """An index of the kind, and as a host array."""
    if kind == "range":
        return slice(size // 5, size // 2)
    if kind == "step":
        return slice(None, None, -3)
    if kind == "repeated":
        return rng.integers(-size, size, size)
    if kind == "few":
        return [size - 1, 0, size - 1]
    return rng.permutation(size)[: size // 3] if kind == "shuffled" else np.flatnonzero(rng.random(size) < 0.4)


KINDS = ("range", "step", "repeated", "few", "shuffled", "ascending")
WRITES = {
    "value": lambda x, keys, t: x.__setitem__(keys, t),
    "number": lambda x, keys, t: x.__setitem__(keys, 2),
    "added": lambda x, keys, t: x(gb.binary.plus).__setitem__(keys, t),
    "a number added": lambda x, keys, t: x(gb.binary.plus).__setitem__(keys, 2),
    "least": lambda x, keys, t: x(gb.binary.min).__setitem__(keys, t),
    "subtracted as FP64": lambda x, keys, t: x(gb.binary.minus["FP64"]).__setitem__(keys, t),
    "deleted": lambda x, keys, t: x.__delitem__(keys),
}


def written(make, write, on_device, twice):
    """The tuples of the object after the write, on the emulation or on the host."""
    backend = using_shim() if on_device else select.using("numpy")
    with backend:
        x, keys, t, again = make()
        if on_device:
            for each in (x, t, again):
                each._store = shim().to_device(each._store)
        kept = x.dup()
        before = kept.to_coo()
        write(x, keys, t)
        if twice:  # once more into what is now its own
            write(x, keys, again)
        found = x.to_coo()
        for a, b in zip(kept.to_coo(), before, strict=True):
            np.testing.assert_array_equal(a, b)
        assert x.nvals == len(found[-1])
        return found


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", KINDS)
def test_vectors(kind, write):
    for c_form in FORMS:
        for t_form in FORMS:
            for dtype, other in (("INT64", "INT64"), ("FP32", "INT8"), ("BOOL", "BOOL")):
                if dtype == "BOOL" and write not in ("value", "number", "deleted"):
                    continue

                def make(c_form=c_form, t_form=t_form, dtype=dtype, other=other):
                    rng = generator("put", kind, write, c_form, t_form, dtype)
                    keys = index(rng, kind, SIZE)
                    count = len(range(SIZE)[keys]) if isinstance(keys, slice) else len(keys)
                    return (
                        vector(rng, SIZE, c_form, dtype), keys, vector(rng, count, t_form, other),
                        vector(rng, count, "bitmap", other),
                    )  # fmt: skip

                for got, want in zip(
                    written(make, WRITES[write], True, True), written(make, WRITES[write], False, True), strict=True
                ):
                    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kinds", [(k, k) for k in KINDS] + [("range", None), (None, "shuffled"), (5, None), (None, 3)])
def test_dense_matrices(kinds, write):
    shape = 14, 23
    for c_form in ("full", "bitmap", "iso"):
        for t_form in ("full", "bitmap", "list", "iso"):

            def make(c_form=c_form, t_form=t_form):
                rng = generator("put matrix", *map(str, kinds), write, c_form, t_form)
                keys = tuple(
                    slice(None) if kind is None else kind if type(kind) is int else index(rng, kind, n)
                    for kind, n in zip(kinds, shape, strict=True)
                )
                counts = [
                    len(range(n)[key]) if isinstance(key, slice) else len(key)
                    for key, n in zip(keys, shape, strict=True) if type(key) is not int
                ]  # fmt: skip
                one = [
                    vector(rng, *counts, form, "FP64") if len(counts) == 1 else matrix(rng, counts, form, "FP64")
                    for form in (t_form, "full")
                ]
                return matrix(rng, shape, c_form, "FP64"), keys, *one

            for got, want in zip(
                written(make, WRITES[write], True, False), written(make, WRITES[write], False, False), strict=True
            ):
                np.testing.assert_array_equal(got, want)


ROWS = {
    "value": WRITES["value"],
    "deleted": lambda x, keys, t: x.__delitem__(keys),
    "masked": lambda x, keys, t: x(x.dup().S).__setitem__(keys, t),
}


@pytest.mark.parametrize("form", ["csr", "dcsr", "iso"])
def test_rows_of_sparse_matrices(form):
    """In every order, with rows between that stay."""
    shape = 40, 50
    for kind, write in itertools.product((*KINDS, 5), ROWS):
        for t_form in ("list", "empty", "iso", "full") if kind == "repeated" else ("list",):

            def make(form=form, t_form=t_form, kind=kind, write=write):
                rng = generator("put rows", str(kind), write, form, t_form)
                rows = index(rng, kind, shape[0]) if type(kind) is str else kind
                count = 1 if kind == 5 else len(range(shape[0])[rows]) if isinstance(rows, slice) else len(rows)
                A = sparse(rng, shape, form)
                found = [vector(rng, shape[1], each, "FP64") for each in (t_form, "list")]
                if kind != 5:
                    found = [sparse(rng, (count, shape[1]), each) for each in (t_form, "csr")]
                return A, (rows, slice(None)), *found

            for got, want in zip(
                written(make, ROWS[write], True, True), written(make, ROWS[write], False, True), strict=True
            ):
                np.testing.assert_array_equal(got, want)


def sparse(rng, shape, form):
    share = {"empty": 0, "full": 1}.get(form, 0.2)
    rows, cols = np.nonzero(rng.random(shape) < share)
    if form == "dcsr":
        rows, cols = rows[rows % 3 == 1], cols[rows % 3 == 1]
    values = np.full(rows.size, 3.0) if form == "iso" else rng.integers(-4, 5, rows.size).astype(float)
    made = gb.Matrix.from_coo(rows, cols, values, nrows=shape[0], ncols=shape[1])
    if form == "iso":
        made = gb.unary.one(made).new()
    if form in ("csr", "dcsr"):
        made._store = select.current().convert(made._store, form)
    return made


@pytest.mark.parametrize("form", ["csr", "dcsr", "iso", "empty"])
@pytest.mark.parametrize("kinds", [(a, b) for a in (*KINDS, None) for b in (*KINDS, None)])
def test_rows_and_columns_of_sparse_matrices(kinds, form):
    """Some rows are longer than those that are sorted by comparing their entries."""
    for shape in ((40, 50), (7, 400)):
        found = []
        for on_device in (True, False):
            rng = generator("gather", *map(str, kinds), form)
            with using_shim() if on_device else select.using("numpy"):
                A = sparse(rng, shape, form)
                keys = tuple(slice(None) if k is None else index(rng, k, n) for k, n in zip(kinds, shape, strict=True))
                if on_device:
                    A._store = shim().to_device(A._store)
                found.append([*A[keys].new().to_coo(), *A[keys].new().T.new().to_coo()])
        for got, want in zip(*found, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("form", ["full", "bitmap"])
def test_single_elements_of_dense_matrices(form):
    def make():
        rng = generator("put element", form)
        A = matrix(rng, (9, 31), form, "FP64")
        return A, None, A.dup(), A.dup()

    def write(A, keys, t):
        A[5, 7] = 1
        A[8, 30] = 2
        del A[0, 0]

    for got, want in zip(written(make, write, True, True), written(make, write, False, True), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.skipif(not EMULATED, reason="the CPU emulation counts launches")
@pytest.mark.parametrize("form", ["full", "bitmap"])
def test_a_write_at_a_list_that_nobody_else_reads_is_in_place(monkeypatch, form):
    rng = generator("in place", form)
    with using_shim() as backend:
        v, u = vector(rng, 500, form, "FP64"), vector(rng, 100, "full", "FP64")
        v._store = backend.convert(backend.to_device(v._store), form if form == "bitmap" else "bitmap")
        v._store = v._store.moved(lambda array: array if array is None else array.copy())
        u._store, I = backend.to_device(u._store), backend.xp.asarray(rng.permutation(500)[:100])
        v[I] << u
        address = v._store.values.data.ptr
        launches = []
        call = EmulatedKernel.__call__
        monkeypatch.setattr(
            EmulatedKernel, "__call__", lambda self, *a, **k: launches.append(self.name) or call(self, *a, **k)
        )
        v[I] << u
        assert v._store.values.data.ptr == address
        names = [name.partition("<")[0].rpartition("::")[2] for name in launches]
        assert names == ["order_facts", "last_places", "overwrite_region"]
        w = v.dup()
        v[I] << 1
        assert v._store.values.data.ptr != address and host(w._store).values is not None
