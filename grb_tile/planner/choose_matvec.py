"""Row-wise or column-wise method for w<mask> = E u, where E is A or its transpose.

Paper: push_pull_graphblas_icpp18, sections 3 (costs), 5.1, 5.2, 6.3 (hysteresis); Beamer's edges of the frontier
against edges of the rows that the mask admits. Costs are in nanoseconds (tuning/host.py).
"""

from __future__ import annotations

from grb_tile.operators.iso_products import is_iso_product
from grb_tile.storage.convert import cached_transpose
from grb_tile.storage.place import is_host
from grb_tile.storage.store import forms_of

from . import tuning
from .choose_direction import cheaper
from .choose_kernel import BINNED
from .choose_matvec_gpu import choose_on_gpu
from .matvec_work import admitted_rows, column_wise_ns, estimate_work, is_dense_sum, row_wise_ns, sample_work
from .record import FREE, KERNEL_METHODS, Plan, forced
from .statistics import stored_rows

_METHODS = {"rows": "rows", "pull": "rows", "cols": "cols", "push": "cols"}


def can_stop_early(semiring) -> bool:
    """May a row end before its last entry: any value will do, or a terminal value was reached?"""
    monoid = semiring.monoid
    return monoid.terminal is not None and (semiring.binaryop.kind == "pair" or monoid.type.np_type.kind == "b"
                                            or monoid.binaryop.kind == "any")  # fmt: skip


def choose_matvec(A, transposed: bool, u, mask, semiring, backend=None) -> Plan:
    """The Plan for w<mask> = E u over `semiring`; E = A, or A's transpose when `transposed`.

    rows needs E by rows, cols needs E's transpose by rows. The one that is not stored costs a transpose, which is made
    once a break-even counter (ski rental) has reached its cost. backend: which methods are compiled, and on a device
    how fast they are; None: all are compiled.
    """
    rules = forced()
    on_host = is_host(A)
    if rules is not FREE:
        method, format = rules.method, rules.format or "csr"
        if rules.kernel is not None:
            wanted = KERNEL_METHODS.get(rules.kernel)
            if wanted is not None and on_host and rules.kernel != BINNED:
                method = wanted if method is None else method
                return Plan("matvec", _METHODS[method], "csr", "kernel_unsuited", (rules.kernel,))
            method = wanted or method
        if method is not None:
            method = _METHODS[method]
            return Plan("matvec", method, format if method == "rows" else "csr", "forced")
        if format != "csr":
            return Plan("matvec", "rows", format, "forced")
    if not on_host:
        sorts = backend.sorts_products(A, u, semiring)
        return choose_on_gpu(A, transposed, u, mask, can_stop_early(semiring), backend, sorts)
    entries = A.indices.shape[0]
    if u.nvals == 0 or entries == 0:
        return Plan("matvec", "cols" if transposed else "rows", "csr", "vector_empty")
    transpose = cached_transpose(A)
    if entries <= tuning.CPU_SMALL_MATRIX:
        method = _of_small(A, transposed, transpose, u, semiring, can_stop_early(semiring))
        return Plan("matvec", method, "csr", "matrix_small", (entries,))
    return _by_costs(A, transposed, transpose, u, mask, semiring, backend)


def _of_small(A, transposed, transpose, u, semiring, early):
    """The method for a matrix of few entries where both orientations are stored: cols for a list, and for a bitmap with
    gaps whose rows do not stop early; else rows.

    The orientation that is not stored is made once it has paid: for lists, and for full vectors whose sums by rows are
    faster.
    """
    other, here = ("rows", "cols") if transposed else ("cols", "rows")
    listed, full = u.format == "sparse", u.nvals == u.size
    if transpose is not None:
        return "rows" if not listed and (early or full) else "cols"
    entries = A.indices.shape[0]
    if transposed == listed or transposed and not (full and (early or is_dense_sum(A, u, semiring))):
        return here
    if transposed:
        saved = entries * (tuning.CPU_SUM_NS - tuning.CPU_ENTRY_NS)
    else:  # rows and entries read in vain
        saved = stored_rows(A) * tuning.CPU_LOOKED_ROW_NS + entries * tuning.CPU_LOOK_UP_NS
    forms = forms_of(A)  # ski rental, as in choose_direction.py
    saved = forms["transpose_counter"] = forms.get("transpose_counter", 0.0) + saved
    price = tuning.NUMPY_CALL_NS + entries * tuning.NUMPY_TRANSPOSE_NS
    return other if saved >= price else here


def _costs(A, transposed, transpose, u, mask, semiring, early, iso):
    """(Work, ns of the row-wise method, of the column-wise one, is the work sampled?), both compiled."""
    by_rows, by_columns = (transpose, A) if transposed else (A, transpose)
    dense = is_dense_sum(by_columns or A, u, semiring)
    work = estimate_work(A, transposed, by_rows, by_columns, u, mask)
    rows, columns = row_wise_ns(work, u, early, True), column_wise_ns(work, u, mask, True, iso, dense)
    low, high = (rows, columns) if rows < columns else (columns, rows)
    if low <= 2 * tuning.CPU_SAMPLE_NS or high >= low * tuning.CPU_SURE:
        return work, rows, columns, False
    work = sample_work(A, transposed, by_rows, by_columns, u, mask, early)  # a wrong choice may cost more than a sample
    return work, row_wise_ns(work, u, early, True), column_wise_ns(work, u, mask, True, iso, dense), True


class Settled:
    """choose_matvec on the host for operands whose kinds stay the same and whose kernels are compiled.

    What the choice reads of the semiring and the kinds is kept; so is the last Plan's content, which equal numbers of
    entries give again where no list of entries was counted, nothing sampled and no counter moved.
    """

    __slots__ = ("_early", "_iso", "_key", "_last", "_longest_ns", "_semiring")

    def __init__(self, A, u, semiring):
        self._semiring = semiring
        self._early, self._iso = can_stop_early(semiring), is_iso_product(semiring, A, u)
        self._key = self._last = self._longest_ns = None

    def choose(self, A, transposed: bool, transpose, u, mask, backend) -> Plan:
        """The Plan; nothing is forced.  transpose: the cached one, or None."""
        entries, count = A.indices.shape[0], u.nvals
        if count == 0:
            return Plan("matvec", "cols" if transposed else "rows", "csr", "vector_empty")
        if entries <= tuning.CPU_SMALL_MATRIX:
            method = _of_small(A, transposed, transpose, u, self._semiring, self._early)
            return Plan("matvec", method, "csr", "matrix_small", (entries,))
        if u.format == "sparse" and count < u.size:
            plan = self._surely_columns(A, transposed, transpose, count, mask)
            if plan is not None:
                return plan
        key = None
        if u.format == "bitmap" and (mask is None or mask.complement):
            key = count, None if mask is None else mask.pattern.nvals, transpose is None, A.forms.get("last_method")
            if key == self._key:
                return Plan("matvec", *self._last)
        _, rows, columns, sampled = _costs(A, transposed, transpose, u, mask, self._semiring, self._early, self._iso)
        price = 0.0
        if transpose is None:
            if (columns < rows) != transposed:
                key = None  # the counter of a transpose moves
                compiled = backend.is_ready("transpose", A)
                price = tuning.CPU_TRANSPOSE_NS if compiled else tuning.NUMPY_TRANSPOSE_NS
            else:
                price = tuning.CPU_TRANSPOSE_NS
        plan = cheaper(A, transposed, transpose, rows, columns, count, price)
        if key is not None and not sampled and A.forms.get("last_method") == key[3]:
            self._key, self._last = key, (plan.method, "csr", plan.rule, plan.figures)
        return plan

    def _surely_columns(self, A, transposed, transpose, count, mask):
        """The Plan of columns where they cost less even if each were as long as the longest; None where that is open.

        The rows that are admitted are looked at, whatever they hold: nothing is counted.
        """
        by_columns = A if transposed else transpose
        if by_columns is None or by_columns.rows is not None:
            return None
        longest = self._longest_ns
        if longest is None:
            each = tuning.CPU_SET_BIT_NS if self._iso else tuning.CPU_SCATTER_NS + tuning.CPU_BRANCH_NS
            lengths = by_columns.indptr[1:] - by_columns.indptr[:-1]
            longest = self._longest_ns = int(lengths.max()) * each + tuning.CPU_COLUMN_NS
        rows = admitted_rows(by_columns, True, mask) * tuning.CPU_LOOKED_ROW_NS
        if count * longest * tuning.HYSTERESIS >= rows:
            return None
        if transpose is not None:
            A.forms["last_method"] = "cols"
        return Plan("matvec", "cols", "csr", "columns_surely", (rows, count * longest, count))


def _by_costs(A, transposed, transpose, u, mask, semiring, backend):
    """The Plan by the current costs of both methods: compiled, or in NumPy while they are not compiled."""
    early, iso = can_stop_early(semiring), is_iso_product(semiring, A, u)
    work, rows, columns, _ = _costs(A, transposed, transpose, u, mask, semiring, early, iso)
    sure = columns * tuning.CPU_SURE < rows or max(rows, columns) < tuning.CPU_UNASKED_NS
    if backend is None or sure and transpose is not None:
        return cheaper(A, transposed, transpose, rows, columns, u.nvals, tuning.CPU_TRANSPOSE_NS)
    if transpose is None and (columns < rows) == transposed:  # nothing that the other kernel is could change it
        if sure or backend.is_ready("matvec_cols" if transposed else "matvec_rows", A, u, semiring, mask) is not None:
            return cheaper(A, transposed, None, rows, columns, u.nvals, tuning.CPU_TRANSPOSE_NS)
    rows_ready = backend.is_ready("matvec_rows", A, u, semiring, mask)
    columns_ready = backend.is_ready("matvec_cols", A, u, semiring, mask)
    numpy_rows = 0.0 if rows_ready else row_wise_ns(work, u, early, False)
    numpy_columns = 0.0 if columns_ready else column_wise_ns(work, u, mask, False)
    # once the kernels are compiled; a method without kernel stays in NumPy
    rows = numpy_rows if rows_ready is None else rows
    columns = numpy_columns if columns_ready is None else columns
    if transpose is None:  # a transpose serves later calls
        compiled = backend.is_ready("transpose", A)
        price = tuning.CPU_TRANSPOSE_NS if compiled else tuning.NUMPY_TRANSPOSE_NS
        return cheaper(A, transposed, None, rows, columns, u.nvals, price)
    rows_now, columns_now = numpy_rows or rows, numpy_columns or columns
    plan = cheaper(A, transposed, transpose, rows_now, columns_now, u.nvals, 0.0)
    if plan.method == "cols" and rows < min(rows_now, columns_now):
        backend.count_saving((columns_now - rows) * 1e-9, "matvec_rows", A, u, semiring, mask)
    elif plan.method == "rows" and columns < min(rows_now, columns_now):
        backend.count_saving((rows_now - columns) * 1e-9, "matvec_cols", A, u, semiring, mask)
    return plan
