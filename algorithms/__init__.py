"""Graph algorithms written as linear algebra: each file reads as its mathematics.

    import grb_tile as gb
    from grb_tile import algorithms as alg

    G = alg.Graph(A)                      # caches A', degrees, symmetry, smallest and largest weight
    alg.bfs(G, 0).levels                  # f<!v> = f A
    alg.sssp(G, 0).distances              # d min= f min.+ A
    alg.pagerank(G).ranks                 # r = t + A' (a r / outdegree)
    alg.connected_components(G).labels    # FastSV: u min= A min.second g
    alg.triangle_count(G)                 # sum of C<L> = L plus.pair L'

Every algorithm takes a Graph (or a square Matrix), leaves it as it was, and records what it did in `.report`.
`hello.py` is the template for the next one.
"""
if __name__ != "grb_tile.algorithms":
    raise ImportError(
        f"the folder algorithms/ was imported as {__name__!r}, which would make a second copy of it. "
        "Write `import grb_tile.algorithms` or `from grb_tile import algorithms`: the checkout's root on sys.path is enough."
    )

# A function that has its module's name replaces the module here, whichever was imported first; so all are fetched at once.
from .bfs import BfsResult, bfs, bfs_multi  # noqa: E402
from .connected_components import ComponentsResult, connected_components  # noqa: E402
from .errors import AlgorithmError, ConvergenceFailure, NegativeCycleError  # noqa: E402
from .graph import Graph, as_graph  # noqa: E402
from .hello import hello  # noqa: E402
from .pagerank import PageRankResult, pagerank  # noqa: E402
from .report import Report  # noqa: E402
from .sssp import SsspResult, sssp  # noqa: E402
from .triangles import degree_ordered, triangle_count, triangles  # noqa: E402

__all__ = [
    "AlgorithmError",
    "BfsResult",
    "ComponentsResult",
    "ConvergenceFailure",
    "Graph",
    "NegativeCycleError",
    "PageRankResult",
    "Report",
    "SsspResult",
    "as_graph",
    "bfs",
    "bfs_multi",
    "connected_components",
    "degree_ordered",
    "hello",
    "pagerank",
    "sssp",
    "triangle_count",
    "triangles",
]
