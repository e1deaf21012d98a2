"""Rows or columns for w<allow> = E u over stores on the device: as matvec.py, with what a card is good at.

Reading a count back takes as long as a small product does.  So a vector whose entries were not counted yet is asked
only where the matrix is large, and its edges are counted only where the mean degree says "columns" but a few fuller
columns could make that wrong.
"""

from ..backends.select import current
from ..storage.convert import cached_transpose
from .choose_direction import cheaper
from .record import Plan

SMALL = 1 << 14  # entries below which both directions cost a launch or two
UNCOUNTED = 1 << 20  # entries below which no count is read back for the sake of the plan
MERGE = 3.0  # an edge merged by atomics against an entry read along a row
CLAIM = 8.0  # the same where only a bit is claimed
LOOK_UP = 1.3  # an entry met by a vector with gaps
SURE = 16  # columns are surely cheaper when they are by this factor, whatever their degrees
LAUNCHES = 1 << 16  # entries that a row walk reads in the time of what else columns cost more
CLAIM_LAUNCHES = 1 << 21  # the same against rows that stop early
COUNTED = 1 << 23  # cost of the rows from which it pays to count the edges of the columns
FULLER = 32  # how much fuller than the mean the columns of a short list may be
LOOK = 8.0  # the first look of a row that may stop early
TRANSPOSE = 10.0  # an entry's share of turning the matrix


def choose_on_device(A, transposed, u, allow, early):
    """The Plan for w<allow> = E u; E = A, or A's transpose when `transposed`; early: may a row stop early?

    `_known` is None for a vector whose entries were not counted yet; its `about` is a guess, and nothing is read back.
    """
    here = "cols" if transposed else "rows"
    entries, count = A.indices.shape[0], u._known if hasattr(u, "_known") else u.nvals
    if count == 0 or entries == 0:
        return Plan("matvec", here, "csr", "vector_empty")
    turned = cached_transpose(A)
    if entries <= SMALL if turned is None else count is None and entries <= UNCOUNTED:
        return Plan("matvec", here if turned is None else "rows", "csr", "matrix_small", (entries,))
    if count is None:
        count = u.nvals
    held = A.indptr.shape[0] - 1 or 1
    by_rows, by_columns = (turned, A) if transposed else (A, turned)
    open_rows = _open_rows(held, by_rows, allow)
    edge, launches = (CLAIM, CLAIM_LAUNCHES) if early else (MERGE, LAUNCHES)
    edges = min(count * entries / held, entries)
    rows = _rows(entries, held, open_rows, early, edges, u, count)
    columns = edges * edge + count + launches
    if (
        columns < rows < columns * SURE
        and count < u.size
        and by_columns is not None
        and by_columns.rows is None
        and rows > COUNTED
        and edges * edge * FULLER > launches
    ):
        edges = _edges(by_columns, u)
        rows = _rows(entries, held, open_rows, early, edges, u, count)
        columns = edges * edge + count + launches
    return cheaper(A, transposed, turned, rows, columns, count, TRANSPOSE)


def _open_rows(held, by_rows, allow):
    """About how many rows may be written; those that hold nothing do not count where that is known."""
    form = None if by_rows is None or by_rows.forms is None else by_rows.forms.get("pull")
    live = held if form is None else form.live_count or 1
    if allow is None:
        return live
    pattern = allow.pattern
    masked = min(pattern.about if hasattr(pattern, "about") else pattern.nvals, live)
    return live - masked if allow.complement else masked


def _rows(entries, held, open_rows, early, edges, u, count):
    """The cost of walking the open rows: entries read, and a first look at each row that may stop early."""
    cost = entries * open_rows / held
    if early:
        cost = (
            min(cost, open_rows * entries / max(edges, 1.0)) + LOOK * open_rows
        )  # entries read until one meets the vector
    return cost * (1.0 if count == u.size else LOOK_UP) + held


def _edges(AT, u):
    from ..backends.cuda.products.columns import edges_of

    return edges_of(current().device, AT, u)
