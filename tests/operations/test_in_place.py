"""Values that change in place: who else holds them, what was remembered of them, how many entries there are then."""

import sys
import threading
import tracemalloc

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import Matrix, Vector, binary, semiring
from grb_tile.backends.select import current
from grb_tile.planner import tuning
from grb_tile.storage.store import StoredMask
from support.written import entries_of

N = 400


@pytest.fixture(autouse=True)
def small_vectors_too(monkeypatch):
    """Small vectors change in place as large ones do."""
    monkeypatch.setattr(tuning, "MERGED_SIZE", 0)


def bitmap(share=1.0, dtype=float):
    """A vector stored as a bitmap (full where share is 1) whose arrays are its own."""
    where = np.arange(N)[np.random.default_rng(3).random(N) < share]
    v = Vector.from_coo(where, np.arange(1, where.size + 1).astype(dtype), size=N)
    v(binary.plus) << Vector.from_coo([int(where[0])], [0], dtype=dtype, size=N)
    assert v._store.format == "bitmap"
    return v


def matrix():
    """A matrix with 8 entries in each of 100 rows, its arrays its own."""
    at = np.arange(800)
    return Matrix.from_coo(at // 8, at * 13 % 100, np.arange(1.0, 801), nrows=100, ncols=100, dup_op="plus")


def few(places, values, size=N):
    return Vector.from_coo(places, values, size=size)


def address(x):
    return x._store.values.ctypes.data


# ---------------------------------------------------------------------- in place or not


def test_existing_elements_change_in_place():
    A = matrix()
    i, j, x = (int(part[5]) for part in A.to_coo())
    before = address(A)
    A[i, j] = 7
    assert address(A) == before and A.get(i, j) == 7
    A("plus")[i, j] << 2
    assert address(A) == before and A.get(i, j) == 9 and A.wait().nvals == 800
    assert x != 7


@pytest.mark.parametrize("write", ["element", "accumulate", "mask"])
@pytest.mark.parametrize("make", [bitmap, matrix])
@pytest.mark.parametrize("held", ["values", "view", "store"])
def test_what_somebody_holds_does_not_change(held, make, write):
    x = make()
    store = x._store
    kept = {"values": store.values, "view": store.values[1:], "store": store}[held]
    before = entries_of(store) if held == "store" else kept.copy()
    del store
    key = (0, 0) if x.ndim == 2 else 5
    assert x.get(*key if x.ndim == 2 else (key,)) is not None
    where = gb.Matrix.from_coo([0], [0], True, nrows=100, ncols=100) if x.ndim == 2 else few([5], [True])
    if write == "element":
        x[key] = -1
    elif write == "accumulate":
        x("plus")[key] << 1000
    else:
        x(where.S) << -1
    x.wait()
    assert x.get(*key if x.ndim == 2 else (key,)) in (-1, before[0] + 1000 if held == "values" else -1, 1001, 1006)
    after = entries_of(kept) if held == "store" else kept
    assert after == before if held == "store" else (after == before).all()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step, share", [("clear_bits", 1.0), ("clear_bits", 0.6), ("put_entries", 1.0),
                                         ("put_entries", 0.6), ("scatter_words", 0.6)])  # fmt: skip
def test_a_change_in_place_that_is_interrupted_is_undone(step, share, after, monkeypatch):
    """Values, presence bits and the number of entries, of what was there, was not, and was to be deleted."""
    v, before = bitmap(share), entries_of(bitmap(share))
    there = v.to_coo()[0].tolist()
    absent = sorted(set(range(N)) - set(there))
    places = sorted(there[:3] + absent[:3])
    t, mask = few(places, np.arange(-1.0, -1.0 - len(places), -1)), few(sorted({*places, *there[7:9]}), True)
    owner = sys.modules["grb_tile.operations.write"] if step == "scatter_words" else current()
    function, calls, where = getattr(owner, step), [], address(v)

    def interrupted(*arguments):
        calls.append(step)
        if len(calls) > 1:  # what undoes the change
            return function(*arguments)
        if after:
            function(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        if step == "scatter_words":
            v(binary.plus) << t
        else:
            v(mask.S) << t
    assert calls and address(v) == where and v.nvals == len(before)
    assert entries_of(v) == before and entries_of(v.dup()) == before
    monkeypatch.undo()
    v(binary.plus) << t
    assert v.nvals == len(before) + len(absent[:3])


def test_read_only_arrays_are_copied():
    x = bitmap()
    x._store.values.flags.writeable = False
    x("plus") << few([5], [1.0])
    x[6] = 3
    assert (x.get(5), x.get(6)) == (7, 3)


# ---------------------------------------------------------------------- what was remembered


def test_the_true_entries_of_a_vector_follow_its_values():
    m, w = bitmap(), Vector(float, N)
    w(m.V) << 1
    assert w.wait().nvals == N
    m(few([3, 4], [True, True]).S) << 0
    w = Vector(float, N)
    w(m.V) << 1
    assert w.wait().nvals == N - 2
    m(binary.plus) << few([3], [5.0])
    w = Vector(float, N)
    w(m.V) << 1
    assert w.wait().nvals == N - 1


def test_the_transpose_and_the_true_entries_of_a_matrix_follow_its_values():
    A = matrix()
    A[5, 40] = 0
    T = A.T.new()
    before = entries_of(T)
    mask = Matrix(bool, 100, 100)
    mask(A.V) << True
    address_before = address(A)
    A[0, 0] = 0
    after = entries_of(A)
    assert address(A) == address_before  # in place, although a transpose was remembered
    assert entries_of(A.T.new()) == {(j, i): x for (i, j), x in after.items()}
    assert entries_of(T) == before
    assert entries_of(T.T.new()) == {(j, i): x for (i, j), x in before.items()}
    again = Matrix(bool, 100, 100)
    again(A.V) << True
    assert mask.nvals == again.nvals + 1 == A.wait().nvals - 1
    u = Vector.from_scalar(1.0, 100)
    assert A.T.mxv(u, semiring.plus_times).new().isclose(matrix_of(after).T.new().mxv(u).new())


def matrix_of(entries):
    rows, cols = zip(*entries, strict=True)
    return Matrix.from_coo(rows, cols, list(entries.values()), nrows=100, ncols=100)


def test_the_transpose_does_not_find_values_of_another_time():
    """T holds A weakly as its transpose: once A's values change in place, T's transpose is computed."""
    A = matrix()
    T = A.T.new()
    wanted = {(j, i): x for (i, j), x in entries_of(T).items()}
    A[0, 0] = -5
    A.wait()
    assert entries_of(T.T.new()) == wanted


# ---------------------------------------------------------------------- numbers of entries and bits


def test_common_entries_count_once():
    v = bitmap(0.5)
    held = entries_of(v)
    present, absent = next(iter(held))[0], next(i for i in range(N) if (i,) not in held)
    v(binary.plus) << few([min(present, absent), max(present, absent)], [1.0, 1.0])
    assert v.wait().nvals == len(held) + 1 == len(entries_of(v))


@pytest.mark.parametrize("how", ["element", "mask"])
def test_a_full_vector_that_loses_an_entry_has_no_bits_past_its_end(how):
    v = bitmap()
    assert v._store.words is None and N % 64
    if how == "element":
        del v[7]
    else:
        v(few([7, 8], [True, True]).S) << few([8], [2.0])
    assert v.wait().nvals == N - 1 == len(v.to_coo()[0])
    assert int(v._store.words[-1]) >> (N % 64) == 0
    assert v.dup(mask=v.S).nvals == N - 1
    w = Vector(bool, N)
    w(~v.S) << True
    assert entries_of(w) == {(7,): True}


@pytest.mark.parametrize("count", [3, 300])
def test_an_iso_value_reaches_every_position(count):
    v = bitmap()
    places = np.arange(0, N, 1)[:count] if count == 3 else np.arange(45)
    before = entries_of(v)
    v(binary.plus) << Vector.from_coo(places, 10.0, size=N)
    hit = set(places.tolist())
    assert entries_of(v) == {(i,): x + 10 * (i in hit) for (i,), x in before.items()}


def test_a_complemented_mask_that_t_seems_to_fill():
    """T has as many entries as the mask's vector, and the mask is its complement: C's other entries go."""
    v = bitmap(0.5)
    m = few([1, 3], [True, True])
    v(~m.S) << few([10, 11], [5.0, 6.0])
    held = entries_of(bitmap(0.5))
    assert entries_of(v) == {(10,): 5.0, (11,): 6.0} | {p: x for p, x in held.items() if p[0] in (1, 3)}


# ---------------------------------------------------------------------- rows, columns, repeated indices


def test_a_row_assignment_keeps_the_other_columns():
    A = Matrix.from_dense(np.arange(1.0, 401).reshape(4, 100))
    B = A.dup()
    A[1, [3, 4]] << Vector.from_coo([0, 1], [-1.0, -2.0], size=2)
    A(binary.plus)[2, :] << Vector.from_coo([5], [1000.0], size=100)
    wanted = entries_of(B)
    wanted[1, 3], wanted[1, 4], wanted[2, 5] = -1, -2, wanted[2, 5] + 1000
    assert entries_of(A) == wanted


@pytest.mark.parametrize("nowhere", [[], slice(0, 0)], ids=["list", "slice"])
def test_an_assignment_to_no_rows_or_columns_changes_nothing(nowhere):
    A = matrix()
    before = entries_of(A)
    A[:, nowhere] << Matrix(float, 100, 0)
    A[nowhere, :] << Matrix(float, 0, 100)
    A[nowhere, nowhere] << Matrix(float, 0, 0)
    A[:, nowhere] << 1.0
    del A[:, nowhere]
    assert entries_of(A) == before


def test_of_repeated_indices_the_last_counts():
    v = Vector(int, 9)
    v[[4, 2, 4]] << Vector.from_coo([0, 1, 2], [1, 2, 3], size=3)
    assert v.to_dict() == {2: 2, 4: 3}
    A = Matrix(int, 5, 5)
    A[[3, 0, 3], [1, 1, 2]] << Matrix.from_dense(np.arange(9).reshape(3, 3))
    assert A.to_dicts() == {0: {1: 4, 2: 5}, 3: {1: 7, 2: 8}}


def test_of_repeated_indices_the_last_place_in_the_mask_counts():
    v = Vector.from_dense([10, 11, 12, 13, 14])
    v[[4, 2, 4]](Vector.from_coo([0, 1], [True, True], size=3).S) << 7
    assert v.to_dict() == {0: 10, 1: 11, 2: 7, 3: 13, 4: 14}
    A = Matrix.from_dense(np.arange(9).reshape(3, 3))
    mask = Matrix.from_coo([0, 1], [0, 1], True, nrows=3, ncols=2)
    A[[2, 0, 2], [1, 0]](mask.S) << -1
    assert A.to_dicts() == {0: {0: -1, 1: 1, 2: 2}, 1: {0: 3, 1: 4, 2: 5}, 2: {0: 6, 1: 7, 2: 8}}


def test_a_mask_that_is_the_output_itself_has_pending_elements():
    """Reading the mask merges the output's pending elements while the write is prepared."""
    A = Matrix.from_coo(np.arange(300), np.arange(300), np.zeros(300), nrows=300, ncols=300)
    A[0, 0] = 1
    A.wait()
    A[7, 7] = 2
    A(A.V, accum="plus") << 10
    assert {p: x for p, x in entries_of(A).items() if x} == {(0, 0): 11.0, (7, 7): 12.0} and A.wait().nvals == 300


def of_many_rows(spread):
    """A matrix of 3,000 entries in every third of 3,000 rows, one in column 5 of each tenth; rows spread + 1 apart."""
    rows = np.arange(0, 9000, 3)
    cols = np.where(np.arange(3000) % 500 == 0, 5, 7 + np.arange(3000) % 30)
    return Matrix.from_coo(rows * (spread + 1), cols, np.arange(3000) + 1, nrows=9000 * (spread + 1), ncols=40)


@pytest.mark.parametrize("spread", [0, 2**30], ids=["CSR", "DCSR"])
@pytest.mark.parametrize("columns", [5, [5], [5, 39], slice(5, 6)], ids=str)
@pytest.mark.parametrize("value", ["few entries", "none", "an empty Scalar", "many entries"])
def test_a_column_of_a_large_matrix_is_overwritten(spread, columns, value):
    """What the column held is gone, whether few or many entries come, however the rows are stored."""
    A = of_many_rows(spread)
    assert A.ss.format == ("hypercsr" if spread else "csr")
    picked = np.arange(40)[columns]
    places = {"few entries": [0, 1500, 4], "many entries": range(0, 9000, 2)}.get(value, [])
    rows = np.array(places, np.int64) * (spread + 1)
    wanted = {p: x for p, x in entries_of(A).items() if p[1] not in np.atleast_1d(picked)}
    last = int(np.atleast_1d(picked)[-1])
    wanted |= {(i, last): -3 for i in rows.tolist()}
    if value == "an empty Scalar":
        A[:, columns] << gb.Scalar(int)
    elif np.ndim(picked) == 0:
        A[:, columns] << Vector.from_coo(rows, np.full(rows.size, -3), int, size=A.nrows)
    else:
        last_of_them = np.full(rows.size, picked.size - 1)
        values = np.full(rows.size, -3)
        A[:, columns] << Matrix.from_coo(rows, last_of_them, values, int, nrows=A.nrows, ncols=picked.size)
    assert A.nvals == len(wanted)
    assert entries_of(A) == wanted


@pytest.mark.parametrize("spread", [0, 2**30], ids=["CSR", "DCSR"])
@pytest.mark.parametrize("region", ["columns", "rows", "both", "all"])
@pytest.mark.parametrize("value", ["a number", "entries"])
def test_a_mask_of_few_entries_reaches_those_of_the_region_only(spread, region, value):
    """A(M.S)[I, J] << x: what M names outside the region stays as it is."""
    A = of_many_rows(spread)
    before = entries_of(A)
    named = sorted(before)[::617]
    M = Matrix.from_coo(*zip(*named), True, nrows=A.nrows, ncols=A.ncols)
    rows = [p[0] for p in named[:3]] if region in ("rows", "both") else slice(None)
    columns = sorted({p[1] for p in named})[:2] if region in ("columns", "both") else slice(None)
    inside = {
        p: 7 for p in named if (rows == slice(None) or p[0] in rows) and (columns == slice(None) or p[1] in columns)
    }
    assert 0 < len(inside) < len(named) or region == "all"
    if value == "a number":
        A(M.S)[rows, columns] << 7
        wanted = before | inside
    else:
        first = next(iter(inside))
        i = rows.index(first[0]) if type(rows) is list else first[0]
        j = columns.index(first[1]) if type(columns) is list else first[1]
        shape = [len(k) if type(k) is list else n for k, n in zip((rows, columns), A.shape)]
        A(M.S)[rows, columns] << Matrix.from_coo([i], [j], [7], int, nrows=shape[0], ncols=shape[1])
        wanted = {p: x for p, x in before.items() if p not in inside} | {first: 7}
    assert entries_of(A) == wanted


# ---------------------------------------------------------------------- what a write costs, and readers in threads

LARGE = 300_000
WRITES = {
    "element": lambda A: A.__setitem__((5, 7), 1),
    "accumulated element": lambda A: A("plus")[5, 7] << 1,
    "deleted element": lambda A: A.__delitem__((5, 7)),
    "mask": lambda A: A(M.S).__setitem__((slice(None), slice(None)), 2),
    "mask and object": lambda A: A(M.S) << D,
    "accumulated object": lambda A: A("plus") << M,
    "row": lambda A: A.__setitem__((5, slice(None)), U),
    "rows and columns": lambda A: A.__setitem__(([1, 2, 3], [1, 2, 3]), M3),
}
M = Matrix.from_coo([3, 77], [1, 5], [1, 2], nrows=LARGE, ncols=LARGE)
D = Matrix.from_coo([3, 9], [1, 9], [4, 5], nrows=LARGE, ncols=LARGE)
U = Vector.from_coo([1, 50], [1, 2], size=LARGE)
M3 = Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3])


@pytest.fixture(scope="module")
def large():
    at = np.arange(LARGE)
    return Matrix.from_coo(at, at * 7 % LARGE, at, nrows=LARGE, ncols=LARGE)


@pytest.mark.parametrize("name", WRITES)
def test_a_small_write_allocates_little(large, name):
    A = large
    WRITES[name](A)  # what is loaded and remembered once
    tracemalloc.start()
    WRITES[name](A)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000 < A.nbytes / 30, f"{name} allocated {peak} bytes beside {A.nbytes}"


def test_a_small_mask_reads_a_large_matrix_by_search(large):
    wanted = {p: x for p, x in entries_of(D).items() if large.get(*p) is None}
    large.wait()
    met = {p: large.get(*p) for p in entries_of(M) if large.get(*p) is not None}
    tracemalloc.start()
    outside = current().restrict(D._store, StoredMask(large._store, True))
    inside = current().restrict(large._store, StoredMask(M._store))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000
    assert entries_of(outside) == entries_of(D.dup(mask=~large.S)) == wanted
    assert entries_of(inside) == entries_of(large.dup(mask=M.S)) == met


@pytest.mark.parametrize("make", [bitmap, matrix])
def test_four_threads_read_what_was_written(make):
    """The first reader merges, in place where it may; all of them see every write once."""
    for _ in range(40):
        x = make()
        key = (0, 0) if x.ndim == 2 else 5
        start, wanted = threading.Barrier(4), x.get(*key if x.ndim == 2 else (key,)) + 5
        x("plus")[key] << 2
        x("plus")[key] << 3
        found = []

        def read(x=x, key=key, start=start, found=found):
            start.wait()
            try:
                one = x.get(*key if x.ndim == 2 else (key,))
                found.append((one, entries_of(x)[key if x.ndim == 2 else (key,)], x.nvals))
            except Exception as error:  # noqa: BLE001
                found.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [(wanted, wanted, x.nvals)] * 4


@pytest.mark.parametrize("value", [1, gb.Vector.from_scalar(1, N)], ids=["scalar", "vector"])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_the_value_that_all_entries_have(share, value):
    """Assigned to all positions it is at all of them, whether all had an entry before or not."""
    where = np.arange(N)[np.random.default_rng(4).random(N) < share]
    v = Vector.from_coo(where, 1, size=N)
    w = v.dup()
    v[:] = value
    w << value
    assert v.to_dict() == w.to_dict() == dict.fromkeys(range(N), 1)


def test_tiles_of_another_shape():
    """concat: every tile of two rows of two, one row or column too few or too many."""
    for at in ((0, 1), (1, 0), (1, 1)):
        for more in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            tiles = [[Matrix(int, 2, 3), Matrix(int, 2, 4)], [Matrix(int, 5, 3), Matrix(int, 5, 4)]]
            wrong = tiles[at[0]][at[1]]
            tiles[at[0]][at[1]] = Matrix(int, wrong.nrows + more[0], wrong.ncols + more[1])
            if at == (0, 1) and more[1]:
                continue  # the widths are those of the first row: checked below it
            if at == (1, 0) and more[0]:
                continue  # the heights are those of the first column
            with pytest.raises(gb.exceptions.DimensionMismatch, match=r"concat: tile \("):
                gb.ss.concat(tiles)
