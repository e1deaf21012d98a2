"""Functions that are no operators: refused at once, with the reason; an index out of range is an error."""

import time

import numpy as np
import pytest

import grb_tile as gb


async def _asynchronous(x):
    return x


def _generator(x):
    yield x


@pytest.mark.parametrize(("function", "kind"), [(_asynchronous, "async"), (_generator, "a generator")])
def test_async_functions_and_generators_are_refused(function, kind):
    for register in (gb.unary.register_anonymous, lambda f: gb.Vector.from_scalar(1, 2).apply(f).new()):
        with pytest.raises(gb.exceptions.UdfParseError, match=f"is {kind}: an operator's function returns a number"):
            register(function)


def test_a_wrong_number_of_arguments_is_named():
    v = gb.Vector.from_coo([0, 1], [1, 2])
    for call, count in (
        (lambda: v.apply(lambda: 1).new(), 1), (lambda: v.apply(lambda x, y: x + y).new(), 1),
        (lambda: v.ewise_mult(v, lambda x: x).new(), 2), (lambda: v.reduce(lambda x: x).new(), 2),
        (lambda: gb.unary.register_anonymous(lambda x, y: x), 1),
        (lambda: gb.binary.register_anonymous(lambda x: x), 2),
        (lambda: gb.indexunary.register_anonymous(lambda x, i: x), 4),
        (lambda: gb.select.register_anonymous(lambda x, i, j: x > 1), 4),
    ):  # fmt: skip
        with pytest.raises(
            gb.exceptions.UdfParseError, match=f"<lambda>: an operator here takes {count} arguments; the function: "
        ):
            call()
    assert v.apply(lambda x, y=3: x + y).new().to_dict() == {0: 4, 1: 5}


def test_an_index_out_of_range_is_an_error():
    """It read memory that is not the array's, and ended the process."""
    table = np.arange(10.0)
    v = gb.Vector.from_coo([0, 1], [1, 2])
    assert v.apply(lambda x: table[x + 1]).new().to_dict() == {0: 2.0, 1: 3.0}
    for function in (lambda x: table[x + 10**12], lambda x: table[x + 9]):
        with pytest.raises(IndexError):
            v.apply(function).new().to_coo()


def _of_source(text, tmp_path):
    path = tmp_path / f"f{abs(hash(text))}.py"
    path.write_text(text)
    names = {}
    exec(compile(text, str(path), "exec"), names)
    return names["f"]


@pytest.mark.parametrize(
    "text",
    [
        "f = lambda x: " + "+".join(["x"] * 700) + "\n",
        "def f(x):\n    y = x\n" + "    y = y * 2 + x\n" * 990 + "    return y\n",
        "def f(x):\n    y = x\n" + "    y = y * 2 + x\n" * 1100 + "    return y\n",
    ],
    ids=["700 terms", "1980 operations", "2200 operations"],
)
def test_a_function_of_too_many_operations_is_refused_at_once(text, tmp_path):
    """Numba took minutes for it, one compilation for each type."""
    function = _of_source(text, tmp_path)
    start = time.process_time()
    with pytest.raises(gb.exceptions.UdfParseError, match="nested too deeply|more than 2000 operations"):
        gb.Vector.from_scalar(1, 3).apply(function).new()
    with pytest.raises(gb.exceptions.UdfParseError, match="nested too deeply|more than 2000 operations"):
        gb.Vector.from_scalar(1, 3).apply(gb.unary.register_anonymous(function)).new()
    assert time.process_time() - start < 20


def test_a_function_of_a_hundred_operations_is_lowered(tmp_path):
    f = _of_source("def f(x):\n    y = x\n" + "    y = y + x\n" * 100 + "    return y\n", tmp_path)
    assert gb.Vector.from_scalar(3, 2).apply(f).new().to_dense().tolist() == [303, 303]
