"""Random graphs x every option of every algorithm, against NetworkX, SciPy and plain loops; seeds are in messages.

An algorithm is asked of a Matrix, of a Graph that was asked with other options before, and of a Graph whose matrix was
written and that was told so.  GRB_TILE_OPTION_DRAWS is the number of draws of each algorithm (20; the slow run 400).
"""

import dataclasses
import inspect
import math
import os

import numpy as np
import option_oracles
import option_oracles_of_scores
import pytest
from option_expectations import Check, Refusal
from option_graphs import draw

import grb_tile as gb
from grb_tile import algorithms
from grb_tile.algorithms import Graph
from support import seeds

DRAWS = int(os.environ.get("GRB_TILE_OPTION_DRAWS", 0))


def functions():
    return {
        name: function for name in algorithms.__all__
        if inspect.isfunction(function := getattr(algorithms, name))
    }  # fmt: skip


def vertex(d, rng):
    return int(rng.integers(d.n)) if d.n else None


def vertices(d, rng):
    return rng.integers(0, d.n, int(rng.integers(1, 5))).tolist() if d.n else []


def distinct(d, rng):
    return rng.permutation(d.n)[: int(rng.integers(0, d.n + 1))].tolist()


def some(*values):
    return lambda d, rng: values[rng.integers(len(values))]


def either(value, function):
    return lambda d, rng: value if rng.random() < 0.5 else function(d, rng)


def weights_of_vertices(d, rng):
    if not d.n:
        return None
    chosen = rng.integers(0, 3, d.n)
    chosen[rng.integers(d.n)] = 2
    return {i: int(x) for i, x in enumerate(chosen) if x}


def an_order(d, rng):
    """A permutation, or now and then one with an index twice or out of range."""
    order = rng.permutation(d.n).tolist()
    if order and rng.random() < 0.3:
        order[int(rng.integers(d.n))] = int(rng.integers(-1, d.n + 1))
    return order


def pairs(d, rng):
    return rng.integers(0, d.n, (int(rng.integers(1, 6)), 2)).tolist() if d.n else []


A_VERTEX, VERTICES = "source target".split(), "sources nodes ignore order pairs".split()
BOTH = some(False, True)
NOT_DRAWN = {"G", "callback", "memory", "batch", "strict"}  # no choice of the result; tests of their own
WEIGHTED = {"weighted": BOTH}
PAIRS = {"pairs": pairs, "topk": some(None)}
LOCAL = {"resolution": some(1.0, 0.5, 2.0), "seed": some(0, 1, 2), "max_level": some(None, 1), "tol": some(1e-7),
         "weighted": BOTH}  # fmt: skip
OPTIONS = {  # algorithm: option: what draws a value
    "bfs": {"source": vertex, "levels": some(True), "parents": BOTH, "max_level": some(None, None, 0, 1, 2),
            "target": either(None, vertex)},
    "bfs_multi": {"sources": vertices, "levels": some(True), "parents": BOTH, "max_level": some(None, 1)},
    "sssp": {"source": vertex, "method": some("auto", "delta", "bellman_ford"), "delta": some(None),
             "predecessors": BOTH, "target": either(None, vertex)},
    "apsp": {"sources": either(None, vertices), "weighted": BOTH, "method": some("auto")},
    "eccentricity": {"sources": either(None, vertices), "weighted": BOTH},
    "diameter": {"method": some("exact"), "weighted": BOTH}, "radius": WEIGHTED,
    "closeness": {"sources": either(None, vertices), "wf_improved": BOTH, "weighted": BOTH},
    "harmonic": {"sources": either(None, vertices), "weighted": BOTH},
    "has_path": {"source": vertex, "target": vertex},
    "shortest_path": {"source": vertex, "target": vertex, "weighted": BOTH},
    "shortest_path_length": {"source": vertex, "target": either(None, vertex), "weighted": BOTH},
    "descendants": {"source": vertex}, "ancestors": {"source": vertex},
    "ego_graph": {"source": vertex, "radius": some(0, 1, 2), "undirected": BOTH},
    "betweenness": {"k": some(None), "sources": some(None), "normalized": BOTH, "endpoints": BOTH, "weighted": BOTH,
                    "seed": some(None)},
    "edge_betweenness": {"k": some(None), "sources": some(None), "normalized": BOTH, "weighted": BOTH,
                         "seed": some(None)},
    "degree": WEIGHTED, "in_degree": WEIGHTED, "out_degree": WEIGHTED, "degree_centrality": {},
    "in_degree_centrality": {}, "out_degree_centrality": {}, "density": {}, "isolates": {}, "overall_reciprocity": {},
    "clustering": {"nodes": either(None, distinct), "weighted": BOTH, "mode": some("auto", "directed", "undirected")},
    "average_clustering": {"nodes": either(None, distinct), "weighted": BOTH, "count_zeros": BOTH,
                           "mode": some("auto", "directed", "undirected")},
    "square_clustering": {"nodes": either(None, distinct)}, "transitivity": {},
    "triangles": {"nodes": either(None, distinct)}, "triangle_count": {"presort": some("auto", True, False)},
    "connected_components": {"method": some("auto")}, "strongly_connected_components": {}, "core_number": {},
    "k_core": {"k": some(None, 0, 1, 2)}, "k_shell": {"k": some(None, 0, 1, 2)}, "k_truss": {"k": some(3, 4)},
    "is_dag": {}, "topological_sort": {}, "topological_generations": {}, "condensation": {"labels": some(None)},
    "coloring": {"method": some("jp_ldf", "jp_random"), "order": either(None, an_order), "seed": some(0, 1)},
    "maximal_independent_set": {"seed": some(0, 1), "ignore": either(None, distinct)},
    "minimum_spanning_forest": {"maximum": BOTH}, "bipartite_matching": {"B": some(None)}, "rcm": {},
    "louvain": LOCAL, "leiden": LOCAL, "label_propagation": {"max_iter": some(0, 1, 2, 10)},
    "modularity": {"labels": lambda d, rng: rng.integers(0, 3, d.n).tolist(), "resolution": some(1.0, 0.5),
                   "weighted": BOTH},
    "pagerank": {"method": some("standard"), "alpha": some(0.85, 0.5), "weighted": BOTH,
                 "personalization": either(None, weights_of_vertices), "dangling": either(None, weights_of_vertices),
                 "nstart": some(None), "tol": some(1e-12), "max_iter": some(1000), "dtype": some("FP64")},
    "common_neighbors": PAIRS, "jaccard": PAIRS, "cosine": PAIRS, "overlap": PAIRS, "sorensen": PAIRS,
}  # fmt: skip
ELSEWHERE = {  # algorithm: where its options are drawn, or why none is
    "as_graph": "makes a Graph: test_graph.py", "degree_ordered": "an order: test_degrees.py",
    "hello": "a template: test_hello.py", "eigenvector": "test_eigenvector_katz_hits.py", "katz": "the same",
    "hits": "the same", "mcl": "test_markov_clustering.py", "pagerank_multi": "test_pagerank_multi.py",
    "partition_quality": "test_communities.py", "random_walks": "test_random_walks.py",
    "reciprocity": "test_degrees.py", "adamic_adar": "test_similarity.py", "resource_allocation": "test_similarity.py",
}  # fmt: skip


def test_every_algorithm_and_option_is_drawn():
    found = functions()
    without = sorted(set(found) - set(OPTIONS) - set(ELSEWHERE))
    assert not without, f"no row of OPTIONS and no reason in ELSEWHERE: {without}"
    assert not (set(OPTIONS) | set(ELSEWHERE)) - set(found), "listed, and there is none"
    for name, options in OPTIONS.items():
        wanted = set(inspect.signature(found[name]).parameters) - NOT_DRAWN
        assert wanted == set(options), f"{name}: drawn {sorted(options)}, the algorithm has {sorted(wanted)}"


def canonical(x):
    if hasattr(x, "to_coo") and getattr(x, "ndim", 0) == 2:
        rows, columns, values = (part.tolist() for part in x.to_coo())
        return dict(zip(zip(rows, columns, strict=True), values, strict=True))
    if hasattr(x, "to_dict"):
        return x.to_dict()
    return x


def close(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and set(a) == set(b) and all(close(a[k], b[k]) for k in a)
    return a == b or math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9) or (a != a and b != b)


def verify(name, d, options, G):
    """The algorithm's result of G agrees with the oracle's; None where the oracle has no opinion."""
    oracle = getattr(option_oracles, name, None) or getattr(option_oracles_of_scores, name)
    given = {key: value for key, value in options.items() if key in inspect.signature(oracle).parameters}
    wanted = oracle(d, **given)
    if wanted is None:
        return False
    asked = {key: value for key, value in options.items() if key != "B"}
    errors = wanted.errors if isinstance(wanted, Refusal) else ()
    try:
        found = getattr(algorithms, name)(G, **asked)
    except errors:
        return True
    assert not errors, f"expected {errors}, got {canonical(found)}"
    if isinstance(wanted, Check):
        wanted.function(found)
    else:
        assert close(wanted, canonical(found)), f"expected {wanted}, got {canonical(found)}"
    return True


def run(name, count, dtype=None):
    """dtype: of all graphs instead of the one that each has drawn."""
    judged = 0
    for k in range(count):
        seed = seeds.SEED * 100_000 + k
        d, rng = draw(seed), np.random.default_rng([seed, 1])
        d = dataclasses.replace(d, dtype=dtype or d.dtype)
        options = [{key: make(d, rng) for key, make in OPTIONS[name].items()} for _ in range(3)]
        if not d.n and any(key in OPTIONS[name] for key in ("source", "sources", "target", "personalization", "pairs")):
            continue
        if d.dtype == "BOOL" and "weighted" in options[0]:
            options = [{**each, "weighted": False} for each in options]
        if name == "bipartite_matching":
            judged += verify(name, d, options[0], d.A)
            continue
        G = Graph(d.A)
        flipped = dataclasses.replace(d, present=d.present.T, weights=d.weights.T)
        stale = Graph(flipped.A)  # written after it was asked, and told so
        for turn, each in enumerate(options):
            where = f"{name}({', '.join(f'{key}={value!r}' for key, value in each.items())}) of {d}"
            try:
                judged += verify(name, d, each, G if turn else d.A)
                if turn == 1:
                    stale.directed
                    stale.A << d.A
                    stale = Graph(stale.A)
                    verify(name, d, each, stale)
            except AssertionError as error:
                raise AssertionError(f"{where}\n{error}") from error
            except Exception as error:
                raise AssertionError(f"{where}\nraised {type(error).__name__}: {error}") from error
    assert judged >= count // 4, f"{name}: {judged} of {count} draws were judged"


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    run(name, DRAWS or 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_options_of_many_draws(name):
    run(name, DRAWS or 400)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_options_without_compiled_code(name):
    with gb.plan(force="numpy"):
        run(name, DRAWS or 100)


ONE_OR_MORE = [(name, key) for name, options in OPTIONS.items() for key in options if key in (*A_VERTEX, *VERTICES)]


@pytest.mark.parametrize("name, key", ONE_OR_MORE)
def test_vertices_out_of_range_are_refused(name, key):
    """-1 is no vertex, from the end or otherwise, and neither is n."""
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    others = {"source": 0, "target": 1, "sources": [0]}
    needed = {
        each: others[each] for each, parameter in inspect.signature(getattr(algorithms, name)).parameters.items()
        if each in others and parameter.default is inspect.Parameter.empty
    }  # fmt: skip
    for wrong in (-1, 3, -3):
        value = wrong if key in A_VERTEX else [wrong, 1, 2]
        value = [(0, 1), (wrong, 1)] if key == "pairs" else value
        for given in (value, value if key in (*A_VERTEX, "pairs") else np.array(value)):
            with pytest.raises((IndexError, ValueError)):
                getattr(algorithms, name)(A, **{**needed, key: given})
