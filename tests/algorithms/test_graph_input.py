"""alg.Graph and every algorithm take what describes a graph; vertices are named by label or number."""

import inspect
import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from every_algorithm import plain
from hypothesis import given, settings, strategies as st

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.algorithms.arguments import VertexNumber
from support.tables import ArrowTable, Igraph, PolarsFrame

pd = pytest.importorskip("pandas")
NAMES = ["ann", "bob", "cyd", "dan", "eve"]


def entries(G):
    i, j, x = G.A.to_coo()
    return {(G.label(a), G.label(b)): w for a, b, w in zip(i.tolist(), j.tolist(), x.tolist())}


def sources_of_a_graph(edges, directed, folder):
    """{kind: what describes the graph of edges (u, v, weight), each once}"""
    ends, weights = [edge[:2] for edge in edges], [edge[2] for edge in edges]
    columns = {"source": [u for u, _ in ends], "target": [v for _, v in ends], "weight": weights}
    df = pd.DataFrame(columns)
    made = nx.DiGraph() if directed else nx.Graph()
    made.add_weighted_edges_from(edges)
    parallel = nx.MultiDiGraph(made) if directed else nx.MultiGraph(made)
    nodes = list(made)
    numbers = [(nodes.index(u), nodes.index(v)) for u, v in ends]
    yield "pandas", df
    yield "polars", PolarsFrame(columns)
    yield "pyarrow", ArrowTable(columns)
    yield "NetworkX", made
    yield "parallel", parallel
    yield "igraph", Igraph(len(nodes), numbers, directed, {"weight": weights}, {"name": nodes})
    for ending, separator in (("csv", ","), ("tsv", "\t")):
        path = folder / f"edges.{ending}"
        df.to_csv(path, index=False, sep=separator)
        yield ending, path
    yield "read", gb.io.read(path, directed=directed)
    yield "read_edge_list", gb.io.read_edge_list(path, directed=directed)
    yield "from_pandas_edgelist", gb.io.from_pandas_edgelist(df, weight="weight", directed=directed)


@settings(max_examples=25)
@given(
    edges=st.dictionaries(
        st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), st.integers(1, 9), min_size=1, max_size=9
    ),
    directed=st.booleans(),
)
def test_every_source_is_the_same_graph(edges, directed, tmp_path_factory):
    if not directed:
        edges = {tuple(sorted(ends)): w for ends, w in edges.items()}
    listed = [(u, v, w) for (u, v), w in edges.items()]
    expected = edges if directed else edges | {(v, u): w for u, v, w in listed}
    folder = tmp_path_factory.mktemp("graph")
    for kind, x in sources_of_a_graph(listed, directed, folder):
        G = alg.Graph(x, directed)
        assert entries(G) == expected and set(G.labels) == {end for ends in edges for end in ends}, kind
        assert G.directed is directed, kind
        first = listed[0][0]
        if directed:  # without directed=False an algorithm takes the edges of a list as they are
            assert alg.bfs(x, first).to_dict() == alg.bfs(G, first).to_dict(), kind
        if not kind.startswith(("read", "from")):
            pattern = alg.Graph(x, directed, weight=False)
            assert entries(pattern) == dict.fromkeys(expected, True) and pattern.directed is directed, kind
    unnamed = alg.Graph(sp.coo_array(([1.5], ([0], [1])), shape=(2, 2)))
    assert unnamed.labels is None and entries(unnamed) == {(0, 1): 1.5}


def test_weights_columns_and_attributes_are_chosen(tmp_path):
    df = pd.DataFrame({"u": ["a", "b"], "v": ["b", "a"], "km": [3, 4], "toll": [7, 8]})
    assert entries(alg.Graph(df, weight="toll")) == {("a", "b"): 7, ("b", "a"): 8}
    assert entries(alg.Graph(df, source="v", target="u", weight="km")) == {("b", "a"): 3, ("a", "b"): 4}
    G = nx.Graph()
    G.add_edge("a", "b", km=3)
    assert entries(alg.Graph(G, weight="km")) == {("a", "b"): 3, ("b", "a"): 3}
    path = tmp_path / "a.csv"
    df.to_csv(path, index=False)
    assert entries(alg.Graph(path)) == {("a", "b"): 3, ("b", "a"): 4}
    assert entries(alg.Graph(path, weight=False)) == {("a", "b"): True, ("b", "a"): True}
    gb.io.write(tmp_path / "a.mtx", alg.Graph(path).A)
    assert alg.Graph(tmp_path / "a.mtx", weight=False).A.dtype.name == "BOOL"
    for x, option in (
        (alg.Graph(path).A, {"weight": "km"}), (G, {"source": "u"}), (path, {"target": "v"}), (path, {"weight": "km"}),
        (np.eye(2), {"dup_op": "plus"}), (gb.io.read_edge_list(path), {"weight": False}),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=next(iter(option))):
            alg.Graph(x, **option)


def test_repeated_edges_have_one_rule(tmp_path):
    rows = [("a", "b", 5), ("a", "b", 2), ("b", "c", 1), ("a", "b", 9)]
    df = pd.DataFrame(rows, columns=["source", "target", "weight"])
    df.to_csv(tmp_path / "a.csv", index=False)
    parallel = nx.MultiDiGraph()
    parallel.add_weighted_edges_from(rows)
    ends = ["abc".index(u) for u, _, _ in rows], ["abc".index(v) for _, v, _ in rows]
    graph = Igraph(3, zip(*ends), True, {"weight": [w for *_, w in rows]}, {"name": "abc"})
    for x in (df, tmp_path / "a.csv", str(tmp_path / "a.csv"), parallel, graph):
        graph._edges = list(zip(*ends))
        with pytest.warns(gb.io.RepeatedEdges, match="2 of 4 edges repeat") as caught:
            assert entries(alg.Graph(x)) == {("a", "b"): 2, ("b", "c"): 1}
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert entries(alg.Graph(x, dup_op="plus")) == {("a", "b"): 16, ("b", "c"): 1}
            assert entries(alg.Graph(x, dup_op=gb.binary.max)) == {("a", "b"): 9, ("b", "c"): 1}
            with pytest.raises(ValueError, match="uplicate"):
                alg.Graph(x, dup_op="error")
    doubled = sp.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(ValueError, match="dup_op"):
        alg.Graph(doubled)
    assert entries(alg.Graph(doubled, dup_op="plus")) == {(0, 1): 3}
    assert gb.io.from_networkx(parallel).to_dicts()[0][1] == 16  # as NetworkX has it
    assert gb.io.from_networkx(parallel, ["c", "b", "a"], dup_op="max").to_dicts() == {1: {0: 1}, 2: {1: 9}}


A = gb.Matrix.from_coo([0, 0, 1, 1, 2, 2, 0, 3, 3, 4, 4, 0], [1, 2, 0, 2, 0, 1, 3, 0, 4, 3, 0, 4],
                       [2.0, 3, 2, 1, 3, 1, 4, 4, 6, 6, 5, 5], nrows=5, ncols=5)  # fmt: skip
NAMED = {
    "source": 0, "target": 3, "sources": [0, 2], "starts": [1, 4], "nodes": [2, 0], "order": [4, 2, 0, 1, 3],
    "ignore": [1], "pairs": [(0, 1), (3, 2)], "personalization": {1: 1.0, 4: 2.0}, "dangling": {2: 1.0},
    "nstart": {0: 0.5, 3: 0.5}, "beta": {0: 1.0, 1: 2.0},
}  # fmt: skip
OTHERS = {"length": 3, "weighted": True}
EXTRA = {"katz": {"alpha": 0.01}, "random_walks": {"seed": 1}, "coloring": {"seed": 1}}


def calls_with_vertices():
    """(function, the argument that names vertices, other arguments)"""
    for name, function in vars(alg).items():
        if inspect.isfunction(function) and name in alg.__all__:
            parameters = inspect.signature(function).parameters
            needed = [p.name for p in parameters.values() if p.default is p.empty][1:]
            others = {key: (NAMED | OTHERS).get(key) for key in needed} | EXTRA.get(name, {})
            for key in parameters:
                if key in NAMED:
                    named = [0, 2] if name == "pagerank_multi" and key == "personalization" else NAMED[key]
                    plainly = {**others, "personalization": [0, 2]} if name == "pagerank_multi" else others
                    yield pytest.param(function, key, plainly | {key: named}, id=f"{name}-{key}")


def by_label(value, label):
    """`value` with label(number) in the place of each number of a vertex."""
    if isinstance(value, dict):
        return {label(key): each for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(by_label(each, label) for each in value)
    return label(value) if isinstance(value, int) else value


LABELS = {
    "texts": NAMES,
    "numbers": [10, 20, 30, 40, 50],
    "clashing numbers": [3, 4, 0, 1, 2],
    "numbers from 1": range(1, 6),
    "mixed": ["ann", 2, 7, ("a", 1), 1.5],
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("function, key, given", list(calls_with_vertices()))
def test_a_label_names_its_vertex(function, key, given, kind):
    """Each argument that names vertices, by label and by number, gives what it gives without labels."""
    G = alg.Graph(A, labels=LABELS[kind])
    vertices = {name: value for name, value in given.items() if name in NAMED}
    expected = plain(function(A, **given))
    for name in (G.label, lambda k: G.vertex(G.label(k))):
        if kind in ("clashing numbers", "numbers from 1") and name == G.label:
            name = lambda k: G.vertex(G.label(k))  # noqa: E731
        elif kind == "mixed" and name == G.label:
            name = lambda k: G.label(k) if k != 1 else G.vertex(2)  # noqa: E731
        found = plain(function(G, **given | {each: by_label(value, name) for each, value in vertices.items()}))
        for outcome in (found, expected):
            if isinstance(outcome, dict):
                outcome.pop("vertices", None)
        if function is alg.shortest_path:
            assert found == plain([G.label(k) for k in expected])
        else:
            assert found == expected


def test_the_calls_are_found():
    assert len(list(calls_with_vertices())) > 30


def test_numbers_that_may_be_labels_are_named():
    G = alg.Graph(A, labels=[3, 4, 0, 1, 2])
    with pytest.raises(ValueError, match=r"source: 3 is the number of the node 1, and the label of node 0; write "
                                         r"G.vertex\(3\) for the label, G.vertex\(1\) for the number"):  # fmt: skip
        alg.bfs(G, 3)
    assert alg.bfs(G, G.vertex(3)).levels.isequal(alg.bfs(A, 0).levels)
    assert alg.bfs(G, G.vertex(1)).levels.isequal(alg.bfs(A, 3).levels)
    with pytest.raises(ValueError, match=r"sources\[1\]: 2 is the number"):
        alg.bfs_multi(G, [G.vertex(3), 2])
    G = alg.Graph(A, labels=[10, 1, 30, 40, 50])
    assert alg.bfs(G, 1).levels.isequal(alg.bfs(A, 1).levels)  # both are the same vertex
    assert alg.bfs(G, 2).levels.isequal(alg.bfs(A, 2).levels)  # no label
    assert alg.bfs(G, 40).levels.isequal(alg.bfs(A, 3).levels)  # no number
    assert alg.bfs(G, np.int32(40)).levels.isequal(alg.bfs(A, 3).levels)
    with pytest.raises(IndexError, match="source: 60 is out of range"):
        alg.bfs(G, 60)
    assert type(G.vertex(40)) is VertexNumber and G.A[G.vertex(40), G.vertex(50)].new().value == 6
    v, at = G.A[:, G.vertex(50)].new(), G.vertex(40)
    v[at] = 8
    assert v[at].value == 8 and at in v and v.get(at) == 8 and v[[at, 0]].new().to_dict() == {0: 8, 1: 5}


def test_what_no_label_names():
    G = alg.Graph(A, labels=NAMES)
    for wrong in ("zoe", 1.0, None, ["ann"], b"ann"):
        with pytest.raises(KeyError, match=r"source: no node is called .*; the labels are in G.labels"):
            alg.bfs(G, wrong)
    for wrong in (True, np.False_):
        with pytest.raises(TypeError, match="source: expected the number of a node, got the Boolean"):
            alg.bfs(G, wrong)
        with pytest.raises(TypeError, match="got the Boolean"):
            alg.bfs(alg.Graph(A, labels=[False, True, 2, 3, 4]), wrong)
    with pytest.raises(TypeError, match="sources: expected a sequence of nodes, got 'ann'; write \\['ann'\\] for one"):
        alg.bfs_multi(G, "ann")
    with pytest.raises(TypeError, match=r"expected the number of a node.*got 'ann'.*give the graph labels"):
        alg.bfs(A, "ann")
    with pytest.raises(KeyError, match="personalization, key 'zoe': no node is called"):
        alg.pagerank(G, personalization={"zoe": 1.0})
    with pytest.raises(ValueError, match="personalization: two keys name the node 'ann'"):
        alg.pagerank(G, personalization={"ann": 1.0, 0: 2.0})
    with pytest.raises(KeyError, match="no node is called 1.0"):
        alg.bfs(alg.Graph(A, labels=range(1, 6)), 1.0)
    twice = alg.Graph(A, labels=["a", "b", "c", "b", "d"])
    with pytest.raises(ValueError, match="labels: 'b' is the label of the nodes 1 and 3"):
        alg.bfs(twice, "a")


def test_an_ego_graph_is_asked_by_the_labels_of_its_graph():
    G = alg.Graph(A, labels=NAMES)
    assert alg.ego_graph(G, "dan", undirected=True).labels == ["ann", "dan", "eve"]
    directed = alg.Graph(gb.Matrix.from_coo([0, 1], [1, 2], nrows=3, ncols=3), labels=["a", "b", "c"])
    assert alg.ego_graph(directed, "c", undirected=True).labels == ["b", "c"]
    assert alg.ancestors(directed, "c").to_dict() == {"a": True, "b": True}
    assert alg.has_path(directed, "a", "c") and not alg.has_path(directed, "c", "a")
    assert alg.shortest_path_length(directed, "a", "c") == 2


def test_the_numbers_of_a_file_are_its_labels(tmp_path):
    path = tmp_path / "a.gr"
    path.write_text("p sp 3 2\na 1 2 5\na 2 3 7\n")
    G = alg.Graph(path)
    assert G.labels == range(1, 4) and entries(G) == {(1, 2): 5, (2, 3): 7}
    assert alg.sssp(G, G.vertex(1)).to_dict() == {1: 0, 2: 5, 3: 12}
    gb.io.save(tmp_path / "v.grb", gb.Vector(int, 3))
    with pytest.raises(TypeError, match="a graph needs a Matrix, this Read has a Vector"):
        alg.Graph(tmp_path / "v.grb")


def test_a_table_of_two_sides_is_matched():
    """The sources of the edges are rows, the targets columns; whatever the source, the pairs have its labels."""
    columns = {"user": ["ann", "ann", "bob", "cyd", "cyd"], "item": ["tea", "milk", "tea", "milk", "rice"]}
    edges = set(zip(columns["user"], columns["item"]))
    table = pd.DataFrame(columns)
    for B in (table, alg.Graph(table), gb.io.from_dataframe(table), ArrowTable(columns), nx.DiGraph(list(edges))):
        found = alg.bipartite_matching(B)
        assert found.count == 3 and set(found.to_dict().items()) <= edges
        assert len(set(found.to_dict().values())) == 3 == len(found.to_dict())
    assert alg.bipartite_matching(sp.coo_array(np.array([[0, 1, 1], [0, 1, 0]]))).to_dict() == {0: 2, 1: 1}
    for undirected in (nx.Graph(list(edges)), alg.Graph(table, directed=False)):
        with pytest.raises(ValueError, match="B: an undirected graph does not say which vertices are rows"):
            alg.bipartite_matching(undirected)


def test_what_is_missing_is_named():
    """Misspelt attributes and rules are errors at once; errors name vertices by their labels."""
    with pytest.raises(KeyError, match="weight: no edge has the attribute 'heigth'"):
        alg.Graph(nx.path_graph(3), weight="heigth")
    assert alg.Graph(nx.empty_graph(3), weight="heigth").nedges == 0  # no edges, none without it
    table = pd.DataFrame({"u": ["ann", "bob"], "v": ["bob", "ann"], "w": [1, 2]})
    for weight in (None, False):
        with pytest.raises(ValueError, match="did you mean 'plus'"):
            alg.Graph(table, weight=weight, dup_op="pluss")
    with pytest.raises(alg.CycleError, match="node '(ann|bob)' is on a cycle"):
        alg.topological_sort(table)
    with pytest.raises(TypeError, match=r"of a list of edges make a data frame: pandas.DataFrame\(edges\)"):
        alg.Graph([("ann", "bob")])


def test_communities_by_label():
    G = alg.Graph(A, labels=NAMES)
    numbers = [0, 0, 1, 1, 0]
    by_label = dict(zip(reversed(NAMES), reversed(numbers)))
    sets = [{"cyd", "dan"}, frozenset({"ann", "bob", "eve"})]
    for measure in (alg.modularity, alg.partition_quality):
        assert measure(G, by_label) == measure(G, sets) == measure(G, numbers)
    assert alg.condensation(G, by_label).labels.isequal(alg.condensation(G, numbers).labels)
    for wrong, text in (({"ann": 0}, "for each of 5 nodes"), ([set(NAMES), {"ann"}], "some are in two"),
                        ([{"ann"}], "for each of 5 nodes")):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            alg.modularity(G, wrong)
    with pytest.raises(KeyError, match="no node is called 'zoe'"):
        alg.modularity(G, {**by_label, "zoe": 1})
