"""build, tuples and the fold of repeated entries on the device.  Semantics: backends/protocol.py.

Kernel: structure/build.cuh.  NotImplemented for types without a device form: backend.py then runs the primitive on the
host.
"""

import numpy as np

from ....dtypes import cast as host_cast
from ....exceptions import InvalidValue
from ....operators import to_cuda
from ....planner import tuning
from ....storage.convert import wants_dcsr
from ....storage.store import Compressed, SparseVector, index_dtype
from ....storage.turn_array import TurnArray
from ..runtime.moves import copied, uploaded
from .arrays import (
    cast_array,
    compressed,
    gather,
    is_plain,
    order_facts,
    progression,
    ranges,
    repeated,
    row_ids,
    segment_starts,
    to_sparse,
    vector_of,
)
from .prefix_sums import running_sums
from .sorting import sorted_pairs, sorted_with

SINGLE_INDICES = 64  # that are kept on the device
LONG, PIECE = 1024, 256  # longest segment that one thread folds; chunk size of longer segments


# ---------------------------------------------------------------------- build


def build_vector(device, size, indices, values, dup, dtype):
    if type(indices) is TurnArray:
        from ..programs import positions

        return positions.build(device, size, indices, values, dup, dtype)
    if indices.shape[0] == 1 < size and _is_ready(indices, values, dtype):
        here = SparseVector(size, dtype, indices.astype(index_dtype(size)), values.copy(), True)
        at = _single_index(device, here.indices)
        result = SparseVector(size, dtype, at, device.constant(values[0]), True)
        result.shared = here.shared = True
        result.forms = {"host": here}
        return result
    if not is_plain(dtype) or values.dtype.kind not in "biufc" or not _folds(dup):
        return NotImplemented
    few = _few_on_host((indices,), values, dup, dtype)
    if few is not None:
        return _listed_vector(device, size, *few[0], few[1], dtype)
    given = callers = values
    indices, values = device.array(indices, np.int64), device.array(values)
    count = indices.shape[0]
    iso = values.shape[0] == 1 and count != 1
    if count > 1:
        descents, repeats, first, *_ = order_facts(device, None, indices)
        if descents:
            indices, taken = sorted_with(device, indices, size, None if iso else values)
            values = values if iso else taken
            _, repeats, first, *_ = order_facts(device, None, indices)
        if repeats:
            if dup is None:
                repeated_index = device.read(indices[first : first + 1])[0]
                raise InvalidValue(
                    f"indices: {repeated_index} occurs more than once and dup_op is None; pass "
                    "dup_op (binary.plus, binary.first, ...) to combine the values of equal indices"
                )
            starts = segment_starts(device, None, indices)
            values, iso = fold(device, values, iso, starts, count, dup, dtype)
            indices, given = gather(device, indices, starts), None
    values = _as_type(device, _own(device, values, callers), dtype, given if iso else None)
    return vector_of(device, size, dtype, indices, values[:0] if count == 0 else values, iso and count > 0)


def _is_ready(indices, values, dtype):
    """Are they on the host, numbers of that type?"""
    of_type = values.dtype == dtype.np_type and values.dtype.kind in "biufc" and not dtype._is_udt
    return of_type and type(indices) is np.ndarray is type(values)


def _single_index(device, index):
    """A copy of an array of one index, not to be written to; the latest are kept."""
    kept, key = device.single_indices, (int(index[0]), index.dtype)
    found = kept.get(key)
    if found is None or device.turns is not None:  # a turn may be captured, and then an upload is refused
        found = device.upload(index)
        while len(kept) >= SINGLE_INDICES:
            del kept[next(iter(kept))]
        kept[key] = found
    return found


def _few_on_host(places, values, dup, dtype):
    """(places, ascending and distinct; their values) of few host arrays; None of others, and of an error.

    places: (indices,), or (rows, columns).
    """
    count = places[0].shape[0]
    if not 0 < count <= tuning.GPU_BUILT_ON_HOST or any(type(x) is not np.ndarray for x in (*places, values)):
        return None
    if count == 1 or len(places) == 1 and (places[0][1:] > places[0][:-1]).all():
        return places, values
    iso = values.shape[0] == 1
    order = np.lexsort(places[::-1])
    places, values = [x[order] for x in places], values if iso else values[order]
    fresh = np.ones(count, np.bool_)
    fresh[1:] = np.logical_or.reduce([x[1:] != x[:-1] for x in places])
    if not fresh.all():
        if dup is None or not dup.lowerable:
            return None
        from ...cpu.vectorised.structure import fold_segments

        starts = fresh.nonzero()[0]
        values, _ = fold_segments(values, iso, starts, count, dup, dtype)
        places = [x[starts] for x in places]
    return places, values


def _listed_vector(device, size, indices, values, dtype):
    """build_vector of at most tuning.GPU_BUILT_ON_HOST sorted entries on the host: cast there and copied once."""
    values, iso, indices = _uploaded(device, values, dtype, indices.astype(index_dtype(size)))
    result = vector_of(device, size, dtype, indices, values, iso)
    result.shared = iso
    return result


def _uploaded(device, values, dtype, *others):
    """(values as `dtype` on the device, is it one for all?, other arrays there) of host arrays, cast on the host."""
    values = host_cast(values, dtype)
    if values.shape[0] == 1:
        return device.constant(values[0]), True, *uploaded(device, *others)
    values, *others = uploaded(device, values, *others)
    return values, False, *others


def build_matrix(device, nrows, ncols, rows, cols, values, dup, dtype):
    if not is_plain(dtype) or values.dtype.kind not in "biufc" or not _folds(dup):
        return NotImplemented
    few = _few_on_host((rows, cols), values, dup, dtype)
    if few is not None:
        rows, cols = few[0]
        count, cols = cols.shape[0], cols.astype(index_dtype(ncols))
        if wants_dcsr(nrows, count):
            rows, starts = np.unique(rows, return_index=True)
            lines = np.append(starts, count).astype(np.int64), rows.astype(np.int64)
            values, iso, cols, indptr, rows = _uploaded(device, few[1], dtype, cols, *lines)
            result = Compressed(nrows, ncols, dtype, indptr, cols, values, iso, rows)
        else:
            values, iso, cols, rows = _uploaded(device, few[1], dtype, cols, rows.astype(np.int64, copy=False))
            result = compressed(device, nrows, ncols, dtype, rows, cols, values, iso)
        result.shared = iso
        return result
    given = callers = values
    rows, cols, values = device.array(rows, np.int64), device.array(cols, np.int64), device.array(values)
    count = rows.shape[0]
    iso = values.shape[0] == 1 and count != 1
    if count > 1:
        descents, repeats, first, *_ = order_facts(device, rows, cols)
        if descents:
            rows, cols, taken = sorted_pairs(device, rows, cols, nrows, ncols, None if iso else values)
            values = values if iso else taken
            _, repeats, first, *_ = order_facts(device, rows, cols)
        if repeats:
            if dup is None:
                i, j = device.read(rows[first : first + 1], cols[first : first + 1])
                raise InvalidValue(
                    f"rows, columns: ({i}, {j}) occurs more than once and dup_op is None; pass "
                    "dup_op (binary.plus, binary.first, ...) to combine the values of equal positions"
                )
            starts = segment_starts(device, rows, cols)
            values, iso = fold(device, values, iso, starts, count, dup, dtype)
            rows, cols, given = gather(device, rows, starts), gather(device, cols, starts), None
    values = _as_type(device, _own(device, values, callers), dtype, given if iso else None)
    return compressed(device, nrows, ncols, dtype, rows, cols, values, iso)


def _folds(dup):
    """Can duplicates be combined on the device?  Not with positional operators or user-defined types."""
    return (
        dup is None or dup.positional is None and not (dup.type._is_udt or dup.type2._is_udt or dup.return_type._is_udt)
    )


def _own(device, values, callers):
    """The values, copied where they are still the caller's array, which may change later."""
    return copied(device, values) if values is callers else values


def _as_type(device, values, dtype, given=None):
    """`values` cast to `dtype`; given: the iso value, which becomes a known constant if it is on the host."""
    if type(given) is np.ndarray:
        return device.constant(host_cast(given, dtype)[0])
    if values.dtype == dtype.np_type:
        return values
    from ....dtypes import lookup_dtype

    return cast_array(device, values, lookup_dtype(values.dtype), dtype)


def fold(device, values, iso, starts, total, op, dtype):
    """(values, iso): each segment folded from left to right by op, one thread for each segment.

    Segments longer than LONG are first folded in chunks of PIECE entries, if op is associative.
    """
    segments = starts.shape[0]
    if op.kind == "first":
        return (values if iso else gather(device, values, starts)), iso
    if op.kind in ("second", "any"):
        if iso:
            return values, True
        return gather(device, values, _ends(device, starts, total) - 1), False
    while op.monoid is not None and op.monoid.type is dtype and op.type is dtype:
        lengths = _ends(device, starts, total) - starts
        chunks = (lengths + (PIECE - 1)) // PIECE
        ends = running_sums(device, chunks)
        longest, count = device.read(lengths.max(), ends[-1:])
        if longest <= LONG:
            break
        segment, at = ranges(device, device.zeros(segments, np.int64), ends, count)
        values = _fold_each(device, values, iso, gather(device, starts, segment) + at * PIECE, total, op, dtype)
        iso, starts, total = False, ends - chunks, count
    return _fold_each(device, values, iso, starts, total, op, dtype), False


def _ends(device, starts, total):
    """Where each segment ends."""
    ends = device.empty(starts.shape[0], np.int64)
    ends[:-1] = starts[1:]
    ends[-1] = total
    return ends


def _fold_each(device, values, iso, starts, total, op, dtype):
    from ....dtypes import lookup_dtype

    segments = starts.shape[0]
    functors = to_cuda.includes(op) + "\n" + to_cuda.functor(op, "Fold")
    kernel = device.launcher.kernel(
        "structure/build.cuh",
        "fold_segments",
        functors,
        (lookup_dtype(values.dtype).cuda_type, dtype.cuda_type, op.type.cuda_type, op.type2.cuda_type, "Fold"),
    )
    out = device.empty(segments, dtype.np_type)
    kernel.over(segments, (values, iso, starts, segments, total, out))
    return out


# ---------------------------------------------------------------------- tuples, cast, convert


def tuples_vector(device, u):
    if not is_plain(u.dtype):
        return NotImplemented
    s = to_sparse(device, u)
    return _as_int64(device, s.indices), _each_value(device, s)


def tuples_matrix(device, A):
    if not is_plain(A.dtype):
        return NotImplemented
    return row_ids(device, A), _as_int64(device, A.indices), _each_value(device, A)


def _as_int64(device, indices):
    """A new array of them."""
    return progression(device, indices.shape[0], np.dtype(np.int64), places=indices)


def _each_value(device, store):
    """A new array with one value for each entry."""
    count = store.indices.shape[0]
    if store.iso:
        return repeated(device, store.values, count)
    return copied(device, store.values[:count])
