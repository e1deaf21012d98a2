"""What the searches of one graph keep with the store of its out-edges."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device


class KeptGraph:
    """Device arrays of a graph, kept in the forms of its out-edges.

    It refers to arrays, never to the stores themselves: a store that its own forms refer to would keep its device
    memory until Python collects garbage.
    """

    def __init__(self, device: Device, out_edges: Compressed, in_edges: Compressed | None) -> None:
        self.device = device
        self.n, self.nvals = out_edges.nrows, out_edges.nvals
        self._in_edges = None if in_edges is None else weakref.ref(in_edges)

    def is_of(self, device: Device, in_edges: Compressed | None) -> bool:
        """Was it made on this device, for these in-edges?"""
        made_for = None if self._in_edges is None else self._in_edges()
        return self.device is device and made_for is in_edges and (self._in_edges is None) == (in_edges is None)
