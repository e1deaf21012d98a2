"""Labels of rows (backends/cuda/communities/row_labels.py), kernels run as fibers, against the reference backend."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, shim, using_shim
from grb_tile import algorithms, dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.communities import row_labels
from grb_tile.graph import communities, local_moves
from grb_tile.storage import convert
from grb_tile.storage.place import host
from grb_tile.storage.store import BitmapVector, SparseVector, StoredMask
from support import seeds

REFERENCE = select.named("reference")
LENGTHS = [0, 1, 2, 7, 8, 9, 20, 32, 33, 39, 41, 55, 64, 70, 130, 200]  # rows of every bin, with the emulation's sizes


@pytest.fixture(autouse=True)
def on_the_device():
    shim().detours.clear()
    yield
    assert not shim().detours


def operands(salt, labels):
    """(A of small integers, full labels, labels of some columns, u, v, w, some rows)."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])
    n = 211
    lengths = rng.permutation(np.concatenate((LENGTHS, rng.integers(0, 60, 40), np.zeros(n - 40 - len(LENGTHS), int))))
    rows = np.repeat(np.arange(n), lengths)
    cols = np.concatenate([np.sort(rng.choice(n, length, replace=False)) for length in lengths])
    A = convert.compressed(n, n, dtypes.FP64, rows, cols, rng.integers(-2, 4, rows.size).astype(float))
    full = BitmapVector(n, dtypes.INT64, None, rng.integers(0, labels, n), n)
    some = np.flatnonzero(rng.random(n) < 0.6).astype(np.int32)
    part = SparseVector(n, dtypes.INT64, some, full.values[some])
    uvw = [BitmapVector(n, dtypes.FP64, None, rng.integers(0, 3, n).astype(float), n) for _ in range(3)]
    chosen = np.flatnonzero(rng.random(n) < 0.5).astype(np.int32)
    return A, full, part, uvw, StoredMask(SparseVector(n, dtypes.BOOL, chosen, np.ones(1, np.bool_), True))


def same(ours, theirs):
    for mine, wanted in zip(ours, theirs, strict=True):
        (i, x), (j, y) = shim().tuples_vector(mine), REFERENCE.tuples_vector(wanted)
        assert i.tolist() == j.tolist() and x.tolist() == y.tolist()


@pytest.mark.parametrize("labels", [1, 5, 211])
@pytest.mark.parametrize("weighted", [False, True])
def test_mode(labels, weighted):
    A, full, part, _, some = operands(1, labels)
    for x, allow in ((full, None), (part, None), (full, some)):
        same(shim().best_labels(A, x, weighted, allow), REFERENCE.best_labels(A, x, weighted, allow))
    if weighted:
        equal = convert.compressed(A.nrows, A.ncols, A.dtype, *_pattern(A), np.full(1, 3.0), True)
        same(shim().best_labels(equal, part, True, None), REFERENCE.best_labels(equal, part, True, None))


@pytest.mark.parametrize("labels", [1, 5, 211])
def test_best_move(labels):
    A, full, _, uvw, rows = operands(2, labels)
    for allow in (None, rows, StoredMask(convert.to_bitmap(rows.pattern))):
        same(shim().best_labels(A, full, True, allow, *uvw), REFERENCE.best_labels(A, full, True, allow, *uvw))


@pytest.mark.parametrize("labels", [2, 40, 211])
def test_least_absent(labels):
    A, full, part, _, rows = operands(3, labels)
    ranks = BitmapVector(full.size, full.dtype, None, np.argsort(np.argsort(full.values)), full.size)
    for x in (full, part, ranks):
        for allow in (None, rows):
            same([shim().least_absent(A, x, allow)], [REFERENCE.least_absent(A, x, allow)])


def test_one_label_for_all_columns():
    """It is kept as one value: of all columns, and of some."""
    A, full, part, _, rows = operands(6, 5)
    one = np.full(1, 3)
    full, part = full.with_values(full.dtype, one, True), part.with_values(part.dtype, one, True)
    for x in (full, part):
        for weighted in (False, True):
            same(shim().best_labels(A, x, weighted, None), REFERENCE.best_labels(A, x, weighted, None))
        same([shim().least_absent(A, x, rows)], [REFERENCE.least_absent(A, x, rows)])


def test_a_long_row_of_all_numbers():
    """Its answer is beyond every window of the bitmap."""
    n = 9000
    A = convert.compressed(2, n, dtypes.BOOL, np.zeros(n, np.int64), np.arange(n), np.ones(1, np.bool_), True)
    for missing, wanted in ((None, n), (8999, 8999), (4500, 4500), (0, 0)):
        numbers = np.arange(n)
        if missing is not None:
            numbers[missing] = n + 5
        found = shim().least_absent(A, BitmapVector(n, dtypes.INT64, None, numbers, n), None)
        assert host(found).values.tolist() == [wanted, 0]


@pytest.mark.parametrize("weighted", [False, True])
def test_parts_with_more_labels_than_the_table_takes(monkeypatch, weighted):
    """Parts of three times as many labels as slots are cut again and again."""
    monkeypatch.setattr(row_labels, "FILLED", 3.0)
    if not EMULATED:
        monkeypatch.setattr(row_labels, "MOST_SLOTS", 64)
        monkeypatch.setattr(row_labels, "BLOCK_ROW", 300)
    A, full, _, uvw, _ = operands(4, 211)
    full = BitmapVector(full.size, full.dtype, None, np.arange(full.size), full.size)
    same(shim().best_labels(A, full, weighted, None), REFERENCE.best_labels(A, full, weighted, None))
    same(shim().best_labels(A, full, True, None, *uvw), REFERENCE.best_labels(A, full, True, None, *uvw))


def test_the_own_label_counts_once_where_a_part_is_cut(monkeypatch):
    """A row that is cut starts again with more pieces: what it summed before, in another slot, is forgotten."""
    monkeypatch.setattr(row_labels, "FILLED", 3.0)  # of two pieces about one is more than the table takes
    if not EMULATED:
        for name, value in (("WARP_ROW", 40), ("BLOCK_ROW", 60), ("MOST_SLOTS", 64)):
            monkeypatch.setattr(row_labels, name, value)
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 9])
    n, long = 300, 250
    rows = np.repeat(np.arange(long), 128)
    cols = np.concatenate([np.sort(rng.choice(n, 128, replace=False)) for _ in range(long)])
    A = convert.compressed(n, n, dtypes.FP64, rows, cols, rng.integers(1, 4, rows.size).astype(float))
    labels = BitmapVector(n, dtypes.INT64, None, rng.permutation(n), n)
    uvw = [BitmapVector(n, dtypes.FP64, None, rng.integers(0, 3, n).astype(float), n) for _ in range(3)]
    same(shim().best_labels(A, labels, True, None, *uvw), REFERENCE.best_labels(A, labels, True, None, *uvw))


def test_sum_by_label():
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 5])
    for n, size in ((0, 3), (1, 1), (100, 4), (1000, 1), (1000, 700)):
        labels, values = rng.integers(0, size, n), rng.integers(-9, 9, n).astype(float)
        device = shim().device
        found = shim().sum_by_label(device.array(labels), device.array(values), size)
        assert device.host(found).tolist() == np.bincount(labels, values, size).tolist()
        firsts = [next((k for k in range(n) if labels[k] == c), n) for c in range(size)]
        assert device.host(shim().first_by_label(device.array(labels), size)).tolist() == firsts
        assert REFERENCE.first_by_label(labels, size).tolist() == firsts


def test_sums_of_what_a_warp_has():
    """A warp's 256 values, one fewer and one more; labels that 3, 4 and 5 of them share, that one has, and all have."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 6])
    device = shim().device
    for n in (31, 32, 33, 255, 256, 257, 511, 512, 513):
        shared = np.repeat(np.arange(n), rng.choice([3, 4, 5], n))[:n]
        for labels in (shared, rng.permutation(shared), np.arange(n), np.zeros(n, np.int64)):
            values = rng.integers(-9, 9, n).astype(float)
            found = device.host(shim().sum_by_label(device.array(labels), device.array(values), n))
            assert found.tolist() == np.bincount(labels, values, n).tolist(), f"{n} values"


def _pattern(A):
    return np.repeat(np.arange(A.nrows), np.diff(A.indptr)), A.indices


WEIGHTS = {"equal": lambda rng, m: 0.5, "whole": lambda rng, m: rng.integers(1, 4, m) * 1.0,
           "stored": lambda rng, m: rng.integers(1, 9, m) / 4}  # fmt: skip


@pytest.mark.parametrize("weights", ["equal", pytest.param("whole", marks=pytest.mark.slow), "stored"])
@pytest.mark.sampled(1)
def test_loops_of_local_moves_are_those_of_the_host(weights):
    """Rows of all lengths: rounds of moves from vertices that are alone and from communities, joins, settling."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 7])
    n = 260
    i, j = rng.integers(0, n, (2, 700))
    i, j = np.r_[i, np.zeros(200, int), np.ones(50, int)], np.r_[j, rng.permutation(n)[:200], rng.permutation(n)[:50]]
    pairs = np.unique(np.sort(np.stack([i, j])[:, i != j], axis=0), axis=1)
    w = WEIGHTS[weights](rng, pairs.shape[1])
    x = rng.integers(0, 9, n)

    def run(backend):
        array, host_of = (backend.device.array, backend.device.host) if backend is shim() else (np.asarray, np.asarray)
        A = gb.Matrix.from_coo(*np.c_[pairs, pairs[::-1]], np.r_[w, w] if np.ndim(w) else w, nrows=n, ncols=n)
        B = communities.symmetric_rows(A)
        k = communities.dense(B.reduce_rowwise("plus").new())
        total = 2.0 ** np.ceil(np.log2(float(k.sum())))
        u, measure = k / total, local_moves.Measure(0.0, total, 1.0)
        found = []
        for start, scale in ((None, 1), (array(x), 1), (array(x), 0)):  # 0: the greatest sum is the score
            for each in (True, False):
                steps = local_moves.move_rounds(B, start, scale * u, k, (measure, 1e-7, 1e-3), 3, 1, each=each)
                steps = [(host_of(kept).tolist(), best, list(records)) for kept, best, records in steps]
                found.append((*steps[-1][:2], [record for step in steps for record in step[2]]))
        y, rounds = local_moves.join_rounds(B, array(x), k, 1 / total, 3, 2)
        found.append((host_of(y).tolist(), rounds))
        many = array(np.arange(n) // 30)
        for start, least in ((many, 1e-7), (array(x), 1e-7), (array(np.zeros(n, np.int64)), 1e-7)):
            steps = list(local_moves.settle(B, start, u, k, (measure, least * total, 2.0, bool)))
            found.append((host_of(steps[-1][0]).tolist(), [moved for step in steps for _, moved in step[1]]))
        C = communities.quotient(B, array(x), 9, inner=False)
        found.append(C.to_dicts())
        return found

    with using_shim() as backend:
        ours = run(backend)
    with select.using("cpu") as backend:
        theirs = run(backend)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine == wanted
    assert ours[6][1] > 2 and max(map(len, (found[1] for found in ours[7:10]))) > 2


@pytest.mark.parametrize("wide", [2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**63 - 1])
def test_colours_beyond_32_bits(wide):
    """Kernels hold colours as 32-bit numbers: a greater one must not count as its low half."""
    A, full, part, _, rows = operands(5, 9)
    for x in (full, part):
        x.values[::2] = wide
        for allow in (None, rows):
            same([shim().least_absent(A, x, allow)], [REFERENCE.least_absent(A, x, allow)])


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
@pytest.mark.parametrize("wrong", [-1, -(2**40), 2**31, 2**32, 2**32 + 1, 2**63 - 1, -(2**63), None])
def test_labels_out_of_range_are_refused(backend, wrong):
    """None: n, the least that is too great.  The exception is the same on both backends."""
    with using_shim() if backend == "cuda" else select.using(backend):
        i, j = [0, 1, 1, 2], [1, 0, 2, 1]
        A = gb.Matrix.from_coo(i, j, 1.0, nrows=4, ncols=4)
        weights = gb.Vector.from_dense([1.0, 2.0, 1.0, 0.0])
        labels = gb.Vector.from_dense([0, 1, 4 if wrong is None else wrong, 3])
        for call in (
            lambda: gb.graph.mode(A, labels),
            lambda: gb.graph.mode(A, labels, weighted=True),
            lambda: gb.graph.best_move(A, labels, weights, weights, weights),
            lambda: gb.graph.sum_of_own(A, labels),
        ):
            with pytest.raises(gb.exceptions.IndexOutOfBound):
                call()
        absent = gb.Vector.from_coo([0, 1, 3], [0, 1, 3], size=4)
        assert gb.graph.mode(A, absent).to_dict() == {0: 1, 1: 0, 2: 1}


@pytest.mark.parametrize("method", [algorithms.louvain, algorithms.leiden])
def test_communities_are_those_of_the_host(method):
    for seed in range(3):
        i, j = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 9, seed]).integers(0, 60, (2, 150))

        def run():
            A = gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.ones(300), nrows=60, ncols=60, dup_op=gb.binary.plus)
            found = method(A, seed=seed)
            return found.to_numpy().tolist(), found.modularity, found.report.iterations

        with using_shim():
            ours = run()
        with select.using("cpu"):
            theirs = run()
        assert ours[0] == theirs[0] and ours[1] == pytest.approx(theirs[1]) and ours[2] == theirs[2]
