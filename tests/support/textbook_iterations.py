"""Iterations of numbers as a reader of a textbook on GraphBLAS writes them: textbook_loops.LOOPS has them."""

import math

import numpy as np

from grb_tile import Vector, binary, monoid, semiring, unary


def pagerank(A, damping=0.85, tol=1e-4, itermax=100):
    """With vertices without out-edges (LAGraph_PageRankGX)."""
    n = A.nrows
    degree = A.reduce_rowwise("count").new(float)
    scaled = (degree / damping).new()
    dangling = degree.dup(mask=~degree.S)
    dangling(~degree.S) << 1.0
    teleport = (1 - damping) / n
    r = Vector.from_scalar(1.0 / n, n)
    t = Vector(float, n)
    rdiff, iters = 1.0, 0
    while rdiff > tol and iters < itermax:
        t, r = r, t
        lost = float(binary.times(t & dangling).new().reduce(monoid.plus).value or 0.0)
        w = binary.truediv(t & scaled).new()
        r << teleport + damping * lost / n
        r(binary.plus) << A.T.mxv(w, semiring.plus_second)
        t(binary.minus) << r
        t << unary.abs(t)
        rdiff = t.reduce(monoid.plus).new().value
        iters += 1
    return r, iters


def hits(A, tol=1e-6, most=50):
    """Hubs and authorities, scaled by their greatest value."""
    h = Vector.from_scalar(1.0, A.nrows)
    a = Vector.from_scalar(1.0, A.nrows)
    for _ in range(most):
        before = h.dup()
        a << semiring.plus_first(h @ A)
        h << A.mxv(a, semiring.plus_second)
        a << a / float(a.reduce(monoid.max).new())
        h << h / float(h.reduce(monoid.max).new())
        if float(abs(h - before).reduce(monoid.plus).new()) < tol:
            break
    return h, a


def power_iteration(A, tol=1e-6, most=60):
    """The greatest eigenvalue of A + I and its vector."""
    x = Vector.from_scalar(1.0 / math.sqrt(A.nrows), A.nrows)
    value = 0.0
    for _ in range(most):
        y = (x + A.mxv(x, semiring.plus_second)).new()
        norm = math.sqrt(y.inner(y).new().value)
        x << y / norm
        if abs(norm - value) < tol:
            break
        value = norm
    return x, norm


def jacobi(W, b, tol=1e-8, most=50):
    """x = D^-1 (b - R x) for D = 1 + the row sums of R = W."""
    d = (1.0 + W.reduce_rowwise("plus").new(float)).new()
    full = Vector.from_scalar(1.0, W.nrows)
    full("max") << d
    x = Vector.from_scalar(0.0, W.nrows)
    residual = float("inf")
    while residual > tol and most > 0:
        old = x.dup()
        x << b
        x("minus") << W.mxv(old)
        x << x / full
        difference = (x - old).new()
        residual = np.sqrt(float((difference * difference).reduce().new()))
        most -= 1
    return x, residual


def conjugate_gradients(A, b, tol=1e-10):
    """(A + n I) x = b."""
    n = A.nrows
    x = Vector.from_scalar(0.0, n)
    r = b.dup()
    p = b.dup()
    rs = float(r.inner(r).new())
    for _ in range(n):
        q = (float(n) * p).new()
        q("plus") << A.mxv(p, semiring.plus_second)
        alpha = rs / float(p.inner(q).new())
        x("plus") << alpha * p
        r("minus") << alpha * q
        new = float(r.inner(r).new())
        if new**0.5 < tol:
            break
        p << r + (new / rs) * p
        rs = new
    return x


def markov_chain(P, p, most=100):
    """p P P P ... until it stays."""
    for k in range(most):  # noqa: B007
        q = p.vxm(P).new()
        if q.isclose(p, rel_tol=1e-7, abs_tol=1e-9):
            break
        p = q
    return p, k


def heat(A, u, dt, steps):
    """u += dt (A u - d u)."""
    degree = A.reduce_rowwise("count").new(float)
    k = 0
    while k < steps:
        flow = A.mxv(u, "plus_second").new()
        flow("minus") << degree * u
        u("plus") << dt * flow
        k += 1
    return u


def walk_with_restart(A, start, c=0.15):
    """r = (1 - c) P' r + c e."""
    degree = A.reduce_rowwise("count").new(float)
    e = Vector(float, A.nrows)
    e[start] = c
    r = Vector.from_scalar(0.0, A.nrows)
    r("plus") << e
    err = 1.0
    while err > 1e-7:
        new = ((1 - c) * (r / degree).new().vxm(A, "plus_first")).new()
        new("plus") << e
        full = Vector.from_scalar(0.0, A.nrows)
        full("plus") << new
        err = max(float(abs(full - r).reduce("max").new()), 0.0)
        r = full
    return r


def clusters(A, most=20):
    """Markov clustering: expansion, inflation, pruning (van Dongen)."""
    M = A.dup(float)
    M << M.apply("one")
    for _ in range(most):
        before = M.dup()
        sums = M.reduce_columnwise(monoid.plus).new()
        M << binary.truediv(M & sums)
        M << M.mxm(M)
        M << M * M
        M << M.select(">", 1e-4)
        if M.isclose(before):
            break
    return M
