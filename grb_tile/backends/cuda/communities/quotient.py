"""The graph of classes of equal labels: entries relabelled, sorted and combined, as a build with duplicates.

A product with the matrix of labels would put each row's entries into hash tables, most of which are large; a radix sort
streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..structure.arrays import gather, ranges, row_ids
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
    values = A.values[:1] if A.iso else A.values
    if inner or A.rows is not None or A.indices.dtype != np.int32:
        rows, cols = gather(device, labels, row_ids(device, A)), gather(device, labels, A.indices)
        if not inner:
            kept = Flagged(device, rows != cols)
            (rows, cols), values = kept.of(rows, cols), values if A.iso else kept.of(None, values)[1]
    else:
        label, flags = labels.astype(np.int32), device.empty(A.indices.shape[0], np.bool_)
        kernel = device.launcher.kernel("communities/quotient.cuh", "between_classes")
        kernel.over(32 * A.nrows, (A.indptr, A.indices, label, A.nrows, flags))
        kept = Flagged(device, flags)
        columns, found = kept.of(A.indices, None if A.iso else values)
        values, cols = values if A.iso else found, gather(device, label, columns)
        ends = kept.starts(A.indptr)[1:]
        rows = ranges(device, None, ends, kept.count, names=label, segment_dtype=np.int32, want_at=False)[0]
    return build_matrix(device, count, count, rows, cols, values, dup, A.dtype)
