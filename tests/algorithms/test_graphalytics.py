"""The reference outputs of LDBC Graphalytics: small graphs from tests/data, and p2p-Gnutella31 if available."""

import functools

import numpy as np
import pytest
from checkers import check_close, check_equivalent
from samples import UNREACHED, data_folder, graphalytics, graphalytics_names, p2p

from grb_tile.algorithms import Graph, bfs, clustering, connected_components, label_propagation, pagerank, sssp

LARGER = "p2p-31"


def graphs(algorithm, p2p_directed):
    """Names with an output of `algorithm`, and of the larger graph where the data folder is there."""
    reason = "needs p2p-31: set GRB_TILE_DATA to a folder that holds small/p2p-31"
    absent = [pytest.mark.skip(reason=reason)] if data_folder() is None else []
    larger = [pytest.param((LARGER, directed), id=f"{LARGER}-{directed}", marks=absent) for directed in p2p_directed]
    return [*graphalytics_names(algorithm), *larger]


@functools.cache
def load(name):
    return p2p(name[1]) if isinstance(name, tuple) else graphalytics(name)


@functools.cache
def load_graph(name):
    return Graph(load(name).A, load(name).directed)


def test_the_reference_files_are_there():
    assert len(graphalytics_names("BFS")) == len(graphalytics_names("PR")) == len(graphalytics_names("SSSP")) == 4
    assert len(graphalytics_names("WCC")) == len(graphalytics_names("CDLP")) == 4
    assert len(graphalytics_names("LCC")) == 4


@pytest.mark.parametrize("name", graphs("BFS", [False, True]))
def test_bfs(name):
    reference, G = load(name), load_graph(name)
    levels = bfs(G, reference.source("bfs")).levels
    assert levels.to_dense(UNREACHED).tolist() == reference.output("BFS", int).tolist()


@pytest.mark.parametrize("name", graphs("SSSP", [False, True]))
@pytest.mark.parametrize("method", ["delta", "bellman_ford"])
def test_sssp(name, method):
    reference, G = load(name), load_graph(name)
    distances = sssp(G, reference.source("sssp"), method=method).distances
    check_close(distances.to_dense(np.inf).tolist(), reference.output("SSSP", float).tolist())


@pytest.mark.parametrize("name", graphs("PR", [False]))
def test_pagerank(name):
    reference, G = load(name), load_graph(name)
    alpha = float(reference.parameters["pr.damping-factor"])
    iterations = int(reference.parameters["pr.num-iterations"])
    ranks = pagerank(G, method="ldbc", alpha=alpha, max_iter=iterations).ranks
    check_close(ranks.to_dense().tolist(), reference.output("PR", float).tolist())


@pytest.mark.parametrize("name", graphs("WCC", [False]))
def test_wcc(name):
    reference, G = load(name), load_graph(name)
    labels = connected_components(G).labels
    check_equivalent(labels.to_dense().tolist(), reference.output("WCC", int).tolist())


@pytest.mark.parametrize("name", graphs("LCC", [False]))
def test_lcc(name):
    reference, G = load(name), load_graph(name)
    found = clustering(G, mode="ldbc")
    check_close(found.to_numpy().tolist(), reference.output("LCC", float).tolist())


@pytest.mark.parametrize("name", graphs("CDLP", [False]))
def test_cdlp(name):
    reference, G = load(name), load_graph(name)
    assert reference.nodes == sorted(reference.nodes), "the least number is the least label"
    labels = label_propagation(G, max_iter=int(reference.parameters["cdlp.max-iterations"]))
    found = [reference.nodes[label] for label in labels.to_numpy()]
    assert found == reference.output("CDLP", int).tolist()
