"""Edges in tables of pandas, Polars and pyarrow, and graphs of igraph: all as the edge list of the same lines."""

import io
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import grb_tile as gb
from grb_tile import algorithms as alg, io as grb_io
from support.tables import ArrowTable, Igraph, PolarsFrame

pd = pytest.importorskip("pandas")
TABLES = {"pandas": pd.DataFrame, "polars": PolarsFrame, "pyarrow": ArrowTable}
NAMES = ["ann", "bob", "cyd", "x y", "Ä"]


def entries(found):
    """{(label, label): value}"""
    A, labels = found
    i, j, x = A.to_coo()
    labels = range(A.nrows) if labels is None else list(labels)
    return dict(zip([(labels[a], labels[b]) for a, b in zip(i.tolist(), j.tolist())], x.tolist()))


@pytest.mark.parametrize("kind", TABLES)
@given(
    ends=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1, max_size=12),
    weights=st.lists(st.integers(-5, 99), min_size=12, max_size=12),
    directed=st.booleans(),
    whole=st.booleans(),
    op=st.sampled_from([None, "plus", "first", "max"]),
)
def test_a_table_is_the_edge_list_of_its_rows(kind, ends, weights, directed, whole, op):
    if whole:
        ends = [(NAMES.index(u) * 3 + 1, NAMES.index(v) * 3 + 1) for u, v in ends]
    rows = [(u, v, w) for (u, v), w in zip(ends, weights)]
    table = TABLES[kind]({name: [row[k] for row in rows] for k, name in enumerate(["from", "to", "cost"])})
    text = "from\tto\tcost\n" + "".join(f"{u}\t{v}\t{w}\n" for u, v, w in rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", grb_io.RepeatedEdges)
        found = grb_io.from_dataframe(table, directed=directed, dup_op=op)
        expected = grb_io.read_edge_list(io.StringIO(text), directed=directed, dup_op=op)
    assert found.labels == expected.labels and found.matrix.isequal(expected.matrix, check_dtype=True)


@pytest.mark.parametrize("kind", TABLES)
def test_columns_are_found_or_named(kind):
    make = TABLES[kind]
    table = make({"km": [3.5], "dst": ["b"], "src": ["a"], "note": ["x"], "toll": [2]})
    assert entries(grb_io.from_dataframe(table, weight="km")) == {("a", "b"): 3.5}
    assert entries(grb_io.from_dataframe(table)) == {("a", "b"): 3.5}  # the first of the others
    assert entries(grb_io.from_dataframe(table, weight="toll")) == {("a", "b"): 2}
    assert entries(grb_io.from_dataframe(table, weight=False)) == {("a", "b"): True}
    assert entries(grb_io.from_dataframe(table, "note", "src", "toll")) == {("x", "a"): 2}
    assert entries(grb_io.from_dataframe(table, source="note", weight=False)) == {("x", "b"): True}
    assert entries(grb_io.from_dataframe(table, target="note", weight=False)) == {("a", "x"): True}
    assert entries(grb_io.from_dataframe(make({"one": ["p"], "two": ["q"]}))) == {("p", "q"): True}
    with pytest.raises(ValueError, match="column 'note' holds object values, numbers were expected.*weight=False"):
        grb_io.from_dataframe(make({"src": ["a"], "dst": ["b"], "note": ["x"]}))
    with pytest.raises(KeyError, match="no column 'mass'; it has .*'km', 'dst'"):
        grb_io.from_dataframe(table, weight="mass")
    with pytest.raises(ValueError, match="two columns of vertices were expected"):
        grb_io.from_dataframe(make({"u": [1]}))
    with pytest.raises(TypeError, match="weight: expected the name of a column"):
        grb_io.from_dataframe(table, weight=True)
    with pytest.raises(TypeError, match="df: expected a data frame or a table, got list"):
        grb_io.from_dataframe([("a", "b")])


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("column", ["u", "v", "w"])
@pytest.mark.parametrize("texts", [True, False])
def test_rows_without_a_value_are_named(kind, column, texts):
    columns = {
        "u": ["a", "b", "c"] if texts else [4, 5, 6],
        "v": ["b", "c", "a"] if texts else [5, 6, 4],
        "w": [1, 2, 3],
    }
    columns[column][1] = None
    with pytest.raises(ValueError, match=rf"column '{column}' has no value in row 1 \(of 1 such rows\)"):
        grb_io.from_dataframe(TABLES[kind](columns), "u", "v", "w")


def test_numbers_of_vertices_stay_numbers():
    for ends, labels in (
        (([0, 1], [1, 2]), None),
        (([1, 2], [2, 3]), range(1, 4)),
        (([70, 5], [5, 2**59]), [5, 70, 2**59]),
        (([-1, 5], [5, 5]), [-1, 5]),
        (([2**63 + 1, 5], [5, 2**63]), [2**63 + 1, 5, 2**63]),
        ((["1", "2"], ["2", "3"]), ["1", "2", "3"]),
        (([True, False], [False, False]), [True, False]),
        (([1, 2], ["2", "a"]), [1, "2", 2, "a"]),
    ):
        found = grb_io.from_dataframe(pd.DataFrame({"u": ends[0], "v": ends[1]}))
        assert found.labels == labels and list(map(type, found.labels or ())) == list(map(type, labels or ()))
        mine = labels if labels is not None else range(found.matrix.nrows)
        assert set(entries(found)) == {(u, v) for u, v in zip(*ends)} and len(mine) == found.matrix.nrows
    nullable = pd.DataFrame({"u": [3, 4], "v": [4, 5], "w": [1, 2]}, dtype="Int64")
    assert grb_io.from_dataframe(nullable).labels == [3, 4, 5]
    assert grb_io.from_dataframe(nullable).matrix.dtype.name == "INT64"
    days = pd.DataFrame({"u": pd.to_datetime(["2020-01-01"]), "v": pd.to_datetime(["2020-01-02"])})
    assert grb_io.from_dataframe(days).matrix.nvals == 1
    doubled = pd.DataFrame([[1, 2, 3]], columns=["u", "v", "v"])
    with pytest.raises(ValueError, match="several columns called 'v'"):
        grb_io.from_dataframe(doubled, "u", "v", weight=False)


@pytest.mark.parametrize("labels", [list("abc"), [5, 2, 9, 4, 7], list(range(5)), ["a", 1]])
def test_a_frame_of_a_matrix_is_no_list_of_edges(labels):
    """Rows and columns with the same labels: as NetworkX and pandas.crosstab make it."""
    n = len(labels)
    values = np.triu(np.arange(n * n, dtype=float).reshape(n, n), 1)
    frame = pd.DataFrame(values, index=labels, columns=labels)
    G = alg.Graph(frame)
    assert np.array_equal(G.A.to_dense(0), values) and (G.labels or list(range(n))) == labels
    with pytest.raises(ValueError, match=r"so it is a matrix .* algorithms.Graph\(df\) takes it"):
        grb_io.from_dataframe(frame)


def test_frames_of_edges_without_names_are_lists_of_edges():
    for edges in (
        [(0, 1, 2.5), (1, 2, 3.5), (2, 0, 1.0)],
        [(0, 1), (1, 2)],
        [(0, 1, 2, 3), (1, 2, 3, 3), (2, 3, 0, 0), (3, 0, 1, 1)],
    ):
        assert alg.Graph(pd.DataFrame(edges)).A.nvals == len(set(edges))


def test_whole_floats_are_integers():
    """Columns of integers with gaps are floats in pandas."""
    frame = pd.DataFrame({"u": [1, None, 3], "v": [2, 4, None]}).dropna()
    assert grb_io.from_dataframe(frame).labels == range(1, 3)
    assert grb_io.from_dataframe(pd.DataFrame({"u": [1.5, 2.0], "v": [2.0, 3.0]})).labels == [1.5, 2.0, 3.0]
    assert grb_io.from_dataframe(pd.DataFrame({"u": [1e300], "v": [2.0]})).labels == [1e300, 2.0]


def test_a_lazy_frame_is_collected_first():
    class LazyFrame:
        columns, schema = ["u", "v"], {}

        def collect(self): ...

    with pytest.raises(TypeError, match=r"a LazyFrame has no rows yet; write A.collect\(\)"):
        alg.Graph(LazyFrame())


@given(
    edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 9)), max_size=15),
    directed=st.booleans(),
    weighted=st.booleans(),
)
def test_igraph_is_the_edge_list_of_its_edges(edges, directed, weighted):
    graph = Igraph(
        6, [edge[:2] for edge in edges], directed, {"weight": [edge[2] for edge in edges]} if weighted else {},
        {"name": list("abcdef")},
    )  # fmt: skip
    expected = {}
    for u, v, w in edges:
        for a, b in {(u, v), (u, v) if directed else (v, u)}:
            expected["abcdef"[a], "abcdef"[b]] = (
                min(w, expected.get(("abcdef"[a], "abcdef"[b]), 9)) if weighted else True
            )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = grb_io.from_igraph(graph)
    assert entries(found) == expected and found.matrix.shape == (6, 6) and found.labels == list("abcdef")
    once = len({(u, v) if directed else (min(u, v), max(u, v)) for u, v, _ in edges})
    assert [each.message.repeated for each in caught] == ([len(edges) - once] if weighted and once < len(edges) else [])


def test_what_igraph_has_not():
    graph = Igraph(2, [(0, 1)], True, {"km": [4], "note": ["x"]})
    assert entries(grb_io.from_igraph(graph)) == {(0, 1): True} and grb_io.from_igraph(graph).labels is None
    assert entries(grb_io.from_igraph(graph, "km")) == {(0, 1): 4}
    weighted = Igraph(2, [(0, 1)], True, {"weight": [4]})
    assert grb_io.from_igraph(weighted, False).matrix.dtype.name == "BOOL"
    with pytest.raises(KeyError, match="no attribute 'weight'; they have"):
        grb_io.from_igraph(graph, "weight")
    with pytest.raises(ValueError, match="'note' has values that are no numbers"):
        grb_io.from_igraph(graph, "note")


def test_data_in_the_place_of_a_type_names_the_constructor():
    with pytest.raises(TypeError, match="gb.io.from_dataframe"):
        gb.Matrix(pd.DataFrame({"u": [1], "v": [2]}))
    assert np.array_equal(gb.Matrix.from_dense(pd.DataFrame({"u": [1], "v": [2]}).to_numpy()).to_dense(), [[1, 2]])


@given(
    ends=st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1, max_size=12),
    unused=st.lists(st.sampled_from(["p", "q"]), unique=True),
)
def test_categories_are_read_as_their_texts(ends, unused):
    """By their codes: unused ones are no vertices, and both columns may number them in their own way."""
    df = pd.DataFrame(ends, columns=["source", "target"])
    expected = grb_io.from_dataframe(df)
    for order in (NAMES, NAMES[::-1]):
        kinds = {"source": pd.CategoricalDtype(NAMES + unused), "target": pd.CategoricalDtype(unused + order)}
        found = grb_io.from_dataframe(df.astype(kinds))
        assert found.labels == expected.labels and found.matrix.isequal(expected.matrix, check_dtype=True)
    found = grb_io.from_dataframe(df.astype({"target": "category"}))  # one column alone
    assert found.labels == expected.labels and found.matrix.isequal(expected.matrix)


def test_categories_of_numbers_are_numbers_and_gaps_are_named():
    df = pd.DataFrame({"source": [10, 7], "target": [7, 30]}).astype("category")
    assert grb_io.from_dataframe(df).labels == [7, 10, 30]
    df = pd.DataFrame({"source": ["a", "b"], "target": ["b", None]}).astype("category")
    with pytest.raises(ValueError, match="column 'target' has no value in row 1"):
        grb_io.from_dataframe(df)


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars(kind):
    pl = pytest.importorskip("polars")
    df = pl.DataFrame({"source": ["b", "a", "b"], "target": ["c", "b", "a"]})
    of = pl.Categorical if kind == "Categorical" else pl.Enum(["z", "a", "b", "c"])
    assert entries(grb_io.from_dataframe(df.cast(of))) == entries(grb_io.from_dataframe(df))
    assert grb_io.from_dataframe(df.cast(of)).labels == ["b", "c", "a"]
    with pytest.raises(ValueError, match="column 'source' has no value in row 1"):
        grb_io.from_dataframe(pl.DataFrame({"source": ["b", None], "target": ["c", "b"]}).cast(of))


def test_dictionaries_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    parts = [pa.array(part).dictionary_encode() for part in (["b", "a"], ["c", "b"])]  # each has its own dictionary
    table = pa.table({"source": pa.chunked_array(parts), "target": pa.chunked_array(parts[::-1])})
    assert grb_io.from_dataframe(table).labels == ["b", "c", "a"]
    assert set(entries(grb_io.from_dataframe(table))) == {("b", "c"), ("a", "b"), ("c", "b"), ("b", "a")}
    codes = pa.array([0, 1, None], pa.uint32())  # as Polars gives them
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["b", "a"]))
    whole = pa.table({"source": column.slice(0, 2), "target": column.slice(0, 2)})
    assert grb_io.from_dataframe(whole).labels == ["b", "a"]
    with pytest.raises(ValueError, match="column 'target' has no value in row 1"):
        grb_io.from_dataframe(pa.table({"source": column.slice(0, 2), "target": column.slice(1, 2)}))


@given(st.lists(st.tuples(st.integers(0, 2**59), st.integers(0, 2**59)), min_size=1, max_size=30), st.integers(1, 3))
def test_numbers_far_apart_keep_their_order(ends, times):
    """Where many repeat a hash table has them, else a sort."""
    df = pd.DataFrame(ends * times, columns=["source", "target"])
    A, labels = grb_io.from_dataframe(df, weight=False)
    labels = range(A.nrows) if labels is None else list(labels)
    i, j, _ = A.to_coo()
    assert list(labels) == sorted(set(labels)) and {(labels[a], labels[b]) for a, b in zip(i, j)} == set(ends)
