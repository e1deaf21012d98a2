"""Operands made from a seed: every kind of structure that has its own road somewhere, values on which sums are
exact."""

import numpy as np

from support.plain import NUMPY_TYPES, Plain

HUGE = 2**60
DIMENSIONS = {
    "square": (6, 6, 6),
    "rectangular": (4, 7, 5),
    "row": (1, 6, 5),
    "column": (6, 1, 4),
    "single": (1, 1, 1),
    "words": (3, 70, 130),
    "huge": (HUGE, HUGE, HUGE),
}
KINDS = ("general", "empty", "full", "iso", "heavy", "holes")
# (dimensions, kind): short enough to run each write option on each of them
SCENES = (
    ("square", "general"),
    ("rectangular", "general"),
    ("row", "full"),
    ("column", "iso"),
    ("single", "full"),
    ("rectangular", "empty"),
    ("square", "heavy"),
    ("rectangular", "holes"),
    ("words", "general"),
)
HUGE_SCENE = ("huge", "general")


def values(rng, dtype, count):
    """Integer-valued, zeros among them, small: sums and products are exact in every type but wrap in the narrow
    ones."""
    kind = NUMPY_TYPES[dtype]
    if dtype == "BOOL":
        return rng.integers(0, 2, count).astype(kind)
    if dtype.startswith("UINT"):
        return rng.integers(0, 7, count).astype(kind)
    real = rng.integers(-3, 4, count)
    if dtype.startswith("FC"):
        return (real + 1j * rng.integers(-2, 3, count)).astype(kind)
    return real.astype(kind)


def present(rng, shape, kind):
    """Boolean array: where entries are."""
    if kind == "empty":
        return np.zeros(shape, bool)
    if kind == "full":
        return np.ones(shape, bool)
    here = rng.random(shape) < 0.45
    if kind == "heavy":
        here &= rng.random(shape) < 0.3
        here[shape[0] // 2] = True
    if kind == "holes":
        here[::2] = False
        if len(shape) == 2:
            here[:, ::3] = False
    return here


def places(rng, shape, kind):
    """Sorted index arrays of the entries; a huge dimension gets a few places, both ends among them."""
    if max(shape, default=0) < 2**20:
        return tuple(index.astype(np.int64) for index in np.nonzero(present(rng, shape, kind)))
    some = np.array([0, 1, 2, 3, 2**31, 2**40 + 5, HUGE - 1])
    grid = set()
    while len(grid) < 9:
        grid.add(tuple(int(some[rng.integers(len(some))]) if n >= HUGE else int(rng.integers(n)) for n in shape))
        if len(shape) == 1 and len(grid) >= 5:
            break
    return tuple(np.array(index, np.int64) for index in zip(*sorted(grid), strict=True))


def make(rng, shape, dtype="INT64", kind="general"):
    """A vector (n,) or a matrix (m, n) as Plain."""
    indices = places(rng, shape, kind)
    count = len(indices[0])
    if kind == "iso":
        return Plain(shape, dtype, indices, np.repeat(values(rng, dtype, 1), count), iso=count > 0)
    return Plain(shape, dtype, indices, values(rng, dtype, count))


def scalar(value, dtype="INT64"):
    return Plain((), dtype, (), np.array([] if value is None else [value], NUMPY_TYPES[dtype]))


def mask_for(rng, shape, kind="general"):
    """A mask with true and false entries; now and then of another type than BOOL (the seed decides)."""
    dtype = ("BOOL", "BOOL", "INT8", "FP64")[rng.integers(4)]
    return make(rng, shape, dtype, kind if kind in ("general", "full", "empty") else "general")
