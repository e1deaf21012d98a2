"""Objects, indices, values and elements that do not fit."""

import numpy as np
import pytest

from support.refusals import Case, names_are_unique, oracle_refuses, refuse

CASES = [
    # making objects
    Case("negative size", lambda lib, o: lib.Vector(lib.dtypes.INT64, -1), "OverflowError", "(?i)negative|size"),
    Case(
        "size too large", lambda lib, o: lib.Vector(lib.dtypes.INT64, 2**60 + 1), "InvalidValue", "(?i)2\\^60|size|most"
    ),
    Case("size is a string", lambda lib, o: lib.Vector(lib.dtypes.INT64, "ten"), "TypeError", "(?i)integer|size|str"),
    Case("size is a fraction", lambda lib, o: lib.Vector(lib.dtypes.INT64, 2.5), "TypeError", "(?i)integer|size|float"),
    Case("negative nrows", lambda lib, o: lib.Matrix(lib.dtypes.INT64, -3, 2), "OverflowError", "(?i)negative|nrows"),
    Case(
        "ncols too large",
        lambda lib, o: lib.Matrix(lib.dtypes.INT64, 3, 2**61),
        "InvalidValue",
        "(?i)2\\^60|ncols|most",
    ),
    Case("unknown type", lambda lib, o: lib.Matrix("INT7", 2, 2), "ValueError", "(?i)INT7|dtype"),
    Case("type is a number", lambda lib, o: lib.Matrix(3, 2, 2), "ValueError", "(?i)dtype.*3"),
    Case(
        "duplicate indices of a vector",
        lambda lib, o: lib.Vector.from_coo([1, 1], [2, 3]),
        "ValueError",
        "(?i)duplicate",
    ),
    Case(
        "duplicate indices of a matrix",
        lambda lib, o: lib.Matrix.from_coo([1, 1], [0, 0], [2, 3]),
        "ValueError",
        "(?i)duplicate",
    ),
    Case(
        "dup_op that is unary",
        lambda lib, o: lib.Vector.from_coo([1, 1], [2, 3], dup_op=lib.unary.exp),
        "TypeError",
        "(?i)dup_op|binary",
    ),
    Case(
        "dup_op of an unknown name",
        lambda lib, o: lib.Vector.from_coo([1, 1], [2, 3], dup_op="nonsense"),
        "ValueError",
        "(?i)nonsense|unknown",
    ),
    Case(
        "lengths of indices and values",
        lambda lib, o: lib.Vector.from_coo([0, 1, 2], [1, 2]),
        "ValueError",
        "(?i)length|match",
    ),
    Case(
        "lengths of rows and columns",
        lambda lib, o: lib.Matrix.from_coo([0, 1, 2], [1, 2], [1, 2, 3]),
        "ValueError",
        "(?i)length|match",
    ),
    Case(
        "lengths of rows and values",
        lambda lib, o: lib.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2]),
        "ValueError",
        "(?i)length|match",
    ),
    Case(
        "index beyond the size",
        lambda lib, o: lib.Vector.from_coo([0, 5], [1, 2], size=5),
        "IndexOutOfBound",
        "(?i)5|bound",
    ),
    Case(
        "row beyond nrows",
        lambda lib, o: lib.Matrix.from_coo([0, 9], [1, 2], [1, 2], nrows=5, ncols=5),
        "IndexOutOfBound",
        "(?i)9|bound",
    ),
    Case(
        "column beyond ncols",
        lambda lib, o: lib.Matrix.from_coo([0, 4], [1, 5], [1, 2], nrows=5, ncols=5),
        "IndexOutOfBound",
        "(?i)5|bound",
    ),
    Case(
        "negative index in a list",
        lambda lib, o: lib.Vector.from_coo([0, -1], [1, 2], size=5),
        "OverflowError|IndexOutOfBound",
        "(?i)ind(ex|ices).*-1",
    ),
    Case(
        "negative index in an array",
        lambda lib, o: lib.Vector.from_coo(np.array([0, -1]), [1, 2], size=5),
        "IndexOutOfBound",
        "(?i)index -1",
    ),
    Case(
        "negative row in an array",
        lambda lib, o: lib.Matrix.from_coo(np.array([0, -1]), [1, 2], [1, 2], nrows=5, ncols=5),
        "IndexOutOfBound",
        "(?i)-1",
    ),
    Case(
        "fractional indices",
        lambda lib, o: lib.Vector.from_coo(np.array([0.5, 1.0]), [1, 2]),
        "ValueError",
        "(?i)indices must be integer",
    ),
    Case(
        "indices are strings",
        lambda lib, o: lib.Vector.from_coo(["a", "b"], [1, 2]),
        "ValueError",
        "(?i)integer|str|literal",
    ),
    Case(
        "values are objects",
        lambda lib, o: lib.Vector.from_coo([0, 1], [object(), object()]),
        "ValueError",
        "(?i)object",
    ),
    Case(
        "values are strings",
        lambda lib, o: lib.Vector.from_coo([0, 1], ["a", "b"], "INT64"),
        "ValueError",
        "(?i)invalid literal|str|convert",
    ),
    Case("no size without indices", lambda lib, o: lib.Vector.from_coo([], []), "ValueError", "(?i)size|infer"),
    Case("no shape without indices", lambda lib, o: lib.Matrix.from_coo([], [], []), "ValueError", "(?i)nrows|infer"),
    Case(
        "pairs of three",
        lambda lib, o: lib.Vector.from_pairs([(1, 2, 3)]),
        "ValueError",
        "(?i)unpack|pair|expected|length",
    ),
    Case(
        "edges of four",
        lambda lib, o: lib.Matrix.from_edgelist([(1, 2, 3, 4)]),
        "ValueError",
        "(?i)edge|triple|pair|length|expected",
    ),
    Case(
        "edge array of the wrong width",
        lambda lib, o: lib.Matrix.from_edgelist(np.zeros((3, 4), int)),
        "ValueError",
        "(?i)edgelist|2",
    ),
    Case(
        "edge array of one dimension",
        lambda lib, o: lib.Matrix.from_edgelist(np.zeros(3, int)),
        "ValueError",
        "(?i)dimension",
    ),
    Case("values twice", lambda lib, o: lib.Matrix.from_edgelist([(0, 1, 2)], 5), "TypeError", "(?i)values"),
    Case(
        "indptr too short",
        lambda lib, o: lib.Matrix.from_csr([0, 1], [0, 1], [1.0, 2.0], nrows=2, ncols=2),
        "ValueError",
        "(?i)indptr|nrows",
        oracle=False,
        why="another class",
    ),
    Case(
        "indptr empty",
        lambda lib, o: lib.Matrix.from_csr([], [], []),
        "InvalidValue",
        "(?i)indptr",
        oracle=False,
        why="OverflowError about a negative number",
    ),
    Case(
        "indptr that falls",
        lambda lib, o: lib.Matrix.from_csr([0, 2, 1, 2], [0, 1], [1, 2], ncols=3),
        "InvalidValue",
        "(?i)indptr|decrease",
        oracle=False,
        why="SuiteSparse does not look (undefined behaviour)",
    ),
    Case(
        "indptr that does not begin at 0",
        lambda lib, o: lib.Matrix.from_csr([1, 2], [0, 1], [1, 2], ncols=3),
        "InvalidValue",
        "(?i)indptr|begin",
        oracle=False,
        why="SuiteSparse does not look (undefined behaviour)",
    ),
    Case(
        "columns beyond ncols in CSR",
        lambda lib, o: lib.Matrix.from_csr([0, 1], [7], [1], ncols=3),
        "InvalidObject|IndexOutOfBound|InvalidValue",
        "(?i)7|bound|column",
        oracle=False,
        why="SuiteSparse does not look (undefined behaviour)",
    ),
    Case("dense vector for a matrix", lambda lib, o: lib.Matrix.from_dense([1, 2, 3]), "ValueError", "(?i)2d|2 dim"),
    Case(
        "dense matrix for a vector of a type",
        lambda lib, o: lib.Vector.from_dense([[1, 2], [3, 4]], dtype="INT64"),
        "ValueError",
        "(?i)1d|1 dim",
    ),
    Case("from_dense of a scalar", lambda lib, o: lib.Vector.from_dense(3), "TypeError", "(?i)scalar|from_scalar|size"),
    Case(
        "ragged dense",
        lambda lib, o: lib.Matrix.from_dense([[1, 2], [3]]),
        "ValueError",
        "(?i)inhomogeneous|shape|ragged|object",
    ),
    Case(
        "order of from_dicts",
        lambda lib, o: lib.Matrix.from_dicts({0: {1: 2}}, order="diagonal"),
        "ValueError",
        "(?i)order|diagonal",
    ),
    Case("scalar from a list", lambda lib, o: lib.Scalar.from_value([1, 2]), "TypeError", "(?i)scalar|list|type"),
    Case("scalar from a string", lambda lib, o: lib.Scalar.from_value("one"), "TypeError", "(?i)scalar|str|type"),
    Case("build a full matrix again", lambda lib, o: o.A.build([0], [0], [1]), "OutputNotEmpty", "(?i)empty|clear"),
    Case("build a full vector again", lambda lib, o: o.u.build([0], [1]), "OutputNotEmpty", "(?i)empty|clear"),
    Case(
        "build with duplicates",
        lambda lib, o: lib.Vector(lib.dtypes.INT64, 3).build([0, 0], [1, 2]),
        "ValueError",
        "(?i)duplicate",
    ),
    Case(
        "build beyond the size",
        lambda lib, o: lib.Vector(lib.dtypes.INT64, 3).build([4], [1]),
        "IndexOutOfBound",
        "(?i)4|bound",
    ),
    Case(
        "build with unequal lengths",
        lambda lib, o: lib.Matrix(lib.dtypes.INT64, 3, 3).build([0, 1], [0], [1]),
        "ValueError",
        "(?i)length|match",
    ),
    # resize and shaping
    Case("resize below zero", lambda lib, o: o.u.resize(-1), "OverflowError", "(?i)negative|size"),
    Case("resize to a fraction", lambda lib, o: o.A.resize(2.5, 3), "TypeError", "(?i)integer|float"),
    Case("resize with one number", lambda lib, o: o.A.resize(2), "TypeError", "(?i)ncols|argument"),
    Case(
        "resize too large",
        lambda lib, o: o.u.resize(2**61),
        "InvalidValue",
        "(?i)size.*2\\^60",
        oracle=False,
        why="the oracle keeps the new size to itself until the next call",
    ),
    Case("diag with a fraction", lambda lib, o: o.u.diag(0.5), "TypeError", "(?i)integer|float|k"),
    Case(
        "setdiag of another size", lambda lib, o: o.A.setdiag(o.w), "DimensionMismatch", "(?i)size|dimension|diagonal"
    ),
    Case("setdiag outside", lambda lib, o: o.A.setdiag(3, 99), "IndexError", "(?i)99|range|k"),
    Case("setdiag with a fraction", lambda lib, o: o.A.setdiag(3, 0.5), "TypeError", "(?i)integer|k"),
    Case(
        "concat of unequal rows",
        lambda lib, o: lib.ss.concat([[o.A], [o.B]]),
        "DimensionMismatch",
        "(?i)concat|columns|wide|dimension|shape",
    ),
    Case(
        "concat of unequal heights",
        lambda lib, o: lib.ss.concat([[o.A, o.B]]),
        "DimensionMismatch",
        "(?i)concat|rows|high|dimension|shape",
    ),
    Case("concat of nothing", lambda lib, o: lib.ss.concat([]), "ValueError", "(?i)empty"),
    Case(
        "concat of rows of unequal lengths",
        lambda lib, o: lib.ss.concat([[o.A, o.A], [o.A]]),
        "ValueError",
        "(?i)length",
    ),
    Case("concat of numbers", lambda lib, o: lib.ss.concat([1, 2]), "TypeError", "(?i)tiles|type"),
    Case("split into zero", lambda lib, o: o.A.ss.split(0), "ValueError|ZeroDivisionError", "(?i)greater than 0|chunk"),
    Case("split with a string", lambda lib, o: o.A.ss.split("2"), "TypeError", "(?i)chunks"),
    Case("split with one number too many", lambda lib, o: o.A.ss.split([1, 2, 3]), "ValueError", "(?i)length 2|chunks"),
    # indices
    Case("vector index beyond", lambda lib, o: o.u[4].new(), "IndexError", "(?i)4|range"),
    Case("negative vector index beyond", lambda lib, o: o.u[-5].new(), "IndexError", "(?i)-5|range"),
    Case("row index beyond", lambda lib, o: o.A[3, 0].new(), "IndexError", "(?i)3|range"),
    Case("column index beyond", lambda lib, o: o.A[0, 4].new(), "IndexError", "(?i)4|range"),
    Case("list index beyond", lambda lib, o: o.u[[0, 9]].new(), "IndexOutOfBound", "(?i)9|range"),
    Case("fractional index", lambda lib, o: o.u[1.5], "TypeError", "(?i)index|float|integer"),
    Case("fractional indices in a list", lambda lib, o: o.u[[0.5, 1.0]], "TypeError", "(?i)index|float|dtype"),
    Case("string index", lambda lib, o: o.u["a"], "TypeError", "(?i)index|str"),
    Case("None index", lambda lib, o: o.u[None], "TypeError", "(?i)index|None"),
    Case("one index for a matrix", lambda lib, o: o.A[0], "TypeError", "(?i)tuple|2"),
    Case("two indices for a vector", lambda lib, o: o.u[0, 1], "TypeError", "(?i)tuple"),
    Case("three indices for a matrix", lambda lib, o: o.A[0, 1, 2], "TypeError", "(?i)tuple|2"),
    Case(
        "boolean array as index",
        lambda lib, o: o.u[np.array([True, False, True, False])],
        "TypeError",
        "(?i)bool|dtype|mask",
    ),
    Case("boolean list as index", lambda lib, o: o.u[[True, False, True, False]], "TypeError", "(?i)bool|dtype|mask"),
    Case("two-dimensional index array", lambda lib, o: o.u[np.array([[0, 1], [2, 3]])], "TypeError", "(?i)dimension|2"),
    Case("vector as index", lambda lib, o: o.u[o.u], "TypeError", "(?i)index|vector"),
    Case("mask as index", lambda lib, o: o.u[o.m.S], "TypeError", "(?i)mask|index"),
    Case("slice step of zero", lambda lib, o: o.u[::0], "ValueError", "(?i)zero|step"),
    Case("slice of strings", lambda lib, o: o.u["a":"b"], "TypeError", "(?i)slice|integers|str"),
    Case("nested tuple index", lambda lib, o: o.A[(0, 1), :], "TypeError", "(?i)tuple"),
    # elements and assignment
    Case("set beyond", lambda lib, o: o.u.__setitem__(4, 1), "IndexError", "(?i)4|range"),
    Case("set a row beyond", lambda lib, o: o.A.__setitem__((9, 0), 1), "IndexError", "(?i)9|range"),
    Case("set a string", lambda lib, o: o.u.__setitem__(0, "a"), "TypeError", "(?i)scalar|str|value|type"),
    Case("set None", lambda lib, o: o.u.__setitem__(0, None), "TypeError", "(?i)None|scalar|value|type"),
    Case(
        "set a list into an element",
        lambda lib, o: o.u.__setitem__(0, [1, 2]),
        "TypeError",
        "(?i)list|scalar|value|type",
    ),
    Case(
        "set in a transposed view",
        lambda lib, o: o.A.T.__setitem__((0, 0), 1),
        "TypeError|AttributeError",
        "(?i)transposed|assign|__setitem__",
    ),
    Case("delete beyond", lambda lib, o: o.u.__delitem__(7), "IndexError", "(?i)7|range"),
    Case(
        "assign a matrix of another shape",
        lambda lib, o: o.A.__setitem__((slice(None), slice(None)), o.B),
        "DimensionMismatch",
        "(?i)shape|dimension",
    ),
    Case(
        "assign a vector of another size",
        lambda lib, o: o.u.__setitem__([0, 1], o.v),
        "DimensionMismatch",
        "(?i)size|shape|dimension",
    ),
    Case(
        "assign a row of another size",
        lambda lib, o: o.A.__setitem__((0, slice(None)), o.v),
        "DimensionMismatch",
        "(?i)size|shape|dimension",
    ),
    Case(
        "assign a column of another size",
        lambda lib, o: o.A.__setitem__((slice(None), 0), o.u),
        "DimensionMismatch",
        "(?i)size|shape|dimension",
    ),
    Case(
        "assign a matrix to a row",
        lambda lib, o: o.A.__setitem__((0, slice(None)), o.A),
        "TypeError|DimensionMismatch",
        "(?i)matrix|vector|shape",
    ),
    Case(
        "assign a matrix to a vector",
        lambda lib, o: o.u.__setitem__(slice(None), o.A),
        "TypeError",
        "(?i)matrix|vector",
    ),
    Case(
        "assign a vector to a matrix region",
        lambda lib, o: o.A.__setitem__(([0, 1], [0, 1]), o.u),
        "TypeError|DimensionMismatch",
        "(?i)matrix|vector|broadcast",
    ),
    Case("assign beyond", lambda lib, o: o.u.__setitem__([0, 9], 1), "IndexOutOfBound", "(?i)9|range"),
    Case(
        "assign with a mask of another shape",
        lambda lib, o: o.A(o.C.S)[:, :] << o.A,
        "DimensionMismatch",
        "(?i)mask|shape|dimension",
    ),
    Case(
        "subassign with a mask of C's shape",
        lambda lib, o: o.A[[0, 1], [0, 1]](o.M.S) << 1,
        "DimensionMismatch",
        "(?i)mask|shape|dimension",
    ),
    Case("mask on an element of a vector, both", lambda lib, o: o.u[0](o.m.S) << 1, "TypeError", "(?i)mask"),
    Case(
        "row assign with a mask of another size",
        lambda lib, o: o.A(o.n.S)[0, :] << o.u,
        "DimensionMismatch",
        "(?i)mask|size|shape|dimension",
    ),
    Case("contains with a fraction", lambda lib, o: 1.5 in o.u, "TypeError", "(?i)index|float|integer"),
    Case("get beyond", lambda lib, o: o.u.get(9), "IndexError", "(?i)9|range"),
    # conversions
    Case("dense with holes and no fill", lambda lib, o: o.F.to_dense(), "TypeError", "(?i)fill_value"),
    Case("order of to_dicts", lambda lib, o: o.A.to_dicts(order="diagonal"), "ValueError", "(?i)order|diagonal"),
    Case("float of an empty scalar", lambda lib, o: float(o.e), "TypeError", "(?i)float|None|empty"),
    Case("int of an empty scalar", lambda lib, o: int(o.e), "TypeError", "(?i)int|None|empty"),
    Case(
        "index of a float scalar",
        lambda lib, o: [1, 2, 3][lib.Scalar.from_value(1.5)],
        "AttributeError",
        "(?i)integ|index",
    ),
    Case("isequal with a number", lambda lib, o: o.A.isequal(3), "TypeError", "(?i)isequal|int|type"),
    Case("isclose with a vector", lambda lib, o: o.A.isclose(o.u), "TypeError", "(?i)isclose|vector|type"),
    Case("wait for what", lambda lib, o: o.A.wait("forever"), "ValueError", "(?i)how|forever"),
    Case("attribute that is not there", lambda lib, o: o.A.nonsense, "AttributeError", "(?i)nonsense"),
    Case("setting the shape", lambda lib, o: setattr(o.A, "shape", (1, 1)), "AttributeError", "(?i)shape|set"),
    Case("unknown configuration", lambda lib, o: lib.dtypes.lookup_dtype("colour"), "ValueError", "(?i)colour|dtype"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused(case):
    refuse(case)


@pytest.mark.parametrize("case", [case for case in CASES if case.oracle], ids=lambda case: case.name)
def test_as_the_oracle(case):
    oracle_refuses(case)


def test_names():
    assert names_are_unique(CASES)
