"""What ranks know of a vector's entries (distributed/known.py) is not asked again, and never that of another vector."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import dist
from grb_tile.algorithms import pagerank
from support.emulated_devices import emulated_devices
from support.results_of_ranks import compare
from support.seeds import generator

N = 700
SEMIRINGS = ("plus_times", "any_pair", "min_second", "plus_first")


def operands(names):
    """Matrices and vectors that all ranks have: full, with most entries, with few, with none, of one value."""
    rng = generator("known", names)
    rows, cols = rng.integers(0, N - 50, (2, 4000))
    A = gb.Matrix.from_coo(rows, cols, rng.integers(1, 9, 4000) * 1.0, nrows=N, ncols=N, dup_op=gb.binary.plus)
    full = gb.Vector.from_dense(rng.integers(1, 9, N) * 1.0)
    most = full.select(">", 2.0).new()
    few = gb.Vector.from_coo(np.sort(rng.choice(N, 9, replace=False)), rng.integers(1, 9, 9) * 1.0, size=N)
    return A, {"full": full, "most": most, "few": few, "none": gb.Vector(float, N), "one": gb.unary.one(most).new()}


def program(names, kept=None):
    """Each vector, and what comes of it, is multiplied twice by each semiring, so that all is known at some time.

    kept: of the vectors, those that are multiplied; all if left out.
    """

    def of_rank(world=None):
        if world is None:
            A, vectors = operands(names)
        else:
            with dist.local():
                A, vectors = operands(names)
            A = dist.distribute(A if world.rank == 0 else None)
            vectors = {name: dist.distribute(v if world.rank == 0 else None) for name, v in vectors.items()}
        found = []
        for turn in range(3):
            for name in kept or vectors:
                v = vectors[name]
                made = {
                    "same": gb.unary.identity(v).new(), "negative": gb.unary.ainv(v).new(),
                    "ones": gb.unary.one(v).new(), "bound": v.apply(gb.binary.first, left=float(turn)).new(),
                    "squares": v.ewise_mult(v, gb.binary.times).new(), "both": v.ewise_add(v, gb.binary.pair).new(),
                    "with others": v.ewise_add(vectors["few"], gb.binary.plus).new(),
                    "cast": gb.unary.identity[gb.dtypes.INT64](v).new(), "fewer": v.select(">", 4.0).new(),
                }  # fmt: skip
                x = made["same"]
                x[turn] = -1.0
                x(vectors["most"].S) << 7.0
                for kind, u in (*made.items(), (name, v)):
                    for semiring in SEMIRINGS:
                        w = A.mxv(u, getattr(gb.semiring, semiring)).new()
                        z = A.mxv(w, gb.semiring.plus_times).new()
                        found.append((name, kind, semiring, w.nvals, z.to_dict()))
                    masked = A.mxv(u, gb.semiring.plus_times).new(mask=vectors["most"].S)
                    found.append((name, kind, A.mxv(masked, gb.semiring.plus_second).new().to_dict(), u.nvals))
        return found

    return of_rank


@pytest.mark.parametrize("size", (2, 3))
def test_products_one_after_another(size):
    compare(gb.dist.run(size, program("host")), program("host")())


@pytest.mark.parametrize("kept", [("full", "few"), pytest.param(("most", "none", "one"), marks=pytest.mark.slow)])
def test_products_one_after_another_on_devices(kept):
    want = program("devices", kept)()
    with emulated_devices(2):
        compare(gb.dist.run(2, program("devices", kept), devices=2), want)


def test_turns_of_a_loop_ask_for_nothing():
    """Neither a product of a vector whose positions are known, nor the turns of PageRank but for their sums."""

    def of_rank(world):
        A = dist.rmat(8, 8, directed=False, seed=3)
        W = gb.unary.one[gb.dtypes.FP32](A).new()
        x = W.reduce_rowwise(gb.monoid.plus).new()  # not full: some vertices have no edge
        comm, calls = world._backend.comm, []
        comm.allgather, allgather = lambda item, call: calls.append(call) or allgather(item, call), comm.allgather

        def asked(call):
            for _ in range(2):
                calls.clear()
                call()
            return list(calls)

        return (
            x.nvals < x.size,
            asked(lambda: W.mxv(gb.unary.identity(x).new(), gb.semiring.plus_second).new()),
            asked(lambda: W.mxv(W.mxv(gb.unary.identity(x).new()).new()).new()),
            set(asked(lambda: pagerank(A, tol=0, max_iter=3, strict=False).values)),
        )

    with emulated_devices(2):
        for is_partial, of_product, of_products, of_pagerank in gb.dist.run(2, of_rank, devices=2):
            assert is_partial and of_product == [] and of_products == [] and of_pagerank <= {"one_pass", "reduce"}
