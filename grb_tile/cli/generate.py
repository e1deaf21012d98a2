"""Graphs made on the spot, for `grb-tile bench --generate`: Kronecker graphs, grids, finite-element meshes.

They are made by the arrays of the backend in use, from a hash of counters and not from a stream of random numbers: one
seed gives one graph, on the CPU and on a device.
"""

import time

import numpy as np

from grb_tile.cli.main import UsageError

CHUNK = 1 << 22  # edges drawn at a time
GOLDEN, MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1
SPECS = "kron:SCALE[:EDGE_FACTOR], grid:SIDE, fem:SIDE"


def arrays():
    """The array module of the backend in use: NumPy, or the device's."""
    from grb_tile.backends import select

    return select.current().xp


def parsed(text):
    """(kind, numbers) of what --generate names, such as kron:20:16.  Raises: UsageError.

    >>> from grb_tile.cli.generate import parsed
    >>> parsed("kron:20"), parsed("grid:100")
    (('kron', (20, 16)), ('grid', (100,)))
    """
    kind, *numbers = text.split(":")
    most = {"kron": (30, 1024), "grid": (40000,), "fem": (500,)}.get(kind)
    if (
        most is None
        or not 1 <= len(numbers) <= len(most)
        or not all(part.isascii() and part.isdigit() for part in numbers)
    ):
        raise UsageError(f"--generate {text}: expected one of {SPECS}")
    numbers = tuple(map(int, numbers)) if kind != "kron" else (*map(int, numbers), 16)[:2]
    for number, limit in zip(numbers, most):
        if not 1 <= number <= limit:
            raise UsageError(f"--generate {text}: {number} is out of range, expected 1 to {limit} there ({SPECS})")
    return kind, numbers


def store(text, seed, say=lambda text: None):
    """The Compressed store (a pattern: one true for all entries) of the graph; symmetric, its rows sorted.

    kron    Graph500's Kronecker graph: quadrants .57 .19 .19 .05, undirected, without loops and duplicates, labels
            shuffled
    grid    SIDE x SIDE nodes, four neighbours each
    fem     kron(kron(kron(T, T), T), ones(3, 3)), T tridiagonal SIDE x SIDE: three unknowns on each node of a cube
    """
    from grb_tile import dtypes
    from grb_tile.storage.store import Compressed, index_dtype

    kind, numbers = parsed(text)
    xp = arrays()
    if kind == "kron":
        n, indptr, indices = _kron(xp, *numbers, seed, say)
    else:
        n, indptr, indices = _lattice(xp, *numbers, *((2, 1) if kind == "grid" else (3, 3)))
    one = xp.ones(1, np.bool_)
    return Compressed(n, n, dtypes.BOOL, indptr, indices.astype(index_dtype(n)), one, iso=indices.shape[0] > 0)


def uniform(count, seed, dtype):
    """`count` numbers in [0.5, 1.5) of a NumPy type, where the backend in use has its arrays; multiples of 2**-20."""
    xp = arrays()
    out = xp.empty(count, dtype)
    for start in range(0, count, CHUNK):
        stop = min(count, start + CHUNK)
        out[start:stop] = (_hash(xp, start, stop, seed, 1 << 20) >> np.uint64(44)).astype(dtype) * dtype(
            2.0**-20
        ) + dtype(0.5)
    return out


def _hash(xp, start, stop, seed, stream):
    """64 well mixed bits for each of the numbers start .. stop - 1: splitmix64's finaliser of counter x golden ratio +
    key.

    Distinct numbers of a stream have distinct hashes.  Reference: Steele, Lea, Flood, "Fast splittable pseudorandom
    number generators" (OOPSLA 2014), figure 14.
    """
    key = (seed * 0xD1342543DE82EF95 + stream * 0xA0761D6478BD642F + 1) & MASK
    x = xp.arange(start, stop, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(key)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _kron(xp, scale, factor, seed, say):
    n, count = 1 << scale, factor << scale
    label = xp.argsort(_hash(xp, 0, n, seed, 0))  # a permutation: hashes are distinct
    keys = xp.empty(2 * count, np.int64)
    for start in range(0, count, CHUNK):
        stop = min(count, start + CHUNK)
        rows, cols = _quadrants(xp, start, stop, seed, scale)
        rows, cols = label[rows], label[cols]
        keys[start:stop] = rows << scale | cols
        keys[count + start : count + stop] = cols << scale | rows
        say(f"making edges: {100 * stop // count} %")
    say("sorting edges")
    keys.sort()
    kept = xp.ones(2 * count, np.bool_)
    kept[1:] = keys[1:] != keys[:-1]
    kept &= keys >> scale != keys & (n - 1)
    keys = keys[kept]
    indptr = xp.searchsorted(keys, xp.arange(n + 1, dtype=np.int64) << scale).astype(np.int64)
    return n, indptr, keys & (n - 1)


def _quadrants(xp, start, stop, seed, scale):
    """Row and column of edges start .. stop - 1: for each bit a draw of 16 bits picks the quadrant."""
    bounds = [round(share * 65536) for share in (0.57, 0.76, 0.95)]
    rows, cols = xp.zeros(stop - start, np.int64), xp.zeros(stop - start, np.int64)
    for bit in range(scale):
        if bit % 4 == 0:
            bits = _hash(xp, start, stop, seed, 1 + bit // 4)
        draw = (bits >> np.uint64(bit % 4 * 16)).astype(np.uint16)
        below = draw >= bounds[1]
        rows |= below.astype(np.int64) << bit
        cols |= ((draw >= bounds[0]) & ~below | (draw >= bounds[2])).astype(np.int64) << bit
    return rows, cols


def _lattice(xp, side, dimensions, block):
    """Nodes of a cube of `dimensions`, joined along axes (block 1) or to all around and themselves (block: unknowns a
    node).
    """
    nodes = side**dimensions
    node = xp.arange(nodes, dtype=np.int64)
    steps = [[]]
    for _ in range(dimensions):
        steps = [[*step, d] for step in steps for d in (-1, 0, 1)]
    if block == 1:
        steps = [step for step in steps if sum(map(abs, step)) == 1]
    there, beside = [], []
    for step in steps:  # ascending, so that columns are
        inside, at = xp.ones(nodes, np.bool_), node
        for axis, d in enumerate(reversed(step)):
            place = node // side**axis % side + d
            inside &= (place >= 0) & (place < side)
            at = at + d * side**axis
        there.append(inside)
        beside.append(at)
    there, beside = xp.stack(there, axis=1), xp.stack(beside, axis=1)
    shape = (nodes, block, len(steps), block)
    there = xp.broadcast_to(there[:, None, :, None], shape).reshape(nodes * block, -1)
    inner = xp.arange(block, dtype=np.int64)
    columns = xp.broadcast_to(beside[:, None, :, None] * block + inner, shape).reshape(nodes * block, -1)
    indptr = xp.zeros(nodes * block + 1, np.int64)
    indptr[1:] = xp.cumsum(there.sum(axis=1))
    return nodes * block, indptr, columns[there]


def load(args, say):
    """The generated graph as inputs.load gives a file's."""
    from grb_tile import Matrix
    from grb_tile.backends import select
    from grb_tile.cli.inputs import Loaded

    started = time.perf_counter()
    made = store(args.generate, args.seed, say)
    select.current().synchronize()
    return Loaded(
        args.generate,
        Matrix._from_store(made, made.dtype, args.generate),
        None,
        "generated",
        0,
        time.perf_counter() - started,
    )
