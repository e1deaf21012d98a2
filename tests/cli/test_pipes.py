"""The command with pipes, closed or full outputs, and targets that cannot be written: exit codes and messages."""

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from grb_tile.cli import main as cli
from grb_tile.cli.main import BAD_INPUT, INTERNAL, INTERRUPTED, OK

ROOT = Path(__file__).resolve().parents[2]
MARKET = "%%MatrixMarket matrix coordinate real symmetric\n% karate, begun\n3 3 2\n2 1 1.5\n3 2 2\n"
# Python buffers its output unless this says otherwise, and the buffer is what is tested.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
ENVIRONMENT["PYTHONPATH"] = str(ROOT)
FILES = {
    "mtx": MARKET.encode(),
    "mtx.gz": gzip.compress(MARKET.encode()),
    "txt": b"0 1\n1 0\n1 2\n2 1\n",
    "grb": None,
    "npz": None,
}


def contents(ending, tmp_path):
    if FILES[ending] is None:
        import grb_tile as gb

        path = tmp_path / f"made.{ending}"
        gb.io.write(path, gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1.5, 1.5, 2, 2]))
        return path.read_bytes()
    return FILES[ending]


@pytest.mark.parametrize("command", ["bfs", "info", "convert"])
@pytest.mark.parametrize("ending", FILES)
def test_a_pipe_is_opened_once(run, tmp_path, ending, command):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = contents(ending, tmp_path)
    writer = threading.Thread(target=lambda: pipe.write_bytes(data), daemon=True)
    writer.start()
    code, out, err = run(command, pipe, *([tmp_path / "out.mtx"] if command == "convert" else []), "--json")
    writer.join(10)
    assert code == OK and err == "", err
    facts = json.loads(out)
    assert facts["entries" if command != "bfs" else "reached"] == (4 if command != "bfs" else 3)


def program(*args, shell="", **options):
    """(exit code, stdout, stderr) of the command as a program; `shell`: redirections."""
    line = f'exec "$0" -m grb_tile "$@" {shell}'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable, *map(str, args)],
        capture_output=True,
        env=ENVIRONMENT,
        timeout=120,
        **options,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("name", ["/dev/stdin", "-"])
def test_standard_input(name):
    code, out, err = program("bfs", name, "--json", "--source", 0, input=MARKET.encode())
    assert (code, err) == (OK, "") and json.loads(out)["reached"] == 3


def test_closed_and_full_outputs(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("0 1\n1 2\n")
    code, _, err = program("bfs", path, shell=">&-")
    assert code == BAD_INPUT and err.startswith("grb-tile bfs: standard output is closed")
    code, out, _ = program("bfs", tmp_path / "none", shell="2>&-")
    assert (code, out) == (BAD_INPUT, "")
    code, _, _ = program("bfs", tmp_path / "none", shell=">&- 2>&-")
    assert code == BAD_INPUT
    code, out, _ = program("bfs", path, "--source", 0, shell="2>&-")
    assert code == OK and "reached    3" in out
    code, _, err = program("bfs", path, shell=">/dev/full")
    assert (code, err) == (BAD_INPUT, "grb-tile bfs: No space left on device\n")
    code, _, _ = program("bfs", tmp_path / "none", shell="2>/dev/full")
    assert code == BAD_INPUT
    code, _, err = program("info", "-", shell="<&-")
    assert code == BAD_INPUT and "standard input is closed" in err


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("0 1\n1 2\n")
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "grb_tile", "bfs", path],
            stdout=write,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            timeout=120,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (OK, b"")


@pytest.mark.parametrize(
    "args",
    [
        ("bfs", "{file}", "--output", "{folder}/no/x.txt"),
        ("bfs", "{file}", "--output", "{folder}/no/x.grb"),
        ("pagerank", "{file}", "--plot", "{folder}/no/x.png"),
        ("convert", "{file}", "{folder}/no/x.mtx"),
        ("convert", "{file}", "{folder}/x.foo"),
        ("bench", "--generate", "kron:4", "--json", "{folder}/no/x.json"),
        ("bfs", "{file}", "--output", "{folder}/folder.txt"),
    ],
)
def test_a_target_that_cannot_be_written_is_said_before_the_work(run, monkeypatch, tmp_path, args):
    def never(*args, **options):
        raise AssertionError("the file was read before its target was checked")

    monkeypatch.setattr("grb_tile.io.read", never)
    monkeypatch.setattr("grb_tile.cli.generate.load", never)
    (tmp_path / "folder.txt").mkdir()
    (tmp_path / "g.txt").write_text("0 1\n")
    code, out, err = run(*(arg.format(file=tmp_path / "g.txt", folder=tmp_path) for arg in args))
    assert code == BAD_INPUT and out == "" and err.count("\n") == 1
    assert "there is no folder" in err or "this is a folder" in err or "cannot tell the format" in err, err


def test_an_interruption_while_the_parser_is_built(run, monkeypatch):
    def stop(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "import_module", stop)
    assert run("bfs", "x") == (INTERRUPTED, "", "grb-tile: interrupted\n")


@pytest.mark.parametrize(
    "error, code",
    [
        (lambda: len(5), INTERNAL),
        (lambda: [][1], INTERNAL),
        (lambda: __import__("grb_tile_nowhere"), INTERNAL),
        (lambda: {}["x"], INTERNAL),
        (lambda: 1 // 0, INTERNAL),
        (lambda: int("x"), BAD_INPUT),
    ],
)
def test_an_accident_is_not_blamed_on_the_input(run, monkeypatch, tmp_path, error, code):
    (tmp_path / "g.txt").write_text("0 1\n")
    monkeypatch.setattr("grb_tile.cli.traversal.run", lambda args: error())
    got, out, err = run("bfs", tmp_path / "g.txt")
    assert (got, out) == (code, "") and ("internal error" in err) == (code == INTERNAL)


def test_an_interrupt_while_grb_tile_is_imported_is_one_line():
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.startswith('grb_tile'): raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from start import main\n"  # installed as _grb_tile_cli
        "sys.exit(main())\n"
    )
    folder = ROOT / "grb_tile" / "cli"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED, "", "grb-tile: interrupted\n")
