"""C = A B for dense A and B on the device by cuBLAS, where it is plus_times of FP32 or FP64; other semirings: spmm.py.

Sums are in cuBLAS's order, the same for the same shapes on the same device.  Of bitmaps whose values are all finite,
with zeros at absent positions (kernels/products/dense_flags.cuh).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner.choose_precision import precision_of
from ....storage.dense import in_two_dimensions
from ....storage.store import BitmapVector, Dense
from ...dense_products import is_blas
from ..structure.arrays import counted_later

if TYPE_CHECKING:
    from ..runtime.device import Device

_HEADER = "products/dense_flags.cuh"


def dense_matmul(device: Device, A: Dense, B: Dense, semiring: Any) -> Any:
    """Semantics: backends/protocol.py.  NotImplemented for others than these, and in a turn of a program.

    Of bitmaps a read-back says whether all values are finite; NotImplemented where they are not.
    """
    if device.turns is not None or not is_blas(semiring, A.flat, B.flat):
        return NotImplemented
    if precision_of(semiring, A.dtype, B.dtype) != "exact" or not _has_blas(device):
        return NotImplemented
    a, b = (device.to_device(X.flat) for X in (A, B))
    if a.words is None and b.words is None:
        values = _multiplied(device, A, a.values, B, b.values)
        return Dense(
            A.nrows, B.ncols, BitmapVector(values.shape[0], semiring.return_type, None, values, values.shape[0])
        )
    infinite = device.counters()
    (a, a_flags), (b, b_flags) = (_filled(device, x, infinite) for x in (a, b))
    if device.read_count(infinite):
        return NotImplemented
    values = _multiplied(device, A, a, B, b)
    if b_flags is None:
        counts, steps = in_two_dimensions(A, a_flags).sum(axis=1), (1, 0)
    elif a_flags is None:
        counts, steps = in_two_dimensions(B, b_flags).sum(axis=0), (0, 1)
    else:
        counts, steps = _multiplied(device, A, a_flags, B, b_flags), (B.ncols, 1)
    size, count = values.shape[0], device.counters()
    words = device.empty((size + 63) >> 6, np.uint64)
    kernel = device.launcher.kernel(_HEADER, "words_of_counts", "", ("void",))
    kernel.over((size + 63) & ~63, (counts, size, B.ncols, *steps, words, count), block=64)
    return Dense(A.nrows, B.ncols, counted_later(device, size, semiring.return_type, words, values, count))


def _multiplied(device, A, a, B, b):
    """The product of the arrays, which have an element for each position of A and of B, by rows."""
    return device.xp.ascontiguousarray(in_two_dimensions(A, a) @ in_two_dimensions(B, b)).reshape(-1)


def _filled(device, x, infinite):
    """(values with zeros at absent positions, flags as FP32, or None of a full vector); counts those not finite."""
    n, full = x.size, x.words is None
    out, flags = (None, None) if full else (device.empty(n, x.values.dtype), device.empty(n, np.float32))
    kernel = device.launcher.kernel(_HEADER, "filled_values", "", (x.dtype.cuda_type,))
    kernel.over(n, (x.words, x.values, n, out, flags, infinite))
    return (x.values if full else out), flags


def _has_blas(device):
    """Can CuPy load cuBLAS, which an installation may lack?"""
    found = device.prepared.get("blas")
    if found is None:
        one = device.full((1, 1), 1, "float64")
        try:
            one @ one
            found = True
        except (ImportError, OSError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and type(error) is not RuntimeError:  # of CUDA: memory, for example
                raise
            found = False
        device.prepared["blas"] = found
    return found
