"""Texts and JSON of the command: figures in words, tables, medians, values that JSON has not, vectors in files."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.algorithms import Report
from grb_tile.cli import output


@pytest.mark.parametrize("value, wanted", [
    ({np.int64(3): np.float32(0.5), "a": (1, np.int8(2))}, {"3": 0.5, "a": [1, 2]}),
    ([float("nan"), float("inf"), -np.inf, np.float64("nan")], [None, "Infinity", "-Infinity", None]),
    (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]), (np.array([np.inf, 1.0]), ["Infinity", 1.0]),
    (3 + 4j, [3.0, 4.0]), (np.complex64(1j), [0.0, 1.0]), (True, True), (None, None), (np.bool_(False), False),
    (gb.dtypes.INT8, "INT8"), ({"x": {"y": ()}}, {"x": {"y": []}}),
])  # fmt: skip
def test_values_as_json(value, wanted):
    found = output.plain(value)
    assert found == wanted and json.loads(json.dumps(found, allow_nan=False)) == wanted
    assert type(found) is type(wanted)


@pytest.mark.parametrize("seconds, text", [
    (2.5e-6, "2.5 us"), (0.000999, "999 us"), (0.001, "1 ms"), (0.25, "250 ms"), (0.9994, "999 ms"), (1, "1.00 s"),
    (99.99, "99.99 s"), (100, "1 min 40 s"), (3605.9, "60 min 5 s"),
])  # fmt: skip
def test_times_as_text(seconds, text):
    assert output.seconds_text(seconds) == text


def test_medians_and_rates():
    facts = output.time_facts([3.0, 1.0, 2.0, 9.0], 4_000_000)
    assert facts == {
        "seconds": 3.0, "best_seconds": 1.0, "runs": 4, "edges": 4_000_000, "edges_per_second": 4_000_000 / 3.0,
        "mteps": 4 / 3.0,
    }  # fmt: skip
    assert output.time_line(facts) == "time       3.00 s (median of 4, best 1.00 s), 4,000,000 edges, 1.333 MTEPS"
    facts = output.time_facts([0.0], 7)
    assert (facts["mteps"], facts["edges_per_second"], facts["runs"]) == (0.0, 0.0, 1)
    assert output.time_line(facts).startswith("time       0 us, 7 edges")
    calls = []
    assert output.timed(lambda: calls.append(1) or len(calls), 3)[0] == 3 and len(calls) == 3
    with pytest.raises(ValueError, match="--repeat 0: expected 1 or more"):
        output.timed(None, 0)


def test_tables():
    rows = [{"name": "a", "count": 1234, "share": 0.123456}, {"name": "longer", "more": None, "share": np.float32(2)}]
    assert output.table(rows, left=("name",)) == [
        "name    count   share  more",
        "a       1,234  0.1235     -",
        "longer      -       2     -",
    ]
    assert output.table([{"x": True, "y": "text"}, {"x": False, "y": "t"}]) == [
        "    x     y",
        " True  text",
        "False     t",
    ]
    assert output.table([]) == ["(no iterations)"]


def test_rounds_have_the_time_of_each():
    report = Report("demo")
    report.adopt(lambda: [{"seconds": 0.25, "found": 3}, {"seconds": 1.0, "found": 4}, {"ms": 5.0}, {"found": 1}])
    assert output.rounds(report) == [
        {"iteration": 1, "found": 3, "ms": 250.0}, {"iteration": 2, "found": 4, "ms": 750.0},
        {"iteration": 3, "ms": 5.0}, {"iteration": 4, "found": 1},
    ]  # fmt: skip
    assert "seconds" in report.rounds[0]


@pytest.mark.parametrize("explain, report, text", [
    (False, None, "done"), (True, None, "done\n\none masked product, no iterations"),
    (True, Report("demo"), "done\n\n(no iterations)"),
])  # fmt: skip
def test_how_a_command_ends(explain, report, text, tmp_path, capsys):
    v = gb.Vector.from_coo([0, 2], [1.5, 3.0], size=3)
    loaded = SimpleNamespace(labels=None, base=1)
    for path in (None, str(tmp_path / "v.csv")):
        args = SimpleNamespace(explain=explain, output=path, json=False)
        output.finish_run(args, loaded, v, report, {}, ["done"])
        assert capsys.readouterr().out == text + "\n" + ("" if path is None else f"written    {path}\n")
    args.json, facts = True, {"command": "x"}
    output.finish_run(args, loaded, v, report, facts, ["done"])
    found = json.loads(capsys.readouterr().out)
    assert found == {"command": "x", "output": path} | ({"rounds": []} if report is not None else {})


@pytest.mark.parametrize(
    "ending, mark", [(".csv", ","), (".tsv", "\t"), (".txt", " "), (".csv.gz", ","), (".tsv.xz", "\t")]
)
def test_vectors_in_files(ending, mark, tmp_path):
    from grb_tile.io.streams import opened

    v = gb.Vector.from_coo([0, 2, 3], [1.5, -0.0, np.inf], size=5)
    path = str(tmp_path / f"v{ending}")
    assert output.vector_mark(path) == mark
    for labels, base, names in (
        (None, 0, ["0", "2", "3"]), (None, 1, ["1", "3", "4"]),
        (["a", "b", f"c{mark}d", 'e"f', "g"], 0, ["a", f'"c{mark}d"', '"e""f"']),
    ):  # fmt: skip
        output.write_vector(path, v, SimpleNamespace(labels=labels, base=base))
        with opened(path) as source:
            text = source.read(1 << 16).decode()
        assert text == "".join(f"{name}{mark}{x}\n" for name, x in zip(names, ("1.5", "-0.0", "inf"), strict=True))


def test_vectors_as_grb(tmp_path):
    v = gb.Vector.from_coo([0, 2], [1, 3], "INT8", size=5)
    path = str(tmp_path / "v.grb")
    assert output.vector_mark(path) is None
    output.write_vector(path, v, SimpleNamespace(labels=None, base=1))
    assert gb.io.load(path).isequal(v, check_dtype=True)
    with pytest.raises(ValueError, match=r"--output v.mtx: the ending must be .grb, .txt, .csv or .tsv"):
        output.vector_mark("v.mtx")
