"""Bound element-wise calls (backends/cuda/elementwise/bound.py) against the general forms that they stand for."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends.cuda.elementwise import bound, elementwise, mapping
from grb_tile.operators import get_typed_op
from support.seeds import generator
from support.stores import vector

N = 130
FORMS = ("full", "bitmap", "fewer", "iso", "sparse", "empty")
TYPES = ("BOOL", "INT8", "UINT64", "FP32", "FP64", "FC64")


def operand(backend, rng, form, dtype):
    """A vector of N positions on the device."""
    if form == "iso":
        return backend.store_to_device(gb.Vector.from_scalar(3, N, dtype)._store)
    form, count = {
        "full": ("full", N), "bitmap": ("bitmap", N // 2), "fewer": ("bitmap", N // 3), "sparse": ("sparse", 9),
        "empty": ("sparse", 0),
    }[form]  # fmt: skip
    return backend.store_to_device(vector(rng, N, count, getattr(gb.dtypes, dtype), form))


def entries(backend, store):
    """(type, {position: value})."""
    at, values = backend.tuples_vector(store)
    return store.dtype.name, list(zip(np.asarray(at).tolist(), np.asarray(values).tolist(), strict=True))


def general(monkeypatch, call):
    """What `call` gives where no call is bound."""
    with monkeypatch.context() as patch:
        for name in ("of_pair", "of_union", "of_one", "of_indexed"):
            patch.setattr(bound, name, lambda *operands: None)
        return call()


@pytest.mark.parametrize("dtype", TYPES)
def test_two_vectors(dtype, monkeypatch):
    """All forms by pairs, twice, so that what was prepared for one is asked for by the next."""
    rng = generator("bound pairs", dtype)
    names = ("lor", "land") if dtype == "BOOL" else ("plus", "times", "minus", "second", "eq")
    ran = set()
    with using_shim() as backend:
        device = backend.device
        one = getattr(gb.dtypes, dtype).np_type.type(1)
        stores = {form: operand(backend, rng, form, dtype) for form in FORMS}
        for _, name, (left, x), (right, y) in itertools.product(range(2), names, stores.items(), stores.items()):
            op = get_typed_op(name, x.dtype, x.dtype, kind="binary")
            for call in (
                lambda: elementwise.union(device, x, y, op, None, None, None, None),  # noqa: B023
                lambda: elementwise.intersect(device, x, y, op, None),  # noqa: B023
                lambda: elementwise.union(device, x, y, op, None, one, one, None),  # noqa: B023
            ):
                want = general(monkeypatch, call)
                assert entries(backend, call()) == entries(backend, want), f"{name} of {left} and {right}"
            if bound.of_pair(device, x, y, op, op.return_type) is not None:
                ran.add(("pair", left, right))
            if bound.of_union(device, x, y, op, op.return_type) is not None:
                ran.add(("union", left, right))
    assert {("pair", "full", "full"), ("pair", "full", "iso"), ("pair", "iso", "full")} <= ran
    assert {("union", "bitmap", "fewer"), ("union", "full", "bitmap"), ("union", "bitmap", "full")} <= ran
    assert not any("sparse" in case or "empty" in case for case in ran)


def test_an_accumulator_into_another_type(monkeypatch):
    """The same operator and operands, results of several types in turn."""
    rng = generator("bound accumulators")
    with using_shim() as backend:
        device, made = backend.device, {}
        x, y = (operand(backend, rng, "full", "FP64") for _ in range(2))
        op = get_typed_op("plus", x.dtype, x.dtype, kind="binary")
        for _, dtype in itertools.product(range(2), (gb.dtypes.FP64, gb.dtypes.FP32, gb.dtypes.INT16)):

            def call():
                return elementwise.union(device, x, y, op, None, None, None, dtype)  # noqa: B023

            want = general(monkeypatch, call)
            made[dtype] = entries(backend, call())
            assert made[dtype] == entries(backend, want)
        assert len({name for name, _ in made.values()}) == 3


@pytest.mark.parametrize("dtype", TYPES)
def test_one_vector(dtype, monkeypatch):
    """Unary operators and bound scalars on either side, of several types and values."""
    rng = generator("bound scalars", dtype)
    scalars = [None, True, np.int64(2), np.float64(0.0), np.float64(-0.0), np.float64("nan"), np.float32(2.5)]
    ran = 0
    with using_shim() as backend:
        device = backend.device
        for _, form in itertools.product(range(2), FORMS):
            x = operand(backend, rng, form, dtype)
            for name in ("ainv", "identity", "one", "lnot") if dtype == "BOOL" else ("ainv", "identity", "abs", "one"):
                op = get_typed_op(name, x.dtype, kind="unary")
                want = general(monkeypatch, lambda: mapping.apply(device, x, op, None, None, None, None))  # noqa: B023
                found = mapping.apply(device, x, op, None, None, None, None)
                assert repr(entries(backend, found)) == repr(entries(backend, want)), name
            for name, scalar, left in itertools.product(("plus", "minus", "first", "pair"), scalars[1:], (False, True)):
                other = gb.dtypes.lookup_dtype(type(scalar))
                types = (other, x.dtype) if left else (x.dtype, other)
                op = get_typed_op(name, *types, is_left_scalar=left, is_right_scalar=not left, kind="binary")
                sides = (scalar, None) if left else (None, scalar)

                def call():
                    return mapping.apply(device, x, op, None, *sides, None)  # noqa: B023

                want = general(monkeypatch, call)
                assert repr(entries(backend, call())) == repr(entries(backend, want)), f"{name} {scalar!r} {form}"
                ran += bound.of_one(device, x, op, *sides) is not None
    assert ran


def test_results_share_nothing_with_a_vector_without_gaps():
    """They may be written in place, and an operand that is written afterwards leaves them as they are."""
    with using_shim():
        x = gb.Vector.from_dense(np.arange(1.0, 9.0)).to_device("cuda")
        y = x.apply("ainv").new()
        z = (x + y).new()
        x[2] = 100.0
        x << 7.0
        assert y.to_dense().tolist() == [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0]
        assert z.to_dense().tolist() == [0.0] * 8


def test_prepared_functions_are_bounded(monkeypatch):
    monkeypatch.setattr(bound, "MOST", 3)
    with using_shim() as backend:
        monkeypatch.setattr(backend.device, "prepared", {})
        x = gb.Vector.from_dense(np.arange(1.0, 9.0)).to_device("cuda")
        for name in ("plus", "minus", "times", "truediv", "plus", "max", "min"):
            assert x.ewise_mult(x, name).new().nvals == 8
        assert len(backend.device.prepared) == 3


@pytest.mark.parametrize("dtype", TYPES)
def test_operators_that_read_positions(dtype, monkeypatch):
    """Selections, and results, with thunks of several types in turn."""
    rng, ran = generator("bound positions", dtype), set()
    with using_shim() as backend:
        device = backend.device
        for (form, x), _ in itertools.product({f: operand(backend, rng, f, dtype) for f in FORMS}.items(), range(2)):
            for kind, name in (
                ("select", "rowle"), ("select", "valueeq"), ("select", "tril"), ("indexunary", "rowindex"),
                ("indexunary", "valuene"), ("indexunary", "rowgt"),
            ):  # fmt: skip
                op = get_typed_op(name, x.dtype, kind=kind)
                for thunk in (op.thunk_type.np_type.type(3), 2, None):
                    call = {
                        "select": lambda: mapping.select(device, x, op, thunk, None),  # noqa: B023
                        "indexunary": lambda: mapping.apply(device, x, op, None, None, None, thunk),  # noqa: B023
                    }[kind]
                    want = general(monkeypatch, call)
                    assert entries(backend, call()) == entries(backend, want), f"{name} of {form}"
                    if bound.of_indexed(device, x, op, thunk, kind == "select") is not None:
                        ran.add((kind, form))
    assert ran == {(kind, form) for kind in ("select", "indexunary") for form in ("full", "bitmap", "fewer")}
