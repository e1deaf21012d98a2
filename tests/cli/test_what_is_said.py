"""Facts that every command prints, how options reach the reading, exit codes of errors, and what is verified."""

import io
import itertools
import json
import time
from pathlib import Path

import numpy as np
import pytest

import grb_tile as gb
import grb_tile.io as grb_io
from grb_tile.cli import bench_verify, info, inputs, memory
from grb_tile.cli.bench_verify import WrongResult
from grb_tile.cli.main import BAD_INPUT, COMMANDS, INTERNAL, NO_ANSWER, OK, OTHER_NAMES, _code, main, parser
from grb_tile.exceptions import GraphblasException
from support.seeds import generator

KARATE = str(Path(__file__).resolve().parents[2] / "examples" / "data" / "karate.txt")
OF_A_GRAPH = [name for name, (module, _) in COMMANDS.items() if module in ("traversal", "whole_graph", "vertex_values")]


def seconds_in(facts):
    """Every figure of seconds, at any depth."""
    if isinstance(facts, dict):
        for name, value in facts.items():
            if name.endswith("seconds"):
                yield name, value
            else:
                yield from seconds_in(value)


@pytest.mark.parametrize("command", [*OF_A_GRAPH, "info", "convert"])
def test_seconds_are_those_that_passed(run, command, tmp_path):
    target = [tmp_path / "x.mtx"] if command == "convert" else []
    started = time.perf_counter()
    code, out, err = run(command, KARATE, *target, "--undirected", "--base", "1", "--json", "--quiet")
    passed = time.perf_counter() - started
    assert code == OK and err == ""
    found = list(seconds_in(json.loads(out)))
    assert found and all(0 < value < passed for _, value in found), (found, passed)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("bench", "gap", "compile", "info")])
def test_a_file_is_needed(run, command):
    code, out, err = run(command)
    assert code == BAD_INPUT and out == "" and "required" in err


def test_what_options_say_to_the_reading(monkeypatch):
    """Each option of reading with each other one, as `io.read` gets them."""
    asked = []

    found, parse = grb_io.read(KARATE), parser().parse_args

    def read(source, **options):
        asked.append(options)
        return found

    monkeypatch.setattr(grb_io, "read", read)
    choices = (
        {(): {"progress": None}, ("--quiet",): {"progress": False}},
        {(): {"directed": None}, ("--directed",): {"directed": True}, ("--undirected",): {"directed": None}},
        {(): {}, ("--weights", "unit"): {"weights": False}, ("--weights", "file"): {}},
        {(): {"base": None}, ("--base", "1"): {"base": 1}},
        {(): {"labels": None}, ("--labels",): {"labels": True}},
        {
            (): {"dup_op": None}, ("--duplicates", "max"): {"dup_op": gb.binary.max},
            ("--duplicates", "error"): {"dup_op": "error"},
        },
    )  # fmt: skip
    for chosen in itertools.product(*(choice.items() for choice in choices)):
        words, wanted = sum((words for words, _ in chosen), ()), {}
        for _, options in chosen:
            wanted |= options
        if "--labels" in words and "--base" in words:
            continue
        args = parse(["bfs", KARATE, *words])
        asked.clear()
        inputs.load(args)
        given = {key: value for key, value in asked[0].items() if key not in ("format", "delimiter")}
        assert given == wanted, words


def test_memory_is_spoken_of_unless_quiet(monkeypatch, capsys, tmp_path):
    """At half of the free memory nothing is said, below it something."""
    path = tmp_path / "x.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1.0\n")
    with inputs.opened(parser().parse_args(["info", str(path)])) as source:
        needed = memory.estimate(memory.head_of(source))["loading"]
    for free, quiet in itertools.product((1, 2 * needed - 2, 2 * needed), (False, True)):
        monkeypatch.setattr(memory, "available", lambda free=free: free)
        assert main(["info", str(path), *["--quiet"] * quiet]) == OK
        assert ("loading" in capsys.readouterr().err) == (free < 2 * needed and not quiet)


def raised_by_an_expression(kind):
    try:
        {TypeError: lambda: 1 + "a", IndexError: lambda: [][1]}[kind]()
    except kind as error:
        return error


def raised(error):
    try:
        raise error
    except Exception as found:
        return found


CODES = {
    NO_ANSWER: [type("NegativeCycleError", (ValueError,), {})("x"), type("ConvergenceFailure", (Exception,), {})("x")],
    INTERNAL: [
        WrongResult("x"), KeyError("x"), RuntimeError("x"), AssertionError("x"), ZeroDivisionError("x"),
        raised_by_an_expression(TypeError), raised_by_an_expression(IndexError), AttributeError("x"),
    ],
    BAD_INPUT: [
        raised(ValueError("x")), raised(TypeError("x")), raised(IndexError("x")), raised(ImportError("x")),
        OSError(2, "x"),
        OverflowError("x"), MemoryError(), GraphblasException("x"), TypeError("x"),
        UnicodeDecodeError("utf-8", b"x", 0, 1, "x"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("code", CODES)
def test_codes_of_errors(code):
    for error in CODES[code]:
        assert _code(error) == code, error


VERIFIED = {
    "bfs": "search", "spmv": "product", "spmspv": "product", "spmm": "product", "sddmm": "at_mask", "spgemm": "square",
    "masked": "square", "triangles": "triangles", "blocks": "product",
}  # fmt: skip


@pytest.mark.parametrize("part", VERIFIED)
def test_each_part_of_bench_is_verified(run, monkeypatch, part):
    """A verification that refuses ends the command; --no-verify asks none."""

    def refuse(*arguments, **more):
        raise WrongResult(f"{part} is wrong")

    monkeypatch.setattr("grb_tile.cli.bench_measure.WARM_SECONDS", 0)
    monkeypatch.setattr(bench_verify, VERIFIED[part], refuse)
    options = (
        "bench",
        "--generate",
        "grid:5",
        "--parts",
        part,
        "--repeat",
        1,
        "--sources",
        1,
        "--quiet",
        "--types",
        "FP32",
    )
    code, out, err = run(*options)
    assert code == INTERNAL and f"{part} is wrong" in err and out == ""
    assert run(*options, "--no-verify")[0] == OK


def test_wrong_values_at_a_mask_are_found():
    """Of each semiring that bench offers; each value wrong, and each structure wrong."""
    rng = generator("at a mask")
    rows, columns = np.nonzero(rng.random((9, 9)) < 0.3)
    A = gb.Matrix.from_coo(rows, columns, 1.0, nrows=9, ncols=9)
    X, Y = rng.random((9, 4)) + 1, rng.random((9, 4)) + 1
    for name, add, times in (
        ("plus_times", np.sum, np.multiply), ("min_plus", np.min, np.add), ("max_first", np.max, lambda x, y: x)
    ):  # fmt: skip
        values = np.array([add(times(X[i], Y[j])) for i, j in zip(rows, columns)])
        bench_verify.at_mask("x", A, name, X, Y, gb.Matrix.from_coo(rows, columns, values, nrows=9, ncols=9), 1)
        for wrong in (values * 1.01, -values, values[::-1].copy() + 0.5, np.full(values.size, np.inf)):
            C = gb.Matrix.from_coo(rows, columns, wrong, nrows=9, ncols=9)
            with pytest.raises(WrongResult, match="x: entry"):
                bench_verify.at_mask("x", A, name, X, Y, C, 1)
        C = gb.Matrix.from_coo(rows[1:], columns[1:], values[1:], nrows=9, ncols=9)
        with pytest.raises(WrongResult, match="not at those of the mask"):
            bench_verify.at_mask("x", A, name, X, Y, C, 1)


@pytest.mark.parametrize("draw", range(8))
def test_the_summary_of_degrees(draw):
    """Each figure against NumPy's, of rows that are stored and of rows that are not."""
    rng = generator("degrees", draw)
    degrees = rng.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 1000], rng.integers(1, 300)) if draw else np.zeros(0, int)
    for extra in (0, 5):
        nrows = degrees.size + extra
        found = info._summary(degrees, nrows)
        all_rows = np.append(degrees, np.zeros(extra, int))
        wanted = {
            "empty_rows": int((all_rows == 0).sum()), "max": int(all_rows.max(initial=0)),
            "mean": float(all_rows.mean()) if nrows else 0.0,
        }  # fmt: skip
        if not extra and nrows:
            wanted |= {
                "min": int(degrees.min()), "median": float(np.median(degrees)),
                "percentile_99": float(np.percentile(degrees, 99)),
            }  # fmt: skip
        ranges = {"1": (1, 1)} | {f"{1 << k}-{(2 << k) - 1}": (1 << k, (2 << k) - 1) for k in range(1, 12)}
        counts = {name: int(((all_rows >= low) & (all_rows <= high)).sum()) for name, (low, high) in ranges.items()}
        assert found == wanted | {"histogram": {name: count for name, count in counts.items() if count}}
        lines = info._degree_lines(found, nrows)
        bars = [len(line.split()[-1]) for line in lines[1:]]
        most = max(found["histogram"].values(), default=1)
        assert bars == [max(1, round(32 * count / most)) for count in found["histogram"].values()]
        assert f"mean {found['mean']:.2f}" in lines[0] and ("median" in lines[0]) == ("median" in found)


@pytest.mark.parametrize("command", [*OF_A_GRAPH, "info", "convert"])
def test_no_line_is_printed_twice(run, command, tmp_path):
    """Nor by a line with the same name before it, of a file with a head and of one without."""
    with_head = tmp_path / "x.mtx"
    with_head.write_text("%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n2 1 1.0\n3 2 1\n4 1 2\n4 3 1\n")
    for path, *more in ((with_head,), (KARATE, "--undirected", "--base", "1")):
        target = [tmp_path / "y.grb"] if command == "convert" else []
        code, out, _ = run(command, path, *target, *more, "--quiet")
        lines = out.splitlines()
        heads = [line[:11].rstrip() for line in lines if line[:1] not in ("", " ")]
        assert code == OK and heads
        repeated = {head for head in heads if heads.count(head) > 1} - {"tiles"}  # a line for each size of tiles
        assert not repeated and all(lines.count(line) == 1 for line in lines if line), (command, out)


def test_standard_input_is_read_once(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"0 1\n1 2\n")))
    assert main(["info", "-", "--json", "--quiet"]) == OK
    assert json.loads(capsys.readouterr().out)["entries"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pagernak", "f"], "'pagernak' is no command; did you mean 'pagerank'?  `grb-tile --help` lists all"),
        (["PageRank", "f"], "'PageRank' is no command; did you mean 'pagerank'?"),
        (["louvain", "f"], "'louvain' is no command; did you mean 'communities'?"),
        (["frobnicate", "f"], "'frobnicate' is no command: `grb-tile --help` lists all"),
        (["pagerank", "f", "--alhpa", "3"], "unrecognized arguments: --alhpa 3; did you mean '--alpha'?"),
        (["pagerank", "f", "--alhpa=3"], "unrecognized arguments: --alhpa=3; did you mean '--alpha'?"),
        (["pagerank", "f", "--frobnicate"], "unrecognized arguments: --frobnicate\n"),
        (["pagerank", "f", "g"], "unrecognized arguments: g\n"),
        (["sssp", "f", "--method", "detla"], "did you mean 'delta'?"),
        (["bfs", "f", "--backend", "cdua"], "did you mean 'cuda'?"),
    ],
)
def test_misspelt_commands_options_and_choices(arguments, said, capsys):
    assert main(arguments) == BAD_INPUT
    assert said in capsys.readouterr().err


def test_other_names_are_of_commands():
    assert set(OTHER_NAMES.values()) <= set(COMMANDS) and not set(OTHER_NAMES) & set(COMMANDS)


def test_misspelt_labels_and_remedies_of_the_command(tmp_path, capsys):
    path = tmp_path / "edges.csv"
    path.write_text("ann,bob\nbob,cyd\n")
    assert main(["bfs", str(path), "--source", "anna"]) == BAD_INPUT
    assert "--source anna: no such node; did you mean 'ann'? The file has 3 labels" in capsys.readouterr().err
    assert main(["eigenvector", KARATE, "--max-iter", "2"]) == NO_ANSWER
    said = capsys.readouterr().err
    assert "raise --max-iter" in said and "strict" not in said
