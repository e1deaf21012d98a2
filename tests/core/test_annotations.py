"""Public methods of core's classes are annotated, parameters and results, so that type checkers help their users."""

import inspect

import pytest

import grb_tile as gb
from grb_tile.core import aggregate, expression, indexed, infix, mask, ss, updater

CLASSES = (
    gb.Matrix, gb.Vector, gb.Scalar, gb.TransposedMatrix, gb.Recorder, mask.Mask, updater.Updater, aggregate.Aggregator,
    expression.VectorExpression, expression.MatrixExpression, expression.ScalarExpression, indexed.IndexExpr,
    infix.InfixExpr, ss.MatrixTools, ss.VectorTools,
)  # fmt: skip


def functions_of(cls):
    """(name, function) of the public methods and properties that are written out, not made by a loop."""
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        member = getattr(member, "fget", getattr(member, "__func__", member))
        written_out = inspect.isfunction(member) and not hasattr(member, "__signature__")
        written_out = written_out and member.__name__ == name and "<locals>" not in member.__qualname__
        if not name.startswith("_") and written_out:
            yield name, member


def missing(function):
    """The parameters without an annotation, and "return"."""
    parameters = list(inspect.signature(function).parameters.values())
    first = parameters[0].name if parameters and parameters[0].name in ("self", "cls") else None
    names = [p.name for p in parameters if p.annotation is p.empty and p.name != first]
    return names + (["return"] if "return" not in function.__annotations__ else [])


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_public_methods_are_annotated(cls):
    functions = dict(functions_of(cls))
    assert functions
    assert not {name: missing(function) for name, function in functions.items() if missing(function)}


def test_the_check_sees_a_missing_annotation():
    class Example:
        def half(self, x, y: int): ...

    assert missing(Example.half) == ["x", "return"]
