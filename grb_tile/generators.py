"""Graphs and matrices that are made instead of read: R-MAT and Kronecker graphs, uniform random graphs, grids, meshes.

    from grb_tile import generators
    A = generators.kronecker(16)                                # Graph500: 65,536 vertices, undirected
    A = generators.uniform_random(1000, 8000, weights=(1, 255))
    A = generators.grid(300, 200)

They are made by the arrays of the backend in use, from a hash of counters and not from a stream of random numbers: one
seed gives one graph, on the CPU and on a device, whatever the version of NumPy.  Each returns a square Matrix with an
entry A(i, j) for each edge i -> j, without duplicates; `algorithms.Graph(A)` takes it.

Without `weights` the matrix is a pattern (BOOL, one value True for all entries).  `weights=(low, high)` draws a weight
for each edge: a whole number from low to high inclusive for an integer `dtype` (the default, INT64), a number in
[low, high) for FP32 and FP64.  Both directions of an undirected edge have one weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product
from typing import Any

import numpy as np

from . import dtypes, exceptions
from .backends import select
from .core.arguments import flags
from .core.matrix import Matrix
from .edge_draws import CHUNK, LARGEST, checked_seed, quadrants, uniform_ends, weights_of, whole
from .hashing import hashes
from .storage.store import Compressed, index_dtype

__all__ = [
    "brick_mesh",
    "grid",
    "kronecker",
    "random_geometric",
    "random_points",
    "rmat",
    "uniform_random",
    "with_weights",
]

TOGETHER = 1 << 30  # keys sorted at a time: CuPy's sort takes fewer than 2^32, and as much memory as they need besides
LABELS, POINTS = 0, 1 << 22  # streams of the hash; others: edge_draws.py

Weights = tuple[float, float] | None
Say = Callable[[str], None] | None


def rmat(
    scale: int,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    *,
    directed: bool = True,
    shuffle: bool = False,
    weights: Weights = None,
    dtype: Any = None,
    seed: int = 0,
    progress: Say = None,
) -> Matrix:
    """An R-MAT graph: 2^scale vertices and at most edge_factor 2^scale edges, each drawn by recursion.

    A level of the recursion picks a quadrant of the matrix: upper left with probability a, upper right b, lower left c,
    lower right 1 - a - b - c (in steps of 2^-16); `scale` levels give an entry.  Edges drawn twice and loops are left
    out, so there are fewer than drawn.

    directed=False adds j -> i for each i -> j.  shuffle=True renumbers the vertices at random, which hides the
    recursion.  `progress` is called with a line of text now and then.

    Raises: ValueError for a scale outside 1 .. 30, an edge factor outside 1 .. 1024, probabilities that are negative or
    sum to more than 1, weights that are not low <= high; TypeError for other types.
    Source: Chakrabarti, Zhan, Faloutsos, "R-MAT: A recursive model for graph mining" (SDM 2004).

    >>> from grb_tile import generators
    >>> generators.rmat(5, 4, seed=1).shape
    (32, 32)
    """
    flags(directed=directed, shuffle=shuffle)
    scale = whole("scale", scale, 1, 30)
    edge_factor = whole("edge_factor", edge_factor, 1, 1024)
    for name, share in (("a", a), ("b", b), ("c", c)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name}: expected a probability from 0 to 1, got {share}")
    if a + b + c > 1 + 1e-9:
        raise ValueError(f"a + b + c: expected at most 1, got {a + b + c:g}; the rest is the lower right quadrant's")
    seed = checked_seed(seed)
    xp, n, count = select.current().xp, 1 << scale, edge_factor << scale
    bounds = [round(share * 65536) for share in (a, a + b, a + b + c)]
    label = xp.argsort(hashes(xp, 0, n, seed, LABELS)) if shuffle else None  # a permutation: hashes are distinct
    keys = _keys(xp, "rmat", n, count * (1 if directed else 2))
    for start in range(0, count, CHUNK):
        stop = min(count, start + CHUNK)
        rows, cols = quadrants(xp, start, stop, seed, scale, bounds)
        if label is not None:
            rows, cols = label[rows], label[cols]
        keys[start:stop] = rows << scale | cols
        if not directed:
            keys[count + start : count + stop] = cols << scale | rows
        _tell(progress, f"making edges: {100 * stop // count} %")
    _tell(progress, "sorting edges")
    return _matrix(xp, n, keys, not directed, weights, dtype, seed)


def kronecker(
    scale: int,
    edge_factor: int = 16,
    *,
    directed: bool = False,
    weights: Weights = None,
    dtype: Any = None,
    seed: int = 0,
    progress: Say = None,
) -> Matrix:
    """The Kronecker graph of Graph500 and of GAP: `rmat` with quadrants 0.57, 0.19, 0.19, 0.05 and shuffled vertices.

    2^scale vertices, at most edge_factor 2^scale edges, undirected unless `directed`, without loops and duplicates.
    Raises: as `rmat`.
    Source: Graph500 benchmark specification, section 3 (graph500.org).

    >>> from grb_tile import generators
    >>> A = generators.kronecker(6)
    >>> A.shape, bool(A.isequal(A.T.new()))
    ((64, 64), True)
    """
    return rmat(
        scale, edge_factor, directed=directed, shuffle=True, weights=weights, dtype=dtype, seed=seed, progress=progress
    )


def uniform_random(
    n: int,
    nedges: int,
    *,
    directed: bool = False,
    weights: Weights = None,
    dtype: Any = None,
    seed: int = 0,
    progress: Say = None,
) -> Matrix:
    """A uniform random graph: n vertices and `nedges` draws of two of them (Erdos and Renyi; GAP's urand).

    Edges drawn twice and loops are left out: about nedges^2 / n^2 and nedges / n of them.
    Raises: ValueError for n outside 1 .. 2^31 or a negative nedges, weights that are not low <= high.

    >>> from grb_tile import generators
    >>> generators.uniform_random(100, 300, weights=(1, 9), seed=4).dtype.name
    'INT64'
    """
    flags(directed=directed)
    n = whole("n", n, 1, LARGEST)
    nedges = whole("nedges", nedges, 0, 1 << 40)
    seed = checked_seed(seed)
    xp = select.current().xp
    keys = _keys(xp, "uniform_random", n, nedges * (1 if directed else 2))
    for start in range(0, nedges, CHUNK):
        stop = min(nedges, start + CHUNK)
        rows, cols = uniform_ends(xp, start, stop, seed, n)
        keys[start:stop] = rows * n + cols
        if not directed:
            keys[nedges + start : nedges + stop] = cols * n + rows
        _tell(progress, f"making edges: {100 * stop // nedges} %")
    return _matrix(xp, n, keys, not directed, weights, dtype, seed)


def grid(*sides: int, diagonals: bool = False, weights: Weights = None, dtype: Any = None, seed: int = 0) -> Matrix:
    """A grid of sides[0] x sides[1] x ... vertices, joined with their neighbours along each axis; undirected.

    diagonals=True also joins vertices that differ by one along several axes.  Vertex numbers are row-major: (i, j) of a
    grid(m, n) is i n + j.
    Raises: ValueError for no side, for a side below 1, for more than 2^31 vertices.

    >>> from grb_tile import generators
    >>> generators.grid(2, 3).nvals     # 7 edges, each in both directions
    14
    """
    flags(diagonals=diagonals)
    if not sides:
        raise ValueError("sides: expected at least one number, such as grid(300, 200)")
    sides = tuple(whole("sides", side, 1, LARGEST) for side in sides)
    if math.prod(sides) > LARGEST:
        raise ValueError(f"sides: {sides} make {math.prod(sides)} vertices, at most 2^31 are possible")
    seed = checked_seed(seed)
    xp = select.current().xp
    indptr, indices = _lattice(xp, sides, diagonals, 1)
    return _made(xp, math.prod(sides), indptr, indices, True, weights, dtype, seed)


def brick_mesh(side: int, unknowns: int = 3) -> Matrix:
    """The pattern of a finite-element matrix: side^3 nodes of a cube, `unknowns` rows for each.

        A = kron(kron(kron(T, T), T), ones(unknowns, unknowns)),    T tridiagonal, side x side

    Each node is joined with the 26 around it and with itself.  Raises: ValueError for a side outside 1 .. 500, unknowns
    outside 1 .. 16.

    >>> from grb_tile import generators
    >>> generators.brick_mesh(2, 1).nvals
    64
    """
    side = whole("side", side, 1, 500)
    unknowns = whole("unknowns", unknowns, 1, 16)
    xp = select.current().xp
    indptr, indices = _lattice(xp, (side,) * 3, True, unknowns, own=True)
    return _made(xp, side**3 * unknowns, indptr, indices, True, None, None, 0)


def random_points(n: int, dimension: int = 2, *, seed: int = 0) -> Any:
    """n points, uniform in the unit cube: an n x dimension array of float64, where the backend in use has its arrays.

    Raises: ValueError for n outside 1 .. 2^31 or a dimension outside 1 .. 3.
    """
    n = whole("n", n, 1, LARGEST)
    dimension = whole("dimension", dimension, 1, 3)
    seed = checked_seed(seed)
    xp = select.current().xp
    axes = [
        (hashes(xp, 0, n, seed, POINTS + axis) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        for axis in range(dimension)
    ]
    return xp.stack(axes, axis=1)


def random_geometric(
    n: int, radius: float, dimension: int = 2, *, distances: bool = False, seed: int = 0, progress: Say = None
) -> Matrix:
    """A random geometric graph: `random_points(n, dimension, seed=seed)`, two joined where at most `radius` apart.

    Undirected.  distances=True gives each edge its length (FP64) as its weight; otherwise the matrix is a pattern.
    Cost: the points of the cubes of side `radius` around each point, for each point.
    Raises: ValueError for n or dimension as `random_points`, a radius that is not positive and finite.
    Source: Penrose, "Random Geometric Graphs" (Oxford, 2003), section 1.1.

    >>> from grb_tile import generators
    >>> generators.random_geometric(50, 2.0).nvals      # all 50 x 49 pairs
    2450
    """
    flags(distances=distances)
    points = random_points(n, dimension, seed=seed)
    n, dimension = points.shape
    if not (radius > 0 and math.isfinite(radius)):
        raise ValueError(f"radius: expected a positive number, got {radius}")
    xp = select.current().xp
    side = max(1, min(int(1 / radius), int((4 * n) ** (1 / dimension))))  # cubes along an axis: at most 4 n in all
    cube = xp.minimum((points * side).astype(np.int64), side - 1)
    number = xp.zeros(n, np.int64)
    for axis in range(dimension):
        number = number * side + cube[:, axis]
    order = xp.argsort(number)
    first = xp.searchsorted(number[order], xp.arange(side**dimension + 1, dtype=np.int64))
    steps = list(product((-1, 0, 1), repeat=dimension))
    parts = []
    for done, step in enumerate(steps):
        beside = cube + xp.asarray(np.array(step, np.int64))
        points_here = xp.flatnonzero(((beside >= 0) & (beside < side)).all(axis=1))
        there = xp.zeros(len(points_here), np.int64)
        for axis in range(dimension):
            there = there * side + beside[points_here, axis]
        parts += _near(xp, points, radius, points_here, order, first[there], first[there + 1])
        _tell(progress, f"joining points: {100 * (done + 1) // len(steps)} %")
    keys = xp.concatenate(parts) if parts else xp.empty(0, np.int64)
    made = _matrix(xp, n, keys, True, None, None, seed)
    if not distances:
        return made
    store = made._store
    rows = xp.searchsorted(store.indptr, xp.arange(store.nvals, dtype=np.int64), side="right") - 1
    lengths = _lengths(xp, points, rows, store.indices)
    filled = Compressed(n, n, dtypes.FP64, store.indptr, store.indices, lengths)
    return Matrix._from_store(filled, filled.dtype)


def with_weights(A: Matrix, low: float, high: float, *, dtype: Any = None, seed: int = 0) -> Matrix:
    """The structure of A with drawn weights: whole numbers low .. high (INT64, other integers), or in [low, high).

    The weight of an entry depends on its two indices and the seed alone, and not on which of them is the row: a
    symmetric structure gets symmetric weights.  A is not changed.
    Raises: DimensionMismatch when A is not square; ValueError and TypeError as for `weights` of the other functions.

    >>> import grb_tile as gb
    >>> from grb_tile import generators
    >>> W = generators.with_weights(generators.grid(3, 3), 1, 255)
    >>> bool(W.isequal(W.T.new())), W.dtype.name
    (True, 'INT64')
    """
    if A.nrows != A.ncols:
        raise exceptions.DimensionMismatch(f"A: expected a square matrix, got {A.nrows} x {A.ncols}")
    whole("A.nrows", A.nrows, 0, LARGEST)
    seed = checked_seed(seed)
    backend = select.current()
    store = backend.convert(A._store, "csr")
    values, held = weights_of(backend.xp, A.nrows, store.indptr, store.indices, True, (low, high), dtype, seed)
    return Matrix._from_store(Compressed(A.nrows, A.nrows, held, store.indptr, store.indices, values), held)


# --- random numbers ---


def uniform_values(count: int, seed: int, dtype: Any) -> Any:
    """`count` numbers in [0.5, 1.5) of a NumPy type, where the backend in use has its arrays; multiples of 2^-20."""
    xp = select.current().xp
    out = xp.empty(count, dtype)
    for start in range(0, count, CHUNK):
        stop = min(count, start + CHUNK)
        drawn = (hashes(xp, start, stop, seed, 1 << 20) >> np.uint64(44)).astype(dtype)
        out[start:stop] = drawn * dtype(2.0**-20) + dtype(0.5)
    return out


# --- from edges to a matrix ---


def _keys(xp, name, n, count):
    """An array for the numbers of `count` entries.  Raises: OutOfMemory where they and their matrix do not fit."""
    each = 8 + 8 + 2 * index_dtype(n).itemsize  # the number, sorted a second time, and its column twice
    what = f"{name}: {count:,} entries before repeated ones are dropped"
    select.current().check_memory(count * each + 8 * n, what, "give fewer vertices or edges")
    return xp.empty(count, np.int64)


def _matrix(xp, n, keys, symmetric, weights, dtype, seed):
    """The matrix with an entry for each number i n + j of `keys`, but for loops; sorts `keys` in place, or parts of it.

    More than TOGETHER keys are sorted in parts; the rows between two of those that divide the keys evenly are then made
    from the keys that each part has of them.
    """
    parts = [keys[start : start + TOGETHER] for start in range(0, len(keys), TOGETHER)] or [keys]
    for part in parts:
        part.sort()
    rows, indptr, indices, count = _divided(xp, n, parts), xp.zeros(n + 1, np.int64), [], 0
    for first, last in pairwise(rows):
        some = parts[0] if len(parts) == 1 else _between(xp, parts, first * n, last * n)
        kept = xp.ones(len(some), np.bool_)
        kept[1:] = some[1:] != some[:-1]
        # i n + j = i (n + 1) + (j - i): a loop's number is a multiple of n + 1, no other's is
        kept &= some % (n + 1) != 0
        some = some[kept]
        indptr[first : last + 1] = xp.searchsorted(some, xp.arange(first, last + 1, dtype=np.int64) * n) + count
        indices.append((some % n).astype(index_dtype(n)))
        count += len(some)
    columns = indices[0] if len(indices) == 1 else xp.concatenate(indices)
    return _made(xp, n, indptr, columns, symmetric, weights, dtype, seed)


def _divided(xp, n, parts):
    """Rows 0 .. n between which about half of TOGETHER keys lie, by a sample of the sorted parts."""
    sample = xp.concatenate([part[:: max(1, len(part) >> 12)] for part in parts])
    sample.sort()
    step = max(1, len(sample) // (2 * len(parts)))
    return sorted({0, n, *(sample[step::step] // n).tolist()}) if len(parts) > 1 else [0, n]


def _between(xp, parts, low, high):
    """The keys from `low` up to but without `high` of all sorted parts, sorted."""
    bounds = [xp.searchsorted(part, xp.array([low, high])).tolist() for part in parts]
    some = xp.concatenate([part[start:stop] for part, (start, stop) in zip(parts, bounds, strict=True)])
    some.sort()
    return some


def _made(xp, n, indptr, indices, symmetric, weights, dtype, seed):
    indices = indices.astype(index_dtype(n), copy=False)
    if weights is None:
        if dtype is not None:
            raise ValueError(f"dtype: {dtype} is that of weights; pass weights=(low, high) too")
        one = xp.ones(min(1, indices.shape[0]), np.bool_)
        store = Compressed(n, n, dtypes.BOOL, indptr, indices, one, iso=len(one) > 0)
    else:
        values, held = weights_of(xp, n, indptr, indices, symmetric, weights, dtype, seed)
        store = Compressed(n, n, held, indptr, indices, values)
    return Matrix._from_store(store, store.dtype)


def _lattice(xp, sides, diagonals, block, own=False):
    """Row pointers and column indices of a grid's matrix; each vertex becomes a dense block of rows and columns.

    diagonals: joined with all vertices around; own: and with itself.
    """
    nodes = math.prod(sides)
    node = xp.arange(nodes, dtype=np.int64)
    most = len(sides) if diagonals else 1
    steps = product((-1, 0, 1), repeat=len(sides))
    steps = [step for step in steps if sum(map(abs, step)) <= most and (own or any(step))]
    there, beside = [], []
    for step in steps:  # ascending, so that columns are
        inside, at, stride = xp.ones(nodes, np.bool_), node, 1
        for side, d in zip(reversed(sides), reversed(step)):
            place = node // stride % side + d
            inside &= (place >= 0) & (place < side)
            at = at + d * stride
            stride *= side
        there.append(inside)
        beside.append(at)
    there, beside = xp.stack(there, axis=1), xp.stack(beside, axis=1)
    shape = (nodes, block, len(steps), block)
    there = xp.broadcast_to(there[:, None, :, None], shape).reshape(nodes * block, -1)
    inner = xp.arange(block, dtype=np.int64)
    columns = xp.broadcast_to(beside[:, None, :, None] * block + inner, shape).reshape(nodes * block, -1)
    indptr = xp.zeros(nodes * block + 1, np.int64)
    indptr[1:] = xp.cumsum(there.sum(axis=1))
    return indptr, columns[there]


def _near(xp, points, radius, here, order, start, stop):
    """Numbers i n + j of the pairs at most `radius` apart: i of `here`, j among order[start .. stop - 1] for that i."""
    ends = xp.cumsum(stop - start)
    total = int(ends[-1]) if len(ends) else 0
    parts = []
    for low in range(0, total, CHUNK):
        pair = xp.arange(low, min(total, low + CHUNK), dtype=np.int64)
        owner = xp.searchsorted(ends, pair, side="right")
        there = order[pair - ends[owner] + stop[owner]]
        rows = here[owner]
        near = _lengths(xp, points, rows, there) <= radius
        parts.append(rows[near] * len(points) + there[near])
    return parts


def _lengths(xp, points, rows, cols):
    apart = (points[rows] - points[cols]).T
    first, *others = apart * apart
    return xp.sqrt(sum(others, first))  # in the order of the axes, on every backend


# --- arguments ---


def _tell(progress, text):
    if progress is not None:
        progress(text)
