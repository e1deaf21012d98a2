"""What the command says of memory before a file is loaded: bytes from the head alone, and when there is no head."""

import io
import json

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.cli import memory
from grb_tile.io.streams import opened


def head(text):
    return gb.io.mminfo(io.BytesIO(text.encode()))


KINDS = [  # first line, bytes of a value, entries of a line
    ("coordinate real general", 8, 1), ("coordinate real symmetric", 8, 2), ("coordinate pattern symmetric", 0, 2),
    ("coordinate integer general", 8, 1), ("coordinate complex hermitian", 16, 2), ("array real general", 8, None),
    ("coordinate real skew-symmetric", 8, 2),
]  # fmt: skip


@pytest.mark.parametrize("kind, value, each", KINDS, ids=[kind for kind, _, _ in KINDS])
def test_bytes_of_each_kind(kind, value, each):
    n, lines = 1000, 300
    text = f"%%MatrixMarket matrix {kind}\n{n} {n}{'' if each is None else f' {lines}'}\n"
    entries = n * n if each is None else lines * each
    found = memory.estimate(head(text))
    matrix = 8 * (min(n, 2 * entries) + 1) + entries * (4 + value)
    assert (found["nrows"], found["ncols"], found["entries"], found["matrix"]) == (n, n, entries, matrix)
    assert found["loading"] == matrix + 2 * entries * (2 * 4 + value)
    twice = 1 if kind.endswith((" symmetric", "hermitian")) else 2
    assert found["bfs"] == matrix * twice + n * 17


def test_bytes_of_large_dimensions():
    for ncols, index in ((2**31 - 1, 4), (2**31, 8)):
        found = memory.of_matrix(10, ncols, 6, 8, False)
        assert found["matrix"] == 8 * 11 + 6 * (index + 8)
        assert found["loading"] == found["matrix"] + 2 * 6 * (2 * index + 8)
    for nrows, bits in ((2**40 - 1, (2**40 - 1) * 17), (2**40, 0)):
        found = memory.of_matrix(nrows, 5, 3, 0, True)
        assert found["matrix"] == 8 * (2 * 3 + 1) + 3 * 4 and found["bfs"] == found["matrix"] + bits


def test_an_estimate_is_what_the_store_takes():
    A = gb.Matrix.from_coo(np.arange(50), np.arange(50)[::-1], np.arange(50.0), nrows=50, ncols=50)
    assert memory.of_matrix(50, 50, 50, 8, False)["matrix"] == A.nbytes


def test_files_without_a_head(run, tmp_path):
    """More comments than are looked at, or a size that the file cannot hold: the head is left out."""
    first, rest = "%%MatrixMarket matrix coordinate real general\n", "3 4 2\n1 2 5\n3 4 6\n"
    comments = "% a comment\n" * 20_000
    for name, text, known in (("short.mtx", first + rest, True), ("long.mtx", first + comments + rest, False)):
        path = tmp_path / name
        path.write_text(text)
        code, out, _ = run("info", path, "--json")
        found = json.loads(out)
        assert code == 0 and ("head" in found) == known and (found["nrows"], found["ncols"]) == (3, 4)
        if known:
            assert found["head"]["lines"] == 2 and found["head"]["symmetry"] == "general"
            assert found["head"]["comments"] in ([], "", 0)
        code, out, _ = run("info", path)
        assert code == 0 and ("head  " in out) == known and "3 by 4" in out
    for lines, known in ((2, True), (40, False)):
        path = tmp_path / "claims.mtx"
        path.write_text(f"{first}3 4 {lines}\n1 2 5\n3 4 6\n")
        with opened(path) as source:
            assert (memory.head_of(source) is not None) == known
    path.write_text("1 2\n")
    with opened(path) as source:
        assert memory.head_of(source) is None


def test_what_is_free():
    with open("/proc/meminfo", encoding="ascii") as lines:
        found = dict(line.split(":") for line in lines)
    assert memory.available() == pytest.approx(int(found["MemAvailable"].split()[0]) * 1024, rel=0.3)
