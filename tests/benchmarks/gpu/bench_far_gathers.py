"""What random gathers cost the operations that have no bins: the same work with gathers near and far.

    python tests/benchmarks/gpu/bench_far_gathers.py [--scales 22,24] [--triangles 20,22,24] [--output FILE]

far: 2^scale vertices, 16 random edges each, both ways; near: the same number of vertices and edges, each edge within
one of 16 ranges of vertices, so that what is gathered lies in a sixteenth of the memory and caches hold it.  The
difference is the most that putting gathers in order can save.  ms of a whole call, median of 3 to 5 after 2.

components       connected_components, afforest; the number of components is checked
labels           a round of label_propagation (two of them, halved); labels of 64 vertices are checked
sssp             "far" alone, at two scales: with the same degrees a vertex costs the same; distances are checked by a
                 product: d = min(d, A' min.+ d)
transpose        of the structure, and with values of FP32; checked against the graph, which is symmetric
A A              plus_times of FP32 over random edges of degree 4, where ranges are a 64th; the sum of C is checked
triangles        rmat: ms over the lookups, which are the shorter row of L for each edge; equal ps at all scales: no far
                 gathers
"""

import argparse
import gc
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import cupy as cp
import numpy as np
from device_graphs import from_keys, rmat

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.backends.select import current
from grb_tile.cli.timing import repeated

HEAD = "| what | graph | entries | near, ms | far, ms | far, ps an entry | far over near |"


def random_graph(scale, factor, ranges, both=True):
    """A CSR store of random edges within `ranges` equal ranges of vertices, without loops and duplicates."""
    cp.random.seed(1)
    n, count = 1 << scale, factor << scale
    width = n // ranges
    i = cp.random.randint(0, n, count, dtype=np.int64)
    j = i - i % width + cp.random.randint(0, width, count, dtype=np.int64)
    keys = i << 32 | j
    keys = cp.unique(cp.concatenate([keys, j << 32 | i]) if both else keys)
    return from_keys(n, keys[keys >> 32 != keys & 0xFFFFFFFF])


def ms(call, repeats=5):
    for _ in range(2):
        call()
    return float(np.median(repeated(call, repeats)[1])) * 1e3


def matrix(store, values=True):
    return gb.io.from_cupy_csr(store.indptr, store.indices, values, shape=(store.nrows, store.nrows))


def free():
    gc.collect()
    cp.get_default_memory_pool().free_all_blocks()


def components(store, ranges):
    G = alg.Graph(matrix(store), directed=None)
    assert alg.connected_components(G, method="afforest").count == ranges, "components"
    return ms(lambda: alg.connected_components(G, method="afforest"))


def labels(store, ranges):
    G = alg.Graph(matrix(store), directed=None)
    found = cp.asarray(alg.label_propagation(G, max_iter=1).values.to_dense())
    rows = cp.arange(0, store.nrows, store.nrows // 64)
    for i in rows.tolist():  # all labels are different at first, so that the least neighbour wins
        assert int(found[i]) == int(store.indices[int(store.indptr[i])]), "labels"
    return ms(lambda: alg.label_propagation(G, max_iter=2), 3) / 2


def transposed(values):
    def timed(store, ranges):
        held = cp.random.random(store.indices.shape[0], dtype=np.float32) if values else True
        A = matrix(store, held)
        device_store = current().to_device(A._store)

        def call():
            device_store.forms = None
            return current().transpose(device_store)

        T = call()
        assert bool((T.indptr == store.indptr).all() and (T.indices == store.indices).all()), "transpose"
        return ms(call)

    return timed


def sssp_row(scale):
    store = random_graph(scale, 16, 1)
    A = matrix(store, cp.random.random(store.indices.shape[0], dtype=np.float32))
    G = alg.Graph(A, directed=None)
    d = alg.sssp(G, 0).distances
    relaxed = gb.semiring.min_plus(A.T @ d).new()
    assert gb.binary.min(d | relaxed).new().isclose(d, rel_tol=1e-6) and d.nvals == store.nrows, "sssp"
    took, entries = ms(lambda: alg.sssp(G, 0), 3), store.indices.shape[0]
    return f"| sssp | uniform {scale} | {entries:,} | | {took:.2f} | {took / entries * 1e9:.1f} | |"


def product_row(scale):
    took, sums = [], []
    for ranges in (64, 1):
        store = random_graph(scale, 4, ranges, both=False)
        A = matrix(store, np.float32(1))
        C = A.mxm(A, "plus_times").new()
        ones = gb.Vector.from_scalar(1.0, store.nrows, dtype="FP64")
        paths = float(A.mxv(A.mxv(ones, "plus_times").new(), "plus_times").new().reduce("plus").new().value)
        sums.append(paths)
        total = C.reduce_rowwise("plus").new(dtype="FP64").reduce("plus").new()  # above 2^24
        assert float(total.value) == paths, "A A"
        del C
        free()
        took.append(ms(lambda A=A: A.mxm(A, "plus_times").new(), 3))
    near, far = (t / s * 1e9 for t, s in zip(took, sums, strict=True))
    return (
        f"| A A, products | uniform {scale}, degree 4 | {sums[1]:,.0f} | {took[0]:.2f} | {took[1]:.2f} | {far:.1f} "
        f"| {far / near:.2f} |"
    )


def lookups_of(store):
    """Sum over edges of the shorter row of L, whose entries are neighbours of higher degree, equal ones by number."""
    indptr, indices, n = store.indptr, store.indices, store.nrows
    degrees = cp.diff(indptr)
    rank = cp.empty(n, np.int64)
    rank[cp.argsort(cp.arange(n) - (degrees << 32))] = cp.arange(n)
    lengths, parts, step = cp.zeros(n, np.int64), [], 1 << 26
    for first in range(0, indices.shape[0], step):
        columns = indices[first : first + step]
        rows = cp.searchsorted(indptr, cp.arange(first, first + columns.size), side="right") - 1
        below = rank[rows] > rank[columns]
        parts.append((rows[below], columns[below]))
        lengths += cp.bincount(rows[below], minlength=n)
    return sum(int(cp.minimum(lengths[rows], lengths[columns]).sum()) for rows, columns in parts)


def triangles_row(scale):
    store = rmat(scale, 16)
    G = alg.Graph(matrix(store), directed=None)
    count = alg.triangle_count(G)
    took, lookups = ms(lambda: alg.triangle_count(G), 3), lookups_of(store)
    if scale <= 20:  # the other way to count them: each triangle from each of its nodes
        each = alg.triangles(G).values
        assert int(each.reduce("plus").new().value) == 3 * count, "triangles"
    return (
        f"| triangles ({count:,}), lookups | rmat {scale} | {lookups:,} | | {took:.2f} "
        f"| {took / max(lookups, 1) * 1e9:.2f} | |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scales", default="22,24")
    parser.add_argument("--triangles", default="20,22,24")
    parser.add_argument("--output", type=Path, help="also written here, line by line, as a record for results/")
    options = parser.parse_args()
    gb.config.set(backend="cuda")
    head = "# Random gathers without bins\n\n" + current().describe_device()
    head += "; `tests/benchmarks/gpu/bench_far_gathers.py`:\n" + __doc__.partition("--output FILE]")[2].rstrip()
    if options.output:
        options.output.write_text(head + "\n\n")

    def tell(line):
        print(line, flush=True)
        if options.output:
            with options.output.open("a") as file:
                file.write(line + "\n")

    tell("\n".join([HEAD, "|" + "---|" * (HEAD.count("|") - 1)]))
    whats = {
        "components": components, "labels, a round": labels, "transpose, structure": transposed(False),
        "transpose, FP32": transposed(True),
    }  # fmt: skip
    scales = [int(scale) for scale in options.scales.split(",")]
    for scale in scales:
        took = {what: [] for what in whats}
        for ranges in (16, 1):
            store = random_graph(scale, 16, ranges)
            for what, measure in whats.items():
                free()
                took[what].append(measure(store, ranges))
        entries = store.indices.shape[0]
        for what, (near, far) in took.items():
            each = far / entries * 1e9
            tell(f"| {what} | uniform {scale} | {entries:,} | {near:.2f} | {far:.2f} | {each:.1f} | {far / near:.2f} |")
        del store
        free()
        tell(sssp_row(scale))
        free()
        tell(product_row(scale - 1))
        free()
    for scale in options.triangles.split(","):
        tell(triangles_row(int(scale)))
        free()


if __name__ == "__main__":
    main()
