"""The scalar Python text of expressions within expressions: what the reference backend runs and Numba compiles."""

import numpy as np
import pytest

from grb_tile import binary
from grb_tile.operators.to_python import scalar_source


def squared_difference(x, y):
    return (x - y) * (x - y)


def differences(x, y):
    return x - (y - x) - (x - (y + x))


def negated(x, y):
    return -(x + y) * y - -(x - y)


def chosen(x, y):
    return (x if x == y else y) * (x + y) - (x * (y - x))


@pytest.mark.parametrize("dtype", ["FP64", "FP32", "FC64", "INT64", "INT8"])
@pytest.mark.parametrize("function", [squared_difference, differences, negated, chosen])
def test_parts_keep_their_parentheses(function, dtype):
    typed = binary.register_anonymous(function)[dtype]
    preamble, source = scalar_source(typed, "compiled")
    space = {}
    exec(f"{preamble}\n{source}", space)
    kind = typed.type.np_type.type
    for x, y in ((1, 4), (5, 3), (2, 2), (-3, 2)):
        assert space["compiled"](kind(x), kind(y)) == function(x, y), source
        assert typed.numpy(np.array([x], kind), np.array([y], kind))[0] == function(x, y)
