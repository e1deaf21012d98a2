"""What arguments mean that are left out: the same as in python-graphblas."""

import inspect

import pytest

from support.library import LIBRARY, gb, oracle

if LIBRARY == "graphblas":
    pytest.skip("both sides are the same library", allow_module_level=True)


def defaults(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: p.default for p in parameters if isinstance(p.default, (bool, int, float, str, type(None)))}


@pytest.mark.parametrize("name", ["Matrix", "Vector", "Scalar", "Matrix.ss", "Vector.ss", "Recorder"])
def test_arguments_that_are_left_out(name):
    """A default that both libraries write down is the same one, of the same type."""
    classes = [getattr(lib, name.partition(".")[0]) for lib in (gb, oracle)]
    if name.endswith(".ss"):
        classes = [type(cls(int, *([1] * (1 + (name[0] == "M")))).ss) for cls in classes]
    compared = 0
    for member in sorted(set(dir(classes[0])) & set(dir(classes[1]))):
        if member[0] == "_" and member != "__init__" or not callable(getattr(classes[0], member)):
            continue
        mine, other = (defaults(getattr(cls, member)) for cls in classes)
        for key in (mine.keys() & other.keys()) - {"dtype", "value"}:
            compared += 1
            same = mine[key] == other[key] and type(mine[key]) is type(other[key])
            assert same, f"{name}.{member}({key}={mine[key]!r}), theirs {other[key]!r}"
    assert compared > 5 or name == "Recorder"
