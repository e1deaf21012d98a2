"""Six programs as users write them, for either library, and the list of kernels that they and common calls ask for.

    python tests/benchmarks/common_programs.py NAME SCALE LIBRARY     one program, as a script that runs once
    python tests/benchmarks/common_programs.py --record               the list: backends/cpu/jit/common_kernels.json

Run the second after a template, or what asks for it, has changed: the list names flags and types of templates.
"""

import importlib
import json
import operator
import pathlib
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "grb_tile" / "backends" / "cpu" / "jit" / "common_kernels.json"


def edges(scale, factor=16, seed=1):
    """(rows, columns) of a symmetric R-MAT graph without loops (Graph 500's parameters), each edge once."""
    rng = np.random.default_rng(seed)
    n, count = 1 << scale, factor << scale
    rows, columns = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for _ in range(scale):
        down = rng.random(count) > 0.76
        right = rng.random(count) > np.where(down, 0.05 / 0.24, 0.57 / 0.76)
        rows, columns = rows * 2 + down, columns * 2 + right
    shuffled = rng.permutation(n)
    rows, columns = shuffled[rows], shuffled[columns]
    both = np.unique(np.concatenate([rows * n + columns, columns * n + rows]))
    both = both[both // n != both % n]
    return both // n, both % n


def graph(gb, scale, dtype=None, factor=16):
    """The adjacency matrix: all ones, or random weights of `dtype`."""
    rows, columns = edges(scale, factor)
    if dtype is None:
        return gb.Matrix.from_coo(rows, columns, 1.0, nrows=1 << scale, ncols=1 << scale)
    weights = (np.minimum(rows, columns) * 31 + np.maximum(rows, columns) * 17) % 255 + 1
    return gb.Matrix.from_coo(rows, columns, weights.astype(dtype), nrows=1 << scale, ncols=1 << scale)


def bfs(gb, A, source=0):
    """Levels: push while the frontier is small, pull when it is large."""
    levels, frontier = gb.Vector(gb.dtypes.INT32, A.nrows), gb.Vector(bool, A.nrows)
    frontier[source] = True
    depth = 0
    while frontier.nvals:
        levels(frontier.S) << depth
        depth += 1
        if frontier.nvals > A.nrows // 16:
            frontier(~levels.S, replace=True) << A.mxv(frontier, gb.semiring.any_pair)
        else:
            frontier(~levels.S, replace=True) << frontier.vxm(A, gb.semiring.any_pair)
    return levels.reduce(gb.monoid.plus).new().value


def pagerank(gb, A, damping=0.85, turns=20):
    """Twenty turns of power iteration."""
    n = A.nrows
    degree = A.reduce_rowwise(gb.agg.count).new()
    scale = gb.Vector(gb.dtypes.FP64, n)
    scale << degree.apply(gb.unary.minv[gb.dtypes.FP64])
    rank = gb.Vector.from_dense(np.full(n, 1.0 / n))
    for _ in range(turns):
        share = rank.ewise_mult(scale, gb.binary.times).new()
        share << share.apply(gb.binary.times, right=damping)
        rank(accum=None) << (1 - damping) / n
        rank(gb.binary.plus) << A.mxv(share, gb.semiring.plus_second)
    return float(rank.reduce(gb.monoid.plus).new().value)


def sssp(gb, A, source=0):
    """Bellman-Ford with the vertices that improved as the frontier."""
    distance = gb.Vector(A.dtype, A.nrows)
    distance[source] = 0
    frontier = distance.dup()
    while frontier.nvals:
        reached = frontier.vxm(A, gb.semiring.min_plus).new()
        better = reached.ewise_mult(distance, gb.binary.lt).new()
        fresh = reached.dup(mask=~distance.S)
        frontier = reached.dup(mask=better.V)
        frontier(fresh.S) << fresh
        distance(gb.binary.min) << frontier
    return float(distance.reduce(gb.monoid.plus).new().value)


def triangles(gb, A):
    """Sandia's method: the entries of L (L U') under L."""
    L = A.select(gb.select.tril, -1).new()
    count = gb.Matrix(gb.dtypes.INT64, A.nrows, A.ncols)
    count(L.S) << L.mxm(L.T, gb.semiring.plus_pair[gb.dtypes.INT64])
    return int(count.reduce_scalar(gb.monoid.plus).new().value)


def ktruss(gb, A, k=4):
    """The edges that are in k - 2 triangles at least, until none goes."""
    C = A.dup()
    while True:
        support = C.mxm(C.T, gb.semiring.plus_pair[gb.dtypes.INT64]).new(mask=C.S)
        kept = support.select(gb.select.valuege, k - 2).new()
        if kept.nvals == C.nvals:
            return kept.nvals
        C = kept


def label_propagation(gb, A, turns=10):
    """Each vertex takes the least label among its neighbours' and its own."""
    labels = gb.Vector.from_dense(np.arange(A.nrows))
    for _ in range(turns):
        labels(gb.binary.min) << A.mxv(labels, gb.semiring.min_second)
    return int(labels.reduce(gb.monoid.plus).new().value)


PROGRAMS = {
    "bfs": bfs,
    "pagerank": pagerank,
    "sssp": sssp,
    "triangles": triangles,
    "ktruss": ktruss,
    "label_propagation": label_propagation,
}
WEIGHTED = {"sssp": np.float64}


def run(name, scale, library):
    """One program as a script of its own; prints the seconds of the algorithm's first call, and its result."""
    gb = importlib.import_module(library)
    A = graph(gb, scale, WEIGHTED.get(name))
    start = time.perf_counter()
    result = PROGRAMS[name](gb, A)
    print(time.perf_counter() - start, result)


# ---------------------------------------------------------------------- common calls beside the programs

MATRIX_VECTOR = (
    ("plus_times", "FP64"), ("plus_times", "FP32"), ("plus_times", "INT64"), ("plus_second", "FP64"),
    ("plus_second", "FP32"), ("plus_first", "FP64"), ("plus_pair", "INT64"), ("min_plus", "FP64"), ("min_plus", "FP32"),
    ("min_plus", "INT64"), ("min_plus", "INT32"), ("max_plus", "FP64"), ("min_second", "INT64"),
    ("max_second", "INT64"), ("min_first", "INT64"), ("any_second", "INT64"), ("ss.any_secondi", "INT64"),
    ("ss.min_secondi", "INT64"),
    ("lor_land", "BOOL"), ("any_pair", "BOOL"),
)  # fmt: skip
MATRIX_MATRIX = (
    ("plus_times", "FP64"), ("plus_times", "INT64"), ("plus_pair", "INT64"), ("plus_second", "FP64"),
    ("min_plus", "FP64"), ("lor_land", "BOOL"), ("any_pair", "BOOL"),
)  # fmt: skip


# (type, iso) of sparse vectors that a row-wise product spreads into bitmaps: it asks for that once its own kernel is
# compiled, and here none is
SPREADS = (("d", False), ("f", False), ("l", False), ("i", False), ("l", True), ("?", True))


def common_calls(gb):
    """Products with masks and without, merges, selects, transposes and extracts, of the usual types."""
    n = 1 << 9
    ones, weighted = graph(gb, 9, factor=8), graph(gb, 9, np.float64, factor=8)
    few = np.arange(0, n, 7)
    for name, kind in MATRIX_VECTOR:
        op, dtype = operator.attrgetter(name)(gb.semiring)[kind], getattr(gb.dtypes, kind)
        of_kind = weighted.dup(dtype)
        full = gb.Vector.from_dense(np.ones(n, dtype.np_type))
        half = gb.Vector.from_coo(np.arange(0, n, 2), np.ones(n // 2, dtype.np_type), size=n)
        sparse = gb.Vector.from_coo(few[:5], np.arange(1, 6).astype(dtype.np_type), size=n)
        for A in (of_kind, ones.dup(dtype)):
            for x in (full, half, sparse):
                op(A @ x).new()
                op(A @ x).new(mask=~sparse.S)
            op(A @ full).new(mask=sparse.S)
            op(sparse @ A).new()
            op(half @ A).new(mask=~sparse.S)
    for name, kind in MATRIX_MATRIX:
        op, dtype = getattr(gb.semiring, name)[kind], getattr(gb.dtypes, kind)
        for A in (weighted.dup(dtype), ones.dup(dtype)):
            op(A @ A).new()
            op(A @ A).new(mask=A.S)
            op(A @ A.T).new(mask=A.S)
    for kind in ("FP64", "INT64"):
        A = weighted.dup(getattr(gb.dtypes, kind))
        B = A.T.new()
        for op in (gb.binary.plus, gb.binary.min, gb.binary.max, gb.binary.times):
            A.ewise_add(B, op).new()
            A.ewise_mult(B, op).new()
        A[:, : n // 2].new()
        A[few, few].new()
        for name in ("tril", "triu", "diag", "offdiag"):
            A.select(getattr(gb.select, name)).new()
            ones.select(getattr(gb.select, name)).new()
    with_dense(gb, weighted)
    of_graphs(gb, ones, weighted)


def with_dense(gb, weighted):
    """Products with full matrices, and at the entries of a mask."""
    for name, kind in (("plus_times", "FP64"), ("plus_times", "FP32"), ("min_plus", "FP64")):
        op, A = getattr(gb.semiring, name)[kind], weighted.dup(kind)
        X = gb.Matrix.from_dense(np.ones((A.ncols, 16)), dtype=kind)
        op(A @ X).new()
        op(X @ X.T).new(mask=A.S)


def of_graphs(gb, ones, weighted):
    """What graph libraries do besides (graphblas-algorithms): set operations of edges, degrees, Laplacians."""
    rows, columns = edges(12, 8)
    shuffled = np.random.default_rng(5).permutation(rows.size)
    gb.Matrix.from_coo(rows[shuffled], columns[shuffled], 1.0)  # ordered by a kernel
    other, full = weighted.select(gb.select.valuegt, 100).new(), gb.Matrix.from_scalar(1.0, *weighted.shape)
    diagonal = weighted.reduce_rowwise(gb.agg.count).new(float).diag()
    for A in (ones, weighted):
        for op in (gb.binary.minus, gb.binary.first, gb.binary.second, gb.binary.any, gb.binary.pair[gb.dtypes.INT64]):
            A.ewise_add(other, op).new()
            A.ewise_mult(other, op).new()
        for mask in (other.S, ~other.S):
            A.dup(mask=mask)
            A.ewise_add(other, gb.binary.pair[gb.dtypes.INT64]).new(mask=mask)
        diagonal.ewise_union(A, gb.binary.minus, 0, 0).new()
        diagonal.ewise_add(A, gb.binary.minus).new()
        diagonal.ewise_add(A, gb.binary.plus).new()
        full.dup(mask=~A.S)
        A.ewise_mult(other, gb.binary.lt).new()
        for op, dtype in (("plus_times", "FP64"), ("plus_first", "FP64"), ("plus_first", "INT64")):
            op = getattr(gb.semiring, op)[dtype]
            op(A @ gb.Vector.from_scalar(1, A.ncols, dtype=dtype)).new()
    n = 1 << 13  # vectors of fewer entries are left to NumPy
    whole, half = gb.Vector.from_dense(np.arange(n, dtype=float)), gb.Vector(float, n)
    half[::2] << 3
    half[0] = 5
    for op in (gb.binary.plus, gb.binary.minus, gb.binary.times, gb.binary.min, gb.binary.max):
        for x, y in ((whole, whole), (whole, half), (half, whole), (half, half)):
            x.ewise_add(y, op).new()
            x.ewise_mult(y, op).new()
    whole, half = whole.dup(int), half.dup(int)
    for x, y in ((whole, half), (half, half)):
        x.ewise_add(y, gb.binary.plus).new()


def record():
    """Run everything and write the recipes of the kernels that were asked for; nothing is compiled meanwhile."""
    import grb_tile as gb
    from grb_tile.backends.cpu.graph import compiled
    from grb_tile.backends.cpu.jit import cache as jit
    from grb_tile.planner import tuning

    jit.set_mode("auto")
    jit._compile_price = lambda: float("inf")  # no break-even: kernels are asked for, and none is made
    for name, program in PROGRAMS.items():
        for scale in (8, 12):
            program(gb, graph(gb, scale, WEIGHTED.get(name)))
    small, tuning.CPU_SMALL_MATRIX = tuning.CPU_SMALL_MATRIX, 0
    for method in ("rows", "cols", "dot", "gustavson"):
        with gb.plan(force=method):
            common_calls(gb)
    tuning.CPU_SMALL_MATRIX = small
    A = graph(gb, 10)
    gb.algorithms.bfs(gb.algorithms.Graph(A, directed=False), 0)
    gb.algorithms.bfs(gb.algorithms.Graph(A, directed=False), 0, parents=True)
    for name, constants in compiled.KERNELS:
        jit.plain_kernel(name, **constants)
    for value, iso in SPREADS:
        jit.plain_kernel("vectors", X_ISO=iso, VALUE=value, INDEX="i")
    import first_programs

    first = first_programs.recipes()
    rest = {json.dumps(kernel.recipe.data(), sort_keys=True) for kernel in jit._kernels.values()} - set(first)
    # the first programs' in the order of their use: a build that runs out of time has those of the first ones
    lists = [
        f'"{name}": [\n' + ",\n".join(found) + "\n]" for name, found in (("install", first), ("release", sorted(rest)))
    ]
    LIST.write_text("{" + ",\n".join(lists) + "}\n", encoding="utf-8")
    print(f"{len(first)} and {len(rest)} specialisations in {LIST.relative_to(ROOT)}; failures: {jit.failures()}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        sys.path.insert(0, str(ROOT))
        record()
    else:
        run(sys.argv[1], int(sys.argv[2]), sys.argv[3])
