"""Rows or columns for w<allow> = E u, where E is A or its transpose.

Paper: push_pull_graphblas_icpp18, sections 3 (costs), 5.1, 5.2, 6.3 (hysteresis); Beamer's edges of the frontier
against edges of what is still allowed. Costs are in nanoseconds (tuning.py).
"""

from __future__ import annotations

from grb_tile.storage.convert import cached_transpose
from grb_tile.storage.place import is_host

from . import tuning
from .choose_direction import cheaper
from .choose_matvec_gpu import choose_on_gpu
from .record import FREE, KERNEL_METHODS, Plan, forced
from .statistics import edges_of, mean_degree, stored_rows

_METHODS = {"rows": "rows", "pull": "rows", "cols": "cols", "push": "cols"}


def can_stop_early(semiring) -> bool:
    """May a row end before its last entry: any value will do, or a terminal value was reached?"""
    monoid = semiring.monoid
    return monoid.terminal is not None and (semiring.binaryop.kind == "pair" or monoid.type.np_type.kind == "b"
                                            or monoid.binaryop.kind == "any")  # fmt: skip


def rows_cost(A, u, allow, transposed: bool, early: bool, frontier_edges: float) -> float:
    """ns of the row-wise product over the permitted rows of E.

    A is E, or E's transpose when `transposed`: then the degrees of E's rows are estimated.
    """
    count = A.indices.shape[0]
    n_rows = A.ncols if transposed else stored_rows(A)
    if transposed and A.rows is not None:
        n_rows = min(n_rows, count)
    mean = count / max(n_rows, 1)
    if allow is None:
        rows, edges = n_rows, count
    else:
        masked = allow.pattern.nvals
        if allow.complement:
            rows = max(allow.pattern.size - masked, 0)
            edges = rows * mean
        else:
            rows = masked
            edges = rows * mean if transposed else edges_of(A, allow.pattern)
    if early and rows:
        tries = count / max(frontier_edges, 1.0)  # entries read until one meets the vector
        edges = min(edges, rows * tries)
    cost = edges * (tuning.CPU_ENTRY_NS if u.nvals == u.size else tuning.CPU_LOOK_UP_NS) + rows * tuning.CPU_ROW_NS
    if allow is None or allow.complement:
        cost += A.nrows * tuning.CPU_BIT_NS
    if u.format == "sparse" and u.nvals < u.size:
        cost += u.nvals * tuning.CPU_SPREAD_ENTRY_NS + u.size * tuning.CPU_SPREAD_NS
    return cost


def cols_cost(A, u, frontier_edges: float) -> float:
    """ns of the column-wise product over the columns of E at u's entries."""
    cost = frontier_edges * tuning.CPU_SCATTER_NS + u.nvals * tuning.CPU_COLUMN_NS
    if u.format == "bitmap":
        cost += u.size * tuning.CPU_BIT_NS
    return cost


def choose_matvec(A, transposed: bool, u, allow, semiring, backend=None) -> Plan:
    """The Plan for w<allow> = E u over `semiring`; E = A, or A's transpose when `transposed`.

    rows needs E by rows, cols needs E's transpose by rows. The one that is not stored costs a transpose, which is made
    once a break-even counter (ski rental) has reached its cost. backend: wanted for stores of a device.
    """
    rules = forced()
    on_host = is_host(A)
    if rules is not FREE:
        method, format = rules.method, rules.format or "csr"
        if rules.kernel is not None:
            wanted = KERNEL_METHODS.get(rules.kernel)
            if wanted is not None and on_host:
                method = wanted if method is None else method
                return Plan("matvec", _METHODS[method], "csr", "kernel_unsuited", (rules.kernel,))
            method = wanted or method
        if method is not None:
            method = _METHODS[method]
            return Plan("matvec", method, format if method == "rows" else "csr", "forced")
        if format != "csr":
            return Plan("matvec", "rows", format, "forced")
    if not on_host:
        return choose_on_gpu(A, transposed, u, allow, can_stop_early(semiring), backend)
    entries = A.indices.shape[0]
    if u.nvals == 0 or entries == 0:
        return Plan("matvec", "cols" if transposed else "rows", "csr", "vector_empty")
    transpose = cached_transpose(A)
    if transpose is None and entries <= tuning.CPU_SMALL_MATRIX:
        return Plan("matvec", "cols" if transposed else "rows", "csr", "matrix_small", (entries,))
    by_columns = A if transposed else transpose  # E's transpose by rows
    frontier = u.nvals * mean_degree(A) if by_columns is None else edges_of(by_columns, u)
    by_rows = transpose if transposed else A
    if by_rows is not None:
        rows = rows_cost(by_rows, u, allow, False, can_stop_early(semiring), frontier)
    else:
        rows = rows_cost(A, u, allow, True, can_stop_early(semiring), frontier)
    columns = cols_cost(A, u, frontier)
    return cheaper(A, transposed, transpose, rows, columns, u.nvals, tuning.CPU_TRANSPOSE_NS)
