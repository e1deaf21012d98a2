"""Dense forms of matrices: conversions, the choice by density, sharing of arrays, what is never allocated."""

import itertools
import pickle

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, using_shim
from grb_tile.exceptions import InvalidValue
from grb_tile.storage import dense
from grb_tile.storage.dense import bitmap_switch, to_dense
from grb_tile.storage.store import Dense
from support.forms import FORMS, SHAPE, matrix
from support.seeds import generator

HUGE = 2**60


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("want", ["bitmapr", "bitmapc", "fullr", "fullc", "csr", "dcsr"])
def test_conversions(form, want):
    A, plain = matrix(generator("dense", form, want), form)
    if want[:4] == "full" and A.nvals < A.nrows * A.ncols:
        with pytest.raises(InvalidValue, match="needs an entry everywhere; the matrix has"):
            to_dense(A._store, want)
        return
    B = gb.Matrix._from_store(gb.backends.select.current().convert(A._store, want))
    is_full = B.nvals == B.nrows * B.ncols
    wanted = want.replace("bitmap", "full") if is_full else want
    assert B.ss.format == (wanted if wanted != "dcsr" else "hypercsr")
    assert B.isequal(plain, check_dtype=True) and A.isequal(plain)


def test_the_form_follows_the_density():
    """Above the switch a bitmap, below half of it CSR, between them what it was; full where every entry is there."""
    n = 100
    assert bitmap_switch(n, n) == 0.4 and bitmap_switch(1, n) == 0.04 and bitmap_switch(64, n) == 0.3
    A = gb.Matrix.from_dense(np.arange(n * n, dtype=float).reshape(n, n))
    for share, form in ((0.5, "bitmapr"), (0.21, "bitmapr"), (0.19, "csr"), (1.0, "fullr")):
        B = A.select("<", share * n * n).new()
        assert B.ss.format == form and B.nvals == share * n * n
        assert (B * 2).new().ss.format == form


@pytest.mark.parametrize("form", FORMS)
def test_diagonals_and_comparisons(form):
    A, plain = matrix(generator("dense diagonals", form), form)
    for k in range(-6, 9):
        assert A.diag(k).isequal(plain.diag(k)) and A.T.diag(k).isequal(plain.diag(-k)), k
    assert A.T.isequal(plain.T) and plain.T.new().isequal(A.T) and not A.T.isequal((plain.T * 2).new())
    if form[:4] == "full" or form == "iso":
        other = plain.dup()
        other[4, 6] = 10
        A = A.dup()
        A._store.forms = None
        for made in (gb.Matrix.from_dense, lambda x: gb.Matrix.ss.import_fullc(values=np.asfortranarray(x))):
            same, different = made(plain.to_dense()), made(other.to_dense())
            assert A.isequal(same) and A.T.isequal(same.T) and same.isclose(A) and same.T.new().isequal(A.T)
            assert "csr" not in (A._store.forms or {})  # values were compared as they are stored
            assert not A.isequal(different) and not different.T.isclose(A.T) and not different.isequal(A)
    assert gb.Matrix.from_scalar(3, HUGE, HUGE).isequal(gb.Matrix.from_scalar(3.0, HUGE, HUGE))


def test_a_full_matrix_of_one_value_of_any_shape():
    A = gb.Matrix.from_scalar(3, HUGE, HUGE)
    assert A.nbytes == 8 and A.nvals == HUGE**2 and A[HUGE - 1, 5].new() == 3 and A.T.new().nbytes == 8
    assert (A + A).new()[7, HUGE - 1].new() == 6 and A.apply(gb.unary.ainv).new().nbytes == 8
    B = gb.Matrix.from_coo([0, HUGE - 1], [5, 6], [10, 20], nrows=HUGE, ncols=HUGE)
    assert A.ewise_mult(B, "plus").new().to_dicts() == {0: {5: 13}, HUGE - 1: {6: 23}}
    C = gb.Matrix(int, HUGE, HUGE)
    C(B.S) << A
    assert C.to_dicts() == {0: {5: 3}, HUGE - 1: {6: 3}}
    C << 4
    assert C.nbytes == 8 and "full" in repr(C)


def test_an_empty_mask_leaves_nothing_of_one_value():
    A, none = gb.Matrix.from_scalar(3, *SHAPE), gb.Matrix(int, *SHAPE)
    for B in (A.dup(mask=none.S), A.dup(mask=none.V), A.apply("ainv").new(mask=none.S), A.select(none.S).new()):
        assert [part.size for part in B.to_coo()] == [0, 0, 0] and not B.ss.is_iso and B.isequal(none)


def test_products_of_a_huge_matrix_of_one_value_with_vectors():
    A = gb.Matrix.from_scalar(3, HUGE, HUGE)
    u, full = gb.Vector.from_coo([1, HUGE - 1], [10, 20], size=HUGE), gb.Vector.from_scalar(2, HUGE)
    for w, value in ((A.mxv(u).new(), 90), (u.vxm(A, "min_plus").new(), 13), (A.mxv(full, "max_plus").new(), 5)):
        assert w.nvals == HUGE and w.nbytes == 8 and w[7].new() == value
    assert A.mxv(u).new(mask=u.S).to_dict() == {1: 90, HUGE - 1: 90}
    with pytest.raises(gb.exceptions.OutOfMemory, match="mxv"):
        A.mxv(u, gb.semiring.ss.min_firsti).new()


def test_regions_and_sums_of_a_huge_matrix_of_one_value():
    A = gb.Matrix.from_scalar(3, HUGE, HUGE)
    assert A[:10, :].new().shape == (10, HUGE) and A[:10, :].new().nbytes == 8
    assert [[tile.nrows for tile in row] for row in A.ss.split([HUGE // 2, HUGE])] == [[HUGE // 2]] * 2
    rows, columns = A.reduce_rowwise("max").new(), A[:5, :].new().reduce_columnwise("plus").new()
    assert rows[HUGE - 1].new() == 3 and columns[0].new() == 15 and rows.nvals == columns.nvals == HUGE


def test_a_matrix_of_one_value_is_not_written_out_where_that_does_not_fit(monkeypatch):
    """Neither the values nor the presence bits of 2^40 positions are asked of the system."""
    for what in ("zeros", "empty", "full", "ones"):
        make = getattr(np, what)

        def small(shape, *args, make=make, **kwargs):
            assert np.prod(shape, dtype=object) < 2**30
            return make(shape, *args, **kwargs)

        monkeypatch.setattr(np, what, small)
    n = 2**20
    A, B = gb.Matrix.from_scalar(1, n, n), gb.Matrix.from_coo([0, 1], [1, 2], [1, 2], nrows=n, ncols=n)
    u = gb.Vector.from_dense(np.arange(n))
    for call in (
        lambda: A.ewise_add(B).new(),
        lambda: A.dup(mask=~B.S),
        lambda: A(B.S).__lshift__(2),
        lambda: A.ewise_mult(u).new(),
    ):
        with pytest.raises(gb.exceptions.OutOfMemory, match="a dense matrix of 1048576 x 1048576"):
            call()
    assert A.nbytes == 8
    A[0, 0] = 5
    with pytest.raises(gb.exceptions.OutOfMemory, match="written elements do not fit"):
        A.wait()


def test_arrays_are_shared_and_never_changed_behind_the_caller():
    a = np.arange(12.0).reshape(3, 4)
    A = gb.Matrix.ss.import_fullr(values=a, take_ownership=True)
    view = np.asarray(A, copy=False)
    assert np.shares_memory(view, a) and not view.flags.writeable and np.shares_memory(np.asarray(A.T, copy=False), a)
    assert np.array_equal(np.asarray(A.T, copy=False), a.T)
    A[0, 0] = 99
    A(gb.binary.plus) << A
    assert view[0, 0] == a[0, 0] == 0 and A[0, 0].new() == 198
    F = gb.Matrix.ss.import_fullc(values=np.asfortranarray(a), take_ownership=True)
    assert F.ss.format == "fullc" and F.ss.orientation == "columnwise" and np.array_equal(np.asarray(F), a)
    assert np.asarray(A).flags.writeable  # a copy
    with pytest.raises(ValueError, match="needs a copy"):
        np.asarray(gb.Matrix.from_scalar(1, 2, 2), copy=False)


def test_forms_of_a_pickle_and_of_a_file_are_read_back():
    for form in FORMS:
        A, plain = matrix(generator("dense pickle", form), form)
        again = pickle.loads(pickle.dumps(A))
        assert again.ss.format == A.ss.format and again.isequal(plain, check_dtype=True)
        assert gb.Matrix.ss.deserialize(A.ss.serialize()).isequal(plain, check_dtype=True)


def test_the_report_names_the_form():
    A, _ = matrix(generator("dense report"), "bitmapr")
    text = str(A.storage())
    assert "stored as bitmapr" in text and "bitmap above 8%" in text
    A = gb.Matrix.from_scalar(1, HUGE, HUGE)
    assert "stored as fullr" in str(A.storage())


@pytest.mark.parametrize("form", ["fullr", "fullc", "bitmapr", "bitmapc"])
def test_lists_of_neighbours_in_any_order(form):
    """Every order of four neighbouring indices, of which one alone is a range: the first and the last do not tell."""
    A, plain = matrix(generator("neighbours", form), form)
    for I in map(list, itertools.permutations(range(1, 5))):
        assert A[I, :].new().isequal(plain[I, :].new(), check_dtype=True), I
        assert A[:, I].new().isequal(plain[:, I].new(), check_dtype=True), I
        assert A[I, I].new().isequal(plain[I, I].new(), check_dtype=True), I


def test_elements_are_written_in_place():
    A = gb.Matrix.from_dense(np.zeros((30, 30)))
    where = A._store.flat.values.__array_interface__["data"]
    for k in range(30):
        A[k, k] = k
    A.wait()
    assert type(A._store) is Dense and A._store.flat.values.__array_interface__["data"] == where
    assert np.array_equal(A.to_dense(), np.diag(np.arange(30.0)))


@pytest.mark.skipif(not EMULATED, reason="the arrays are those of the emulation")
def test_arrays_of_a_device_are_shared():
    rng = generator("dense on a device")
    with using_shim() as backend:
        x = backend.array(rng.random(SHAPE))
        A = gb.io.from_cupy(x)
        assert A.ss.format == "fullr" and gb.io.to_cupy(A).data.ptr == x.data.ptr
        assert np.array_equal((A * 2).new().to_dense(), x.get() * 2)
        B, plain = matrix(rng, "bitmapc")
        assert np.array_equal(gb.io.to_cupy(B, 0).get(), plain.to_dense(0))


def test_a_conversion_that_does_not_fit_is_refused(monkeypatch):
    A = gb.Matrix.from_scalar(1, 2**20, 2**20)
    with pytest.raises(gb.exceptions.OutOfMemory, match="the indices of a dense matrix of 1048576 x 1048576"):
        A.to_coo()
    assert A._store.forms is None or "csr" not in A._store.forms
    assert dense.BITMAP_SWITCH[-1] == 0.4


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_a_matrix_without_positions_has_no_dense_form(shape):
    A = gb.Matrix(float, *shape)
    for form in ("bitmapr", "bitmapc", "fullr", "fullc"):
        store = gb.backends.select.current().convert(A._store, form)
        assert store.format == "csr" and store.values.size == 0
        B = gb.Matrix._from_store(store)
        assert B.to_coo()[2].size == 0 and B.reduce_columnwise("max").new().nvals == 0 and B.isequal(A)


def test_the_order_of_a_dense_matrix_can_be_set():
    for form, other in (("fullr", "fullc"), ("bitmapr", "bitmapc")):
        A, plain = matrix(generator("order", form), form)
        for value, wanted in (("by_col", other), ("by_col", other), ("by_row", form)):
            A.ss.config["format"] = value
            assert A.ss.format == wanted and A.ss.config["format"] == value and A.isequal(plain, check_dtype=True)
    with pytest.raises(ValueError, match='format must be "by_row" or "by_col", not \'columns\''):
        A.ss.config["format"] = "columns"
    with pytest.warns(UserWarning, match="stored row-wise"):
        gb.Matrix.from_coo([0], [1], 2).ss.config["format"] = "by_col"


def test_views_of_arrays_and_why_there_is_none():
    values = np.arange(12, dtype=np.int32).reshape(2, 2, 3)
    triple = gb.dtypes.lookup_dtype(np.dtype((np.int32, (3,))))
    A = gb.Matrix.from_dense(values, dtype=triple, name="A")
    for x, wanted in ((A, values), (A.T, values.swapaxes(0, 1))):
        view = np.asarray(x, copy=False)
        assert np.array_equal(view, wanted) and not view.flags.writeable
        assert np.shares_memory(view, np.asarray(A, copy=False))
    assert np.array_equal(np.asarray(gb.Vector.from_dense(values[0], dtype=triple), copy=False), values[0])
    B = gb.Matrix.from_coo([0, 0], [0, 1], [1, 2], name="B")
    for x, reason in ((B, "B is stored as csr"), (gb.Matrix.from_scalar(1, 2, 2, name="C"), "C stores one value")):
        with pytest.raises(ValueError, match=f"{reason}.* needs a copy"):
            np.asarray(x, copy=False)
    with pytest.raises(ValueError, match="has values of type float64, not float32"):
        np.array(gb.Matrix.from_dense(np.ones((2, 2))), np.float32, copy=False)
