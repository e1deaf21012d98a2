"""What is written comes back to the bit: every writer with its reader, over objects made by hypothesis."""

import io
import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings, strategies as st

import grb_tile as gb
from grb_tile import io as grb_io
from support import corner_objects as made

SMALL = made.matrices(huge=False)
CHECKS = {}


def comes_back(strategy):
    """Register a check of what the strategy makes."""

    def add(check):
        CHECKS[check.__name__] = (strategy, check)
        return check

    return add


def in_memory(write, read):
    file = io.BytesIO()
    write(file)
    return read(io.BytesIO(file.getvalue()))


@comes_back(made.matrices() | made.vectors() | made.scalars())
def serialized_objects(x):
    made.assert_same(grb_io.deserialize(grb_io.serialize(x)), x)
    made.assert_same(in_memory(lambda file: grb_io.save(file, x, compression=0), grb_io.load), x)


@comes_back(made.matrices() | made.vectors() | made.scalars())
def pickled_objects(x):
    made.assert_same(pickle.loads(pickle.dumps(x)), x)


@comes_back(made.matrices())
def matrix_market(A):
    made.assert_same(in_memory(lambda file: grb_io.mmwrite(file, A), grb_io.mmread), A)
    made.assert_same(in_memory(lambda file: grb_io.mmwrite(file, A, symmetry="general"), grb_io.mmread), A)


@comes_back(made.matrices(types=("INT64", "FP64", "FC64"), huge=False, square=True))
def matrix_market_arrays(A):
    """The array format, which mmwrite does not write: all of a dense matrix, or its lower triangle."""
    dense = A.to_dense(0) + 0  # the sign of an absent zero is positive
    field = {"INT64": "integer", "FP64": "real", "FC64": "complex"}[A.dtype.name]
    text = [f"{x.real!r} {x.imag!r}" if field == "complex" else repr(x) for x in dense.T.ravel().tolist()]
    head = f"%%MatrixMarket matrix array {field} {{}}\n{A.nrows} {A.ncols}\n"
    found = grb_io.mmread(io.StringIO(head.format("general") + "\n".join(text) + "\n"))
    made.assert_same(found, gb.Matrix.from_dense(dense))
    lower = np.tril(np.ones(dense.shape, bool)).T.ravel()
    text = [line for line, kept in zip(text, lower, strict=True) if kept]
    found = grb_io.mmread(io.StringIO(head.format("symmetric") + "\n".join(text) + "\n"))
    expected = dense.copy()
    expected.T[np.tril_indices(A.nrows)] = dense[np.tril_indices(A.nrows)]
    made.assert_same(found, gb.Matrix.from_dense(expected))


@comes_back(SMALL)
def npz(A):
    made.assert_same(in_memory(lambda file: grb_io.save_npz(file, A), grb_io.load_npz), A)


@comes_back(st.tuples(made.matrices(), st.sampled_from([" ", "\t", ";"]), st.sampled_from([0, 1])))
def edge_lists(made_of):
    A, delimiter, base = made_of
    found = in_memory(
        lambda file: grb_io.write_edge_list(file, A, delimiter=delimiter, base=base), grb_io.read_edge_list
    )
    assert found.labels is None
    made.assert_same(found.matrix, A)


@comes_back(SMALL)
def csv_keeps_the_entries(A):
    found = in_memory(lambda file: grb_io.write_edge_list(file, A, delimiter=","), grb_io.read_edge_list)
    names = list(range(found.matrix.nrows)) if found.labels is None else list(found.labels)
    rows, cols, values = found.matrix.to_coo()
    got = sorted(
        zip([names[i] for i in rows.tolist()], [names[j] for j in cols.tolist()], range(len(rows)), strict=True)
    )
    rows, cols, expected = A.to_coo()
    assert [pair[:2] for pair in got] == list(zip(rows.tolist(), cols.tolist(), strict=True))
    assert made.bits(values[[k for _, _, k in got]].astype(A.dtype.np_type)) == made.bits(expected)
    assert set(names) == set(rows.tolist()) | set(cols.tolist())


@comes_back(made.matrices(types=[name for name in made.TYPES if not name.startswith("FC")], square=True))
def dimacs(A):
    from grb_tile.io.edge_write import write_dimacs

    made.assert_same(in_memory(lambda file: write_dimacs(file, A), grb_io.read_edge_list).matrix, A)


@comes_back(st.tuples(SMALL, st.sampled_from(["csr", "csc", "coo"])))
def scipy_arrays(made_of):
    A, format = made_of
    made.assert_same(grb_io.from_scipy_sparse(grb_io.to_scipy_sparse(A, format)), A)


@comes_back(SMALL)
def scipy_arrays_whose_indices_are_not_sorted(A):
    rows, cols, values = A.to_coo()
    order = np.random.default_rng(A.nvals).permutation(len(rows))
    coo = scipy.sparse.coo_array((values[order], (rows[order], cols[order])), shape=A.shape)
    made.assert_same(grb_io.from_scipy_sparse(coo), A)
    made.assert_same(grb_io.from_scipy_sparse(coo.T.tocsr().T), A)


@comes_back(made.matrices(huge=False, square=True))
def networkx(A):
    nx = pytest.importorskip("networkx")
    G = grb_io.to_networkx(A)
    G.add_nodes_from(range(A.nrows))
    made.assert_same(grb_io.from_networkx(G, nodelist=range(A.nrows), dtype=A.dtype), A)
    assert nx.number_of_edges(G) == A.nvals


@comes_back(made.matrices(square=True))
def pandas(A):
    pd = pytest.importorskip("pandas")
    rows, cols, values = A.to_coo()
    assume(not np.isnan(values).any())  # a missing value in pandas, which is refused
    frame = pd.DataFrame({"source": rows, "target": cols.astype(np.int64), "weight": values})
    found, labels = grb_io.from_pandas_edgelist(frame, weight="weight")
    places = [labels.get_loc(label) for label in sorted(set(rows.tolist()) | set(cols.tolist()))]
    expected = A[sorted(set(rows.tolist()) | set(cols.tolist())), :].new() if places else None
    assert found.nvals == A.nvals and sorted(labels) == sorted(set(rows.tolist()) | set(cols.tolist()))
    if expected is not None:
        expected = expected[:, sorted(labels)].new()
        made.assert_same(found[places, :].new()[:, places].new(), expected)


@comes_back(SMALL | made.vectors(types=made.TYPES))
def dense_arrays(x):
    if x.shape[0] > 1000:
        return
    full = type(x).from_dense(x.to_dense(0), dtype=x.dtype)
    made.assert_same(grb_io.from_numpy(grb_io.to_numpy(full)), full)


@pytest.mark.parametrize("name", CHECKS)
@settings(max_examples=12)
@given(data=st.data())
def test_comes_back(name, data):
    strategy, check = CHECKS[name]
    check(data.draw(strategy))


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
@settings(max_examples=250)
@given(data=st.data())
def test_comes_back_long(name, data):
    strategy, check = CHECKS[name]
    check(data.draw(strategy))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"field": "integer"}, "cannot hold the values of FP64"),
        ({"field": "qux"}, "Invalid field"),
        ({"symmetry": "symmetric"}, "not symmetric"),
        ({"symmetry": "skew-symmetric"}, "not skew-symmetric"),
        ({"symmetry": "hermitian"}, "not hermitian"),
        ({"symmetry": "qux"}, "Invalid symmetry"),
        ({"comment": "x" * 10**6}, "the comment has 1000000 characters"),
    ],
)
def test_mmwrite_refuses_what_would_change_the_matrix(options, message, tmp_path):
    A = gb.Matrix.from_coo([0, 1], [1, 0], [0.5, 1.5])
    with pytest.raises(ValueError, match=message):
        grb_io.mmwrite(tmp_path / "x.mtx", A, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "values, name, symmetry",
    [
        ([5, 251, 0, 0], "UINT8", "general"),  # 251 is -5 modulo 2^8
        ([-128, -128, 5, -5], "INT8", "general"),  # -128 has no negative
        ([-127, 127, 5, -5], "INT8", "skew-symmetric"),
        ([0.0, -0.0, 1, 1], "FP64", "general"),
        ([0.0, -0.0, 1, -1], "FP64", "skew-symmetric"),
        ([-0.0, -0.0, 1, 1], "FP64", "symmetric"),
        ([1 + 2j, 1 - 2j, 3, complex(3, -0.0)], "FC64", "hermitian"),
        ([True, False, True, True], "BOOL", "general"),
        ([False, False, True, True], "BOOL", "symmetric"),
        ([True, True, True, True], "BOOL", "symmetric"),
    ],
)
def test_symmetry_is_used_where_nothing_changes(values, name, symmetry):
    A = gb.Matrix.from_coo([0, 1, 0, 2], [1, 0, 2, 0], values, name, nrows=3, ncols=3)
    file = io.BytesIO()
    grb_io.mmwrite(file, A)
    assert grb_io.mminfo(io.BytesIO(file.getvalue())).symmetry == symmetry
    made.assert_same(grb_io.mmread(io.BytesIO(file.getvalue())), A)


def test_empty_matrices_keep_their_type():
    for name in made.TYPES:
        for shape in ((3, 3), (0, 4), (4, 0), (2**60, 1)):
            A = gb.Matrix(name, *shape)
            made.assert_same(in_memory(lambda file, A=A: grb_io.mmwrite(file, A), grb_io.mmread), A)


def test_mmwrite_as_another_field():
    for values, field, dtype in (
        ([2**53 + 2, 1], "real", "FP64"),
        ([1.0, 2.0], "integer", "INT64"),
        ([1.5, 2.0], "complex", "FC64"),
        ([1 + 0j, 2], "real", "FP64"),
    ):
        A = gb.Matrix.from_coo([0, 1], [1, 0], values)
        found = in_memory(lambda file, A=A, field=field: grb_io.mmwrite(file, A, field=field), grb_io.mmread)
        made.assert_same(found, A.dup(dtype) if not dtype.startswith("F") or A.dtype.name != "FC64" else found)
        assert found.to_coo()[2].tolist() == [complex(x) if dtype == "FC64" else x for x in values]
    for values, field in (
        ([2**53 + 1, 1], "real"),
        ([1 + 1j, 2], "real"),
        ([np.nan, 1], "integer"),
        ([2.0**63, 1], "integer"),
    ):
        with pytest.raises(ValueError, match="cannot hold"):
            grb_io.mmwrite(io.BytesIO(), gb.Matrix.from_coo([0, 1], [1, 0], values), field=field)


def test_a_comment_is_a_comment():
    A = gb.Matrix.from_coo([0], [1], [5], "INT8", nrows=2, ncols=2)
    for comment in ("%GraphBLAS type double", "%%graphblas type qux", "two\nlines", "\n", "caf\u00e9 %"):
        made.assert_same(in_memory(lambda file, c=comment: grb_io.mmwrite(file, A, comment=c), grb_io.mmread), A)


@pytest.mark.parametrize("label", ['a "quoted" one', "with, comma", "7", "caf\u00e9", "a;b", "#x", "%", "x y"])
def test_labels_come_back(label):
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1.5, 2.5])
    for delimiter in (",", "\t", ";", " "):
        labels = ["first", label]
        try:
            file = io.BytesIO()
            grb_io.write_edge_list(file, A, delimiter=delimiter, labels=labels)
        except ValueError as error:
            assert delimiter == " " and repr(label) in str(error)
            continue
        found = grb_io.read_edge_list(io.BytesIO(file.getvalue()))
        assert found.labels == labels and found.matrix.isequal(A, check_dtype=delimiter != ",")


def test_what_an_edge_list_cannot_hold_is_refused(tmp_path):
    A = gb.Matrix.from_coo([0], [2], [5], nrows=2, ncols=3)
    with pytest.raises(ValueError, match="2 by 3"):
        grb_io.write(tmp_path / "x.gr", A)
    with pytest.raises(ValueError, match="2 names"):
        grb_io.write_edge_list(tmp_path / "x.txt", A, labels=["a", "b"])
    for label in ("", " x", "a\nb"):
        with pytest.raises(ValueError, match="cannot be written"):
            grb_io.write_edge_list(tmp_path / "x.csv", A, delimiter=",", labels=["a", label, "b"])
    with pytest.raises(ValueError, match="base"):
        grb_io.write_edge_list(tmp_path / "x.txt", A, base=2)
    assert not list(tmp_path.iterdir())
