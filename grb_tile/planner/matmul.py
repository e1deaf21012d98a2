"""Dot products or Gustavson's rows for C<allow> = A B.

Dots read row i of A and column j of B for each permitted (i,j): worth it when the mask is sparse against the products
that a row-by-row walk would form.  Paper: push_pull_graphblas_icpp18, section 5.2 (masking), for matrices.
"""
from grb_tile.storage.convert import cached_transpose

from .matvec import TRANSPOSE
from .record import Plan, forced
from .statistics import mean_degree, remembered

MASKED = 1.5  # cost of a product that is checked against the mask
DOT = 1.0  # cost of an entry of B's column tried against the bits of A's row


def products(A, B):
    """Multiplications that the product of A and B takes (flops), kept with A: exact where both are CSR."""
    if A.rows is not None or B.rows is not None:
        return A.indices.shape[0] * mean_degree(B)
    known = A.forms.get("products") if A.forms else None
    if known is not None and known[0] == id(B.indices):
        return known[1]
    lengths = B.indptr[1:] - B.indptr[:-1]
    total = float(lengths[A.indices].sum()) if A.indices.shape[0] < 1 << 22 else _sampled(A, lengths)
    remembered(A, "products", lambda: None)
    A.forms["products"] = (id(B.indices), total)
    return total


def _sampled(A, lengths):
    step = A.indices.shape[0] >> 20
    return float(lengths[A.indices[::step]].sum()) * step


def dots_cost(A, BT, pattern):
    """Entries of B's columns that the places of the mask ask for, and A's rows spread once each."""
    if BT is None:
        mean = A.indices.shape[0] / max(pattern.ncols, 1)
        return pattern.nvals * mean * DOT
    if BT.rows is not None:
        return pattern.nvals * mean_degree(BT) * DOT
    lengths = BT.indptr[1:] - BT.indptr[:-1]
    step = (pattern.indices.shape[0] >> 20) + 1
    return float(lengths[pattern.indices[::step]].sum()) * step * DOT + A.indices.shape[0]


def choose_matmul(A, at, B, bt, allow, semiring):
    """The Plan for C<allow> = (A or A') (+.x) (B or B'): walk "dot" (wants B by columns) or "gustavson"."""
    rules = forced()
    format = rules.format or "csr"
    if rules.product is not None and (rules.product != "dot" or (allow is not None and not allow.complement)):
        return Plan("matmul", rules.product, format, "forced")
    if allow is None or allow.complement:
        return Plan("matmul", "gustavson", format, "no_mask")
    pattern = allow.pattern
    left = cached_transpose(A) if at else A
    right = cached_transpose(B) if bt else B
    by_columns = B if bt else cached_transpose(B)
    left_or_a = A if left is None else left
    dots = dots_cost(left_or_a, by_columns, pattern)
    if by_columns is None:
        dots += B.indices.shape[0] * TRANSPOSE
    if left is None or right is None:
        rows = left_or_a.indices.shape[0] * mean_degree(B) * MASKED
    else:
        rows = products(left, right) * MASKED
    if right is None:
        rows += B.indices.shape[0] * TRANSPOSE
    rows += pattern.nvals * 2.0
    figures = (dots, rows, pattern.nvals)
    if dots < rows:
        return Plan("matmul", "dot", format, "mask_small", figures)
    return Plan("matmul", "gustavson", format, "rows_of_product", figures)
