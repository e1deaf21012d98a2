"""`grb-tile gap`: the trials of the GAP suite, and verifiers that find wrong results."""

import json
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from grb_tile import algorithms, generators
from grb_tile.cli import gap, gap_verify
from grb_tile.cli.bench_verify import WrongResult
from grb_tile.cli.main import BAD_INPUT, INTERNAL, OK
from support import seeds

triangles = sys.modules["grb_tile.algorithms.triangles"]  # algorithms.triangles is the function
KARATE = Path(__file__).resolve().parents[2] / "examples" / "data" / "karate.txt"


@pytest.mark.parametrize(
    "graph", [["--generate", "kron:7:6"], ["--generate", "grid:5"], [KARATE, "--directed"], [KARATE, "--undirected"]]
)
def test_every_kernel_runs_and_is_verified(run, graph):
    code, out, err = run("gap", *graph, "--trials", 2, "--json", "--quiet")
    assert code == OK and err == ""
    rows = json.loads(out)["kernels"]
    assert [row["kernel"] for row in rows] == list(gap.KERNELS)
    assert all(row["trials"] == 2 and row["verified"] and 0 < row["least"] <= row["ms"] for row in rows)


def test_the_table_and_gaps_trials(run):
    code, out, err = run("gap", "--generate", "uniform:5:3", "--kernels", "bfs,tc", "--quiet")
    head, bfs, tc = (line.split() for line in out.splitlines()[-3:])
    assert code == OK and head == ["kernel", "trials", "ms", "median", "least"]
    assert bfs[:2] == ["bfs", "64"] and tc[:2] == ["tc", "3"]


def test_each_trial_of_tc_renumbers_by_degree(run, monkeypatch):
    calls, ordered = [], triangles.degree_ordered
    monkeypatch.setattr(triangles, "degree_ordered", lambda G: calls.append(G) or ordered(G))
    monkeypatch.setattr(triangles, "_degrees_differ", lambda G: True)
    assert run("gap", KARATE, "--undirected", "--kernels", "tc", "--trials", 3, "--no-verify")[0] == OK
    assert len(calls) == 3 + 1  # the first call compiles and is not timed


def test_weights_of_a_file_are_used_if_they_are_gaps(run, tmp_path):
    path = tmp_path / "weighted.txt"
    path.write_text("0 1 3\n1 2 4\n0 2 9\n")
    assert run("gap", path, "--kernels", "sssp", "--trials", 1, "--quiet")[0] == OK
    path.write_text("0 1 3\n1 2 0\n0 2 9\n")
    code, _, err = run("gap", path, "--kernels", "sssp", "--trials", 1, "--quiet")
    assert code == BAD_INPUT and "INT64 from 0 to 9" in err and "--weights unit" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "name one graph"),
        ([KARATE, "--generate", "kron:5"], "name one graph"),
        (["--generate", "fem:3"], "no graph of GAP"),
        ([KARATE, "--kernels", "bfs,dfs"], "--kernels dfs"),
        ([KARATE, "--trials", "0"], "--trials 0"),
        ([KARATE, "--seed", "-1"], "--seed -1"),
    ],
)
def test_bad_options_are_named(run, options, says):
    code, out, err = run("gap", *options)
    assert code == BAD_INPUT and says in err and out == ""


def test_a_wrong_result_ends_the_run(run, monkeypatch):
    monkeypatch.setattr(algorithms, "triangle_count", lambda G: 44)
    code, _, err = run("gap", KARATE, "--undirected", "--kernels", "tc", "--trials", 1)
    assert code == INTERNAL and "tc: 44 triangles, expected 45" in err
    assert run("gap", KARATE, "--undirected", "--kernels", "tc", "--trials", 1, "--no-verify")[0] == OK


# ---------------------------------------------------------------------- verifiers


@pytest.fixture(scope="module", params=["kronecker", "directed"])
def made(request):
    directed = request.param == "directed"
    A = generators.kronecker(6, 4, directed=directed, weights=(1, 9), seed=seeds.SEED)
    return A, gap_verify.Edges(A), int(np.argmax(np.bincount(A.to_coo()[0])))


def check(verify, right, wrong):
    verify(right)
    for values in wrong:
        with pytest.raises(WrongResult):
            verify(values)


def changed(values, places):
    out = np.array(values)
    for place, value in places.items():
        out[place] = value
    return out


def test_parents(made):
    A, edges, source = made
    parents = algorithms.bfs(A, source, parents=True).parents.to_dense(-1)
    levels = gap_verify.levels_from(edges, source)
    deep = int(np.argmax(levels))
    far = next(v for v in np.flatnonzero(levels == levels[deep] - 1) if A.get(v, deep) is None) if deep != source else 0
    lost = int(np.argmin(levels))
    assert levels[lost] == -1, "the seed's graph has a vertex that cannot be reached"
    wrong = [{source: -1}, {deep: -1}, {deep: deep}, {deep: far}, {lost: source}]
    check(lambda found: gap_verify.bfs(edges, source, found), parents, [changed(parents, places) for places in wrong])


def test_levels_are_networkxs(made):
    A, edges, source = made
    N = nx.from_scipy_sparse_array(edges.scipy(), create_using=nx.DiGraph)
    expected = nx.single_source_shortest_path_length(N, source)
    assert {v: level for v, level in enumerate(gap_verify.levels_from(edges, source)) if level >= 0} == expected


def test_distances(made):
    A, edges, source = made
    distances = algorithms.sssp(A, source).distances.to_dense(np.inf, dtype="FP64")
    deep, lost = int(np.argmax(np.where(np.isinf(distances), -1, distances))), int(np.argmax(distances))
    wrong = [{source: 1}, {deep: distances[deep] + 1}, {deep: distances[deep] - 1}, {deep: np.inf}, {lost: 3}]
    check(
        lambda found: gap_verify.sssp(edges, source, found), distances, [changed(distances, places) for places in wrong]
    )


def test_ranks(made):
    A, edges, _ = made
    ranks = algorithms.pagerank(A, method="gap").ranks.to_dense()
    check(lambda found: gap_verify.pr(edges, found), ranks, [changed(ranks, {0: ranks[0] + 2e-3}), ranks * 1.01])


def test_components(made):
    A, edges, source = made
    labels = algorithms.connected_components(A).labels.to_dense().astype(np.int64)
    other = int(np.argmax(labels != labels[source]))
    merged = np.where(labels == labels[other], labels[source], labels)
    check(lambda found: gap_verify.cc(edges, found), labels, [changed(labels, {source: 77}), merged])


def test_scores(made):
    A, edges, source = made
    roots = [source, 3, 8]
    scores = algorithms.betweenness(A, sources=roots, normalized="sum").values.to_dense(0)
    assert scores.max() > 0
    wrong = [
        changed(scores, {source: scores[source] + scores.max() * 1e-6}),
        np.where(scores == scores.max(), 0, scores),
    ]
    check(lambda found: gap_verify.bc(edges, roots, found), scores, wrong)


def test_triangles(monkeypatch):
    A = generators.kronecker(6, 4, seed=seeds.SEED)
    A[3, 3] = 1  # no part of a triangle
    S = gap_verify.Edges(A).scipy()
    count = sum(nx.triangles(nx.from_scipy_sparse_array(S)).values()) // 3
    for products in (1, 50, gap_verify.PRODUCTS):
        monkeypatch.setattr(gap_verify, "PRODUCTS", products)
        check(lambda found: gap_verify.tc(A, found), count, [count + 1, count - 1])
