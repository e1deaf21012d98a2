"""A maximum matching of rows and columns: as many entries of B as possible, no two in one row or column.

    repeat  f = rows without a mate
            repeat  c<!seen> = f min.secondi B,  seen = seen + c,  f = mates of the columns in c   until f is empty
            augment along a path from each root that came to a column without a mate
    until there is no such path

Every row of f passes on the root of its tree, and a tree that has found its path grows no further.  The trees share
no column, so all paths of a round are augmented together.

Contract: B is not changed; its values do not matter.  In a table or a graph of directed edges the rows are the
vertices that edges leave, and the columns those that they enter.  Of several maximum matchings any one is given.
References: Azad and Buluc, "A matrix-algebraic formulation of distributed-memory maximal cardinality matching
algorithms in bipartite graphs" (Parallel Computing 58, 2016) and "Distributed-memory algorithms for maximum cardinality
matching in bipartite graphs" (IPDPS 2016); Hopcroft and Karp, "An n^(5/2) algorithm for maximum matchings in bipartite
graphs" (SIAM J. Comput. 2, 1973); LAGraph, LAGr_MaximumMatching.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from grb_tile import Matrix, Vector, dtypes, graph, semiring

from .given import GraphLike
from .graph import Graph, check_room
from .graph_input import describe
from .report import Callback, Report
from .result import Result


@dataclass(frozen=True)
class MatchingResult(Result):
    """mate_row (INT64 Vector: the column of each row that has one), mate_col (the row of each column), count (number of
    pairs), report.  to_dict() is {row: column}, by labels where B has some.
    """

    _ranked: ClassVar[bool] = False
    _of_vertices: ClassVar[frozenset[str]] = frozenset({"mate_row"})
    mate_row: Vector
    mate_col: Vector
    count: int
    report: Report

    @property
    def values(self) -> Vector:
        """mate_row"""
        return self.mate_row

    def to_pandas(self) -> Any:
        """A DataFrame of the pairs, with the columns row and column (labels)."""
        import pandas

        rows, cols = self.mate_row.to_coo()
        return pandas.DataFrame({"row": self._labels(rows), "column": self._labels(cols)})

    def _columns(self) -> dict[str, Any]:  # columns are vertices of the other side
        return {"mate_row": self.mate_row}


def bipartite_matching(B: GraphLike, *, callback: Callback | None = None) -> MatchingResult:
    """The most pairs (i, j) with an entry B(i, j), each row and each column in one pair at most.

    B          a Matrix, nrows x ncols: rows and columns are the two sides of the bipartite graph; or what `Graph`
               takes, such as a data frame, with edges that lead from one side to the other
    callback   called with the record of each round (`paths`); something true stops there (the matching is then valid,
               but perhaps not maximum)

    Shapes: mate_row size nrows, mate_col size ncols.  Types: any B; mates INT64.
    Raises: TypeError for B and callback, ValueError for an undirected graph, which does not tell the sides.
    Cost: O(nvals sqrt(nrows + ncols)) by one compiled loop where the backend has it and there is no callback
    (gb.graph.bipartite_matching), else a product for each step of the search.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import bipartite_matching
    >>> B = gb.Matrix.from_coo([0, 0, 1, 2, 2], [0, 1, 0, 1, 3], nrows=3, ncols=4)
    >>> found = bipartite_matching(B)
    >>> found.count, found.to_dict()
    (3, {0: 1, 1: 0, 2: 3})
    """
    B, labels = _sides(B)
    check_room(B, B.nrows + B.ncols, "bipartite_matching", 28)
    with Report("bipartite_matching", callback) as report:
        found = report.whole(graph.bipartite_matching, B)
        if found is None:
            found = [Vector.from_dense(mate, missing_value=-1) for mate in _augmented(B, report)]
    rows, cols = found
    return MatchingResult(rows, cols, rows.nvals, report, vertices=labels)


def _sides(B: Any) -> tuple[Matrix, Any]:
    """(the matrix of edges from the side of the rows to that of the columns, the labels of both or None)"""
    if isinstance(B, Matrix):
        return B, None
    if isinstance(B, Graph):
        found, directed, labels = B.A, B._declared, B.labels
    else:
        found, _, directed, labels = describe(B, None, {}, "B")
    if directed is False:
        raise ValueError(
            "B: an undirected graph does not say which vertices are rows; give a table of edges that lead from one "
            "side to the other, or their Matrix"
        )
    return found, labels


def _augmented(B: Matrix, report: Report) -> tuple[np.ndarray, np.ndarray]:
    mate_row, mate_col = np.full(B.nrows, -1, np.int64), np.full(B.ncols, -1, np.int64)
    step = semiring.ss.min_secondi[dtypes.INT64]
    report.finish("converged", True)
    while True:
        free = np.flatnonzero(mate_row < 0)
        root = np.full(B.nrows, -1, np.int64)
        root[free] = free
        end = np.full(B.nrows, -1, np.int64)  # by root: the column without a mate that its tree came to
        parent = np.full(B.ncols, -1, np.int64)
        f = Vector.from_coo(free, True, size=B.nrows, name="frontier")
        seen = Vector(dtypes.INT64, B.ncols, name="seen")
        while f.nvals:
            # c<!seen,s> = f min.secondi B : the columns next to the frontier, each with a row beside it
            c = step(f @ B).new(mask=~seen.S, name="columns")
            seen(c.S) << c
            col, row = c.to_coo()
            col = col.astype(np.int64)
            parent[col] = row
            single = mate_col[col] < 0
            found, first = np.unique(root[row[single]], return_index=True)
            new = end[found] < 0
            end[found[new]] = col[single][first[new]]
            # f = mates of the columns whose tree has no path yet
            on = ~single
            on[on] = end[root[row[on]]] < 0
            near = mate_col[col[on]]
            root[near] = root[row[on]]
            f = Vector.from_coo(near, True, size=B.nrows, name="frontier")
        # 2. augment: back from each end, row and column by row and column
        col = end[end >= 0]
        paths = col.size
        while col.size:
            row = parent[col]
            before = mate_row[row]
            mate_row[row], mate_col[col] = col, row
            col = before[before >= 0]
        if not paths:
            return mate_row, mate_col
        if report.note(paths=int(paths)):
            report.finish("callback", False)
            return mate_row, mate_col
