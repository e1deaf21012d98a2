"""Searches by one launch on each rank's device, whose kernels exchange through memory that all devices have mapped.

That is how a graph is searched that fits no single device, and a large one that does: over ranks it is divided, and no
rank needs more than its rows.  Smaller graphs are searched as whole_loops.py says.
"""

from __future__ import annotations

from typing import Any

from ...planner import choose_ranks
from ...storage.store import forms_of
from .layout import GRAIN
from .parts import PartVector

LARGEST = 2**31 - 128  # vertices: their numbers have 32 bits


class Searches:
    """Methods of DistributedBackend."""

    def search(self: Any, A, AT, sources, levels, parents, max_level, target):
        """bfs of one source for its levels, where all devices are on one host and it pays; else NotImplemented."""
        if not self.comm.moves_devices or self.size == 1 or type(sources) is not int or parents or target is not None:
            return NotImplemented
        A, AT = self.part(A), None if AT is None else self.part(AT)
        layout = A.layout
        within_words = (layout.starts % GRAIN != 0) & (layout.starts != layout.length)
        if A.nrows >= LARGEST or within_words.any() or AT is not None and AT.layout != layout:
            return NotImplemented
        if not self._search_pays(A) or not hasattr(self.local, "bfs_of_ranks"):
            return NotImplemented
        lent = self.comm.lend(self.local.search_bytes(layout.starts), "bfs")
        if lent is None:
            return NotImplemented
        entries = A.nvals
        own = self._rows_of(A)
        into = own if AT is A else None if AT is None else self._rows_of(AT)

        def meet():
            self.comm.barrier("bfs")

        with self.comm.launching("bfs"):
            found, outcome = self.local.bfs_of_ranks(
                own, into, layout.starts, self.rank, entries, sources, max_level, lent, meet
            )
        if lent.threads:
            meet()
        return PartVector(A.nrows, found, layout, self), None, outcome

    def _search_pays(self: Any, A) -> bool:
        """Is a search by all ranks faster than one of them on the whole graph, or is there no room for that?"""
        if "kept_whole" in forms_of(A) and self.replicates:
            return False
        pays = choose_ranks.search_pays(A.nrows, A.nvals, self.size, self.link)
        return pays or not self.fits_whole(A)

    def _rows_of(self: Any, A):
        """This rank's rows as CSR on its device, kept."""
        forms = forms_of(A)
        if "rows" not in forms:
            forms["rows"] = self.local.copy_here(self.local.convert(A.local, "csr"))
        return forms["rows"]
