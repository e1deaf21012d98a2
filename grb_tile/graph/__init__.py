"""Whole loops over a graph, each one operation of the backend in use: on a GPU a launch, on the CPU a compiled loop.

    traversal     bfs, bfs_multi
    paths         sssp, tight_edges, distances, floyd_warshall, dependencies
    connectivity  components, strong_components, core_numbers, spanning_forest
    ordering      random_order, greedy_colours, independent_set, topological_levels, cuthill_mckee
    matching      bipartite_matching
    walks         random_walks
    triangles     triangle_corners, peel_truss
    communities   move_round, join_round, quotient ...: rounds of local moves
    labels        mode, best_move, sum_of_own, mex: aggregates of rows that no monoid expresses
    properties    cached, known, forget, is_symmetric, is_symmetric_structure: what is computed of a matrix once
    lists         Lists, breadth_first, label_turns, topological_order: neighbours in an order of their own
    passes        one_pass: element-wise operations over full vectors, and sums, as one pass

A loop of GraphBLAS calls pays for several calls a round; these pay once.  Each takes Matrices and Vectors and gives
such, and returns None where the backend in use has no loop for its operands (on a GPU: hypersparse or too large ones;
on the CPU: hypersparse ones, or a kernel that is not compiled yet).  The algorithms of algorithms/ then run their own
loops of GraphBLAS calls, which have the same result.  `labels` and `passes` have a result always.

A vertex is a row number; an edge i -> j is an entry A(i, j).  Operands are not changed.  `symmetric=True` promises that
A and A' have the same structure (for sssp: the same values), which saves the transpose; otherwise that is made at the
first call that needs it, and kept with A.
"""

from .connectivity import Components, components, core_numbers, order_keys, spanning_forest, strong_components
from .labels import best_move, mex, mode, sum_of_own
from .lists import Lists, breadth_first, label_turns, topological_order
from .matching import bipartite_matching
from .ordering import cuthill_mckee, greedy_colours, independent_set, random_order, topological_levels
from .passes import one_pass
from .paths import Sssp, dependencies, distances, floyd_warshall, sssp, tight_edges
from .properties import cached, forget, is_symmetric, is_symmetric_structure, known
from .report import LoopReport
from .traversal import Bfs, bfs, bfs_multi
from .triangles import Supports, peel_truss, triangle_corners
from .walks import random_walks

__all__ = [
    "Bfs", "Components", "Lists", "LoopReport", "Sssp", "Supports", "best_move", "bfs", "bfs_multi",
    "bipartite_matching", "breadth_first", "cached", "components", "core_numbers", "cuthill_mckee",
    "dependencies", "distances", "floyd_warshall", "forget", "greedy_colours", "independent_set", "is_symmetric",
    "is_symmetric_structure", "known", "label_turns", "mex", "mode", "one_pass", "order_keys", "peel_truss",
    "random_order", "random_walks", "spanning_forest", "sssp", "strong_components", "sum_of_own", "tight_edges",
    "topological_levels", "topological_order", "triangle_corners",
]  # fmt: skip
