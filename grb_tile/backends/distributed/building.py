"""How distributed objects are built: of arguments that all ranks have, of entries that each has, of parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...exceptions import InvalidValue
from ...storage.constructors import empty_matrix, empty_vector
from ...storage.dense import compressed as without_dense
from .layout import Rows, balanced_ranges

SAMPLE = 1 << 16  # rows of entries of each rank that decide about ranges: their shares are exact to 1 % for 64 ranks
BALANCED_FROM = 4096  # entries of a matrix from which the ranges of its rows are cut by entries, not by length


class Building:
    """Methods of DistributedBackend."""

    def build_vector(self: Any, size, indices, values, dup, dtype):
        layout = self.layout(size)
        mine = (indices >= layout.first) & (indices < layout.stop)
        local = self._build(
            lambda values: self.local.build_vector(len(layout), indices[mine] - layout.first, values, dup, dtype),
            values, mine, dup,
        )  # fmt: skip
        return self.made(local, (size,), layout)

    def build_matrix(self: Any, nrows, ncols, rows, cols, values, dup, dtype):
        if nrows not in self._layouts and rows.shape[0] >= BALANCED_FROM:
            self.set_layout(balanced_ranges(rows, nrows, self.size))
        layout = self.layout(nrows)
        mine = (rows >= layout.first) & (rows < layout.stop)
        local = self._build(
            lambda values: self.local.build_matrix(
                len(layout), ncols, rows[mine] - layout.first, cols[mine], values, dup, dtype
            ),
            values, mine, dup,
        )  # fmt: skip
        return self.made(local, (nrows, ncols), layout)

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
        order = layout.owners(rows).argsort(kind="stable")
        cuts = layout.owners(rows)[order].searchsorted(np.arange(self.size + 1))
        moved = []
        for array in (rows, cols) if one else (rows, cols, values):
            pieces = [array[order[start:stop]] for start, stop in zip(cuts[:-1], cuts[1:], strict=True)]
            moved.append(np.concatenate(self.comm.alltoall(pieces, "build")))
        moved[0] = moved[0] - layout.first
        if one:
            moved.append(values)
            dup = self.any_of(dtype)
        local = self.together(lambda: self.local.build_matrix(len(layout), ncols, *moved, dup, dtype), "build")
        return self.made(local, (nrows, ncols), layout)

    def decided_layout(self: Any, sample: np.ndarray, nrows: int, count: int) -> Rows:
        """The ranges of `nrows` rows, decided by `sample`, rows of some of the `count` entries here, if not before."""
        if nrows not in self._layouts:
            rows = np.concatenate(self.comm.allgather_array(np.ascontiguousarray(sample), "build"))
            if rows.size >= self.size:
                self.set_layout(balanced_ranges(rows, nrows, self.size, self.total(count, "build")))
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
        if shape[0] not in self._layouts:
            starts = None
            if self.rank == root and len(shape) == 2 and store.nvals >= BALANCED_FROM:
                starts = balanced_ranges(self.local.tuples_matrix(store)[0], shape[0], self.size)
            starts = self.comm.broadcast(starts, root, "distribute")
            if starts is not None:
                self.set_layout(starts)
        return self._moved(store, "distribute")

    def of_parts(self: Any, store, first, length, error):
        """The part of the whole whose rows from `first` on are this rank's `store`; None: in the order of ranks.

        Raises: `error` on every rank where the parts do not follow one another.
        """
        found = self.comm.allgather((first, length, store.shape), "from_local")
        sizes = [shape[0] for _, _, shape in found]
        starts = [0, *np.cumsum(sizes).tolist()]
        for rank, (at, _, shape) in enumerate(found):
            if at is not None and at != starts[rank]:
                raise error(f"first_row of rank {rank} is {at}, but the parts before it end at {starts[rank]}")
            if shape[1:] != found[0][2][1:]:
                raise error(f"ncols: rank 0 has {found[0][2][1]} columns, rank {rank} has {shape[1]}")
            if found[rank][1] != found[0][1] or length is not None and length < starts[-1]:
                raise error(f"nrows: the ranks gave {[given for _, given, _ in found]}, their parts have {starts[-1]}")
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
            self._layouts[whole] = given
        layout = self.layout(whole)
        return part if layout == given else self.made(self._local(part, layout, "from_local"), part.shape, layout)

    def _build(self: Any, make, values, mine, dup):
        """make(values of this rank's entries): without `dup` a duplicate on any rank is an error on all."""
        values = values if values.shape[0] == 1 and mine.shape[0] != 1 else values[mine]
        if dup is not None:
            return make(values)
        return self.together(lambda: make(values), "build")
