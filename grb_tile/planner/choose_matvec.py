"""Rows or columns for w<allow> = E u, where E is A or its transpose.

Paper: push_pull_graphblas_icpp18, sections 3 (costs), 5.1, 5.2, 6.3 (hysteresis); Beamer's edges of the frontier
against edges of what is still allowed.  Costs are in units of one entry read in order.
"""

from grb_tile.storage.convert import cached_transpose
from grb_tile.storage.place import is_host

from .choose_direction import cheaper
from .device import choose_on_device
from .record import FREE, Plan, forced
from .statistics import edges_of, mean_degree, rows_held

SMALL = 4096  # entries of a matrix below which a rough rule is enough
SCATTER = 2.5  # cost of an entry walked by columns: a random write instead of a running total
LOOK_UP = 1.6  # cost of an entry walked by rows against a vector with gaps
TRANSPOSE = 8.0  # cost of an entry when the matrix must be turned round first

_DIRECTIONS = {"rows": "rows", "pull": "rows", "cols": "cols", "push": "cols"}


def can_stop_early(semiring):
    """May a row end before its last entry: any value will do, or a terminal value was reached?"""
    monoid = semiring.monoid
    return monoid.terminal is not None and (semiring.binaryop.kind == "pair" or monoid.type.np_type.kind == "b"
                                            or monoid.binaryop.kind == "any")  # fmt: skip


def rows_cost(A, u, allow, transposed, early, frontier_edges):
    """Walking the permitted rows of E; A is E, or E's transpose when `transposed` (then its rows' degrees are guessed)."""
    count = A.indices.shape[0]
    n_rows = A.ncols if transposed else rows_held(A)
    if transposed and A.rows is not None:
        n_rows = min(n_rows, count)
    mean = count / max(n_rows, 1)
    if allow is None:
        rows, edges = n_rows, count
    else:
        held = allow.pattern.nvals
        if allow.complement:
            rows = max(allow.pattern.size - held, 0)
            edges = rows * mean
        else:
            rows = held
            edges = rows * mean if transposed else edges_of(A, allow.pattern)
    if early and rows:
        tries = count / max(frontier_edges, 1.0)  # entries read until one meets the vector
        edges = min(edges, rows * tries)
    cost = edges * (1.0 if u.nvals == u.size else LOOK_UP) + rows * 2.0
    if allow is None or allow.complement:
        cost += A.nrows / 32
    if u.format == "sparse" and u.nvals < u.size:
        cost += u.nvals * 2.0 + u.size * 0.15  # spread into a bitmap
    return cost


def cols_cost(A, u, frontier_edges):
    """Walking the columns of E that u holds."""
    cost = frontier_edges * SCATTER + u.nvals * 3.0
    if u.format == "bitmap":
        cost += u.size / 32
    return cost


def choose_matvec(A, transposed, u, allow, semiring):
    """The Plan for w<allow> = E u over `semiring`; E = A, or A's transpose when `transposed`.

    rows needs E by rows, cols needs E's transpose by rows: what is not at hand costs a transpose, taken once the
    calls that would have been cheaper with it have paid for it (ski-rental, like the kernels).
    """
    rules = forced()
    if rules is not FREE:
        walk, format = rules.walk, rules.format or "csr"
        if walk is not None:
            walk = _DIRECTIONS[walk]
            return Plan("matvec", walk, format if walk == "rows" else "csr", "forced")
        if format != "csr":
            return Plan("matvec", "rows", format, "forced")
    if not is_host(A):
        return choose_on_device(A, transposed, u, allow, can_stop_early(semiring))
    entries = A.indices.shape[0]
    if u.nvals == 0 or entries == 0:
        return Plan("matvec", "cols" if transposed else "rows", "csr", "vector_empty")
    turned = cached_transpose(A)
    if turned is None and entries <= SMALL:
        return Plan("matvec", "cols" if transposed else "rows", "csr", "matrix_small", (entries,))
    by_columns = A if transposed else turned  # E's transpose by rows
    frontier = u.nvals * mean_degree(A) if by_columns is None else edges_of(by_columns, u)
    by_rows = turned if transposed else A
    if by_rows is not None:
        rows = rows_cost(by_rows, u, allow, False, can_stop_early(semiring), frontier)
    else:
        rows = rows_cost(A, u, allow, True, can_stop_early(semiring), frontier)
    columns = cols_cost(A, u, frontier)
    return cheaper(A, transposed, turned, rows, columns, u.nvals, TRANSPOSE)
