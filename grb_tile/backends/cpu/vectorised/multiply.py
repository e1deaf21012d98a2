"""The multiply operator over pairs of entries of two matrices, in NumPy."""

import numpy as np

from ....dtypes import cast


def products(op, A, at_a, B, at_b, i, k, j):
    """A.values[at_a] (x) B.values[at_b]; i, k, j: functions that return positions.  One value when all are equal."""
    positional, kind = op.positional, op.kind
    if positional is not None:
        base = positional.rstrip("1")
        position = i() if base == "firsti" else j() if base == "secondj" else k()
        return cast(position.astype(np.int64) + (positional[-1] == "1"), op.return_type)
    if kind == "pair":
        return np.ones(1, op.return_type.np_type)
    if kind != "second" and kind != "any":
        a = cast(A.values[:1] if A.iso else A.values[at_a()], op.type)
        if kind == "first":
            return cast(a, op.return_type)
    b = cast(B.values[:1] if B.iso else B.values[at_b], op.type2)
    if kind == "second" or kind == "any":
        return cast(b, op.return_type)
    return op.numpy(a, b)
