"""Row-wise or column-wise by the costs of both: the rules that the plans for the CPU and for a GPU share.

Paper: push_pull_graphblas_icpp18, section 6.3 (hysteresis). A break-even counter (ski rental) pays for the transpose.
"""

from __future__ import annotations

from ..storage.store import forms_of
from . import tuning
from .record import Plan


def cheaper(A, transposed: bool, transpose, rows: float, columns: float, count: int, transpose_ns: float) -> Plan:
    """The Plan for w = E u, E = A or its transpose when `transposed`; transpose: the cached one, or None.

    rows, columns: costs of both methods in ns; count: entries of u; transpose_ns: ns an entry to make a transpose.
    """
    figures = (rows, columns, count)
    if transpose is None:
        return _with_one_orientation(A, transposed, rows, columns, figures, A.indices.shape[0] * transpose_ns)
    forms = A.forms
    last = forms.get("last_method")
    if rows < columns:
        method, rule = "rows", "rows_cheaper"
        if last == "cols" and rows * tuning.HYSTERESIS > columns:
            method, rule = "cols", "same_as_last"
    else:
        method, rule = "cols", "columns_cheaper"
        if last == "rows" and columns * tuning.HYSTERESIS > rows:
            method, rule = "rows", "same_as_last"
    forms["last_method"] = method
    return Plan("matvec", method, "csr", rule, figures)


def _with_one_orientation(A, transposed, rows, columns, figures, transpose_cost):
    """Only A itself is stored: the other direction costs the transpose, less what the counter has accumulated."""
    here, there = (columns, rows) if transposed else (rows, columns)
    mine, other = ("cols", "rows") if transposed else ("rows", "cols")
    if there < here:
        forms = forms_of(A)
        saved = forms.get("transpose_counter", 0.0) + here - there
        forms["transpose_counter"] = saved
        if saved >= transpose_cost:
            return Plan("matvec", other, "csr", "rows_cheaper" if other == "rows" else "columns_cheaper", figures)
    saved = A.forms.get("transpose_counter", 0.0) if A.forms else 0.0
    return Plan("matvec", mine, "csr", "only_orientation", (here, there, transpose_cost, saved))
