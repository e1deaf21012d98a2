"""Every algorithm on several ranks against the same on one process; ranges are uneven (support/ranks.py)."""

import dataclasses
import inspect
import math

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import algorithms
from support.ranks import on_ranks
from support.seeds import generator

N = 90
ACYCLIC = {"topological_sort", "topological_generations", "is_dag", "condensation"}
LABELS = np.arange(N) % 5
OPTIONS = {
    "bfs": {"source": 0}, "sssp": {"source": 0}, "bfs_multi": {"sources": [0, 5, 9]},
    "ancestors": {"source": 3}, "descendants": {"source": 3}, "has_path": {"source": 0, "target": 7},
    "shortest_path": {"source": 0, "target": 7}, "shortest_path_length": {"source": 0, "target": 7},
    "ego_graph": {"source": 0}, "k_core": {"k": 2}, "k_shell": {"k": 2}, "k_truss": {"k": 3},
    "modularity": {"labels": LABELS}, "partition_quality": {"labels": LABELS},
    "pagerank_multi": {"personalization": [0, 4]}, "random_walks": {"starts": [0, 1, 2], "length": 4, "seed": 1},
    "betweenness": {"k": 5, "seed": 3}, "louvain": {"seed": 1}, "leiden": {"seed": 1},
}  # fmt: skip
# Any of several results is right: checked by what they are, in tests/algorithms.
ANY_RIGHT = {"bipartite_matching": "count", "random_walks": "n", "shortest_path": None}
LEFT_OUT = {"as_graph"}  # no computation


def functions():
    return [name for name in algorithms.__all__ if inspect.isfunction(getattr(algorithms, name))]


def graph(acyclic):
    rng = generator("algorithms on ranks", acyclic)
    rows, cols = rng.integers(0, N, (2, 3 * N))
    kept = rows != cols
    low, high = np.minimum(rows[kept], cols[kept]), np.maximum(rows[kept], cols[kept])
    keys = np.unique(np.concatenate([low * N + high, np.arange(N - 1) * (N + 1) + 1]))  # and a path through all
    rows, cols = keys // N, keys % N
    if not acyclic:
        rows, cols = np.concatenate([rows, cols]), np.concatenate([cols, rows])
    weights = ((np.minimum(rows, cols) * 7 + np.maximum(rows, cols) * 13) % 9 + 1).astype(float)
    return rows, cols, weights


def plain(x):
    """The result as plain data; numbers of all ranks, the report left out."""
    if isinstance(x, gb.Matrix | gb.Vector):
        return [np.asarray(part).tolist() for part in x.to_coo()]
    if isinstance(x, gb.Scalar):
        return x.value
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, list | tuple):
        return [plain(one) for one in x]
    if dataclasses.is_dataclass(x):
        names = [field.name for field in dataclasses.fields(x)]
        return {name: plain(getattr(x, name)) for name in names if name not in ("report", "vertices")}
    if isinstance(x, algorithms.Graph):
        return plain(x.A)
    return x


def differ(x, y):
    if isinstance(x, dict):
        return x.keys() != y.keys() or any(differ(x[key], y[key]) for key in x)
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return len(x) != len(y) or any(map(differ, x, y))
    if isinstance(x, float | np.floating) and isinstance(y, float | np.floating):
        return not math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12) and not (math.isnan(x) and math.isnan(y))
    return x != y


@pytest.mark.parametrize("ranks", ["ranks3", pytest.param("ranks2", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [name for name in functions() if name not in LEFT_OUT])
def test_an_algorithm_on_ranks(name, ranks):
    rows, cols, weights = graph(name in ACYCLIC)

    def call():
        A = gb.Matrix.from_coo(rows, cols, weights, nrows=N, ncols=N)
        return plain(getattr(algorithms, name)(A, **OPTIONS.get(name, {})))

    want, found = call(), on_ranks(ranks, call, timeout=30)
    if name in ANY_RIGHT:
        key = ANY_RIGHT[name]
        assert all((one[key], want[key])[0] == want[key] if key else len(one) == len(want) for one in found)
    else:
        assert not differ(want, found[0]), f"{found[0]} for {want}"
    for one in found[1:]:
        assert not differ(found[0], one)
