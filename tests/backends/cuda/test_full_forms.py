"""Products over slices, tiles and bitmap blocks whose chunks are exactly full (test_full_sizes.py has the table)."""

import numpy as np
import pytest
from backends import agree, samples
from backends.full_operands import around, of_lengths, rng_of, shuffled_lengths

from cuda_emulation.backend import shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import segments, tiles
from grb_tile.operators import get_typed_op
from grb_tile.planner import force, tuning, unrecorded
from grb_tile.storage import convert

NUMPY = select.named("numpy")


def semiring_of(name, type_="INT64"):
    return get_typed_op(name, getattr(dtypes, type_), kind="semiring")


def full(rng, size, dtype):
    return samples.random_vector(rng, (size, np.arange(size)), dtype, 1.0)


@pytest.mark.parametrize("kind", ["plain", "delta16", "relabelled"])
@pytest.mark.parametrize(
    "entries", [256, *(pytest.param(n, marks=pytest.mark.slow) for n in (*around(8), 255, 257, *around(512), 3072))]
)
def test_slices_of_segments(entries, kind, monkeypatch):
    """Entries that fill the lanes (8), the slices (256) and the shares of all warps; rows that end with them."""
    monkeypatch.setattr(segments, "BLOCKS", dict.fromkeys((1, 2, 4, 8, 16), (64, 1)))
    monkeypatch.setattr(tuning, "RELABELLED_ENTRIES", 0)
    monkeypatch.setattr(tuning, "DELTA16_SHARE", -1.0 if kind == "delta16" else 2.0)
    monkeypatch.setattr(tuning, "RELABELLED_SHARE", -1.0 if kind == "relabelled" else 2.0)
    semiring, rng = semiring_of("plus_times"), rng_of(entries, len(kind))
    for rows in (1, 3, entries):
        A = of_lengths(rng, np.bincount(rng.integers(0, rows, entries), minlength=rows), entries + 9, semiring.type)
        x = full(rng, A.ncols, semiring.type2)
        want = NUMPY.matvec_rows(A, x, semiring, None)
        for cached in (15, 16, 17, entries + 9):
            monkeypatch.setattr(segments, "CACHED_COLUMNS", cached)
            A.forms = None
            for _ in range(tuning.BUILD_AFTER + 2):
                agree.assert_same(shim().matvec_rows(A, x, semiring, None), want)


def blocks_of(rng, count, share, per_row=5):
    """A matrix of `count` 8 x 8 blocks, `per_row` to a row of them, with a share of their entries."""
    at = np.arange(count)
    row, col = at // per_row, at % per_row * 3
    there = rng.random((count, 8, 8)) < share
    there[:, 0, 0] = True
    b, i, j = there.nonzero()
    rows, cols = row[b] * 8 + i, col[b] * 8 + j
    order = np.lexsort((cols, rows))
    rows, cols = rows[order], cols[order]
    n, m = int(rows.max()) + 1, 8 * 3 * per_row
    return convert.compressed(n, m, dtypes.INT64, rows, cols, samples.values(rng, dtypes.INT64, rows.size))


@pytest.mark.parametrize("count", [*around(32), *around(64), *around(96)])
def test_chunks_of_bitmap_blocks(count):
    """Blocks that fill the chunks of 32; blocks of 1 and of all 64 entries; x of whole words and not."""
    semiring, rng = semiring_of("plus_times"), rng_of(count)
    for share, per_row in ((0.0, 5), (0.3, count), (1.0, 5), (1.0, 1)):
        A = blocks_of(rng, count, share, per_row)
        for x_share in (0.3, 1.0):
            x = samples.random_vector(rng, (A.ncols, np.arange(A.ncols)), semiring.type2, x_share)
            want = NUMPY.matvec_rows(A, x, semiring, None)
            agree.assert_same(shim().matvec_rows(A, x, semiring, None, unrecorded("bitblock")), want)


@pytest.mark.parametrize("nt", [16, 32, 64])
@pytest.mark.parametrize("count", [*around(32), *around(64)])
def test_chunks_of_tiles(count, nt):
    """Tiles that fill the chunks of 32 (TILES_OF_CHUNK), in one row of tiles and in many; full tiles and thin ones."""
    semiring, rng = semiring_of("plus_times"), rng_of(count, nt)
    assert tiles.TILES_OF_CHUNK == 32
    for per_row in (1, 7, count):
        at = np.arange(count)
        row, col = at // per_row, at % per_row
        rows = np.concatenate([row * nt + rng.integers(0, nt, count) for _ in range(20)])
        cols = np.concatenate([col * nt + rng.integers(0, nt, count) for _ in range(20)])
        n, m = int(row.max() + 1) * nt, per_row * nt
        keys = np.unique(rows * m + cols)
        A = convert.compressed(n, m, dtypes.INT64, keys // m, keys % m, samples.values(rng, dtypes.INT64, keys.size))
        for x_share in (0.1, 1.0):
            x = samples.random_vector(rng, (m, np.arange(m)), semiring.type2, x_share)
            agree.assert_same(_tiled(A, x, semiring, nt), NUMPY.matvec_rows(A, x, semiring, None))


def _tiled(A, x, semiring, nt):
    with force(f"nt{nt}"):
        return shim().matvec_rows(A, x, semiring, None, unrecorded("tiled"))


@pytest.mark.parametrize("rest", [*around(1024), *around(2048)])
def test_the_remainder_of_tiles(rest):
    """Entries outside tiles that fill the chunks of 1024 (REST_OF_CHUNK), rows of every length."""
    semiring, rng = semiring_of("plus_times"), rng_of(rest)
    assert tiles.REST_OF_CHUNK == 1024
    lengths = shuffled_lengths(rng, 130)
    lengths = lengths[np.cumsum(lengths) < rest]
    A = of_lengths(rng, [*lengths, rest - int(lengths.sum())], 3000, semiring.type)
    for x_share in (0.1, 1.0):
        x = samples.random_vector(rng, (3000, np.arange(3000)), semiring.type2, x_share)
        agree.assert_same(_tiled(A, x, semiring, 16), NUMPY.matvec_rows(A, x, semiring, None))
