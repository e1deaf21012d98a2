"""Products and broadcasts of dense matrices in NumPy: blocks of the array, each of which stays in a core's cache.

    matvec    w[i] = (+)_k A[i,k] (x) x[k]      full A, monoid with a ufunc: a reduction of each block along k
                                                otherwise: the present products of a block of rows, reduced by segments
    matmul    C[i,j] = (+)_k A[i,k] (x) B[k,j]  both full: rank-one updates of a block of C, or a matvec for each column
    combine   C[i,j] = op(A[i,j], u[j])         both full, no copy of u is made

plus_times of FP32 and FP64 is NumPy's matmul (BLAS).  Blocks do not depend on the number of threads, and so neither
does a sum in floating point (a BLAS may differ there).
"""

import numpy as np

from ....dtypes import cast
from ....operators import ANY
from ....operators.iso_products import uses
from ....operators.to_numpy import ufunc_of
from ....planner import tuning
from ....storage import bits
from ....storage.constructors import full_vector
from ....storage.convert import choose_format, words_of
from ....storage.dense import in_two_dimensions, transposed
from ....storage.host_memory import check_memory
from ....storage.store import BitmapVector, Dense
from ...dense_products import is_blas
from ..jit import cache as jit
from .elementwise import restrict
from .entries import empty_vector, is_idempotent, vector_of
from .in_chunks import CHUNK, LEAST, releases_the_lock

HIGH = 1 << 13  # rows of a block of a column-major matrix: their totals stay in the first cache
SEGMENTS = 8  # of k, where blocks of rows are fewer: work for as many threads

_silently = np.errstate(all="ignore")


def matvec(A, x, semiring, mask=None, compiled=None):
    """w<mask> = A x for a dense A.  See backends/protocol.py.

    compiled(): w by a compiled kernel, or NotImplemented; called where that is faster.
    """
    multiply, monoid, size, dtype = semiring.binaryop, semiring.monoid, A.nrows, semiring.return_type
    if not _suits(semiring, A.dtype, x.dtype):
        return NotImplemented
    if x.nvals == 0 or size == 0:
        return empty_vector(size, dtype)
    terms = Terms(A, x, multiply)
    if terms.equal and A.flat.words is None:
        one = np.asarray(terms(slice(0, 1), slice(0, 1)))[0]
        w = full_vector(size, dtype, one[0] if is_idempotent(monoid) else monoid.reduce_equal(one, x.nvals))
        return w if mask is None else restrict(w, mask)
    if A.iso and A.flat.words is None and multiply.positional is None and size > 1:  # all rows are the first one
        row = Dense(1, A.ncols, BitmapVector(A.ncols, A.dtype, None, A.flat.values, A.ncols, True))
        w = full_vector(size, dtype, matvec(row, x, semiring).values[0])
        return w if mask is None else restrict(w, mask)
    check_memory(size * dtype.np_type.itemsize, f"mxv: a vector of {size} positions")
    if mask is not None:
        terms.rows = _listed(mask, size)
        if terms.rows is not None and not terms.rows.shape[0]:
            return empty_vector(size, dtype)
    plain = terms.rows is None and x.nvals == x.size
    by_blas = plain and A.flat.words is None and is_blas(semiring, A.flat, x)
    if compiled is not None and terms.rows is None and not by_blas and monoid.terminal is not ANY:
        w = compiled()
        if w is not NotImplemented:
            return w
    high = size if terms.rows is None else terms.rows.shape[0]
    present = None
    if by_blas:
        with np.errstate(all="ignore"):
            values = terms.values @ terms.x
    elif A.flat.words is None and monoid.terminal is ANY:
        values = terms(slice(0, high), slice(0, 1))[:, 0].copy()
    elif monoid.ufunc is not None and (A.flat.words is None or _neutral(monoid) is not None):
        present, values = _by_blocks(terms, monoid, high, A.by_columns)
    else:
        present, values = _by_segments(terms, monoid, high)
    if terms.rows is not None:
        kept = slice(None) if present is None else present
        return vector_of(size, dtype, terms.rows[kept], values[kept])
    count = size if present is None else int(np.count_nonzero(present))
    words = None if count == size else bits.from_bool(present)
    w = choose_format(BitmapVector(size, dtype, words, values, count))
    return w if mask is None else restrict(w, mask)


def matmul(A, B, semiring, compiled=None):
    """C = A B for full A and B, row-major.  See backends/protocol.py; compiled: as in `matvec`."""
    multiply, monoid, dtype = semiring.binaryop, semiring.monoid, semiring.return_type
    depth, shape = A.ncols, (A.nrows, B.ncols)
    size = shape[0] * shape[1]
    if multiply.positional or not _suits(semiring, A.dtype, B.dtype) or not (size and depth):
        return NotImplemented
    if monoid.ufunc is None and monoid.terminal is not ANY:
        return NotImplemented
    reads_a, reads_b = uses(multiply)
    if (A.iso or not reads_a) and (B.iso or not reads_b):
        first = Terms(A, BitmapVector(depth, B.dtype, None, B.flat.values[:1], depth, True), multiply)
        one = np.asarray(first(slice(0, 1), slice(0, 1)))[0]
        value = one[0] if is_idempotent(monoid) else monoid.reduce_equal(one, depth)
        return Dense(*shape, full_vector(size, dtype, value))
    check_memory(size * dtype.np_type.itemsize, f"mxm: a dense result of {shape[0]} x {shape[1]}")
    if is_blas(semiring, A.flat, B.flat):
        with np.errstate(all="ignore"):
            values = _values_of(A) @ _values_of(B)
    elif monoid.terminal is not ANY and compiled is not None and (C := compiled()) is not NotImplemented:
        return C
    elif monoid.terminal is ANY or depth * (size // CHUNK + 1) <= min(shape) * (max(shape) * depth // CHUNK + 1):
        values = _by_updates(A, B, multiply, monoid, 1 if monoid.terminal is ANY else depth)
    else:
        values = np.empty(shape, dtype.np_type)
        rows = shape[0] < shape[1]  # a product with a vector for each row of C, else for each column
        left, right, semiring = (transposed(B), transposed(A), semiring.flip()) if rows else (A, B, semiring)
        out, right = values if rows else values.T, _values_of(right)
        for j in range(out.shape[0]):
            column = right[:, 0 if right.shape[1] == 1 else j]
            x = BitmapVector(depth, (A if rows else B).dtype, None, column, depth, column.shape[0] == 1 < depth)
            out[j] = _by_blocks(Terms(left, x, semiring.binaryop), monoid, out.shape[1], left.by_columns)[1]
    return Dense(*shape, BitmapVector(size, dtype, None, np.ascontiguousarray(values).reshape(-1), size))


@_silently
def combine(A, u, op, axis):
    """op(A[i,j], u[j]) (axis 1) or op(u[i], A[i,j]) (axis 0), both full.  See backends/protocol.py."""
    flat = A.flat
    if op.positional or op.kind == "pair" or not getattr(op, "lowerable", True) or flat.iso or u.iso:
        return NotImplemented
    if A.dtype._is_udt or u.dtype._is_udt:
        return NotImplemented
    lines, width = (A.ncols, A.nrows) if A.by_columns else (A.nrows, A.ncols)
    values = flat.values.reshape(lines, width)
    types = (op.type, op.type2) if axis == 1 else (op.type2, op.type)
    others = cast(u.values, types[1])
    others = others if (axis == 1) != A.by_columns else others[:, None]
    np_type = op.return_type.np_type
    check_memory(flat.size * np_type.itemsize, f"a dense result of {A.nrows} x {A.ncols}")
    ufunc = ufunc_of(op.numpy) if values.dtype == types[0].np_type else None
    results = np.empty((lines, width), np_type)
    high = max(1, CHUNK // width)

    @_silently
    def job(chunk, worker):
        rows = slice(chunk * high, (chunk + 1) * high)
        part = values[rows], others if others.ndim == 1 else others[rows]
        part = part if axis == 1 else part[::-1]
        if ufunc is None:
            results[rows] = op.numpy(cast(part[0], op.type), cast(part[1], op.type2))
        else:
            ufunc(*part, out=results[rows])

    jit.share_out(job, -(-lines // high), jit.thread_count() if flat.size >= LEAST else 1)
    result = BitmapVector(flat.size, op.return_type, None, results.reshape(-1), flat.size)
    return Dense(A.nrows, A.ncols, result, A.by_columns)


def _suits(semiring, *types):
    """May blocks be computed by NumPy: no user's type, and no Python function, which absent values must not reach?"""
    multiply, add = semiring.binaryop, semiring.monoid.binaryop
    return (
        (multiply.positional is not None or getattr(multiply, "lowerable", True))
        and getattr(add, "lowerable", True)
        and not any(dtype._is_udt for dtype in (*types, semiring.return_type))
        and (semiring.monoid.ufunc is None or releases_the_lock(semiring.monoid.ufunc))
    )


def _values_of(A):
    """The array of A's values, nrows x ncols; 1 x 1 where it is iso."""
    return A.flat.values[:1].reshape(1, 1) if A.iso else in_two_dimensions(A, A.flat.values)


def _listed(mask, size):
    """The positions that a mask admits, where they are few; else None."""
    pattern, complement = mask.pattern, mask.complement
    count = size - pattern.nvals if complement else pattern.nvals
    if count * tuning.DENSE_MASK_ROWS > size:
        return None
    if not complement and pattern.format == "sparse":
        return pattern.indices
    words = words_of(pattern)
    if words is None:
        words = bits.full(size)
    return bits.to_indices(bits.complement(words, size) if complement else words, size)


class Terms:
    """op(A[i,k], x[k]) for blocks of a dense A.

    values    A's array, nrows x ncols in either order, or 1 x 1;  present: which positions have an entry, or None
    x         a value for each entry of x, or one;  columns: where x has entries, or None: everywhere
    rows      the rows that are wanted, or None: all
    equal     are all products of entries equal?
    """

    def __init__(self, A, x, op):
        flat, self.op, self.rows = A.flat, op, None
        reads_a, reads_x = uses(op)
        self.values, self.present, self.columns = _values_of(A), None, None
        if flat.words is not None:
            flags = bits.to_bool(flat.words, flat.size)
            self.present = in_two_dimensions(A, flags)
        self.x, self.count = x.values, x.nvals
        if x.nvals < x.size:
            sparse = x.format == "sparse"
            self.columns = x.indices if sparse else bits.to_indices(x.words, x.size)
            if not sparse and not x.iso:
                self.x = x.values[self.columns]
        self.x_iso = x.iso
        self.equal = op.positional is None and (A.iso or not reads_a) and (x.iso or not reads_x)

    def _block(self, array, rows, columns):
        """array[rows, columns] of the wanted rows and of the columns where x has entries."""
        array = array[rows] if self.rows is None else array[self.rows[rows]]
        return array[:, columns] if self.columns is None else array[:, self.columns[columns]]

    def flags(self, rows, columns):
        """Which products of a block are of entries: an array of bool, or None for all."""
        return None if self.present is None else self._block(self.present, rows, columns)

    @_silently
    def __call__(self, rows, columns):
        """The products of a block (two slices), as an array of its shape: where A has no entry they are arbitrary."""
        op, shape = self.op, (rows.stop - rows.start, columns.stop - columns.start)
        a = self.values if self.values.shape == (1, 1) else None
        if op.positional is not None:
            return np.broadcast_to(self._positions(rows, columns), shape)
        if op.kind == "pair":
            return np.broadcast_to(np.ones(1, op.return_type.np_type), shape)
        if op.kind in ("second", "any"):
            x = self.x if self.x_iso else self.x[columns]
            return np.broadcast_to(cast(cast(x, op.type2), op.return_type), shape)
        if a is None:
            a = self._block(self.values, rows, columns)
        if op.kind == "first":
            return np.broadcast_to(cast(cast(a, op.type), op.return_type), shape)
        x = self.x[:1] if self.x_iso else self.x[columns]
        return np.broadcast_to(op.numpy(cast(a, op.type), cast(x, op.type2)), shape)

    def _positions(self, rows, columns):
        """What a positional multiply gives, as a column or a row of a block."""
        name, dtype = self.op.positional, self.op.return_type
        kind = name.rstrip("1")
        if kind == "firsti":
            found = np.arange(rows.start, rows.stop) if self.rows is None else self.rows[rows].astype(np.int64)
            found = found[:, None]
        elif kind == "secondj":
            found = np.zeros(1, np.int64)
        else:
            found = np.arange(columns.start, columns.stop) if self.columns is None else self.columns[columns]
        return cast(found.astype(np.int64) + (name[-1] == "1"), dtype)


def _ranges(size, step):
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


def _neutral(monoid):
    """The value e with e (+) x = x bit by bit for every x, NaN and -0.0 too; None where there is none, or no ufunc."""
    ufunc, np_type = monoid.ufunc, monoid.type.np_type
    if ufunc is np.add:
        return np_type.type(-0.0 if np_type.kind == "f" else complex(-0.0, -0.0) if np_type.kind == "c" else 0)
    if ufunc in (np.fmin, np.fmax):
        return np_type.type(np.nan)
    if np_type.kind in "biu" and ufunc is not np.gcd or ufunc is np.multiply and np_type.kind == "f":
        return monoid.identity
    return None


def _chosen(flags, values, other):
    """np.where(flags, values, other) by bits: a branch for each value takes four times as long."""
    size = values.dtype.itemsize
    if size > 8:
        return np.where(flags, values, other)
    integer = np.dtype(f"i{size}")
    kept = flags.view(np.int8).astype(integer)
    np.negative(kept, out=kept)  # all bits where there is an entry
    base = other.view(integer)
    result = np.bitwise_xor(values.view(integer), base)
    result &= kept
    result ^= base
    return result.view(values.dtype)


def _by_blocks(terms, monoid, high, by_columns):
    """(which rows have a product, their sums) by the monoid's ufunc along each block's second axis.

    Where A has no entry the product is the monoid's neutral value.
    """
    ufunc, np_type, count = monoid.ufunc, monoid.type.np_type, terms.count
    if by_columns:
        tall = min(high, HIGH)
        wide = max(1, CHUNK // tall)
    else:
        wide = min(count, CHUNK)
        tall = max(1, CHUNK // wide)
    rows, columns = _ranges(high, tall), _ranges(count, wide)
    segments = 1 if len(rows) >= SEGMENTS else min(SEGMENTS, len(columns))
    cuts = [len(columns) * s // segments for s in range(segments + 1)]
    totals = np.empty((segments, high), np_type)
    present = None if terms.present is None else np.zeros((segments, high), np.bool_)
    neutral = _neutral(monoid)
    start = {"dtype": np_type} if neutral is None else {"dtype": np_type, "initial": neutral}

    @_silently
    def job(number, worker):
        segment, block = divmod(number, len(rows))
        total = None
        for part in columns[cuts[segment] : cuts[segment + 1]]:
            products = terms(rows[block], part)
            if present is not None:
                flags = terms.flags(rows[block], part)
                present[segment, rows[block]] |= flags.any(axis=1)
                products = _chosen(flags, products, neutral)
            # where no neutral value is known a reduction begins with the identity, which a sum of one product does not
            one = products[:, 0] if products.shape[1] == 1 else ufunc.reduce(products, axis=1, **start)
            total = one if total is None else ufunc(total, one)
        totals[segment, rows[block]] = total

    _share_out(job, len(rows) * segments, high * count)
    with np.errstate(all="ignore"):
        values = totals[0] if segments == 1 else ufunc.reduce(totals, axis=0, **start)
    return None if present is None else present.any(axis=0), values


def _by_segments(terms, monoid, high):
    """(which rows have a product, their sums) by the monoid's reduction of segments."""
    count = terms.count
    present, values = np.empty(high, np.bool_), np.empty(high, monoid.type.np_type)
    rows, columns = _ranges(high, max(1, CHUNK // count)), slice(0, count)

    def job(block, worker):
        part = rows[block]
        products, flags = terms(part, columns), terms.flags(part, columns)
        if flags is None:
            lengths, products = np.full(products.shape[0], count), products.reshape(-1)
        else:
            lengths, products = np.count_nonzero(flags, axis=1), products[flags]
        met = lengths > 0
        starts = np.cumsum(lengths) - lengths
        present[part] = met
        values[part][met] = monoid.reduceat(products, starts[met])

    _share_out(job, len(rows), high * count)
    return present, values


def _by_updates(A, B, multiply, monoid, depth):
    """C = A[:,0] B[0,:] (+) A[:,1] B[1,:] (+) ..., a block of rows at a time."""
    nrows, ncols, ufunc = A.nrows, B.ncols, monoid.ufunc
    values = np.empty((nrows, ncols), monoid.type.np_type)
    rows = _ranges(nrows, max(1, CHUNK // ncols))
    a, b, kind = cast(_values_of(A), multiply.type), cast(_values_of(B), multiply.type2), multiply.kind

    @_silently
    def job(block, worker):
        part = rows[block]
        out = values[part]
        for k in range(depth):
            x = a[0] if a.shape == (1, 1) else a[part, k, None]
            y = b[0] if b.shape == (1, 1) else b[k]
            if kind == "pair":
                products = np.ones(1, multiply.return_type.np_type)
            elif kind in ("first", "second", "any"):
                products = cast(x if kind == "first" else y, multiply.return_type)
            else:
                products = multiply.numpy(x, y)
            if k == 0:
                out[...] = products
            else:
                ufunc(out, products, out=out)

    _share_out(job, len(rows), nrows * ncols * depth)
    return values


def _share_out(job, chunks, work):
    jit.share_out(job, chunks, jit.thread_count() if work >= LEAST else 1)
