"""Operators with a bound scalar, of each pair of types: computed in the type that Python's notation computes in."""

import itertools

import pytest

import grb_tile as gb
from grb_tile import grb

TYPES = ("BOOL", "INT8", "UINT8", "INT64", "UINT64", "FP32", "FP64")
ALL = {name: getattr(gb.dtypes, name) for name in TYPES}


def matrix(dtype):
    values = [True, False] if dtype == "BOOL" else [7, 3]
    return gb.Matrix.from_coo([0, 1], [1, 0], values, dtype, nrows=2, ncols=2)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(TYPES, repeat=2)))
def test_bound_scalars(first, second):
    """300 and 1/3 tell in which type they were; C of FP64 and of INT64 takes what was computed."""
    A = matrix(first)
    y = gb.Scalar.from_value(True if second == "BOOL" else 2 if second[0] in "IU" else 1 / 3, ALL[second])
    for name, out in itertools.product(("plus", "minus", "times", "truediv", "max", "gt", "second"), ("FP64", "INT64")):
        op = getattr(gb.binary, name)
        for by, given in ((grb.apply_BinaryOp2nd, (A, y)), (grb.apply_BinaryOp1st, (y, A))):
            C = gb.Matrix(out, 2, 2)
            side = {"right": y} if by is grb.apply_BinaryOp2nd else {"left": y}
            try:
                wanted = A.apply(op, **side).new(out)
            except (TypeError, KeyError):
                with pytest.raises(Exception, match=""):
                    by(C, None, None, op, *given, None)
                continue
            by(C, None, None, op, *given, None)
            assert C.isequal(wanted, check_dtype=True), (name, by.__name__, C, wanted)
    for name in ("valuegt", "valuele"):
        C = gb.Matrix(first, 2, 2)
        wanted = A.select(getattr(gb.select, name), y).new()
        grb.select(C, None, None, getattr(gb.select, name), A, y, None)
        assert C.isequal(wanted, check_dtype=True), name
