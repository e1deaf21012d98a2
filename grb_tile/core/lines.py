"""Entries line by line (rows, columns, or a whole vector): ranks and orders; and sizes of chunks.

Entries come as arrays (major, minor, values) sorted by line `major` and within a line by `minor`, on the host or on a
device; `xp` is their array module.  `major` is None where all are of one line.
"""

from functools import cmp_to_key

import numpy as np

from ..backends.select import current
from ..dtypes import BOOL
from ..exceptions import DomainMismatch
from ..hashing import hashes
from ..operators import get_typed_op
from ..storage.place import host_array
from . import kinds
from .arguments import expect_op, integral, whole_number

_HOWS = ("first", "last", "smallest", "largest", "random")


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
    if how not in _HOWS:
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
    seed = current().agreed(int(np.random.default_rng().integers(1 << 62))) if how == "random" else 0
    return current().first_of_rows(store, how, k, seed)


def entries_of(x, columnwise=False):
    """(xp, major, minor, values): the entries of a Vector, all of one line, or of a Matrix, line by line."""
    return entries_of_lines(lines_of(x, columnwise))


def entries_of_lines(store):
    """entries_of by the store of lines_of."""
    *major, minor, values = current().tuples(store)
    xp = _module_of(minor)
    return xp, major[0] if major else None, minor, values


def of_entries(places, values, dtype, shape, name):
    """The Vector or Matrix of entries at distinct positions of that shape, arrays of the backend in use or NumPy's."""
    made = (kinds.Vector if len(shape) == 1 else kinds.Matrix)(dtype, *shape, name=name)
    if values.shape[0]:
        build = current().build_vector if len(shape) == 1 else current().build_matrix
        made._store = build(*shape, *places, values, None, made.dtype)
        made._log(f"build_{made.dtype}", f"..., {values.shape[0]}")
    return made


def _module_of(array):
    """NumPy also beside a device, for user-defined types, which have no device form."""
    return np if type(array) is np.ndarray else current().xp


def _runs(major):
    """(first entry, number of entries) of each line that has some; NumPy."""
    starts = np.flatnonzero(np.concatenate([[True], major[1:] != major[:-1]])) if major.shape[0] else np.zeros(0, int)
    return starts, np.diff(starts, append=major.shape[0])


def ranks(xp, major, reverse=False):
    """The rank of each entry in its line; reverse: counted from the line's end."""
    at = xp.arange(major.shape[0])
    if xp is np:
        starts, lengths = _runs(major)
        return np.repeat(starts + lengths - 1, lengths) - at if reverse else at - np.repeat(starts, lengths)
    return xp.searchsorted(major, major, side="right") - 1 - at if reverse else at - xp.searchsorted(major, major)


def ordered(xp, major, values, how):
    """The order that puts each line's entries by `how`, lines ascending."""
    count = values.shape[0]
    if how == "random":
        seed = current().agreed(int(np.random.default_rng().integers(1 << 62)))
        return _by_line(major, hashes(xp, 0, count, seed, 0))
    if how == "last":
        return _backwards(xp, major, count)
    if how == "first":
        return xp.arange(count)
    order = _by_line(major, values)
    return order if how == "smallest" else order[_backwards(xp, major, count)]


def _by_line(major, keys):
    """The order by line, then key; equal keys as they come."""
    order = keys.argsort(kind="stable")
    return order if major is None else order[major[order].argsort(kind="stable")]


def _backwards(xp, major, count):
    """The order that reverses each line of `count` entries in all."""
    if major is None:
        return xp.arange(count - 1, -1, -1)
    return xp.searchsorted(major, major) + ranks(xp, major, reverse=True)


def sorted_by(parent, op, xp, major, minor, values):
    """The order in which `op` sorts each line; equal values by position."""
    op = get_typed_op(op, parent.dtype, kind="binary")
    if op.opclass == "Monoid":
        op = op.binaryop
    expect_op(parent, op, "BinaryOp", within="sort", argname="op")
    if op.return_type is not BOOL:
        raise DomainMismatch(f"sort needs a BinaryOp that returns BOOL; {op} returns {op.return_type}")
    if op.name in ("lt", "le") and not parent.dtype._is_udt:
        return _by_line(major, values)
    if op.name in ("gt", "ge") and not parent.dtype._is_udt:
        back = _backwards(xp, major, values.shape[0])  # backwards before and after: equal values stay in order
        return back[_by_line(major, values[back])][back]
    major = np.zeros(values.shape[0], np.int64) if major is None else host_array(major)
    return xp.asarray(_compared(op, major, host_array(minor), host_array(values)))


def _compared(op, major, minor, values):
    """The order of an operator of the user's, by one comparison after the other."""

    def compare(a, b):
        if major[a] != major[b]:
            return -1 if major[a] < major[b] else 1
        if op.numpy(values[a : a + 1], values[b : b + 1])[0]:
            return -1
        return 1 if op.numpy(values[b : b + 1], values[a : a + 1])[0] else int(minor[a]) - int(minor[b])

    return np.array(sorted(range(len(values)), key=cmp_to_key(compare)), np.int64)
