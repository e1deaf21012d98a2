"""Breadth-first search of the road network of New York: as linear algebra by hand, and by the library's algorithm.

python examples/road_network.py        (grb_tile installed; from a checkout: PYTHONPATH=. python ...)
"""

from pathlib import Path

import grb_tile as gb
from grb_tile.algorithms import Graph, bfs
from grb_tile.io import mmread

HERE = Path(__file__).resolve().parent


def levels_by_hand(A, source):
    """f<!v> = f A, level by level: v(i) is the number of edges from `source` to i."""
    v = gb.Vector.from_coo([source], [0], "INT64", size=A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    level = 0
    while f.nvals:
        level += 1
        f(~v.S, replace=True) << gb.semiring.any_pair[bool](f @ A)
        v(f.S) << level
    return v


def main():
    """BFS by both methods from the node whose farthest node is 415 levels away; compare the levels."""
    A = mmread(HERE / "data" / "USA-road-NY.mtx.gz")
    print(f"{A.nrows:,} crossings, {A.nvals // 2:,} roads")
    found = bfs(Graph(A), 140960)
    by_hand = levels_by_hand(A, 140960)
    depth = found.levels.reduce(gb.monoid.max).new().value
    print(f"{found.levels.nvals:,} reached in {depth} levels, {found.report.seconds * 1e3:.0f} ms")
    print("by hand the same:", found.levels.isequal(by_hand))


if __name__ == "__main__":
    main()
