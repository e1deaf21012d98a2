"""Loops as a reader of a textbook on GraphBLAS writes them, for programs: each a function and what makes its arguments.

    for name, (function, arguments) in LOOPS.items():
        found = gb.program(function)(*arguments(graph))

arguments(A): of a symmetric Boolean Matrix without a diagonal; made anew in each call, as loops may write them.
"""

import numpy as np

import grb_tile as gb
from grb_tile import Vector, binary, monoid, select, semiring, unary

from .textbook_iterations import (
    clusters,
    conjugate_gradients,
    heat,
    hits,
    jacobi,
    markov_chain,
    pagerank,
    power_iteration,
    walk_with_restart,
)


def search_tree(A, source):
    """Parents of a breadth-first search (LAGraph_BreadthFirstSearch)."""
    parents = Vector(int, A.nrows)
    parents[source] = source
    q = Vector(int, A.nrows)
    q[source] = source
    while q.nvals > 0:
        q(~parents.S, replace=True) << semiring.ss.min_secondi(q @ A)
        parents(q.S) << q
    return parents


def tree_by_numbers(A, source):
    """The same by the frontier's own numbers."""
    n = A.nrows
    index = Vector.from_dense(np.arange(n))
    parents = Vector.from_coo([source], [source], size=n)
    wavefront = parents.dup()
    while wavefront.nvals != 0:
        wavefront(wavefront.S) << index
        wavefront(~parents.S, replace=True) << wavefront.vxm(A, semiring.min_first)
        parents(wavefront.S) << wavefront
    return parents


def delta_stepping(W, source, delta):
    """Shortest paths by buckets (LAGraph_SingleSourceShortestPath; Sridhar and others, algorithm 1)."""
    light = W.select("<=", delta).new()
    heavy = W.select(">", delta).new()
    t = Vector(float, W.nrows)
    t[source] = 0.0
    step = 0
    while t.select(">=", step * delta).new().nvals:
        settled = Vector(bool, W.nrows)
        bucket = select.valuelt(t.select(">=", step * delta).new(), (step + 1) * delta).new()
        while bucket.nvals:
            settled(bucket.S) << True
            request = bucket.vxm(light, "min_plus").new()
            nearer = binary.lt(request & t).new()
            fresh = request.dup(mask=~t.S)
            fresh(nearer.V) << request
            t("min") << request
            bucket << fresh.select("<", (step + 1) * delta)
        reached = t.dup(mask=settled.S)
        t("min") << reached.vxm(heavy, "min_plus")
        step += 1
    return t


def life(A, alive, generations):
    """Conway's game on a graph."""
    for _ in range(generations):
        near = semiring.plus_pair(A @ alive).new(int)
        born = select.valueeq(near, 3).new()
        two = select.valueeq(near, 2).new()
        stays = two.dup(mask=alive.S)
        alive << binary.pair(born | stays)
    return alive


def epidemic(A, infected, chance, days):
    """Susceptible, infected for three days, recovered; infected where enough neighbours are."""
    n = A.nrows
    susceptible = Vector.from_scalar(True, n).dup(mask=~infected.S)
    since = Vector(int, n)
    since(infected.S) << 0
    history = Vector(int, n)
    for day in range(days):
        pressure = A.mxv(infected, semiring.plus_pair).new(mask=susceptible.S)
        fresh = select.valuegt(binary.truediv(pressure & chance).new(float), 1.0).new()
        since(fresh.S) << day
        susceptible(~fresh.S, replace=True) << susceptible
        infected(fresh.S) << True
        over = since.select("<=", day - 3).new()
        infected(~over.S, replace=True) << infected
        history(fresh.S) << int(infected.nvals)
        if infected.nvals == 0:
            break
    return since, history, day


def label_components(A):
    """The least number among those that reach a vertex."""
    n = A.nrows
    labels = Vector.from_dense(np.arange(n))
    while True:
        before = labels.dup()
        labels(binary.min) << A.mxv(labels, semiring.min_second)
        if labels.isequal(before):
            return labels


def fast_sv(A):
    """Connected components (Zhang, Azad, Hu, algorithm 2) with arrays of positions."""
    n = A.nrows
    f = Vector.from_dense(np.arange(n))
    gp = f.dup()
    mngp = f.dup()
    while True:
        mngp(binary.min) << A.mxv(gp, semiring.min_second)
        _, parents = f.to_coo()
        _, least = mngp.to_coo()
        f(binary.min) << Vector.from_coo(parents, least, size=n, dup_op=binary.min)
        f(binary.min) << mngp
        f(binary.min) << gp
        _, parents = f.to_coo()
        before = gp.dup()
        gp << f[parents]
        if gp.isequal(before):
            break
    return f


def pointer_jumping(parents):
    """The root of each vertex of a forest, and its depth (Wyllie's list ranking)."""
    p = parents.dup()
    n = p.size
    depth = Vector.from_scalar(1, n, int)
    depth(binary.eq(p & Vector.from_dense(np.arange(n))).new().V) << 0
    while True:
        at = p.to_dense()
        q = p[at].new()
        if q.isequal(p):
            break
        depth(binary.plus) << depth[at]
        p = q
    return p, depth


def boruvka_degrees(A, rounds):
    """Vertices join the neighbour of least number; sizes of the groups that they make."""
    n = A.nrows
    group = Vector.from_dense(np.arange(n))
    ones = Vector.from_scalar(1, n, int)
    sizes = ones.dup()
    for _ in range(rounds):
        group(binary.min) << A.mxv(group, semiring.min_second)
        where = group.to_coo(indices=False)[1]
        sizes << 0
        sizes(binary.plus) << Vector.from_coo(where, ones.to_coo()[1], size=n, dup_op=binary.plus)
        roots = Vector.from_coo(where, True, size=n)
        sizes(~roots.S) << -1
    return group, sizes


def marked(A, source):
    """Levels written at the positions of the frontier."""
    n = A.nrows
    level = Vector(int, n)
    f = Vector.from_coo([source], [True], size=n)
    depth = 0
    while f.nvals:
        at, _ = f.to_coo()
        level[at] << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
    return level


def independent_set(A, weights):
    """Luby (LAGraph_MaximalIndependentSet), with weights that change by a linear congruence."""
    n = A.nrows
    candidates = Vector.from_scalar(True, n)
    members = Vector(bool, n)
    seed = weights.dup()
    while candidates.nvals > 0:
        seed << (seed * 1103515245 + 12345) % 2147483648
        prob = seed.dup(mask=candidates.S)
        top = A.mxv(prob, semiring.max_second).new(mask=candidates.S)
        winners = binary.gt(prob & top).new()
        new = Vector(bool, n)
        new(winners.V) << True
        alone = candidates.dup(mask=~top.S)
        new(alone.S) << True
        members(new.S) << True
        candidates(~new.S, replace=True) << candidates
        near = A.mxv(new, semiring.any_pair).new(mask=candidates.S)
        candidates(~near.S, replace=True) << candidates
    return members


def matching(A, most):
    """Proposals to the least free neighbour, kept where both agree (Hoepman)."""
    n = A.nrows
    index = Vector.from_dense(np.arange(n))
    mate = Vector(int, n)
    free = index.dup()
    for _ in range(most):
        wish = A.mxv(free, semiring.min_second).new(mask=free.S)
        if wish.nvals == 0:
            break
        known = Vector.from_scalar(0, n, int)
        known << index
        known(wish.S) << wish
        at = known.to_coo()[1]
        back = known[at].new()
        agreed = binary.eq(back & index).new()
        both = wish.dup(mask=agreed.V)
        mate(both.S) << both
        free(~mate.S, replace=True) << free
    return mate


def k_truss(A, k):
    """Davis, algorithm 4."""
    C = A.apply("one").new(int)
    last = C.nvals
    while True:
        C(C.S, replace=True) << semiring.plus_pair(C @ C.T)
        C << C.select(">=", k - 2)
        if C.nvals == last:
            break
        last = C.nvals
    return C


def k_core(A, k):
    """Vertices that have k neighbours among themselves."""
    alive = Vector.from_scalar(True, A.nrows)
    while True:
        degree = A.mxv(alive, semiring.plus_pair).new(int, mask=alive.S)
        kept = degree.select(">=", k).new()
        if kept.nvals == alive.nvals:
            return alive
        alive(kept.S, replace=True) << alive


def many_searches(A, sources):
    """Levels of several searches, a row for each."""
    count, n = len(sources), A.nrows
    F = gb.Matrix.from_coo(list(range(count)), list(sources), True, nrows=count, ncols=n)
    L = gb.Matrix(int, count, n)
    depth = 0
    while F.nvals:
        L(F.S) << depth
        F(~L.S, replace=True) << semiring.any_pair(F @ A)
        depth += 1
    return L


def brandes(A, source):
    """Betweenness of the paths from a vertex (LAGr_Betweenness), with a list of the frontiers."""
    n = A.nrows
    paths = Vector(float, n)
    paths[source] = 1.0
    f = A[source, :].new(float)
    f << f.apply("one")
    frontiers = []
    while f.nvals:
        frontiers.append(f.dup())
        paths(binary.plus) << f
        f(~paths.S, replace=True) << f.vxm(A, semiring.plus_first)
    bc = Vector.from_scalar(1.0, n)
    for k in range(len(frontiers) - 1, 0, -1):
        w = (bc / paths).new(mask=frontiers[k].S)
        w = A.mxv(w, semiring.plus_second).new(mask=frontiers[k - 1].S)
        bc(binary.plus) << w * paths
    return bc


def farthest(A, source):
    """Vertices at the greatest distance: the frontier before the last."""
    seen = Vector(bool, A.nrows)
    seen[source] = True
    f = seen.dup()
    last, depth = f.dup(), 0
    while True:
        f(~seen.S, replace=True) << f.vxm(A, semiring.lor_land)
        if not f.nvals:
            break
        seen(f.S) << True
        last = f.dup()
        depth = depth + 1
    return last, depth


def peeling(A):
    """Levels at which vertices of least degree go."""
    d = A.reduce_rowwise("count").new(int)
    level = Vector(int, A.nrows)
    k = 0
    while d.nvals:
        low = d.reduce(monoid.min).new().value
        f = d.select("==", low).new()
        level(f.S) << k
        d(~f.S, replace=True) << d
        d("minus") << semiring.plus_pair(A @ f).new(int, mask=d.S)
        k += 1
    return level, k


def propagated(A, most):
    """Label propagation (CDLP) until nothing changes."""
    labels = Vector.from_dense(np.arange(A.nrows))
    for _ in range(most):
        new = gb.graph.mode(A, labels)
        kept = labels.dup()
        kept(new.S) << new
        if kept.isequal(labels):
            break
        labels = kept
    return labels


def hub(A):
    """The vertex of highest degree."""
    return int(np.argmax(A.reduce_rowwise("count").new(int).to_dense(0)))


def weights_of(A):
    """W(i, j) = (1 + (i + j) mod 8) / 4."""
    i, j = (A.apply(op).new() for op in ("rowindex", "colindex"))
    W = binary.plus(i & j).new()
    return ((1 + (W % 8).new(float)) / 4).new()


def _walk(A):
    P = A.apply("one").new(float)
    degree = P.reduce_rowwise("plus").new()
    return (unary.minv(degree).new().diag() @ P).new()


def _forest(n):
    parents = np.maximum(np.arange(n) - 1 - np.arange(n) % 5, 0)
    return Vector.from_dense(parents)


def _some(n, step):
    return Vector.from_coo(list(range(0, n, step)), [True] * len(range(0, n, step)), size=n)


def spanning_tree(W, start):
    """Prim: the vertices that the tree of least weight reaches, and its weight."""
    n = W.nrows
    d = W[start, :].new()
    tree = Vector(bool, n)
    tree[start] = True
    d(~tree.S, replace=True) << d
    weight = 0.0
    while d.nvals:
        weight += d.reduce(monoid.min).new().value
        u = int(d.reduce(gb.agg.ss.argmin).new().value)
        tree[u] << True
        d(binary.min) << W[u, :]
        d(~tree.S, replace=True) << d
    return tree, weight


def components_by_pivots(A):
    """A search from the least vertex that is left, until none is."""
    n = A.nrows
    component = Vector(int, n)
    left = Vector.from_dense(np.arange(n))
    while left.nvals:
        pivot = left.reduce(monoid.min).new().value
        f = Vector(bool, n)
        f[pivot] << True
        found = f.dup()
        while f.nvals:
            f(~found.S, replace=True) << semiring.lor_land(f @ A)
            found(f.S) << True
        component(found.S) << pivot
        left(~found.S, replace=True) << left
    return component


def closure(A):
    """Which vertices reach which, by squares."""
    R = A.dup()
    while True:
        n = R.nvals
        R << binary.lor(R | R.mxm(R, semiring.lor_land).new())
        if R.nvals == n:
            return R


def all_distances(W):
    """Shortest paths between all vertices, by squares."""
    D = W.dup()
    while True:
        old = D.dup()
        D(binary.min) << D.mxm(D, semiring.min_plus)
        if D.isequal(old):
            return D


def same(found, wanted):
    """Are results near those of another run?"""
    found, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, wanted))
    return all(
        a.isclose(b, rel_tol=1e-7, abs_tol=1e-9) if isinstance(a, (gb.Vector, gb.Matrix))
        else abs(a - b) <= 1e-7 * abs(b)
        for a, b in zip(found, wanted, strict=True)
    )  # fmt: skip


LOOPS = {
    "search tree": (search_tree, lambda A: (A, hub(A))),
    "tree by numbers": (tree_by_numbers, lambda A: (A, hub(A))),
    "delta stepping": (delta_stepping, lambda A: (weights_of(A), hub(A), 0.75)),
    "pagerank": (pagerank, lambda A: (A,)),
    "hits": (hits, lambda A: (A,)),
    "power iteration": (power_iteration, lambda A: (A,)),
    "jacobi": (jacobi, lambda A: (weights_of(A), Vector.from_dense(np.arange(A.nrows) % 7 / 2.0))),
    "conjugate gradients": (conjugate_gradients, lambda A: (A, Vector.from_dense(1.0 + np.arange(A.nrows) % 7))),
    "markov chain": (markov_chain, lambda A: (_walk(A), Vector.from_scalar(1.0 / A.nrows, A.nrows))),
    "life": (life, lambda A: (A, _some(A.nrows, 3), 12)),
    "epidemic": (
        epidemic, lambda A: (A, _some(A.nrows, 17), Vector.from_dense(0.5 + np.arange(A.nrows) % 3 / 2.0), 12),
    ),
    "components": (label_components, lambda A: (A,)),
    "fast sv": (fast_sv, lambda A: (A,)),
    "pointer jumping": (pointer_jumping, lambda A: (_forest(A.nrows),)),
    "group sizes": (boruvka_degrees, lambda A: (A, 5)),
    "marked": (marked, lambda A: (A, hub(A))),
    "independent set": (
        independent_set, lambda A: (A, Vector.from_dense(np.arange(A.nrows) * 7919 % 104729 + 1)),
    ),
    "matching": (matching, lambda A: (A, 8)),
    "k-truss": (k_truss, lambda A: (A, 3)),
    "k-core": (k_core, lambda A: (A, 4)),
    "many searches": (many_searches, lambda A: (A, (0, 3, 5))),
    "brandes": (brandes, lambda A: (A, hub(A))),
    "clusters": (clusters, lambda A: (A,)),
    "heat": (heat, lambda A: (A, Vector.from_dense(np.arange(A.nrows) % 11 / 1.0), 0.01, 12)),
    "walk with restart": (walk_with_restart, lambda A: (A, hub(A))),
    "farthest": (farthest, lambda A: (A, hub(A))),
    "peeling": (peeling, lambda A: (A,)),
    "closure": (closure, lambda A: (A,)),
    "all distances": (all_distances, lambda A: (weights_of(A),)),
    "spanning tree": (spanning_tree, lambda A: (weights_of(A), hub(A))),
    "pivots": (components_by_pivots, lambda A: (A,)),
    "labels": (propagated, lambda A: (A, 10)),
}  # fmt: skip
