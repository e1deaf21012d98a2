"""Which symmetry of Matrix Market a matrix has, so that one triangle determines the other bit for bit.

Reference: NISTIR 5935, section 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

KINDS = ("general", "symmetric", "skew-symmetric", "hermitian")


def symmetry_of(matrix: Matrix, pattern: bool = False) -> tuple[str, ...]:
    """The symmetries that `matrix` has, "general" last; if `pattern`, those of its structure.

    symmetric       A(j, i) = A(i, j), zeros with the same sign
    skew-symmetric  A(j, i) = -A(i, j), both representable in the type; no entry on the diagonal
    hermitian       A(j, i) = conj(A(i, j)); the diagonal is real

    >>> import grb_tile as gb
    >>> symmetry_of(gb.Matrix.from_coo([0, 1], [1, 0], [5, -5]))
    ('skew-symmetric', 'general')
    """
    if matrix.nrows != matrix.ncols or not matrix.nvals:
        return ("general",)
    rows, cols, values = matrix.to_coo()
    if 2 * np.count_nonzero(rows < cols) + np.count_nonzero(rows == cols) != rows.shape[0]:
        return ("general",)
    mirrored_rows, mirrored_cols, mirrored = matrix.T.new().to_coo()
    if not (np.array_equal(rows, mirrored_rows) and np.array_equal(cols, mirrored_cols)):
        return ("general",)
    if pattern:
        return ("symmetric", "general")
    found = ["symmetric"] if equal_bits(values, mirrored).all() else []
    off = rows != cols
    if off.all() and _has_negative(values) and equal_bits(values, -mirrored).all():
        found.append("skew-symmetric")
    if values.dtype.kind == "c":
        same = equal_bits(values, mirrored.conj())
        if same[off].all() and not values[~off].imag.any():
            found.append("hermitian")
    return (*found, "general")


def equal_bits(x: Any, y: Any) -> Any:
    """Elementwise: are x and y the same value?  NaN equals NaN, 0.0 differs from -0.0."""
    if x.dtype.kind == "c":
        return equal_bits(x.real, y.real) & equal_bits(x.imag, y.imag)
    if x.dtype.kind == "f":
        return (x == y) & (np.signbit(x) == np.signbit(y)) | np.isnan(x) & np.isnan(y)
    return x == y


def _has_negative(values):
    """Is the negative of each value representable in its type?  That of the INT8 value -128 is not."""
    kind = values.dtype.kind
    return kind in "fc" or kind == "i" and bool((values != np.iinfo(values.dtype).min).all())
