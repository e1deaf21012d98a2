"""Single operations: a matrix times a full vector, a matrix times itself, unions, intersections and triangles of
matrices."""

import graphs
import numpy as np
import objects
from measure import Prepared, race


def dense_mxv(graph, name, verify):
    """Prepared race of w = A (+.x) x with x full, FP32."""
    import graphblas

    import grb_tile as gb

    mine, other, conversion = objects.both(graph, graphs.weights(graph, np.float32))
    x = np.random.default_rng(3).integers(1, 100, graph.n).astype(np.float32)
    u, v = gb.Vector.from_dense(x), graphblas.Vector.from_dense(x)
    ours, peer = getattr(gb.semiring, name), getattr(graphblas.semiring, name)
    return Prepared(lambda: mine.mxv(u, ours).new(), lambda: other.mxv(v, peer).new(), verify, conversion)


@race("mxv-dense-min-plus-kron20", "w = A min.plus x, x full, kron20, FP32", 1.25, aim=1.0)
def mxv_min_plus():
    return dense_mxv(graphs.kron(20), "min_plus", objects.same_vector)


@race("mxv-dense-plus-times-kron20", "w = A plus.times x, x full, kron20, FP32", 1.25, aim=1.0)
def mxv_plus_times():
    # sums of up to 10^5 products in FP32, added in different orders
    return dense_mxv(graphs.kron(20), "plus_times", lambda a, b: objects.close_vector(a, b, 1e-3))


@race("mxv-dense-min-plus-kron14", "w = A min.plus x, x full, kron14, FP32", 1.25, suite="quick", seconds=2.0)
def mxv_min_plus_small():
    return dense_mxv(graphs.kron(14), "min_plus", objects.same_vector)


def square(graph):
    """Prepared race of C = A plus.times A in FP64, integer-valued so that the sums are exact in any order."""
    import graphblas

    import grb_tile as gb

    mine, other, conversion = objects.both(graph, graphs.weights(graph, np.float64, high=7))

    def peer():
        C = other.mxm(other, graphblas.semiring.plus_times).new()
        C.wait()
        return C

    return Prepared(lambda: mine.mxm(mine, gb.semiring.plus_times).new(), peer, objects.same_matrix, conversion)


@race("mxm-square-kron14", "C = A plus.times A, kron14, FP64", 0.7)
def mxm_square():
    return square(graphs.kron(14))


@race("mxm-square-kron10", "C = A plus.times A, kron10, FP64", 0.7, suite="quick", seconds=2.0)
def mxm_square_small():
    return square(graphs.kron(10))


def entrywise(scale, mine, other):
    """Prepared race of an entry-wise operation of a graph's matrix A and the same graph with its vertices renamed,
    B; FP64.

    mine(A, B) is our expression, other(A, B) theirs.
    """
    graph = graphs.kron(scale)
    A, C, conversion = objects.both(graph, graphs.weights(graph, np.float64))
    names = np.roll(np.arange(graph.n), 7)
    B, D = A[names, names].new(), C[names, names].new()
    D.wait()

    def peer():
        E = other(C, D).new()
        E.wait()
        return E

    return Prepared(lambda: mine(A, B).new(), peer, objects.same_matrix, conversion)


@race("ewise-add-kron16", "C = A plus B, the union of two kron16, FP64", 1.25, aim=0.5, suite="entries")
def ewise_add():
    return entrywise(16, lambda A, B: A.ewise_add(B, "plus"), lambda A, B: A.ewise_add(B, "plus"))


@race("ewise-mult-kron16", "C = A times B, the intersection of two kron16, FP64", 1.25, aim=1.0, suite="entries")
def ewise_mult():
    return entrywise(16, lambda A, B: A.ewise_mult(B, "times"), lambda A, B: A.ewise_mult(B, "times"))


@race("select-tril-kron16", "C = tril(A, -1), kron16, FP64", 1.25, aim=1.0, suite="entries")
def select_tril():
    return entrywise(16, lambda A, B: A.select("tril", -1), lambda A, B: A.select("tril", -1))


def masked_square(scale, mask):
    """Prepared race of C<mask> = A plus.times A in FP64; mask(A) gives A's structure or its complement."""
    import graphblas

    import grb_tile as gb

    graph = graphs.kron(scale)
    mine, other, conversion = objects.both(graph, graphs.weights(graph, np.float64, high=7))

    def peer():
        C = other.mxm(other, graphblas.semiring.plus_times).new(mask=mask(other))
        C.wait()
        return C

    return Prepared(
        lambda: mine.mxm(mine, gb.semiring.plus_times).new(mask=mask(mine)), peer, objects.same_matrix, conversion
    )


@race("mxm-masked-kron16", "C<A,s> = A plus.times A, kron16, FP64", 0.6, suite="masked", seconds=20.0)
def mxm_masked():
    return masked_square(16, lambda A: A.S)


@race("mxm-complement-kron14", "C<~A,s> = A plus.times A, kron14, FP64", 1.0, suite="masked", seconds=20.0)
def mxm_complement():
    return masked_square(14, lambda A: ~A.S)


@race("triangles-masked-kron18", "C<L,s> = L plus.pair L', kron18", 0.3, suite="masked", seconds=20.0)
def triangle_product():
    import graphblas

    import grb_tile as gb

    A, B, conversion = objects.both(graphs.kron(18))
    L, K = A.select("tril", -1).new(), B.select("tril", -1).new()
    K.wait()
    ours, theirs = gb.semiring.plus_pair["INT64"], graphblas.semiring.plus_pair["INT64"]

    def peer():
        C = K.mxm(K.T, theirs).new(mask=K.S)
        C.wait()
        return C

    return Prepared(lambda: L.mxm(L.T, ours).new(mask=L.S), peer, objects.same_matrix, conversion)
