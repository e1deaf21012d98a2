"""The record of decisions, and how to force others: Plan, force, explain.

This package is below the backends: they call it with facts, it imports none of them. Making a Plan costs about a
microsecond; texts are made only when they are read.
"""

from __future__ import annotations

import contextvars
from collections import deque
from time import perf_counter
from typing import TYPE_CHECKING, Any

from . import choose_precision

if TYPE_CHECKING:
    from collections.abc import Sequence

# what may be forced: name -> (family, meaning)
FORCIBLE = {
    "rows": ("method", "matrix times vector row-wise (SpMV, pull)"),
    "cols": ("method", "matrix times vector column-wise (SpMSpV, push)"),
    "pull": ("method", "the same as rows; in a traversal every level is pulled"),
    "push": ("method", "the same as cols; in a traversal every level is pushed"),
    "dot": ("product", "matrix product by dot products over the positions of the mask"),
    "gustavson": ("product", "matrix product row by row"),
    "numpy": ("engine", "no compiled kernels"),
    "numba": ("engine", "compiled kernels wherever they exist, compiled at once"),
    "reference": ("backend", "the reference backend (slow: for tests)"),
    "csr": ("format", "the plain rows of the matrix"),
    "tiled": ("format", "tiles with values (TileSpMSpV)"),
    "bittiled": ("format", "tiles of bits, the direction chosen by the frontier"),
    "bitblock": ("format", "8 x 8 blocks of bits"),
    "push_csc": ("format", "bit tiles by columns, driven by the vector's bits"),
    "push_csr": ("format", "bit tiles by rows, driven by the vector's tiles"),
    "pull_csc": ("format", "bit tiles by columns, driven by the unvisited vertices"),
    "nt16": ("tile_size", "the size of tiled and of bit tiles: 16 x 16"),
    "nt32": ("tile_size", "32 x 32"),
    "nt64": ("tile_size", "64 x 64"),
    "binned_rows": ("kernel", "GPU, row-wise: rows in bins by length, 1 to 32 lanes a row, long rows cut"),
    "listed_rows": ("kernel", "GPU, row-wise: only the rows that a short mask lists"),
    "segments": ("kernel", "GPU, row-wise: equal segments of the entries; no mask, or one of many rows"),
    "segments_delta16": ("kernel", "GPU, row-wise: segments with 16-bit delta-encoded column indices"),
    "segments_relabelled": (
        "kernel",
        "GPU, row-wise: segments with columns relabelled by frequency, x in shared memory",
    ),
    "segments_binned": (
        "kernel",
        "row-wise: x streams into bins first (propagation blocking); on a GPU segments of entries read them",
    ),
    "bit_blocks": ("kernel", "GPU, row-wise: equal shares of 8 x 8 bitmap blocks; full vector, no mask"),
    "pull_early_exit": ("kernel", "GPU, row-wise: each row stops at its first match, highest-degree neighbour first"),
    "merge_columns": ("kernel", "GPU, column-wise: merged by atomics, a block takes whole columns"),
    "merge_edge_balanced": ("kernel", "GPU, column-wise: merged by atomics, edges balanced among warps"),
    "merge_hubs_shared": ("kernel", "GPU, column-wise: edge-balanced, high-degree rows summed in shared memory"),
    "sort_products": ("kernel", "GPU, column-wise: products sorted by row and combined (ESC)"),
    "two_phases": ("kernel", "GPU, matrix product: entries of each row counted, then computed, in shared memory"),
    "tile_pairs": ("kernel", "GPU, matrix product: pairs of 8 x 8 tiles (TileSpGEMM); no mask"),
    "inner_windows": ("kernel", "GPU, matrix product: few rows and columns, the inner dimension shared among blocks"),
    "merge_at_mask": ("kernel", "GPU, matrix product: merged into tables of the mask's rows"),
    "esc": ("kernel", "GPU, matrix product: products expanded, sorted and combined (ESC)"),
    "spmm_rows": ("kernel", "GPU, sparse times dense: rows of X gathered wherever they are"),
    "spmm_slabs": (
        "kernel",
        "GPU, sparse times dense: a slab of columns at a time, whose rows of X the L2 cache holds",
    ),
    "grid_wide": ("kernel", "GPU, BFS and SSSP: the whole grid, for graphs with hubs"),
    "grid_low_skew": ("kernel", "GPU, BFS: the whole grid, for graphs whose hubs do not lead everywhere"),
    "blocks_high_diameter": ("kernel", "GPU, BFS and SSSP: a few blocks, for thousands of small levels"),
}
KERNEL_METHODS = {
    "binned_rows": "rows", "listed_rows": "rows", "segments": "rows", "segments_delta16": "rows",
    "segments_relabelled": "rows", "segments_binned": "rows", "bit_blocks": "rows", "pull_early_exit": "rows",
    "merge_columns": "cols", "merge_edge_balanced": "cols", "merge_hubs_shared": "cols", "sort_products": "cols",
}  # fmt: skip
_ALIKE = {"rows": "rows", "pull": "rows", "cols": "cols", "push": "cols"}


class Forced:
    """The families that are forced at the moment; None means free."""

    __slots__ = ("backend", "engine", "format", "kernel", "method", "product", "tile_size")

    def __init__(self, method=None, product=None, engine=None, backend=None, format=None, kernel=None, tile_size=None):
        self.method = method
        self.product = product
        self.engine = engine
        self.backend = backend
        self.format = format
        self.kernel = kernel
        self.tile_size = tile_size

    def names(self) -> tuple[str, ...]:
        """The forced names, one of a family at most."""
        families = self.method, self.product, self.engine, self.backend, self.format, self.kernel, self.tile_size
        return tuple(name for name in families if name)


FREE = Forced()
_here = contextvars.ContextVar("grb_tile_plan", default=None)
_everywhere = FREE  # set through gb.config["plan"]
_DIRECTIONS = {None: None, "rows": "pull", "cols": "push", "pull": "pull", "push": "push"}
_entrances = {}  # family -> function of the forced name that gives a context manager


def forced() -> Forced:
    """The names forced in the caller's context."""
    return _here.get() or _everywhere


def forced_tile_size(default: int) -> int:
    """16, 32 or 64 where a size of tiles is forced, else `default`."""
    name = forced().tile_size
    return default if name is None else int(name[2:])


def forced_direction() -> str | None:
    """ "push" or "pull" where one is forced for every level of a search, else None."""
    return _DIRECTIONS[forced().method]


def when_forced(family: str, entrance) -> None:
    """Within a block that forces a name of `family`, entrance(name) is entered too (a context manager)."""
    _entrances[family] = entrance


def _with(base, names):
    """`base` with the named plans forced too; a kernel and a method that exclude each other: the later one wins.

    Raises ValueError on an unknown name.
    """
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    fields = {field: getattr(base, field) for field in Forced.__slots__}
    for name in names:
        if name not in FORCIBLE:
            raise ValueError(f"plan: {name!r} cannot be forced; choose among {', '.join(FORCIBLE)}")
        family = FORCIBLE[name][0]
        fields[family] = name
        if KERNEL_METHODS.get(fields["kernel"]) not in (None, _ALIKE.get(fields["method"])) and fields["method"]:
            fields["kernel" if family == "method" else "method"] = None
    return Forced(**fields)


class force:
    """Within the block, plans are as forced: `with gb.plan(force="cols"):` or `gb.plan(force=("rows", "numpy"))`.

    Blocks nest; the inner one wins where both force the same family.  Results are the same under every plan.
    Raises: ValueError on a name that is not in FORCIBLE, listing those that are.

    >>> from grb_tile.planner import force, forced
    >>> with force("cols"), force("numpy"):
    ...     forced().names()
    ('cols', 'numpy')
    """

    __slots__ = ("_names", "_undo")

    def __init__(self, force: str | Sequence[str]) -> None:
        _with(FREE, force)  # complain here, not at the `with`
        self._names = force
        self._undo = []

    def __enter__(self) -> force:
        now = _with(forced(), self._names)
        self._undo.append((_here, _here.set(now)))
        for family, entrance in _entrances.items():
            name = getattr(now, family)
            if name is not None:
                block = entrance(name)
                block.__enter__()
                self._undo.append((block, None))
        return self

    def __exit__(self, *error: Any) -> None:
        while self._undo:
            what, token = self._undo.pop()
            if token is None:
                what.__exit__(*error)
            else:
                what.reset(token)


def _force_everywhere(names):
    """gb.config["plan"] = names: force for the whole process; None frees."""
    global _everywhere
    _everywhere = _with(FREE, names) if names else FREE


def _listen():
    from grb_tile.config import config

    listen = getattr(config, "listen", None)
    if listen is not None:
        listen("plan", _force_everywhere)
        if config.get("plan", None):
            _force_everywhere(config.get("plan"))


_listen()


class Plan:
    """One decision and what followed from it.

    method: rows, cols, dot, gustavson, by level.  format: the storage that the method reads.  rule: the predicate that
    decided (RULES), with its figures.  kernel: the GPU kernel, chosen by kernel_rule with kernel_figures; None where
    the engine has only one.  note: what else there is to say, as where costs were scaled from another device's.
    precision: what was rounded, or why nothing was; None where gb.config has matmul_precision="exact".
    """

    __slots__ = (
        "_started", "engine", "figures", "format", "kernel", "kernel_figures", "kernel_rule", "method", "note",
        "operation", "precision", "rule", "seconds",
    )  # fmt: skip

    def __init__(self, operation, method, format, rule, figures=()):
        self.operation = operation
        self.method = method
        self.format = format
        self.rule = rule
        self.figures = figures
        self.engine = self.seconds = self.kernel = self.kernel_rule = self.precision = None
        self.note = ""
        self._started = perf_counter()
        _history.append(self)

    @property
    def started(self) -> float:
        """When it was decided, in seconds of time.perf_counter()."""
        return self._started

    def done(self, backend) -> None:
        """Record the time since the decision, and the engine unless that is known."""
        self.seconds = perf_counter() - self._started
        if self.engine is None:
            self.engine = backend.name
        if self.precision is None and choose_precision.setting() != "exact":
            self.precision = choose_precision.exact(f"this product has no rounded form on backend {backend.name!r}")

    def use_kernel(self, kernel, rule, figures=()) -> None:
        """Record which kernel runs, and why."""
        self.kernel, self.kernel_rule, self.kernel_figures = kernel, rule, figures

    def use_precision(self, text) -> None:
        """Record choose_precision.rounded(...) or choose_precision.exact(...)."""
        self.precision = text

    def use_plain_rows(self) -> None:
        """Record that the requested form has no kernel for this product, so that the matrix's rows are used."""
        self.rule, self.figures, self.format = "form_unsuited", (self.format,), "csr"

    @property
    def reason(self) -> str:
        """Why, in words and figures."""
        return RULES[self.rule].format(*self.figures)

    @property
    def kernel_reason(self) -> str | None:
        """Why this kernel, in words and figures; None where there was no choice."""
        return None if self.kernel_rule is None else RULES[self.kernel_rule].format(*self.kernel_figures)

    def as_dict(self) -> dict:
        """The plan as plain values; ms is None while it runs."""
        return {
            "operation": self.operation, "method": self.method, "format": self.format, "rule": self.rule,
            "reason": self.reason, "engine": self.engine, "kernel": self.kernel, "kernel_reason": self.kernel_reason,
            "precision": self.precision, "note": self.note, "ms": None if self.seconds is None else self.seconds * 1e3,
        }  # fmt: skip

    def __repr__(self):
        took = "" if self.seconds is None else f" {self.seconds * 1e3:.3f} ms"
        engine = f" {self.engine}" if self.engine else ""
        kernel = f" by {self.kernel}" if self.kernel else ""
        why = f"; {self.kernel_rule}: {self.kernel_reason}" if self.kernel_rule else ""
        note = "".join(f"; {part}" for part in (self.precision, self.note) if part)
        what = f"{self.operation}: {self.method} over {self.format}{engine}{kernel}{took}"
        return f"{what}; {self.rule}: {self.reason}{why}{note}"


class _Unrecorded(Plan):
    """A forced plan that keeps no record: what is written to it is dropped, and the history does not have it."""

    __slots__ = ()

    def __init__(self, method=None, format="csr"):
        given = {"method": method, "format": format, "rule": "forced", "figures": ()}
        for name in Plan.__slots__:
            object.__setattr__(self, name, given.get(name))

    def __setattr__(self, name, value):
        pass


UNRECORDED = _Unrecorded()  # of calls without a plan


def unrecorded(name: str) -> Plan:
    """The plan of a method ("dot"), or of a format ("tiled"), for calls of a backend that nothing planned.

    Raises: ValueError for a name of another family of FORCIBLE.
    """
    family = FORCIBLE.get(name, ("", ""))[0]
    if family not in ("method", "product", "format"):
        raise ValueError(f"plan: {name!r} is neither a method nor a format")
    return _Unrecorded(format=name) if family == "format" else _Unrecorded(name)


RULES = {
    "forced": "the caller forced it",
    "form_unsuited": "{0} was asked for, which has no kernel for this product on this backend",
    "kernel_unsuited": "{0} was asked for, which cannot serve these operands on this backend",
    "vector_empty": "the vector has no entries",
    "matrix_small": "{0} entries: no cost is worth estimating",
    "matrices_small": "at most {0} entries in A, B and the mask: B as it is stored, no cost is worth estimating",
    "only_orientation": "only this orientation is stored: {0:.0f} ns against {1:.0f} ns and a transpose of {2:.0f} ns, "
    "for which {3:.0f} ns are saved up",
    "columns_cheaper": "columns of the vector's {2} entries cost about {1:.0f} ns, permitted rows {0:.0f} ns",
    "columns_surely": "columns of the vector's {2} entries cost at most {1:.0f} ns, permitted rows at least {0:.0f} ns",
    "rows_cheaper": "permitted rows cost about {0:.0f} ns, columns of the vector's {2} entries {1:.0f} ns",
    "same_as_last": "rows {0:.0f} ns against columns {1:.0f} ns: too close to change the direction of the last call",
    "tiles_cheaper": "products without an atomic would be sorted: tiles cost about {0:.0f} ns, the cheaper of rows and "
    "sorted columns {1:.0f} ns; a 16 x 16 tile has {2:.1f} entries",
    "mask_small": "{2} positions in the mask: dots cost about {0:.0f}, rows {1:.0f}",
    "rows_choose": "B is there by rows and transposed: each row of the mask ({0} positions) is pulled or pushed",
    "mask_of_operands": "{0} positions in the mask, {1} entries in A, and the transpose of B is given",
    "no_mask": "no mask, or a complement: every position may be written",
    "rows_of_product": "rows cost about {1:.0f}, dots over the mask's {2} positions {0:.0f}",
    "by_level": "direction by level, edges of the frontier against unexplored ones; {0} levels, {1} of them pulled",
    "tiles_full": "direction by level over tiles; {0} levels, {1} of them pulled; a 16 x 16 tile holds {2:.1f} entries",
    "dense_operand": "an operand is dense: a row of the sparse one is read once for all {0} columns",
    "dense_array": "the matrix is dense: its {0} x {1} array is read as it is",
    "dense_product": "both operands are full: a product of their arrays, over {0} positions",
    "dense_at_mask": "both operands are full: one dot product for each of the mask's {0} positions",
    "over_ranks": "{0} ranks: {1:,} bytes received by this one{4}, {2:.3f} ms of {3:.3f} in exchanges; its own part "
    "above",
    # kernels of row-wise products
    "too_large": "{0} positions are not allocated for {1} entries: one result for each stored row",
    "all_entries": "the vector is full, nothing is masked, all {0} entries are read",
    "one_match_enough": "one match decides a row: it stops at the first",
    "turn_of_program": "a turn of a program: the device decides on its direction before it begins",
    "mask_lists_rows": "the mask lists {0} of {1} rows",
    "rows_by_length": "rows of all lengths against a mask or a vector with gaps",
    "columns_plain": "product {0} of this matrix; other column indices are considered after {1}",
    "columns_no_memory": "other column indices would take {0} bytes, which are not free",
    "columns_wide": "column indices of 64 bits",
    "columns_unread": "x is not gathered: column indices are not read",
    "columns_near": "{0:.0%} of the segments span less than 2^16 columns",
    "columns_skewed": "{0:.0%} of the entries are in the columns whose x fits in shared memory",
    "x_streams": "x in bins {0:,.0f} ns, gathered {1:,.0f} ns: the last cache has it for {2:.0%} of the entries",
    "columns_made_way": "their memory went to bins of another product",
    "columns_spread": "columns neither near nor skewed: {0:.0%} of the segments are near",
    "blocks_full": "{3:.1f} entries an 8 x 8 block: a product over blocks takes {0:.0f} ns, over segments {1:.0f} ns, "
    "making the blocks {2:.0f} ns",
    # kernels of column-wise products
    "few_entries": "{0} entries of the vector: every block scans all of them",
    "columns_short": "no column has more than {0} entries: whole columns balance the blocks",
    "columns_long": "a column of {0} entries: edges are balanced, not columns",
    "many_edges": "{0:.0f} edges: atomics on high-degree rows would queue up",
    "hubs_later": "{0:.0f} edges: the table of high-degree rows is made after {1} such products",
    "no_atomic": "the value has no atomic, or nothing of the result's size may be allocated",
    # kernels of matrix products
    "wide_columns": "columns from 2^31 on are relabelled",
    "mask_bounds": "the mask has all positions of the result: its entries are the accumulators",
    "pairs_full": "{0:.0f} products a pair of 8 x 8 tiles: pairs of tiles cost about {1:.0f} ns, two phases {2:.0f} ns",
    "few_outputs": "{0} rows and {1} columns, {2} inner indices: windows of them cost about {3:.0f} ns, two phases and "
    "transposes {4:.0f} ns",
    "row_accumulators": "positions are found in the first phase; each row's accumulator is in shared memory",
    "slabs_later": "product {0} of this matrix with an X beyond the L2 cache; slabs are considered after {1}",
    "slabs_no_memory": "the matrix in slabs of columns would take {0} bytes",
    "rows_long": "{0:.0%} of the entries are in rows longer than {1}, which slabs leave out",
    "slabs_too_wide": "sums of {0} bytes a row have no room in shared memory",
    "slabs_cheaper": "{2} slabs of columns {0:,.0f} ns, all at once {1:,.0f} ns: the L2 cache has X for {3:.0%} of the "
    "entries",
    "rows_of_x_cheaper": "{2} slabs of columns {0:,.0f} ns, all at once {1:,.0f} ns: the L2 cache has X for {3:.0%} of "
    "the entries",
    # kernels of traversals
    "high_diameter": "{0:.1f} entries a row, {1:.1%} of them in rows longer than {2}: levels by the thousand",
    "low_skew": "longest row {0} against a mean of {1:.1f}: no hubs",
    "local": "{0:.0%} of the vertices have a highest-degree neighbour of a near number",
    "no_bound": "no bound between near and far was asked for",
    "hubs": "longest row {0} against a mean of {1:.1f}: hubs are looked up first",
    "tile_kernel": "one kernel for all graphs over bit tiles",
}

_history = deque(maxlen=64)


def record_plan(operation, method, format, rule, figures=()) -> Plan:
    """A Plan that was decided elsewhere (on the device, or because there is one method only)."""
    return Plan(operation, method, format, rule, figures)


def history() -> list[Plan]:
    """The latest plans, oldest first."""
    return list(_history)


class Report:
    """Plans as text, one a line; `.plans` has them as objects, `.as_dicts()` as dictionaries."""

    def __init__(self, plans):
        self.plans = plans

    def as_dicts(self) -> list[dict]:
        """One dictionary a plan, as Plan.as_dict."""
        return [plan.as_dict() for plan in self.plans]

    def __iter__(self):
        return iter(self.plans)

    def __len__(self):
        return len(self.plans)

    def __str__(self):
        return "\n".join(map(repr, self.plans)) if self.plans else "nothing was planned yet"

    __repr__ = __str__


def report_of(plans) -> Report:
    """The Report of some plans."""
    return Report(list(plans))


def explain(last: int = 1) -> Report:
    """What the planner chose in the last call (or the `last` calls), why, with which figures, and how long it took.

    >>> import grb_tile as gb
    >>> report = gb.explain()
    """
    plans = list(_history)
    return Report(plans[-last:] if last else plans)
