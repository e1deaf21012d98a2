"""Small graphs as CSR stores: paths, stars, cliques, grids, random ones, with one value for all edges."""

import numpy as np

from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.storage import place
from grb_tile.storage.store import Compressed
from support import seeds


def graph_of(n, rows, cols, symmetric=True):
    """CSR store of the edges, without duplicates."""
    rows, cols = np.asarray(rows, np.int64), np.asarray(cols, np.int64)
    if symmetric:
        rows, cols = np.concatenate((rows, cols)), np.concatenate((cols, rows))
    keys = np.unique(rows * n + cols)
    rows, cols = keys // n, keys % n
    indptr = np.searchsorted(rows, np.arange(n + 1)).astype(np.int64)
    return Compressed(n, n, dtypes.BOOL, indptr, cols.astype(np.int32), np.ones(1, bool), True)


def transposed(A):
    return select.named("numpy").transpose(A)


def path(n):
    return graph_of(n, np.arange(n - 1), np.arange(1, n))


def star(n):
    return graph_of(n, np.zeros(n - 1), np.arange(1, n))


def clique(n):
    return graph_of(n, *np.nonzero(~np.eye(n, dtype=bool)))


def random_graph(n, edges, salt, symmetric=True):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])
    return graph_of(n, rng.integers(0, n, edges), rng.integers(0, n, edges), symmetric)


def power_law(n, edges, salt):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])
    return graph_of(n, n * rng.random(edges) ** 4, n * rng.random(edges) ** 2)


def grid(width, height):
    at = np.arange(width * height).reshape(height, width)
    return graph_of(
        width * height,
        np.concatenate((at[:, :-1].ravel(), at[:-1].ravel())),
        np.concatenate((at[:, 1:].ravel(), at[1:].ravel())),
    )


GRAPHS = {
    "one vertex": lambda: graph_of(1, [], []),
    "no edges": lambda: graph_of(70, [], []),
    "self loops": lambda: graph_of(5, [0, 0, 1, 1, 2], [0, 1, 1, 2, 2]),
    "path": lambda: path(90),
    "star": lambda: star(700),
    "clique": lambda: clique(40),
    "sparse": lambda: random_graph(400, 420, 1),
    "random": lambda: random_graph(500, 3000, 2),
    "power law": lambda: power_law(900, 6000, 3),
    "grid": lambda: grid(20, 17),
}


def dense(store, n):
    """values by place, -1 where absent, and how many are present."""
    store = place.host(store)
    if store.format == "sparse":
        out = np.full(n, -1, np.int64)
        out[store.indices] = store.values
        return out, store.nvals
    if store.words is None:
        return store.values.astype(np.int64), n
    there = np.unpackbits(store.words.view(np.uint8), bitorder="little")[:n].astype(bool)
    assert there.sum() == store.nvals
    assert not np.unpackbits(store.words.view(np.uint8), bitorder="little")[n:].any()
    return np.where(there, store.values, -1), store.nvals
