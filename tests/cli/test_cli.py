"""The command `grb-tile`: results, exit codes, one-line messages.  Most run in this process; a few as a program."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
import unittest.mock
from pathlib import Path

import numpy as np
import pytest

from grb_tile.cli import main as cli
from grb_tile.cli.main import BAD_INPUT, COMMANDS, INTERNAL, NO_ANSWER, OK, main
from grb_tile.cli.output import Watch

ROOT = Path(__file__).resolve().parents[2]
KARATE = str(ROOT / "examples" / "data" / "karate.txt")
ROADS = str(ROOT / "examples" / "data" / "USA-road-NY.mtx.gz")
UNDIRECTED = ["--undirected", "--base", "1"]


@pytest.fixture
def facts(run):
    def call(*args):
        code, out, err = run(*args, "--json")
        assert code == OK, err
        assert out.count("\n") == 1, "one JSON object on one line"
        return json.loads(out)

    return call


@pytest.fixture
def graph(tmp_path):
    def write(text, name="g.txt"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def test_bfs_of_the_shipped_road_network(facts):
    found = facts("bfs", ROADS, "--source", 140960)
    assert found["depth"] == 415 and found["reached"] == 264346
    assert found["graph"]["edges"] == 365050 and found["graph"]["directed"] is False
    assert sum(found["nodes_per_level"]) == 264346 and found["mteps"] > 0


def test_bfs_text_explain_parents_and_target(run, facts):
    code, out, err = run("bfs", KARATE, *UNDIRECTED, "--source", 1, "--explain")
    assert code == OK and err == ""
    assert "levels     3" in out and "reached    34 of 34" in out and "frontier" in out and "MTEPS" in out
    found = facts("bfs", KARATE, *UNDIRECTED, "--source", 1, "--target", 17, "--explain")
    assert found["target_level"] == 2 and len(found["rounds"]) >= 2
    assert facts("bfs", KARATE, *UNDIRECTED, "--source", 1, "--max-level", 1)["reached"] == 17


@pytest.mark.parametrize(("target", "level"), [("a", 0), ("b", 1), ("c", 2), ("d", None)])
def test_the_target_is_the_source_a_neighbour_far_or_apart(run, facts, graph, target, level):
    path = graph("a,b,2\nb,c,3\nd,e,1\n", "t.csv")
    given = (path, "--source", "a", "--target", target)
    assert facts("bfs", *given)["target_level"] == level
    told = "not reached" if level is None else f"level {level}"
    assert f"target     {target}: {told}" in run("bfs", *given)[1]


def test_source_defaults_to_the_busiest_node_and_may_be_a_label(facts, graph):
    assert facts("bfs", KARATE, *UNDIRECTED)["source"] == 34
    path = graph("ann,bob\nbob,cyd\nbob,dan\n", "g.csv")
    assert facts("bfs", path)["source"] == "bob"
    found = facts("bfs", path, "--source", "ann")
    assert found["depth"] == 2 and found["reached"] == 4


def test_nodes_are_those_of_the_file(facts, run, graph, tmp_path):
    found = facts("bfs", KARATE, "--undirected")
    assert found["source"] == 34 and found["graph"]["nodes"] == 34 and not found["graph"]["labelled"]
    path = graph("10 20\n20 30\n30 7\n")
    found = facts("bfs", path, "--source", 10, "--output", tmp_path / "l.txt")
    assert found["graph"]["nodes"] == 4 and found["source"] == 10
    assert (tmp_path / "l.txt").read_text() == "7 3\n10 0\n20 1\n30 2\n"
    code, _, err = run("bfs", path, "--source", 11)
    assert code == BAD_INPUT and "such as 7, 10, 20" in err
    facts("convert", path, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == "source,target\n10,20\n20,30\n30,7\n"
    facts("convert", graph("a;b;1,5\n", "l.csv"), tmp_path / "y.txt")
    assert (tmp_path / "y.txt").read_text().splitlines()[1:] == ["a b 1.5"]
    facts("convert", KARATE, tmp_path / "k.gr", "--undirected")
    assert "p sp 34 156\n" in (tmp_path / "k.gr").read_text()
    assert facts("info", tmp_path / "k.gr")["entries"] == 156
    metis = graph("3 2\n2\n1 3\n2\n", "x.graph")
    assert facts("bfs", metis, "--source", 1)["depth"] == 2


def test_directed_and_undirected(facts, graph):
    path = graph("0 1\n2 1\n")
    assert facts("bfs", path, "--source", 0)["reached"] == 2
    assert facts("bfs", path, "--source", 0, "--undirected")["reached"] == 3
    assert facts("bfs", path, "--source", 0, "--directed")["graph"]["directed"] is True


def test_sssp_weights_and_output(facts, graph, tmp_path):
    path = graph("a b 5\nb c 2.5\na c 9\n")
    found = facts("sssp", path, "--source", "a", "--output", tmp_path / "d.csv")
    assert found["longest"] == 7.5 and found["farthest"] == "c"
    assert (tmp_path / "d.csv").read_text() == "a,0.0\nb,5.0\nc,7.5\n"
    assert facts("sssp", path, "--source", "a", "--weights", "unit")["longest"] == 1


def test_sssp_to_a_target_prints_the_path(facts, run, tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("ann,bob,5\nann,cyd,1\ncyd,bob,2\nbob,dan,1\neve,ann,1\n")
    found = facts("sssp", path, "--source", "ann", "--target", "dan")
    assert (found["target"], found["target_distance"], found["path"]) == ("dan", 4, ["ann", "cyd", "bob", "dan"])
    _, out, _ = run("sssp", path, "--source", "ann", "--target", "dan")
    assert "target     dan at distance 4\npath       ann -> cyd -> bob -> dan (3 edges)\n" in out
    found = facts("sssp", path, "--source", "ann", "--target", "eve")
    assert found["target_distance"] is None and found["path"] is None
    assert "target     eve: not reached\n" in run("sssp", path, "--source", "ann", "--target", "eve")[1]
    code, _, err = run("sssp", path, "--source", "ann", "--target", "zoe")
    assert code == BAD_INPUT and "--target zoe: no such node" in err
    path.write_text("".join(f"{k} {k + 1} 1\n" for k in range(1, 40)))
    _, out, _ = run("sssp", path, "--source", "1", "--target", "40")
    assert "path       1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> 8 -> 9 -> 10 -> ... -> 31 -> " in out and "(39 edges)" in out


def test_edges_that_occur_twice(facts, run, graph):
    path = graph("0 1 5\n0 1 2\n0 1 9\n")
    for duplicates, expected in (("min", 2), ("max", 9), ("plus", 16), ("first", 5)):
        assert facts("sssp", path, "--source", 0, "--duplicates", duplicates)["longest"] == expected
    assert facts("sssp", path, "--source", 0)["longest"] == 2
    matrix = graph("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 5\n1 2 7\n", "d.mtx")
    assert facts("sssp", matrix, "--source", 0, "--duplicates", "plus")["longest"] == 12
    code, _, err = run("sssp", matrix, "--duplicates", "error")
    assert code == BAD_INPUT and "uplicate" in err
    for text in ("0 1 5\n1 0 2\n", "0 1 2\n1 0 5\n"):  # of two directions the lesser counts
        assert facts("sssp", graph(text), "--source", 0, "--undirected")["longest"] == 2


def test_edges_are_counted_where_the_search_was(facts, graph):
    path = graph("0 1\n2 3\n3 4\n4 2\n")
    found = facts("bfs", path, "--source", 0)
    assert found["edges"] == 1 and found["mteps"] == pytest.approx(1e-6 / found["seconds"])
    assert facts("bfs", path, "--source", 2)["edges"] == 3
    assert facts("sssp", path, "--source", 0, "--weights", "unit")["edges"] == 1


def test_output_as_grb_and_compressed_text(facts, tmp_path):
    import gzip

    from grb_tile.io import load

    facts("components", KARATE, *UNDIRECTED, "--output", tmp_path / "c.grb")
    assert load(tmp_path / "c.grb").size == 34
    facts("bfs", KARATE, *UNDIRECTED, "--source", 1, "--output", tmp_path / "l.txt.gz")
    lines = gzip.decompress((tmp_path / "l.txt.gz").read_bytes()).decode().splitlines()
    assert lines[0] == "1 0" and len(lines) == 34, "nodes are numbered as the file numbers them"


def test_pagerank_agrees_with_networkx(facts):
    import networkx as nx

    found = facts("pagerank", KARATE, *UNDIRECTED, "--top", 34, "--tol", 1e-10)
    table = np.loadtxt(KARATE, dtype=int)
    expected = nx.pagerank(nx.Graph(table.tolist()), tol=1e-12)
    assert found["converged"] and found["top"][0]["node"] == 34
    for item in found["top"]:
        assert item["rank"] == pytest.approx(expected[item["node"]], abs=1e-6)


def test_components_and_triangles(facts, run, graph):
    found = facts("components", graph("0 1\n2 3\n3 4\n6 6\n"))
    assert found["components"] == 3 and found["largest"] == 3 and found["singletons"] == 1, "there is no node 5"
    assert found["top"][0] == {"smallest_node": 2, "size": 3}
    found = facts("components", graph("0 1\n2 3\n3 4\n6 6\n"), "--base", 0)
    assert found["components"] == 4 and found["singletons"] == 2, "0 to 6 are indices"
    assert facts("triangles", KARATE, *UNDIRECTED)["triangles"] == 45
    code, out, _ = run("components", KARATE, *UNDIRECTED, "--explain")
    assert code == OK and ("changed" in out or "(no iterations)" in out), "a compiled loop has no iterations to show"


def test_repeat_reports_median_and_best(facts):
    found = facts("bfs", KARATE, *UNDIRECTED, "--repeat", 3)
    assert found["runs"] == 3 and found["best_seconds"] <= found["seconds"]


def test_info(facts, run):
    found = facts("info", ROADS)
    assert found["head"]["symmetry"] == "symmetric" and found["entries"] == 730100
    assert found["symmetry"] == {"structure": True, "values": True, "self_loops": 0}
    assert found["degrees"]["max"] == 8 and sum(found["degrees"]["histogram"].values()) == 264346
    assert found["storage"]["chosen"] == "tiled64" and found["storage"]["why"]
    assert found["memory"]["matrix"] <= found["memory"]["loading"]
    assert found["storage"]["bytes"] == pytest.approx(found["memory"]["matrix"], rel=0.05), (
        "what was foretold came true"
    )
    code, out, _ = run("info", ROADS, "--head")
    assert code == OK and "memory     to expect" in out and "degrees" not in out
    code, out, _ = run("info", KARATE, *UNDIRECTED)
    assert code == OK and "degrees    mean" in out and "tiles" in out and "bittiled16" in out


def test_info_of_a_matrix_that_is_no_graph(facts, graph):
    found = facts("info", graph("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 2\n", "r.mtx"))
    assert found["nrows"] == 2 and found["ncols"] == 3 and "symmetry" not in found


ON_FILES = [name for name in COMMANDS if name not in ("compile", "bench", "gap", "ldbc", "run")]


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (3, 3)])
def test_a_matrix_without_entries(run, graph, tmp_path, shape):
    """Each command on it: an answer for every node, or one line that says what is wrong with it."""
    path = graph("%%MatrixMarket matrix coordinate real general\n{} {} 0\n".format(*shape), "none.mtx")
    for command in ON_FILES:
        more = [tmp_path / "none.grb"] if command == "convert" else []
        code, out, err = run(command, path, *more, "--json")
        if shape == (3, 3) or command in ("info", "convert"):
            assert (code, err) == (OK, ""), command
            found = json.loads(out)
            assert command != "info" or (found["nrows"], found["ncols"], found["density"]) == (*shape, 0.0)
        else:
            assert code == BAD_INPUT and ("no nodes" if shape == (0, 0) else "is square") in err, command
        assert run(command, path, *more, "--quiet")[0] == code


@pytest.mark.parametrize("ending", ["mtx", "mtx.gz", "grb", "npz", "txt", "csv"])
def test_convert_keeps_the_graph(facts, tmp_path, ending):
    target = tmp_path / f"k.{ending}"
    written = facts("convert", KARATE, target, *UNDIRECTED)
    assert written["entries"] == 156 and written["bytes"] == target.stat().st_size
    assert facts("components", target)["graph"]["entries"] == 156


def test_convert_writes_labels_beside_the_matrix(facts, graph, tmp_path):
    found = facts("convert", graph("x y\ny z\n"), tmp_path / "g.mtx")
    assert Path(found["labels"]).read_text() == "x\ny\nz\n"


@pytest.mark.parametrize("ending", ["gr", "gr.gz", "GR"])
def test_convert_writes_labels_beside_every_dimacs_file(facts, graph, tmp_path, ending):
    found = facts("convert", graph("x y 2\ny z 3\n"), tmp_path / f"g.{ending}")
    assert Path(found["labels"]).read_text() == "x\ny\nz\n"


@pytest.mark.parametrize(("way", "entries"), [([], 4), (["--directed"], 2), (["--undirected"], 4)])
def test_directed_takes_dimacs_edges_as_they_are(facts, graph, tmp_path, way, entries):
    text = "p edge 3 2\ne 1 2\ne 2 3\n"
    assert facts("convert", graph(text), tmp_path / "g.mtx", *way)["entries"] == entries


def test_plots(facts, graph, tmp_path):
    pytest.importorskip("matplotlib")
    for command in ("bfs", "sssp", "pagerank", "components", "triangles", "info"):
        path = tmp_path / f"{command}.png"
        facts(command, KARATE, *UNDIRECTED, "--plot", path)
        assert path.read_bytes().startswith(b"\x89PNG"), command


def test_a_missing_matplotlib_is_said_before_the_work(run, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("bfs", KARATE, *UNDIRECTED, "--plot", tmp_path / "x.png")
    assert code == BAD_INPUT and "pip install matplotlib" in err and out == ""


def bad_inputs(graph, tmp_path):
    negative = graph("0 1 2\n1 0 -5\n", "negative.txt")
    one_way = graph("0 1\n1 2\n", "oneway.txt")
    mangled = graph("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", "short.mtx")
    wide = graph("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n", "wide.mtx")
    binary = tmp_path / "b.bin"
    binary.write_bytes(bytes(range(256)))
    (tmp_path / "bad.grb").write_bytes(b"\x89GRBT\r\n\x1a" + b"x" * 40)
    return {
        NO_ANSWER: [
            (["sssp", negative, "--source", "0"], "negative"),
            (["pagerank", one_way, "--max-iter", "1"], "1 iteration"),
        ],
        BAD_INPUT: [
            (["bfs", str(tmp_path / "none.mtx")], "none.mtx: no such file"),
            (["bfs", mangled], "short.mtx, line 3: the file ends"),
            (["bfs", wide], "2 by 3 matrix"),
            (["bfs", str(binary)], "b.bin"),
            (["info", str(tmp_path / "bad.grb")], "bad.grb"),
            (["bfs", str(tmp_path)], "directory"),
            (["bfs", one_way, "--source", "9"], "--source 9: there is no such node; nodes are numbered 0 to 2"),
            (["bfs", one_way, "--source", "ann"], "--source ann: expected a node number"),
            (["bfs", one_way, "--target", "9"], "--target 9"),
            (["bfs", one_way, "--output", "x.foo"], "ending must be"),
            (["bfs", one_way, "--plot", "x.foo"], "ending must be"),
            (["bfs", one_way, "--repeat", "0"], "--repeat 0"),
            (["sssp", negative, "--source", "0", "--method", "delta"], "negative"),
            (["pagerank", one_way, "--alpha", "2"], "alpha"),
            (["triangles", one_way], "pass --undirected"),
            (["convert", one_way, str(tmp_path / "x.foo")], "cannot tell the format"),
            (["info", one_way, "--head"], "no head"),
        ],
    }


def test_exit_codes_and_one_line_messages(run, graph, tmp_path):
    for code, cases in bad_inputs(graph, tmp_path).items():
        for args, message in cases:
            got, out, err = run(*args)
            assert (got, err.count("\n")) == (code, 1), f"{args}: {got} {err}"
            assert message in err and err.startswith(f"grb-tile {args[0]}: "), f"{args}: {err}"
            assert out == "" or args[0] == "info", args


def test_iterations_show_on_a_terminal_only(run, monkeypatch):
    monkeypatch.setattr("grb_tile.cli.output.Watch.INTERVAL", 0)
    assert run("pagerank", KARATE, *UNDIRECTED)[2] == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for command in ("pagerank", "components", "sssp"):
        code, _, err = run(command, KARATE, *UNDIRECTED)
        assert code == OK and f"{command}: iteration 1, " in err and err.endswith("\r")
        assert run(command, KARATE, *UNDIRECTED, "--quiet")[2] == ""


def test_usage_errors_help_and_version(run):
    for args in (["bfs"], [], ["nosuch"], ["bfs", "f", "--directed", "--undirected"], ["bfs", "f", "--nosuch"]):
        assert run(*args)[0] == BAD_INPUT, args
    for args in (["--help"], ["bfs", "--help"], ["--version"]):
        assert run(*args)[0] == OK, args


def test_interruption_and_internal_errors(run, monkeypatch, graph):
    path = graph("0 1\n")

    def stop(args):
        raise KeyboardInterrupt

    monkeypatch.setattr("grb_tile.cli.traversal.run", stop)
    assert run("bfs", path) == (cli.INTERRUPTED, "", "grb-tile bfs: interrupted\n")

    def broken(args):
        return {}["nothing"]

    monkeypatch.setattr("grb_tile.cli.traversal.run", broken)
    code, _, err = run("bfs", path)
    assert code == INTERNAL and "internal error: KeyError" in err
    for error, code in ((ValueError(), BAD_INPUT), (ValueError(" "), BAD_INPUT), (AssertionError(), INTERNAL)):
        monkeypatch.setattr("grb_tile.cli.traversal.run", unittest.mock.Mock(side_effect=error))  # no text
        found, _, err = run("bfs", path)
        assert found == code and err.rstrip().endswith(f"{type(error).__name__}:"), err
    monkeypatch.setattr("grb_tile.cli.traversal.run", broken)
    with pytest.raises(KeyError):
        main(["bfs", path, "--debug"])


def program(*args, variables=None, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(variables or {})}
    # A shell that runs the tests in the background has them ignore Ctrl-C, and children inherit that; a handler they do
    # not.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "grb_tile", *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            **options,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def test_as_a_program_and_ctrl_c(tmp_path):
    done = program("components", KARATE, *UNDIRECTED, "--json")
    out, err = done.communicate(timeout=60)
    assert done.returncode == OK and json.loads(out)["components"] == 1 and err == ""
    fifo = tmp_path / "slow.mtx"
    os.mkfifo(fifo)
    waiting = program("bfs", str(fifo), "--format", "mtx")
    with open(fifo, "w") as file:  # the program reads from the pipe and waits for more
        file.write("%%MatrixMarket matrix coordinate pattern general\n")
        file.flush()
        for _ in range(20):  # as a person would: again, when the first came in a moment that Python swallows
            time.sleep(0.5)
            waiting.send_signal(signal.SIGINT)
            try:
                _, err = waiting.communicate(timeout=5)
                break
            except subprocess.TimeoutExpired:
                continue
        else:
            waiting.kill()
            waiting.communicate()
    assert waiting.returncode == cli.INTERRUPTED and err == "grb-tile bfs: interrupted\n"


def test_the_option_overrides_the_variable_for_the_backend():
    for backend, code in (("bogus", BAD_INPUT), ("reference", OK)):
        command = program("triangles", KARATE, *UNDIRECTED, "--json", variables={"GRB_TILE_BACKEND": backend})
        out, err = command.communicate(timeout=60)
        assert command.returncode == code
        if code == BAD_INPUT:
            assert err.startswith("grb-tile triangles: GRB_TILE_BACKEND=bogus: backend: 'bogus' is not known")
            assert err.count("\n") == 1 and out == ""
    command = program(
        "triangles", KARATE, *UNDIRECTED, "--json", "--backend", "cpu", variables={"GRB_TILE_BACKEND": "bogus"}
    )
    out, err = command.communicate(timeout=60)
    assert command.returncode == OK and err == "" and json.loads(out)["triangles"] == 45


def test_a_closed_pipe_is_no_error():
    command = program("pagerank", KARATE, *UNDIRECTED, "--explain")
    command.stdout.close()
    command.stdout = None
    _, err = command.communicate(timeout=60)
    assert command.returncode == OK and "Traceback" not in err and "Broken" not in err


def test_the_example_runs():
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "road_network.py")],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=True,
    )
    assert "264,346 reached in 415 levels" in done.stdout and "by hand the same: True" in done.stdout


def shown(run, monkeypatch, *args, terminal=True):
    monkeypatch.setattr("grb_tile.cli.output.Watch.INTERVAL", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    code, _, err = run(*args)
    assert code == OK
    return err


def test_progress_has_an_estimate_of_the_rest(run, monkeypatch):
    err = shown(run, monkeypatch, "closeness", KARATE, *UNDIRECTED)
    assert "closeness: 34 of 34 vertices" in err
    err = shown(run, monkeypatch, "pagerank", KARATE, *UNDIRECTED)
    assert "about 1 s left" in err
    watch = Watch(argparse.Namespace(quiet=False), "x")
    watch({"iteration": 1, "seconds": 10.0, "vertices": 100, "of": 1000})
    assert watch._text({"iteration": 1, "seconds": 10.0, "vertices": 100, "of": 1000}) == (
        "100 of 1,000 vertices, about 90 s left"
    )
    watch = Watch(argparse.Namespace(quiet=False), "x", limit=1e-6)
    watch.before = {"iteration": 10, "seconds": 5.0, "residual": 1e-2}
    assert watch._text({"iteration": 20, "seconds": 15.0, "residual": 1e-3}).endswith(", about 30 s left")
    assert watch._text({"iteration": 20, "seconds": 15.0, "residual": 2e-2}).endswith(", 15 s so far")
    assert watch._text({"iteration": 2, "seconds": 0.1, "moved": 5}) == "iteration 2, moved 5"


def test_betweenness_that_takes_long_names_samples(run, monkeypatch):
    monkeypatch.setattr("grb_tile.cli.output.Watch.SURE", 0)
    monkeypatch.setattr("grb_tile.cli.output.Watch.LONG", 0)
    for terminal in (True, False):
        err = shown(run, monkeypatch, "betweenness", KARATE, *UNDIRECTED, terminal=terminal)
        assert err.count("--samples 34 estimates it") == 1
    for options in (["--samples", "5"], ["--quiet"]):
        err = shown(run, monkeypatch, "betweenness", KARATE, *UNDIRECTED, *options, terminal=False)
        assert err == ""
    monkeypatch.setattr("grb_tile.cli.output.Watch.LONG", 60)
    assert shown(run, monkeypatch, "betweenness", KARATE, *UNDIRECTED, terminal=False) == ""
