"""The same algorithms in python-graphblas over SuiteSparse, each as good as we can make it: the peers of the
benchmarks.

Formulations follow LAGraph (LAGr_BreadthFirstSearch, LAGr_PageRank, LAGr_TriangleCount; Bellman-Ford with a frontier of
improved entries), storage hints and constants included, wherever python-graphblas lets them be given.
"""

import numpy as np
from graphblas import Matrix, Vector, binary, dtypes, monoid, semiring, unary

ALPHA, BETA1, BETA2 = 8.0, 8.0, 512.0  # LAGraph's constants for changing direction
DAMPING = 0.85
SPARSE, BITMAP = {"sparse"}, {"bitmap"}
DEGREES = {}


def bfs_levels(A, AT, source):
    """Levels by any_pair, pushing (q A) or pulling (A' q) by LAGraph's rule; A and AT may be the same object."""
    n = A.nrows
    degree = out_degree(A)
    v = Vector(dtypes.INT32, n)
    q = Vector(dtypes.BOOL, n)
    v[source] = 0
    q[source] = True
    reach = semiring.any_pair[dtypes.BOOL]
    unexplored, sizes, edges = A.nvals, 1, 0
    pushing, pulled, may_pull = True, False, True
    level = 0
    while True:
        level += 1
        if pushing:
            if may_pull:
                edges = degree.dup(mask=q.S).reduce(monoid.plus).new().value or 0
                unexplored -= edges
                growing = q.nvals >= sizes
                if not pulled and growing and edges > unexplored / ALPHA or pulled and growing and q.nvals > n / BETA1:
                    pushing, pulled = False, True
                may_pull = unexplored >= n
        elif q.nvals < sizes and q.nvals <= n / BETA2:
            pushing = True
        sizes = q.nvals
        if pushing:
            q.ss.config["sparsity_control"] = SPARSE
            q(~v.S, replace=True) << reach(q @ A)
        else:
            q.ss.config["sparsity_control"] = BITMAP
            q(~v.S, replace=True) << reach(AT @ q)
        if not q.nvals:
            return v
        v(q.S) << level


def bfs_parents(A, source):
    """Parents by any_secondi, pushing."""
    p = Vector(dtypes.INT64, A.nrows)
    q = Vector(dtypes.INT64, A.nrows)
    p[source] = source
    q[source] = source
    reach = semiring.ss.any_secondi[dtypes.INT64]
    while q.nvals:
        q(~p.S, replace=True) << reach(q @ A)
        p(q.S) << q
    return p


def sssp_bellman_ford(A, source):
    """Distances by min_plus from a frontier of the entries that were improved last."""
    dtype = A.dtype
    d = Vector(dtype, A.nrows)
    d[source] = 0
    f = d.dup()
    relax = semiring.min_plus[dtype]
    t = Vector(dtype, A.nrows)
    while f.nvals:
        t << relax(f @ A)
        late = binary.ge(t & d).new()
        f(~late.V, replace=True) << t
        d(f.S) << f
    return d


def pagerank(AT, outdegree, iterations):
    """A fixed number of iterations by plus_second over A', with the rank of sinks spread over all nodes, in FP32."""
    n = AT.nrows
    dtype = dtypes.FP32
    r = Vector.from_scalar(1 / n, n, dtype)
    scale = Vector.from_scalar(0, n, dtype)  # full vectors throughout: faster in SuiteSparse than bitmaps
    scale(outdegree.S) << unary.minv(outdegree.dup(dtype))
    scale << binary.times(scale, DAMPING)
    sinks = Vector(dtype, n)
    sinks(~outdegree.S) << DAMPING / n
    spread = semiring.plus_second[dtype]
    weigh = semiring.plus_times[dtypes.FP64]  # in FP32 the sum over the sinks is off in the third digit
    w = Vector(dtype, n)
    for _ in range(iterations):
        lost = weigh(sinks @ r).new().value if sinks.nvals else 0.0
        w << binary.times(r & scale)
        r << (1 - DAMPING) / n + lost
        r(binary.plus) << spread(AT @ w)
    return r


def triangle_count(L):
    """sum of C, C<L,s> = L plus_pair L'."""
    C = semiring.plus_pair[dtypes.INT64](L @ L.T).new(mask=L.S)
    return C.reduce_scalar(monoid.plus).new().value


def out_degree(A):
    """Degrees of A, computed once per matrix: LAGraph caches them in its graph, apart from the timed search."""
    if id(A) not in DEGREES:
        ones = Vector.from_scalar(np.int64(1), A.ncols, dtypes.INT64)
        DEGREES[id(A)] = (A, semiring.plus_pair[dtypes.INT64](A @ ones).new())
    return DEGREES[id(A)][1]


def betweenness(A, AT, sources):
    """Sums of Brandes' dependencies over a batch of sources, as LAGr_Betweenness: a row of F for each of them."""
    ns, n = len(sources), A.nrows
    paths = semiring.plus_first[dtypes.FP64]
    F = Matrix.from_coo(range(ns), sources, 1.0, dtype=dtypes.FP64, nrows=ns, ncols=n)
    V, levels = F.dup(), []
    while F.nvals:
        levels.append(F)
        # F<!V,r,s> = F A
        F = paths(F @ A).new(mask=~V.S)
        V(F.S) << F
    b, D = Vector(dtypes.FP64, n), None
    b << 0.0
    for d in range(len(levels) - 1, 1, -1):
        # W = (1 + D) / F,  D<F,s> = (W A') * F of the level before
        W = unary.minv(levels[d]).new()
        if D is not None:
            W(binary.plus) << binary.truediv(D & levels[d])
        D = paths(W @ AT).new(mask=levels[d - 1].S)
        D << binary.times(D & levels[d - 1])
        b(binary.plus) << D.reduce_columnwise(monoid.plus)
    return b
