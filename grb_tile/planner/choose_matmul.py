"""Dot products or Gustavson's rows for C<mask> = A B.

A dot product reads row i of A and column j of B for each admitted (i,j). It is chosen where the mask is sparse against
the products of Gustavson's method. Paper: push_pull_graphblas_icpp18, section 5.2 (masking), for matrices.
"""

from __future__ import annotations

from grb_tile.operators import ANY
from grb_tile.storage.convert import cached_transpose
from grb_tile.storage.place import is_host
from grb_tile.storage.work import dot_work, masked_products

from . import tuning
from .choose_kernel import SPGEMM
from .choose_matmul_gpu import choose_matmul_on_gpu
from .record import Plan, forced


def choose_matmul(A, at: bool, B, bt: bool, mask, semiring) -> Plan:
    """The Plan for C<mask> = (A or A') (+.x) (B or B'): method "dot" (needs B by columns) or "gustavson".

    A forced tile format is for products with a vector: no product of two matrices goes over tiles.
    """
    product, kernel = forced().product, forced().kernel
    if kernel in SPGEMM and product is None:
        return Plan("matmul", "gustavson", "csr", "kernel_unsuited" if is_host(A) else "forced", (kernel,))
    if product is not None and (product != "dot" or (mask is not None and not mask.complement)):
        return Plan("matmul", product, "csr", "forced")
    if mask is None or mask.complement:
        return Plan("matmul", "gustavson", "csr", "no_mask")
    pattern = mask.pattern
    if not is_host(A):
        return choose_matmul_on_gpu(A, at, B, bt, pattern)
    most = max(A.indices.shape[0], B.indices.shape[0], pattern.indices.shape[0])
    if most <= tuning.CPU_SMALL_MATRICES:
        method = "dot" if bt and cached_transpose(B) is None else "gustavson"
        return Plan("matmul", method, "csr", "matrices_small", (most,))
    dots = dot_work(B, bt, pattern) * tuning.DOT_ENTRY + A.indices.shape[0]
    if semiring.binaryop.kind != "pair" and semiring.monoid.terminal is not ANY:
        dots *= tuning.DOT_VALUE
    if not bt and cached_transpose(B) is None:
        dots += B.indices.shape[0] * tuning.MATMUL_TRANSPOSE
    rows = masked_products(A, B, pattern, at, bt) * tuning.CHECKED_PRODUCT
    if bt and cached_transpose(B) is None:
        rows += B.indices.shape[0] * tuning.MATMUL_TRANSPOSE
    rows += pattern.nvals * tuning.MASK_POSITION
    figures = (dots, rows, pattern.nvals)
    if dots < rows:
        return Plan("matmul", "dot", "csr", "mask_small", figures)
    return Plan("matmul", "gustavson", "csr", "rows_of_product", figures)
