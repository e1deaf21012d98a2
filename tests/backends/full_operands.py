"""Operands that just fit, or just do not, into what kernels have of fixed size: rows, queues, chunks, words."""

import numpy as np
import pytest
from backends import samples

from grb_tile.storage import convert
from support import seeds

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
LENGTHS = sorted({size + by for size in SIZES for by in (-1, 0, 1)})


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def around(size):
    """One less, equal, one more."""
    return size - 1, size, size + 1


def quick(first, *others):
    """Cases of a test: the first one always runs, the others in the slow run."""
    return [first, *(pytest.param(one, marks=pytest.mark.slow) for one in others)]


def of_lengths(rng, lengths, ncols, dtype):
    """A matrix whose row r has lengths[r] entries.

    Rows begin with column 0 and end with the last one in turn: the entry behind a row's end is often the sought one.
    """
    columns = []
    for r, length in enumerate(lengths):
        found = np.sort(rng.choice(ncols, length, replace=False))
        if length and r % 3 != 2:
            found[0 if r % 3 else -1] = 0 if r % 3 else ncols - 1
            found = np.unique(found)
            while found.size < length:
                found = np.union1d(found, rng.integers(0, ncols, 1))
        columns.append(found)
    rows = np.arange(len(lengths)).repeat(lengths)
    values = samples.values(rng, dtype, rows.size)
    return convert.compressed(len(lengths), ncols, dtype, rows, np.concatenate(columns), values)


def shuffled_lengths(rng, most=1025, more=()):
    """Each length of LENGTHS up to `most`, and `more`, in any order."""
    return rng.permutation([*(length for length in LENGTHS if length <= most), *more])
