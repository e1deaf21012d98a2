"""Products whose structure is known beforehand, against the reference backend: by a full vector, by a diagonal."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.backends.cpu.compiled import dispatch as accelerate
from grb_tile.backends.cpu.vectorised import matmul as numpy_matmul
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.planner import tuning, unrecorded
from grb_tile.storage.constructors import full_vector
from grb_tile.storage.convert import to_csr, to_dcsr
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector, StoredMask
from support.stores import matrix, same_matrix, same_vector, values, vector

REFERENCE = ReferenceBackend()


def semiring(name, dtype):
    return getattr(gb.semiring, name)[dtype]


# ---------------------------------------------------------------------- by a full vector


@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.parametrize("name, dtype", [
    ("any_pair", "BOOL"), ("plus_pair", "INT64"), ("plus_pair", "UINT8"), ("plus_pair", "FP32"), ("lor_first", "BOOL"),
    ("min_plus", "INT64"), ("any_first", "FP64"), ("times_pair", "INT32"), ("plus_pair", "FC64"),
])  # fmt: skip
def test_lengths_of_rows(name, dtype, iso):
    """Rows without entries, rows of more than 255 entries, and a matrix with an entry in each row."""
    rng = np.random.default_rng(1)
    kind = gb.dtypes.lookup_dtype(dtype)
    op = semiring(name, dtype)
    with gb.plan(force="numba"):
        for A in (matrix(rng, 90, 400, 700, kind, iso=iso), matrix(rng, 40, 400, 12_000, kind, iso=iso),
                  matrix(rng, 500, 30, 20, kind, iso=iso)):  # fmt: skip
            for x in (full_vector(A.ncols, kind, values(rng, kind, 1)[0]), vector(rng, A.ncols, 0, kind, "full")):
                found = accelerate.matvec_rows(A, x, op)
                wanted = REFERENCE.matvec_rows(A, x, op)
                same_vector(found, wanted, name == "any_first")
                same_vector(accelerate.matvec_rows(A, x, op), wanted, name == "any_first")  # what was kept with A


def test_presence_bits_that_are_kept_are_not_written():
    rng = np.random.default_rng(2)
    A = gb.Matrix._from_store(matrix(rng, 200, 200, 150, gb.dtypes.BOOL, iso=True))
    ones = gb.Vector.from_dense(np.ones(200, bool))
    first = A.mxv(ones, gb.semiring.any_pair).new()
    missing = sorted(set(range(200)) - set(first.to_coo()[0].tolist()))
    first[missing[0]] = True
    first(gb.binary.lor)[missing[1:3]] << True
    second = A.mxv(ones, gb.semiring.any_pair).new()
    assert missing[0] in first and missing[0] not in second and second.nvals == first.nvals - 3


@pytest.mark.parametrize("name, dtype", [("plus_first", "FP64"), ("any_pair", "BOOL"), ("max_plus", "INT32")])
def test_hypersparse_rows(name, dtype):
    rng = np.random.default_rng(3)
    kind = gb.dtypes.lookup_dtype(dtype)
    small = to_dcsr(matrix(rng, 300, 50, 260, kind))
    rows = np.sort(rng.choice(1 << 40, small.rows.shape[0], replace=False))
    A = Compressed(1 << 40, 50, kind, small.indptr, small.indices, small.values, rows=rows)
    op = semiring(name, dtype)
    with gb.plan(force="numba"):
        for x in (full_vector(50, kind, values(rng, kind, 1)[0]), vector(rng, 50, 0, kind, "full")):
            found = accelerate.matvec_rows(A, x, op)
            assert found is not NotImplemented
            wanted = REFERENCE.matvec_rows(A, x, op)
            assert found.format == wanted.format == "sparse" and found.indices.dtype == wanted.indices.dtype
            same_vector(found, wanted)


# ---------------------------------------------------------------------- by a diagonal


def diagonal(rng, n, kind, iso=False):
    found = values(rng, kind, 1 if iso else n)
    return Compressed(n, n, kind, np.arange(n + 1), np.arange(n, dtype=np.int32), found, iso)


@pytest.fixture(params=["numpy", "cpu"])
def backend(request):
    return select.named(request.param)


@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.parametrize("name, dtype", [
    ("plus_times", "FP64"), ("min_minus", "INT64"), ("any_second", "INT8"), ("plus_pair", "INT32"),
    ("lor_land", "BOOL"), ("plus_first", "FP32"),
])  # fmt: skip
def test_diagonals(backend, name, dtype, iso, monkeypatch):
    rng = np.random.default_rng(4)
    kind, op = gb.dtypes.lookup_dtype(dtype), semiring(name, dtype)
    D = diagonal(rng, 30, kind, iso)
    monkeypatch.setattr(backend, "_general_product", None, raising=False)  # it has no part in what follows
    for A in (matrix(rng, 30, 30, 200, kind), matrix(rng, 30, 30, 200, gb.dtypes.INT16, iso=True),
              matrix(rng, 30, 30, 0, kind)):  # fmt: skip
        pattern = matrix(rng, 30, 30, 300, gb.dtypes.BOOL)
        for allow in (None, StoredMask(pattern), StoredMask(pattern, True), StoredMask(to_dcsr(pattern))):
            for X, Y in ((A, D), (D, A), (to_dcsr(A), D), (D, to_dcsr(A))):
                wanted = to_csr(REFERENCE.matmul(X, Y, op, allow))
                same_matrix(to_csr(backend.matmul(X, Y, op, allow)), wanted)
                same_matrix(
                    to_csr(backend.matmul(X, None, op, allow, unrecorded("dot"), REFERENCE.transpose(Y))), wanted
                )


def test_what_is_no_full_diagonal():
    rng = np.random.default_rng(5)
    D = diagonal(rng, 30, gb.dtypes.FP64)
    assert numpy_matmul.is_full_diagonal(D)
    shifted = Compressed(30, 31, D.dtype, D.indptr, D.indices, D.values)
    permuted = Compressed(30, 30, D.dtype, D.indptr, D.indices[::-1].copy(), D.values)
    first_row = Compressed(30, 30, D.dtype, np.array([0] + [30] * 30), D.indices, D.values)
    partial = Compressed(30, 30, D.dtype, np.append(D.indptr[:-1], 29), D.indices[:-1], D.values[:-1])
    for X in (shifted, permuted, first_row, partial, to_dcsr(partial)):
        assert not numpy_matmul.is_full_diagonal(X)
    positional = gb.semiring.ss.plus_secondj["INT64"]
    A = matrix(rng, 30, 30, 200, gb.dtypes.INT64)
    wanted = to_csr(REFERENCE.matmul(A, D, positional))
    for name in ("numpy", "cpu"):
        same_matrix(to_csr(select.named(name).matmul(A, D, positional, None)), wanted)


# ---------------------------------------------------------------------- many indices into a sparse vector


@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.parametrize("size", [5_000, 1 << 40])
def test_many_indices(backend, size, iso):
    rng = np.random.default_rng(6)
    kind = gb.dtypes.INT64
    stored = np.unique(rng.integers(0, size, 60))
    found = values(rng, kind, 1 if iso else stored.size)
    u = SparseVector(size, kind, stored.astype(np.int32 if size < 2**31 else np.int64), found, iso)
    for count in (tuning.NUMPY_SEARCHES, 3 * tuning.NUMPY_SEARCHES):
        I = rng.permutation(np.concatenate((rng.integers(0, size, count - 20), rng.choice(stored, 20))))
        same_vector(backend.gather_vector(u, I), REFERENCE.gather_vector(u, I))


def test_rowindex_reads_no_values():
    """A user-defined type cannot be cast to the operator's; its values are not read."""
    rng = np.random.default_rng(7)
    dtype = gb.dtypes.register_anonymous(np.dtype([("x", np.float32), ("y", np.int32)]))
    plain = matrix(rng, 30, 50, 200, gb.dtypes.INT64)
    A = Compressed(30, 50, dtype, plain.indptr, plain.indices, np.zeros(plain.nvals, dtype.np_type))
    u = BitmapVector(40, dtype, None, np.zeros(40, dtype.np_type), 40)
    for name in ("rowindex", "colindex", "diagindex"):
        op = getattr(gb.indexunary, name)["INT64"]
        wanted = REFERENCE.apply(plain, op, thunk=np.int64(3))
        for backend_name in ("numpy", "cpu"):
            same_matrix(to_csr(select.named(backend_name).apply(A, op, thunk=np.int64(3))), to_csr(wanted))
            vectors = (b.apply(x, op, thunk=np.int64(3)) for b, x in (
                (select.named(backend_name), u), (REFERENCE, full_vector(40, gb.dtypes.INT64, 1))))  # fmt: skip
            same_vector(*vectors)
