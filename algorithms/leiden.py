"""Communities of high modularity that are connected, by the method of Leiden.

    move        t(i) = argmax over c of  B S(i, c) - gamma k(i) K(c) / 2m,   x(i) = t(i)   until Q stays   (louvain.py)
    refine      y = one community for each node; a node that is still alone joins the best y within its x
    aggregate   B = S' B S,   S(i, y(i)) = 1,   x as found   until every community of x is one node

Louvain makes one node of each community, so what joined it may be cut off when a node between leaves; here only parts
that hold together become nodes.  A node joins a part by an edge, and the part that it joins does not move in that
round, so all parts are connected.

Contract: G is not changed.  labels number the communities 0 .. count - 1 by their first nodes; each is connected by
edges of positive weight.  Seeds, weights and directed graphs: as `louvain`.
References: Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected communities" (Scientific
Reports 9, 2019), algorithm A.2, with the best part in the place of a random one (theta = 0).
"""

from __future__ import annotations

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, monoid, select, semiring

from .connected_components import connected_components
from .graph import Graph
from .louvain import CommunitiesResult, Moves, checked, communities, levels
from .pattern import numbered, quotient
from .report import Callback, Report


def leiden(
    G: Graph | Matrix,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    max_level: int | None = None,
    tol: float = 1e-7,
    weighted: bool = True,
    callback: Callback | None = None,
) -> CommunitiesResult:
    """x = connected communities between which no move of a node raises the modularity by more than `tol`.

    Arguments, shapes, types, errors: as `louvain`.
    Cost: a pass over the edges a round; twice as many rounds as `louvain`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import leiden
    >>> i, j = [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]
    >>> found = leiden(gb.Matrix.from_coo(i + j, j + i, nrows=6, ncols=6))
    >>> found.to_numpy().tolist(), round(found.modularity, 4)
    ([0, 0, 0, 1, 1, 1], 0.3571)
    """
    G, A, gamma, rng, max_level, tol = checked(G, resolution, seed, max_level, tol, weighted)
    B = A
    node, x = np.arange(G.n), np.arange(G.n)  # node(i): what i is in B; x: communities of B's nodes
    with Report("leiden", callback) as report:
        for level in levels(G.n, max_level, report):
            x, _, stop = Moves(B, gamma, rng).until_stable(level, tol, report, x)
            if stop:
                report.finish("callback", False)
                break
            y = _parts(B, x, gamma, rng)
            count = int(y.max(initial=-1)) + 1
            if count == B.nrows:
                break
            # B = S' B S, and the community of each part
            B = quotient(B, y, count, "plus")
            first = np.empty(count, np.int64)
            first[y] = x
            node, x = y[node], numbered(first)
    # what came apart by the last moves is two communities, whose modularity is higher
    label = connected_components(_inside(B, x)).to_numpy()[node]
    return communities(G, A, label, gamma, report)


def _parts(B: Matrix, x: np.ndarray, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """y = the connected parts, 0 .. count - 1, of the communities x: nodes that are alone join the best part."""
    n = B.nrows
    near = Moves(B, gamma, rng)
    near.B = _inside(near.B, x)
    # inside(i) = [+_j E(i, j)],  rest(i) = sum of the degrees of the other nodes of i's community
    inside = near.B.reduce_rowwise(monoid.plus).new().to_dense(0.0)
    whole = np.bincount(x, near.k, minlength=n)
    scale = gamma / near.total if near.total else 0.0
    joined = inside >= scale * near.k * (whole[x] - near.k)  # nodes that are well connected to their community
    y, size = np.arange(n), np.ones(n, np.int64)
    target, gain, own = y.copy(), np.zeros(n), np.zeros(n)
    active = np.ones(n, np.bool_)
    while True:
        K = np.bincount(y, near.k, minlength=n)
        near.look(y, K, active, target, gain, own)
        # E(part, community - part) >= gamma K(part) (K(community) - K(part)) / 2m: parts that are well connected to it
        cut = np.bincount(y, inside - own, minlength=n)
        open_parts = cut >= scale * K * (whole[x] - K)
        wants = active & joined & (size[y] == 1) & (gain > 0) & open_parts[target]
        if not wants.any():
            return numbered(y)
        # of a random half, those whose part (named by its first node) does not move itself
        moves = wants & (rng.random(n) < 0.5)
        moves &= ~moves[target]
        y = np.where(moves, target, y)
        size = np.bincount(y, minlength=n)
        active = wants | near.next_to(moves)


def _inside(B: Matrix, x: np.ndarray) -> Matrix:
    """E(i, j) = B(i, j) where x(i) = x(j)."""
    c = Vector.from_dense(x)
    X = semiring.any_first[dtypes.INT64](c.diag() @ B).new(name="X")
    same = select.valueeq(binary.eq(X & c).new(), True).new(name="same")
    return binary.first(B & same).new(name="E")
