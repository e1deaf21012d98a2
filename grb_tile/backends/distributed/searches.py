"""Searches by one launch on each rank's device, whose kernels exchange through memory that all devices have mapped.

That is how a graph is searched that fits no single device, and any other until it is kept whole (whole_loops.py), on
which one device is faster: R-MAT 26 takes 0.94 ms on one and 1.1 on two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...storage import place
from ...storage.store import Compressed, forms_of
from .layout import GRAIN, Rows
from .parts import PartVector

VERTEX_WITH_EDGES = 15  # what it costs more than one without, of which a search reads bits alone
MUCH_BETTER = 1.1  # the longest share of vertices over that of equal shares, from which on rows are moved
LARGEST = 2**31 - 128  # vertices: their numbers have 32 bits


class Searches:
    """Methods of DistributedBackend."""

    def can_search(self: Any, A, AT) -> bool:
        """Are all devices on one host, and rows cut at words of bits?  The same on all ranks."""
        if not self.comm.moves_devices or self.size == 1 or not hasattr(self.local, "bfs_of_ranks"):
            return False
        layout = self.part(A).layout
        return layout.has_whole_words and layout.length < LARGEST and (AT is None or self.part(AT).layout == layout)

    def search(self: Any, A, AT, source, max_level):
        """bfs of one source for its levels, where can_search; NotImplemented where devices have no memory for it."""
        A, AT = self.part(A), None if AT is None else self.part(AT)
        own, into, degrees, layout = self._search_graph(A, AT)
        lent = self.comm.lend(self.local.search_bytes(layout.starts), "bfs")
        if lent is None:
            return NotImplemented

        def meet():
            if lent.threads:
                self.comm.barrier("bfs")

        self.comm.announce("bfs", f"a search from {source} to {max_level}")
        with self.comm.launching("bfs"):
            found, outcome = self.local.bfs_of_ranks(
                own, into, degrees, layout.starts, self.rank, A.nvals, source, max_level, lent, meet
            )
        meet()
        return PartVector(A.nrows, found, layout, self), None, outcome

    def _search_graph(self: Any, A, AT):
        """(rows of A, of A' or None, lengths of all rows of A or None, layout), kept with A: of this rank's vertices.

        A search takes as long as the rank with most vertices that have edges.  Where rows are cut for products, by
        entries, that may be most of them (R-MAT 26 on two ranks: four fifths), and rows are moved once, if every rank
        has room for them.  Levels then are a vector of these other ranges.
        """
        forms = forms_of(A)
        if "search_graph" not in forms or forms["search_graph"][0] is not AT:
            own = self._rows_of(A)
            found = own, None, None, A.layout
            if AT is not None:
                degrees = self._degrees(A, own)
                into = own if AT is A else self._rows_of(AT)
                found = own, into, degrees, A.layout
                layout = self._cut_by_vertices(degrees, A.layout)
                if layout is not A.layout and self.has_room(*((A,) if AT is A else (A, AT))):
                    own = self._moved_rows(own, degrees, A.layout, layout)
                    if AT is not A:
                        into = self._moved_rows(into, self._degrees(AT, into), A.layout, layout)
                    found = own, own if AT is A else into, degrees, layout
            forms["search_graph"] = AT, *found
        return forms["search_graph"][1:]

    def _degrees(self: Any, A, own):
        """The lengths of all rows of A on every rank's device."""
        mine = self.local.run_reported(lambda: (own.indptr[1:] - own.indptr[:-1]).astype(np.int32), "bfs")
        self.comm.announce("bfs", f"lengths of {A.nrows} rows")
        return self.comm.allgather_known([mine], A.layout.lengths, "bfs")[0]

    def _cut_by_vertices(self: Any, degrees, layout):
        """Ranges with as many vertices with edges; `layout` where that is not much better.  The same on all ranks."""

        def cut():
            xp = self.local.xp
            weights = xp.cumsum((degrees > 0) * VERTEX_WITH_EDGES + 1, dtype=np.int64)
            total = int(weights[-1])
            at = xp.asarray(np.array([total * r // self.size for r in range(1, self.size)], np.int64))
            starts = place.host_array(xp.searchsorted(weights, at)) // GRAIN * GRAIN
            starts = np.array([0, *starts, layout.length], np.int64)
            ends = [place.host_array(weights[xp.asarray(np.maximum(s[1:] - 1, 0))]) for s in (layout.starts, starts)]
            return starts, [np.diff(found, prepend=0).max() for found in ends]

        starts, (given, best) = self.local.run_reported(cut, "bfs")
        return Rows(starts, self.rank) if given > MUCH_BETTER * best else layout

    def _moved_rows(self: Any, own, degrees, layout, to):
        """The rows of `to` as CSR, of which each rank has those of `layout`."""
        at = np.clip(to.starts - layout.first, 0, len(layout))
        cuts = self.local.run_reported(lambda: place.host_array(own.indptr[self.local.xp.asarray(at)]), "bfs")
        indices = self.comm.alltoall_cut([own.indices], cuts, "bfs")[0]

        def pointers():
            found = self.local.xp.zeros(len(to) + 1, own.indptr.dtype)
            self.local.xp.cumsum(degrees[to.first : to.stop], dtype=own.indptr.dtype, out=found[1:])
            return found

        indptr = self.local.run_reported(pointers, "bfs")
        return Compressed(len(to), own.ncols, own.dtype, indptr, indices, own.values, own.iso)  # no values are read

    def _rows_of(self: Any, A):
        """This rank's rows as CSR on its device, kept."""
        forms = forms_of(A)
        if "rows" not in forms:
            forms["rows"] = self.local.copy_here(self.local.convert(A.local, "csr"))
        return forms["rows"]
