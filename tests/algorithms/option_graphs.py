"""Random graphs of the battery of options: directed or not, loops, both ways, all weights, empty, in parts."""

import dataclasses

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile.backends import select

WEIGHTS = ("one", "small", "zeros", "negative", "real", "equal")
TYPES = {
    "one": ("BOOL", "INT64", "FP64"), "small": ("INT64", "INT8", "UINT32", "FP32", "FP64"), "zeros": ("INT64", "FP64"),
    "negative": ("INT64", "FP64"), "real": ("FP64",), "equal": ("INT64", "FP64"),
}  # fmt: skip


FORMS = ("csr", "dcsr", "csr", "bitmapr", "bitmapc")


@dataclasses.dataclass
class Drawn:
    """present, weights: n x n arrays; A the gb.Matrix; kind: which weights."""

    seed: int
    present: np.ndarray
    weights: np.ndarray
    kind: str
    dtype: str

    @property
    def n(self):
        return len(self.present)

    @property
    def A(self):
        i, j = np.nonzero(self.present)
        values = self.weights[i, j].astype(gb.dtypes.lookup_dtype(self.dtype).np_type)
        A = gb.Matrix.from_coo(i, j, values, self.dtype, nrows=self.n, ncols=self.n)
        form = FORMS[self.seed % len(FORMS)]
        if self.n and not hasattr(A._store, "world"):  # the parts of ranks are CSR
            A._store = select.current().convert(A._store, form)
        return A

    @property
    def symmetric_structure(self):
        return bool((self.present == self.present.T).all())

    @property
    def directed(self):
        """A differs from A'."""
        w = np.where(self.present, self.weights, 0)
        return not self.symmetric_structure or not (w == w.T).all()

    def network(self, directed=None):
        """The NetworkX graph: a DiGraph where A differs from A'."""
        G = nx.DiGraph() if (self.directed if directed is None else directed) else nx.Graph()
        G.add_nodes_from(range(self.n))
        for i, j in zip(*map(np.ndarray.tolist, np.nonzero(self.present)), strict=True):
            G.add_edge(i, j, weight=self.weights[i, j].item())
        return G

    def without_loops(self):
        present = self.present.copy()
        np.fill_diagonal(present, False)
        return dataclasses.replace(self, present=present)

    def __repr__(self):
        edges = [(i, j, self.weights[i, j].item()) for i, j in zip(*np.nonzero(self.present), strict=True)]
        return f"seed {self.seed}: {self.n} vertices, {self.kind} weights of {self.dtype}, edges {edges}"


def draw(seed):
    """A graph of 0 to 11 vertices."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 11], p=[0.03, 0.04, 0.08, 0.1, 0.15, 0.15, 0.15, 0.2, 0.1]))
    present = rng.random((n, n)) < rng.choice([0.1, 0.25, 0.4, 0.8])
    if rng.random() < 0.5:
        np.fill_diagonal(present, False)
    way = rng.choice(["directed", "undirected", "both ways"], p=[0.35, 0.4, 0.25])
    if way != "directed":
        present |= present.T
    if rng.random() < 0.2 and n:  # parts without edges between them
        half = rng.random(n) < 0.5
        present &= half[:, None] == half[None, :]
    kind = str(rng.choice(WEIGHTS))
    values = {
        "one": lambda: np.ones((n, n)), "small": lambda: rng.integers(1, 5, (n, n)),
        "zeros": lambda: rng.integers(0, 3, (n, n)), "negative": lambda: rng.integers(-2, 6, (n, n)),
        "real": lambda: rng.integers(1, 64, (n, n)) / 16, "equal": lambda: np.full((n, n), 3),
    }[kind]()  # fmt: skip
    if way == "undirected":
        values = np.triu(values) + np.triu(values, 1).T
    return Drawn(seed, present, values, kind, str(rng.choice(TYPES[kind])))
