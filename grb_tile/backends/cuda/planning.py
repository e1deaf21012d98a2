"""The direction of a product of matrix and vector on the device: as planner/matvec.py, with what the card is good at.

Reading a count back costs as much as a small product, so a vector's edges are counted only where the decision hangs on
them: where the mean degree would say "columns", but a few fuller columns than the mean could make that wrong.
"""
import numpy as np

from ...planner.matvec import _WALKS, HYSTERESIS, can_stop_early
from ...planner.record import Plan, forced
from ...storage.convert import cached_transpose
from .entries import index_type
from .row_schedule import pointers

SMALL = 1 << 14              # entries below which both directions cost a launch or two
MERGE = 3.0                  # an edge merged by atomics against an entry read along a row
CLAIM = 1.5                  # the same where only a bit is claimed
LOOK_UP = 1.3                # an entry met by a vector with gaps
SURE = 16                    # columns are surely cheaper when they are by this factor, whatever their degrees
LAUNCHES = 1 << 16           # entries that a row walk reads in the time of the launches that columns cost more
TRANSPOSE = 10.0             # an entry's share of turning the matrix


def choose_matvec(device, A, transposed, u, allow, semiring):
    """The Plan for w<allow> = E u; E = A, or A's transpose when `transposed`."""
    rules = forced()
    format = rules.format or "csr"
    if rules.walk is not None:
        return Plan("matvec", _WALKS[rules.walk], format, "forced")
    if format != "csr":
        return Plan("matvec", "rows", format, "forced")
    here = "cols" if transposed else "rows"
    entries, count = A.indices.shape[0], u.nvals
    if count == 0 or entries == 0:
        return Plan("matvec", here, format, "vector_empty")
    turned = cached_transpose(A)
    if turned is None and entries <= SMALL:
        return Plan("matvec", here, format, "matrix_small", (entries,))
    held = max(A.indptr.shape[0] - 1, 1)
    mean = entries / held
    early = can_stop_early(semiring)
    share = 1.0
    if allow is not None:
        pattern = allow.pattern
        share = pattern.nvals / max(pattern.size, 1)
        share = 1.0 - share if allow.complement else share
    edge = CLAIM if early else MERGE
    edges = min(count * mean, entries)
    rows = _rows(entries, held, share, early, edges, u)
    columns = edges * edge + count + LAUNCHES
    by_columns = A if transposed else turned
    if columns < rows < columns * SURE and count < u.size and by_columns is not None and by_columns.rows is None:
        edges = _counted(device, by_columns, u)
        rows = _rows(entries, held, share, early, edges, u)
        columns = edges * edge + count + LAUNCHES
    figures = (rows, columns, count)
    if turned is None:
        return _with_one_orientation(A, transposed, rows, columns, figures, format)
    forms = A.forms
    last = forms.get("last_walk")
    if rows < columns:
        walk, rule = "rows", "rows_cheaper"
        if last == "cols" and rows * HYSTERESIS > columns:
            walk, rule = "cols", "same_as_last"
    else:
        walk, rule = "cols", "columns_cheaper"
        if last == "rows" and columns * HYSTERESIS > rows:
            walk, rule = "rows", "same_as_last"
    forms["last_walk"] = walk
    return Plan("matvec", walk, format, rule, figures)


def _rows(entries, held, share, early, edges, u):
    cost = entries * share
    if early:
        cost = min(cost, held * share * entries / max(edges, 1.0))          # entries read until one meets the vector
    return cost * (1.0 if u.nvals == u.size else LOOK_UP) + held


def _counted(device, AT, u):
    """Entries of the rows of AT that u names, counted on the device, kept with u."""
    forms = u.forms
    if forms is None:
        forms = u.forms = {}
    known = forms.get("edges")
    if known is not None and known[0] is AT.indices:
        return known[1]
    ptr = pointers(device, AT)
    total = device.zeros(1, np.uint64)
    indices, words = (u.indices, None) if u.format == "sparse" else (None, u.words)
    count = u.size if indices is None else indices.shape[0]
    kernel = device.launcher.kernel("edges.cuh", "edges_of", "", (
        index_type(ptr), "int32_t" if indices is None else index_type(indices)))
    kernel.over(count, (indices, words, count, ptr, total))
    found = float(device.read(total)[0])
    forms["edges"] = AT.indices, found
    return found


def _with_one_orientation(A, transposed, rows, columns, figures, format):
    """Only A itself is there: the other direction costs a transpose first, or the rent paid so far."""
    here, there = (columns, rows) if transposed else (rows, columns)
    mine, other = ("cols", "rows") if transposed else ("rows", "cols")
    turn = A.indices.shape[0] * TRANSPOSE
    if there < here:
        forms = A.forms
        if forms is None:
            forms = A.forms = {}
        rent = forms.get("transpose_rent", 0.0) + here - there
        forms["transpose_rent"] = rent
        if rent >= turn:
            return Plan("matvec", other, format, "rows_cheaper" if other == "rows" else "columns_cheaper", figures)
    return Plan("matvec", mine, format, "only_orientation", (here, there, turn))
