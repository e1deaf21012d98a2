"""Operands of masked products whose rows have every table (kernels/products/masked_table.cuh)."""

import numpy as np

from grb_tile import dtypes
from grb_tile.storage import convert

from . import samples

INNER, COLS = 20_000, 90


def of_rows(rng, ncols, dtype, lengths, bands):
    """A matrix whose row r has lengths[r] entries in a band of columns."""
    rows, cols = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for r, length in enumerate(lengths):
        width = max(length, bands[r % len(bands)])
        cols.append(np.sort(rng.choice(width, length, replace=False)) + int(rng.integers(0, ncols - width + 1)))
        rows.append(np.full(length, r))
    rows, cols = np.concatenate(rows), np.concatenate(cols)
    return convert.compressed(len(lengths), ncols, dtype, rows, cols, samples.values(rng, dtype, rows.size))


def operands(rng, semiring):
    """A, B' and a mask with rows of every table: none (too long, or hardly looked up), a bitmap, a hash table."""
    lengths = np.array([0, 1, 3, 9, 20, 60, 300, 700, 900, 500, 12, 0, 5, 600])
    A = of_rows(rng, INNER, semiring.type, lengths, (1, 50, 400, INNER, 3000, 700))
    BT = of_rows(rng, INNER, semiring.type2, rng.choice([0, 1, 4, 30, 200, 900], COLS), (30, 700, INNER))
    pattern = of_rows(rng, COLS, dtypes.BOOL, rng.integers(0, COLS, lengths.size), (COLS,))
    return A, BT, pattern


def pushed_operands(rng, semiring):
    """A, B and a mask with rows of every table of a push: a bitmap, a hash table, none (too long)."""
    A = of_rows(rng, 60, semiring.type, [0, 1, 4, 20, 60, 45, 9, 30, 0, 2], (60,))
    B = of_rows(rng, 3000, semiring.type2, rng.choice([0, 1, 5, 70, 200], 60), (40, 300, 3000))
    pattern = of_rows(rng, 3000, dtypes.BOOL, [50, 9, 400, 12, 300, 7, 0, 20, 30, 1], (3000, 400, 20, 3000, 1500))
    return A, B, pattern
