"""PageRank and triangle counting against the same formulas in python-graphblas."""

import graphs
import numpy as np
import objects
import peer_graphblas
from measure import Prepared, race

ITERATIONS = 20


def pagerank(graph):
    """Prepared race of a fixed number of iterations; conversion and degrees apart on both sides."""
    import graphblas

    from grb_tile import algorithms

    mine, other, conversion = objects.both(graph, 1.0, np.float32)
    G = algorithms.Graph(mine, directed=False)
    outdegree = graphblas.Vector.from_dense(graph.degrees.astype(np.float32), missing_value=0)
    G.out_degree
    return Prepared(
        ours=lambda: fixed_iterations(algorithms, G),
        peer=lambda: peer_graphblas.pagerank(other, outdegree, ITERATIONS),
        verify=lambda ours, theirs: objects.close_vector(ours, theirs, 1e-3),
        conversion=conversion,
    )


def fixed_iterations(algorithms, G):
    """Exactly ITERATIONS iterations of algorithms.pagerank: the tolerance can never be met."""
    return algorithms.pagerank(G, max_iter=ITERATIONS, tol=0.0, dtype="FP32", strict=False).ranks


@race("pagerank-kron20", f"PageRank, {ITERATIONS} iterations, kron20, FP32", 1.1)
def pagerank_kron20():
    return pagerank(graphs.kron(20))


@race("pagerank-kron14", f"PageRank, {ITERATIONS} iterations, kron14, FP32", 1.1, suite="quick", seconds=2.0)
def pagerank_kron14():
    return pagerank(graphs.kron(14))


def triangles(graph):
    """Prepared race of sum(C), C<L,s> = L plus.pair L', over the same lower triangle sorted by degree."""
    import grb_tile as gb

    lower = graphs.lower_triangle(graph)
    mine, other, conversion = objects.both(lower, 1, np.int64)

    def ours():
        C = gb.semiring.plus_pair[gb.dtypes.INT64](mine @ mine.T).new(mask=mine.S)
        return C.reduce_scalar(gb.monoid.plus).new().value

    def verify(count, expected):
        assert int(count) == int(expected), (int(count), int(expected))

    return Prepared(ours, lambda: peer_graphblas.triangle_count(other), verify, conversion)


@race("triangles-kron18", "triangle count, kron18, sum of C(L.S) = L plus_pair L'", 0.6)
def triangles_kron18():
    return triangles(graphs.kron(18))


@race("triangles-kron12", "triangle count, kron12", 0.6, suite="quick", seconds=2.0)
def triangles_kron12():
    return triangles(graphs.kron(12))
