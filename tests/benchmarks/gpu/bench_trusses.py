"""Triangles at each vertex, clustering and trusses of a Kronecker graph, kernel by kernel.

    python3 tests/benchmarks/gpu/bench_trusses.py [--scale 20] [--k 4 8 32]

Checked: three times the triangles of `triangle_count`, and the products of `_corners`, are those at vertices;
coefficients are 2 t / (d (d - 1)); a truss is that of the loop of products (which a callback makes run); SciPy's counts
on 2^12 vertices.
"""

import argparse
import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

import numpy as np  # noqa: E402
from device_time import Launches, most  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile import algorithms as alg, generators  # noqa: E402
from grb_tile.backends import select  # noqa: E402
from grb_tile.cli.timing import repeated, timed  # noqa: E402

parts = importlib.import_module("grb_tile.algorithms.triangles")


def measure(launches, name, call, count=7):
    first = timed(call)[1] * 1e3
    found, times = repeated(call, count)
    with launches.recorded() as seen:
        call()
    print(
        f"{name}: {np.median(times) * 1e3:.3f} ms (least {min(times) * 1e3:.3f}, first {first:.0f}); kernels "
        f"{seen.busy:.3f} in {seen.count} launches: {most(seen, 8)}", flush=True,
    )  # fmt: skip
    return found


def against_scipy():
    from scipy.sparse import csr_array

    G = alg.Graph.of_symmetric(generators.kronecker(12, 16))
    indptr, indices, _ = G.A.to_csr()
    A = csr_array((np.ones(indices.size), indices, indptr), G.A.shape)
    A.setdiag(0)
    A.eliminate_zeros()
    wanted = np.asarray(((A @ A) * A).sum(axis=1)).ravel() / 2
    assert (alg.triangles(G).to_numpy() == wanted).all()
    for k in (3, 4, 10, 40):
        H, mine = A.copy(), alg.k_truss(G, k)
        while True:
            S = (H @ H) * H
            keep = csr_array((S.data >= k - 2, S.indices, S.indptr), S.shape)
            keep.eliminate_zeros()
            if keep.nnz == H.nnz:
                break
            H = keep.astype(float)
        assert mine.values.nvals == H.nnz and float(mine.values.reduce_scalar("plus").new().value or 0) == S.sum(), k
    print("2^12 vertices: triangles and trusses as SciPy's", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--k", type=int, nargs="*", default=[4, 8, 32, 200])
    given = parser.parse_args()
    gb.config.set(backend="cuda")
    launches = Launches(select.current().device)
    against_scipy()
    G = alg.Graph.of_symmetric(generators.kronecker(given.scale, 16))
    total = measure(launches, "triangle_count", lambda: alg.triangle_count(G))
    t = measure(launches, "triangles", lambda: alg.triangles(G)).values
    c = measure(launches, "clustering", lambda: alg.clustering(G)).values
    counts = t.to_dense()
    assert counts.sum() == 3 * total, "three corners of each triangle"
    L = G.keep("degree_ordered", None)
    assert gb.graph.triangle_corners(L).isequal(measure(launches, "corners by products", lambda: parts._corners(L), 2))
    degree = G.out_degree.to_dense(0).astype(float)
    wanted = np.divide(2 * counts, degree * (degree - 1), out=np.zeros(G.n), where=degree > 1)
    assert np.allclose(c.to_dense(), wanted)
    trusses = importlib.import_module("grb_tile.algorithms.k_truss")
    A, H = importlib.import_module("grb_tile.algorithms.pattern").loopless(G), trusses._by_degree(G.A, G.out_degree)
    measure(launches, "supports", lambda: trusses._supports(A, H), 3)
    print(gb.explain(), flush=True)
    for k in given.k:
        found = measure(launches, f"k_truss({k})", lambda: alg.k_truss(G, k), 3)  # noqa: B023
        seen = []
        plain = alg.k_truss(G, k, callback=seen.append)  # prints nothing, stops nowhere
        rounds = [(row["edges"], row["removed"]) for row in found.report.rounds]
        assert plain.values.isequal(found.values) and rounds == [(r["edges"], r["removed"]) for r in seen], k
        print(f"  {found.values.nvals} entries, rounds: {rounds[:9]} ... {len(rounds)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
