"""Graph algorithms written as linear algebra: each file reads as its mathematics.

    import grb_tile as gb
    from grb_tile import algorithms as alg

    G = alg.Graph(A)                      # caches A', degrees, symmetry, smallest and largest weight
    alg.bfs(G, 0).levels                  # f<!v> = f A
    alg.sssp(G, 0).distances              # d min= f min.+ A
    alg.pagerank(G).ranks                 # r = t + A' (a r / outdegree)
    alg.connected_components(G).labels    # FastSV: u min= A min.second g
    alg.triangle_count(G)                 # sum of C<L> = L plus.pair L'
    alg.core_number(G).values             # d -= R plus.pair A, R = nodes with d <= k
    alg.label_propagation(G).values       # x(i) = argmax over c of (A S)(i, c)
    alg.louvain(G).labels                 # move nodes to the best community, then B = S' B S

Every algorithm takes a Graph, or what makes one (a square Matrix, a data frame, the name of a file ...), leaves it as
it was, and records what it did in `.report`.  In annotations that is a `GraphLike`
(given.py), a label or a number a `Vertex`.  Flags are True or False, vertices are labels or ints; Booleans for
vertices and texts for flags are a TypeError.  Results convert by `to_numpy`, `to_dict`, `to_pandas` and `top`
(result.py).
`hello.py` is the template for the next one.
"""

if __name__ != "grb_tile.algorithms":
    raise ImportError(
        f"the folder algorithms/ was imported as {__name__!r}, which would make a second copy of grb_tile.algorithms. "
        "Write `from grb_tile import algorithms`; the checkout's root on sys.path is enough for that."
    )

from typing import TYPE_CHECKING

# All at once and not on demand: bfs, sssp and others bear their module's name, which an import on demand would leave
# standing for the module.
from .betweenness import betweenness, edge_betweenness
from .bfs import BfsResult, bfs, bfs_multi
from .bipartite_matching import MatchingResult, bipartite_matching
from .closeness import closeness, harmonic
from .clustering import average_clustering, clustering, square_clustering, transitivity
from .coloring import ColoringResult, coloring
from .condensation import CondensationResult, condensation
from .connected_components import ComponentsResult, connected_components
from .core_number import core_number, k_core, k_shell
from .degrees import (
    degree,
    degree_centrality,
    density,
    in_degree,
    in_degree_centrality,
    isolates,
    out_degree,
    out_degree_centrality,
    overall_reciprocity,
    reciprocity,
)
from .distances import apsp, diameter, eccentricity, radius
from .eigenvector import eigenvector
from .errors import AlgorithmError, ConvergenceFailure, CycleError, NegativeCycleError, NoPathError
from .given import GraphLike as GraphLike, Vertex as Vertex, Vertices as Vertices
from .graph import Graph, as_graph
from .hello import hello
from .hits import HitsResult, hits
from .independent_set import IndependentSetResult, maximal_independent_set
from .k_truss import k_truss
from .katz import katz
from .label_propagation import label_propagation
from .leiden import leiden
from .louvain import CommunitiesResult, louvain
from .markov_clustering import mcl
from .modularity import PartitionQuality, modularity, partition_quality
from .pagerank import PageRankResult, pagerank
from .pagerank_multi import pagerank_multi
from .paths import ancestors, descendants, ego_graph, has_path, shortest_path, shortest_path_length
from .random_walks import WalksResult, random_walks
from .rcm import OrderResult, rcm
from .report import Report
from .result import EdgeResult, Result, VertexResult
from .similarity import adamic_adar, common_neighbors, cosine, jaccard, overlap, resource_allocation, sorensen
from .spanning_forest import SpanningForestResult, minimum_spanning_forest
from .sssp import SsspResult, sssp
from .strong_components import strongly_connected_components
from .summary import GraphSummary
from .topological import is_dag, topological_generations, topological_sort
from .triangles import degree_ordered, triangle_count, triangles

__all__ = [
    "AlgorithmError",
    "BfsResult",
    "ColoringResult",
    "CommunitiesResult",
    "ComponentsResult",
    "CondensationResult",
    "ConvergenceFailure",
    "CycleError",
    "EdgeResult",
    "Graph",
    "GraphSummary",
    "HitsResult",
    "IndependentSetResult",
    "MatchingResult",
    "NegativeCycleError",
    "NoPathError",
    "OrderResult",
    "PageRankResult",
    "PartitionQuality",
    "Report",
    "Result",
    "SpanningForestResult",
    "SsspResult",
    "VertexResult",
    "WalksResult",
    "adamic_adar",
    "ancestors",
    "apsp",
    "as_graph",
    "average_clustering",
    "betweenness",
    "bfs",
    "bfs_multi",
    "bipartite_matching",
    "closeness",
    "clustering",
    "coloring",
    "common_neighbors",
    "condensation",
    "connected_components",
    "core_number",
    "cosine",
    "degree",
    "degree_centrality",
    "degree_ordered",
    "density",
    "descendants",
    "diameter",
    "eccentricity",
    "edge_betweenness",
    "ego_graph",
    "eigenvector",
    "harmonic",
    "has_path",
    "hello",
    "hits",
    "in_degree",
    "in_degree_centrality",
    "is_dag",
    "isolates",
    "jaccard",
    "k_core",
    "k_shell",
    "k_truss",
    "katz",
    "label_propagation",
    "leiden",
    "louvain",
    "maximal_independent_set",
    "mcl",
    "minimum_spanning_forest",
    "modularity",
    "out_degree",
    "out_degree_centrality",
    "overall_reciprocity",
    "overlap",
    "pagerank",
    "pagerank_multi",
    "partition_quality",
    "radius",
    "random_walks",
    "rcm",
    "reciprocity",
    "resource_allocation",
    "shortest_path",
    "shortest_path_length",
    "sorensen",
    "square_clustering",
    "sssp",
    "strongly_connected_components",
    "topological_generations",
    "topological_sort",
    "transitivity",
    "triangle_count",
    "triangles",
]

_RENAMED = {"StrongComponentsResult": ComponentsResult, "PageRankMultiResult": PageRankResult}


if not TYPE_CHECKING:  # type checkers take a module's __getattr__ for every name

    def __getattr__(name):
        import warnings

        from grb_tile.spelling import no_attribute

        found = _RENAMED.get(name)
        if found is None:
            raise no_attribute("module 'grb_tile.algorithms'", name, __all__)
        text = f"grb_tile.algorithms.{name} is deprecated, use {found.__name__}"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return found
