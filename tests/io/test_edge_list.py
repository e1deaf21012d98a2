"""Edge lists: dialects, labels, weights, and what must fail with a line number."""

import gzip
import io

import numpy as np
import pytest

from grb_tile import io as grb_io
from grb_tile.io.edge_list import read_edges
from grb_tile.io.errors import BadFile

# text, options, sources, targets, weights, labels, size
GOOD = [
    ("0 1\n1 2\n", {}, [0, 1], [1, 2], None, None, 3),
    ("# c\n0 1\n\n  % d\n// e\n1 2", {}, [0, 1], [1, 2], None, None, 3),
    ("0,1,2.5\n1,2,3\n", {}, [0, 1], [1, 2], [2.5, 3.0], None, 3),
    ("source,target,w\n0,1,2\n1,2,3\n", {}, [0, 1], [1, 2], [2, 3], None, 3),
    ("source,target\na,b\nb,c\n", {"labels": True}, [0, 1], [1, 2], None, ["a", "b", "c"], 3),
    ("a,b\nb,c\n", {}, [0, 1], [1, 2], None, ["a", "b", "c"], 3),
    ("ann bob 2\nbob cyd 5.5\n", {}, [0, 1], [1, 2], [2.0, 5.5], ["ann", "bob", "cyd"], 3),
    ('"x, y",b,1\nb,"x, y",2\n', {}, [0, 1], [1, 0], [1, 2], ["x, y", "b"], 2),
    ("c hi\nc\np sp 5 2\na 1 2 7\nc x\na 5 1 8\n", {}, [0, 4], [1, 0], [7, 8], None, 5),
    ("c d 3\nd e 4\n", {}, [0, 1], [1, 2], [3, 4], ["c", "d", "e"], 3),
    ("1 2\n", {"base": 1}, [0], [1], None, None, 2),
    ("0 1 9\n", {"weights": False}, [0], [1], None, None, 2),
    ("0 1 1.5 stamp\n2 3 2.5 other\n", {}, [0, 2], [1, 3], [1.5, 2.5], None, 4),
    ("0 1\r\n2 3\r\n", {}, [0, 2], [1, 3], None, None, 4),
    ("0\t1\n2\t3\n", {"size": 9}, [0, 2], [1, 3], None, None, 9),
    ("7 8\n8 7\n", {"labels": True}, [0, 1], [1, 0], None, ["7", "8"], 2),
    ("0 1 0.12345678901234567890\n", {}, [0], [1], [0.12345678901234568], None, 2),
    ("", {}, [], [], None, None, 0),
]


@pytest.mark.parametrize("text, options, sources, targets, weights, labels, size", GOOD)
def test_dialects(text, options, sources, targets, weights, labels, size):
    edges = read_edges(io.StringIO(text), **options)
    assert edges.sources.tolist() == sources and edges.targets.tolist() == targets
    assert (None if edges.weights is None else edges.weights.tolist()) == weights
    assert edges.labels == labels and edges.size == size


BAD = [
    ("0 1\n1 x\n", {}, "line 2: expected two vertex numbers, found '1 x'"),
    ("0 1 2\n\n1 2 x\n", {}, "line 3: expected two vertex numbers and a weight"),
    ("# c\n0 -1\n", {}, "line 2: vertex number -1 is less than 0"),
    ("0 1\n", {"base": 1}, "vertex number 0 is less than 1"),
    ("0 1\n1\n", {}, "line 2: expected 2 columns"),
    ("0 1 2\n3 4\n", {}, "line 2: expected 3 columns"),
    ("0\n", {}, "line 1: expected `source target"),
    ("99999999999999999999 1\n", {}, "more than 18 digits"),
    ("a b\n", {"labels": False}, "'a' is not a whole number"),
    ("0 1\n", {"weights": True}, "no third column"),
    ("a b 1\nb c x\n", {}, "line 2: the weight 'x' is not a number"),
    ("0 5\n", {"size": 3}, "vertex 5 is outside the 3"),
    ("p sp 2 1\na 1 3 4\n", {}, "vertex 2 is outside the 2"),
]


@pytest.mark.parametrize("text, options, message", BAD)
def test_faults_are_named_with_their_line(text, options, message):
    with pytest.raises(BadFile) as caught:
        read_edges(io.StringIO(text), **options)
    assert message in str(caught.value)


def test_chunks_join(monkeypatch):
    monkeypatch.setattr("grb_tile.io.streams.CHUNK", 50)
    text = "".join(f"{k} {k + 1} {k / 2}\n" for k in range(300))
    edges = read_edges(io.StringIO(text))
    assert edges.sources.tolist() == list(range(300)) and edges.weights.tolist() == [k / 2 for k in range(300)]
    with pytest.raises(BadFile, match="line 301"):
        read_edges(io.StringIO(text + "1 2 z\n"))


def test_matrix_of_an_edge_list(tmp_path):
    path = tmp_path / "e.txt.gz"
    with gzip.open(path, "wt") as file:
        file.write("0 1 5\n0 1 7\n2 2 1\n")
    A, labels = grb_io.read_edge_list(path)
    assert labels is None and A.shape == (3, 3) and A[0, 1].new().value == 5 and A.nvals == 2
    A, _ = grb_io.read_edge_list(path, directed=False)
    assert A[1, 0].new().value == 5 and A.nvals == 3
    import grb_tile as gb

    A, _ = grb_io.read_edge_list(path, dup_op=gb.binary.plus)
    assert A[0, 1].new().value == 12
    A, _ = grb_io.read_edge_list(path, weights=False)
    assert A.dtype is gb.dtypes.BOOL and A.nvals == 2 and A.shape == (3, 3)


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv.gz"])
def test_written_edge_lists_read_back(tmp_path, ending):
    import grb_tile as gb

    A = gb.Matrix.from_coo([0, 2, 3], [1, 0, 3], [1.5, -2.0, 1e300])
    path = tmp_path / f"x.{ending}"
    grb_io.write(path, A)
    assert grb_io.read(path).obj.isequal(A, check_dtype=True)


def test_many_random_lists_agree_with_numpy():
    rng = np.random.default_rng(2)
    for _ in range(20):
        table = rng.integers(0, 50, (rng.integers(1, 40), 3))
        text = "\n".join(" ".join(map(str, row)) for row in table.tolist())
        edges = read_edges(io.StringIO(text))
        np.testing.assert_array_equal(np.stack([edges.sources, edges.targets, edges.weights], 1), table)
