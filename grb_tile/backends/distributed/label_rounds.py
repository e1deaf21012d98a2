"""Rounds of local moves over ranks: labels on every rank, and the entries of its own rows of the matrix.

Sums over the entries of the vertices that move are added up over the ranks, an array of two numbers for each vertex a
round; all else of a round every rank computes for itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...storage.dense import compressed as without_dense
from ...storage.place import host
from ...storage.store import forms_of
from .. import local_moves


class LabelRounds:
    """Methods of DistributedBackend."""

    def move_half(self: Any, B, x, K, at, vote, slack, used, k, key):
        rows, first = self._rows_on_host(B)
        return local_moves.move_half(rows, x, K, at, tuple(vote), slack, used, k, key, first, self._added)

    def join_half(self: Any, E, y, sums, at, vote, level, key, few):
        rows, first = self._rows_on_host(E)
        return local_moves.join_half(rows, y, sums, at, tuple(vote), tuple(level), key, few, first, self._added)

    def entries_inside(self: Any, A, labels):
        """graph/communities.py composes it of operations over ranks."""
        return NotImplemented

    def _rows_on_host(self: Any, A):
        """(this rank's rows as CSR on the host, the number of the first of them)."""
        part = self.part(A)
        forms = forms_of(part)
        if "rows_on_host" not in forms:
            forms["rows_on_host"] = host(self.local.convert(without_dense(part.local), "csr"))
        return forms["rows_on_host"], part.layout.own.start

    def _added(self: Any, array):
        """The sums of the arrays of all ranks, added in their order."""
        array = array.astype(np.float64, copy=False)  # bincount of nothing has integers
        return np.sum(self.comm.allgather_array(array, "move_half"), axis=0)
