"""How entries move between ranks: whole objects to every rank, entries to the ranks that own their positions.

    spread(part)                the entries of this rank at their positions in the whole; moves nothing
    own_range(store, layout)    of a store of the whole, this rank's positions; moves nothing
    redistribute(...)           entries at positions of the whole, wherever they were made, to their owners (all-to-all)
    whole_vector, whole_matrix  all entries on every rank (allgather)
    from_rank                   those of one rank on every rank (broadcast)

Arrays are the host's, or those of the ranks' devices where the communicator moves these (`world.moves`): the same code,
with the array module of either.  Each call begins with one exchange of the host: how many entries each rank has, and
its one value where it has one.

A vector travels as the cheapest of a list (index and value an entry), a bitmap with its values, and values alone where
every position has an entry; where all entries are one value, that value once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...storage import bits
from ...storage.convert import SPARSE_TO_BITMAP, choose_format, compressed, share, to_bitmap, to_dcsr, to_sparse
from ...storage.dense import compressed as without_dense
from ...storage.place import first_value, host_array
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
        if store.format == "bitmap" and layout.is_aligned and hasattr(backend, "view_of_range"):
            return backend.view_of_range(store, layout.first, layout.stop)
        return backend.gather_vector(store, layout.own)
    return backend.gather_matrix(without_dense(store), layout.own, None)


def redistribute(world: Any, store: Any, layout: Any, call: str, combine: Any = None) -> Any:
    """The local store of this rank, of the entries that all ranks have in `store` (of the whole's shape).

    combine: the typed binary operator for entries of one position, in order of ranks; None: each position is on one
    rank at most.
    """
    local, dtype = world.local, store.dtype
    facts = _facts(world, store, call)
    value = _one_value(facts, dtype)
    *positions, values = world.tuples_of(store)
    starts = world.exchanged_array(layout.starts, dtype)
    cuts = world.compute(lambda xp: xp.searchsorted(positions[0], starts), dtype, call)
    arrays = positions if value is not None else [*positions, values]
    moved = _scattered(world, arrays, host_array(cuts), call)
    moved[0] = world.compute(lambda xp: moved[0] - layout.first, dtype, call)
    if value is not None:
        moved.append(value)
    if combine is None and value is not None:
        combine = world.any_of(dtype)
    if len(store.shape) == 1:
        return local.build_vector(len(layout), moved[0], moved[1], combine, dtype)
    return local.build_matrix(len(layout), store.ncols, *moved, combine, dtype)


def _scattered(world, arrays, cuts, call):
    """What all ranks have for this one, in the order of ranks: array[cuts[r]:cuts[r + 1]] of each goes to rank r."""
    inner = [array.shape[1:] for array in arrays]
    if not any(inner):
        return world.comm.alltoall_cut(arrays, cuts, call)
    return [to_owners(world.comm, array, cuts, call) for array in arrays]


def to_owners(comm: Any, array: np.ndarray, cuts: Any, call: str) -> np.ndarray:
    """What all ranks have for this one, in the order of ranks: array[cuts[r]:cuts[r + 1]] goes to rank r."""
    pieces = [array[start:stop].reshape(-1) for start, stop in zip(cuts[:-1], cuts[1:], strict=True)]
    return np.concatenate(comm.alltoall(pieces, call)).reshape(-1, *array.shape[1:])  # of a sub-array type: more


def array_of(values: list[Any], dtype: Any) -> np.ndarray:
    """The array of a list of values, as a store has it."""
    kind, inner = dtype.np_type.subdtype or (dtype.np_type, ())
    return np.array(values, kind).reshape(-1, *inner)


def _facts(world, store, call):
    """(number of entries, bytes of their one value or Ellipsis, None of no entries) of each rank's store."""
    value = None if store.nvals == 0 else first_value(store) if store.iso else NotImplemented
    mine = None if value is None else Ellipsis if value is NotImplemented else np.asarray(value).tobytes()
    return world.comm.allgather((store.nvals, mine), call)


def _one_value(facts, dtype):
    """The array of the one value of all entries of all ranks, which need not travel with them; else None.

    Ranks without entries have no say.  Entries of one value that meet are combined, so this is of disjoint ones alone.
    """
    found = {one for _, one in facts if one is not None}
    if len(found) != 1 or Ellipsis in found or dtype.np_type.subdtype is not None:
        return None
    return np.frombuffer(next(iter(found)), dtype.np_type).copy()


def whole_vector(world: Any, part: Any, call: str, one: Any = None) -> Any:
    """The vector with all entries; its arrays are not to be written to.  one: of a part whose values are all that one.

    What ranks know of its entries (parts.Known) they do not ask again: then they announce the exchange to each other,
    without waiting, and positions that have travelled before are kept.
    """
    layout, size, dtype = part.layout, part.size, part.dtype
    local, known = world.held(part.local), part.known
    positions, room = known.positions, None
    one_value = None if one is None else np.array([one], dtype.np_type)
    is_asked = positions.counts is None or not (known.varied or one is not None)
    if is_asked:
        # memory for the most likely form is asked for before the others rely on this rank
        room = world.room(size, dtype, call) if local.nvals == len(layout) and not local.iso else None
        facts = _facts(world, local, call)
        positions.learn([count for count, _ in facts])
        if one is None:
            one_value = _one_value(facts, dtype)
            known.varied = one_value is None and positions.total > 0
        if positions.total == size:
            known.positions = positions = layout.all_positions
    counts, total, iso = positions.counts, positions.total, one_value is not None
    if iso:
        one_value, room = world.one(one_value, dtype), None
    lengths = layout.lengths

    def joined(arrays, lengths, values=None):
        """`arrays` and, unless they are one value, the values of `values`, of all ranks."""
        nonlocal room
        if values is not None and not iso:
            arrays = [*arrays, _each_value(world, values, lengths[world.rank], call)]
            if not is_asked and not arrays[1:]:
                room = world.room(sum(lengths), dtype, call)
        if not is_asked and arrays and world.moves(dtype):  # over the host each exchange is compared
            world.comm.announce(call, f"all of {len(arrays)} arrays, {sum(lengths)} {dtype.name}")
        found = _joined(world, arrays, lengths, call, room) if arrays else []
        return [*found, one_value] if values is not None and iso else found

    if total == size and size:
        values = joined([], lengths, to_bitmap(local))[0]
        result: Any = BitmapVector(size, dtype, None, values, size, iso)
    elif total * SPARSE_TO_BITMAP > size and layout.is_aligned:
        room, filled = None, to_bitmap(local)
        if positions.joined is None:
            present = world.all_words(len(layout), dtype) if filled.words is None else filled.words
            positions.joined = joined([present], [bits.word_count(length) for length in lengths])[0]
        result = BitmapVector(size, dtype, positions.joined, joined([], lengths, filled)[0], total, iso)
    else:
        room, listed, kind = None, to_sparse(local), index_dtype(size)
        arrays = []
        if positions.joined is None:
            arrays = [world.compute(lambda xp: listed.indices.astype(kind) + kind.type(layout.first), dtype, call)]
        *indices, values = joined(arrays, counts, listed)
        if indices:
            positions.joined = indices[0]
        result = choose_format(SparseVector(size, dtype, positions.joined, values, iso))
    result.shared = True
    return result


def whole_matrix(world: Any, part: Any, call: str) -> Any:
    """The matrix with all entries as CSR or DCSR; its arrays are not to be written to."""
    mine, dtype = spread(part), part.dtype
    facts = _facts(world, mine, call)
    value = _one_value(facts, dtype)
    rows, cols, values = world.tuples_of(mine)
    kind = index_dtype(part.ncols)
    cols = world.compute(lambda xp: cols.astype(kind), dtype, call)
    arrays = [rows, cols] if value is not None else [rows, cols, values]
    rows, cols, *values = _joined(world, arrays, [count for count, _ in facts], call)
    held = values[0] if value is None else value
    if world.moves(dtype):
        result = world.local.build_matrix(part.nrows, part.ncols, rows, cols, held, None, dtype)
    else:
        result = compressed(part.nrows, part.ncols, dtype, rows, cols, held, value is not None)
    result.shared = True
    return result


def from_rank(world: Any, store: Any, root: int, call: str) -> Any:
    """The matrix (CSR or DCSR) that rank `root` has, on every rank; those of the others have its shape and type."""
    comm, mine = world.comm, world.rank == root
    if not world.moves(store.dtype):
        return share(store, comm.broadcast(store, root, call)) if mine else comm.broadcast(None, root, call)
    names = ["indptr", "indices", "rows"] + ([] if store.iso else ["values"])
    facts = None
    if mine:
        arrays = {name: getattr(store, name) for name in names if getattr(store, name) is not None}
        one = np.asarray(first_value(store)).tobytes() if store.iso and store.nvals else None
        facts = [(name, array.size, array.dtype) for name, array in arrays.items()], one, store.iso
    kinds, one, iso = comm.broadcast(facts, root, call)
    sent = [arrays[name] for name, *_ in kinds] if mine else []
    made = comm.broadcast_known(sent, [(count, kind) for _, count, kind in kinds], root, call)
    if mine:
        store.shared = True
        return store
    found = {name: array for (name, *_), array in zip(kinds, made, strict=True)}
    dtype = store.dtype
    if iso:
        found["values"] = world.one(np.frombuffer(one or b"", dtype.np_type), dtype)
    return Compressed(
        store.nrows, store.ncols, dtype, found["indptr"], found["indices"], found["values"], iso, found.get("rows")
    )


def _each_value(world, u, count, call):
    """`count` values, where u may have one for all entries."""
    if not u.iso:
        return u.values
    if world.moves(u.dtype):
        return world.compute(lambda xp: xp.repeat(u.values[:1], count), u.dtype, call)
    return np.broadcast_to(u.values[:1] if count else u.values[:0], (count, *u.values.shape[1:]))


def _joined(world, arrays, counts, call, room=None):
    """Of each array those of all ranks, one after the other; those of more dimensions as their first one's."""
    inner = [array.shape[1:] for array in arrays]
    if type(arrays[0]) is not np.ndarray:
        return world.comm.allgather_known(arrays, counts, call, room)
    flat = [np.ascontiguousarray(array).reshape(-1) for array in arrays]
    made = world.comm.allgather_known(flat, counts, call)
    return [array.reshape(-1, *shape) for array, shape in zip(made, inner, strict=True)]
