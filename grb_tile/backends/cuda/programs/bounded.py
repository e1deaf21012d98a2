"""C = A (+.x) B at the positions of a bound, for matrices that change in a loop (kernels/programs/bounded.cuh)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtypes import BOOL
from ....exceptions import CaptureError
from ....storage.store import BitmapVector
from ..lowering.semirings import lowered_plain
from ..structure.arrays import index_type, to_bitmap


def dot(device: Any, places: tuple, admitted: Any, left: tuple, right: tuple, semiring: Any) -> tuple[Any, Any]:
    """(values, hits), full vectors: of the product at each position, and whether it has an entry there.

    places: (row of each position, its column); admitted: the vector whose structure is the mask, None for all.
    left, right: (row pointers, columns, positions of the entries or None, the vector of the entries) of A and of B'.
    """
    rows, columns = places
    count = columns.shape[0]
    a, b = (to_bitmap(device, device.to_device(operand[3])) for operand in (left, right))
    s = lowered_plain(device, semiring, a.dtype, a.iso, b.dtype, b.iso)
    if s is None:
        raise CaptureError("programs: a product of matrices of a type that the device does not have")
    words = None if admitted is None else to_bitmap(device, device.to_device(admitted)).words
    values, hits = device.empty(1 if s.structure_only else count, s.dtype.np_type), device.empty(count, np.bool_)
    mean = max(left[1].shape[0] // max(left[0].shape[0] - 1, 1), 1)
    lanes = min(1 << (mean - 1).bit_length(), 32)
    template = index_type(columns), index_type(left[1]), index_type(right[1]), "S"
    s.kernel(device.launcher, "programs/bounded.cuh", "dot_bounded", template).over(-(-count * lanes // 32) * 32, (
        rows, columns, words, count, lanes, *left[:3], a.words, a.values if s.reads_a else None, *right[:3], b.words,
        b.values if s.reads_x else None, None if s.structure_only else values, hits,
    ))  # fmt: skip
    if s.structure_only:
        values = s.value(device, a, b)
    return (
        BitmapVector(count, s.dtype, None, values, count, s.structure_only),
        BitmapVector(count, BOOL, None, hits, count),
    )
