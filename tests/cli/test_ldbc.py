"""`grb-tile ldbc`: data sets of Graphalytics, and checks that find wrong results."""

import gzip
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.cli import ldbc
from grb_tile.cli.bench_verify import WrongResult
from grb_tile.cli.main import BAD_INPUT, INTERNAL, OK

DATA = Path(__file__).resolve().parents[1] / "data" / "graphalytics"


def test_all_data_sets_agree_with_their_reference_outputs(run):
    code, out, err = run("ldbc", DATA, "--repeat", 1, "--json", "--quiet")
    rows = json.loads(out)["runs"]
    assert code == OK and err == "" and {row["checked"] for row in rows} == {"agrees"}
    assert {row["algorithm"] for row in rows if row["graph"] == "example-directed"} == set(ldbc.ALGORITHMS)
    example = next(row for row in rows if row["graph"] == "example-directed")
    assert (example["vertices"], example["edges"]) == (10, 17)
    assert example["EVPS"] == pytest.approx(27 / (example["ms"] / 1e3))


@pytest.fixture
def data(tmp_path):
    """A copy of a small data set, its edges compressed."""
    for path in DATA.glob("example-directed*"):
        shutil.copy(path, tmp_path)
    edges = tmp_path / "example-directed.e"
    (tmp_path / "example-directed.e.gz").write_bytes(gzip.compress(edges.read_bytes()))
    edges.unlink()
    return tmp_path


def test_identifiers_need_not_be_in_order(run, data):
    path = data / "example-directed.v"
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    assert run("ldbc", data / "example-directed.properties", "--repeat", 1)[0] == OK


@pytest.mark.parametrize("name", ["example-directed", "example-undirected"])
def test_identifiers_above_half_of_64_bits(run, tmp_path, name):
    """The rules allow any identifier below 2^64."""

    def moved(text, columns):
        lines = (line.split() for line in text.splitlines())
        return "".join(" ".join([str(int(w) + 2**63) for w in ws[:columns]] + ws[columns:]) + "\n" for ws in lines)

    for path in DATA.glob(f"{name}*"):
        text = path.read_text()
        if path.suffix == ".properties":
            text = re.sub(r"(source-vertex = )(\d+)", lambda m: m[1] + str(int(m[2]) + 2**63), text)
        else:
            text = moved(text, 2 if path.suffix == ".e" or path.name.endswith(("CDLP", "WCC")) else 1)
        (tmp_path / path.name).write_text(text)
    code, out, err = run("ldbc", tmp_path, "--repeat", 1, "--json", "--quiet")
    assert code == OK and err == "" and {row["checked"] for row in json.loads(out)["runs"]} == {"agrees"}


def test_a_wrong_result_ends_the_run(run, data):
    path = data / "example-directed-SSSP"
    path.write_text(path.read_text().replace("infinity", "7.0", 1))
    code, _, err = run("ldbc", data, "--algorithms", "bfs,sssp")
    assert code == INTERNAL and "example-directed: sssp: vertex number 1 has inf, the reference output 7.0" in err
    code, out, _ = run("ldbc", data, "--algorithms", "sssp", "--no-verify")
    assert code == OK and "not asked" in out
    path.unlink()
    code, out, _ = run("ldbc", data, "--algorithms", "sssp")
    assert code == OK and "no file" in out


@pytest.mark.parametrize(
    ("name", "found", "right", "wrong"),
    [
        ("bfs", [0, 1, None], [0, 1, ldbc.UNREACHED], [[0, 2, ldbc.UNREACHED], [0, 1, 3]]),
        ("sssp", [0.0, 1.5, None], [0, 1.5001, np.inf], [[0, 1.502, np.inf], [0, 1.5, 3], [np.inf, 1.5, np.inf]]),
        ("wcc", [0, 0, 2], [9, 9, 4], [[9, 9, 9], [9, 4, 4], [1, 2, 3]]),
        ("cdlp", [1, 1, 2], [1, 1, 2], [[1, 2, 2]]),
        ("lcc", [0.5, 0.0, 1.0], [0.50004, 0, 1], [[0.5001, 0, 1], [0.5, 1e-9, 1]]),
    ],
)
def test_checks_accept_and_refuse(name, found, right, wrong):
    present = [k for k, value in enumerate(found) if value is not None]
    vector = gb.Vector.from_coo(present, [found[k] for k in present], size=3)
    ldbc.check("it", name, vector, np.array(right))
    for values in wrong:
        with pytest.raises(WrongResult):
            ldbc.check("it", name, vector, np.array(values))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda base: base.with_suffix(".v").unlink(), "is not beside it"),
        (lambda base: base.with_suffix(".v").write_text("1\n2\n"), "is not in the vertex file"),
        (lambda base: base.with_suffix(".v").write_text("1\nb\n"), "whole number"),
        (lambda base: base.with_suffix(".v").write_text("1\n1\n"), "there twice"),
        (lambda base: base.with_suffix(".properties").write_text(""), "directed = true or false is missing"),
        (
            lambda base: base.with_suffix(".properties").write_text("graph.example-directed.directed = true\n"),
            "bfs.source-vertex is missing",
        ),
        (lambda base: Path(f"{base}-BFS").write_text("1 0\n"), "a line `vertex value` for each"),
    ],
)
def test_files_that_do_not_fit_are_named(run, data, change, says):
    change(data / "example-directed")
    code, _, err = run("ldbc", data, "--repeat", 1)
    assert code == BAD_INPUT and says in err and "example-directed" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([DATA, "--algorithms", "bfs,dfs"], "--algorithms dfs"),
        ([DATA, "--repeat", "0"], "--repeat 0"),
        ([DATA / "example-directed.v"], "expected NAME.properties or a folder"),
        ([DATA.parent], "holds no NAME.properties"),
    ],
)
def test_bad_options_are_named(run, options, says):
    code, out, err = run("ldbc", *options)
    assert code == BAD_INPUT and says in err and out == ""
