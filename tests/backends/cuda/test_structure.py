"""Structure primitives of the CUDA backend, their kernels run as fibers, against the NumPy backend."""

import gc
import weakref

import numpy as np
import pytest
from backends import agree, samples

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import binary, dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.structure import arrays, build
from grb_tile.exceptions import InvalidValue, UdfParseError
from grb_tile.storage import convert, place
from grb_tile.storage.store import BitmapVector
from support import seeds

NUMPY = select.named("numpy")
TYPES = [dtypes.BOOL, dtypes.INT8, dtypes.UINT16, dtypes.FP32, dtypes.INT64, dtypes.FC64]
ROUNDS = range(6)


@pytest.fixture(scope="module")
def device():
    return shim().device


@pytest.fixture
def detours():
    """No primitive of a plain type may go through the host."""
    shim().detours.clear()
    yield shim().detours
    assert not shim().detours


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def picks(rng, size, kind):
    """An index argument for `size` places: an array in any order, an ascending one, or a range."""
    if size == 0 or kind == 0:
        return None
    if kind == 1:
        return rng.integers(0, size, int(rng.integers(1, 9))).astype(np.int64)
    if kind == 2:
        return np.unique(rng.integers(0, size, 6)).astype(np.int64)
    low = int(rng.integers(0, size))
    return range(low, size) if rng.integers(2) else range(size - 1, low - 1, -1)


def test_ranges_of_a_full_vector(detours):
    """A copy along the range: no list of positions, and never a view, whose address may be odd."""
    device = shim().device
    u = device.to_device(BitmapVector(100, dtypes.INT8, None, np.arange(100, dtype=np.int8), 100))
    for I in (range(100), range(3, 90, 7), range(99, -1, -1), range(98, -1, -3), range(50, 50)):
        got = shim().gather_vector(u, I)
        assert device.host(got.values).tolist() == list(I) and got.nvals == got.size == len(I)
        assert len(I) == 0 or device.address(got.values) != device.address(u.values)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("turn", ROUNDS)
def test_vectors(turn, dtype, detours):
    rng = rng_of(turn, dtype.rank)
    dim = samples.dimension(rng, huge=turn == 5)
    u = samples.random_vector(rng, dim, dtype)
    before = agree.snapshot(u)
    for got, want in zip(shim().tuples_vector(u), NUMPY.tuples_vector(u), strict=True):
        assert got.dtype == want.dtype and got.tolist() == want.tolist()
    if dim[0] < 1000:
        agree.assert_same(shim().convert(u, "bitmap"), u)
    agree.assert_same(shim().convert(shim().convert(u, "sparse"), "sparse"), u)
    for kind in range(4):
        I = picks(rng, dim[0], kind)
        if turn == 5 and type(I) is range and len(I) > 10**6:
            I = range(I.start, I.stop, 2**28 + 1 if I.step > 0 else -(2**28) - 1)
        agree.assert_same(shim().gather_vector(u, I), NUMPY.gather_vector(u, I))
    I = rng.permutation(dim[0] + 3)[: dim[0]].astype(np.int64) if dim[0] < 1000 else None
    agree.assert_same(shim().expand_vector(u, I, dim[0] + 3), NUMPY.expand_vector(u, I, dim[0] + 3))
    assert agree.snapshot(u) == before


@pytest.mark.sampled(1)
@pytest.mark.parametrize("dtype", [dtypes.BOOL, dtypes.FP64], ids=str)
def test_rows_backwards_and_columns_in_order(dtype, detours):
    """More rows than entries: they are found by the range, and only their order is another."""
    rng = rng_of(51)
    rows, cols = np.array([1, 2, 2, 4, 5]), np.array([0, 1, 3, 1, 3])
    A = convert.compressed(9, 5, dtype, rows, cols, samples.values(rng, dtype, 5))
    for I in (range(8, -1, -1), range(9)):
        for J in (range(4), range(4, 0, -1), np.array([1, 3]), np.array([3, 1])):
            agree.assert_same(shim().gather_matrix(A, I, J), NUMPY.gather_matrix(A, I, J))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("turn", ROUNDS)
def test_matrices(turn, dtype, detours):
    rng = rng_of(turn, dtype.rank, 1)
    rows, cols = samples.dimension(rng, huge=turn == 4), samples.dimension(rng, huge=turn == 5)
    A = samples.random_matrix(rng, rows, cols, dtype)
    before = agree.snapshot(A)
    for got, want in zip(shim().tuples_matrix(A), NUMPY.tuples_matrix(A), strict=True):
        assert got.dtype == want.dtype and got.tolist() == want.tolist()
    agree.assert_same(shim().transpose(A), NUMPY.transpose(A))
    assert shim().transpose(shim().transpose(A)) is shim().store_to_device(A)
    agree.assert_same(shim().convert(A, "dcsr"), A)
    if rows[0] < 1000:
        agree.assert_same(shim().convert(A, "csr"), A)
    for kind in range(4):
        I = picks(rng, rows[0], kind) if rows[0] < 1000 else picks(rng, rows[0], 1)
        J = picks(rng, cols[0], (kind + turn) % 4)
        agree.assert_same(shim().gather_matrix(A, I, J), NUMPY.gather_matrix(A, I, J))
    small = A.nvals < 2000  # larger results take seconds to compare, value by value
    if small and cols[0] < 1000:
        for J in (rng.permutation(cols[0]).astype(np.int64), np.arange(cols[0]), rng.permutation(cols[0])[::2].copy()):
            agree.assert_same(shim().gather_matrix(A, None, J), NUMPY.gather_matrix(A, None, J))
    for tiles in () if not small else ([[A], [A]], [[A, A]], [[A, A], [A, A]]):
        agree.assert_same(shim().concat_matrices(tiles, dtype), NUMPY.concat_matrices(tiles, dtype))
    if rows[0] < 1000 and cols[0] < 1000:
        I = rng.permutation(rows[0] + 2)[: rows[0]].astype(np.int64)
        J = None if turn % 2 else rng.permutation(cols[0] + 2)[: cols[0]].astype(np.int64)
        shape = rows[0] + 2, cols[0] + 2
        agree.assert_same(shim().expand_matrix(A, I, J, *shape), NUMPY.expand_matrix(A, I, J, *shape))
    assert agree.snapshot(A) == before


@pytest.mark.parametrize("have", TYPES, ids=str)
@pytest.mark.parametrize("want", TYPES, ids=str)
def test_cast(have, want, detours):
    rng = rng_of(have.rank, want.rank)
    u = samples.random_vector(rng, (70, np.arange(70)), have, share=0.7)
    agree.assert_same(shim().cast(u, want), NUMPY.cast(u, want))


@pytest.mark.parametrize("want", [dtypes.BOOL, dtypes.FP32, dtypes.FP64, dtypes.FC32, dtypes.FC64], ids=str)
@pytest.mark.parametrize("have", [dtypes.FP32, dtypes.FP64, dtypes.FC32, dtypes.FC64], ids=str)
def test_casts_keep_subnormals(have, want, detours):
    """A device's own conversions may flush them; 1e-40 is true, and a number in FP32."""
    values = np.array([1e-40, -2e-42, 0.0, 1.5, 3e-39, -0.0, np.inf, 2.5], np.float64)
    values = values.astype(have.np_type if have.np_type.kind == "f" else have.np_type.char.lower()).view(have.np_type)
    u = NUMPY.build_vector(values.shape[0], np.arange(values.shape[0]), values, None, have)
    got = place.host(shim().cast(u, want)).values
    np.testing.assert_array_equal(got, NUMPY.cast(u, want).values)


@pytest.mark.parametrize("op", ["first", "second", "any", "plus", "minus", "min"])
@pytest.mark.parametrize("turn", range(3))
def test_build_combines_duplicates(turn, op, detours):
    rng = rng_of(turn, 7)
    dtype = (dtypes.INT64, dtypes.FP64)[turn % 2]
    count, size = int(rng.choice([0, 1, 40, 300])) if turn else 200, 50
    dup = getattr(binary, op)[dtype]
    i, j = rng.integers(0, size, count), rng.integers(0, size, count)
    values = samples.values(rng, dtypes.INT64 if turn == 2 else dtype, count)
    agree.assert_same(shim().build_vector(size, i, values, dup, dtype), NUMPY.build_vector(size, i, values, dup, dtype))
    agree.assert_same(
        shim().build_matrix(size, size, i, j, values, dup, dtype),
        NUMPY.build_matrix(size, size, i, j, values, dup, dtype),
    )
    one = np.array([3], np.int64)
    agree.assert_same(shim().build_vector(size, i, one, dup, dtype), NUMPY.build_vector(size, i, one, dup, dtype))
    huge = 2**60
    agree.assert_same(
        shim().build_matrix(huge, huge, i << 54, j << 54, values, dup, dtype),
        NUMPY.build_matrix(huge, huge, i << 54, j << 54, values, dup, dtype),
    )


@pytest.mark.parametrize("op", ["plus", "min", "times", "minus", "lor", "first"])
@pytest.mark.parametrize("dtype", [dtypes.INT8, dtypes.FP64])
def test_long_runs_of_duplicates_are_folded_in_pieces(monkeypatch, op, dtype):
    """One place with hundreds of entries among short ones; what is not associative goes left to right."""
    monkeypatch.setattr(build, "LONG", 8)
    monkeypatch.setattr(build, "PIECE", 4)
    rng = np.random.default_rng([seeds.SEED, 11])
    i = rng.permutation(np.concatenate([np.full(700, 5), np.full(33, 2), np.full(8, 0), rng.integers(0, 50, 60)]))
    values = rng.integers(-3, 4, i.size).astype(dtype.np_type)
    dup = getattr(binary, op)[dtype]
    agree.assert_same(shim().build_vector(50, i, values, dup, dtype), NUMPY.build_vector(50, i, values, dup, dtype))
    one = values[:1]
    agree.assert_same(shim().build_vector(50, i, one, dup, dtype), NUMPY.build_vector(50, i, one, dup, dtype))


def test_build_refuses_duplicates():
    with pytest.raises(InvalidValue, match="indices: 4 occurs more than once"):
        shim().build_vector(9, np.array([4, 2, 4]), np.array([1, 2, 3]), None, dtypes.INT64)
    with pytest.raises(InvalidValue, match=r"\(1, 0\) occurs more than once"):
        shim().build_matrix(9, 9, np.array([1, 1, 0]), np.array([0, 0, 5]), np.array([1, 2, 3]), None, dtypes.INT64)


def test_the_caller_keeps_its_arrays():
    i, values = np.array([0, 1, 2]), np.array([1.0, 2.0, 3.0])
    u = shim().build_vector(200, i, values, None, dtypes.FP64)
    i[0], values[0] = 1, 9.0
    assert [part.tolist() for part in shim().tuples_vector(u)] == [[0, 1, 2], [1.0, 2.0, 3.0]]


def test_positions_beyond_32_bits(device):
    size = 2**40
    at = np.array([5, 2**31, 2**39 + 1])
    u = shim().build_vector(size, at, np.ones(3), None, dtypes.FP64)
    assert u.indices.dtype == np.int64
    assert shim().tuples_vector(shim().gather_vector(u, at[::-1].copy()))[0].tolist() == [0, 1, 2]


def test_user_defined_types_go_through_the_host():
    point = (
        dtypes.register_anonymous({"x": np.int32, "y": np.float64}) if hasattr(dtypes, "register_anonymous") else None
    )
    if point is None:
        pytest.fail("dtypes.register_anonymous is gone: make the record type another way")
    records = np.zeros(3, point.np_type)
    records["x"] = [1, 2, 3]
    shim().detours.clear()
    u = shim().build_vector(5, np.array([4, 0, 2]), records, None, point)
    assert shim().tuples_vector(u)[1]["x"].tolist() == [2, 3, 1]
    assert shim().detours == {"build_vector": 1, "tuples_vector": 1}


def test_words_of_a_sparse_vector_are_kept(device):
    u = shim().build_vector(200, np.array([3, 64, 199]), np.ones(3), None, dtypes.FP64)
    words = arrays.words_of(device, u)
    assert arrays.words_of(device, u) is words
    assert words.tolist() == convert.bits.from_indices(np.array([3, 64, 199]), 200).tolist()


def test_fold_needs_cuda_text(device):
    """A Python function that cannot be lowered must bring its C++ text: never a silent move to another device."""
    table = {1: 2}
    op = binary.register_anonymous(lambda x, y: table[1] + len(str(x)))[dtypes.INT64]
    i = np.array([0, 0])
    with pytest.raises(UdfParseError, match="no CUDA form"):
        build.build_vector(device, 3, i, i, op, dtypes.INT64)


def test_a_program_in_the_language():
    import grb_tile as gb

    with using_shim():
        A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0], [1.0, 2.0, 3.0, 4.0])
        assert A.T.new().to_coo()[2].tolist() == [4.0, 1.0, 2.0, 3.0]
        assert A[[2, 0], :].new().to_coo()[1].tolist() == [0, 1, 2]
        A[1, 1] = 5.0
        assert A[1, 1].new().value == 5.0 and A.nvals == 5
        v = gb.Vector.from_coo([0, 3], [1, 2], size=9)
        v[4:8] << 7
        assert v.to_dict() == {0: 1, 3: 2, 4: 7, 5: 7, 6: 7, 7: 7}
    assert v.to_dict() == {0: 1, 3: 2, 4: 7, 5: 7, 6: 7, 7: 7}  # and on the host again


@pytest.mark.parametrize("op", ["times", "any"])
def test_a_view_that_nobody_asked_for_its_count_is_freed_at_once(op):
    """It holds the arrays of the whole vector."""
    with using_shim() as backend:
        v = gb.Vector.from_coo(np.arange(0, 1000, 2), np.arange(500.0), size=1000)
        whole = backend.convert(v.apply("one").new()._store if op == "any" else v._store, "bitmap")
        gc.collect()
        gc.disable()
        try:
            view = backend.view_of_range(whole, 128, 512)
            freed = weakref.ref(view)
            del view
            assert freed() is None
        finally:
            gc.enable()


def test_matrices_in_other_rows_that_share_their_columns():
    """What has the same arrays of columns and of pointers has not the same structure."""
    with using_shim():
        S = gb.Matrix.from_coo([0, 5, 9], [1, 2, 3], [4, 5, 6], nrows=199_991, ncols=9)
        P, Q = gb.Matrix(int, 200_000, 9), gb.Matrix(int, 200_000, 9)
        P[3:199_994, :] << S
        Q[4:199_995, :] << S
        assert P._store.indices is Q._store.indices and P._store.indptr is Q._store.indptr
        assert P.ewise_mult(Q).new().nvals == 0 and P.ewise_add(Q).new().nvals == 6
        P(P.S) << Q
        assert P.nvals == 0
