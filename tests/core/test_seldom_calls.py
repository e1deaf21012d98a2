"""Pickles of every form, blobs, configuration, orders of a user's own, options, texts; objects of a device."""

import array
import collections
import pickle

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, using_shim
from grb_tile.core.utils import ensure_type
from grb_tile.exceptions import InvalidValue
from support.seeds import generator
from support.stored import MATRIX_FORMS, VECTOR_FORMS, stored

A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [5, -2, 3, 7], nrows=3, ncols=4, name="A")
V = gb.Vector.from_coo([0, 2, 3], [4, -5, 6], size=4, name="v")
FORMS = [(1, form) for form in VECTOR_FORMS] + [(2, form) for form in MATRIX_FORMS]


def built(ndim, form, dtype="INT32"):
    return stored(generator("seldom calls", ndim, form), (4, 6)[:ndim], dtype, form).build(gb)


@pytest.mark.parametrize("ndim, form", FORMS)
def test_pickles_and_blobs_of_every_form(ndim, form):
    x = built(ndim, form)
    again = pickle.loads(pickle.dumps(x))
    assert again.isequal(x, check_dtype=True) and again.name == x.name
    assert (again.ss.format, again.ss.is_iso) == (x.ss.format, x.ss.is_iso)
    for compression in ("none", "default"):
        blob = x.ss.serialize(compression, format="suitesparse")
        assert blob.dtype == np.uint8
        for data in (blob, blob.tobytes()):
            found = type(x).ss.deserialize(data, name="n")
            assert found.isequal(x, check_dtype=True) and found.name == "n"
        assert type(x).ss.deserialize(blob, float).isequal(x.dup(float), check_dtype=True)
    with pytest.raises(ValueError, match="lz5"):
        x.ss.serialize("lz5", format="suitesparse")


def test_the_order_of_a_dense_matrix():
    F = gb.Matrix.from_dense(np.arange(6).reshape(2, 3))
    for value, form in (("by_col", "fullc"), ("by_row", "fullr"), ("by_row", "fullr")):
        F.ss.config["format"] = value
        assert (
            F.ss.config["format"] == value and F.ss.format == form and F.to_dense().tolist() == [[0, 1, 2], [3, 4, 5]]
        )
    with pytest.raises(ValueError, match='format must be "by_row" or "by_col", not .other'):
        F.ss.config["format"] = "other"
    B = A.dup()
    B.ss.config["format"] = "by_row"
    with pytest.warns(UserWarning, match="sparse matrices are stored row-wise"):
        B.ss.config["format"] = "by_col"
    for wanted, form in (
        ("bitmap", "bitmapr"),
        ("auto", "bitmapr"),
        ({"sparse", "bitmap"}, "bitmapr"),
        ("sparse", "csr"),
    ):
        B.ss.config["sparsity_control"] = wanted
        assert B.ss.format == form and B.isequal(A)
    with pytest.raises(KeyError, match="sparsity_control must be among"):
        B.ss.config["sparsity_control"] = "other"


def test_orders_of_a_users_own():
    """By a monoid's operator, and by one that no order of NumPy is; equal values by position."""
    distance = gb.binary.register_anonymous(lambda x, y: abs(x - 3) < abs(y - 3))
    M = gb.Matrix.from_coo([0, 0, 0, 0, 2, 2], [0, 1, 2, 5, 1, 4], [6, 3, 0, 4, 9, 3], nrows=3, ncols=6)
    wanted = [[3, 4, 6, 0], [3, 9]]
    for order, x in (("rowwise", M), ("columnwise", M.T.new())):
        values, places = x.ss.sort(distance, order=order)
        values, places = (found if order == "rowwise" else found.T.new() for found in (values, places))
        assert [values[i, :].new().to_coo()[1].tolist() for i in (0, 2)] == wanted
        assert [places[i, :].new().to_coo()[1].tolist() for i in (0, 2)] == [[1, 5, 0, 2], [4, 1]]
    values, places = gb.Vector.from_coo([1, 4, 5], [False, True, False], size=9).ss.sort(gb.monoid.lor)
    assert sorted(places.to_coo()[1].tolist()) == [1, 4, 5] and values.nvals == 3
    shuffled = {
        tuple(gb.Vector.from_dense(np.arange(8)).ss.compactify("random").to_coo()[1].tolist()) for _ in range(9)
    }
    assert len(shuffled) > 1 and all(sorted(each) == list(range(8)) for each in shuffled)
    for k in range(5):
        found = M.ss.selectk("last", k)
        assert found.to_coo()[1].tolist() == [*[0, 1, 2, 5][max(0, 4 - k) :], *[1, 4][max(0, 2 - k) :]]


OPTIONED = {
    "dup": lambda **o: A.dup(**o), "T.new": lambda **o: A.T.new(**o), "T.dup": lambda **o: A.T.dup(**o),
    "v.dup": lambda **o: V.dup(**o), "delete": lambda **o: A.dup().__delitem__((0, 1), **o),
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONED)
def test_options_that_there_are_not(name):
    for given in ({"unknown": 1}, {"nthreads": 1, "unknown": 2}):
        with pytest.raises((ValueError, TypeError), match="unknown"):
            OPTIONED[name](**given)


def test_values_of_expressions_of_a_class():
    assert ensure_type(A, gb.Matrix) is A and ensure_type(3, (int, str)) == 3
    assert ensure_type(A.apply("ainv"), gb.Matrix).isequal(A.apply("ainv").new())
    assert ensure_type(V.reduce(), (gb.Scalar, gb.Vector)) == 5
    for x, kinds in ((A.apply("ainv"), gb.Vector), (3, gb.Matrix), (V.reduce(), (gb.Vector, gb.Matrix))):
        with pytest.raises(TypeError, match="object is not of type"):
            ensure_type(x, kinds)


@pytest.mark.parametrize(
    "make",
    [iter, tuple, dict.fromkeys, collections.deque, lambda x: (each for each in x), lambda x: array.array("q", x)],
)
def test_indices_that_are_no_lists(make):
    """Whatever can be iterated, of any length."""
    for at in ([3, 1], [2], [*range(40, 0, -1)]):
        assert gb.Vector.from_coo(make(at), 5).to_dict() == dict.fromkeys(sorted(at), 5)
        M = gb.Matrix.from_coo(make(at), make(at[::-1]), 5)
        assert M.nvals == len(at) and M[at[0], at[-1]].new() == 5
    if not isinstance(make([]), array.array):
        with pytest.raises(ValueError, match="must be integers; number 1 of them is 0.5"):
            gb.Vector.from_coo(make([3, 0.5]), 5)


def test_divisions_with_a_remainder():
    for first, second in ((V, 3), (13, V), (V, V), (gb.Scalar.from_value(13), V)):
        quotient, rest = divmod(first, second)
        assert quotient.new().isequal((first // second).new()) and rest.new().isequal((first % second).new())


def test_dense_vectors_of_arrays():
    pair = gb.dtypes.register_anonymous(np.dtype((np.int32, (2,))))
    v = gb.Vector.from_dense(np.arange(6, dtype=np.int32).reshape(3, 2), dtype=pair)
    assert v.size == 3 and v[1].new().value.tolist() == [2, 3] and v.to_dense().tolist() == [[0, 1], [2, 3], [4, 5]]
    del v[0]
    assert v.to_dense(7, pair).tolist() == [[7, 7], [2, 3], [4, 5]]
    with pytest.raises(ValueError, match="A >1d array is required to create a dense Vector with subdtype"):
        gb.Vector.from_dense([1, 2], dtype=pair)


def test_recorders_say_whether_they_record(monkeypatch):
    recorder = gb.Recorder()
    with recorder:
        assert "recording" in repr(recorder) and "recording" in recorder._repr_html_()
        V.dup().build([1], [2], clear=True)
        gb.Matrix(int, 2, 2).build([0], [1], [5])
    assert "(not recording)" in repr(recorder) and "(paused)" in recorder._repr_html_()
    assert any("build" in line and "Vector" in line for line in recorder) and any(
        "Matrix_build" in line for line in recorder
    )
    for made, call in (
        (lambda: gb.Matrix.from_coo([0], [1], [5]), "GrB_Matrix_build_INT64("),
        (lambda: gb.Vector.from_coo([0], [0.5]), "GrB_Vector_build_FP64("),
        (lambda: gb.Matrix(int, 2, 2).build([0], [1], [5]), "GrB_Matrix_build_INT64("),
    ):
        with gb.Recorder() as recorder:
            made()
        assert call in recorder.data[-1] and recorder.data[-1].endswith("..., 1);")
    with gb.Recorder() as recorder:

        def fail(*args, **kwargs):
            raise MemoryError("none left")

        from grb_tile import operations as ops

        w = gb.Vector(int, 4)
        monkeypatch.setattr(ops, "write", fail)
        monkeypatch.setattr(ops, "compute", fail)
        for call in (lambda: w << V.apply("ainv"), lambda: w(V.S) << V.apply("ainv")):
            with pytest.raises(
                gb.exceptions.OutOfMemory, match="the result of shape .4,. does not fit in memory .none left"
            ):
                call()
    assert w.nvals == 0 and sum("OUT_OF_MEMORY" in line or "OutOfMemory" in line for line in recorder) == 2


@pytest.mark.skipif(not EMULATED, reason="the arrays are those of the emulation")
@pytest.mark.parametrize("ndim, form", [each for each in FORMS if each[1] != "empty"])
def test_objects_of_a_device(ndim, form, monkeypatch):
    """What copies, reads, exports and shares, with small arrays treated as large ones."""
    x = built(ndim, form)
    wanted, entries, shape = x.to_dense(-9), [part.tolist() for part in x.to_coo()], x.shape
    full = x.nvals == np.prod(shape)
    monkeypatch.setattr("grb_tile.storage.place.COPIED_ALONE_FROM", 0)
    with using_shim() as backend:
        y = type(x)._from_store(backend.to_device(x._store), x.dtype, "y")
        assert y.device == backend.device_name and y.nvals == x.nvals
        for dtype in (None, "FP64", "INT8"):
            found = y.to_dense(-9, dtype)
            assert found.tolist() == wanted.tolist()
            assert dtype is None or found.dtype == gb.dtypes.lookup_dtype(dtype).np_type
        assert [part.tolist() for part in y.to_coo()] == entries
        assert [part.tolist() if part is not None else None for part in y.to_coo(values=False)][:ndim] == entries[:ndim]
        assert y.to_coo("FP64")[-1].tolist() == entries[-1]
        if ndim == 2:
            edges, values = y.to_edgelist()
            assert [list(each) for each in zip(*edges.tolist(), strict=True)] == entries[
                :2
            ] and values.tolist() == entries[2]
            assert y.T.to_dense(-9).tolist() == wanted.T.tolist()
        at = next(iter(zip(*entries[:ndim], strict=True)))
        assert y.get(*at) == entries[-1][0]
        assert y.dup().isequal(x) and pickle.loads(pickle.dumps(y)).isequal(x)
        if full:
            assert y.__dlpack_device__() == y._on_device().__dlpack_device__() and y._on_device().shape == shape
            assert ndim == 1 or y.T._on_device().get().tolist() == wanted.T.tolist()
            assert y._on_device().get().tolist() == wanted.tolist()
        else:
            with pytest.raises(TypeError, match=f"it has {x.nvals} entries, its shape is"):
                y.__dlpack_device__()
        assert not hasattr(x, "__cuda_array_interface__") and (not full or x.__dlpack_device__() == (1, 0))
        key = at if ndim == 2 else at[0]
        y[key] = 77
        del y[key]
        assert y.nvals == x.nvals - 1 and y.get(*at) is None


@pytest.mark.skipif(not EMULATED, reason="the arrays are those of the emulation")
def test_arrays_of_a_device_as_arguments():
    with using_shim() as backend:
        where, values = backend.array(np.array([2, 0], np.uint64)), backend.array(np.array([1.5, -2.5], np.float32))
        v = gb.Vector.from_coo(where, values, size=4)
        assert v.dtype.name == "FP32" and v.to_dict() == {0: -2.5, 2: 1.5} and v.device == backend.device_name
        assert gb.Vector.from_coo(where, values, "INT8", size=4).to_dict() == {0: -2, 2: 1}
        M = gb.Matrix.from_csr(backend.array(np.array([0, 1, 2])), where, values, ncols=3)
        assert M.to_dicts() == {0: {2: 1.5}, 1: {0: -2.5}}
        with pytest.raises(ValueError, match="must have one dimension, not 2; write array.ravel"):
            gb.Vector.from_coo(backend.array(np.zeros((2, 2), np.int64)), 1)
        with pytest.raises(ValueError, match="must be integers, not bool; the positions of what is true"):
            gb.Vector.from_coo(backend.array(np.array([True])), 1)
        with pytest.raises(ValueError, match=r"must be integers, not float64; write array.astype\(int\)"):
            gb.Vector.from_coo(backend.array(np.array([1.5])), 1)
        with pytest.raises(InvalidValue, match="holds 9223372036854775808, which is beyond every dimension"):
            gb.Vector.from_coo(backend.array(np.array([2**63], np.uint64)), 1)
        pair = gb.dtypes.register_anonymous(np.dtype((np.int32, (2,))))
        with pytest.raises((TypeError, ValueError), match="device"):
            gb.Vector.from_coo(where, values, pair, size=4)
        with pytest.raises(ValueError, match="dimensions; got an array of shape"):
            gb.Vector.from_coo(where, backend.array(np.zeros((2, 2, 2))), size=4)


def test_options_are_printed(capsys):
    with gb.config.set(autocompute=True):
        gb.config.pprint(width=20)
    assert "'autocompute': True" in capsys.readouterr().out


@pytest.mark.parametrize("value", [2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**70, -(2**63), -(2**63) - 1, 300, -1])
def test_large_numbers_of_python_in_every_type(value):
    """In floating point and complex whatever they are, in integers those of 64 bits, which wrap in narrower types."""
    for name in ("FP64", "FP32", "FC64", "FC32", "BOOL", "INT64", "INT8", "UINT64", "UINT8"):
        dtype = gb.dtypes.lookup_dtype(name)
        fits = dtype.np_type.kind in "fcb" or -(2**63) <= value < (2**63 if name[0] == "I" else 2**64)

        def made(name=name):
            u = gb.Vector(name, 3)
            u[1] = value
            return [gb.Scalar.from_value(value, name).value, u[1].new().value]

        if not fits:
            for call in (lambda: gb.Scalar.from_value(value, name), made):  # noqa: B023
                with pytest.raises(OverflowError, match="does not fit in|is too large for"):
                    call()
        elif dtype.np_type.kind in "fcb":
            assert made() == [dtype.np_type.type(value).item()] * 2, name
        else:
            bits = 8 * dtype.np_type.itemsize
            wrapped = value % 2**bits
            assert made() == [wrapped - 2**bits if name[0] == "I" and wrapped >= 2 ** (bits - 1) else wrapped] * 2, name
