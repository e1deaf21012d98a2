"""Sparse tensors of PyTorch to Matrix and Vector, by their methods, for which PyTorch is not imported; and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from grb_tile.io.arrays import from_csr
from grb_tile.io.build import matrix_from_triples
from grb_tile.io.errors import missing_library

if TYPE_CHECKING:
    from grb_tile import Matrix, Vector


def is_sparse_tensor(x: Any) -> bool:
    """Is it a tensor of PyTorch with a sparse layout?"""
    return "sparse" in str(getattr(x, "layout", ""))


def from_torch(t: Any, *, name: str | None = None) -> Any:
    """Vector or Matrix with the stored entries of a sparse tensor (COO, CSR or CSC), explicit zeros included.

    Values at one position of a COO tensor are added, which is what they mean in PyTorch.  A tensor on a GPU is copied
    to the host; gradients are left behind.

    Raises: TypeError for a dense tensor (from_numpy takes it), for other layouts and for 16-bit floats; ValueError for
    a tensor that is neither a vector nor a matrix.
    Of full objects torch.from_dlpack(A) makes dense tensors.
    """
    if not is_sparse_tensor(t):
        raise TypeError(f"t: expected a sparse tensor, got {type(t).__name__}; gb.io.from_numpy takes dense ones")
    if "float16" in str(getattr(t, "dtype", "")):
        raise TypeError(f"t: GraphBLAS has no type for {t.dtype}; write t.float()")
    layout = str(t.layout).rpartition("_")[2]
    shape = tuple(int(size) for size in t.shape)
    if len(shape) not in (1, 2):
        raise ValueError(f"t: a tensor of one or two dimensions was expected, got the shape {shape}")
    if layout == "coo":
        t = t.coalesce()
        ends, values = _array(t.indices()), _array(t.values())
        if values.ndim != 1:
            raise ValueError(f"t: values of the shape {values.shape[1:]} are dense parts; write t.to_dense()")
        if len(shape) == 1:
            from grb_tile import Vector

            return Vector.from_coo(ends[0], values, size=shape[0], name=name)
        return matrix_from_triples(shape[0], shape[1], ends[0], ends[1], values, dtype=values.dtype, name=name)
    if layout == "csr":
        starts, ends = _array(t.crow_indices()), _array(t.col_indices())
        return from_csr(starts, ends, _array(t.values()), ncols=shape[1], name=name)
    if layout == "csc":
        starts, ends = _array(t.ccol_indices()), _array(t.row_indices())
        return from_csr(starts, ends, _array(t.values()), ncols=shape[0]).T.new(name=name)
    raise TypeError(f"t: expected the layout sparse_coo, sparse_csr or sparse_csc, got {t.layout}; write t.to_sparse()")


def to_torch(A: Matrix | Vector) -> Any:
    """The sparse tensor of the entries, on the host: CSR of a Matrix, COO of a Vector.

    Raises: ImportError where PyTorch is missing; what PyTorch raises for types that it does not have.
    """
    try:
        import torch
    except ImportError:
        raise missing_library("torch", "make tensors of PyTorch") from None
    if len(A.shape) == 1:
        indices, values = A.to_coo()
        places = torch.from_numpy(indices.astype(np.int64)[None])
        return torch.sparse_coo_tensor(
            places, torch.from_numpy(values), A.shape, is_coalesced=True, check_invariants=False
        )
    indptr, columns, values = cast("Matrix", A).to_csr()
    starts, ends = (torch.from_numpy(part.astype(np.int64)) for part in (indptr, columns))
    return torch.sparse_csr_tensor(starts, ends, torch.from_numpy(values), A.shape, check_invariants=False)


def _array(tensor: Any) -> np.ndarray:
    return tensor.detach().cpu().numpy()
