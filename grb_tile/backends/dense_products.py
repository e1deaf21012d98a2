"""C<M> = A B where an operand is dense: which product of a backend computes it.

    sparse x dense   SpMM: C is dense                     dense x sparse   C' = B' A', SpMM over the transposed operands
    dense x dense    SpMM over the first operand's CSR     full x full<M>   SDDMM: dot products at M's entries only

A mask is applied to the finished SpMM, which costs as much as writing it once more; where the mask admits few positions
the row-wise product of the operands' CSR is the cheaper one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..storage.dense import by_rows, in_order, matrix_of, transposed
from ..storage.store import Allow, Compressed, Dense

if TYPE_CHECKING:
    from .protocol import Backend

FEW_ALLOWED = 8  # positions of C for each one that the mask admits, from which on a masked sparse product is made
FEW_ROWS = 4  # rows of A for each of its entries, from which on most rows of C are empty: C is not made dense


def product(backend: Backend, A: Compressed, B: Compressed, semiring: Any, allow: Allow | None) -> tuple | None:
    """(C, "spmm" or "sddmm"), or None where the product over CSR is as good; one operand at least is dense."""
    size = A.nrows * B.ncols
    if size == 0 or A.ncols == 0:
        return None
    if allow is not None and not allow.complement and type(allow.pattern) is not Dense:
        if _is_full(A) and _is_full(B):
            C = backend.sddmm(in_order(A, False), in_order(B, True), semiring, allow.pattern)
            if C is not NotImplemented:
                return C, "sddmm"
        if allow.pattern.nvals * FEW_ALLOWED < size:
            return None
    C = _spmm(backend, A, B, semiring)
    if C is NotImplemented:
        return None
    C = matrix_of(C.flat, C.nrows, C.ncols, C.by_columns)
    return (C if allow is None else backend.restrict(C, allow)), "spmm"


def _is_full(A):
    return type(A) is Dense and A.flat.words is None


def _spmm(backend, A, B, semiring):
    if type(B) is Dense:
        A = by_rows(A) if type(A) is Dense else A
        if A.rows is not None or A.nrows > FEW_ROWS * A.nvals:
            return NotImplemented
        return backend.spmm(A, in_order(B, False), semiring)
    if semiring.binaryop.positional is not None or B.rows is not None or B.ncols > FEW_ROWS * B.nvals:
        return NotImplemented
    C = backend.spmm(backend.transpose(B), in_order(transposed(A), False), semiring.flip())
    return C if C is NotImplemented else transposed(C)
