"""The method of C<mask> = A B over stores on a GPU, and the form of B (B or B') that is made where only one is stored.

Costs are in nanoseconds of an H200; another GPU scales them all, so the choice is the same there.
"""

from __future__ import annotations

from grb_tile.storage.convert import cached_transpose
from grb_tile.storage.work import dot_work, masked_products, row_lookups

from . import tuning
from .record import Plan


def choose_matmul_on_gpu(A, at: bool, B, bt: bool, pattern) -> Plan:
    """The Plan for C<pattern> = (A or A') (+.x) (B or B'), with the kernel of a row-wise product in it.

    dot             a lookup for each entry of a row of B', for each position of the mask; chosen without counting where
                    B is there by rows too (each row of the mask is then pulled or pushed), and where B' is given and
                    the mask has at most as many entries as A: counting takes 0.2 to 0.5 ms
    merge_at_mask   all products of the mask's rows, each looked up in the mask's row
    A method that costs less than the transpose that the other needs is chosen without counting the other's work.
    """
    entries = A.indices.shape[0]
    if entries + B.indices.shape[0] + pattern.nvals <= tuning.GPU_SMALL_MATRIX:
        return Plan("matmul", "gustavson", "csr", "matrix_small", (entries,))
    if cached_transpose(B) is not None:
        return Plan("matmul", "dot", "csr", "rows_choose", (pattern.nvals,))
    if bt and pattern.nvals <= entries:
        return Plan("matmul", "dot", "csr", "mask_of_operands", (pattern.nvals, entries))
    transpose = B.indices.shape[0] * tuning.GPU_TRANSPOSE_NS
    if bt:
        dots = row_lookups(A, at, pattern) * tuning.GPU_DOT_NS
        if dots <= transpose:
            return Plan("matmul", "dot", "csr", "mask_small", (dots, transpose, pattern.nvals))
        by_columns = dot_work(B, bt, pattern) * tuning.GPU_DOT_NS
        dots = min(dots, by_columns) + pattern.nvals * tuning.GPU_DOT_POSITION_NS
        rows = masked_products(A, B, pattern, at, bt) * tuning.GPU_MASKED_PUSH_NS + transpose
    else:
        rows = masked_products(A, B, pattern, at, bt) * tuning.GPU_MASKED_PUSH_NS
        dots = transpose
        if rows > transpose:
            dots += min(dot_work(B, bt, pattern), row_lookups(A, at, pattern)) * tuning.GPU_DOT_NS
            dots += pattern.nvals * tuning.GPU_DOT_POSITION_NS
    figures = (dots, rows, pattern.nvals)
    if dots < rows:
        return Plan("matmul", "dot", "csr", "mask_small", figures)
    plan = Plan("matmul", "gustavson", "csr", "rows_of_product", figures)
    plan.use_kernel("merge_at_mask", "mask_bounds")
    return plan
