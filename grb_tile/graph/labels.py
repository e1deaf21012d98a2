"""Aggregates of rows that no monoid expresses, because they need all values of a row at once.

    graph.mode(A, labels)                 the most frequent label among the columns of each row
    graph.best_move(A, labels, u, v, w)   the label with the greatest sum of entries, less a rank-one penalty
    graph.sum_of_own(A, labels)           the sum of the entries whose column has the row's label
    graph.mex(A, colours)                 the least number that no column of a row has

A kernel of the backend does each in one pass (backends/graph.py: best_labels, least_absent); where it has none, they
are compositions of products, written below.  Matrices and vectors are not changed.

Raises: DimensionMismatch for a vector of another size; TypeError for one that is not real (labels: of integers), others
are cast; ValueError for one that is not full where that is asked for; IndexOutOfBound for labels that are not in
0 .. n - 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import binary, monoid, select, semiring
from ..backends.select import current
from ..core.arguments import flags
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import FP64, INT64, UINT64
from ..exceptions import DimensionMismatch
from ..storage.store import StoredMask

__all__ = ["best_move", "mex", "mode", "sum_of_own"]

WORD = 64  # colours that one word of mex holds
_bor_second: dict[str, Any] = {}


def mode(A: Matrix, labels: Vector, *, weighted: bool = False) -> Vector:
    """t(i) = argmax over c of [+_k A(i, k) over the k with labels(k) = c], the least of equal ones.

    weighted   False: every entry counts 1, whatever its value

    Shapes: A m x n, labels size n with values in 0 .. n - 1, t size m.  Types: any A, cast to FP64 if weighted; labels
    INT64; t INT64, without an entry where no column of the row has a label.
    Source: the vote of Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures" (Phys.
    Rev. E 76, 2007).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 0, 0, 1], [0, 1, 2, 2], nrows=3, ncols=3)
    >>> gb.graph.mode(A, gb.Vector.from_coo([0, 1, 2], [2, 0, 2])).to_dict()
    {0: 2, 1: 2}
    """
    flags(weighted=weighted)
    A = A.dup(FP64) if weighted and A.dtype is not FP64 else A
    labels = _checked(labels, "labels", INT64, A.ncols)
    found = current().best_labels(A._store, labels._store, weighted, None)
    if found is not NotImplemented:
        return Vector._from_store(found[0], name="mode")
    plus = semiring.plus_first[FP64] if weighted else semiring.plus_pair[INT64]
    # C = A S,  S(k, labels(k)) = 1
    return _argmax(plus(A @ _indicator(labels, A.ncols)).new(name="C"), "mode")


def best_move(
    A: Matrix, labels: Vector, u: Vector, v: Vector, w: Vector, *, rows: Vector | None = None
) -> tuple[Vector, Vector, Vector]:
    """(t, gain, kept): t(i) = argmax over c of the score of c for vertex i,

        s(i, c) = [+_k A(i, k) over labels(k) = c] + [c = own] u(i) w(i) - u(i) v(c)

    rows   a Vector with an entry for each i wanted; None: all

    own = labels(i) is always a candidate and goes first among equals, then the least.  kept(i) = s(i, own),
    gain(i) = s(i, t(i)) - kept(i).

    Shapes: A n x n, vectors full of size n.  Types: A, u, v, w FP64, labels INT64 in 0 .. n - 1; t
    INT64, gain and kept FP64.
    Sums of integers (below 2^53) are the same on every backend; others may differ in their last digit.
    Source: Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding of communities in large networks" (J. Stat. Mech.
    2008), equation 2.

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1], [1, 0], [3.0, 3.0], nrows=2, ncols=2)
    >>> half = gb.Vector.from_dense([0.5, 0.5])
    >>> t, gain, kept = gb.graph.best_move(A, gb.Vector.from_dense([0, 1]), half, half, half)
    >>> t.to_dense().tolist(), gain.to_dense().tolist()
    ([1, 0], [2.75, 2.75])
    """
    t, gain, kept = votes(A, labels, u, v, w, rows=rows)
    # the gain of staying is 0
    return t, binary.max(gain, 0.0).new(name="gain"), kept


def votes(
    A: Matrix, labels: Vector, u: Vector, v: Vector, w: Vector, *, rows: Vector | None = None
) -> tuple[Vector, Vector, Vector]:
    """`best_move` with the gain of the best other label: negative where it is worse, -inf where there is no other."""
    n = A.nrows
    if A.ncols != n:
        raise DimensionMismatch(f"A: expected a square matrix, got {n} x {A.ncols}")
    if rows is not None and rows.size != n:
        raise DimensionMismatch(f"rows: expected a Vector of size {n}, got {rows.size}")
    A = A if A.dtype is FP64 else A.dup(FP64)
    labels = _checked(labels, "labels", INT64, n, full=True)
    u, v, w = (_checked(x, name, FP64, n, full=True) for x, name in ((u, "u"), (v, "v"), (w, "w")))
    stored = None if rows is None else StoredMask(rows._store)
    found = current().best_labels(A._store, labels._store, True, stored, u._store, v._store, w._store)
    if found is not NotImplemented:
        t, gain, kept = (Vector._from_store(x) for x in found)
        return t, gain, kept
    S = _indicator(labels, n)
    own = semiring.any_first[FP64](binary.times(u & w).new().diag() @ S).new(name="own")
    if rows is not None:  # D A and D diag(u w) S with D = diag(rows)
        D = rows.diag()
        A, own = (semiring.any_second[FP64](D @ X).new() for X in (A, own))
    # C = A S + diag(u w) S - u v' : a candidate's sum, what the vertex itself adds to its own, and the penalty
    C = semiring.plus_first[FP64](A @ S).new(name="C")
    C(binary.plus) << own
    U = semiring.any_first[FP64](u.diag() @ C).new(name="U")
    C << binary.minus(C & binary.times(U & v).new())
    t = _argmax(C)
    # s(i, own), the greatest score of the others, and the vertices that stay
    kept = C.dup(mask=S.S).reduce_rowwise(monoid.max).new(name="kept")
    other = binary.second(kept, -np.inf).new(name="other")
    other(binary.second) << C.dup(mask=~S.S).reduce_rowwise(monoid.max)
    gain = binary.minus(other & kept).new(name="gain")
    stays = select.valuele(gain, 0.0).new()
    t(stays.S) << labels
    return t, gain, kept


def sum_of_own(A: Matrix, labels: Vector) -> Vector:
    """t(i) = [+_k A(i, k) over labels(k) = labels(i)]: the sum of the entries whose column has the row's label.

    Shapes: A n x n, labels full of size n, t size n.  Types: any A, cast to FP64; labels INT64 in 0 .. n - 1; t FP64,
    full.

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [3.0, 4.0, 5.0], nrows=3, ncols=3)
    >>> gb.graph.sum_of_own(A, gb.Vector.from_dense([1, 1, 0])).to_dense().tolist()
    [3.0, 0.0, 0.0]
    """
    none = Vector.from_scalar(0.0, A.nrows, FP64)
    return votes(A, labels, none, none, none)[2]


def mex(A: Matrix, colours: Vector, *, mask: Any = None) -> Vector:
    """t(i) = the least number >= 0 that is not among colours(k) over the entries A(i, k): minimum excluded colour.

    mask   rows to compute, as of any operation (m.S, ~m.S, m.V); None: all

    Shapes: A m x n, colours size n, t size m.  Types: any A; colours INT64 >= 0, absent where there is none; t INT64,
    with an entry for every row of the mask.
    Cost: a pass over the rows on a GPU, else a product for each 64 colours in use.
    Source: Catalyurek et al., "Graph coloring algorithms for multi-core and massively multithreaded architectures"
    (Parallel Computing 38, 2012), section 3.

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], nrows=3, ncols=3)
    >>> gb.graph.mex(A, gb.Vector.from_coo([1, 2], [0, 1], size=3)).to_dict()
    {0: 2, 1: 0, 2: 0}
    """
    pattern = None if mask is None else Vector.from_scalar(0, A.nrows, INT64).dup(mask=mask)
    colours = _checked(colours, "colours", INT64, A.ncols)
    found = current().least_absent(A._store, colours._store, None if pattern is None else StoredMask(pattern._store))
    if found is not NotImplemented:
        return Vector._from_store(found, name="mex")
    rows = np.arange(A.nrows) if pattern is None else pattern.to_coo(values=False)[0].astype(np.int64)
    return _mex_by_words(A, colours, rows)


def _checked(v: Vector, name: str, dtype: Any, size: int, full: bool = False) -> Vector:
    """`v`, cast to the type that kernels read."""
    if v.size != size:
        raise DimensionMismatch(f"{name}: expected a Vector of size {size}, got {v.size}")
    if full and v.nvals < size:
        raise ValueError(f"{name}: expected an entry at each of the {size} positions, got {v.nvals}")
    if v.dtype is dtype:
        return v
    if v.dtype.np_type.kind not in ("biu" if dtype is INT64 else "biuf"):
        raise TypeError(f"{name}: expected {dtype.name}, got {v.dtype.name}; cast it with v.dup({dtype.name!r})")
    return v.dup(dtype)


def _mex_by_words(A: Matrix, colours: Vector, rows: np.ndarray) -> Vector:
    """mex of the given rows: 64 colours are the bits of a word, and w = A bor.second word."""
    used = _bor_second.get("op")
    if used is None:
        used = _bor_second["op"] = semiring.register_anonymous(monoid.bor, binary.second)[UINT64]
    at, c = colours.to_coo()
    t = np.zeros(A.nrows, np.int64)
    done, low = rows, 0
    while rows.size:
        here = (c >= low) & (c < low + WORD)
        word = Vector.from_coo(at[here], np.uint64(1) << (c[here] - low).astype(np.uint64), UINT64, size=A.ncols)
        asked = Vector.from_coo(rows, True, size=A.nrows)
        # w<rows> = A bor.second word : a bit for each colour next to the row
        i, bits = used(A @ word).new(mask=asked.S).to_coo()
        seen = np.zeros(A.nrows, np.uint64)
        seen[i] = bits
        free = ~seen[rows]
        lowest = free & (~free + np.uint64(1))
        t[rows] = low + np.bitwise_count(lowest - np.uint64(1))
        rows = rows[free == 0]
        low += WORD
    return Vector.from_coo(done, t[done], INT64, size=A.nrows, name="mex")


def _indicator(labels: Vector, n: int) -> Matrix:
    """S(k, labels(k)) = true."""
    k, c = labels.to_coo()
    return Matrix.from_coo(k, c, True, nrows=labels.size, ncols=n, name="S")


def _argmax(C: Matrix, name: str = "argmax") -> Vector:
    """t(i) = the least j with C(i, j) = max over j of C(i, j)."""
    # m = [max_j C(i, j)],  E = C where C(i, j) = m(i),  t = E min.firstj 1
    m = C.reduce_rowwise(monoid.max).new(name="m")
    M = semiring.any_first[C.dtype](m.diag() @ C).new(name="M")
    E = select.valueeq(binary.eq(C & M).new(), True).new(name="E")
    ones = Vector.from_scalar(True, C.ncols)
    return semiring.ss.min_firstj[INT64](E @ ones).new(name=name)
