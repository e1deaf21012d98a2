"""Loops that each rank runs on the whole graph: where the planner's model says that ranks are slower than one of them.

A search over ranks is a loop of calls with exchanges in each level; the compiled loop of one process takes less, on
most graphs that fit its memory.  Getting the whole graph to each rank costs the bytes of its entries once.  So the loop
runs over the ranks until that has lost as much time as the copy takes (ski rental); then the matrix is kept whole with
its part, every rank runs the local loop, and keeps its positions of the result.  All ranks decide from facts that all
know.  The in-edges are fetched before the local loop begins: it holds its device, and a rank that waits for others
within it would keep those on the same device from coming.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...planner import choose_ranks, tuning
from ...storage.host_memory import free_bytes
from ...storage.store import forms_of
from .movement import own_range, whole_matrix
from .parts import Part, PartVector
from .searches import Searches


class WholeLoops(Searches):
    """Methods of DistributedBackend.  replicates: may matrices be kept whole?"""

    replicates = True
    _room: float | None = None  # once asked for

    def bfs(self: Any, A, AT, sources, levels=True, parents=False, max_level=None, target=None):
        plain = type(sources) is int and levels and not parents and target is None
        searches = plain and "kept_whole" not in forms_of(self.part(A)) and self.can_search(A, AT)
        whole = self._whole_for("search" if searches else "bfs", A, AT)
        if whole is None:
            return self.search(A, AT, sources, max_level) if searches else NotImplemented
        back = None if AT is None else self._kept_whole(AT, "bfs")
        return self._own_results(self.local.bfs(whole, back, sources, levels, parents, max_level, target), A)

    def sssp(self: Any, A, in_edges, source, greatest, delta=None, tree=False):
        whole = self._whole_for("sssp", A)
        if whole is None:
            return NotImplemented
        back = self._in_edges_for("sssp", A, in_edges)
        return self._own_results(self.local.sssp(whole, back, source, greatest, delta, tree), A)

    def components(self: Any, A, in_edges, symmetric):
        whole = self._whole_for("components", A)
        if whole is None:
            return NotImplemented
        found = self.local.components(whole, self._in_edges_for("components", A, in_edges), symmetric)
        if found is NotImplemented:
            return NotImplemented
        labels, count, outcome = found
        return self._own(labels, A), count, outcome

    def _in_edges_for(self: Any, loop, A, in_edges):
        """The function that gives the in-edges whole to a local loop; a device's gets them before it begins."""
        if not self.local.on_device:
            return lambda: self._kept_whole(in_edges(), loop)
        back = self._kept_whole(in_edges(), loop)
        return lambda: back

    def _own_results(self: Any, found, A):
        if found is NotImplemented:
            return NotImplemented
        first, second, outcome = found
        return self._own(first, A), self._own(second, A), outcome

    def _own(self: Any, store, A):
        """The part of a vector that every rank has computed."""
        if store is None:
            return None
        layout = self.part(A).layout
        found = PartVector(A.nrows, own_range(self.local, store, layout), layout, self)
        store.shared = True
        forms_of(found)["whole"] = store  # for who reads all of it
        return found

    def _whole_for(self: Any, loop, A, AT=None):
        """The whole matrix where the loop is faster on it, else None; the same decision on all ranks."""
        A = self.part(A)
        forms = forms_of(A)
        if "kept_whole" in forms:
            return forms["kept_whole"]
        if not self.replicates or self.size == 1:
            return None
        saved = choose_ranks.saved_by_whole(loop, A.nrows, A.nvals, self.size, self.link)
        if saved <= 0:
            return None
        copies = [A] if AT is None or AT is A else [A, AT]
        size = sum(whole_bytes(store) for store in copies)
        forms["loops_lost"] = lost = forms.get("loops_lost", 0.0) + saved
        if lost < choose_ranks.cost_of_whole(size, self.size, self.link) or not self.fits_whole(*copies):
            return None
        return self._kept_whole(A, loop)

    def _kept_whole(self: Any, A, call):
        """The whole matrix on this rank, kept with its part."""
        forms = forms_of(self.part(A))
        if "kept_whole" not in forms:
            forms["kept_whole"] = self.local.copy_here(whole_matrix(self, self.part(A), call))
        return forms["kept_whole"]

    def whole_for_product(self: Any, A, call):
        """The whole matrix on this rank, kept from the second time on: then the forms that products derive are, too."""
        forms = forms_of(A)
        if "kept_whole" in forms or "product_seen" in forms:
            return self._kept_whole(A, call)
        forms["product_seen"] = True
        return self.local.copy_here(whole_matrix(self, A, call))

    def drawn_rows(self: Any, A):
        """Of the matrix kept whole 1 / p of the rows, drawn by a hash of their numbers, for each rank others; kept.

        Where a result is a sum over all rows it does not matter who computes them.  Ranges of equal numbers of entries
        gave one of two ranks two thirds of the triangles' lookups (kron 21), every p-th row is no better: the bits of
        an R-MAT vertex say how many edges it has.
        """
        forms = forms_of(A)
        if "drawn_rows" not in forms:
            rows = self.local.run_reported(lambda: _drawn(self.local.xp, A.nrows, self.rank, self.size), "mxm")
            forms["drawn_rows"] = self.local.gather_matrix(forms["kept_whole"], rows, None)
        return forms["drawn_rows"]

    def fits_whole(self: Any, *matrices: Part) -> bool:
        """May the whole of these be kept on every rank?"""
        return self.replicates and self.has_room(*matrices)

    def has_room(self: Any, *matrices: Part) -> bool:
        """Has every rank room for the whole of these?"""
        if self._room is None:
            self._room = self._room_for_whole()
        return sum(map(whole_bytes, matrices)) <= self._room

    def _room_for_whole(self: Any) -> float:
        """Bytes that whole matrices may take on every rank: those of the one with the least memory."""
        if self.local.on_device:
            mine: float | None = self.local.device.total_memory / (1 if self.comm.moves_devices else self.size)
        else:
            mine = free_bytes()
            mine = None if mine is None else mine / self.size  # ranks may share a host
        known = [room for room in self.comm.allgather(mine, "memory") if room is not None]
        return min(known, default=float("inf")) * tuning.REPLICATED_SHARE

    @property
    def link(self: Any) -> choose_ranks.Link:
        """What joins the ranks."""
        return choose_ranks.NVLINK if self.comm.moves_devices else choose_ranks.HOST


def whole_bytes(A: Part) -> int:
    """Bytes of the whole matrix as CSR."""
    return A.nbytes + 8 * (A.shape[0] + 1)


def _drawn(xp, n, rank, size):
    """Ascending numbers of 0 .. n - 1, of which each rank gets about as many."""
    hashed = xp.arange(n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)
    return xp.flatnonzero(hashed % np.uint64(size) == np.uint64(rank))
