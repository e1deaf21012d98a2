"""C = A B for full A and B on the device by cuBLAS, where it is plus_times of FP32 or FP64; other semirings: spmm.py.

Sums are in cuBLAS's order, the same for the same shapes on the same device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....planner.choose_precision import precision_of
from ....storage.dense import in_two_dimensions
from ....storage.store import BitmapVector, Dense
from ...dense_products import is_blas

if TYPE_CHECKING:
    from ..runtime.device import Device


def dense_matmul(device: Device, A: Dense, B: Dense, semiring: Any) -> Any:
    """Semantics: backends/protocol.py.  NotImplemented for others than these, and in a turn of a program."""
    if device.turns is not None or not is_blas(semiring, A.flat, B.flat):
        return NotImplemented
    if precision_of(semiring, A.dtype, B.dtype) != "exact" or not _has_blas(device):
        return NotImplemented
    a, b = (in_two_dimensions(X, device.to_device(X.flat).values) for X in (A, B))
    values = a @ b
    values = device.xp.ascontiguousarray(values).reshape(-1)
    size = values.shape[0]
    return Dense(A.nrows, B.ncols, BitmapVector(size, semiring.return_type, None, values, size))


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
