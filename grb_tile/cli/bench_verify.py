"""Verification of a benchmark's results: searches by a rule for all edges, products by sampled rows in FP64.

Both use no code of the algorithms and products that they verify.  Searches are verified on the device of the arrays.
"""

import numpy as np

CHUNK = 1 << 24  # edges processed at a time
ROWS = 200
TOLERANCE = {4: 1e-4, 8: 1e-10}


class WrongResult(Exception):
    """A verified result is not what it should be."""


def search(name, store, source, levels, parents=None):
    """Raises: WrongResult unless `levels` (and `parents`) are those of a breadth-first search of `store` from `source`.

    For each edge u -> v: if u is reached, so is v, and level(v) <= level(u) + 1.  Each reached node but the source has
    an edge from a node of the level before its own; its parent is such a node.  Only the source has level 0.  These
    rules determine the levels.
    levels, parents: arrays of a number for each node (-1: not reached), on the device of the arrays of `store`.
    """
    xp = array_module(store.indptr)
    found_above, found_parent = xp.zeros(store.nrows, np.bool_), xp.zeros(store.nrows, np.bool_)
    for start in range(0, store.nvals, CHUNK):
        stop = min(start + CHUNK, store.nvals)
        u, v = _rows(xp, store.indptr, start, stop), store.indices[start:stop]
        above, below = levels[u], levels[v]
        out = above >= 0
        bad = out & ((below < 0) | (below > above + 1))
        if bool(bad.any()):
            k = int(xp.argmax(bad))
            raise WrongResult(
                f"{name}, source {source}: the edge {int(u[k])} -> {int(v[k])} goes from level {int(above[k])} "
                f"to {int(below[k])}"
            )
        up = out & (below == above + 1)
        found_above[v[up]] = True
        if parents is not None:
            found_parent[v[up & (parents[v] == u)]] = True
    reached = levels >= 0
    found_above[source] = found_parent[source] = True
    _all(name, source, xp, found_above | ~reached, levels, "has no neighbour one level above")
    _all(
        name, source, xp, (levels == 0) == (xp.arange(store.nrows) == source), levels, "(the source alone has level 0)"
    )
    if parents is not None:
        _all(
            name,
            source,
            xp,
            found_parent | ~reached,
            levels,
            "has a parent that is not one level above, or no neighbour",
        )
        if int(parents[source]) != source or bool(((parents >= 0) != reached).any()):
            raise WrongResult(
                f"{name}, source {source}: the source is not its own parent, or parents and levels differ in "
                "what they reach"
            )


def array_module(array):
    """NumPy, or the array module of the backend in use, according to `array`."""
    if type(array) is np.ndarray:
        return np
    from grb_tile.backends import select

    return select.current().xp


def _rows(xp, indptr, start, stop):
    """The row of each of the entries start .. stop - 1."""
    if xp is not np:  # CuPy repeats by one number only
        return xp.searchsorted(indptr, xp.arange(start, stop, dtype=np.int64), side="right") - 1
    first, last = np.searchsorted(indptr, [start, stop - 1], side="right") - 1
    return np.repeat(np.arange(first, last + 1), np.diff(np.clip(indptr[first : last + 2], start, stop)))


def _all(name, source, xp, holds, levels, text):
    if not bool(holds.all()):
        v = int(xp.argmin(holds))
        raise WrongResult(f"{name}, source {source}: node {v} at level {int(levels[v])} {text}")


def product(name, store, semiring, x, w, seed):
    """Raises: WrongResult unless sampled rows of w = A (+).(x) x are right, absent ones included; A is `store`.

    Rows: 200 at random, 200 where w has an entry, the three longest.  Computed by NumPy in double precision; sums may
    differ by 1e-4 (FP32) or 1e-10 (FP64) of the sum of magnitudes.
    """
    from grb_tile.dtypes import FP64
    from grb_tile.operators import get_typed_op
    from grb_tile.storage.place import host_array

    typed = get_typed_op(semiring, FP64, kind="semiring")
    tolerance = TOLERANCE[store.dtype.np_type.itemsize]
    indptr = host_array(store.indptr)
    indices, entries = x.to_coo()
    values, present = np.zeros(x.size), np.zeros(x.size, bool)
    values[indices], present[indices] = entries, True
    indices, entries = w.to_coo()
    found = dict(zip(indices.tolist(), entries.tolist()))
    random = np.random.default_rng(seed)
    sample = np.concatenate(
        [
            random.integers(0, store.nrows, ROWS),
            np.argsort(np.diff(indptr))[-3:],
            random.choice(indices, min(ROWS, len(indices)), replace=False).astype(np.int64),
        ]
    )
    for i in np.unique(sample).tolist():
        columns = host_array(store.indices[indptr[i] : indptr[i + 1]])
        kept = present[columns]
        if kept.any() != (i in found):
            raise WrongResult(f"{name}: row {i} {'is missing' if kept.any() else 'has an entry and should not'}")
        if not kept.any():
            continue
        a = host_array(store.values[indptr[i] : indptr[i + 1]])[kept].astype(np.float64)
        op = typed.binaryop
        terms = op.numpy(a.astype(op.type.np_type), values[columns[kept]].astype(op.type2.np_type))
        _compare(f"{name}: row {i}", typed.monoid, terms, float(found[i]), tolerance, w.dtype.np_type.type)


def at_mask(name, A, semiring, X, Y, C, seed):
    """Raises: WrongResult unless C has A's structure and sampled entries of C<A> = X (+).(x) Y' are right."""
    from grb_tile.dtypes import FP64
    from grb_tile.operators import get_typed_op

    typed = get_typed_op(semiring, FP64, kind="semiring")
    rows, columns, _ = A.to_coo()
    found_rows, found_columns, values = C.to_coo()
    if not (np.array_equal(rows, found_rows) and np.array_equal(columns, found_columns)):
        raise WrongResult(f"{name}: the entries of C are not at those of the mask")
    kind, op = C.dtype.np_type, typed.binaryop
    for e in np.random.default_rng(seed).integers(0, values.size, ROWS).tolist():
        i, j = int(rows[e]), int(columns[e])
        terms = np.broadcast_to(op.numpy(X[i].astype(op.type.np_type), Y[j].astype(op.type2.np_type)), X[i].shape)
        what = f"{name}: entry ({i}, {j})"
        _compare(what, typed.monoid, terms, float(values[e]), TOLERANCE[kind.itemsize], kind.type)


def square(name, store, semiring, C, masked, seed):
    """Raises: WrongResult unless sampled rows of C = A (+).(x) A, or of C<A>, are right; A is `store`, C a store."""
    from grb_tile.dtypes import FP64
    from grb_tile.operators import get_typed_op
    from grb_tile.storage.convert import to_csr
    from grb_tile.storage.place import host

    typed = get_typed_op(semiring, FP64, kind="semiring")
    op, kind = typed.binaryop, C.dtype.np_type
    A, C = host(store), to_csr(host(C))
    random = np.random.default_rng(seed)
    for i in np.unique(random.integers(0, A.nrows, ROWS)).tolist():
        at = slice(*A.indptr[i : i + 2])
        inner, a = A.indices[at], np.broadcast_to(A.values, A.nvals)[at] if A.iso else A.values[at]
        starts, lengths = A.indptr[inner], A.indptr[inner + 1] - A.indptr[inner]
        of = np.arange(int(lengths.sum())) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        columns = A.indices[of]
        b = np.broadcast_to(A.values, A.nvals)[of] if A.iso else A.values[of]
        left, right = np.repeat(a, lengths).astype(op.type.np_type), b.astype(op.type2.np_type)
        terms = np.broadcast_to(op.numpy(left, right), columns.shape)
        wanted = np.unique(columns)
        if masked:
            wanted = np.intersect1d(wanted, inner)
        found = slice(*C.indptr[i : i + 2])
        if not np.array_equal(C.indices[found], wanted):
            raise WrongResult(f"{name}: row {i} of C has not the entries that it should have")
        values = np.broadcast_to(C.values, C.nvals)[found] if C.iso else C.values[found]
        for k in random.integers(0, wanted.size, min(5, wanted.size)).tolist():
            what = f"{name}: entry ({i}, {int(wanted[k])})"
            some = terms[columns == wanted[k]]
            _compare(what, typed.monoid, some, float(values[k]), TOLERANCE[kind.itemsize], kind.type)


def triangles(name, store, count):
    """Raises: WrongResult unless `count` is the number of triangles of the undirected graph `store`, by SciPy.

    sum(L .* (L L)), L the edges from each vertex to its neighbours of higher degree.
    """
    import scipy.sparse

    from grb_tile.storage.place import host

    A = host(store)
    pattern = scipy.sparse.csr_array((np.ones(A.nvals, np.int64), A.indices, A.indptr), shape=A.shape)
    rank = np.empty(A.nrows, np.int64)
    rank[np.argsort(np.diff(A.indptr), kind="stable")] = np.arange(A.nrows)
    edges = pattern.tocoo()
    up = rank[edges.row] < rank[edges.col]
    L = scipy.sparse.csr_array((edges.data[up], (rank[edges.row[up]], rank[edges.col[up]])), shape=A.shape)
    step = max(1, CHUNK // max(1, L.nnz // max(1, A.nrows)) ** 2)
    parts = (L[start : start + step] for start in range(0, A.nrows, step))
    want = sum(int((part @ L).multiply(part).sum()) for part in parts)
    if int(count) != want:
        raise WrongResult(f"{name}: {int(count)}, expected {want}")


def _compare(what, monoid, terms, found, tolerance, kind):
    """Raises: WrongResult unless `found`, of NumPy type `kind`, is the reduction of `terms` (any: one of them)."""
    if monoid.binaryop.kind == "any":
        want = terms[np.argmin(np.abs(terms - found))]
    else:
        want = monoid.reduce(terms)
    with np.errstate(all="ignore"):  # overflow to infinity in `kind`
        want = kind(want)
    scale = np.abs(terms).sum() if monoid.binaryop.name == "plus" else abs(float(want))
    if found != float(want) and not (np.isfinite(want) and abs(float(want) - found) <= tolerance * scale):
        raise WrongResult(f"{what} is {found!r}, expected {float(want)!r}")
