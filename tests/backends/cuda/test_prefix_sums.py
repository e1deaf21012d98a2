"""Running sums and stream compaction of the CUDA backend, their kernels run as fibers, against NumPy."""

import numpy as np
import pytest

from cuda_emulation.backend import shim
from grb_tile.backends.cuda.structure import arrays, prefix_sums
from support import seeds


@pytest.fixture(scope="module")
def device():
    return shim().device


def sizes(device, of_thread=prefix_sums.OF_THREAD):
    """Items about the ends of a thread's share, of a tile, of all blocks' tiles, and of what the last block sums."""
    threads = device.launcher.threads(prefix_sums.THREADS)
    tile = threads * of_thread
    ends = (1, 16, 64, tile, 2 * tile, 4 * tile, 5 * tile, tile * threads * prefix_sums.OF_THREAD // 16)
    return sorted({n + by for n in ends for by in (-1, 0, 1)})


@pytest.mark.parametrize(
    ("dtype", "out"), [("bool", "int32"), ("bool", "int64"), ("int32", "int64"), ("int64", "int64")]
)
def test_running_sums(device, dtype, out):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, len(dtype)])
    for n in sizes(device):
        values = rng.integers(0, 2 if dtype == "bool" else 1 << 20, n).astype(dtype)
        want = np.cumsum(values, dtype=out)
        found = prefix_sums.running_sums(device, device.array(values), np.dtype(out))
        assert found.dtype == out
        assert device.host(found).tolist() == want.tolist(), f"{n} {dtype}, seed {seeds.SEED}"
        found, total = prefix_sums.running_sums(device, device.array(values), np.dtype(out), total=True)
        assert (device.host(found).tolist(), total) == (want.tolist(), int(want[-1]) if n else 0)


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
@pytest.mark.parametrize(("kind", "moved"), [("int32", "int8"), ("int64", "float64"), ("int32", "complex128")])
def test_flagged_entries(device, share, kind, moved):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, int(share * 100)])
    for n in sizes(device):
        flags = rng.random(n) < share
        indices, values = rng.integers(0, 1 << 30, n).astype(kind), rng.integers(0, 100, n).astype(moved)
        indptr = np.sort(np.concatenate(([0, n, n], rng.integers(0, n + 1, 9))))
        found = prefix_sums.Flagged(device, device.array(flags))
        assert (found.n, found.count) == (n, flags.sum())
        assert device.host(found.numbers(device)).tolist() == np.flatnonzero(flags).tolist()
        got = found.of(device.array(indices), device.array(values))
        assert [device.host(x).tolist() for x in got] == [indices[flags].tolist(), values[flags].tolist()]
        got = found.of(device.array(indices), None)
        assert (device.host(got[0]).tolist(), got[1]) == (indices[flags].tolist(), None)
        upto = np.concatenate(([0], np.cumsum(flags)))
        assert device.host(found.starts(device.array(indptr))).tolist() == upto[indptr].tolist(), f"{n} entries"


def test_flags_that_are_a_part_of_an_array(device):
    flags = np.random.default_rng(seeds.SEED & 0xFFFFFFFF).random(3000) < 0.5
    for first in (1, 5, 16):
        part = device.array(flags)[first:]
        found = prefix_sums.listed(device, part)
        assert device.host(found).tolist() == np.flatnonzero(flags[first:]).tolist()


def test_ranges(device):
    """As many entries as a warp searches for at once, one fewer and one more; ranges without entries among them."""
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    for total in (1, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 5000):
        ends = np.sort(np.concatenate(([total, total], rng.integers(0, total + 1, rng.choice([1, 40, 3000])))))
        starts = rng.integers(0, 1 << 40, ends.size)
        segment, at = arrays.ranges(device, device.array(starts), device.array(ends), total)
        lengths = np.diff(ends, prepend=0)
        want = np.repeat(np.arange(ends.size), lengths)
        assert device.host(segment).tolist() == want.tolist(), f"{total} entries, seed {seeds.SEED}"
        assert device.host(at).tolist() == (starts[want] + np.arange(total) - (ends - lengths)[want]).tolist()


def test_rows_with_entries(device):
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    for nrows in (0, 1, 1023, 1024, 1025, 5000):
        lengths = rng.integers(0, 2, nrows)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        found = prefix_sums.stored_lines(device, device.array(indptr))
        assert device.host(found).tolist() == np.flatnonzero(lengths).tolist()
        assert found.dtype == np.int64


def test_more_tiles_than_the_last_block_sums_at_once(device):
    threads = device.launcher.threads(prefix_sums.THREADS)
    bits = np.random.default_rng(seeds.SEED & 0xFFFFFFFF).random(threads * (threads * 16 + 4) * 64) < 0.01
    words = np.packbits(bits, bitorder="little").view(np.uint64)
    indices = device.empty(int(bits.sum()), np.dtype(np.int64))
    prefix_sums.words_to_list(device, device.array(words), device.array(np.zeros(1)), indices)
    assert device.host(indices).tolist() == np.flatnonzero(bits).tolist()


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_bits_of_words(device, kind):
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    for n in sizes(device, 1):
        bits = rng.random(n * 64) < rng.choice([0.02, 0.6])
        words = np.packbits(bits, bitorder="little").view(np.uint64)
        dense = rng.integers(0, 1000, n * 64)
        for values in (None, device.empty(int(bits.sum()), np.int64)):
            indices = device.empty(int(bits.sum()), np.dtype(kind))
            prefix_sums.words_to_list(device, device.array(words), device.array(dense), indices, values)
            assert device.host(indices).tolist() == np.flatnonzero(bits).tolist()
            assert values is None or device.host(values).tolist() == dense[bits].tolist()
