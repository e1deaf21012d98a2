"""A program on the ranks of a launcher: what it computes is compared with the same on one rank."""

import sys
import tempfile

import numpy as np

import grb_tile as gb
from grb_tile import algorithms, generators

SCALE = 9


def compute(A):
    """Plain results of a user's loop, of products and of algorithms."""
    n = A.nrows
    f, level, depth = gb.Vector.from_coo([0], True, size=n), gb.Vector(int, n), 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, gb.semiring.any_pair)
        depth += 1
    C = A.mxm(A, gb.semiring.plus_times).new(mask=A.S)
    found = {
        "levels": level.to_dict(),
        "products": [np.asarray(part).tolist() for part in C.to_coo()],
        "rows": A.reduce_rowwise(gb.monoid.plus).new().to_dict(),
        "columns": A.reduce_columnwise(gb.monoid.max).new().to_dict(),
        "sum": A.reduce_scalar(gb.monoid.plus).new().value,
        "bfs": algorithms.bfs(A, 0).levels.to_dict(),
        "paths": algorithms.sssp(A, 0).distances.to_dict(),
        "components": algorithms.connected_components(A).count,
        "triangles": algorithms.triangle_count(A),
        "cores": algorithms.core_number(A).values.to_dict(),
        "labels": algorithms.label_propagation(A).values.to_dict(),
        "louvain": algorithms.louvain(A, seed=1).count,
    }
    ranks = algorithms.pagerank(A).values
    return found, ranks.to_dict()


def main(folder):
    world = gb.dist.init(timeout=60)
    A = gb.dist.rmat(SCALE, 8, directed=False, weights=(1, 9), seed=3)
    assert (A.placement is None) == (world.size == 1)
    found, ranks = compute(A)
    gb.dist.write(folder, A)
    assert gb.dist.read(folder).isequal(A)
    whole = A.gather()
    if world.size > 1:
        with gb.dist.local():
            want, want_ranks = compute(generators.rmat(SCALE, 8, directed=False, weights=(1, 9), seed=3))
            assert whole.isequal(generators.rmat(SCALE, 8, directed=False, weights=(1, 9), seed=3))
        for name, value in want.items():
            assert found[name] == value, name
        assert ranks.keys() == want_ranks.keys()
        assert all(abs(ranks[key] - want_ranks[key]) < 1e-9 for key in ranks)
        assert world.traffic["bytes_received"] > 0
    world.barrier()
    sys.stdout.write(f"rank {world.rank} of {world.size}: ok\n")  # at once: lines of several ranks must not mix
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
