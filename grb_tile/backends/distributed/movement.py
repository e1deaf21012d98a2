"""How entries move between ranks: whole objects to every rank, entries to the ranks that own their positions.

    spread(part)                the entries of this rank at their positions in the whole; moves nothing
    own_range(store, layout)    of a store of the whole, this rank's positions; moves nothing
    redistribute(...)           entries at positions of the whole, wherever they were made, to their owners (all-to-all)
    whole_vector, whole_matrix  all entries on every rank (allgather)

A vector travels as the cheapest of a list (index and value an entry), a bitmap with its values, and values alone where
every position has an entry; where all entries are one value, that value once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...storage import bits
from ...storage.convert import SPARSE_TO_BITMAP, choose_format, compressed, share, to_bitmap, to_dcsr, to_sparse
from ...storage.dense import compressed as without_dense
from ...storage.place import first_value, host
from ...storage.store import BitmapVector, Compressed, SparseVector, index_dtype


def spread(part: Any) -> Any:
    """The store of the whole's shape that has this rank's entries; shares their arrays."""
    local, first = part.local, part.layout.first
    if len(part.shape) == 1:
        local = to_sparse(local)
        at = local.indices
        if first or at.dtype != index_dtype(part.size):
            at = at.astype(index_dtype(part.size)) + index_dtype(part.size).type(first)
        return share(part.local, SparseVector(part.size, part.dtype, at, local.values, local.iso))
    local = to_dcsr(local)
    rows = local.rows + first if first else local.rows
    result = Compressed(part.nrows, part.ncols, part.dtype, local.indptr, local.indices, local.values, local.iso, rows)
    return choose_format(share(part.local, result))


def own_range(backend: Any, store: Any, layout: Any) -> Any:
    """The positions of this rank (rows of a matrix) of a store of the whole, as a local store."""
    if len(store.shape) == 1:
        if store.format == "bitmap" and store.words is None and store.iso:
            return share(store, BitmapVector(len(layout), store.dtype, None, store.values, len(layout), True))
        return backend.gather_vector(store, layout.own)
    return backend.gather_matrix(without_dense(store), layout.own, None)


def redistribute(world: Any, store: Any, layout: Any, call: str, combine: Any = None) -> Any:
    """The local store of this rank, of the entries that all ranks have in `store` (of the whole's shape).

    combine: the typed binary operator for entries of one position, in order of ranks; None: each position is on one
    rank at most.
    """
    comm, local = world.comm, world.local
    is_vector = len(store.shape) == 1
    value = _one_value(world, store, call)
    *positions, values = (local.tuples_vector if is_vector else local.tuples_matrix)(store)
    cuts = layout.cuts(positions[0])
    moved = []
    for array in positions if value is not None else (*positions, values):
        moved.append(to_owners(comm, array, cuts, call))
    if value is not None:
        moved.append(value)
    moved[0] = moved[0] - layout.first
    if combine is None and value is not None:
        combine = world.any_of(store.dtype)
    dtype = store.dtype
    if is_vector:
        return local.build_vector(len(layout), moved[0], moved[1], combine, dtype)
    return local.build_matrix(len(layout), store.ncols, *moved, combine, dtype)


def to_owners(comm: Any, array: np.ndarray, cuts: Any, call: str) -> np.ndarray:
    """What all ranks have for this one, in the order of ranks: array[cuts[r]:cuts[r + 1]] goes to rank r."""
    pieces = [array[start:stop].reshape(-1) for start, stop in zip(cuts[:-1], cuts[1:], strict=True)]
    return np.concatenate(comm.alltoall(pieces, call)).reshape(-1, *array.shape[1:])  # of a sub-array type: more


def array_of(values: list[Any], dtype: Any) -> np.ndarray:
    """The array of a list of values, as a store has it."""
    kind, inner = dtype.np_type.subdtype or (dtype.np_type, ())
    return np.array(values, kind).reshape(-1, *inner)


def _one_value(world, store, call):
    """The array of the one value of all entries of all ranks, which need not travel with them; else None.

    Ranks without entries have no say.  Entries of one value that meet are combined, so this is of disjoint ones alone.
    """
    mine = None if store.nvals == 0 else first_value(store) if store.iso else NotImplemented
    found = [item for item in world.comm.allgather(_plain(mine), call) if item is not None]
    if not found or any(item is Ellipsis for item in found) or any(item != found[0] for item in found[1:]):
        return None
    return np.frombuffer(found[0], store.dtype.np_type).copy() if store.dtype.np_type.subdtype is None else None


def _plain(value):
    """A value as its bytes, Ellipsis for several values, None for no entry."""
    return None if value is None else Ellipsis if value is NotImplemented else np.asarray(value).tobytes()


def whole_vector(world: Any, part: Any, call: str) -> Any:
    """The vector with all entries, a host store; its arrays are not to be written to."""
    comm, layout = world.comm, part.layout
    local = host(part.local)
    one = _plain(None if local.nvals == 0 else first_value(local) if local.iso else NotImplemented)
    facts = comm.allgather((local.nvals, one), call)
    total = sum(count for count, _ in facts)
    part._nvals = total
    ones = {item for _, item in facts if item is not None}
    iso = len(ones) == 1 and Ellipsis not in ones and part.dtype.np_type.subdtype is None
    size, dtype = part.size, part.dtype
    one_value = np.frombuffer(next(iter(ones)), dtype.np_type).copy() if iso else None
    if total == size and size:
        values = one_value if iso else _joined(comm, _dense_values(local), call)
        result: Any = BitmapVector(size, dtype, None, values, size, iso)
    elif total * SPARSE_TO_BITMAP > size and layout.is_aligned:
        filled = to_bitmap(local)
        words = bits.full(len(layout)) if filled.words is None else filled.words
        words = _joined(comm, words, call)
        values = one_value if iso else _joined(comm, _dense_values(filled), call)
        result = BitmapVector(size, dtype, words, values, total, iso)
    else:
        listed = to_sparse(local)
        indices = _joined(comm, listed.indices.astype(index_dtype(size)) + index_dtype(size).type(layout.first), call)
        if iso:
            values = one_value
        else:
            values = _joined(comm, np.broadcast_to(listed.values, (listed.nvals, *listed.values.shape[1:])), call)
        result = choose_format(SparseVector(size, dtype, indices, values, iso))
    result.shared = True
    return result


def whole_matrix(world: Any, part: Any, call: str) -> Any:
    """The matrix with all entries as CSR or DCSR, a host store; its arrays are not to be written to."""
    mine = spread(part)
    value = _one_value(world, mine, call)
    rows, cols, values = world.local.tuples_matrix(mine)
    rows = _joined(world.comm, rows, call)
    cols = _joined(world.comm, cols.astype(index_dtype(part.ncols)), call)
    values = _joined(world.comm, values, call) if value is None else value
    result = compressed(part.nrows, part.ncols, part.dtype, rows, cols, values, value is not None)
    result.shared = True
    return result


def _dense_values(u):
    """A value for each position of a bitmap."""
    u = to_bitmap(u)
    return np.broadcast_to(u.values, (u.size, *u.values.shape[1:])) if u.iso else u.values


def _joined(comm, array, call):
    """The arrays of all ranks, one after the other; those of more dimensions as their first one's."""
    if array.ndim == 1:
        return np.concatenate(comm.allgather_array(np.ascontiguousarray(array), call))
    inner = array.shape[1:]
    flat = np.concatenate(comm.allgather_array(np.ascontiguousarray(array).reshape(-1), call))
    return flat.reshape(-1, *inner)
