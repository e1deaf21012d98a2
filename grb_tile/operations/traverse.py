"""A whole breadth-first traversal as one operation: f<!v> = A' f, folded into v, until f is empty.

An algorithm says the level loop as mathematics; the backend runs it in one compiled loop that chooses its direction
level by level, or here, in NumPy, where no kernel is at hand.
Paper: push_pull_graphblas_icpp18, algorithm 1 and sections 5.1 to 5.3.
"""

import weakref
from time import perf_counter

import numpy as np

from ..backends.select import current
from ..dtypes import INT32, INT64
from ..exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue, OutOfMemory
from ..planner import forced, forced_traversal, record_plan, search_over
from ..storage.convert import choose_format
from ..storage.place import host, is_host
from ..storage.sorting import ranges
from ..storage.store import BitmapVector, SparseVector, forms_of, index_dtype

TILE_DIRECTIONS = ("push_csc", "push_csr", "pull_csc")


class TraverseReport:
    """What a traversal did; `levels` has a dictionary per level: frontier, direction, edges, ms."""

    def __init__(self, engine, reached, seconds, rows):
        self.engine = engine
        self.reached = reached
        self.seconds = seconds
        self._rows = rows
        self._levels = None

    @property
    def levels(self):
        if self._levels is None:
            self._levels = self._rows()
        return self._levels

    def __len__(self):
        return len(self.levels)

    def __repr__(self):
        pulled = sum(level["direction"].startswith("pull") for level in self.levels)
        return (f"{self.reached} reached in {len(self.levels)} levels ({pulled} pulled), "
                f"{self.engine}, {self.seconds * 1e3:.3f} ms")  # fmt: skip


class LateReport(TraverseReport):
    """The report of a traversal on a device; nothing is read back before somebody looks."""

    def __init__(self, engine, outcome):
        self.engine = engine
        self.format = outcome.format
        self.choice = outcome.choice
        self._outcome = outcome
        self._rows = outcome.rows
        self._levels = None

    @property
    def reached(self):
        return self._outcome.reached

    @property
    def seconds(self):
        return self._outcome.seconds


def traverse(A, AT, sources, *, levels=True, parents=False, max_level=None, target=None, record=None):
    """(level, parent, report) of a breadth-first traversal from a source, or from a set of sources merged into one.

    level[v] (INT32) is the least number of edges from a source to v; parent[v] (INT64) some in-neighbour of v one level
    up, a source being its own parent.  Vertices that are not reached have no entry.

    A: store of out-edges by rows (square CSR).  AT: in-edges by rows; A itself when symmetric; None: push only.
    sources: an index or an array of them.  max_level: the last level wanted.  target: stop once it is reached
    (levels beyond its own are not complete).  record: a list that gets the report's levels appended.

    Raises: DimensionMismatch, IndexOutOfBound, InvalidValue; operands stay as they are.
    Cost: entries of visited rows at most; one queue and three bit vectors besides the results.
    """
    n = A.nrows
    if A.ncols != n or (AT is not None and AT is not A and AT.shape != A.shape):
        raise DimensionMismatch(
            f"traverse: A is {A.nrows} x {A.ncols}" + ("" if AT is None else f" and AT {AT.nrows} x {AT.ncols}")
            + "; expected square matrices of one size"
        )  # fmt: skip
    if type(sources) is int and 0 <= sources < n and target is None:
        single = sources
    else:
        single = None
        sources = np.unique(np.atleast_1d(np.asarray(sources, np.int64)))
        for name, values in (("sources", sources), ("target", np.array([] if target is None else [target], np.int64))):
            if values.size and (values.min() < 0 or values.max() >= n):
                bad = int(values.min() if values.min() < 0 else values.max())
                raise IndexOutOfBound(f"traverse: {name} has {bad}; expected vertices 0 to {n - 1}")
    if max_level is not None and max_level < 0:
        raise InvalidValue(f"traverse: max_level is {max_level}; expected 0 or more, or None")
    if not (levels or parents):
        raise InvalidValue("traverse: neither levels nor parents are asked for; set one of them")
    backend = current()
    result = NotImplemented
    walk = "rows" if AT is None else "by level"
    if backend.on_device and (single is not None or sources.size):
        result = _on_device(backend, A, AT, sources, single, levels, parents, max_level, target)
        if result is not NotImplemented:  # noted while the device works
            level, parent, report = result
            plan = record_plan("traverse", walk, report.format, "by_level", _Counts(report))
            plan.engine = report.engine
            if report.choice is not None:
                plan.use_kernel(*report.choice)
            if report.format == "bittiled":
                _explain_tiles(plan, A)
            if record is not None:
                record.extend(report.levels)
            return result
    plan = record_plan("traverse", walk, A.format, "by_level", [0, 0])
    if forced_traversal() is not None:
        plan.use_kernel(None, "kernel_unsuited", (forced_traversal(),))
    if single is not None:
        sources = np.array([single], np.int64)
    if not is_host(A) or (AT is not None and not is_host(AT)):
        A, AT = host(A), None if AT is None else host(AT)
    if sources.size and not backend.on_device:
        chosen = forced().format
        if (chosen == "bittiled" or chosen in TILE_DIRECTIONS) and not parents and A.rows is None:
            result = _over_bit_tiles(A, sources, max_level, target)  # (its words do not keep who found whom)
            plan.format, plan.method = "bittiled", chosen if chosen in TILE_DIRECTIONS else plan.method
        else:
            result = _compiled(A, AT, sources, levels, parents, max_level, target)
    if result is NotImplemented:
        result = _in_numpy(A, sources, levels, parents, max_level, target)
    level, parent, report = result
    plan.engine = report.engine
    plan.seconds = report.seconds
    plan.figures = _Counts(report)
    if record is not None:
        record.extend(report.levels)
    return level, parent, report


def traverse_many(A, AT, sources, *, levels=True, parents=False, max_level=None):
    """(store of levels | None, of parents | None, rows of the report), or NotImplemented where no backend has it.

    Stores: matrices of a row for each source.  As `traverse` for every source apart, all of them in one loop: 64
    sources in a word for each vertex.
    """
    backend = current()
    method = forced().method
    direction = None if method is None else {"rows": "pull", "cols": "push"}.get(method, method)
    if not backend.on_device:
        return NotImplemented if parents else _many_on_host(backend, A, AT, sources, max_level, direction)
    global _device_many
    if _device_many is None:  # as for _device_run below
        from ..backends.cuda.traversal.bfs_multi import traverse_many as _device_many
    plan = record_plan("traverse_many", "by level", A.format, "by_level", ("unknown", "unknown"))
    result = _device_many(backend.device, A, AT, sources, max_level, direction, levels, parents)
    plan.engine = backend.name
    if result is NotImplemented:
        return NotImplemented
    level, parent, outcomes = result
    return level, parent, lambda: [row for outcome in outcomes for row in outcome.rows()]


def _many_on_host(backend, A, AT, sources, max_level, direction):
    if backend.name != "cpu":
        return NotImplemented
    from ..backends.cpu.compiled.bfs_multi import traverse_many as run

    start = perf_counter()
    result = run(host(A), None if AT is None else host(AT), sources, max_level, direction)
    if result is NotImplemented:
        return NotImplemented
    store, rows = result
    pulled = sum(row["direction"] == "pull" for row in rows)
    plan = record_plan("traverse_many", "by level", A.format, "by_level", (len(rows), pulled))
    plan.engine, plan.seconds = "numba", perf_counter() - start
    return store, None, lambda: rows


def components(A, AT):
    """(store of labels, number of components), edges followed both ways; NotImplemented where no backend has it.

    The label of a vertex is the smallest vertex of its component (UINT64).
    """
    backend = current()
    if not backend.on_device:
        return NotImplemented
    from ..backends.cuda.traversal.components import connected_components as run

    return run(backend.device, A, AT)


def shortest_paths(A, in_edges, source, heaviest, delta=None, tree=False):
    """(distances, tree or None, rows of the report), or NotImplemented where no backend has it; see protocol.Backend."""
    backend = current()
    try:
        result = backend.shortest_paths(A, in_edges, source, heaviest, delta, tree)
    except OutOfMemory:  # rows in another order take as much as the matrix: the loop does without
        return NotImplemented
    if result is NotImplemented:
        return NotImplemented
    store, parents, outcome = result
    plan = record_plan("shortest_paths", "by threshold", A.format, "by_level", ("unknown", "unknown"))
    plan.engine = backend.name
    plan.use_kernel(*outcome.choice)
    return store, parents, outcome.rows


class _Counts:
    """Figures of the plan, counted only when read; a plan does not keep a device's arrays from being freed."""

    more = ()

    def __init__(self, report):
        self.report = weakref.ref(report) if isinstance(report, LateReport) else lambda: report

    def __iter__(self):
        report = self.report()
        if report is None:
            return iter(("unknown", "unknown", *self.more))
        levels = report.levels
        return iter((len(levels), sum(level["direction"].startswith("pull") for level in levels), *self.more))


def _vector(n, dtype, words, count, values):
    return (
        None if values is None else choose_format(BitmapVector(n, dtype, None if count == n else words, values, count))
    )


_device_run = _device_many = None


def _on_device(backend, A, AT, sources, single, levels, parents, max_level, target):
    global _device_run
    if _device_run is None:  # an import statement costs microseconds each time
        from ..backends.cuda.traversal.bfs import traverse as _device_run
    run = _device_run
    if single is None and sources.size == 1:
        single = int(sources[0])
    rules = forced()
    method, format, result = rules.method, rules.format, NotImplemented
    asked = (backend.device, A, AT, sources if single is None else single, levels, parents, max_level, target)
    if format is None and method is None and AT is not None and forced_traversal() is None:
        format = _format_of(backend.device, A)
    if format == "bittiled" or format in TILE_DIRECTIONS:
        from ..backends.cuda.traversal.bfs_tiles import traverse as over_tiles

        result = over_tiles(*asked, None if format == "bittiled" else format)
    if result is NotImplemented:
        result = run(*asked, None if method is None else {"rows": "pull", "cols": "push"}.get(method, method))
    if result is NotImplemented:
        return NotImplemented
    level, parent, outcome = result
    return level, parent, LateReport(backend.name, outcome)


def _format_of(device, A):
    """The format that the planner chose for traversals of A, kept with it."""
    forms = forms_of(A)
    found = forms.get("search_over")
    if found is None:
        from ..backends.cuda.traversal.bfs_tiles import clustering

        found = forms["search_over"] = search_over(A.nvals, *clustering(device, A))
    return found[0]


def _explain_tiles(plan, A):
    chosen = forced().format
    if chosen in TILE_DIRECTIONS:
        plan.method = chosen
    elif chosen is None:
        found = (A.forms or {}).get("search_over")
        if found is not None:  # (not dropped to make room meanwhile)
            plan.rule, plan.figures.more = "tiles_full", found[1]


def _compiled(A, AT, sources, levels, parents, max_level, target):
    run = getattr(current(), "traverse", None)
    if run is None:
        if current().name != "cpu":
            return NotImplemented
        from ..backends.cpu.compiled.bfs import traverse as run
    start = perf_counter()
    direction = {"rows": "pull", "cols": "push"}.get(forced().method, forced().method)
    result = run(A, AT, sources, levels, parents, max_level, target, direction)
    if result is NotImplemented:
        return NotImplemented
    words, level, parent, logs, pulls = result
    seconds = perf_counter() - start
    n = A.nrows
    count = int(np.bitwise_count(words).sum())
    report = TraverseReport("numba", count, seconds, lambda: _levels_of(logs, pulls, seconds))
    return _vector(n, INT32, words, count, level), _vector(n, INT64, words, count, parent), report


def _over_bit_tiles(A, sources, max_level, target):
    from ..backends.cpu.compiled.bit_tiles import traverse_bit_tiles

    start = perf_counter()
    walk = forced().format
    words, level, rows, engine = traverse_bit_tiles(A, sources, max_level, target, None if walk == "bittiled" else walk)
    count = int(np.bitwise_count(words).sum())
    report = TraverseReport(engine, count, perf_counter() - start, lambda: rows)
    return _vector(A.nrows, INT32, words, count, level), None, report


def _levels_of(logs, pulls, seconds):
    """Per-level dictionaries.  Levels inside the compiled loop share its time by processor cycles (or by edges)."""
    log = np.concatenate(logs) if len(logs) > 1 else logs[0]
    inside = seconds - sum(pulls.values())
    cycles = np.where(log[:, 3] > 0, log[:, 3], 0)
    if not cycles.any():
        cycles = np.where(log[:, 3] < 0, 0, log[:, 2] + 1)
    share = inside / max(int(cycles.sum()), 1)
    return [
        {
            "level": k, "frontier": int(row[0]), "direction": "pull" if row[1] else "push", "edges": int(row[2]),
            "ms": (pulls[k + 1] if k + 1 in pulls else int(cycles[k]) * share) * 1e3,
        }
        for k, row in enumerate(log)
    ]  # fmt: skip


def _in_numpy(A, sources, levels, parents, max_level, target):
    """The plain loop: each level gathers the rows of the frontier and keeps what is new."""
    start = perf_counter()
    n = A.nrows
    sparse = A.rows is not None  # hypersparse: nothing of the size of n
    rows = []
    found, parent_of, depths = [sources], [sources], [np.zeros(sources.size, np.int32)]
    if sparse:
        seen = sources
    else:
        seen = np.zeros(n, np.bool_)
        seen[sources] = True
    frontier = sources
    depth = 0
    while frontier.size and (max_level is None or depth < max_level):
        if target is not None and (target in frontier):
            break
        depth += 1
        begin = perf_counter()
        if sparse:
            at = np.searchsorted(A.rows, frontier)
            held = at < A.rows.size
            held[held] = A.rows[at[held]] == frontier[held]
            at, origin = at[held], frontier[held]
        else:
            at = origin = frontier
        starts = A.indptr[at]
        counts = A.indptr[at + 1] - starts
        near = A.indices[ranges(starts, counts)].astype(np.int64, copy=False)
        via = origin.repeat(counts)
        fresh = ~np.isin(near, seen) if sparse else ~seen[near]
        near, first = np.unique(near[fresh], return_index=True)
        if parents:
            parent_of.append(via[fresh][first])
        if sparse:
            seen = np.concatenate((seen, near))
        else:
            seen[near] = True
        rows.append({"level": depth - 1, "frontier": int(frontier.size), "direction": "push",
                     "edges": int(counts.sum()), "ms": (perf_counter() - begin) * 1e3})  # fmt: skip
        found.append(near)
        depths.append(np.full(near.size, depth, np.int32))
        frontier = near
    where = np.concatenate(found)
    order = np.argsort(where, kind="stable")
    indices = where[order].astype(index_dtype(n))
    level = choose_format(SparseVector(n, INT32, indices, np.concatenate(depths)[order])) if levels else None
    parent = (
        choose_format(SparseVector(n, INT64, indices.copy(), np.concatenate(parent_of)[order])) if parents else None
    )
    seconds = perf_counter() - start
    return level, parent, TraverseReport("numpy", int(where.size), seconds, lambda: rows)
