"""Types: lookup, unification and the typecast, against python-graphblas."""

import pickle
import warnings

import graphblas as gb
import numpy as np
import pytest
from operators.nasty import FLOATS, operands

from grb_tile import dtypes

BUILTIN = dtypes.BUILTIN


def test_lookup():
    for dtype in BUILTIN:
        for key in (
            dtype.name,
            dtype.name.lower(),
            dtype.gb_name,
            dtype.np_type,
            dtype.np_type.type,
            dtype.np_type.str,
            dtype.np_type.name,
        ):
            assert dtypes.lookup_dtype(key) is dtype
        assert dtype == dtype.name and dtype == dtype.np_type and pickle.loads(pickle.dumps(dtype)) is dtype
        assert dtypes._string_to_dtype(dtypes._dtype_to_string(dtype)) is dtype
    assert [dtypes.lookup_dtype(t).name for t in (bool, int, float, complex)] == ["BOOL", "INT64", "FP64", "FC64"]
    assert dtypes.lookup_dtype("float") is dtypes.FP64 and dtypes.lookup_dtype("double") is dtypes.FP64
    assert dtypes.INT64 != dtypes.INT32 and dtypes.INT64 != "FP64"
    with pytest.raises(ValueError, match="Unknown dtype"):
        dtypes.lookup_dtype("nothing")
    with pytest.raises(TypeError, match="Bad dtype: None"):
        dtypes.lookup_dtype(None)
    with pytest.raises(TypeError, match="Invalid or unknown datatype"):
        dtypes.INT64 == "nothing"  # noqa: B015
    assert sorted(BUILTIN, key=lambda t: t.rank) == list(BUILTIN)
    assert [t.name for t in sorted(BUILTIN)] == [t.name for t in sorted(getattr(gb.dtypes, t.name) for t in BUILTIN)]


def test_unify():
    for a in BUILTIN:
        for b in BUILTIN:
            for left in (False, True):
                for right in (False, True):
                    theirs = gb.dtypes.unify(
                        getattr(gb.dtypes, a.name),
                        getattr(gb.dtypes, b.name),
                        is_left_scalar=left,
                        is_right_scalar=right,
                    )
                    assert dtypes.unify(a, b, is_left_scalar=left, is_right_scalar=right).name == theirs.name


@pytest.mark.parametrize("source", BUILTIN, ids=str)
def test_cast(source):
    x = operands(source.np_type)
    if source.np_type.kind == "f":
        edges = [2.0**k for k in (7, 8, 15, 16, 31, 32, 63, 64)]
        x = np.array([*FLOATS, *edges, *(-e for e in edges), 254.9, -0.9], source.np_type)
    v = gb.Vector.from_coo(np.arange(len(x)), x, dtype=source.name)
    for target in BUILTIN:
        expected = v.dup(target.name).to_coo()[1]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = dtypes.cast(x, target)
            scalars = [dtypes.cast_scalar(s, target) for s in x]
        assert got.dtype == expected.dtype and np.array_equal(got, expected, equal_nan=target.np_type.kind in "fc"), (
            target
        )
        assert all(type(s) is target.np_type.type for s in scalars)
        assert np.array_equal(np.array(scalars), expected, equal_nan=target.np_type.kind in "fc")
    assert dtypes.cast(x, source) is x


def test_cast_of_python_numbers():
    assert dtypes.cast_scalar(257, dtypes.UINT8) == 1 and dtypes.cast_scalar(-1, dtypes.UINT64) == 2**64 - 1
    assert dtypes.cast_scalar(-(2**63), dtypes.INT64) == -(2**63) and dtypes.cast_scalar(5, dtypes.BOOL) is np.True_
    assert (
        dtypes.cast_scalar(2**64 - 1, dtypes.UINT64) == 2**64 - 1 and dtypes.cast_scalar(2**70, dtypes.FP64) == 2.0**70
    )
    for value, dtype in (
        (2**63, dtypes.INT64),
        (2**64, dtypes.UINT64),
        (-(2**63) - 1, dtypes.INT8),
        (2**70, dtypes.UINT8),
    ):
        with pytest.raises(OverflowError, match=rf"{value} is too large for {dtype.name}"):  # as SuiteSparse; not 0
            dtypes.cast_scalar(value, dtype)
    assert dtypes.cast_scalar(1e9, dtypes.INT8) == 127 and dtypes.cast_scalar(3 + 4j, dtypes.INT16) == 3


def test_user_defined_types():
    pair = dtypes.register_new("tests_pair", {"a": "INT32", "b": float})
    assert dtypes.tests_pair is pair and pair._is_udt and not pair._is_anonymous
    assert dtypes.lookup_dtype(pair.np_type) is pair and pickle.loads(pickle.dumps(pair)) is pair
    assert repr(dtypes.register_anonymous("INT64[3]")) == "INT64[3]"
    with pytest.raises(ValueError, match="unavailable"):
        dtypes.register_new("INT64", np.dtype([("a", int)]))
    with pytest.raises(ValueError, match="identifier"):
        dtypes.register_new("no name", np.dtype([("a", int)]))
    with pytest.raises(ValueError, match="Python objects"):
        dtypes.register_anonymous(np.dtype([("a", object)]))


def test_numba_types():
    pytest.importorskip("numba", reason="Numba is not installed")
    for dtype in BUILTIN:
        assert dtypes.lookup_dtype(dtype.numba_type) is dtype
