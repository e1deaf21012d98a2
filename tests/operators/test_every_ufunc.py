"""NumPy's functions where an operator is wanted: that of the same name and of the kind, or a TypeError."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.operators.resolve import get_typed_op

UFUNCS = {name: found for name in dir(np) if isinstance(found := getattr(np, name), np.ufunc)}
KINDS = {"unary": (gb.unary.numpy,), "binary": (gb.binary.numpy,), None: (gb.unary.numpy, gb.binary.numpy)}


def resolved(ufunc, kind):
    try:
        return get_typed_op(ufunc, gb.dtypes.FP64, kind=kind)
    except (TypeError, KeyError) as error:
        return type(error)


@pytest.mark.parametrize("kind", KINDS)
def test_every_function_of_numpy(kind):
    found = 0
    for name, ufunc in UFUNCS.items():
        spaces = [space for space in KINDS[kind] if hasattr(space, ufunc.__name__)]
        made = resolved(ufunc, kind)
        if not spaces:
            assert made is TypeError, (name, kind, made)
        elif made is not KeyError:  # an operator without FP64
            assert made.parent is getattr(spaces[0], ufunc.__name__), (name, kind, made)
            found += 1
    assert found > 15


def test_calls_take_them():
    v, w = gb.Vector.from_dense([1.0, 4.0]), gb.Vector.from_dense([3.0, 2.0])
    assert v.apply(np.sqrt).new().to_dict() == {0: 1.0, 1: 2.0}
    assert v.ewise_mult(w, np.maximum).new().to_dict() == {0: 3.0, 1: 4.0}
    for call in (lambda: v.ewise_mult(w, np.sqrt), lambda: v.reduce(np.sqrt), lambda: v.inner(w, np.add)):
        with pytest.raises(TypeError):
            call()
