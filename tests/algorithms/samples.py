"""Graphs for the tests of algorithms: named small ones, random ones, and those of tests/data with reference outputs."""

import lzma
import os
import pathlib
import re

import numpy as np
import scipy.sparse as sp

import grb_tile as gb

HERE = pathlib.Path(__file__).resolve().parent
GRAPHALYTICS = HERE.parent / "data" / "graphalytics"
UNREACHED = 2**63 - 1


def matrix(S, dtype=None):
    """gb.Matrix of a SciPy array, every stored entry kept (explicit zeros too)."""
    S = sp.coo_array(S)
    return gb.Matrix.from_coo(S.row, S.col, S.data, dtype, nrows=S.shape[0], ncols=S.shape[1])


def edges(pairs, n, weights=1, dtype=None, both=False):
    """gb.Matrix of a list of (i, j); with `both`, of the undirected graph."""
    i, j = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    kind = None if dtype is None else gb.dtypes.lookup_dtype(dtype).np_type
    w = np.broadcast_to(np.asarray(weights, dtype=kind), i.shape)
    if both:
        once = i != j
        i, j, w = np.r_[i, j[once]], np.r_[j, i[once]], np.r_[w, w[once]]
    return gb.Matrix.from_coo(i, j, w, dtype, nrows=n, ncols=n, dup_op=gb.binary.first)


def random_graph(seed, *, undirected=False, weights="int"):
    """A SciPy CSR array: 1 to 40 nodes, sparse to dense, isolated nodes and loops among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 41))
    m = int(rng.integers(0, 4 * n))
    i, j = rng.integers(0, n, (2, m))
    w = {"int": rng.integers(0, 20, m), "float": rng.random(m) + 1e-3, "one": np.ones(m, np.int64)}[weights]
    if undirected:
        i, j, w = np.r_[i, j], np.r_[j, i], np.r_[w, w]
    _, keep = np.unique(i * n + j, return_index=True)
    if undirected:  # the same weight both ways: that of the unordered pair's first appearance
        low, high = np.minimum(i, j), np.maximum(i, j)
        _, first, where = np.unique(low * n + high, return_index=True, return_inverse=True)
        w = w[first][where.ravel()]
    S = sp.coo_array((w[keep], (i[keep], j[keep])), shape=(n, n))
    return sp.csr_array((S.data, *_csr(S)), shape=(n, n))


def _csr(S):
    order = np.lexsort((S.col, S.row))
    S.data = S.data[order]
    return S.col[order], np.searchsorted(S.row[order], np.arange(S.shape[0] + 1))


def karate():
    """gb.Matrix of Zachary's karate club: 34 nodes, undirected, 78 edges, 45 triangles."""
    i, j, w = np.loadtxt(HERE.parent / "data" / "karate" / "karate.csv").T
    return gb.Matrix.from_coo(i.astype(np.int64), j.astype(np.int64), w, nrows=34, ncols=34)


class Reference:
    """A Graphalytics graph: nodes renumbered 0.. in file order, parameters, and its outputs as arrays in node order."""

    def __init__(self, base, directed, parameters, *, end="", outputs_end=None):
        self.base, self.directed, self.parameters = str(base), directed, parameters
        self._end, self._outputs_end = end, end if outputs_end is None else outputs_end
        self.nodes = [int(line.split()[0]) for line in _lines(f"{base}.v{end}")]
        self.index = {node: k for k, node in enumerate(self.nodes)}
        rows = [line.split() for line in _lines(f"{base}.e{end}")]
        i = np.array([self.index[int(row[0])] for row in rows], np.int64)
        j = np.array([self.index[int(row[1])] for row in rows], np.int64)
        w = np.array([float(row[2]) if len(row) > 2 else 1.0 for row in rows])
        if not directed:
            i, j, w = np.r_[i, j], np.r_[j, i], np.r_[w, w]
        n = len(self.nodes)
        self.A = gb.Matrix.from_coo(i, j, w, nrows=n, ncols=n, dup_op=gb.binary.first)

    def output(self, algorithm, convert):
        values = dict(line.split() for line in _lines(f"{self.base}-{algorithm}{self._outputs_end}"))
        return np.array([convert(values[str(node)]) for node in self.nodes])

    def source(self, algorithm):
        return self.index[int(self.parameters[f"{algorithm}.source-vertex"])]


def _lines(path):
    content = pathlib.Path(path).read_bytes()
    text = (lzma.decompress(content) if path.endswith(".xz") else content).decode()
    return [line for line in text.splitlines() if line.strip()]


def graphalytics_names(algorithm):
    """Names in tests/data/graphalytics that have an output of `algorithm` (BFS, CDLP, PR, SSSP, WCC)."""
    return sorted(path.name[: -len(algorithm) - 1] for path in GRAPHALYTICS.glob(f"*-{algorithm}"))


def graphalytics(name):
    text = (GRAPHALYTICS / f"{name}.properties").read_text()
    parameters = dict(re.findall(rf"^graph\.{re.escape(name)}\.(\S+)\s*=\s*(\S+)", text, re.MULTILINE))
    return Reference(GRAPHALYTICS / name, parameters["directed"] == "true", parameters)


def data_folder():
    """Where the larger graphs lie: $GRB_TILE_DATA, or shared/data beside or above the checkout; None when absent."""
    places = [os.environ["GRB_TILE_DATA"]] if os.environ.get("GRB_TILE_DATA") else []
    root = HERE.parent.parent
    places += [root / "shared" / "data", root.parent / "shared" / "data"]
    return next((pathlib.Path(place) for place in places if (pathlib.Path(place) / "small").is_dir()), None)


def p2p(directed):
    folder = data_folder()
    if folder is None:
        return None
    parameters = {"bfs.source-vertex": "6", "sssp.source-vertex": "6"}
    parameters |= {"pr.damping-factor": "0.85", "pr.num-iterations": "10", "cdlp.max-iterations": "10"}
    base = folder / "small" / "p2p-31" / "p2p-31"
    return Reference(base, directed, parameters, end=".xz", outputs_end="-directed.xz" if directed else ".xz")


def pair(seed, directed, *, weights="one"):
    """(gb.Matrix, NetworkX graph) of random_graph(seed), loops and vertices without edges among them."""
    import networkx as nx

    S = random_graph(seed, undirected=not directed, weights=weights)
    N = nx.DiGraph() if directed else nx.Graph()
    N.add_nodes_from(range(S.shape[0]))
    rows, cols = sp.coo_array(S).coords
    N.add_weighted_edges_from(zip(rows.tolist(), cols.tolist(), S.data.tolist(), strict=True))
    return matrix(S), N
