"""Refusals that no other library's test has: the class, the words, and that nothing has changed."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import viz
from grb_tile.exceptions import DimensionMismatch, DomainMismatch, EmptyObject, InvalidValue

POINT = gb.dtypes.register_anonymous(np.dtype([("x", "f8"), ("y", "i4")]), "test_words_point")
PAIR = gb.dtypes.register_anonymous(np.dtype((np.int32, (2,))), "test_words_pair")
NESTED = gb.dtypes.register_anonymous(np.dtype([("at", [("x", "f8"), ("y", "i4")]), ("n", "i8")]), "test_words_nested")


def A():
    return gb.Matrix.from_coo([0, 1, 2], [1, 0, 2], [5, 6, 7], name="A")


def v():
    return gb.Vector.from_coo([0, 2], [5, 6], size=3, name="v")


def dense(*shape):
    return np.zeros(shape, np.int32)


ADJACENT, TABLE = SimpleNamespace(adjacency=None, shape=()), SimpleNamespace(columns=[], shape=())
COO = SimpleNamespace(tocoo=None, shape=())
Aggregator = type(gb.agg.sum)
CASES = {
    "agg, types": (
        lambda: Aggregator("a", composite=[gb.agg.sum], finalize=lambda x: x),
        TypeError,
        "types must be provided for composite",
    ),
    "agg, nothing": (lambda: Aggregator("a"), TypeError, "needs a `monoid`, a `semiring` or a `composite`"),
    "agg, pickled": (
        lambda: pickle.dumps(Aggregator("a", monoid=gb.monoid.plus)),
        TypeError,
        r"agg.a is not one of gb.agg and cannot be pickled; make it anew",
    ),
    "agg, whole": (
        lambda: A().reduce_scalar(gb.agg.ss.argmin).new(),
        ValueError,
        "argmin may not be used with Matrix.reduce_",
    ),
    "type, number": (lambda: gb.Matrix(3), ValueError, r"write gb.Matrix\(type, nrows, ncols\) for an empty one"),
    "type, size": (lambda: gb.Vector(2.5), ValueError, r"write gb.Vector\(type, size\) for an empty one"),
    "type, value": (lambda: gb.Scalar([1]), TypeError, r"write gb.Scalar.from_value\(x\)"),
    "type, graph": (lambda: gb.Matrix(ADJACENT), TypeError, r"type SimpleNamespace: write gb.io.from_networkx\(G\)"),
    "type, scipy": (lambda: gb.Vector(COO), TypeError, r"write gb.io.from_scipy_sparse\(x\)"),
    "type, table": (lambda: gb.Matrix(TABLE), TypeError, r"write gb.io.from_dataframe\(x\) for a table of edges"),
    "type, columns": (lambda: gb.Vector(TABLE), TypeError, r"write gb.Vector.from_dense\(x\), with missing_value=0"),
    "type, dictionary": (lambda: gb.Vector({0: 1}), TypeError, r"write gb.Vector.from_dict\(x\)"),
    "type, dictionaries": (lambda: gb.Matrix({0: {1: 2}}), TypeError, r"write gb.Matrix.from_dicts\(x\)"),
    "type, object": (lambda: gb.Matrix(A()), TypeError, r"write x.dup\(\) for a copy"),
    "type, file": (lambda: gb.Matrix("a.mtx"), ValueError, r"a file is read by gb.io.read\('a.mtx'\)"),
    "type, any": (lambda: gb.Matrix(object()), ValueError, "Unknown dtype: <object"),
    "type, unknown": (lambda: gb.Matrix("INT7"), ValueError, "(?!.*file)INT7|unknown|Unknown"),
    "indices, text": (
        lambda: gb.Vector.from_coo("ab", [1, 2]),
        TypeError,
        "must be a list or an array of integers; got 'ab'",
    ),
    "indices, set": (
        lambda: gb.Vector.from_coo({1}, [1]),
        TypeError,
        "must be a list or an array of integers; got {1}",
    ),
    "indices, beyond": (
        lambda: gb.Vector.from_coo([2**60 + 1], [1]),
        InvalidValue,
        "holds 1152921504606846977, which is bey",
    ),
    "indices, 2**61.": (
        lambda: gb.Vector.from_coo([2.0**61], [1]),
        InvalidValue,
        "holds 2305843009213693952, which is bey",
    ),
    "indices, 2**64": (
        lambda: gb.Vector.from_coo([2**64], [1]),
        OverflowError,
        "holds the index 18446744073709551616; ind",
    ),
    "indices, fraction": (
        lambda: gb.Vector.from_coo([1, 0.5], [1, 2]),
        ValueError,
        "must be integers; number 1 of them is 0.5",
    ),
    "indices, bool": (lambda: gb.Vector.from_coo([2, True], [1, 2]), ValueError, "number 1 of them is True"),
    "indices, lists": (lambda: gb.Vector.from_coo([[1], [2, 3]], [1, 2]), ValueError, r"number 0 of them is \[1\]"),
    "indices, uint64": (
        lambda: gb.Vector.from_coo(np.array([2**63], np.uint64), [1]),
        InvalidValue,
        "beyond every dim",
    ),
    "size, half": (
        lambda: gb.Vector(int, 1.5),
        TypeError,
        r"`size` must be an integer; got 1.5 of type <class 'float'>",
    ),
    "size, beyond": (lambda: gb.Vector(int, 2**60 + 1), InvalidValue, "60"),
    "option twice": (
        lambda: v().dup(nthreads=1, NThreads=2),
        ValueError,
        "Duplicate descriptor option: NThreads, nthreads",
    ),
    "option value": (
        lambda: A().mxm(A()).new(axb_method="other"),
        ValueError,
        "Invalid value for 'axb_method' descriptor",
    ),
    "flag": (
        lambda: gb.io.from_pandas_edgelist(None, directed=3),
        TypeError,
        "directed: expected True or False, got 3 of type int",
    ),
    "power, pair": (
        lambda: A().power(0, gb.semiring.plus_first).new(),
        ValueError,
        "does not have a monoid with an identity",
    ),
    "setdiag, high": (lambda: A().setdiag(3, 3), IndexError, r"k=3 is too large; .* 3x3: -3 < k < 3"),
    "setdiag, low": (lambda: A().setdiag(3, -3), IndexError, r"k=-3 is too small; .* 3x3: -3 < k < 3"),
    "setdiag, length": (lambda: A().setdiag(v(), 1), DimensionMismatch, "length 3 Vector to 1'th diagonal .* size 2"),
    "setdiag, mask": (
        lambda: A().setdiag(3, mask=gb.Vector(bool, 2).S),
        DimensionMismatch,
        "expected size 3, got size 2",
    ),
    "setdiag, matrix": (
        lambda: A().setdiag(3, mask=gb.Matrix(bool, 2, 3).S),
        DimensionMismatch,
        "expected shape 3x3, got 2x3",
    ),
    "setdiag, k": (lambda: A().setdiag(3, 1.5), TypeError, "k must be an integer; got bad type: <class 'float'>"),
    "sorted by": (
        lambda: A().ss.sort(gb.binary.plus),
        DomainMismatch,
        "sort needs a BinaryOp that returns BOOL; .* returns INT",
    ),
    "selectk": (lambda: A().ss.selectk("first", -1), ValueError, "negative k is not allowed"),
    "build_scalar": (
        lambda: gb.Matrix(int, 3, 3).ss.build_scalar([0], [0], gb.Scalar(int)),
        EmptyObject,
        "needs a value",
    ),
    "build_scalar, vector": (
        lambda: gb.Vector(int, 3).ss.build_scalar([0], gb.Scalar(int)),
        EmptyObject,
        "needs a value",
    ),
    "build_scalar, None": (lambda: gb.Vector(int, 3).ss.build_scalar([0], None), EmptyObject, "needs a value"),
    "import, type": (
        lambda: gb.Matrix.ss.import_any(values=[1.0], rows=[0], nrows=1, ncols=1),
        ValueError,
        "coo requires both `rows` and `cols`",
    ),
    "import, format": (
        lambda: gb.Matrix.ss.import_any(format="other", values=[1.0]),
        ValueError,
        "Invalid format: other",
    ),
    "import, vector": (
        lambda: gb.Vector.ss.import_any(format="other", values=[1.0]),
        ValueError,
        "Invalid format: other",
    ),
    "serialize": (lambda: A().ss.serialize(format="other"), ValueError, "format must be .* got 'other'"),
    "config": (lambda: gb.ss.config.__setitem__("format", "other"), (KeyError, ValueError), "by_row"),
    "dense of pairs": (
        lambda: gb.Matrix.from_dense(dense(2, 2), dtype=PAIR),
        ValueError,
        "A >2d array is required to create a dense Matrix with subdtype",
    ),
    "dense matrix": (lambda: gb.Matrix.from_dense(dense(2, 2, 2), dtype="INT8"), ValueError, "array must be 2d"),
    "dense vector": (lambda: gb.Vector.from_dense(dense(2, 2), dtype="INT8"), ValueError, "array must be 1d"),
    "masks": (lambda: A()(mask=v().S, input_mask=v().S)[0, :], TypeError, "cannot both be given"),
    "one value": (lambda: gb.Scalar.from_value([(1.0, 2), (3.0, 4)], POINT), TypeError, "one value of type .* got 2"),
    "picture": (lambda: viz.datashade(A(), agg="other"), (ValueError, ImportError), "agg must be|pip install"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    call, kind, words = CASES[name]
    with pytest.raises(kind, match=words):
        call()


def test_values_of_records_by_field():
    """Tuples, and dictionaries by the names of the fields, of records within records, too."""
    for dtype, values in (
        (POINT, [(1.5, 2), {"x": 1.5, "y": 2}, {"y": 2, "x": 1.5}, np.array((1.5, 2), POINT.np_type)[()]]),
        (NESTED, [((1.5, 2), 7), {"at": (1.5, 2), "n": 7}, {"n": 7, "at": {"y": 2, "x": 1.5}}]),
    ):
        for value in values:
            s = gb.Scalar.from_value(value, dtype)
            assert s.value == gb.Scalar.from_value(values[0], dtype).value and s.dtype is dtype
            u = gb.Vector(dtype, 2)
            u[1] << value
            assert u[1].new().value == s.value and u.nvals == 1
    pair = gb.Scalar.from_value([3, 4], PAIR)
    assert pair.value.tolist() == [3, 4] and gb.Scalar.from_value(5, PAIR).value.tolist() == [5, 5]
    with pytest.raises(KeyError):
        gb.Scalar.from_value({"x": 1.5}, POINT)
