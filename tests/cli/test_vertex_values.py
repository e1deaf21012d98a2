"""`grb-tile betweenness`, `cores`, `communities` and the others: the values of the algorithms, listed and written."""

import json
from pathlib import Path

import pytest

from grb_tile import algorithms, io
from grb_tile.cli.main import BAD_INPUT, OK
from grb_tile.cli.vertex_values import KINDS

KARATE = Path(__file__).resolve().parents[2] / "examples" / "data" / "karate.txt"


def karate():
    found = io.read(KARATE, directed=False)
    return algorithms.Graph(found.obj, labels=found.labels)


@pytest.mark.parametrize("command", KINDS)
def test_figures_are_those_of_the_algorithm(run, command):
    kind = KINDS[command]
    expected = getattr(algorithms, kind.function)(karate()).to_dict()
    code, out, err = run(command, KARATE, "--undirected", "--json", "--top", 3)
    facts = json.loads(out)
    assert code == OK and err == ""
    if kind.grouped:
        sizes = sorted((list(expected.values()).count(group) for group in set(expected.values())), reverse=True)
        assert facts["groups"] == len(sizes) and [item["size"] for item in facts["top"]] == sizes[:3]
        for item in facts["top"]:
            group = [v for v, value in expected.items() if value == expected[item["smallest_node"]]]
            assert (min(group), len(group)) == (item["smallest_node"], item["size"])
    else:
        best = sorted(expected.values(), reverse=True)[:3]
        assert [item["value"] for item in facts["top"]] == pytest.approx(best)
        assert all(expected[item["node"]] == pytest.approx(item["value"]) for item in facts["top"])


@pytest.mark.parametrize("command", ["closeness", "communities"])
def test_results_are_written_and_drawn(run, tmp_path, command):
    pytest.importorskip("matplotlib")
    table, picture = tmp_path / "values.csv", tmp_path / "values.png"
    code, out, _ = run(command, KARATE, "--undirected", "--output", table, "--plot", picture, "--explain")
    expected = getattr(algorithms, KINDS[command].function)(karate()).to_dict()
    written = dict(line.split(",") for line in table.read_text().splitlines())
    assert code == OK and {int(v): float(value) for v, value in written.items()} == pytest.approx(expected)
    assert picture.read_bytes().startswith(b"\x89PNG") and "written" in out


def test_options_reach_the_algorithm(run):
    G = karate()
    expected = algorithms.betweenness(G, k=5, seed=7).to_dict()
    code, out, _ = run("betweenness", KARATE, "--undirected", "--samples", 5, "--seed", 7, "--json", "--top", 1)
    assert code == OK and json.loads(out)["top"][0]["value"] == pytest.approx(max(expected.values()))
    exact = max(algorithms.betweenness(G).to_dict().values())
    code, out, _ = run("betweenness", KARATE, "--undirected", "--samples", G.n, "--json", "--top", 1)
    assert code == OK and json.loads(out)["top"][0]["value"] == pytest.approx(exact)
    code, out, err = run("labels", KARATE, "--undirected", "--max-iter", -1)
    assert code == BAD_INPUT and "max_iter" in err


@pytest.mark.parametrize("command", ["communities", "leiden"])
def test_resolution_reaches_the_algorithm(run, command):
    expected = getattr(algorithms, KINDS[command].function)(karate(), resolution=3.0, seed=2)
    code, out, _ = run(command, KARATE, "--undirected", "--resolution", 3, "--seed", 2, "--json")
    facts = json.loads(out)
    assert code == OK and facts["groups"] == expected.count > 5
    assert facts["modularity"] == pytest.approx(expected.modularity)


def test_weighted_clustering(run, tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text("0,1,1\n1,2,8\n2,0,8\n")
    for options, value in (((), 1.0), (("--weighted",), (1 / 8) ** (1 / 3))):
        code, out, _ = run("clustering", path, "--undirected", "--json", *options)
        assert code == OK and json.loads(out)["top"][0]["value"] == pytest.approx(value)


@pytest.mark.parametrize("samples", [0, 35, 50])
def test_a_number_of_samples_that_cannot_be(run, samples):
    code, out, err = run("betweenness", KARATE, "--samples", samples)
    assert code == BAD_INPUT and out == "" and f"--samples {samples}: expected 1 to 34" in err
