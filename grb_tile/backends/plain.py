"""Plain forms of primitives, made of other primitives, which a backend uses until it has its own."""

import numpy as np


def use_plain_rows(plan):
    """Record in the plan that its format has no method for this product; a plan given as a name keeps no record."""
    if type(plan) is not str:
        plan.use_plain_rows()


def concat_matrices(backend, tiles, dtype):
    """The tuples of all tiles, moved to where their tile is, and built: a sort of all entries."""
    heights, widths = [row[0].nrows for row in tiles], [A.ncols for A in tiles[0]]
    parts = []
    for r, row in enumerate(tiles):
        for c, A in enumerate(row):
            i, j, v = backend.tuples_matrix(backend.cast(A, dtype))
            parts.append((i + sum(heights[:r]), j + sum(widths[:c]), v))
    i, j, v = (np.concatenate(part) for part in zip(*parts, strict=True))
    return backend.build_matrix(sum(heights), sum(widths), i, j, v, None, dtype)
