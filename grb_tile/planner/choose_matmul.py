"""Dot products or Gustavson's rows for C<allow> = A B.

Dots read row i of A and column j of B for each permitted (i,j): worth it when the mask is sparse against the products
that a row-by-row walk would form.  Paper: push_pull_graphblas_icpp18, section 5.2 (masking), for matrices.
"""

from grb_tile.storage.convert import cached_transpose
from grb_tile.storage.work import dot_work, masked_products

from .choose_matvec import TRANSPOSE
from .record import Plan, forced

MASKED = 1.5  # cost of a product that is checked against the mask
DOT = 1.0  # cost of an entry of B's column tried against the bits of A's row


def choose_matmul(A, at, B, bt, allow, semiring):
    """The Plan for C<allow> = (A or A') (+.x) (B or B'): walk "dot" (wants B by columns) or "gustavson".

    A forced tile format is for products with a vector: no walk of matrix times matrix goes over tiles.
    """
    product = forced().product
    if product is not None and (product != "dot" or (allow is not None and not allow.complement)):
        return Plan("matmul", product, "csr", "forced")
    if allow is None or allow.complement:
        return Plan("matmul", "gustavson", "csr", "no_mask")
    pattern = allow.pattern
    dots = dot_work(B, bt, pattern) * DOT + A.indices.shape[0]
    if not bt and cached_transpose(B) is None:
        dots += B.indices.shape[0] * TRANSPOSE
    rows = masked_products(A, B, pattern, at, bt) * MASKED
    if bt and cached_transpose(B) is None:
        rows += B.indices.shape[0] * TRANSPOSE
    rows += pattern.nvals * 2.0
    figures = (dots, rows, pattern.nvals)
    if dots < rows:
        return Plan("matmul", "dot", "csr", "mask_small", figures)
    return Plan("matmul", "gustavson", "csr", "rows_of_product", figures)
