"""transpose, kronecker, and operations that only move entries: diag, resize, shift, concat, split.

Spec: GraphBLAS C API 2.1, sections 4.3.11 (transpose) and 4.3.12 (kronecker); Matrix_diag 4.2.5.3, resize 4.2.5.4.
The functions below the records take stores and return stores.
"""

from ..backends.select import current
from ..exceptions import DimensionMismatch
from ..operators import get_typed_op
from ..storage.constructors import diagonal_of, empty_matrix, empty_vector, row_matrix, vector_of_column, vector_of_row
from ..storage.convert import choose_format, share
from ..storage.dense import MOST_POSITIONS
from ..storage.store import Dense
from . import checks
from .record import Record


class Transpose(Record):
    """C = A', or C = A when A is given transposed (a masked copy)."""

    __slots__ = ("A", "at")
    name = "transpose"
    c_name = "GrB_transpose"

    def __init__(self, A, at=False):
        self.A, self.at, self.op = A, at, None
        self.shape = checks.oriented(A.shape, not at)
        self.dtype = A.dtype

    def compute(self, mask=None):
        backend = current()
        store = self.A._store if self.at else backend.transpose(self.A._store)
        return store if mask is None else backend.restrict(store, mask)

    def operands(self):
        return ((self.A, self.at),)


class Copy(Record):
    """w = u: the vector (or matrix) itself, as an expression."""

    __slots__ = ("x",)
    name = "dup"
    c_name = "GrB_assign"

    def __init__(self, x):
        self.x, self.op = x, None
        self.shape, self.dtype = x.shape, x.dtype

    def compute(self, mask=None):
        store = self.x._store
        return store if mask is None else current().restrict(store, mask)

    def operands(self):
        return ((self.x, False),)


class Kronecker(Record):
    """C(i p + k, j q + l) = op(A(i, j), B(k, l)), B being p x q."""

    __slots__ = ("A", "B", "at", "bt", "used")
    name = "kronecker"
    c_name = "GrB_Matrix_kronecker_BinaryOp"

    def __init__(self, A, B, op, at=False, bt=False):
        left, right = checks.oriented(A.shape, at), checks.oriented(B.shape, bt)
        self.A, self.B, self.op, self.at, self.bt, self.used = A, B, op, at, bt, False
        self.shape = (left[0] * right[0], left[1] * right[1])
        checks.size_limit("kronecker", self.shape)
        self.dtype = op.return_type

    def compute(self, mask=None):
        backend = current()
        left = backend.transpose(self.A._store) if self.at else self.A._store
        right = backend.transpose(self.B._store) if self.bt else self.B._store
        return backend.kronecker(left, right, self.op, mask)

    def operands(self):
        return ((self.A, self.at), (self.B, self.bt))


def diagonal_matrix(u, k, dtype=None, shape=None):
    """The matrix with u on its k-th diagonal, square of size n + |k| unless it has a `shape`, where that fits."""
    backend = current()
    n = u.size + abs(k)
    if shape is None:
        checks.size_limit("diag", (n, n))
        shape = n, n
    u = backend.to_device(u)
    D = diagonal_of(u if dtype is None else backend.cast(u, dtype))
    I = None if k == 0 and D.rows is None else range(max(-k, 0), u.size + max(-k, 0))
    J = None if k == 0 else range(max(k, 0), u.size + max(k, 0))
    return backend.expand_matrix(D, I, J, *shape)


def diagonal(A, k, dtype=None):
    """The k-th diagonal of A as a vector; size 0 when it is outside A."""
    backend = current()
    size = min(A.nrows, A.ncols - k) if k >= 0 else min(A.nrows + k, A.ncols)
    if size <= 0:
        return empty_vector(0, dtype or A.dtype)
    if type(A) is Dense and A.flat.size <= MOST_POSITIONS:  # every (width + 1)-th position
        i, j = max(-k, 0), max(k, 0)
        start, width = (j * A.nrows + i, A.nrows) if A.by_columns else (i * A.ncols + j, A.ncols)
        d = backend.gather_vector(A.flat, range(start, start + (size - 1) * (width + 1) + 1, width + 1))
        return d if dtype is None else backend.cast(d, dtype)
    D = backend.select(A, get_typed_op("diag", A.dtype, kind="select"), k)
    lines = share(D, vector_of_column(D))
    first = max(-k, 0)
    d = backend.gather_vector(lines, range(first, first + size))
    return d if dtype is None else backend.cast(d, dtype)


def resize_vector(u, size):
    """u cut to, or extended without entries to, `size`."""
    return shift_vector(u, 0, size)


def resize_matrix(A, nrows, ncols):
    """A cut to, or extended without entries to, nrows x ncols."""
    return shift_matrix(A, 0, 0, nrows, ncols)


def shift_vector(u, offset, size):
    """t(i + offset) = u(i) where that is within `size`."""
    backend = current()
    I, places = _overlap(u.size, offset, size)
    t = backend.gather_vector(u, I)
    return t if t.size == size else backend.expand_vector(t, places, size)


def shift_matrix(A, row_offset, column_offset, nrows, ncols):
    """T(i + row_offset, j + column_offset) = A(i, j) where that is within nrows x ncols."""
    backend = current()
    (I, rows), (J, cols) = _overlap(A.nrows, row_offset, nrows), _overlap(A.ncols, column_offset, ncols)
    T = backend.gather_matrix(A, I, J)
    return T if T.shape == (nrows, ncols) else backend.expand_matrix(T, rows, cols, nrows, ncols)


def _overlap(size, offset, new_size):
    """(indices below `size` that `offset` moves to indices below new_size, or None for all; where they come)."""
    first, stop = max(0, -offset), min(size, new_size - offset)
    kept = range(first, max(first, stop))
    return None if len(kept) == size else kept, range(kept.start + offset, kept.stop + offset)


def concat_matrices(tiles, dtype):
    """One matrix of a grid (list of lists) of stores: heights agree along a row, widths down a column."""
    if not any(tiles):
        return empty_matrix(0, 0, dtype)
    heights = [row[0].nrows for row in tiles]
    widths = [A.ncols for A in tiles[0]]
    checks.size_limit("concat", (sum(heights), sum(widths)))
    for r, row in enumerate(tiles):
        if len(row) != len(widths):
            raise DimensionMismatch(f"concat: row {r} of tiles has {len(row)} tiles, row 0 has {len(widths)}")
        for c, A in enumerate(row):
            if A.shape != (heights[r], widths[c]):
                raise DimensionMismatch(
                    f"concat: tile ({r}, {c}) is {A.nrows} x {A.ncols}, but its row of tiles is {heights[r]} high "
                    f"and its column of tiles {widths[c]} wide"
                )
    return current().concat_matrices(tiles, dtype)


def concat_vectors(tiles, dtype):
    """The concatenation of vectors: of matrices of one row."""
    checks.size_limit("concat", (sum(u.size for u in tiles),))
    if not tiles:
        return empty_vector(0, dtype)
    rows = [Dense(1, u.size, u) if u.format == "bitmap" else row_matrix(u) for u in tiles]
    t = vector_of_row(current().concat_matrices([rows], dtype))
    return choose_format(t)


def split_matrix(A, heights, widths):
    """A grid (list of lists) of stores, the inverse of concat_matrices."""
    if sum(heights) != A.nrows or sum(widths) != A.ncols:
        raise DimensionMismatch(
            f"split: heights sum to {sum(heights)} and widths to {sum(widths)}, but the matrix is {A.nrows} x {A.ncols}"
        )
    return current().split_matrix(A, heights, widths)


def split_vector(u, sizes):
    """A list of stores, the inverse of concat_vectors."""
    if sum(sizes) != u.size:
        raise DimensionMismatch(f"split: sizes sum to {sum(sizes)}, but the vector has size {u.size}")
    out, start = [], 0
    for size in sizes:
        out.append(shift_vector(u, -start, size))
        start += size
    return out
