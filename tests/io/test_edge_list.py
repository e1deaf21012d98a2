"""Edge lists: dialects, labels, weights, and what must fail with a line number."""

import gzip
import io

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import io as grb_io
from grb_tile.io.edge_chunks import joined_weights
from grb_tile.io.edge_list import read_edges
from grb_tile.io.errors import BadFile

NAN = float("nan")
# text, options, sources, targets, weights, labels, size
GOOD = [
    ("0 1\n1 2\n", {}, [0, 1], [1, 2], None, None, 3),
    ("# c\n0 1\n\n  % d\n// e\n1 2", {}, [0, 1], [1, 2], None, None, 3),
    ("0,1,2.5\n1,2,3\n", {}, [0, 1], [1, 2], [2.5, 3.0], None, 3),
    ("source,target,w\n0,1,2\n1,2,3\n", {}, [0, 1], [1, 2], [2, 3], None, 3),
    ("source,target\na,b\nb,c\n", {"labels": True}, [0, 1], [1, 2], None, ["a", "b", "c"], 3),
    ("a,b\nb,c\n", {}, [0, 1], [1, 2], None, ["a", "b", "c"], 3),
    ("# Nodes: 3 Edges: 2\n0 1\n1 3\n", {}, [0, 1], [1, 2], None, [0, 1, 3], 3),
    ("# Nodes: 3 Edges: 2\n1 2\n2 3\n", {}, [0, 1], [1, 2], None, range(1, 4), 3),
    ("p edge 3 2\ne 1 2 4\ne 2 3 5\n", {}, [0, 1], [1, 2], [4, 5], None, 3),
    ("p edge 3 2\ne 1 2 4\ne 2 3 5\n", {"weights": False}, [0, 1], [1, 2], None, None, 3),
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
    # numbered from 1, or with gaps: no vertex that the file does not name
    ("1 2\n2 3\n", {}, [0, 1], [1, 2], None, range(1, 4), 3),
    ("1 2\n2 3\n", {"base": 0}, [1, 2], [2, 3], None, None, 4),
    ("1 2\n2 3\n", {"labels": False}, [1, 2], [2, 3], None, None, 4),
    ("0 1\n6 3\n", {}, [0, 3], [1, 2], None, [0, 1, 3, 6], 4),
    (f"5 {10**17}\n{10**17} 7\n", {}, [0, 2], [2, 1], None, [5, 7, 10**17], 3),
    ("# Nodes: 5 Edges: 2\n1 2\n2 3\n", {}, [1, 2], [2, 3], None, None, 5),
    ("# Nodes: 5 Edges: 2\n1 2\n2 5\n", {}, [0, 1], [1, 4], None, range(1, 6), 5),
    ("# Nodes: 3 Edges: 2\n10 20\n20 30\n", {}, [0, 1], [1, 2], None, [10, 20, 30], 3),
    # a byte order mark is no part of a label
    ("\ufeffa b\nb a\n", {}, [0, 1], [1, 0], None, ["a", "b"], 2),
    ("\ufeff0 1\n1 0\n", {}, [0, 1], [1, 0], None, None, 2),
    # a first weight of any type
    ("0 1 nan\n1 0 2\n", {}, [0, 1], [1, 0], [NAN, 2], None, 2),
    ("0 1 Inf\n1 0 -Infinity\n", {}, [0, 1], [1, 0], [np.inf, -np.inf], None, 2),
    ("0 1 NaN\n1 0 -INF\n", {}, [0, 1], [1, 0], [NAN, -np.inf], None, 2),
    ("0 1 True\n1 0 False\n", {}, [0, 1], [1, 0], [True, False], None, 2),
    ("a,b,true\nb,a,false\n", {}, [0, 1], [1, 0], [True, False], ["a", "b"], 2),
    ("0 1 1+2j\n1 0 (3-4e2j)\n0 0 5\n", {}, [0, 1, 0], [1, 0, 0], [1 + 2j, 3 - 400j, 5], None, 2),
    ("0 1 1j\n1 0 (nan+infj)\n", {}, [0, 1], [1, 0], [1j, complex("nan+infj")], None, 2),
    (f"0 1 {2**64 - 1}\n1 0 5\n", {}, [0, 1], [1, 0], [2**64 - 1, 5], None, 2),
    (f"0 1 {-(2**63)}\n1 0 {2**63 - 1}\n", {}, [0, 1], [1, 0], [-(2**63), 2**63 - 1], None, 2),
    (f"0 1 0.5\n0 {2**53 + 1} 1\n", {}, [0, 0], [1, 2], [0.5, 1], [0, 1, 2**53 + 1], 3),
    # pandas' column of the lines' numbers
    (",source,target\n0,5,6\n1,6,7\n", {}, [0, 1], [1, 2], None, [5, 6, 7], 3),
    (",weight,target,source\n0,2.5,a,b\n", {}, [0], [1], [2.5], ["b", "a"], 2),
    (",left,right\n0,5,6\n1,6,7\n", {}, [0, 1], [1, 2], None, [5, 6, 7], 3),
    ("Unnamed: 0\tu\tv\tw\n4\t0\t1\t2\n9\t1\t0\t3\n", {}, [0, 1], [1, 0], [2, 3], None, 2),
    (",0,1,2\n0,5,6,2.5\n1,6,7,3.5\n", {}, [0, 1], [1, 2], [2.5, 3.5], [5, 6, 7], 3),
    # a comma of decimals is in every weight, or not always before three digits
    ("a;b;5,678\nb;c;3,512\n", {}, [0, 1], [1, 2], [5.678, 3.512], ["a", "b", "c"], 3),
    ("a;b;5,67\nb;c;3\n", {}, [0, 1], [1, 2], [5.67, 3], ["a", "b", "c"], 3),
    # headers
    ("source,target\na,b\n", {}, [0], [1], None, ["a", "b"], 2),
    ("Source;Target;Weight\na;b;2\n", {}, [0], [1], [2], ["a", "b"], 2),
    ("FromNodeId\tToNodeId\n0\t1\n", {}, [0], [1], None, None, 2),
    ("id,source,target,weight\n9,0,1,2\n9,1,0,3\n", {}, [0, 1], [1, 0], [2, 3], None, 2),
    ("weight,target,source\n2.5,a,b\n", {}, [0], [1], [2.5], ["b", "a"], 2),
    ("left,right\n0,1\n1,0\n", {}, [0, 1], [1, 0], None, None, 2),
    ("source,target\n", {}, [], [], None, None, 0),
    ("source,target\n", {"header": False}, [0], [1], None, ["source", "target"], 2),
    ("0,1\n1,0\n", {"header": True}, [1], [0], None, None, 2),
    ("ann,bob\ncyd,5\n", {}, [0, 2], [1, 3], None, ["ann", "bob", "cyd", "5"], 4),
    ("ann,bob\n", {}, [0], [1], None, ["ann", "bob"], 2),
    # delimiters and decimal commas
    ("1;2;0,5\n2;1;1,25\n", {}, [0, 1], [1, 0], [0.5, 1.25], range(1, 3), 2),
    ("0;1;5\n1;0;1,25\n", {}, [0, 1], [1, 0], [5, 1.25], None, 2),
    ("0\t1\t0,5\n", {}, [0], [1], [0.5], None, 2),
    ("0 1 0,5\n1 0 2,5\n", {}, [0, 1], [1, 0], [0.5, 2.5], None, 2),
    ("a;b;0,5\nb;a;1e3\n", {}, [0, 1], [1, 0], [0.5, 1000], ["a", "b"], 2),
    ("0, 1, 0.5\n1, 0, 2\n", {}, [0, 1], [1, 0], [0.5, 2], None, 2),
    ("Doe, Ann\tRoe, Bob\n", {}, [0], [1], None, ["Doe, Ann", "Roe, Bob"], 2),
    ("0 1\t5\n1 0\t6\n", {}, [0, 1], [1, 0], [5, 6], None, 2),
    ("0::1::5::97\n1::0::6::98\n", {"delimiter": "::"}, [0, 1], [1, 0], [5, 6], None, 2),
    ('"a"::b::5\n', {"delimiter": "::"}, [0], [1], [5], ['"a"', "b"], 2),  # csv has no quotation marks there
    ('"0","1","2.5"\n"1","0","3"\n', {}, [0, 1], [1, 0], [2.5, 3], None, 2),
    ('"a ""b""",c\n', {}, [0], [1], None, ['a "b"', "c"], 2),
    ("0,1,\n1,0,\n", {"weights": False}, [0, 1], [1, 0], None, None, 2),
    # DIMACS
    ("c x\np edge 3 2\ne 1 2\ne 2 3\n", {}, [0, 1], [1, 2], None, None, 3),
    ("p col 3 1\nn 1 5\ne 1 2\n", {}, [0], [1], None, None, 3),
    ("p max 3 1\nn 1 s\nn 3 t\na 1 3 4\n", {}, [0], [2], [4], None, 3),
    ("p sp 3 0\n", {}, [], [], None, None, 3),
    ("p sp 2 1\na 1 2 0.5\n", {"weights": False}, [0], [1], None, None, 2),
]


@pytest.mark.parametrize("text, options, sources, targets, weights, labels, size", GOOD)
def test_dialects(text, options, sources, targets, weights, labels, size):
    edges = read_edges(io.StringIO(text), **options)
    assert edges.sources.tolist() == sources and edges.targets.tolist() == targets
    assert (edges.weights is None) == (weights is None)
    if weights is not None:
        np.testing.assert_array_equal(edges.weights, weights)
        kind = "u" if max(map(abs, weights)) >= 2**63 and -(2**63) not in weights else np.array(weights).dtype.kind
        assert edges.weights.dtype.kind in (kind, "f") or np.isinf(weights).any()
    assert edges.labels == labels and edges.size == size
    if text.isascii() and "\n" in text:  # the same with Windows line ends, comments between, blank lines
        comment = "c" if "p " in text else "#"
        changed = text.replace("\n", f"\r\n\r\n{comment} x\r\n")
        again = read_edges(io.BytesIO(changed.encode()), **options)
        assert again.sources.tolist() == sources and again.targets.tolist() == targets and again.size == size
        np.testing.assert_array_equal(again.weights, edges.weights)


BAD = [
    ("0 1\n1 x\n", {}, "line 2: expected two vertex numbers, found '1 x'"),
    ("0 1 2\n\n1 2 x\n", {}, "line 3: the weight 'x' is not a number"),
    ("# c\n0 -1\n", {}, "line 2: vertex number -1 is less than 0"),
    ("0 1\n", {"base": 1}, "vertex number 0 is less than 1"),
    ("0 1\n1\n", {}, "line 2: expected 2 columns"),
    ("0 1 2\n3 4\n", {}, "line 2: expected 3 columns"),
    ("source,target\n0,1\n1,x\n", {"labels": False}, "line 3: expected two vertex numbers, found '1,x'"),
    ("source,target,weight\n0,1,2\n\n1,2,x\n", {}, "line 4: the weight 'x' is not a number"),
    ("# c\nsource target\n0 1\n1 2\n2 -1\n", {"labels": False}, "line 5: vertex number -1 is less than 0"),
    ("0\n", {}, "line 1: expected `source target"),
    ("99999999999999999999 1\n", {}, "is more than 2**60"),
    ("a b\n", {"labels": False}, "'a' is not a whole number"),
    ("0 1\n", {"weights": True}, "no third column"),
    ("a b 1\nb c x\n", {}, "line 2: the weight 'x' is not a number"),
    ("0 5\n", {"size": 3}, "vertex 5 is outside the 3"),
    ("0 1 2020-01-01\n", {}, "line 1: '2020-01-01' in column 3 is not a number"),
    ("a b friend\n", {}, "'friend' in column 3 is not a number. Pass weights=False"),
    ("0 1 2\n0 1 True\n", {}, "line 2: the weight 'True' is not a number"),
    ("0 1 True\n0 1 2\n", {}, "line 2: the weight '2' is neither true nor false"),
    ("p sp 3 5\na 1 2 3\n", {}, "the file has 1 edges, its header `p sp` 5"),
    ("p sp 3 1\na 1 2 3\na 2 3 1\n", {}, "the file has 2 edges, its header `p sp` 1"),
    ("c x\np sp 3 2\na 1 2 3\ne 2 3 1\n", {}, "line 4: expected a line of 'a', found 'e 2 3 1'"),
    ("p sp 3 2\na 1 2 3\n2 3 1\n", {}, "line 3: expected a line of 'a'"),
    ("p min 3 1\na 1 2 0 4 5\n", {}, "line 1: DIMACS problems of kind 'min'"),
    ("p sp 3 1\na 0 2 3\n", {}, "line 2: vertex number 0 is less than 1"),
    ("p sp 3 1\na x 2 3\n", {}, "line 2: 'x' is not a whole number"),
    ("0,1\n,2\n", {}, "line 2: a vertex has no name"),
    (",2,5\n1,3,4\n", {}, "line 1: a vertex has no name"),
    (",target\n0,1\n", {}, "line 2: one column has a name, which leaves none for the targets"),
    (
        "a;b;5,678\nb;c;912\n",
        {},
        "line 1: '5,678' in column 3, beside numbers without a comma, may have one for the thou",
    ),
    ("a b -1,234\nb c 9\n", {}, "write it without, or with a point"),
    ("a\tb\t1,234,567\nb\tc\t3\n", {}, "line 1: '1,234,567' in column 3 is not a number"),
    ('a,b,"1,234"\nb,c,3\n', {}, "line 1: '1,234' in column 3 is not a number"),
    ("0,1\n0,,1\n", {}, "line 2: expected 2 columns"),
    ("0,1,2\n1,,2\n", {}, "line 2: a vertex has no name"),
    ('a,"b\nc,d\n', {}, "line 1: "),
    ('a,b\nc,"d\n', {}, "line 2: "),
    (f'a,b\nc,"{"x" * 200000}"\n', {}, "line 2: field larger than field limit"),
    ("ann bob\nnew york bob\n", {}, "line 2: expected 2 columns as in the first line, found 3"),
    ("source,name,target\nann,5\n", {}, "line 2: expected 3 columns as in the header, found 2"),
    (f"0 1 {2**64}\n", {}, "does not fit into 64 bits"),
    (f"0 1 {2**64 - 1}\n0 1 -1\n", {}, "fit into no one type of 64 bits"),
    ("0 1 -\n", {}, "is not a number"),
    ("# grb_tile: 2 rows, 2 columns, from 0, FP32\n0 3\n", {}, "vertex 3 is outside the 2"),
    ("# grb_tile: 2 rows, 3 columns, from 0, FP32\n2 0 1\n", {}, "row 2 is outside the 2"),
    ("# grb_tile: 2 rows, 3 columns, from 0, QUX\n1 0 1\n", {}, "unknown type QUX"),
    ("p sp 2 1\na 1 3 4\n", {}, "vertex 3 is outside the 2"),
]


@pytest.mark.parametrize("text, options, message", BAD)
def test_faults_are_named_with_their_line(text, options, message):
    with pytest.raises(BadFile) as caught:
        read_edges(io.StringIO(text), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "labels", "edges"),
    [
        ("u v 3\nv w 2\nw u 1\n", ["u", "v", "w"], 3),  # edges
        ("u v\nv w\n", ["u", "v", "w"], 2),
        ("i j 3\n", ["i", "j"], 1),
        ("u v\na b\n", ["a", "b"], 1),  # names of columns
        ("u v w\nv w 2\n", ["v", "w"], 1),
        ("source,target\nsource,a\n", ["source", "a"], 1),
        ("source,target,2019\n1,2,5\n2,3,6\n", range(1, 4), 2),
    ],
)
def test_letters_are_vertices_or_names_of_columns(text, labels, edges):
    A, found = grb_io.read_edge_list(io.StringIO(text))
    assert (found, A.nvals) == (labels, edges)


@pytest.mark.parametrize("delimiter", [" ", "\t", ","])
@pytest.mark.parametrize("labels", [["u", "v", "w"], ["from", "to", "x"], ["source", "target", "u"]])
def test_labels_that_are_names_of_columns_read_back(labels, delimiter):
    A = gb.Matrix.from_coo([0, 1], [1, 2], [True, True], nrows=3, ncols=3)
    file = io.BytesIO()
    grb_io.write_edge_list(file, A, labels=labels, delimiter=delimiter)
    B, found = grb_io.read_edge_list(io.BytesIO(file.getvalue()))
    assert found == labels and B.isequal(A)


@pytest.mark.parametrize("weights", ["+5\n", "+5\nann bob -7\n"])
def test_signs_do_not_make_whole_numbers_real(weights):
    for text in (f"1 2 {weights.replace('ann bob', '3 4')}", f"ann cyd {weights}"):
        A, _ = grb_io.read_edge_list(io.StringIO(text))
        assert A.dtype.name == "INT64" and 5 in A.to_coo()[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# a\n1 2\r2 3\r", "line 2: a carriage return that no newline follows"),
        ("# x\n" * 30_000 + "source target\n1 2\n", "no line of an edge ends in the first 65536 bytes"),
        ("1 2\r" * 30_000, "no line of an edge ends in the first 65536 bytes"),
        ("\x0b\n1;2;2,5\n", "line 1: expected `source target .weight.`, found ''"),  # a line of a vertical tab
    ],
)
def test_beginnings_that_say_nothing_are_refused(text, message):
    with pytest.raises(BadFile, match=message):
        grb_io.read_edge_list(io.BytesIO(text.encode()))


def test_labels_that_are_no_utf8_stay_apart():
    edges = read_edges(io.BytesIO(b"caf\xe9 caf\xe8\n"))
    assert edges.labels == ["caf\xe9", "caf\xe8"]
    for encoding in ("utf-16", "utf-8-sig"):
        assert read_edges(io.BytesIO("caf\xe9 b\nb c".encode(encoding))).labels == ["caf\xe9", "b", "c"]
    with pytest.raises(BadFile, match="utf-16-le"):
        read_edges(io.BytesIO(b"\xff\xfea\x00\x00\xdc\x00\xdc"))


@pytest.mark.parametrize("delimiter", ["", '"', "\n", 5])
def test_delimiters_that_are_none(delimiter):
    with pytest.raises(ValueError, match="delimiter"):
        read_edges(io.StringIO("0 1\n"), delimiter=delimiter)


@pytest.mark.parametrize(
    ("head", "entries"),
    [("% sym unweighted\n% 3 3 3\n", 5), ("%\tsym signed\r\n", 5), ("% asym weighted\n", 3), ("", 3)],
)
def test_symmetric_files_of_konect_are_entered_both_ways(head, entries):
    text = head + "1 2 5\n2 3 6\n3 3 7\n"
    A, _ = grb_io.read_edge_list(io.StringIO(text, newline=""))
    assert A.nvals == entries and A.T.new().isequal(A) == (entries == 5)
    assert grb_io.read_edge_list(io.StringIO(text, newline=""), directed=True).matrix.nvals == 3
    assert grb_io.read(io.StringIO(text, newline="")).obj.nvals == entries


def test_edges_without_direction_are_entered_once_in_each():
    import grb_tile as gb

    text = "p edge 3 2\ne 1 2\ne 2 2\n"
    A, _ = grb_io.read_edge_list(io.StringIO(text))
    assert A.to_coo()[0].tolist() == [0, 1, 1] and A.to_coo()[1].tolist() == [1, 0, 1]
    A, _ = grb_io.read_edge_list(io.StringIO(text), directed=True)
    assert A.nvals == 2
    A, _ = grb_io.read_edge_list(io.StringIO("0 0 5\n0 1 7\n"), directed=False, dup_op=gb.binary.plus)
    assert A.to_dense(0).tolist() == [[5, 7], [7, 0]], "a self loop is one entry"


METIS = {
    "plain": ("% c\n3 2\n2\n1 3\n2\n", [[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
    "weights": ("3 2 1\n2 5\n% c\n1 5 3 7\n2 7\n", [[0, 5, 0], [5, 0, 7], [0, 7, 0]]),
    "vertex weights": ("2 1 11 2\n9 9 2 5\n8 8 1 5\n", [[0, 5], [5, 0]]),
    "sizes": ("2 1 100\n9 2\n8 1\n", [[0, 1], [1, 0]]),
    "isolated": ("3 1\n\n3\n2\n\n\n", [[0, 0, 0], [0, 0, 1], [0, 1, 0]]),
    "empty": ("2 0\n\n\n", [[0, 0], [0, 0]]),
}


@pytest.mark.parametrize("name", METIS)
def test_metis_graphs(name, tmp_path):
    text, dense = METIS[name]
    path = tmp_path / "x.graph.gz"
    path.write_bytes(gzip.compress(text.encode()))
    found = grb_io.read(path)
    assert found.format == "metis" and found.obj.to_dense(0).astype(int).tolist() == dense


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "ends before its header"),
        ("3\n", "expected the header"),
        ("3 2 7\n", "unknown fmt 007"),
        ("2 1\n2\n", "has 1 vertices and 1 neighbours"),
        ("2 1\n2\n1\n1\n", "line 4: more lines than the 2 vertices"),
        ("2 2\n2\n1\n", "2 neighbours, its header 2 and 2 x 2"),
        ("2 1\n3\n1\n", "line 2: the neighbour 3 is outside 1..2"),
        ("2 1\n0\n1\n", "line 2: the neighbour 0 is outside"),
        ("2 1\nx\n1\n", "line 2: expected whole numbers"),
        ("2 1 1\n2\n1 5\n", "line 2: a neighbour has no weight"),
        ("2 2\n2 2\n1 1\n", "uplicate"),
        ("2 1\n99999999999999999999\n1\n", "expected whole numbers"),
    ],
)
def test_metis_faults(text, message):
    with pytest.raises(BadFile, match=message):
        grb_io.read_metis(io.StringIO(text))


def test_chunks_join(monkeypatch):
    monkeypatch.setattr("grb_tile.io.streams.CHUNK", 50)
    text = "".join(f"{k} {k + 1} {k / 2}\n" for k in range(300))
    edges = read_edges(io.StringIO(text))
    assert edges.sources.tolist() == list(range(300)) and edges.weights.tolist() == [k / 2 for k in range(300)]
    with pytest.raises(BadFile, match="line 301"):
        read_edges(io.StringIO(text + "1 2 z\n"))
    with pytest.raises(BadFile, match="line 303"):
        read_edges(io.StringIO("# x\n\n" + text + "1 2 z\n"))
    edges = read_edges(io.StringIO(text + f"5 6 {2**53}\n"))
    assert edges.weights.dtype == np.float64
    with pytest.raises(BadFile, match="truth values in some lines"):
        joined_weights([np.ones(2), np.ones(2, bool)], "x")
    with pytest.raises(BadFile, match="no type of 64 bits"):
        read_edges(io.StringIO("0 1 -1\n" * 20 + f"0 1 {2**63}\n" * 40))
    edges = read_edges(io.StringIO("0 1 1\n" * 20 + f"0 1 {2**63}\n" * 40))
    assert edges.weights.tolist() == [1] * 20 + [2**63] * 40
    edges = read_edges(io.StringIO("0 1 1\n" * 20 + "0 1 2j\n" * 40))
    assert edges.weights.tolist() == [1] * 20 + [2j] * 40


def test_matrix_of_an_edge_list(tmp_path):
    path = tmp_path / "e.txt.gz"
    with gzip.open(path, "wt") as file:
        file.write("0 1 5\n0 1 7\n2 2 1\n")
    A, labels = grb_io.read_edge_list(path, dup_op="first")
    assert labels is None and A.shape == (3, 3) and A[0, 1].new().value == 5 and A.nvals == 2
    A, _ = grb_io.read_edge_list(path, directed=False, dup_op="first")
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
        edges = read_edges(io.StringIO(text), base=0)
        np.testing.assert_array_equal(np.stack([edges.sources, edges.targets, edges.weights], 1), table)
        edges = read_edges(io.StringIO(text))
        names = np.arange(edges.size) if edges.labels is None else np.array(edges.labels)
        np.testing.assert_array_equal(names, np.unique(table[:, :2]))
        np.testing.assert_array_equal(np.stack([names[edges.sources], names[edges.targets], edges.weights], 1), table)


def test_a_complex_weight_with_half_its_brackets_is_named():
    with pytest.raises(BadFile, match="no complex number"):
        grb_io.read_edge_list(io.BytesIO(b"0 1 (1+2j)\n1 2 1+2j)\n"))


@pytest.mark.parametrize(
    ("head", "shape"), [("% bip weighted\n% 3 4 5\n", (4, 5)), ("%\tbip unweighted\r\n", (2, 3)), ("", (3, 3))]
)
def test_both_sides_of_a_bipartite_file_of_konect_are_numbered_apart(head, shape):
    """Row i and column i are different vertices; without the second line the numbers say how many there are."""
    A, labels = grb_io.read_edge_list(io.StringIO(head + "1 1 5\n1 2 6\n2 3 7\n"))
    assert A.shape == shape and A.to_dicts() == {0: {0: 5, 1: 6}, 1: {2: 7}}
    assert labels == (None if head else range(1, 4))
    if head:
        with pytest.raises(
            ValueError, match=f"directed=False: the file's matrix has {shape[0]} rows and {shape[1]} col"
        ):
            grb_io.read_edge_list(io.StringIO(head + "1 1\n1 2\n2 3\n"), directed=False)


def test_a_bipartite_file_with_a_number_beyond_its_sizes_is_refused():
    with pytest.raises(BadFile, match="column 3 is outside the 2 vertices of the header"):
        grb_io.read_edge_list(io.StringIO("% bip weighted\n% 3 3 2\n1 1\n1 2\n2 3\n"))


@pytest.mark.parametrize("delimiter", [" ", ",", "\t"])
@pytest.mark.parametrize("first", [0, 1, 5])
def test_the_karate_club_has_34_members_however_they_are_numbered(first, delimiter, tmp_path):
    networkx = pytest.importorskip("networkx")
    G = networkx.karate_club_graph()
    path = tmp_path / "karate.txt"
    path.write_text("".join(f"{u + first}{delimiter}{v + first}\n" for u, v in G.edges))
    A, labels = grb_io.read_edge_list(path, directed=False)
    assert A.shape == (34, 34) and A.nvals == 2 * 78
    names = range(34) if labels is None else labels
    assert list(names) == list(range(first, first + 34))
    assert {(names[i], names[j]) for i, j in zip(*A.to_coo(values=False)[:2], strict=True)} == {
        (u + first, v + first) for edge in G.edges for u, v in (edge, edge[::-1])
    }
