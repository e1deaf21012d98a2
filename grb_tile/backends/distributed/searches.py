"""Searches by one launch on each rank's device, whose kernels exchange through memory that all devices have mapped.

That is how a graph is searched that fits no single device, and any other until it is kept whole (whole_loops.py), on
which one device is faster: R-MAT 26 takes 1.0 ms on one and 2.8 on two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...storage.store import forms_of
from .layout import GRAIN
from .parts import PartVector

LARGEST = 2**31 - 128  # vertices: their numbers have 32 bits


class Searches:
    """Methods of DistributedBackend."""

    def can_search(self: Any, A, AT) -> bool:
        """Are all devices on one host, and rows cut at words of bits?  The same on all ranks."""
        if not self.comm.moves_devices or self.size == 1 or not hasattr(self.local, "bfs_of_ranks"):
            return False
        layout = self.part(A).layout
        within_words = (layout.starts % GRAIN != 0) & (layout.starts != layout.length)
        return layout.length < LARGEST and not within_words.any() and (AT is None or self.part(AT).layout == layout)

    def search(self: Any, A, AT, source, max_level):
        """bfs of one source for its levels, where can_search; NotImplemented where devices have no memory for it."""
        A, AT = self.part(A), None if AT is None else self.part(AT)
        layout, entries = A.layout, A.nvals
        lent = self.comm.lend(self.local.search_bytes(layout.starts), "bfs")
        if lent is None:
            return NotImplemented
        own = self._rows_of(A)
        into = own if AT is A else None if AT is None else self._rows_of(AT)
        degrees = None if AT is None else self._degrees(A, own)

        def meet():
            if lent.threads:
                self.comm.barrier("bfs")

        self.comm.announce("bfs", f"a search from {source} to {max_level}")
        with self.comm.launching("bfs"):
            found, outcome = self.local.bfs_of_ranks(
                own, into, degrees, layout.starts, self.rank, entries, source, max_level, lent, meet
            )
        meet()
        return PartVector(A.nrows, found, layout, self), None, outcome

    def _degrees(self: Any, A, own):
        """The lengths of all rows of A on every rank's device, kept."""
        forms, layout = forms_of(A), A.layout
        if "degrees" not in forms:
            mine = self.local.run_reported(lambda: (own.indptr[1:] - own.indptr[:-1]).astype(np.int32), "bfs")
            self.comm.announce("bfs", f"lengths of {A.nrows} rows")
            forms["degrees"] = self.comm.allgather_known([mine], layout.lengths, "bfs")[0]
        return forms["degrees"]

    def _rows_of(self: Any, A):
        """This rank's rows as CSR on its device, kept."""
        forms = forms_of(A)
        if "rows" not in forms:
            forms["rows"] = self.local.copy_here(self.local.convert(A.local, "csr"))
        return forms["rows"]
