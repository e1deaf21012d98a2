"""The cheaper of rows and columns, once both costs are known: the rules that the host's and the device's plans share.

Paper: push_pull_graphblas_icpp18, section 6.3 (hysteresis).  Turning a matrix is paid for by ski-rental, like the
kernels.
"""

from ..storage.store import forms_of
from .record import Plan

HYSTERESIS = 1.25  # how much cheaper the other direction must be before it is taken


def cheaper(A, transposed, turned, rows, columns, count, transpose_cost):
    """The Plan for w = E u, E = A or its transpose when `transposed`; turned: A's transpose, None when it is not at hand.

    rows, columns: what the walks cost; count: entries of u; transpose_cost: of an entry when A must be turned first.
    """
    figures = (rows, columns, count)
    if turned is None:
        return _with_one_orientation(A, transposed, rows, columns, figures, A.indices.shape[0] * transpose_cost)
    forms = A.forms
    last = forms.get("last_direction")
    if rows < columns:
        walk, rule = "rows", "rows_cheaper"
        if last == "cols" and rows * HYSTERESIS > columns:
            walk, rule = "cols", "same_as_last"
    else:
        walk, rule = "cols", "columns_cheaper"
        if last == "rows" and columns * HYSTERESIS > rows:
            walk, rule = "rows", "same_as_last"
    forms["last_direction"] = walk
    return Plan("matvec", walk, "csr", rule, figures)


def _with_one_orientation(A, transposed, rows, columns, figures, turn):
    """Only A itself is there: the other direction costs a transpose first, or the rent paid so far."""
    here, there = (columns, rows) if transposed else (rows, columns)
    mine, other = ("cols", "rows") if transposed else ("rows", "cols")
    if there < here:
        forms = forms_of(A)
        rent = forms.get("cost_without_transpose", 0.0) + here - there
        forms["cost_without_transpose"] = rent
        if rent >= turn:
            return Plan("matvec", other, "csr", "rows_cheaper" if other == "rows" else "columns_cheaper", figures)
    return Plan("matvec", mine, "csr", "only_orientation", (here, there, turn))
