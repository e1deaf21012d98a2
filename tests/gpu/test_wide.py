"""More than 2**31 entries on a device: places past 32 bits are read, written and counted like all others.

Each row of the matrix is a range of columns, so the references are running sums over NumPy arrays:

    rows 0 .. LONG - 1     32,769 columns from the row's own on, going around at LONG: 2**31 + 15,270,352 entries
    rows LONG .. N - 1     up to 40 columns before the row's own, none below LONG; these entries all lie past 2**31
"""

from contextlib import nullcontext

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.algorithms import Graph, bfs, bfs_multi, connected_components, sssp
from grb_tile.backends import select
from grb_tile.backends.cuda.runtime.memory import drop_forms

cp = pytest.importorskip("cupy")
LONG, WIDTH, N = 66_000, 32_769, 72_000
NEEDED = 100 << 30
FILL = r"""extern "C" __global__ void fill(const long long* start, const long long* first,
                                const long long* around, int* out, int n) {
  for (int row = blockIdx.x; row < n; row += gridDim.x)
    for (long long k = threadIdx.x; k < start[row + 1] - start[row]; k += blockDim.x)
      out[start[row] + k] = (int)(k < around[row] ? k : first[row] + k - around[row]);
}"""

ROW = np.arange(N)
FIRST = np.where(ROW < LONG, ROW, np.maximum(ROW - 1 - ROW % 40, LONG))
LAST = np.where(ROW < LONG, np.minimum(ROW + WIDTH, LONG), ROW)
AROUND = np.where(ROW < LONG, np.maximum(ROW + WIDTH - LONG, 0), 0)  # and the columns 0 .. AROUND - 1
LENGTH = LAST - FIRST + AROUND


def sums_of_rows(x):
    """y[i] = sum of x over row i's columns."""
    total = np.concatenate([[0], np.cumsum(x)])
    return total[LAST] - total[FIRST] + total[AROUND]


def sums_of_columns(x):
    """y[j] = sum of x over the rows that hold column j."""
    change = sum(sign * np.bincount(at, x, N + 1) for sign, at in ((1, FIRST), (-1, LAST), (1, 0 * ROW), (-1, AROUND)))
    return np.cumsum(change)[:N].astype(np.int64)


def levels_from(source):
    """The level of each node, -1 where there is none."""
    level, frontier, depth = np.full(N, -1), ROW == source, 0
    while frontier.any():
        level[frontier] = depth
        depth += 1
        frontier = (sums_of_columns(frontier) > 0) & (level < 0)
    return level


def there(v, absent=0):
    """A grb_tile vector as a NumPy array, `absent` where it holds nothing."""
    return v.to_dense(absent)


@pytest.fixture(scope="module")
def A():
    free = cp.cuda.runtime.memGetInfo()[0]
    if free < NEEDED:
        pytest.skip(
            f"2**31 entries, their transpose and its making want {NEEDED >> 30} GiB of device memory: {free >> 30} free"
        )
    with select.using("cuda"):
        start = cp.asarray(np.concatenate([[0], np.cumsum(LENGTH)]))
        columns = cp.empty(int(LENGTH.sum()), cp.int32)
        cp.RawKernel(FILL, "fill")(
            (4096,), (256,), (start, cp.asarray(FIRST), cp.asarray(AROUND), columns, np.int32(N))
        )
        yield gb.io.from_cupy_csr(start, columns, True, shape=(N, N))
    del start, columns
    drop_forms()
    cp.get_default_memory_pool().free_all_blocks()


@pytest.fixture(autouse=True)
def on_the_device():
    with select.using("cuda"):
        yield


def some_of(seed, share):
    """(sorted positions, an array of N whole numbers that is zero elsewhere)."""
    random = np.random.default_rng(seed)
    chosen = random.random(N) < share
    chosen[[0, LONG - 1, N - 1]] = True
    return np.flatnonzero(chosen), np.where(chosen, random.integers(1, 100, N), 0)


def test_entries_are_counted_and_found(A):
    assert A.nvals == LENGTH.sum() > 2**31
    assert np.array_equal(there(A.reduce_rowwise("plus[int64]").new()), LENGTH)
    assert A.reduce_scalar("plus[int64]").new().value == LENGTH.sum()
    assert A[N - 1, N - 2].new().value is True and A[N - 1, N - 42].new().value is None
    last = A[LONG - 2 :, LONG - 100 :].new()
    cols = last.to_coo(values=False, sort=True)[1]
    kept = LAST[LONG - 2 :] - np.maximum(FIRST[LONG - 2 :], LONG - 100)
    assert last.nvals == kept.sum() and cols[-1] == N - 2 - (LONG - 100)


@pytest.mark.parametrize("semiring", ["plus_second", "max_second"])
def test_products_by_rows_with_a_full_vector(A, semiring):
    x = some_of(1, 1.0)[1]
    y = there(A.mxv(gb.Vector.from_dense(x), semiring).new())
    if semiring == "plus_second":
        assert np.array_equal(y, sums_of_rows(x))
    else:
        short = ROW[LONG + 1 :]
        assert (
            np.array_equal(y[short], [x[FIRST[i] : LAST[i]].max() for i in short])
            and y[LONG - 1] == x[[LONG - 1, *ROW[: WIDTH - 1]]].max()
        )


@pytest.mark.parametrize("method", ["rows", "cols"])
def test_products_with_a_sparse_vector(A, method):
    for seed, share in ((2, 0.2), (3, 0.001)):
        at, x = some_of(seed, share)
        v = gb.Vector.from_coo(at, x[at], size=N)
        with gb.plan(force=method):
            y, z = A.mxv(v, "plus_second").new(), v.vxm(A, "plus_first").new()
        assert np.array_equal(there(y), sums_of_rows(x)) and np.array_equal(there(z), sums_of_columns(x))
        assert y.nvals == (sums_of_rows(x) > 0).sum(), "numbers are positive: an entry where a row meets one"


def test_masked_products(A):
    at, _ = some_of(4, 0.5)
    visited = gb.Vector.from_coo(at, True, size=N)
    v = gb.Vector.from_coo([5, N - 3], True, size=N)
    x = np.bincount([5, N - 3], minlength=N)
    for method in ("rows", "cols"):
        with gb.plan(force=method):
            w = gb.Vector(bool, N)
            w(~visited.S, replace=True) << A.mxv(v, "any_pair")
        assert np.array_equal(np.flatnonzero(there(w, False)), np.setdiff1d(np.flatnonzero(sums_of_rows(x)), at))


def test_products_of_matrices(A):
    """Row i of C = X A has the columns of A's rows i and i + 1: more than 2**31 entries, with and without a mask."""
    following = (ROW + 1) % N
    X = gb.Matrix.from_coo(np.r_[ROW, ROW], np.r_[ROW, following], True, nrows=N, ncols=N)
    sums = LENGTH + LENGTH[following]
    both = np.where(ROW < LONG - 1, WIDTH - 1, 0)  # columns of both rows; none of the last row and the first
    short = (ROW >= LONG) & (ROW < N - 1)
    both[short] = (np.minimum(LAST, LAST[following]) - np.maximum(FIRST, FIRST[following]))[short]
    C = X.mxm(A, "any_pair[bool]").new()
    assert C.nvals == (sums - both).sum() > 2**31
    assert np.array_equal(there(C.reduce_rowwise("plus[int64]").new()), sums - both)
    del C
    C = X.mxm(A, "plus_pair[int64]").new()
    assert np.array_equal(there(C.reduce_rowwise("plus").new()), sums)
    del C
    M = X.mxm(A, "plus_pair[int64]").new(mask=A.S)
    assert M.nvals == A.nvals and np.array_equal(there(M.reduce_rowwise("plus").new()), LENGTH + both)


@pytest.mark.parametrize("direction", [None, "push", "pull"])
def test_searches(A, direction):
    G = Graph(A, True)
    for source in (LONG - 1, N - 1):
        with gb.plan(force=direction) if direction else nullcontext():
            found = bfs(G, source, parents=True)
        level, parent = levels_from(source), there(found.parents, -1)
        assert np.array_equal(there(found.levels, -1), level)
        reached = np.flatnonzero(level > 0)
        above = parent[reached]
        assert np.array_equal(level[above], level[reached] - 1)
        holds = (FIRST[above] <= reached) & (reached < LAST[above]) | (reached < AROUND[above])
        assert holds.all(), "a parent is a row that holds the column"


def test_many_searches_paths_and_components(A):
    G = Graph(A, True)
    sources = [0, LONG - 1, N - 1, LONG + 7]
    found = bfs_multi(G, sources).levels.to_dense(-1)
    for row, source in zip(found, sources, strict=True):
        assert np.array_equal(row, levels_from(source))
    distances = there(sssp(G, N - 1).distances, -1)
    assert np.array_equal(distances, levels_from(N - 1))
    assert np.array_equal(there(connected_components(G).labels), np.where(ROW < LONG, 0, LONG))


def test_the_transpose(A):
    lengths = there(A.T.new().reduce_rowwise("plus[int64]").new())
    assert np.array_equal(lengths, sums_of_columns(np.ones(N)))


def test_cupyx_counts_in_32_bits(A):
    with pytest.raises(ValueError, match="counts in 32 bits, too few for 21"):
        gb.io.to_cupyx_sparse(A)
