"""Full vectors of one value and of any size: what fits in memory takes none, what does not is refused before it starts.

SuiteSparse:GraphBLAS is asked for the same results.
"""

import graphblas as ss
import numpy as np
import pytest

import grb_tile as gb
from grb_tile.exceptions import OutOfMemory
from grb_tile.storage import host_memory
from support import seeds

N = 2**60
SIZES = [N, 2**59 + 3]
VALUES = {"INT64": 3, "UINT8": 200, "INT8": -7, "FP64": 0.1, "FP32": 2.5, "BOOL": True, "FC64": 0.5 + 0.5j}


def pair(dtype, value, size):
    return gb.Vector.from_scalar(value, size, dtype), ss.Vector.from_scalar(value, size, dtype)


def same(a, b):
    a, b = (x.value if hasattr(x, "value") else x for x in (a, b))
    return a == b or (a != a and b != b)


MONOIDS = ["plus", "times", "min", "max", "any", "lor", "land", "lxor", "lxnor", "bor", "band", "bxor", "bxnor"]


@pytest.mark.parametrize("size", [*SIZES, 1, 2, 3, 1000, 12345])
@pytest.mark.parametrize("dtype", VALUES)
def test_reduce_as_suitesparse(dtype, size):
    """Rounded alike too: SuiteSparse doubles, as we do."""
    ours, theirs = pair(dtype, VALUES[dtype], size)
    tried = 0
    for name in MONOIDS:
        mine, other = getattr(gb.monoid, name), getattr(ss.monoid, name)
        if ours.dtype not in mine.types or theirs.dtype not in other.types:
            continue
        tried += 1
        assert same(ours.reduce(mine).new(), theirs.reduce(other).new()), name
    assert tried >= 3
    for name in ("count", "mean", "sum_of_squares", "exists"):
        if dtype not in ("FC64", "BOOL") or name in ("count", "exists"):
            mine, other = (m.reduce(getattr(lib.agg, name)).new().value for m, lib in ((ours, gb), (theirs, ss)))
            assert mine == pytest.approx(other, rel=1e-12), name


@pytest.mark.parametrize("size", SIZES)
def test_comparisons(size):
    v = gb.Vector.from_scalar(3, size)
    assert v.isequal(v) and v.isequal(v.dup()) and v.isclose(v.dup())
    assert not v.isequal(gb.Vector.from_scalar(4, size)) and not v.isequal(gb.Vector.from_scalar(3, size - 1))
    assert v.isequal(gb.Vector.from_scalar(3.0, size)) and not v.isequal(v.dup("FP64"), check_dtype=True)
    assert not v.isequal(gb.Vector.from_coo([5], [3], size=size))
    nan = gb.Vector.from_scalar(float("nan"), size)
    assert not nan.isequal(nan) and gb.Vector.from_scalar(0.1, size).isclose(gb.Vector.from_scalar(0.1 + 1e-12, size))


@pytest.mark.parametrize("dtype", ["INT64", "FP64", "BOOL"])
@pytest.mark.parametrize("name", ["plus_times", "min_plus", "any_pair", "plus_pair", "max_first", "lor_land"])
def test_inner_products(dtype, name):
    left, right = (VALUES[dtype], VALUES[dtype]) if dtype == "BOOL" else (VALUES[dtype], 2)
    (u, U), (v, V) = pair(dtype, left, N), pair(dtype, right, N)
    s = gb.Vector.from_coo([4, 2**58], [5, 6], dtype, size=N)
    S = ss.Vector.from_coo([4, 2**58], [5, 6], dtype, size=N)
    op, theirs = getattr(gb.semiring, name), getattr(ss.semiring, name)
    if u.dtype not in op.types:
        assert dtype == "BOOL" and name in ("plus_times", "min_plus", "plus_pair")
        return
    assert same(op(u @ v).new(), theirs(U @ V).new())
    assert same(op(s @ v).new(), theirs(S @ V).new())
    assert same(op(v @ s).new(), theirs(V @ S).new())  # operands keep their sides


def test_positional_inner_products_of_small_full_vectors():
    u, U = pair("INT64", 3, 5)
    for name in ("min_firsti", "max_secondi", "plus_firstj1", "max_secondj"):
        mine, other = getattr(gb.semiring.ss, name), getattr(ss.semiring.ss, name)
        assert same(mine(u @ u).new(), other(U @ U).new()), name


KEPT = {  # name -> which positions i a thunk k keeps, and thunks that keep few
    "rowle": (lambda i, k: i <= k, (-5, -1, 0, 9)), "rowgt": (lambda i, k: i > k, (N - 10, N - 1, N, 60, 69)),
    "tril": (lambda i, k: -i <= k, (1 - N, -N, -69, -70)), "triu": (lambda i, k: -i >= k, (0, 1, -4)),
    "diag": (lambda i, k: -i == k, (0, 1, -6, 1 - N, -69)), "colle": (lambda i, k: k >= 0, (-1,)),
    "colgt": (lambda i, k: k < 0, (0,)),
}  # fmt: skip


@pytest.mark.parametrize("size", [N, 70])
@pytest.mark.parametrize("dtype", ["INT64", "FP64"])
def test_select(dtype, size):
    """SuiteSparse selects from a small vector and runs out of memory on the large one."""
    v, V = pair(dtype, 3, size)
    for name in ("valueeq", "valuene", "valuelt", "valuele", "valuegt", "valuege"):
        for thunk in (2, 3, 4):
            mine = getattr(gb.select, name)(v, thunk).new()
            kept = getattr(ss.select, name)(ss.Vector.from_scalar(3, 1, dtype), thunk).new().nvals
            assert mine.nvals == kept * size and mine.dtype == dtype, (name, thunk)
    ends = [*range(80), *range(size - 80, size)] if size == N else range(size)
    for name, (keeps, thunks) in KEPT.items():
        for thunk in thunks:
            if size == N and name in ("rowgt", "tril") and abs(thunk) < N // 2:
                continue  # nearly all: the next test
            mine = getattr(gb.select, name)(v, thunk).new().to_dict()
            assert mine == {i: 3 for i in ends if keeps(i, thunk)}, (name, thunk)
            if size != N:
                assert mine == getattr(ss.select, name)(V, thunk).new().to_dict(), (name, thunk)
    assert gb.select.colle(v, 0).new().nvals == gb.select.colgt(v, -1).new().nvals == size
    assert gb.select.rowle(v, size - 1).new().nvals == gb.select.tril(v, 0).new().nvals == size


def test_select_of_a_part_that_does_not_fit():
    v = gb.Vector.from_scalar(3, N)
    with pytest.raises(OutOfMemory, match=r"select: \d+ entries of a full vector: [\d,]+ bytes needed"):
        gb.select.rowgt(v, 10).new()
    assert v.nvals == N and v.reduce(gb.monoid.min).new() == 3


def test_assigning_what_is_there_and_resizing():
    v, w = gb.Vector.from_scalar(3, N), gb.Vector.from_scalar(3, N)
    v[10:] << w[10:]
    v[:] << 3
    v[5 : 2**50] << 3
    assert v.nvals == N and v.isequal(w)
    v.resize(2**59)
    assert v.shape == (2**59,) and v.nvals == 2**59
    small = gb.Vector.from_scalar(3, 100)
    small[10:] << gb.Vector.from_scalar(4, 90)
    assert small.to_dense().tolist() == [3] * 10 + [4] * 90
    small[10:] << gb.Vector.from_coo([0], [9], size=90)
    assert small.nvals == 11 and small[10].new() == 9
    empty = gb.Vector.from_scalar(3, 10)
    empty[2:] << gb.Vector(int, 8)
    assert empty.to_dict() == {0: 3, 1: 3}
    narrow = gb.Vector.from_scalar(3, 10, "UINT8")
    narrow[:] << 259  # wraps to 3
    assert narrow.to_dense().tolist() == [3] * 10
    zero = gb.Vector.from_scalar(0.0, 10)
    zero[3:] << -0.0
    assert np.signbit(zero.to_dense()).tolist() == [False] * 3 + [True] * 7


@pytest.mark.parametrize("iso", [True, False])
def test_a_full_vector_at_a_range_of_positions(iso):
    """Bits of the range, whatever its ends are within their words."""
    rng = np.random.default_rng(seeds.SEED)
    for _ in range(60):
        size = int(rng.integers(1, 400))
        start, stop = sorted(rng.integers(0, size + 1, 2).tolist())
        if start == stop:
            continue
        values = np.full(stop - start, 4) if iso else rng.integers(5, 9, stop - start)
        part = gb.Vector.from_scalar(4, stop - start) if iso else gb.Vector.from_dense(values)
        for base in (gb.Vector(int, size), gb.Vector.from_scalar(1, size), gb.Vector.from_coo([0], [2], size=size)):
            expected = dict(base.to_dict())
            expected.update(zip(range(start, stop), values.tolist(), strict=True))
            base[start:stop] << part
            assert base.to_dict() == expected, (size, start, stop)


@pytest.mark.parametrize(
    "call",
    [
        lambda v, s: v.to_coo(), lambda v, s: v.to_dense(), lambda v, s: s.to_dense(0), lambda v, s: v.diag(),
        lambda v, s: gb.Matrix.from_scalar(1, N, N).to_coo(), lambda v, s: gb.Matrix.from_scalar(1, N, N).to_dense(),
        lambda v, s: gb.Matrix.from_scalar(1, 2**30, 2**30).to_csr(),
        lambda v, s: gb.indexunary.rowindex(v).new(), lambda v, s: v.outer(v, "times").new(),
        lambda v, s: v.__setitem__(slice(10, None), 5), lambda v, s: gb.Matrix(int, N, N).to_dense(0),
    ],
)  # fmt: skip
def test_what_does_not_fit_names_what_it_needs_and_changes_nothing(call):
    v, s = gb.Vector.from_scalar(3, N), gb.Vector.from_coo([5, 2**59], [1, 2], size=N)
    with pytest.raises(OutOfMemory, match=r"[\d,]+ bytes needed, [\d,]+ free; the operands are unchanged"):
        call(v, s)
    assert v.nvals == N and v[2**50].new() == 3 and s.to_dict() == {5: 1, 2**59: 2}


def test_capacity_is_checked_before_a_bitmap_or_a_product_is_made(monkeypatch):
    monkeypatch.setattr(host_memory, "free_bytes", lambda: 10**6)
    monkeypatch.setattr(host_memory, "SMALL", 1000)
    u = gb.Vector.from_coo(range(0, 10**6, 20), 1.0, size=10**6)  # a bitmap or a list
    u.ss.reset() if hasattr(u.ss, "reset") else None
    with pytest.raises(OutOfMemory, match="to_dense: an array of 1000000 values"):
        u.to_dense(0)
    with pytest.raises(OutOfMemory, match="the indices of a dense matrix of 1000 x 1000"):
        gb.Matrix.from_scalar(1, 1000, 1000).to_csr()


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_a_product_that_cannot_fit_is_refused_before_it_begins(engine):
    """Each row of C has at least the entries of the longest row of B that A's row names: 4e10 in all."""
    n = 200_000
    A = gb.Matrix.from_coo(range(n), [0] * n, 1.0, nrows=n, ncols=1)
    B = gb.Matrix.from_coo([0] * n, range(n), 1.0, nrows=1, ncols=n)
    with gb.plan(force=engine), pytest.raises(OutOfMemory, match=r"mxm: at least 40000000000 entries: [\d,]+ bytes"):
        A.mxm(B, "plus_times").new()
    assert A.nvals == B.nvals == n
    mask = gb.Matrix.from_coo([3, 5], [4, 7], True, nrows=n, ncols=n)
    assert A.mxm(B, "plus_times").new(mask=mask.S).to_coo()[2].tolist() == [1, 1]


@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_a_product_is_watched_while_it_grows_and_small_products_are_not(engine, monkeypatch):
    """Between the bounds: the bytes that are free fall while C is made."""
    rng = np.random.default_rng(seeds.SEED)
    n = 1500
    A = gb.Matrix.from_coo(*np.divmod(np.unique(rng.integers(0, n * n, 50_000)), n), 1.0, nrows=n, ncols=n)
    want = A.mxm(A, "plus_times").new()
    asked = []

    def free():
        asked.append(1)
        return 20_000_000 if len(asked) < 3 else 1000

    monkeypatch.setattr(host_memory, "SMALL", 1000)
    monkeypatch.setattr(host_memory, "free_bytes", free)
    with gb.plan(force=engine), pytest.raises(OutOfMemory, match="mxm, as far as it is known: [\\d,]+ bytes needed"):
        A.mxm(A, "plus_times").new()
    monkeypatch.setattr(host_memory, "free_bytes", lambda: 10**12)
    with gb.plan(force=engine):
        assert A.mxm(A, "plus_times").new().isequal(want)


def test_a_slice_of_a_huge_sparse_vector_is_assigned():
    v, u = gb.Vector.from_coo([3, 50, 2**59], [1, 2, 3], size=2**60), gb.Vector.from_coo([5, 20], [7, 8], size=2**60)
    v[10:] << u[10:].new()
    assert v.to_dict() == {3: 1, 20: 8}
    m = gb.Vector.from_coo([20, 2**40], True, size=2**60)
    w = gb.Vector.from_coo([3, 20, 50, 2**40], [1, 2, 3, 4], size=2**60)
    w(m.S)[10:] << gb.Vector(int, 2**60 - 10)
    assert w.to_dict() == {3: 1, 50: 3}
    w(m.S, replace=True)[10:] << u[10:].new()
    assert w.to_dict() == {20: 8}
