"""Lines (rows, columns, or a whole vector) whose entries are put in another order; and sizes of chunks."""

from functools import cmp_to_key, partial

import numpy as np

from ..backends.select import current
from ..dtypes import BOOL
from ..exceptions import DomainMismatch
from ..operators import get_typed_op
from .arguments import dimension, expect_op, integral, whole_number

_REVERSED = {"first": "last", "last": "first", "smallest": "largest", "largest": "smallest", "random": "random"}
_ORDERS = {"lt": "smallest", "le": "smallest", "gt": "descending", "ge": "descending"}  # of Backend.ranked_rows


def normalize_chunks(chunks, shape):
    """Sizes of the chunks along each dimension.

    >>> normalize_chunks(10, (10, 25))
    [[10], [10, 10, 5]]
    >>> normalize_chunks([None, (5, None)], (10, 20))
    [[10], [5, 15]]
    """
    if not isinstance(chunks, (list, tuple)):
        if (size := integral(chunks)) is not None:
            chunks = (size,) * len(shape)
        elif isinstance(chunks, np.ndarray):
            chunks = chunks.tolist()
        else:
            raise TypeError(f"chunks argument must be a list, tuple, or numpy array; got: {type(chunks)}")
    if len(chunks) != len(shape):
        kind = "Vector" if len(shape) == 1 else "Matrix"
        raise ValueError(f"chunks argument must be of length {len(shape)} (one for each dimension of a {kind})")
    return [axis_chunks(size, chunk) for size, chunk in zip(shape, chunks, strict=True)]


def axis_chunks(size, chunk):
    """Sizes of the chunks of a dimension: of one size, as listed (None for the rest), or all of it."""
    if chunk is None:
        return [size]
    if (step := integral(chunk)) is not None:
        if step < 0 or step == 0 and size:
            raise ValueError(f"Chunksize must be greater than 0; got: {step}")
        whole, rest = divmod(size, step) if step else (0, 0)
        return [step] * whole + ([rest] if rest else [])
    if isinstance(chunk, np.ndarray):
        if not np.issubdtype(chunk.dtype, np.integer):
            raise TypeError(f"numpy array for chunks must be integer dtype; got {chunk.dtype}")
        if chunk.ndim != 1:
            raise TypeError(f"numpy array for chunks must be 1-dimension; got ndim={chunk.ndim}")
        if (chunk < 0).any():
            raise ValueError(f"Chunksize must be greater than 0; got: {chunk[chunk < 0]}")
        return chunk.tolist()
    if not isinstance(chunk, (list, tuple)):
        raise TypeError(
            f"Chunks for a dimension must be an integer, a list or tuple of integers, or None.  Got: {type(chunk)}"
        )
    sizes, rest = [], None
    for c in chunk:
        if c is None:
            if rest is not None:
                raise TypeError('None value in chunks for "the rest" can only appear once per dimension')
            rest, value = len(sizes), 0
        elif (value := integral(c)) is None:
            raise TypeError(f"Bad type for element in chunks; expected int or None, but got: {type(c)}")
        elif value < 0:
            raise ValueError(f"Chunksize must be greater than 0; got: {value}")
        sizes.append(value)
    if rest is not None:
        fill = size - sum(sizes)
        if fill < 0:
            raise ValueError(
                "Chunks are too large; None value in chunks would need to be negative to match size of input"
            )
        sizes[rest] = fill
    return sizes


def check_how(how):
    """`how` in lower case.  Raises: ValueError unless it is one of first, last, smallest, largest, random."""
    how = how.lower()
    if how not in _REVERSED:
        raise ValueError('`how` argument must be one of: "first", "last", "smallest", "largest", "random"')
    return how


def check_count(k, name="k"):
    """`k` as a number of entries.  Raises: TypeError, ValueError."""
    count = whole_number(k, name)
    if count < 0:
        raise ValueError(f"{name}={k!r}: negative {name} is not allowed; give a number of entries, 0 or more")
    return count


def lines_of(x, columnwise=False):
    """The store of a Vector, all of one line, or of a Matrix whose rows are the lines."""
    return current().transpose(x._store) if columnwise else x._store


def first_of_lines(store, how, k):
    """The store of the k entries of each line that come first in the order `how`."""
    return current().first_of_rows(store, how, k, _seed(how))


def _seed(how):
    return current().agreed(int(np.random.default_rng().integers(1 << 62))) if how == "random" else 0


def ranked_lines(x, how, k, reverse, columnwise, asindex):
    """The store of the first k (None: of all) entries of each line in the order `how`, moved to the line's beginning.

    reverse: the last of them first.  asindex: the positions of the values in their place.
    """
    store, backend = lines_of(x, columnwise), current()
    if k is not None:
        store = first_of_lines(store, how, dimension(k, "size" if x.ndim == 1 else "nrows" if columnwise else "ncols"))
    order = _REVERSED[how] if reverse else how
    C, P = backend.ranked_rows(store, order, k, not asindex, asindex, _seed(how))
    found = P if asindex else C
    return backend.transpose(found) if columnwise else found


def sorted_lines(x, op, columnwise, values, positions):
    """(C, P), stores or None: the values of each line in the order of `op`, equal ones by position; where they were.

    Raises: TypeError, DomainMismatch unless op is a BinaryOp that returns BOOL.
    """
    op = get_typed_op(op, x.dtype, kind="binary")
    if op.opclass == "Monoid":
        op = op.binaryop
    expect_op(x, op, "BinaryOp", within="sort", argname="op")
    if op.return_type is not BOOL:
        raise DomainMismatch(f"sort needs a BinaryOp that returns BOOL; {op} returns {op.return_type}")
    store, backend = lines_of(x, columnwise), current()
    order = None if x.dtype._is_udt else _ORDERS.get(op.name)
    found = backend.ranked_rows(store, order or partial(_compared, op), store.shape[-1], values, positions)
    return [backend.transpose(part) if columnwise and part is not None else part for part in found]


def _compared(op, major, minor, values):
    """The order of an operator of the user's, line by line, by one comparison after the other."""
    major = np.zeros(values.shape[0], np.int64) if major is None else major

    def compare(a, b):
        if major[a] != major[b]:
            return -1 if major[a] < major[b] else 1
        if op.numpy(values[a : a + 1], values[b : b + 1])[0]:
            return -1
        return 1 if op.numpy(values[b : b + 1], values[a : a + 1])[0] else int(minor[a]) - int(minor[b])

    return np.array(sorted(range(len(values)), key=cmp_to_key(compare)), np.int64)
