"""The graphs of the benchmarks as CSR arrays in NumPy: Graph500 Kronecker graphs of grb_tile.generators, and real ones.

grb_tile and its peers are handed the same arrays.  Generated graphs are kept as .npz files in $GRB_TILE_BENCH_CACHE
(tests/benchmarks/cache when unset), which may be deleted at any time.
"""

import importlib.util
import os
import pathlib
from dataclasses import dataclass

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Csr:
    """A square pattern by rows, with weights or without: indptr int64, indices int32 ascending in each row."""

    name: str
    indptr: np.ndarray
    indices: np.ndarray
    weights: np.ndarray | None = None

    @property
    def n(self):
        return self.indptr.shape[0] - 1

    @property
    def nvals(self):
        return self.indices.shape[0]

    @property
    def degrees(self):
        return np.diff(self.indptr)

    def rows(self):
        """The row of each entry."""
        return np.repeat(np.arange(self.n, dtype=np.int32), self.degrees)

    def scipy(self, values=None):
        """scipy.sparse.csr_array of the pattern with `values` (ones when None)."""
        import scipy.sparse

        if values is None:
            values = np.ones(self.nvals)
        return scipy.sparse.csr_array((values, self.indices, self.indptr), shape=(self.n, self.n))


def from_edges(name, n, sources, targets, *, undirected=True):
    """CSR of an edge list without self-loops and duplicates; undirected: each edge in both directions."""
    keep = sources != targets
    sources, targets = sources[keep].astype(np.int64), targets[keep].astype(np.int64)
    keys = np.concatenate([sources * n + targets, targets * n + sources]) if undirected else sources * n + targets
    keys.sort()
    if keys.size:
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    rows = keys // n
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=n), out=indptr[1:])
    return Csr(name, indptr, (keys - rows * n).astype(np.int32))


def of_matrix(name, A):
    """The Csr of a Matrix's structure."""
    indptr, indices, _ = A.to_csr()
    return Csr(name, indptr.astype(np.int64, copy=False), indices.astype(np.int32, copy=False))


def kron(scale, edge_factor=16, seed=1, directed=False):
    """generators.kronecker: the Graph500 graph of 2^scale vertices, undirected unless `directed`.

    >>> g = kron(8)
    >>> g.n, bool((g.scipy() != g.scipy().T).nnz == 0), bool(g.scipy().diagonal().any())
    (256, True, False)
    """
    from grb_tile import generators

    name = f"kronecker{scale}-ef{edge_factor}-seed{seed}{'-directed' if directed else ''}"
    return cached(name, lambda: of_matrix(name, generators.kronecker(scale, edge_factor, directed=directed, seed=seed)))


def weights(graph, dtype, low=1, high=255, seed=2):
    """generators.with_weights: whole numbers from low to high, the same in both directions of an edge."""
    from grb_tile import Matrix, generators

    A = Matrix.from_csr(graph.indptr, graph.indices, True, nrows=graph.n, ncols=graph.n)
    return generators.with_weights(A, low, high, seed=seed).to_csr()[2].astype(dtype)


def lower_triangle(graph):
    """The entries below the diagonal, rows and columns sorted by ascending degree first, as a triangle count wants
    them."""
    order = np.argsort(graph.degrees, kind="stable")
    rank = np.empty(graph.n, np.int64)
    rank[order] = np.arange(graph.n)
    rows, columns = rank[graph.rows()], rank[graph.indices]
    below = rows > columns
    return from_edges(graph.name + "-lower", graph.n, rows[below], columns[below], undirected=False)


def data_folder():
    """Where the real graphs lie: $GRB_TILE_DATA, or a folder shared/data beside the checkout; None when there is
    none."""
    for candidate in (os.environ.get("GRB_TILE_DATA"), ROOT.parent / "shared" / "data"):
        if candidate and (pathlib.Path(candidate) / "load.py").exists():
            return pathlib.Path(candidate)
    return None


def real(name):
    """A real graph as an undirected Csr: USA-road-NY from examples/data, any other through load.py of the data
    folder."""
    if name == "USA-road-NY":
        return cached(name, lambda: symmetric(name, read_shipped()))
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError(f"{name} needs a data folder: set GRB_TILE_DATA to one that holds load.py and medium/")
    specification = importlib.util.spec_from_file_location("grb_tile_benchmark_data", folder / "load.py")
    loader = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(loader)
    return cached(name, lambda: symmetric(name, loader.load(name)))


def shipped_file():
    """The Matrix Market file that comes with the project."""
    return ROOT / "examples" / "data" / "USA-road-NY.mtx.gz"


def read_shipped():
    """The shipped graph, read by SciPy."""
    import scipy.io

    return scipy.io.mmread(shipped_file(), spmatrix=False).tocsr()


def symmetric(name, matrix):
    """Csr of a SciPy matrix made symmetric, with its diagonal removed; weights as they were (the larger of the two)."""
    matrix = matrix.tocsr()
    matrix = matrix.maximum(matrix.T).tocsr()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return Csr(name, matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)


def cached(name, make):
    """What make() returns, kept on disk under `name`."""
    folder = pathlib.Path(os.environ.get("GRB_TILE_BENCH_CACHE", HERE / "cache"))
    path = folder / f"{name}.npz"
    if path.exists():
        with np.load(path) as held:
            return Csr(name, held["indptr"], held["indices"], held.get("weights"))
    graph = make()
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {"indptr": graph.indptr, "indices": graph.indices}
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    partial = folder / f".{name}-{os.getpid()}.npz"
    np.savez(partial, **arrays)
    partial.replace(path)
    return graph


def busiest_vertex(graph):
    """A vertex with the most neighbours: a source whose search reaches the giant component."""
    return int(np.argmax(graph.degrees))
