"""Row-wise or column-wise method for w<mask> = E u over stores on a GPU.

A read-back takes as long as a small product. So a vector's entries, if not counted yet, are counted only where the
matrix is large, and its edges only where the mean degree favours columns but the longest column, if all were as long,
would reverse the choice.
"""

from __future__ import annotations

from typing import NamedTuple

from ..storage.convert import cached_transpose, forms_of
from ..storage.tiled import can_tile
from . import tuning
from .choose_direction import cheaper
from .record import Plan


def choose_on_gpu(A, transposed: bool, u, mask, early: bool, backend, sorts: bool = False) -> Plan:
    """The Plan for w<mask> = E u; E = A, or A's transpose when `transposed`; early: may a row stop early?

    sorts: are the products of the column-wise method sorted, because their values have no atomic?
    u.nvals_if_read is None for a vector whose number of entries is still on the device; its estimate reads nothing.
    """
    here = "cols" if transposed else "rows"
    entries, count = A.indices.shape[0], u.nvals_if_read
    if count == 0 or entries == 0:
        return Plan("matvec", here, "csr", "vector_empty")
    transpose = cached_transpose(A)
    if entries <= tuning.GPU_SMALL_MATRIX if transpose is None else count is None and entries <= tuning.GPU_UNCOUNTED:
        return Plan("matvec", here if transpose is None else "rows", "csr", "matrix_small", (entries,))
    if count is None and backend.turns is not None:
        if transpose is None and not backend.turns.capturing:
            transpose = backend.transpose(A)  # for all turns to come
        by_rows = transpose if transposed else A
        method = backend.turns.direction(
            A,
            transposed,
            transpose,
            u,
            mask,
            lambda: costs_of(A, by_rows, mask, early, sorts, backend.profile, True, True),
        )
        return Plan("matvec", method, "csr", "turn_of_program")
    if count is None:
        count = u.nvals
    pattern = None if mask is None else mask.pattern
    masked = -1 if pattern is None else pattern.estimated_nvals
    key = transposed, early, sorts, count, u.size, masked, mask is not None and mask.complement
    last = None if transpose is None else A.forms.get("last_plan")
    if last is not None and last[0] == key and (last[5] is None or u.forms and last[5] is u.forms.get("edges")):
        plan = Plan("matvec", last[1], "csr", last[2], last[3])
        plan.note = last[4]
        return plan
    by_rows, by_columns = (transpose, A) if transposed else (A, transpose)
    costs = costs_of(A, by_rows, mask, early, sorts, backend.profile, count < u.size)
    open_rows = costs.open_rows(max(masked, 0))
    edges = min(count * costs.entries / costs.stored, costs.entries)
    rows, columns = costs.rows(edges, open_rows), costs.columns(edges, count)
    counted = (
        columns < rows
        and count < u.size
        and by_columns is not None
        and by_columns.rows is None
        and rows - costs.fixed_ns > tuning.GPU_COUNT_EDGES_NS
    )
    if counted:
        most = backend.edges_of(by_columns, u, at_most=True)
        counted = costs.columns(most, count) > costs.rows(most, open_rows)
    if counted:
        edges = backend.edges_of(by_columns, u)
        rows, columns = costs.rows(edges, open_rows), costs.columns(edges, count)
    plan = cheaper(A, transposed, transpose, rows, columns, count, tuning.GPU_TRANSPOSE_NS)
    if backend.profile.scaled:
        plan.note = backend.profile.note
    if sorts:
        _try_tiles(plan, by_rows, u, count, min(rows, columns), backend)
        return plan
    edges_of_u = u.forms.get("edges") if counted and u.forms else None
    if transpose is not None and counted == (edges_of_u is not None):
        # equal figures decide alike; where the edges of u were counted, only for this u
        A.forms["last_plan"] = key, plan.method, plan.rule, plan.figures, plan.note, edges_of_u
    return plan


def _try_tiles(plan, by_rows, u, count, cost, backend):
    """Change the plan to TileSpMSpV over E's rows where that costs less than `cost` ns: tiles need no atomics either.

    The tiles are made when a break-even counter (ski rental) has saved what they cost.
    """
    if by_rows is None or by_rows.rows is not None or u.format != "sparse" or not can_tile(by_rows):
        return
    entries = by_rows.indices.shape[0]
    if entries < tuning.TILES_ENTRIES:
        return
    fill, longest = backend.tile_facts(by_rows)
    if fill < tuning.TILES_FULL:
        return
    nt = tuning.GPU_TILE_WIDTH
    live = entries * (1.0 - (1.0 - count / u.size) ** nt)  # of x's tiles, if its entries are at random
    tiled = (
        tuning.GPU_TILED_NS
        + -(-by_rows.nrows // nt) * tuning.GPU_TILE_ROW_NS
        + longest * tuning.GPU_TILE_STEP_NS
        + live * tuning.GPU_TILE_LIVE_NS
    )
    if tiled >= cost:
        return
    forms = forms_of(by_rows)
    if f"tiled{nt}" not in forms:
        saved = forms["tiles_counter"] = forms.get("tiles_counter", 0.0) + cost - tiled
        if saved < entries * tuning.GPU_TILE_ENTRY_NS:
            return
    plan.method, plan.format, plan.rule, plan.figures = "rows", "tiled", "tiles_cheaper", (tiled, cost, fill)


def _every_row(stored, mask):
    """ns of passing over all stored rows against a mask or a vector with gaps; a mask that is a list saves them."""
    cost = stored * tuning.GPU_BINNED_ROW_NS
    if mask is not None and not mask.complement and mask.pattern.format == "sparse":
        return min(cost, tuning.LISTED_NS)
    return cost


class DirectionCosts(NamedTuple):
    """The costs of w<mask> = E u as they depend on u's entries, their edges and the entries of the mask, in ns.

    A captured program evaluates the same figures on the device (kernels/programs/turns.cuh), in this order.
    entries, stored, live: of E, its stored rows, those that are known to have entries.
    masked: 0 without a mask, 1 where its entries are admitted, 2 where the others are.
    look_up: of an entry read, 1 where u is full.  early: may a row stop early?
    """

    entries: float
    stored: float
    live: float
    masked: float
    early: float
    look_up: float
    first_look: float
    entry_ns: float
    edge_ns: float
    launch_ns: float
    fixed_ns: float

    def open_rows(self, admitted: float) -> float:
        """An estimate of the rows that may be written; admitted: entries of the mask's pattern."""
        if not self.masked:
            return self.live
        admitted = min(admitted, self.live)
        return admitted if self.masked == 1 else self.live - admitted

    def rows(self, edges: float, open_rows: float) -> float:
        """Of the row-wise method: entries that it reads, and one for each stored row."""
        cost = self.entries * open_rows / self.stored
        if self.early:  # entries read until one meets the vector
            cost = min(cost, open_rows * self.entries / max(edges, 1.0)) + self.first_look * open_rows
        return (cost * self.look_up + self.stored) * self.entry_ns + self.fixed_ns

    def columns(self, edges: float, count: float) -> float:
        """Of the column-wise method, over the `edges` of u's `count` entries."""
        return edges * self.edge_ns + count * self.entry_ns + self.launch_ns


def costs_of(
    A, by_rows, mask, early: bool, sorts: bool, profile, has_gaps: bool, captured: bool = False
) -> DirectionCosts:
    """The DirectionCosts of w<mask> = E u.  by_rows: E or None; has_gaps: does u lack an entry?

    captured: as a step of a turn that the device repeats, which takes no time of the host.
    """
    entries, stored = A.indices.shape[0], A.indptr.shape[0] - 1 or 1
    if sorts:
        edge_ns, launch_ns = tuning.GPU_SORT_EDGE_NS, tuning.GPU_SORT_NS
    elif early:
        edge_ns, launch_ns = tuning.GPU_CLAIM_NS, tuning.GPU_CLAIM_PUSH_NS
    else:
        edge_ns, launch_ns = tuning.GPU_MERGE_NS, tuning.GPU_PUSH_NS
    entry_ns = tuning.GPU_ENTRY_NS
    if profile.scaled:
        edge_ns, entry_ns = edge_ns * (1.0 if sorts else profile.atomics), entry_ns * profile.latency
    fixed = 0.0
    if not early and (mask is not None if captured else has_gaps or mask is not None):
        fixed = _every_row(stored, mask) + (0.0 if captured else tuning.GPU_BINNED_NS)
    form = None if by_rows is None or by_rows.forms is None else by_rows.forms.get("pull")
    live = stored if form is None else form.live_count or 1
    return DirectionCosts(
        entries, stored, live, 0 if mask is None else 2 if mask.complement else 1, early,
        tuning.GPU_LOOK_UP if has_gaps else 1.0, tuning.GPU_FIRST_LOOK, entry_ns, edge_ns, launch_ns, fixed,
    )  # fmt: skip
