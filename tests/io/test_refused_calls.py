"""What each reader, writer and conversion refuses, with the class and the words; conversions through stand-ins."""

import io
import os
import sys

import numpy as np
import pytest
import scipy.sparse

import grb_tile as gb
from grb_tile import io as grb_io
from grb_tile.exceptions import GraphblasException
from grb_tile.io.edge_list import read_edges
from grb_tile.io.errors import BadFile
from grb_tile.io.progress import size_text
from grb_tile.io.symmetry import symmetry_of
from support import array_libraries

A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [2, 3, 4], nrows=3, ncols=4)
S = gb.Matrix.from_coo([0, 1], [1, 0], [2, 2], nrows=2, ncols=2)
V = gb.Vector.from_coo([0, 2], [1.5, 2.5], size=4)
POINT = gb.dtypes.register_anonymous(np.dtype([("x", "f8"), ("y", "i4")]), "test_refused_point")
P = gb.Matrix.from_coo([0], [1], [(1.5, 2)], POINT, nrows=2, ncols=2)
HEAD = "%%MatrixMarket matrix coordinate real general\n"


class Texts:
    """A file whose read gives text."""

    def read(self, count):
        return "text"


def cases(f):
    """{name: (call, class, words)}; f: a folder."""
    lines = io.StringIO(HEAD)
    return {
        "read format": (
            lambda: grb_io.read(io.BytesIO(b"0 1\n"), format="mtz"),
            ValueError,
            "unknown format 'mtz': expected one of",
        ),
        "read path": (lambda: grb_io.read(5), TypeError, "source must be a path or an open file, not int: 5"),
        "read text": (lambda: grb_io.read(Texts()), TypeError, r"the file's read\(\) must return bytes, not str"),
        "write matrix": (
            lambda: grb_io.write(A, f / "a.mtx"),
            TypeError,
            "expected the name of a file, got Matrix; write",
        ),
        "write labelled": (
            lambda: grb_io.write(grb_io.LabelledMatrix(A, None), f / "a"),
            TypeError,
            "got LabelledMatrix",
        ),
        "write vector": (
            lambda: grb_io.write(f / "a.mtx", V),
            TypeError,
            "mtx files hold matrices, not a Vector: use .grb",
        ),
        "write format": (
            lambda: grb_io.write(f / "a", A, format="metis"),
            ValueError,
            "format 'metis' cannot be written: expected mtx, edges, npz or grb",
        ),
        "write number": (
            lambda: grb_io.write_edge_list(5, A),
            TypeError,
            "target must be a path or a file open for writ",
        ),
        "write to text": (lambda: grb_io.write_edge_list(io.StringIO(), A), TypeError, "must be open in binary mode"),
        "edges of a type": (
            lambda: grb_io.write_edge_list(f / "a", P),
            TypeError,
            "edge lists do not support the user-defined type test_refused_point",
        ),
        "market of a type": (
            lambda: grb_io.mmwrite(f / "a", P),
            TypeError,
            "Matrix Market files do not support the user-defined type test_refused_point",
        ),
        "grb of a type": (
            lambda: grb_io.save(f / "a", P),
            TypeError,
            "the file format does not support the user-defined type test_refused_point",
        ),
        "grb of a transpose": (lambda: grb_io.save(f / "a", A.T), TypeError, "can be serialized, not TransposedMatrix"),
        "mmread option": (
            lambda: grb_io.mmread(lines, other=1),
            TypeError,
            r"mmread\(\) got an unexpected keyword argu.*'o",
        ),
        "mmwrite option": (
            lambda: grb_io.mmwrite(f / "a", A, other=1),
            TypeError,
            r"mmwrite\(\) got an unexpected .*'other",
        ),
        "mmread size": (lambda: grb_io.mmread(lines), BadFile, "the file ends before the line of sizes"),
        "mmread index": (
            lambda: grb_io.mmread(io.StringIO(f"{HEAD}2 2 1\n-1 1 5\n")),
            BadFile,
            r"line 3: row index -1 is negative \(indices start at 1\)",
        ),
        "mmread column": (
            lambda: grb_io.mmread(io.StringIO(f"{HEAD}2 2 1\n1 -2 5\n")),
            BadFile,
            "column index outside 1..2",
        ),
        "mmread no index": (
            lambda: grb_io.mmread(io.StringIO(f"{HEAD}2 2 1\n1 x 5\n")),
            BadFile,
            "column index 'x' is not",
        ),
        "mmread twice": (lambda: grb_io.mmread(io.StringIO(f"{HEAD}2 2 2\n1 1 5\n1 1 6\n")), BadFile, "uplicate"),
        "mmread engine": (lambda: grb_io.mmread(lines, "other"), ValueError, "engine"),
        "mmwrite field": (lambda: grb_io.mmwrite(f / "a", A, field="other"), ValueError, "Invalid field 'other'"),
        "mmwrite symmetry": (
            lambda: grb_io.mmwrite(f / "a", A, symmetry="symmetric"),
            ValueError,
            "symmetry='symmetric': the matrix is not symmetric; pass symmetry=None",
        ),
        "base": (lambda: read_edges(io.StringIO("1 2\n"), base=2), ValueError, "base must be 0 or 1, not 2"),
        "base True": (lambda: read_edges(io.StringIO("1 2\n"), base=True), ValueError, "base must be 0 or 1, not True"),
        "weights": (lambda: read_edges(io.StringIO("1 2\n"), weights=3), TypeError, "weights: expected True"),
        "many vertices": (lambda: read_edges(io.StringIO(f"0 {2**60}\n"), labels=False), BadFile, "more than 2..60"),
        "no folder": (lambda: grb_io.read(f / "nothing" / "a.mtx"), FileNotFoundError, "nothing"),
        "sparse of a list": (
            lambda: grb_io.from_pydata_sparse([1]),
            TypeError,
            "only accepts objects from the `sparse`",
        ),
        "sparse of three": (
            lambda: grb_io.from_pydata_sparse(sys.modules["sparse"].COO([[0]] * 3, [5], (2, 2, 2))),
            GraphblasException,
            "the array must have one or two dimensions, not 3",
        ),
        "to sparse": (lambda: grb_io.to_pydata_sparse(A, "csr"), ValueError, "Invalid format: csr"),
        "awkward matrix": (lambda: grb_io.to_awkward(A, "vec"), ValueError, "Invalid format for Matrix: vec"),
        "awkward format": (lambda: grb_io.to_awkward(A, "coo"), ValueError, "Invalid format for Matrix: coo"),
        "awkward vector": (lambda: grb_io.to_awkward(V, "csr"), ValueError, "Invalid format for Vector: csr"),
        "from awkward": (lambda: grb_io.from_awkward(without("shape")), ValueError, "Missing parameters: {'shape'}"),
        "from a vector": (
            lambda: grb_io.from_awkward(with_format(V, "csr")),
            ValueError,
            "Invalid format for Vector: csr",
        ),
        "from a matrix": (
            lambda: grb_io.from_awkward(with_format(A, "vec")),
            ValueError,
            "Invalid format for Matrix: vec",
        ),
    }


def without(name):
    made = grb_io.to_awkward(A)
    del made.layout.parameters[name]
    return made


def with_format(x, format):
    made = grb_io.to_awkward(x)
    made.layout.parameters["format"] = format
    return made


@pytest.fixture(autouse=True)
def libraries(monkeypatch):
    monkeypatch.setitem(sys.modules, "awkward", array_libraries.awkward())
    monkeypatch.setitem(sys.modules, "sparse", array_libraries.sparse())


def test_refused_calls(tmp_path):
    for name, (call, kind, words) in cases(tmp_path).items():
        with pytest.raises(kind, match=words) as caught:
            call()
            raise AssertionError(name)
        assert type(caught.value) is not AssertionError, name
    assert os.listdir(tmp_path) == []  # nothing was begun


@pytest.mark.parametrize("format", ["csr", "csc", "hypercsr", "hypercsc", "CSR", None])
def test_awkward_matrices(format):
    for M in (A, gb.Matrix.from_coo([0, 9], [2**40, 5], [1.5, 2.5], nrows=2**50, ncols=2**50)):
        if M.nrows > 10 and "hyper" not in (format or ""):
            continue
        made = grb_io.to_awkward(M, format)
        assert made.layout.parameters == {"format": (format or "csr").lower(), "shape": list(M.shape)}
        assert type(made).__name__ == ("DoublyCompressed" if "hyper" in (format or "") else "Array")
        lines = M if "csr" in (format or "csr").lower() else M.T.new()
        assert made.values.layout.content.data.tolist() == lines.to_coo()[2].tolist()
        again = grb_io.from_awkward(made, name="named")
        assert again.isequal(M, check_dtype=True) and again.name == "named"


def test_awkward_vectors_and_behaviours():
    made = grb_io.to_awkward(V)
    assert made.layout.parameters == {"format": "vec", "shape": [4]} and made.layout.fields == ["values", "indices"]
    assert made.indices.layout.data.dtype == np.int64
    assert grb_io.from_awkward(made, name="n").isequal(V, check_dtype=True)
    first, second = (type(grb_io.to_awkward(A, "hypercsr")) for _ in range(2))
    assert first is second  # registered once


@pytest.mark.parametrize("format", ["coo", "dok", "gcxs", "COO"])
def test_pydata_sparse(format):
    for x in (A, V, S):
        made = grb_io.to_pydata_sparse(x, format)
        assert type(made).__name__ == format.upper() and made.shape == x.shape and made.dtype == x.dtype.np_type
        again = grb_io.from_pydata_sparse(made, name="named")
        assert again.isequal(x, check_dtype=True) and again.name == "named"
    twice = sys.modules["sparse"].COO([[0, 0]], [5, 6], (3,)).asformat(format.lower())
    with pytest.raises((ValueError, GraphblasException)):
        grb_io.from_pydata_sparse(twice)
    assert grb_io.from_pydata_sparse(twice, dup_op="plus").to_dict() == {0: 11}
    twice = sys.modules["sparse"].COO([[0, 0], [1, 1]], [5, 6], (3, 4)).asformat(format.lower())
    if format != "gcxs":  # whose conversion to SciPy sums
        assert grb_io.from_pydata_sparse(twice, dup_op="max").to_dicts() == {0: {1: 6}}


def test_sizes_as_text():
    for count, text in (
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1234, "1.23 kB"),
        (10**6, "1 MB"),
        (2.5e9, "2.5 GB"),
        (1e12, "1 TB"),
        (1e15, "1 PB"),
        (999e15, "999 PB"),
        (1e18, "1000 PB"),
        (12.34e18, "12340 PB"),
    ):
        assert size_text(count) == text


def test_symmetries():
    for rows, cols, values, wanted in (
        ([0, 1], [1, 0], [2, 2], ("symmetric", "general")),
        ([0, 1], [1, 0], [2, 3], ("general",)),
        ([0, 1, 1], [1, 0, 1], [2, 2, 5], ("symmetric", "general")),
        ([0], [1], [2], ("general",)),
        ([0, 1, 2, 0], [1, 0, 1, 2], [2, 2, 2, 2], ("general",)),
        ([0, 1], [1, 0], [2, -2], ("skew-symmetric", "general")),
        ([0, 1], [1, 0], [2j, complex(0, -2)], ("hermitian", "general")),
    ):
        M = gb.Matrix.from_coo(rows, cols, values, nrows=3, ncols=3)
        found = symmetry_of(M, False)
        assert set(found) == set(wanted) and found[-1] == "general", (rows, cols, values, found)
        pattern = symmetry_of(M, True)
        assert (pattern[0] == "symmetric") == (sorted(zip(rows, cols)) == sorted(zip(cols, rows)))
    assert symmetry_of(A, False) == symmetry_of(gb.Matrix(int, 2, 2), False) == ("general",)


def test_scipy_arrays_whose_flags_are_wrong():
    """Rows that do not ascend, or that have an entry twice, whatever SciPy's flags say."""
    for indptr, indices, wanted in (
        ([0, 2, 3], [0, 2, 1], {0: {0: 1, 2: 2}, 1: {1: 3}}),
        ([0, 2, 3], [2, 0, 1], {0: {0: 2, 2: 1}, 1: {1: 3}}),
        ([0, 0, 0], [], {}),
    ):
        x = scipy.sparse.csr_array((np.arange(1, 1 + len(indices)), np.array(indices, int), indptr), shape=(2, 3))
        x.has_sorted_indices = x.has_canonical_format = True
        assert grb_io.from_scipy_sparse(x).to_dicts() == wanted
    x = scipy.sparse.csr_array((np.array([1, 2]), np.array([1, 1]), [0, 2]), shape=(1, 3))
    x.has_canonical_format = True
    with pytest.raises((ValueError, GraphblasException)):
        grb_io.from_scipy_sparse(x)
