"""Compiled products of matrix and vector against the NumPy backend: every mask kind, vector form and kind of
operator."""

import itertools
import os
import signal
import threading

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.compiled import dense_sums, dispatch as accelerate, matvec as accelerate_matvec
from grb_tile.backends.cpu.compiled.matmul import row_chunks
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.backends.cpu.vectorised import matvec as numpy_matvec
from grb_tile.planner import tuning
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import Compressed
from support.stores import masks, matrix, same_vector, values, vector

SEMIRINGS = [
    ("plus_times", "FP64"), ("plus_times", "INT8"), ("plus_times", "UINT64"), ("plus_times", "FC64"), ("min_plus",
    "FP32"),
    ("min_plus", "INT64"), ("max_min", "FP64"), ("any_pair", "BOOL"), ("lor_land", "BOOL"), ("land_lor", "BOOL"),
    ("any_secondi", "INT64"), ("min_firstj1", "INT64"), ("min_firsti", "INT32"), ("plus_pair", "INT64"),
    ("plus_first", "FP64"), ("max_second", "INT32"), ("any_first", "FP64"), ("max_rdiv", "FP64"), ("times_minus",
    "INT16"),
    ("eq_ne", "BOOL"), ("plus_bor", "UINT8"),
]  # fmt: skip


def semiring(name, dtype):
    monoid, binary = name.split("_")
    found = getattr(gb.semiring.ss if name.endswith(("i", "1")) else gb.semiring, name, None)
    if found is None:
        made = gb.semiring.register_anonymous(getattr(gb.monoid, monoid), getattr(gb.binary, binary))
        return made[dtype]
    return found[dtype]


@pytest.fixture(autouse=True)
def compiled():
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


@pytest.mark.parametrize("name, dtype", SEMIRINGS)
def test_rows_and_columns(name, dtype):
    rng = np.random.default_rng(3)
    op = semiring(name, dtype)
    kind = gb.dtypes.lookup_dtype(dtype)
    nrows, ncols = 150, 90
    any_value = name.startswith("any") and not name.endswith("pair")
    A = matrix(rng, nrows, ncols, 900, kind)
    AT = transpose_of(A)
    place = SEMIRINGS.index((name, dtype))
    forms = ("sparse", "bitmap", "full")
    allows = masks(rng, nrows, kind)
    if place > 1:  # each form and mask makes another kernel: all of them for two semirings, some for the others
        forms = (forms[place % 3],)
        allows = [None, allows[3], allows[4]] if place % 2 else [allows[1], allows[2]]
    for form in forms:
        x = vector(rng, ncols, 30, kind, form)
        for allow in allows:
            wanted = numpy_matvec.matvec_rows(A, x, op, allow)
            rows = accelerate.matvec_rows(A, x, op, allow)
            cols = accelerate.matvec_cols(AT, x, op, allow)
            assert rows is not NotImplemented
            assert cols is not NotImplemented
            same_vector(rows, wanted, any_value)
            same_vector(cols, wanted, any_value)


@pytest.mark.parametrize("nrows", [63, 127])
def test_the_last_word_lacks_one_row(nrows):
    """What lies behind the arrays of the matrix would be a row more."""
    rng = np.random.default_rng(4)
    op = semiring("plus_times", "FP64")
    A, x = matrix(rng, nrows, 90, 400, gb.dtypes.FP64), vector(rng, 90, 60, gb.dtypes.FP64, "bitmap")
    count = A.indices.size
    indptr, indices = np.append(A.indptr, count + 9), np.append(A.indices, np.arange(9, dtype=A.indices.dtype))
    behind = np.append(A.values, np.ones(9))
    inside = Compressed(nrows, 90, A.dtype, indptr[:-1], indices[:count], behind[:count], False)
    found, wanted = accelerate.matvec_rows(inside, x, op), numpy_matvec.matvec_rows(A, x, op)
    same_vector(found, wanted)
    assert found.nvals == wanted.nvals
    assert found.words is None or int(found.words[-1]) < 1 << 63


@pytest.mark.parametrize(
    "a_iso, x_iso, wide", [(True, False, False), (False, True, False), (True, True, False), (False, False, True)]
)
def test_iso_and_wide_indices(a_iso, x_iso, wide):
    rng = np.random.default_rng(4)
    op = gb.semiring.plus_times["FP64"]
    A = matrix(rng, 130, 70, 700, gb.dtypes.FP64, iso=a_iso, wide=wide)
    AT = transpose_of(A)
    for form in ("sparse", "bitmap", "full"):
        x = vector(rng, 70, 20, gb.dtypes.FP64, form, iso=x_iso)
        wanted = numpy_matvec.matvec_rows(A, x, op, None)
        same_vector(accelerate.matvec_rows(A, x, op), wanted)
        same_vector(accelerate.matvec_cols(AT, x, op), wanted)


def test_operands_are_cast_to_the_operators_types():
    rng = np.random.default_rng(5)
    A = matrix(rng, 40, 50, 300, gb.dtypes.FP64)
    A.values += 0.75
    x = vector(rng, 50, 20, gb.dtypes.INT8, "sparse")
    op = gb.semiring.plus_times["INT32"]
    wanted = numpy_matvec.matvec_rows(A, x, op, None)
    same_vector(accelerate.matvec_rows(A, x, op), wanted)
    same_vector(accelerate.matvec_cols(transpose_of(A), x, op), wanted)


def test_nan_is_left_out_by_min_and_kept_by_plus():
    rng = np.random.default_rng(6)
    A = matrix(rng, 60, 60, 500, gb.dtypes.FP64)
    A.values[::7] = np.nan
    x = vector(rng, 60, 25, gb.dtypes.FP64, "bitmap")
    for name in ("min_plus", "max_first", "plus_times"):
        op = getattr(gb.semiring, name)["FP64"]
        wanted = numpy_matvec.matvec_rows(A, x, op, None)
        same_vector(accelerate.matvec_rows(A, x, op), wanted)
        same_vector(accelerate.matvec_cols(transpose_of(A), x, op), wanted)


def test_shared_out_work(monkeypatch):
    """Several threads, each with chunks of its own, give the same."""
    monkeypatch.setattr(tuning, "PARALLEL_MATVEC", 1)
    monkeypatch.setattr(jit_threads, "_threads", 3)
    rng = np.random.default_rng(7)
    A = matrix(rng, 5000, 4000, 40000, gb.dtypes.INT64)
    AT = transpose_of(A)
    for name in ("min_plus", "any_pair", "plus_times"):
        op = getattr(gb.semiring, name)["INT64"]
        for form in ("sparse", "full"):
            x = vector(rng, 4000, 1500, gb.dtypes.INT64, form)
            for allow in masks(rng, 5000, gb.dtypes.INT64):
                wanted = numpy_matvec.matvec_rows(A, x, op, allow)
                same_vector(accelerate.matvec_rows(A, x, op, allow), wanted)
                same_vector(accelerate.matvec_cols(AT, x, op, allow), wanted)


def test_chunks_cover_the_rows_once():
    """Cuts ascend from 0 to the last word or row exactly; no chunk of much more work than its share and a line."""
    rng = np.random.default_rng(12)
    sizes, shares = (1, 63, 64, 65, 128, 130, 192, 1000, 4096), (1, 2, 7, 1000)
    for rows, wanted, kind in itertools.product(sizes, shares, ("none", "random", "one long")):
        work = rng.integers(0, 9, rows) * (kind == "random")
        work[rows // 2] += 999 * (kind == "one long")
        indptr = np.concatenate(([0], work.cumsum()))
        cuts = accelerate_matvec.even_words(indptr, rows, wanted)
        words = -(-rows // 64)
        assert cuts[0] == 0 and cuts[-1] == words and (np.diff(cuts) >= 0).all() and len(cuts) - 1 <= max(wanted, 1)
        of_word = np.add.reduceat(work + 1, np.arange(0, rows, 64))
        most = (work + 1).sum() / (len(cuts) - 1) + of_word.max()
        assert all(of_word[a:b].sum() <= most + of_word.max() for a, b in zip(cuts, cuts[1:], strict=False))
        cuts = row_chunks(work.cumsum(), max(int(work.sum()) // wanted, 1))
        assert cuts[0] == 0 and cuts[-1] == rows and (np.diff(cuts) > 0).all()


def test_accumulators_are_clean_after_use():
    rng = np.random.default_rng(8)
    AT = matrix(rng, 3000, 3000, 9000, gb.dtypes.FP64)
    op = gb.semiring.plus_times["FP64"]
    accelerate_matvec.drop_accumulators()
    for count in (500, 50, 5):
        accelerate.matvec_cols(AT, vector(rng, 3000, count, gb.dtypes.FP64, "sparse"), op)
    kept = [a for stack in accelerate_matvec._spare.values() for a in stack]
    assert kept
    for words, summary, _ in kept:
        assert not words.any()
        assert not summary.any()
    accelerate_matvec.drop_accumulators()
    assert not accelerate_matvec._spare


def test_accumulators_beyond_the_limit_are_dropped(monkeypatch):
    """Of other sizes first; one that is larger than the limit by itself is not kept."""
    rng = np.random.default_rng(8)
    op = gb.semiring.plus_times["FP64"]
    accelerate_matvec.drop_accumulators()
    monkeypatch.setattr(accelerate_matvec, "KEPT_BYTES", 9000)
    for n, sizes in ((700, [700]), (200, [200, 700]), (900, [900]), (3000, []), (200, [200])):
        AT = matrix(rng, n, n, 4 * n, gb.dtypes.FP64)
        x = vector(rng, n, 2, gb.dtypes.FP64, "sparse")
        same_vector(accelerate.matvec_cols(AT, x, op), numpy_matvec.matvec_rows(transpose_of(AT), x, op, None))
        assert sorted(size for (size, _), stack in accelerate_matvec._spare.items() if stack) == sizes
    accelerate_matvec.drop_accumulators()


@pytest.mark.parametrize("name", ["lor_land", "lxor_land"])
@pytest.mark.sampled(1)
def test_boolean_sums_over_bitmaps(name):
    """Without branches: rows of one to many times STRIDE entries, x absent at their ends, false entries, masks."""
    rng = np.random.default_rng(12)
    op = semiring(name, "BOOL")
    A = matrix(rng, 130, 90, 5000, gb.dtypes.BOOL)
    for form, count in (("bitmap", 3), ("bitmap", 60), ("sparse", 20)):
        x = vector(rng, 90, count, gb.dtypes.BOOL, form)
        for allow in masks(rng, 130, gb.dtypes.BOOL)[:5:2]:
            same_vector(accelerate.matvec_rows(A, x, op, allow), numpy_matvec.matvec_rows(A, x, op, allow))


def test_read_only_and_strided_operands():
    rng = np.random.default_rng(9)
    A = matrix(rng, 50, 50, 400, gb.dtypes.FP64)
    x = vector(rng, 50, 50, gb.dtypes.FP64, "full")
    op = gb.semiring.plus_times["FP64"]
    wanted = accelerate.matvec_rows(A, x, op)
    for array in (A.indptr, A.indices, A.values, x.values):
        array.flags.writeable = False
    same_vector(accelerate.matvec_rows(A, x, op), wanted)
    x.values = np.repeat(x.values, 2)[::2]
    same_vector(accelerate.matvec_rows(A, x, op), wanted)


@pytest.mark.parametrize("name, dtype", [
    ("min_second", "FP64"), ("max_second", "FP32"), ("min_second", "INT8"), ("max_plus", "INT64"), ("times_second",
    "INT32"),
    ("bor_second", "UINT8"), ("band_second", "UINT64"),
])  # fmt: skip
@pytest.mark.parametrize("form", ["full", "bitmap"])
def test_terminal_values_end_a_row_and_change_nothing(name, dtype, form):
    """Rows of 1 to 1000 entries, the terminal value at the first, some or no places."""
    rng = np.random.default_rng(6)
    op = semiring(name, dtype)
    kind = gb.dtypes.lookup_dtype(dtype)
    terminal = op.monoid.terminal
    assert terminal is not None
    lengths = np.array([1, 2, 127, 128, 129, 255, 256, 257, 600, 1000])
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    indices = np.concatenate([np.sort(rng.choice(1000, n, replace=False)) for n in lengths]).astype(np.int32)
    A = Compressed(lengths.size, 1000, kind, indptr, indices, values(rng, kind, indices.size))
    assert A.values.size == indptr[-1]
    for share in (0.0, 0.002, 0.5, 1.0):
        x = vector(rng, 1000, 900, kind, form)
        x.values[rng.random(1000) < share] = terminal
        same_vector(accelerate.matvec_rows(A, x, op), numpy_matvec.matvec_rows(A, x, op, None))
    kernels = [k for k in jit._kernels.values() if k.template == "matvec_rows" and k.recipe.constants.get("EXIT")]
    assert kernels


DENSE_SUMS = [("plus_times", "FP64"), ("plus_first", "INT8"), ("plus_second", "FP32"), ("plus_pair", "INT64"),
              ("plus_minus", "UINT64"), ("plus_min", "INT32")]  # fmt: skip


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name, dtype", DENSE_SUMS)
def test_columns_of_most_positions_are_summed_from_identities(name, dtype, threads, monkeypatch):
    """Bitmaps with half their positions or all, every kind of mask, empty rows, one thread and several."""
    monkeypatch.setattr(tuning, "PARALLEL_MATVEC", 1)
    monkeypatch.setattr(jit_threads, "_threads", threads)
    called = []
    original = dense_sums.sum_columns
    monkeypatch.setattr(accelerate_matvec, "sum_columns", lambda *given: called.append(1) or original(*given))
    rng, kind, op = np.random.default_rng(12), gb.dtypes.lookup_dtype(dtype), semiring(name, dtype)
    A = matrix(rng, 150, 90, 300, kind)
    A.values[:] = rng.integers(0, 100, A.values.shape[0])  # sums are exact in any order
    AT = transpose_of(A)
    for form, count in (("bitmap", 45), ("bitmap", 80), ("full", 90)):
        x = vector(rng, 90, count, kind, form)
        x.values[:] = rng.integers(0, 100, x.values.shape[0])
        for allow in masks(rng, 150, kind):
            same_vector(accelerate.matvec_cols(AT, x, op, allow), numpy_matvec.matvec_rows(A, x, op, allow))
    assert len(called) == 3 * len(masks(rng, 150, kind))
    few = vector(rng, 90, 44, kind, "bitmap")
    same_vector(accelerate.matvec_cols(AT, few, op), numpy_matvec.matvec_rows(A, few, op, None))
    assert len(called) == 3 * len(masks(rng, 150, kind))


@pytest.mark.parametrize("threads", [1, 2])
def test_dense_sums_keep_the_sign_of_zero_and_what_is_not_finite(threads, monkeypatch):
    monkeypatch.setattr(tuning, "PARALLEL_MATVEC", 1)
    monkeypatch.setattr(jit_threads, "_threads", threads)
    A = gb.Matrix.from_coo([0, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1], [-0.0, 0.0, -0.0, -0.0, np.inf, -np.inf], nrows=5)
    x = gb.Vector.from_dense([1.0, 1.0])
    found = accelerate.matvec_cols(transpose_of(A._store), x._store, gb.semiring.plus_times["FP64"])
    index, value = gb.Vector._from_store(found, gb.dtypes.FP64).to_coo()
    assert index.tolist() == [0, 1, 2, 3]
    assert np.signbit(value[:3]).tolist() == [True, False, True] and np.isnan(value[3])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_while_another_thread_takes_an_accumulator_takes_its_own():
    locked, release = threading.Event(), threading.Event()

    def hold():
        with accelerate_matvec._spare_lock:
            locked.set()
            release.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits for a thread that it does not have
        os._exit(0 if accelerate_matvec.take_accumulator(100, None)[0].shape == (2,) else 1)
    release.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
