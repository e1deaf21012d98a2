"""The graph of classes of equal labels: entries relabelled, sorted and combined, as a build with duplicates.

A product with the matrix of labels would put each row's entries into hash tables, most of which are large; a radix sort
streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..structure.arrays import gather, row_ids
from ..structure.build import build_matrix
from ..structure.prefix_sums import Flagged

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

BYTES = 64  # for an entry, at most: two labels, keys and values before and after the sort


def quotient(device: Device, A: Compressed, labels: Any, count: int, dup: Any, inner: bool = True) -> Any:
    """See GraphOperations.quotient; NotImplemented where memory is short."""
    if A.nvals * BYTES > device.memory()[0]:
        return NotImplemented
    rows, cols = gather(device, labels, row_ids(device, A)), gather(device, labels, A.indices)
    values = A.values[:1] if A.iso else A.values
    if not inner:
        kept = Flagged(device, rows != cols)
        (rows, cols), values = kept.of(rows, cols), values if A.iso else kept.of(None, values)[1]
    return build_matrix(device, count, count, rows, cols, values, dup, A.dtype)
