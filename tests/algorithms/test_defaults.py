"""What options of the algorithms mean that are left out: a part of the interface, as their names are."""

import inspect

import pytest
from samples import karate

import grb_tile as gb
from grb_tile import algorithms

NODES, PAIRS, WEIGHTED = {"nodes": None}, {"pairs": None, "topk": None}, {"weighted": False}
BATCHES = {"sources": None, "weighted": False, "batch": 256}
COMMUNITIES = {"resolution": 1.0, "seed": 0, "max_level": None, "tol": 1e-07, "weighted": True}
SAMPLED = {"k": None, "sources": None, "batch": 64, "normalized": True, "weighted": False, "seed": None}
DEFAULTS = {
    **dict.fromkeys("adamic_adar common_neighbors cosine jaccard overlap resource_allocation sorensen".split(), PAIRS),
    **dict.fromkeys("degree in_degree out_degree radius shortest_path".split(), WEIGHTED),
    **dict.fromkeys("louvain leiden".split(), COMMUNITIES),
    **dict.fromkeys("k_core k_shell".split(), {"k": None}),
    "apsp": {"sources": None, "weighted": False, "method": "auto", "memory": 4e9},
    "average_clustering": {"nodes": None, "weighted": False, "count_zeros": True, "mode": "auto"},
    "betweenness": SAMPLED | {"endpoints": False},
    "bfs": {"levels": True, "parents": False, "max_level": None, "target": None},
    "bfs_multi": {"levels": True, "parents": False, "max_level": None},
    "closeness": BATCHES | {"wf_improved": True},
    "clustering": {"nodes": None, "weighted": False, "mode": "auto"},
    "coloring": {"method": "jp_ldf", "order": None, "seed": 0},
    "condensation": {"labels": None},
    "connected_components": {"method": "auto"},
    "diameter": {"method": "exact", "weighted": False},
    "eccentricity": {"sources": None, "weighted": False},
    "edge_betweenness": SAMPLED,
    "ego_graph": {"radius": 1, "undirected": False},
    "eigenvector": {"max_iter": 100, "tol": 1e-06, "nstart": None, "weighted": False, "strict": True},
    "harmonic": BATCHES,
    "hello": {"steps": 2},
    "hits": {"max_iter": 100, "tol": 1e-08, "nstart": None, "normalized": True, "weighted": False, "strict": True},
    "katz": {
        "alpha": 0.1, "beta": 1.0, "max_iter": 1000, "tol": 1e-06, "nstart": None, "normalized": True,
        "weighted": False, "strict": True,
    },
    "label_propagation": {"max_iter": 10},
    "maximal_independent_set": {"seed": 0, "ignore": None},
    "mcl": {
        "expansion": 2, "inflation": 2.0, "prune": 0.0001, "loops": 1.0, "weighted": False, "tol": 1e-06,
        "max_iter": 100, "strict": True,
    },
    "minimum_spanning_forest": {"maximum": False},
    "modularity": {"resolution": 1.0, "weighted": True},
    "pagerank": {
        "method": "standard", "alpha": 0.85, "personalization": None, "dangling": None, "nstart": None,
        "weighted": False, "tol": None, "max_iter": 100, "dtype": None, "strict": True,
    },
    "pagerank_multi": {
        "alpha": 0.85, "dangling": None, "weighted": False, "tol": None, "max_iter": 100, "dtype": None, "batch": 64,
        "strict": True,
    },
    "random_walks": {"weighted": False, "p": 1.0, "q": 1.0, "restart": 0.0, "seed": None},
    "shortest_path_length": {"target": None, "weighted": False},
    "square_clustering": {"nodes": None, "batch": 256},
    "sssp": {"method": "auto", "delta": None, "predecessors": False, "target": None},
    "triangle_count": {"presort": "auto"},
    "triangles": NODES,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(n for n in algorithms.__all__ if inspect.isfunction(getattr(algorithms, n))))
def test_options_that_are_left_out(name):
    parameters = inspect.signature(getattr(algorithms, name)).parameters
    found = {key: p.default for key, p in parameters.items() if p.default is not p.empty}
    assert found.pop("callback", None) is None
    wanted = DEFAULTS.get(name, {})
    assert found == wanted and list(map(type, found.values())) == [type(wanted[key]) for key in found]


REQUIRED = {
    "ancestors": (3,), "bfs": (0,), "bfs_multi": ([0, 1],), "descendants": (0,), "ego_graph": (0,), "has_path": (0, 5),
    "k_truss": (3,), "modularity": ([0] * 34,), "pagerank_multi": ([0, 1],), "partition_quality": ([0] * 34,),
    "random_walks": ([0, 1], 4), "shortest_path": (0, 5), "shortest_path_length": (0,), "sssp": (0,),
}  # fmt: skip
FLAGS = [(name, key) for name, options in DEFAULTS.items() for key, value in options.items() if type(value) is bool]


@pytest.mark.parametrize("name, key", FLAGS)
def test_flags_are_true_or_false(name, key):
    function, arguments = getattr(algorithms, name), REQUIRED.get(name, ())
    for wrong in ("no", 1, None):
        with pytest.raises((TypeError, ValueError), match=key):
            function(karate(), *arguments, **{key: wrong})
    function(karate(), *arguments, **{key: DEFAULTS[name][key]})


def test_flags_of_whole_loops_are_true_or_false():
    A = karate()
    for name, more, keys in (
        ("sssp", (0,), ("symmetric", "predecessors")), ("bfs", (0,), ("symmetric", "levels", "parents")),
        ("components", (), ("symmetric",)), ("strong_components", (), ("symmetric",)),
        ("dependencies", ([0],), ("weighted", "endpoints")),
    ):  # fmt: skip
        for key in keys:
            for wrong in ("no", 1):
                with pytest.raises(TypeError, match=key):
                    getattr(gb.graph, name)(A, *more, **{key: wrong})
