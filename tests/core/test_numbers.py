"""Numbers of a program's loop: Python's arithmetic and comparisons, with numbers, with each other and with vectors."""

import itertools
import operator
import threading

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.core import tracing
from grb_tile.core.number import Number, combined
from grb_tile.exceptions import CaptureError

ARITHMETIC = {
    operator.add: "plus", operator.sub: "minus", operator.mul: "times", operator.truediv: "truediv",
    operator.floordiv: "floordiv", operator.mod: "numpy.mod", operator.pow: "pow", operator.lt: "lt",
    operator.le: "le", operator.gt: "gt", operator.ge: "ge", operator.eq: "eq", operator.ne: "ne",
}  # fmt: skip


class Trace:
    """The trace of a loop that keeps what core tells it; numbers stay what they are."""

    def __init__(self, thread):
        self.thread, self.told = thread, []

    def count(self, vector):
        self.told.append(("count", vector))
        return "counted"

    def number(self, found, dtype):
        self.told.append(("number", found, dtype.name))
        return number(found) if type(found) is not bool else ("close", found)

    def compared(self, x, y, found):
        self.told.append(("compared", x, y))
        return "compared", found

    def write(self, target, record=None, desc=None):
        self.told.append(("write", target))

    def assign(self, number, desc):
        self.told.append(("assign", number))


@pytest.fixture(autouse=True)
def trace(monkeypatch):
    """Of another thread's loop."""
    monkeypatch.setattr(tracing, "active", Trace(-1))
    return tracing.active


def number(value, dtype=None):
    return Number(gb.Vector.from_dense(np.array([value]), dtype=dtype))


def value_of(x):
    assert type(x) is Number
    assert x.vector.shape == (1,)
    return x.dtype.name, x.vector[0].new().value


@pytest.mark.parametrize("op", ARITHMETIC, ids=lambda op: op.__name__)
def test_with_numbers_and_vectors(op):
    """What the operator gives for the values as entries of vectors."""
    binary = gb.binary.from_string(ARITHMETIC[op])
    v = gb.Vector.from_coo([0, 2], [7, 2], size=4)
    for a, b in itertools.product((7, 2, 2.5, True), (3, 0.5)):
        first, second = (gb.Vector.from_dense(np.array([x])) for x in (a, b))
        both = binary(first & second).new()
        assert value_of(op(number(a), number(b))) == (both.dtype.name, both[0].new().value)
        right, left = first.apply(binary, right=b).new(), first.apply(binary, left=b).new()
        assert value_of(op(number(a), b)) == (right.dtype.name, right[0].new().value)
        assert value_of(op(b, number(a))) == (left.dtype.name, left[0].new().value)
        for found, wanted in (
            (op(v, number(a)), v.ewise_mult(gb.Vector.from_scalar(a, 4), binary)),
            (op(number(a), v), gb.Vector.from_scalar(a, 4).ewise_mult(v, binary)),
        ):
            assert found.new().isequal(wanted.new(), check_dtype=True), (a, op)


def test_their_values_types_and_texts():
    x = number(-5)
    assert x.value is x and x.new() is x and x.dtype is gb.dtypes.INT64
    assert value_of(x.new(float)) == ("FP64", -5.0) and value_of(x) == ("INT64", -5)
    assert value_of(abs(x)) == ("INT64", 5) and value_of(-x) == ("INT64", 5)
    assert repr(x) == "Number(INT64, on the device)"
    for dtype, name in ((None, "INT64"), (gb.dtypes.INT64, "INT64"), (gb.dtypes.FP32, "FP32")):
        full = x.spread(3, dtype)
        assert full.to_dense().tolist() == [-5, -5, -5] and full.dtype.name == name and full.ss.is_iso
        full[1] = 9
        assert value_of(x) == ("INT64", -5)  # whose array it does not share when it is written


@pytest.mark.parametrize("call, what", [
    (bool, "`if`, `and` or `or`"), (int, r"int\(\)"), (float, r"float\(\)"), (operator.index, "an index or a range"),
    (iter, "iteration"), (list, "iteration"), (lambda x: [1, 2][x], "an index or a range"),
])  # fmt: skip
def test_what_needs_them_on_the_host(call, what):
    with pytest.raises(CaptureError, match=f"programs: {what} needs a number of the loop on the host"):
        call(number(3))


@pytest.mark.parametrize("other", ["a", None, [1], gb.Matrix(int, 1, 1), np.arange(2)])
def test_what_they_are_not_combined_with(other):
    assert combined(number(3), other, "plus") is NotImplemented
    assert combined(other, number(3), "plus") is NotImplemented
    if not isinstance(other, np.ndarray):
        with pytest.raises(TypeError):
            number(3) + other


def test_what_a_loop_is_told(trace):
    """The loop of this thread: counts, reductions, comparisons and writes; not of another's, nor without one."""
    A, v = gb.Matrix.from_coo([0, 1], [1, 0], [5, 6]), gb.Vector.from_coo([0, 2], [1, 2], size=3)
    assert tracing.current() is None and v.nvals == 2 and v.reduce().new() == 3 and v.isequal(v) is True
    assert trace.told == []
    trace.thread = threading.get_ident()
    assert tracing.current() is trace
    assert v.nvals == "counted" and trace.told == [("count", v)]
    found = v.reduce("plus").new(float)
    assert value_of(found) == ("FP64", 3.0) and trace.told[1:] == [("number", 3, "INT64")]
    assert value_of(A.reduce_scalar("max").new()) == ("INT64", 6) and trace.told[2:] == [("number", 6, "INT64")]
    assert v.isequal(v) == ("compared", True) and trace.told[3:] == [("compared", v._store, v._store)]
    assert v.isclose(v) == ("close", True) and trace.told[4:] == [("number", True, "BOOL")]
    w = v.dup()
    trace.told.clear()
    for write in (
        lambda: w << v, lambda: w(v.S) << 3, lambda: w.clear(), lambda: w(replace=True, mask=v.S) << v,
        lambda: w[:] << 4, lambda: w("plus") << v, lambda: w.__setitem__(1, 9), lambda: w.__delitem__(1),
        lambda: w.resize(5), lambda: w.clear(),
    ):  # fmt: skip
        write()
        tracing.active = None
        wanted = w.dup()
        tracing.active = trace
        assert ("write", w) in [each for each in trace.told if each[1] is w], write
        assert w.isequal(wanted) == ("compared", True)
        trace.told.clear()
    for write in (lambda: A << 3, lambda: A.resize(4, 4), lambda: A.clear(), lambda: A.__setitem__((0, 0), 5)):
        write()
        assert trace.told == [("write", A)], write
        trace.told.clear()
