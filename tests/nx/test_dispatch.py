"""How NetworkX finds the backend, what it asks before a call, and that an unchanged script runs on it."""

import inspect
import logging
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from networkx.utils.backends import _registered_algorithms

from grb_tile.nx import adjacency, info
from grb_tile.nx.interface import backend
from grb_tile.nx.registry import FUNCTIONS

from . import installed


def test_the_list_of_functions_is_the_code():
    assert info.get_info()["functions"].keys() == FUNCTIONS.keys()
    assert list(info.FUNCTIONS) == sorted(FUNCTIONS)


WRITTEN_HERE = [name for name, function in FUNCTIONS.items() if "args" not in function.signature.parameters]


@pytest.mark.parametrize("name", WRITTEN_HERE)
def test_signatures_are_those_of_networkx(name):
    if name not in _registered_algorithms:
        pytest.skip(f"NetworkX {nx.__version__} does not dispatch {name}")
    theirs = inspect.signature(_registered_algorithms[name].orig_func).parameters.values()
    ours = FUNCTIONS[name].signature.parameters.values()
    assert [(p.name, p.kind, p.default) for p in ours] == [(p.name, p.kind, p.default) for p in theirs]


def test_networkx_has_each_function():
    unknown = [name for name in FUNCTIONS if name not in _registered_algorithms or not hasattr(backend, name)]
    assert not unknown, unknown


def run(program, folder, **variables):
    done = subprocess.run(
        [sys.executable, "-c", program], env=installed.environment(folder, **variables), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_networkx_does_not_import_grb_tile(tmp_path):
    program = "import networkx, sys; print('grb_tile' in networkx.utils.backends.backends, 'grb_tile' in sys.modules)"
    assert run(program, tmp_path) == ["True", "False"]


SCRIPT = """
import networkx as nx
import numpy as np
G = nx.gnp_random_graph(200, 0.1, seed=1)
ranks = nx.pagerank(G)
print(max(ranks, key=ranks.get), nx.number_connected_components(G), sum(nx.triangles(G).values()))
print(len(nx.single_source_shortest_path_length(G, 0)), round(nx.transitivity(G), 9), nx.diameter(G))
"""


def test_an_unchanged_script(tmp_path):
    """Every line of the script runs on the backend, or in NetworkX where the backend has no such function."""
    plain = run(SCRIPT, tmp_path / "plain")
    seen = "import sys; print('grb_tile.nx.interface' in sys.modules)"
    ours = run(SCRIPT + seen, tmp_path / "ours", NETWORKX_BACKEND_PRIORITY="grb_tile")
    assert ours == [*plain, "True"]


def test_an_unchanged_script_on_another_backend(tmp_path):
    """Two variables: what NetworkX calls, and where that computes."""
    variables = {"NETWORKX_BACKEND_PRIORITY": "grb_tile", "GRB_TILE_BACKEND": "numpy"}
    seen = "from grb_tile.backends import select; print(select.current().name)"
    assert run(SCRIPT + seen, tmp_path, **variables) == [*run(SCRIPT, tmp_path / "plain"), "numpy"]


def test_configured_priority_reaches_the_backend(caplog):
    G = nx.gnp_random_graph(100, 0.3, seed=2)
    with caplog.at_level(logging.DEBUG, logger="networkx"), nx.config.backend_priority(algos=["grb_tile"]):
        ranks = nx.pagerank(G)
    assert any("Using backend 'grb_tile' for call to 'pagerank'" in record.message for record in caplog.records)
    assert ranks == pytest.approx(nx.pagerank(G), abs=1e-6)


def test_small_graphs_stay_in_networkx_unless_asked(caplog):
    G = nx.path_graph(10)
    with caplog.at_level(logging.DEBUG, logger="networkx"), nx.config.backend_priority(algos=["grb_tile"]):
        nx.triangles(G)
        assert any("fewer than nx.config.backends.grb_tile.min_edges = 1000" in r.message for r in caplog.records)
        caplog.clear()
        with nx.config.backends.grb_tile(min_edges=0):
            nx.triangles(G)
        assert any("Using backend 'grb_tile'" in record.message for record in caplog.records)


def test_a_graph_given_by_its_name_is_looked_at_as_one_that_is_given_first():
    """should_run and can_run of every function: small, large and converted graphs, and what cannot be computed."""
    small, large = nx.path_graph(3), nx.gnp_random_graph(60, 0.5, seed=1)
    parallel = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    answers = set()
    for name, function in FUNCTIONS.items():
        (first, *others) = function.signature.parameters.values()
        if first.name != "G" or any(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in others):
            continue
        for G in (small, large, parallel):
            for weight in ({}, {"weight": "weight"} if "weight" in function.signature.parameters else {}):
                by_name, first = {"G": G, **weight}, ((G,), weight)
                assert backend.should_run(name, (), by_name) == backend.should_run(name, *first), name
                assert backend.can_run(name, (), by_name) == backend.can_run(name, *first), name
                answers.add(str(backend.should_run(name, *first)))
    assert len(answers) > 2


def test_a_graph_of_exactly_the_least_number_of_adjacencies_is_converted():
    G = nx.path_graph(30)
    with nx.config.backends.grb_tile(min_edges=2 * G.number_of_edges()):
        assert backend.should_run("triangles", (G,), {}) is True
    with nx.config.backends.grb_tile(min_edges=2 * G.number_of_edges() + 1):
        assert "58 adjacencies, fewer than" in backend.should_run("triangles", (G,), {})


def test_what_networkx_answers_sooner_needs_a_converted_graph():
    G = nx.gnp_random_graph(100, 0.3, seed=2)
    assert "less time than a conversion" in backend.should_run("degree_centrality", (G,), {})
    nx.triangles(G, backend="grb_tile")
    assert backend.should_run("degree_centrality", (G,), {}) is True


@pytest.mark.parametrize(
    ("name", "arguments", "sooner"),
    [
        ("shortest_path", (0, 5), True),
        ("shortest_path", (0, 5, "weight"), True),
        ("shortest_path", (0, 5, "weight", "bellman-ford"), False),
        ("shortest_path", (0,), False),
        ("shortest_path_length", (0, 5), True),
        ("shortest_path_length", (0, 5, "weight"), True),
        ("shortest_path_length", (0, 5, "weight", "bellman-ford"), False),
        ("dijkstra_path", (0, 5), True),
        ("single_source_dijkstra_path_length", (0,), False),
        ("has_path", (0, 5), True),
        ("jaccard_coefficient", ([(0, 1)] * 40,), True),
        ("jaccard_coefficient", ([(0, 1)] * 60,), False),
        ("jaccard_coefficient", (iter([(0, 1)]),), False),
        ("jaccard_coefficient", (), False),
        ("clustering", (3,), True),
        ("clustering", ([3, 4],), False),
        ("clustering", (), False),
    ],
)
def test_what_looks_at_few_nodes_needs_a_converted_graph(name, arguments, sooner):
    G = nx.gnp_random_graph(150, 0.2, seed=2)
    answer = backend.should_run(name, (G, *arguments), {})
    assert (answer is not True and "less time than a conversion" in answer) if sooner else answer is True
    nx.triangles(G, backend="grb_tile")
    assert backend.should_run(name, (G, *arguments), {}) is True


def two_parts(kind=nx.Graph):
    """A complete graph of 60 nodes, and apart from it a cycle of five."""
    G = kind(nx.disjoint_union(nx.complete_graph(60), nx.cycle_graph(5)))
    nx.set_edge_attributes(G, 2, "weight")
    return G


@pytest.mark.parametrize(
    ("name", "arguments", "few", "many"),
    [
        ("bfs_edges", (), 60, 0),
        ("bfs_layers", (), 60, 0),
        ("descendants", (), 60, 0),
        ("ancestors", (), 60, 0),
        ("node_connected_component", (), 60, 0),
        ("shortest_path", (), 60, 0),
        ("shortest_path_length", (), 60, 0),
        ("single_source_shortest_path_length", (0,), 0, None),
        ("single_source_shortest_path_length", (3,), 60, 0),
        ("single_target_shortest_path", (3,), 60, 0),
        ("multi_source_dijkstra", (), [60, 61], [0, 61]),
        ("single_source_dijkstra_path", (1.5,), 60, None),  # the edges have length 2
        ("single_source_dijkstra_path", (2,), 60, 0),
        ("single_source_bellman_ford", (), 60, 0),
    ],
)
def test_a_search_that_reaches_few_nodes_is_left_to_networkx(name, arguments, few, many):
    for kind in (nx.Graph, nx.DiGraph) if name != "node_connected_component" else (nx.Graph,):
        G = two_parts(kind)
        place = (None,) if name.startswith("multi") else ()  # the target
        options = {"cutoff": arguments[0]} if arguments else {}
        assert backend.should_run(name, (G, few, *place), options) is not True
        if many is not None:
            assert backend.should_run(name, (G, many, *place), options) is True


def test_searches_of_few_nodes_add_up_to_a_conversion():
    G = two_parts()
    answers = [backend.should_run("bfs_edges", (G, 60), {}) for _ in range(40)]
    first = answers.index(True)
    assert first == 4 * len(G) // 10  # of a cycle of five nodes a search looks at 10 neighbours
    assert all(answer is True for answer in answers[first:])
    G.remove_edge(0, 1)
    assert backend.should_run("bfs_edges", (G, 60), {}) is not True
    assert backend.should_run("bfs_edges", (G, "no node"), {}) is not True
    answers = [backend.should_run("dijkstra_path", (two_parts(), 0, 5), {}) for _ in range(2)]
    assert True not in answers


def test_a_refusal_says_why():
    G = nx.path_graph(3)
    reason = backend.can_run("bfs_edges", (G, 0), {"sort_neighbors": sorted})
    assert reason == "sort_neighbors is a function of the caller"
    # NetworkX gives all arguments positionally
    assert backend.can_run("bfs_edges", (G, 0, False, None, sorted), {}) == reason
    assert backend.can_run("bfs_edges", (G, 0, False, None, None), {}) is True
    assert "not those of NetworkX" in backend.can_run("bfs_edges", (G,), {"other": 1})
    with pytest.raises(NotImplementedError, match="grb_tile"):
        nx.bfs_edges(G, 0, sort_neighbors=sorted, backend="grb_tile")


def test_values_that_are_no_numbers_go_to_networkx():
    from fractions import Fraction

    G = nx.path_graph(3)
    nx.set_edge_attributes(G, Fraction(1, 3), "weight")
    with nx.config.backends.grb_tile(min_edges=0), nx.config.backend_priority(algos=["grb_tile"]):
        assert nx.single_source_dijkstra_path_length(G, 0) == {0: 0, 1: Fraction(1, 3), 2: Fraction(2, 3)}
    with pytest.raises(NotImplementedError, match="real numbers"):
        backend.single_source_dijkstra_path_length(G, 0)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_sums_of_weights_fit_or_go_to_networkx(kind):
    """Sums of all entries, of which an undirected edge has two, are exact in 64 bits, or the call is NetworkX's."""
    copies = 1 if kind is nx.DiGraph else 2
    for most, fits in ((2**63 // copies - 2**14, True), (2**63 // copies, False), (2**63 // copies + 2**14, False)):
        for weights in ([most], [most - 7, 7], [-most], [most // 2, -(most - most // 2)]):
            G = kind([(k, k + 1, {"weight": weight}) for k, weight in enumerate(weights)])
            if fits:
                A = adjacency.graph(G, "weight").A
                wanted = nx.to_numpy_array(G, dtype=object, nonedge=None)
                assert {(i, j): x for i, j, x in zip(*A.to_coo(), strict=True)} == {
                    (i, j): x for (i, j), x in np.ndenumerate(wanted) if x is not None
                }
                assert int(A.reduce_scalar("plus").new()) == copies * sum(weights)
            else:
                with pytest.raises(NotImplementedError, match="64 bits"):
                    adjacency.graph(G, "weight")
