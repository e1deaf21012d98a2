"""Other libraries' objects, there and back; values as python-graphblas gives them are checked in tests/dropin."""

import itertools
import random
import re
import sys

import numpy as np
import pytest
import scipy.sparse as ss

import grb_tile as gb
from grb_tile import io as grb_io
from grb_tile.io.adjacency_dictionaries import Pattern, edge_values
from support import seeds

RNG = np.random.default_rng(11)
DENSE = RNG.integers(0, 3, (6, 9)) * RNG.integers(-4, 5, (6, 9))


def our_matrix(dtype="INT64"):
    rows, cols = np.nonzero(DENSE)
    return gb.Matrix.from_coo(rows, cols, DENSE[rows, cols], dtype, nrows=6, ncols=9)


@pytest.mark.parametrize("format", ["bsr", "csr", "csc", "coo", "lil", "dia", "dok"])
def test_scipy_formats_there_and_back(format):
    source = ss.coo_array(DENSE).asformat(format)
    A = grb_io.from_scipy_sparse(source)
    dense = A.to_dense(0)
    np.testing.assert_array_equal(dense, DENSE)
    assert A.dtype.np_type == DENSE.dtype
    back = grb_io.to_scipy_sparse(A, format)
    assert back.format == format
    np.testing.assert_array_equal(back.toarray(), DENSE)


def test_scipy_keeps_explicit_zeros_and_refuses_duplicates():
    A = grb_io.from_scipy_sparse(ss.csr_array((np.array([0.0, 2]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2)))
    assert A.nvals == 2 and A[0, 0].new().value == 0
    twice = ss.coo_array((np.array([1, 2]), ([0, 0], [1, 1])), shape=(1, 2))
    with pytest.raises((ValueError, gb.exceptions.GraphblasException)):
        grb_io.from_scipy_sparse(twice)
    assert grb_io.from_scipy_sparse(twice, dup_op=gb.binary.plus)[0, 1].new().value == 3


def test_scipy_csr_is_not_copied_and_unsorted_csr_is_not_trusted():
    source = ss.csr_array(DENSE.astype(float))
    A = grb_io.from_scipy_sparse(source)
    assert np.shares_memory(A._store.values, source.data) and np.shares_memory(A._store.indices, source.indices)
    unsorted = ss.csr_array((np.array([1, 2, 3]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    unsorted.has_sorted_indices = True  # a lie
    assert grb_io.from_scipy_sparse(unsorted).to_coo()[1].tolist() == [0, 2, 1]


def test_scipy_equal_values_are_stored_once():
    A = grb_io.from_scipy_sparse(ss.csr_array(np.eye(5)))
    assert A._store.iso and A._store.values.shape == (1,)
    np.testing.assert_array_equal(A.to_dense(0), np.eye(5))


def test_scipy_of_a_vector_and_a_bad_format():
    v = gb.Vector.from_coo([1, 3], [5, 7], size=4)
    assert grb_io.to_scipy_sparse(v).toarray().tolist() == [[0, 5, 0, 7]]
    assert grb_io.to_scipy_sparse(v, "csc").toarray().tolist() == [[0], [5], [0], [7]]
    with pytest.raises(ValueError, match="Invalid format"):
        grb_io.to_scipy_sparse(v, "nope")


def test_networkx_there_and_back():
    import networkx as nx

    G = nx.DiGraph()
    G.add_weighted_edges_from([("a", "b", 2), ("b", "c", 3), ("c", "a", 4)])
    A = grb_io.from_networkx(G)
    assert A.to_coo()[2].tolist() == [2, 3, 4] and A.shape == (3, 3)
    assert grb_io.from_networkx(G, nodelist=["c", "a"], dtype="FP32").to_dense(0).tolist() == [[0, 4], [0, 0]]
    H = grb_io.to_networkx(A)
    assert sorted(H.edges(data="weight")) == [(0, 1, 2), (1, 2, 3), (2, 0, 4)]
    assert sorted(grb_io.to_networkx(A, None).edges(data=True)) == [(0, 1, {}), (1, 2, {}), (2, 0, {})]


NODES = {
    "in order": list(range(9)),
    "gaps": [7 * k - 30 for k in range(8, -1, -1)],
    "far apart": [10**k for k in range(9)],
    "text": list("ihgfedcba"),
    "mixed": [0, "a", (1, 2), 2.5, frozenset(), 5, 6, 7, 8],
}


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
def test_networkx_graphs_of_every_class(kind, nodes):
    """The matrix is NetworkX's own of the same arguments, with its type."""
    import networkx as nx

    rng = random.Random(seeds.SEED)
    labels = NODES[nodes]
    G = getattr(nx, kind)()
    G.add_nodes_from(labels)
    for _ in range(30):
        u, v = rng.choice(labels), rng.choice(labels)
        G.add_edge(u, v, weight=rng.randint(-3, 3), length=rng.random())
        G.add_edge(v, u)
    part = rng.sample(labels, 5)
    views = [G.subgraph(part), G.to_undirected(as_view=True), *([G.reverse(copy=False)] if G.is_directed() else [])]
    for H in (G, *views):
        for given in (
            {},
            {"weight": None},
            {"weight": "length"},
            {"weight": "absent"},
            {"dtype": "FP32"},
            {"nodelist": part},
            {"nodelist": list(H)[::-1], "weight": "length"},
        ):
            dtype = gb.dtypes.lookup_dtype(given["dtype"]).np_type if "dtype" in given else None
            expected = nx.to_scipy_sparse_array(H, **{**given, "dtype": dtype})
            A = grb_io.from_networkx(H, **given)
            assert A.dtype.np_type == expected.dtype and A.nvals == expected.nnz
            assert np.allclose(A.to_dense(0), expected.toarray()), given


@pytest.mark.parametrize("kind", ["MultiGraph", "MultiDiGraph"])
@pytest.mark.parametrize("weight", ["weight", "absent", None])
def test_parallel_edges_are_combined_in_the_order_of_the_graph(kind, weight):
    import networkx as nx

    rng = random.Random(seeds.SEED)
    G = getattr(nx, kind)()
    G.add_nodes_from("dcba")
    for _ in range(40):
        G.add_edge(
            rng.choice("abcd"), rng.choice("abcd"), **({"weight": rng.randint(2, 9)} if rng.random() < 0.8 else {})
        )
    functions = {"plus": int.__add__, "first": lambda x, y: x, "second": lambda x, y: y, "max": max}
    for op, nodelist in itertools.product(functions, (None, ["b", "d", "a"])):
        H = G if nodelist is None else G.subgraph(nodelist)
        order = list(G) if nodelist is None else nodelist
        wanted = {}
        for u, v, x in H.edges(data=weight or "absent"):
            i, j, x = order.index(u), order.index(v), 1 if x is None else x
            for at in {(i, j)} if H.is_directed() else {(i, j), (j, i)}:
                wanted.setdefault(at[0], {})
                old = wanted[at[0]].get(at[1])
                wanted[at[0]][at[1]] = x if old is None else functions[op](old, x)
        given = {"nodelist": nodelist} if nodelist else {}
        A = grb_io.from_networkx(G, weight=weight, dup_op=op, name="A", **given)
        assert A.to_dicts() == wanted and A.dtype.name == "INT64" and A.name == "A" and A.shape == (len(order),) * 2
        assert grb_io.from_networkx(G, weight=weight, dup_op=op, dtype="FP32").dtype.name == "FP32"


def test_networkx_graphs_without_edges_nodes_or_numbers():
    import networkx as nx

    assert grb_io.from_networkx(nx.empty_graph(3)).isequal(gb.Matrix("FP64", 3, 3), check_dtype=True)
    G = nx.path_graph(3)
    assert grb_io.from_networkx(G, weight=None).ss.is_iso
    with pytest.raises(nx.NetworkXError, match="no nodes or edges"):
        grb_io.from_networkx(nx.Graph())
    for nodelist, message in (([], "has no nodes"), ([0, 9], "Node 9 in nodelist"), ([0, 1, 1], "contains duplicates")):
        with pytest.raises(nx.NetworkXError, match=message):
            grb_io.from_networkx(G, nodelist=nodelist)
    for wrong in ("far", "7", (1, 2), None, 2**70):
        G[0][1]["weight"] = wrong
        with pytest.raises(TypeError, match="weight: values of the edge attribute 'weight' are no numbers"):
            grb_io.from_networkx(G)


def test_pandas_edges_with_any_labels():
    import pandas as pd

    df = pd.DataFrame({"source": ["ann", 7, "ann"], "target": [7, "cyd", "ann"], "km": [1.5, 2.5, 4.0]})
    A, labels = grb_io.from_pandas_edgelist(df, weight="km")
    assert list(labels) == ["ann", 7, "cyd"]
    assert A[labels.get_loc(7), labels.get_loc("cyd")].new().value == 2.5 and A.nvals == 3
    A, _ = grb_io.from_pandas_edgelist(df, weight="km", directed=False)
    assert A.nvals == 5 and A.isequal(A.T.new())
    A, _ = grb_io.from_pandas_edgelist(pd.concat([df, df]))
    assert A.nvals == 3 and A.dtype is gb.dtypes.BOOL
    with pytest.raises(KeyError, match="no column 'x'"):
        grb_io.from_pandas_edgelist(df, weight="x")
    df.loc[1, "target"] = None
    with pytest.raises(ValueError, match="'target' has no value in row 1"):
        grb_io.from_pandas_edgelist(df)


def test_pandas_labels_of_two_types_are_not_rounded():
    import pandas as pd

    large = np.array([2**63 + 1, 2**63 + 2], np.uint64)
    A, labels = grb_io.from_pandas_edgelist(pd.DataFrame({"source": large, "target": np.array([5, 6])}))
    assert A.shape == (4, 4) and list(labels) == [2**63 + 1, 2**63 + 2, 5, 6]
    A, labels = grb_io.from_pandas_edgelist(pd.DataFrame({"source": [2**53 + 1, 2**53], "target": [0.5, 2.0**53]}))
    assert list(labels) == [2**53 + 1, 2**53, 0.5] and A.get(1, 1)


@pytest.mark.parametrize("values", [[0.0, -0.0], [-0.0, 0.0], [-0.0, -0.0], [np.nan, np.nan], [complex(0, -0.0), 0j]])
def test_the_sign_of_zero_is_kept(values, tmp_path):
    values = np.array(values)
    source = ss.csr_array((values, np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    ss.save_npz(tmp_path / "x.npz", source)
    for A in (
        grb_io.from_scipy_sparse(source),
        grb_io.from_scipy_sparse(source.tocsc()),
        grb_io.load_npz(tmp_path / "x.npz"),
    ):
        assert A.to_coo()[2].tobytes() == values.tobytes()


def test_arrays_are_shared_where_they_fit():
    indptr, indices, values = np.array([0, 1, 3]), np.array([1, 0, 2], np.int32), np.array([1.0, 2, 3])
    A = grb_io.from_csr(indptr, indices, values, ncols=3)
    for mine, theirs in ((A._store.indptr, indptr), (A._store.indices, indices), (A._store.values, values)):
        assert np.shares_memory(mine, theirs)
    assert grb_io.from_csr(indptr, indices, 7, ncols=3).to_coo()[2].tolist() == [7, 7, 7]
    with pytest.raises((ValueError, IndexError, gb.exceptions.GraphblasException)):
        grb_io.from_csr(indptr, indices, values, ncols=2)
    with pytest.raises(ValueError, match="whole numbers"):
        grb_io.from_csr(indptr, indices.astype(float), values, ncols=3)


@pytest.mark.parametrize("nrows", [1, 3])
def test_rows_that_the_pointers_do_not_have_are_refused(nrows):
    with pytest.raises(ValueError, match=f"{nrows} rows need {nrows + 1}"):
        grb_io.from_csr([0, 1, 2], [0, 1], [1.0, 2.0], ncols=2, nrows=nrows)


def test_numpy_dlpack_and_array_protocol():
    class Speaks:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    array = np.arange(5.0)
    assert np.shares_memory(grb_io.as_numpy(Speaks(array)), array)
    assert grb_io.from_numpy(Speaks(array), 0).nvals == 4
    A = grb_io.from_numpy(DENSE, 0)
    assert A.isequal(our_matrix(), check_dtype=True)
    np.testing.assert_array_equal(grb_io.to_numpy(A, 0), DENSE)
    with pytest.raises(ValueError, match="one or two dimensions"):
        grb_io.from_numpy(np.zeros((2, 2, 2)))

    class OnGpu:
        __cuda_array_interface__ = ()

    with pytest.raises(TypeError, match="GPU memory"):
        grb_io.as_numpy(OnGpu())


def test_python_graphblas_objects_there_and_back():
    graphblas = pytest.importorskip("graphblas")
    for name in ("INT8", "FP32", "BOOL", "FC64"):
        A = our_matrix().dup(name)
        theirs = grb_io.to_graphblas(A)
        assert isinstance(theirs, graphblas.Matrix) and theirs.dtype.name == name
        assert grb_io.from_graphblas(theirs).isequal(A, check_dtype=True)
    v = gb.Vector.from_coo([1, 2**40], [5, 6], size=2**50)
    assert grb_io.from_graphblas(grb_io.to_graphblas(v)).isequal(v, check_dtype=True)
    for s in (gb.Scalar.from_value(3), gb.Scalar("FP32")):
        assert grb_io.from_graphblas(grb_io.to_graphblas(s)).isequal(s, check_dtype=True)


NEEDED = {  # what calls for a library: (its module, its name for pip, the call)
    "to_pydata_sparse": ("sparse", "sparse", lambda f: grb_io.to_pydata_sparse(our_matrix())),
    "to_awkward": ("awkward", "awkward", lambda f: grb_io.to_awkward(our_matrix())),
    "to_networkx": ("networkx", "networkx", lambda f: grb_io.to_networkx(our_matrix()[:6, :6].new())),
    "to_scipy_sparse": ("scipy", "scipy", lambda f: grb_io.to_scipy_sparse(our_matrix())),
    "to_graphblas": ("graphblas", "python-graphblas[default]", lambda f: grb_io.to_graphblas(our_matrix())),
    "from_pandas_edgelist": ("pandas", "pandas", lambda f: grb_io.from_pandas_edgelist({"source": [], "target": []})),
    "mmwrite": ("scipy.io", "scipy", lambda f: grb_io.mmwrite(f / "a.mtx", our_matrix())),
    "mmread": ("scipy.io", "scipy", lambda f: grb_io.mmread(f / "b.mtx")),
    "save_npz": ("scipy.sparse", "scipy", lambda f: grb_io.save_npz(f / "a.npz", our_matrix())),
    "load_npz": ("scipy.sparse", "scipy", lambda f: grb_io.load_npz(f / "b.npz")),
    "serialize": ("lz4.block", "lz4", lambda f: grb_io.to_suitesparse_blob(our_matrix(), "lz4")),
    "serialize zstd": ("zstandard", "zstandard", lambda f: grb_io.to_suitesparse_blob(our_matrix(), "zstd")),
}


@pytest.mark.parametrize("name", NEEDED)
def test_missing_libraries_are_named_with_their_remedy(monkeypatch, name, tmp_path):
    (tmp_path / "b.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.5\n")
    grb_io.save_npz(tmp_path / "b.npz", our_matrix())
    module, library, call = NEEDED[name]
    for hidden in (module, "compression"):
        monkeypatch.setitem(sys.modules, hidden, None)
    remedy = re.escape(f": install it with `pip install {library}`")
    with pytest.raises(ImportError, match=rf"^{library.partition('[')[0]} is required to .*{remedy}$") as caught:
        call(tmp_path)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("labels", [range(4), range(3, 7), [9, 2, -5, 4], "abcd", [0, 100, 7, 8]])
@pytest.mark.parametrize("view", [False, True])
def test_adjacency_dictionaries_as_matrices(labels, view):
    """Rows and columns in the order of the dictionary, both triangles from the upper one."""
    a, b, c, d = labels
    adjacency = {
        a: {c: {"w": 5}, a: {"w": 1}, b: {}}, b: {a: {}, d: {"w": 7}}, c: {a: {"w": 5}, c: {"w": 4}}, d: {b: {"w": 7}},
    }  # fmt: skip
    pattern = Pattern(adjacency, view=view)
    wanted = [[1, 2, 5, 0], [2, 0, 0, 7], [5, 0, 4, 0], [0, 7, 0, 0]]
    upper = pattern.on_or_above_diagonal()
    assert upper.tolist() == [True, True, True, False, True, False, True, False]
    values = edge_values(adjacency, "w", 2)
    assert values == [5, 1, 2, 2, 7, 5, 4, 7] and pattern.rows.tolist() == [0, 0, 0, 1, 1, 2, 2, 3]
    A = pattern.matrix(values, "named")
    assert A.to_dense(0).tolist() == wanted and A.name == "named"
    truth = pattern.matrix(True)
    assert truth.dtype.name == "BOOL" and (truth.to_dense(False) == (np.array(wanted) != 0)).all()
    kept = np.array(edge_values(adjacency, "w", 2, only=upper))
    assert kept.tolist() == [5, 1, 2, 7, 4]
    C = pattern.symmetric_matrix(kept, upper)
    assert C.shape == (4, 4) and C.to_dense(0).tolist() == wanted
    nodes = pattern.nodes
    assert nodes.of(np.array([2, 0])) == [c, a] and nodes.number(d) == 3 and nodes.number("no") is None
    assert len(nodes) == 4 and nodes.plain == (labels == range(4)) and nodes.integer == (labels != "abcd")


def test_files_there_and_back(tmp_path):
    A = our_matrix()
    for ending in ("mtx", "mtx.gz", "mtx.bz2", "mtx.xz", "grb", "npz"):
        path = tmp_path / f"a.{ending}"
        grb_io.write(path, A)
        found = grb_io.read(path)
        assert found.obj.isequal(A, check_dtype=True), ending
    with pytest.raises(ValueError, match="cannot tell the format"):
        grb_io.write(tmp_path / "a.xyz", A)
    with pytest.raises(FileNotFoundError):
        grb_io.read(tmp_path / "nothing.mtx")
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 and nothing")
    with pytest.raises(grb_io.BadFile, match="bad.npz"):
        grb_io.read(tmp_path / "bad.npz")


def test_equal_entries_of_an_npz_file(tmp_path):
    path = tmp_path / "repeated.npz"
    ss.save_npz(path, ss.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)))
    for read in (grb_io.load_npz, lambda *args, **options: grb_io.read(*args, **options).obj):
        assert read(path, dup_op="max").get(0, 1) == 2 and read(path, dup_op="min").get(0, 1) == 1
        with pytest.raises(ValueError, match="dup_op"):
            read(path)


def test_gz_files_are_the_same_each_time(tmp_path):
    A = our_matrix()
    grb_io.mmwrite(tmp_path / "a.mtx.gz", A)
    grb_io.mmwrite(tmp_path / "b.mtx.gz", A)
    assert (tmp_path / "a.mtx.gz").read_bytes() == (tmp_path / "b.mtx.gz").read_bytes()


@pytest.mark.parametrize("name", ["BOOL", "INT8", "UINT16", "UINT64", "INT64", "FP32", "FP64", "FC32", "FC64"])
def test_matrix_market_keeps_types(tmp_path, name):
    A = our_matrix().dup(name)
    grb_io.mmwrite(tmp_path / "a.mtx", A)
    assert grb_io.mmread(tmp_path / "a.mtx").isequal(A, check_dtype=True)


def test_mmwrite_options(tmp_path):
    S = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [2, 2, 3])
    grb_io.mmwrite(tmp_path / "noending", S, comment="hello")
    text = (tmp_path / "noending.mtx").read_text()
    assert text.startswith("%%MatrixMarket matrix coordinate integer symmetric\n%hello\n")
    grb_io.mmwrite(tmp_path / "g.mtx", S, symmetry="general", field="real")
    text = (tmp_path / "g.mtx").read_text()
    assert "real general" in text and grb_io.mmread(tmp_path / "g.mtx").isequal(S.dup("FP64"), check_dtype=True)
    grb_io.mmwrite(tmp_path / "p.mtx", S, field="pattern")
    assert grb_io.mminfo(tmp_path / "p.mtx").field == "pattern"
    with open(tmp_path / "stream.mtx", "wb") as file:
        grb_io.mmwrite(file, S)
    with open(tmp_path / "stream.mtx") as file:
        assert grb_io.mmread(file).isequal(S)
    with pytest.raises(ValueError, match="Bad engine"):
        grb_io.mmread(tmp_path / "p.mtx", "nope")


def test_duplicates_in_matrix_market_need_an_operator(tmp_path):
    path = tmp_path / "d.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 5\n1 1 6\n")
    with pytest.raises(grb_io.BadFile, match=r"d\.mtx: .*\(0, 0\).*dup_op"):
        grb_io.mmread(path)
    assert grb_io.mmread(path, dup_op=gb.binary.plus)[0, 0].new().value == 11
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n1 1\n")
    with pytest.raises((ValueError, gb.exceptions.GraphblasException)):
        grb_io.mmread(path)


def test_dense_matrix_market_is_a_full_matrix(tmp_path):
    path = tmp_path / "d.mtx"
    path.write_text("%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4\n")
    assert grb_io.mmread(path).to_dense().tolist() == [[1, 3], [2, 4]]


def test_hypersparse_matrix_market(tmp_path):
    path = tmp_path / "h.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n{2**40} {2**40} 2\n{2**40} 1 1.5\n1 {2**40} 2\n")
    A = grb_io.mmread(path)
    assert A.shape == (2**40, 2**40) and A[2**40 - 1, 0].new().value == 1.5
