"""Entries line by line (rows, columns, or a whole vector): ranks and orders; and sizes of chunks.

Entries come as arrays (major, minor, values) sorted by line `major` and within a line by `minor`, on the host or on a
device; `xp` is their array module.
"""

from functools import cmp_to_key

import numpy as np

from ..backends.select import current
from ..dtypes import BOOL
from ..exceptions import DomainMismatch
from ..hashing import hashes
from ..operators import get_typed_op
from ..storage.place import host_array
from .arguments import expect_op, integral

PARTITIONED = 1 << 22  # values, at once
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


def entries_of(x, columnwise=None):
    """(xp, major, minor, values): the entries of a Vector, all of one line, or of a Matrix, line by line."""
    if x.ndim == 1:
        minor, values = current().tuples(x._store)
        xp = _module_of(minor)
        return xp, xp.zeros(minor.shape[0], np.int64), minor, values
    store = current().transpose(x._store) if columnwise else x._store
    major, minor, values = current().tuples(store)
    return _module_of(minor), major, minor, values


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
    order = xp.arange(major.shape[0])
    if how == "random":
        seed = current().agreed(int(np.random.default_rng().integers(1 << 62)))
        order = _by_line(major, hashes(xp, 0, major.shape[0], seed, 0))
    elif how in ("smallest", "largest"):
        order = _by_line(major, values)
    return order if how in ("first", "smallest", "random") else order[_backwards(xp, major)]


def first_ordered(xp, major, values, how, k):
    """(the order that puts the first k entries of each line by `how`, lines ascending; their ranks)"""
    some = None
    if xp is np and how in ("smallest", "largest") and values.dtype.kind in "iuf":
        some = _candidates(major, values, how == "largest", k)
        major, values = major[some], values[some]
    rank = ranks(xp, major)
    order, rank = ordered(xp, major, values, how)[rank < k], rank[rank < k]
    return order if some is None else some[order], rank


def _candidates(major, values, largest, k):
    """Ascending: entries that may be among the k smallest (largest) of their lines, NaN being the greatest.

    All that are not behind the k-th: lines of about the same length are partitioned together, as rows of an array.
    """
    starts, lengths = _runs(major)
    keep = np.ones(values.shape[0], bool)
    long = np.flatnonzero(lengths > k)
    classes = np.frexp(lengths[long].astype(float))[1]
    least = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min
    greatest = np.nan if values.dtype.kind == "f" else np.iinfo(values.dtype).max
    for each in np.unique(classes) if k else ():
        lines = long[classes == each]
        width = int(lengths[lines].max())
        together = max(1, PARTITIONED // width)
        for begin in range(0, lines.shape[0], together):
            some = lines[begin : begin + together]
            first, count = int(starts[some[0]]), some.shape[0] * width
            if starts[some[-1]] - first == count - width and lengths[some].min() == width:  # rows of an array already
                at, block = slice(first, first + count), values[first : first + count].reshape(-1, width)
            else:
                inside = np.arange(width) < lengths[some, None]
                at = (starts[some, None] + np.arange(width))[inside]
                block = np.full(inside.shape, least if largest else greatest, values.dtype)
                block[inside] = values[at]
            place = width - k if largest else k - 1
            bound = np.repeat(np.partition(block, place, axis=1)[:, place], lengths[some])
            keep[at] = ~(values[at] < bound) if largest else (values[at] <= bound) | (bound != bound)
    return np.flatnonzero(keep) if k else np.zeros(0, np.int64)


def _by_line(major, keys):
    """The order by line, then key; equal keys as they come."""
    order = keys.argsort(kind="stable")
    return order[major[order].argsort(kind="stable")]


def _backwards(xp, major):
    """The order that reverses each line."""
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
        back = _backwards(xp, major)  # backwards before and after: equal values stay in order
        return back[_by_line(major, values[back])][back]
    return xp.asarray(_compared(op, *map(host_array, (major, minor, values))))


def _compared(op, major, minor, values):
    """The order of an operator of the user's, by one comparison after the other."""

    def compare(a, b):
        if major[a] != major[b]:
            return -1 if major[a] < major[b] else 1
        if op.numpy(values[a : a + 1], values[b : b + 1])[0]:
            return -1
        return 1 if op.numpy(values[b : b + 1], values[a : a + 1])[0] else int(minor[a]) - int(minor[b])

    return np.array(sorted(range(len(values)), key=cmp_to_key(compare)), np.int64)
