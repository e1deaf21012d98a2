"""How distributed objects are built, of what all ranks have, of entries or parts of each, and gathered."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...exceptions import InvalidValue
from ...storage.constructors import empty_matrix, empty_vector
from ...storage.dense import compressed as without_dense
from .layout import Rows, balanced_ranges
from .movement import spread

EXCHANGED = 1 << 26  # bytes of entries that a rank sends at a time: more than a link needs to be busy, less than parts
SAMPLE = 1 << 16  # rows of entries of each rank that decide about ranges: their shares are exact to 1 % for 64 ranks
BALANCED_FROM = 4096  # entries of a matrix from which the ranges of its rows are cut by entries, not by length


class Building:
    """Methods of DistributedBackend."""

    def build_vector(self: Any, size, indices, values, dup, dtype):
        layout = self.layout(size)
        mine = (indices >= layout.first) & (indices < layout.stop)
        local = self._build(
            lambda first, length, values: self.local.build_vector(length, indices[mine] - first, values, dup, dtype),
            layout, values, mine, dup,
        )  # fmt: skip
        return self.made(local, (size,), layout)

    def build_matrix(self: Any, nrows, ncols, rows, cols, values, dup, dtype):
        if nrows not in self._decided and rows.shape[0] >= BALANCED_FROM:
            self.set_layout(balanced_ranges(rows, nrows, self.size))
        layout = self.layout(nrows)
        mine = (rows >= layout.first) & (rows < layout.stop)
        local = self._build(
            lambda first, length, values: self.local.build_matrix(
                length, ncols, rows[mine] - first, cols[mine], values, dup, dtype
            ),
            layout, values, mine, dup,
        )  # fmt: skip
        return self.made(local, (nrows, ncols), layout)

    def agreed_type(self: Any, dtype: Any, one: bytes | None, is_empty: bool) -> Any:
        """The type of the values of all ranks; a rank without entries takes that of the others.

        one: the one value of all entries; None where there is an array.
        Raises: InvalidValue on every rank where they have several types, or several such values.
        """
        found = self.comm.allgather((dtype, one, is_empty), "type")
        kinds = [kind for kind, _, empty in found if not empty] or [found[0][0]]
        if any(kind is not kinds[0] for kind in kinds):
            names = ", ".join(f"rank {r}: {kind.name}" for r, (kind, _, _) in enumerate(found))
            raise InvalidValue(f"values: the ranks gave several types ({names}); pass dtype= on all ranks")
        if len({value for _, value, _ in found}) > 1:
            raise InvalidValue("values: one value for all entries has to be the same on all ranks; else give arrays")
        return kinds[0]

    def agreed_shape(
        self: Any, nrows: int | None, ncols: int | None, rows: np.ndarray, cols: np.ndarray
    ) -> tuple[int, int]:
        """The shape that all ranks gave, or one more than their greatest indices.

        Raises: InvalidValue on every rank where they gave different ones; ValueError where none has an index.
        """
        most = [int(at.max()) + 1 if at.size else 0 for at in (rows, cols)]
        found = self.comm.allgather(((nrows, ncols), most), "shape")
        if any(given != found[0][0] for given, _ in found[1:]):
            raise InvalidValue(f"nrows, ncols: the ranks gave different ones, {[given for given, _ in found]}")
        shape = [max(most[k] for _, most in found) if n is None else n for k, n in enumerate((nrows, ncols))]
        if 0 in (n if given is None else 1 for n, given in zip(shape, (nrows, ncols), strict=True)):
            raise ValueError("No indices provided on any rank. Unable to infer nrows and ncols.")
        return shape[0], shape[1]

    def build_shared(self: Any, nrows, ncols, rows, cols, values, dup, dtype, one=False):
        """build_matrix of the entries that all ranks have together, each its own, in the order of ranks.

        one: `values` has one value, the same on all ranks, for all entries, of which repeated ones are one.
        """
        layout = self.decided_layout(self._sampled(rows), nrows, rows.shape[0])
        moved = self._to_owners((rows, cols) if one else (rows, cols, values), layout)
        rows, cols, values = (*moved, values) if one else moved
        dup = self.any_of(dtype) if one else dup
        local = self._own_rows(
            layout,
            lambda first, length: self.local.build_matrix(length, ncols, rows - first, cols, values, dup, dtype),
        )
        return self.made(local, (nrows, ncols), layout)

    def _to_owners(self: Any, arrays, layout):
        """What all ranks have for the rows of this one, in the order (rank, position); arrays[0] has the rows.

        EXCHANGED bytes at a time, so that nothing is there twice but the entries of one turn.
        """
        rows, count = arrays[0], arrays[0].shape[0]
        at_once = max(1, EXCHANGED // sum(array.dtype.itemsize * math.prod(array.shape[1:]) for array in arrays))
        mine = np.zeros(self.size, np.int64)
        for start in range(0, count, at_once):
            mine += np.bincount(layout.owners(rows[start : start + at_once]), minlength=self.size)
        facts = self.comm.allgather((mine.tolist(), count), "build")
        ends = np.cumsum([0, *(sent[self.rank] for sent, _ in facts)])
        place = ends[:-1].copy()  # where the next entries of each rank go
        made = [np.empty((int(ends[-1]), *array.shape[1:]), array.dtype) for array in arrays]
        for start in range(0, max(many for _, many in facts), at_once):
            here = slice(min(start, count), min(start + at_once, count))
            owners = layout.owners(rows[here])
            order = owners.argsort(kind="stable")
            cuts = owners[order].searchsorted(np.arange(self.size + 1)).tolist()
            for whole, array in zip(made, arrays, strict=True):
                some = array[here][order]
                pieces = [some[a:b].reshape(-1) for a, b in zip(cuts[:-1], cuts[1:])]
                for rank, piece in enumerate(self.comm.alltoall(pieces, "build")):
                    piece = piece.reshape(-1, *array.shape[1:])
                    whole[place[rank] : place[rank] + piece.shape[0]] = piece
                    if whole is made[-1]:
                        place[rank] += piece.shape[0]
        return made

    def decided_layout(self: Any, sample: np.ndarray, nrows: int, count: int) -> Rows:
        """The ranges of `nrows` rows, decided by `sample`, rows of some of the `count` entries here, if not before."""
        if nrows not in self._decided:
            total = self.total(count, "build")
            if total >= BALANCED_FROM:
                rows = np.concatenate(self.comm.allgather_array(np.ascontiguousarray(sample), "build"))
                self.set_layout(balanced_ranges(rows, nrows, self.size, total))
        return self.layout(nrows)

    def _sampled(self, rows):
        """At most SAMPLE rows of entries of this rank, evenly chosen."""
        step = max(1, -(-rows.shape[0] // SAMPLE))
        return np.ascontiguousarray(rows[::step])

    def scattered(self: Any, store, root, dtype):
        """The part of a store that rank `root` has; those of other ranks are not read."""
        if self.rank == root:
            store = self.local.copy_here(store)
            store = without_dense(store) if len(store.shape) == 2 else store
        shape = self.comm.broadcast(None if self.rank != root else store.shape, root, "distribute")
        if self.rank != root:
            store = empty_vector(*shape, dtype) if len(shape) == 1 else empty_matrix(*shape, dtype)
        if shape[0] not in self._decided:
            starts = None
            if self.rank == root and len(shape) == 2 and store.nvals >= BALANCED_FROM:
                starts = balanced_ranges(self.local.tuples_matrix(store)[0], shape[0], self.size)
            starts = self.comm.broadcast(starts, root, "distribute")
            if starts is not None:
                self.set_layout(starts)
        return self._moved(store, "distribute")

    def gathered(self: Any, x: Any, root: int | None) -> Any:
        """All entries of a part as an ordinary store, on every rank or on rank `root` alone (None elsewhere)."""
        if root is None:
            return self.whole(x)
        is_vector = len(x.shape) == 1
        mine = spread(x)
        parts = self.comm.gather(
            (self.local.tuples_vector if is_vector else self.local.tuples_matrix)(mine), root, "gather"
        )
        if parts is None:
            return None
        *positions, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        build = self.local.build_vector if is_vector else self.local.build_matrix
        return build(*x.shape, *positions, values, None, x.dtype)

    def of_parts(self: Any, store, first, length, error):
        """The part of the whole whose rows from `first` on are this rank's `store`; None: in the order of ranks.

        Raises: `error` on every rank where the parts do not follow one another.
        """
        found = self.comm.allgather((first, length, store.shape, store.dtype, store.is_part), "from_local")
        if any(is_part for *_, is_part in found):
            raise InvalidValue("part: expected an ordinary object, of gb.dist.local(); this one is distributed already")
        kinds = [f"{'Matrix' if len(shape) == 2 else 'Vector'} of {dtype.name}" for _, _, shape, dtype, _ in found]
        if len(set(kinds)) > 1:
            raise InvalidValue(f"part: the ranks gave several types, {kinds}; pass dtype= where the parts are made")
        sizes = [shape[0] for _, _, shape, *_ in found]
        starts = [0, *np.cumsum(sizes).tolist()]
        for rank, (at, _, shape, *_) in enumerate(found):
            if at is not None and at != starts[rank]:
                raise error(f"first_row of rank {rank} is {at}, but the parts before it end at {starts[rank]}")
            if shape[1:] != found[0][2][1:]:
                raise error(f"ncols: rank 0 has {found[0][2][1]} columns, rank {rank} has {shape[1]}")
            if found[rank][1] != found[0][1] or length is not None and length < starts[-1]:
                raise error(f"nrows: the ranks gave {[given for _, given, *_ in found]}, their parts have {starts[-1]}")
        whole = starts[-1] if length is None else length
        given = Rows([*starts[:-1], whole], self.rank)
        store = self.local.copy_here(without_dense(store) if len(store.shape) == 2 else store)
        if len(given) != store.shape[0]:
            resize = self.local.expand_vector if len(store.shape) == 1 else self.local.expand_matrix
            more = (None, len(given)) if len(store.shape) == 1 else (None, None, len(given), store.shape[1])
            store = resize(store, *more)
        store.shared = True
        part = self.made(store, (whole, *store.shape[1:]), given)
        if whole not in self._layouts and given.is_aligned:
            self.set_layout(given.starts)
        layout = self.layout(whole)
        return part if layout == given else self.made(self._local(part, layout, "from_local"), part.shape, layout)

    def _build(self: Any, make, layout, values, mine, dup):
        """make(first, length, values of this rank's entries): without `dup` a duplicate is an error on all ranks."""
        values = values if values.shape[0] == 1 and mine.shape[0] != 1 else values[mine]
        if dup is not None:
            return make(layout.first, len(layout), values)
        return self._own_rows(layout, lambda first, length: make(first, length, values))

    def _own_rows(self: Any, layout, make):
        """make(first, length) of this rank's range; an error on any rank is raised on all."""
        return self.together(lambda: _with_its_error(make, layout), "build")


def _with_its_error(make: Any, layout: Rows) -> Any:
    """make(first, length) of this rank's range; its error is that of the whole, whose positions the user knows."""
    try:
        return make(layout.first, len(layout))
    except InvalidValue as error:
        found = error
    make(0, layout.length)
    raise found
