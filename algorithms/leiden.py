"""Communities of high modularity that are connected, by the method of Leiden.

    move        t(i) = argmax over c of  B S(i, c) - gamma k(i) K(c) / 2m,   x(i) = t(i)   until Q stays   (louvain.py)
    refine      y = one community for each node; a node that is still alone joins the best y within its x
    aggregate   B = S' B S,   S(i, y(i)) = 1,   x as found   until no move gains, or every community is one node

Louvain makes one node of each community, so that a community may become disconnected when a node between two of its
parts leaves; here only connected parts become nodes.  A node joins a part by an edge, and that part does not move in
the same round, so all parts are connected.  There are two passes of the levels, and the last moves are those of
`louvain`.

Contract: G is not changed.  labels number the communities 0 .. count - 1 by their first nodes; each is connected by
edges of positive weight.  Seeds, weights and directed graphs: as `louvain`.
References: Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected communities" (Scientific
Reports 9, 2019), algorithm A.2, with the best part in the place of a random one (theta = 0).
"""

from __future__ import annotations

from .given import GraphLike
from .louvain import CommunitiesResult, search
from .report import Callback


def leiden(
    G: GraphLike,
    *,
    resolution: float = 1.0,
    seed: int = 0,
    max_level: int | None = None,
    tol: float = 1e-7,
    weighted: bool = True,
    callback: Callback | None = None,
) -> CommunitiesResult:
    """x = connected communities between which no move of a node, and no union, raises the modularity by over `tol`.

    Arguments, shapes, types, errors: as `louvain`.
    Cost: a pass over the edges a round; twice as many rounds as `louvain`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import leiden
    >>> i, j = [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]
    >>> found = leiden(gb.Matrix.from_coo(i + j, j + i, nrows=6, ncols=6))
    >>> found.to_numpy().tolist(), round(found.modularity, 4)
    ([0, 0, 0, 1, 1, 1], 0.3571)
    """
    return search("leiden", G, resolution, seed, max_level, tol, weighted, callback, refine=True)
