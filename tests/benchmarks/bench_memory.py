"""Peak memory, by the kernel's own count of resident pages: reading a Matrix Market file, searching a large graph,
and single operations beside those of python-graphblas.

Each sample is a process of its own.  What it imports and compiles is done on a small graph first; then the peak counter
is set back and the work is done; the figure is the peak above what was resident before.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import graphs
from measure import gauge

ROOT = graphs.ROOT

PEAK = """
import ctypes, gc, json, pathlib, sys
sys.path[:0] = [{benchmarks!r}, {root!r}]
import graphs, objects

def resident(what):
    for line in open("/proc/self/status"):
        if line.startswith(what + ":"):
            return int(line.split()[1]) * 1024

def peak_of(work):
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)                    # what is free already does not hide what is allocated now
    before = resident("VmRSS")
    open("/proc/self/clear_refs", "w").write("5")       # the peak counter starts again from here
    result = work()
    return resident("VmHWM") - before, result
"""

READING = (
    PEAK
    + """
import grb_tile as gb
gb.io.mmread({small!r})
peak, A = peak_of(lambda: gb.io.mmread({large!r}))
triples = A.nvals * (8 + 8 + A.dtype.np_type.itemsize)
print(json.dumps(dict(peak=peak, triples=triples, nvals=A.nvals)))
"""
)

SEARCHING = (
    PEAK
    + """
from grb_tile import algorithms
small = graphs.kron(12)
algorithms.bfs(algorithms.Graph(objects.ours(small), directed=False), graphs.busiest_vertex(small))
graph = graphs.kron(20)
source = graphs.busiest_vertex(graph)
G = algorithms.Graph(objects.ours(graph), directed=False)
peak, found = peak_of(lambda: algorithms.bfs(G, source))
arrays = graph.indptr.nbytes + graph.indices.nbytes
objects.check_levels(graph, source, found.levels)
print(json.dumps(dict(peak=peak, arrays=arrays)))
"""
)

OPERATION = (
    PEAK
    + """
import numpy as np
if {side!r} == "ours":
    import grb_tile as gb
else:
    import graphblas as gb
rng = np.random.default_rng(1)

def operands(n, entries):
    keys = np.unique(rng.integers(0, n * n, entries))
    return gb.Matrix.from_coo(keys // n, keys % n, rng.random(keys.size), nrows=n, ncols=n)

def work(A, B, I):
    return {operation}

for n, entries in (({n} // 20, {entries} // 20), ({n}, {entries})):
    A, B = operands(n, entries), operands({few}, {few} * 8)
    rows = np.sort(rng.permutation(n)[: n // 2])
    A.nvals, B.nvals, A.T.new().nvals
    peak, C = peak_of(lambda: work(A, B, rows))
print(json.dumps(dict(peak=peak, nvals=C.nvals)))
"""
)


# Large arrays each in pages of their own: what was freed before does not hide what is allocated now.
# Kernels are compiled at their first use, on the small graph, not during the search that is measured.
VARIABLES = {"MALLOC_MMAP_THRESHOLD_": "131072", "GRB_TILE_JIT": "always"}


def record_of(program, **names):
    """The JSON that a program prints."""
    text = program.format(benchmarks=str(ROOT / "tests" / "benchmarks"), root=str(ROOT), **names)
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, **VARIABLES})
    if run.returncode:
        raise RuntimeError(run.stderr)
    return json.loads(run.stdout.splitlines()[-1])


def write_market(path, graph):
    """The lower triangle of a graph with its weights as a symmetric coordinate file of integers, as roads are
    published."""
    import numpy as np

    rows, columns = graph.rows(), graph.indices
    below = rows > columns
    with open(path, "w", encoding="ascii") as out:
        out.write(f"%%MatrixMarket matrix coordinate integer symmetric\n{graph.n} {graph.n} {int(below.sum())}\n")
        np.savetxt(out, np.stack([rows[below] + 1, columns[below] + 1, graph.weights[below]], axis=1), fmt="%d")


@gauge("mmread-peak", "peak memory of io.mmread over the triples it yields, USA-road-NE", 2.0, "x")
def reading():
    with tempfile.TemporaryDirectory() as folder:
        large, small = pathlib.Path(folder) / "large.mtx", pathlib.Path(folder) / "small.mtx"
        write_market(large, graphs.real("USA-road-NE"))
        small.write_text("%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 1 6\n")
        found = [record_of(READING, small=str(small), large=str(large)) for _ in range(3)]
    return {"samples": [f["peak"] / f["triples"] for f in found], "bytes": found}


@gauge("bfs-peak", "peak memory of a BFS over the CSR arrays of its graph, kron20", 0.25, "x")
def searching():
    found = [record_of(SEARCHING) for _ in range(3)]
    return {"samples": [f["peak"] / f["arrays"] for f in found], "bytes": found}


def beside_the_peer(operation, n, entries, few):
    """Peak memory of an operation over python-graphblas's; each side three times, in processes of its own."""
    sides = {
        side: [record_of(OPERATION, side=side, operation=operation, n=n, entries=entries, few=few) for _ in range(3)]
        for side in ("ours", "theirs")
    }
    assert sides["ours"][0]["nvals"] == sides["theirs"][0]["nvals"]
    pairs = zip(sides["ours"], sides["theirs"], strict=True)
    return {"samples": [ours["peak"] / theirs["peak"] for ours, theirs in pairs], "bytes": sides}


@gauge("mxm-peak", "peak memory of A A over SuiteSparse's, random, 20 entries a row", 1.5, "x")
def multiplying():
    return beside_the_peer("gb.semiring.plus_times(A @ A).new()", 80_000, 1_600_000, 10)


@gauge("kronecker-peak", "peak memory of kronecker over SuiteSparse's, 16 million entries", 1.5, "x")
def kronecker():
    return beside_the_peer("A.kronecker(B, gb.binary.times).new()", 10_000, 100_000, 20)


@gauge("extract-peak", "peak memory of A[I, I], I half of the indices, over SuiteSparse's", 1.5, "x")
def extracting():
    return beside_the_peer("A[I, I].new()", 100_000, 2_000_000, 10)


@gauge("extract-shuffled-peak", "peak memory of A[I, I], I shuffled, over SuiteSparse's", 1.5, "x")
def extracting_shuffled():
    return beside_the_peer("A[I[::-1], I[::-1]].new()", 100_000, 2_000_000, 10)
