"""Labels of graphs in files: what is written with labels is read with them; what cannot hold them says so."""

import io
import json

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, strategies as st

import grb_tile as gb
from grb_tile import algorithms as alg, io as grb_io
from grb_tile.cli.main import OK, main
from grb_tile.exceptions import InvalidObject
from grb_tile.io.serialize import pack_store, unpack_store

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
LABELS = st.one_of(
    st.lists(TEXTS, min_size=1, max_size=6, unique=True),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=6, unique=True),
    st.builds(lambda first, n: range(first, first + n), st.integers(0, 3), st.integers(1, 5)),
)
SMALL = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.5, 2.5, 3.5], nrows=3, ncols=3)


@given(labels=LABELS, seed=st.integers(0, 99), kind=st.sampled_from(["Graph", "EdgeList", "LabelledMatrix", "Read"]))
def test_binary_files_keep_labels(labels, seed, kind):
    n = len(labels)
    rng = np.random.default_rng(seed)
    A = gb.Matrix.from_dense(rng.integers(0, 3, (n, n)), missing_value=0)
    made = {
        "Graph": lambda: alg.Graph(A, labels=labels), "EdgeList": lambda: grb_io.EdgeList(A, labels),
        "LabelledMatrix": lambda: grb_io.LabelledMatrix(A, labels),
        "Read": lambda: grb_io.files.Read(A, labels, "mtx", 0),
    }[kind]()  # fmt: skip
    for save, load in ((grb_io.save, grb_io.load), (grb_io.save_npz, grb_io.load_npz)):
        file = io.BytesIO()
        save(file, made)
        found = load(io.BytesIO(file.getvalue()))
        assert type(found) is grb_io.LabelledMatrix and found.labels == list(labels)
        assert found.matrix.isequal(A, check_dtype=True)
    again = grb_io.deserialize(grb_io.serialize(made, compression=0))
    assert again.labels == list(labels) and again.matrix.isequal(A, check_dtype=True)
    assert scipy.sparse.load_npz(io.BytesIO(file.getvalue())).shape == (n, n)  # SciPy reads the matrix


@pytest.mark.parametrize("ending", ["grb", "npz", "csv", "tsv", "txt", "edges", "csv.gz"])
@pytest.mark.parametrize("labels", [["ann", "bob", "cyd"], ["7", "5", "x"], [7, 5, 9], range(1, 4), None])
def test_a_graph_is_written_and_read(ending, labels, tmp_path):
    if ending.startswith("csv") and labels and "x" in labels:
        labels = ["x", "7", "5"]  # without a comment the first line decides what names vertices
    G = alg.Graph(SMALL, labels=labels)
    path = tmp_path / f"g.{ending}"
    grb_io.write(path, G)
    found = alg.Graph(path)
    assert alg.sssp(found, found.vertex(G.label(1))).to_dict() == alg.sssp(G, G.vertex(G.label(1))).to_dict()
    assert grb_io.read(path).obj.nvals == 3 and grb_io.read(path).obj.dtype.name == "FP64"
    grb_io.write(path, found)
    assert alg.Graph(path).A.nvals == 3 and set(alg.Graph(path).labels or range(3)) == set(labels or range(3))


def test_formats_that_hold_no_labels(tmp_path):
    named, counted = alg.Graph(SMALL, labels=["ann", "bob", "cyd"]), alg.Graph(SMALL, labels=range(1, 4))
    for ending, format in (("mtx", "Matrix Market"), ("gr", "DIMACS")):
        path = tmp_path / f"g.{ending}"
        with pytest.raises(ValueError, match=f"{format} files hold no labels: write a .grb, .npz or .csv"):
            grb_io.write(path, named)
        assert not path.exists()
        grb_io.write(path, counted)
        assert grb_io.read(path).obj.isequal(SMALL)
        grb_io.write(path, alg.Graph(SMALL))
        assert grb_io.read(path).obj.isequal(SMALL)


@pytest.mark.parametrize("save", [grb_io.save, grb_io.save_npz])
def test_labels_that_no_file_keeps(save, tmp_path):
    path = tmp_path / "g.npz"
    for labels, text in (
        (["ann", 2, "cyd"], "2, the label of node 1, cannot be saved beside 'ann'"),
        ([1, "bob", 3], "'bob', the label of node 1, cannot be saved beside 1"),
        ([1, 2.5, 3], "2.5, the label of node 1"),
        ([0, 2, True], "True, the label of node 2"),
        ([1, 2, 2**63], "9223372036854775808, the label of node 2"),
        ([("a", 1), 2, 3], "the label of node 0"),
    ):
        with pytest.raises(ValueError, match=text.replace("(", r"\(").replace(")", r"\)")):
            save(path, alg.Graph(SMALL, labels=labels))
    with pytest.raises(ValueError, match="labels: expected 3 of them, one for each row and column, got 2"):
        save(path, grb_io.LabelledMatrix(SMALL, ["a", "b"]))
    assert not path.exists()
    path = tmp_path / "h.npz"
    for labels in (["b\0", *map(str, range(1999))], ["c" * 10**5, *map(str, range(1999))]):
        G = alg.Graph(gb.Matrix(bool, 2000, 2000), labels=labels)
        with pytest.raises(ValueError, match="NumPy gives all texts one length: save a .grb file"):
            grb_io.save_npz(path, G)
        grb_io.save(path, G)
        assert grb_io.load(path).labels == labels


def test_damaged_labels_are_refused():
    head, arrays = unpack_store(grb_io.serialize(grb_io.LabelledMatrix(SMALL, ["ann", "b", ""])))
    good = {"labels": np.frombuffer(b"annb", np.uint8), "label_ends": np.array([3, 4, 4])}
    assert {name: array.tolist() for name, array in good.items()} == {name: arrays[name].tolist() for name in good}
    for wrong in (
        {"label_ends": np.array([3, 4])}, {"label_ends": np.array([4, 3, 4])}, {"label_ends": np.array([3, 4, 5])},
        {"label_ends": np.array([-1, 4, 4])}, {"label_ends": np.array([3, 4, 4], np.int32)}, {"label_ends": None},
        {"labels": np.frombuffer(b"\xff\xfe\xfd\xfc", np.uint8)}, {"labels": None}, {"labels": np.array([1, 2, 3])},
        {"labels": np.array([1, 2]), "label_ends": None}, {"names": np.array([1])},
    ):  # fmt: skip
        damaged = {name: array for name, array in (arrays | wrong).items() if array is not None}
        with pytest.raises(InvalidObject):
            grb_io.deserialize(pack_store((head, damaged)))
    vector = unpack_store(grb_io.serialize(gb.Vector(int, 3)))
    with pytest.raises(InvalidObject, match="labels"):
        grb_io.deserialize(pack_store((vector[0], vector[1] | {"labels": np.array([1, 2, 3])})))
    for labels in (np.array([1, 2]), np.array([1.0, 2, 3]), np.array([["a", "b", "c"]])):
        file = io.BytesIO()
        parts = dict(np.load(_npz_of(SMALL)))
        np.savez(file, **parts, labels=labels)
        with pytest.raises(grb_io.BadFile, match="labels of"):
            grb_io.load_npz(io.BytesIO(file.getvalue()))


def _npz_of(A):
    file = io.BytesIO()
    grb_io.save_npz(file, A)
    return io.BytesIO(file.getvalue())


def test_the_order_of_arguments(tmp_path):
    for path in (tmp_path / "a.grb", str(tmp_path / "b.grb"), io.BytesIO()):
        with pytest.warns(DeprecationWarning, match=r"io.save\(obj, path\) is deprecated, use gb.io.save\(path, obj\)"):
            grb_io.save(SMALL, path)
        again = io.BytesIO(path.getvalue()) if isinstance(path, io.BytesIO) else path
        assert grb_io.load(again).isequal(SMALL)


def test_the_command_keeps_labels(tmp_path, capsys):
    graph = nx.Graph([("ann", "bob"), ("bob", "cyd")])
    nx.write_edgelist(graph, tmp_path / "g.txt", data=False)
    for target in ("g.grb", "g.npz"):
        assert main(["convert", str(tmp_path / "g.txt"), str(tmp_path / target), "--json"]) == OK
        assert "labels" not in json.loads(capsys.readouterr().out)
        assert alg.Graph(tmp_path / target).labels == ["ann", "bob", "cyd"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["g.grb", "g.npz", "g.txt"]


def test_what_was_read_is_shown_with_few_of_its_labels(tmp_path):
    path = tmp_path / "path.csv"
    path.write_text("".join(f"name {k},{'long ' * 30 if k == 1999 else f'name {k + 1}'}\n" for k in range(2000)))
    for found, kind in ((grb_io.read_edge_list(path), "EdgeList"), (grb_io.read(path), "Read")):
        text = repr(found)
        A, labels = found[:2]
        assert text.startswith(f"{kind}(") and repr(A) in text and len(labels) == 2001
        assert "['name 0', 'name 1', 'name 2', ..., 'name 1998', 'name 1999', 'long long" in text
        assert "...] of 2,001" in text and len(text) < len(repr(A)) + 250 and "name 3'" not in text
        few = repr(found._replace(labels=["ann", 2]))
        assert "labels=['ann', 2]," in few and "labels=None" in repr(found._replace(labels=None))
