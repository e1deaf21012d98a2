"""fused.one_pass on the host: every function against NumPy, with NaN, infinities, missing entries and long vectors."""

import math

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import chunked_pass
from grb_tile.operations.one_pass import MOST, Program
from support.seeds import generator

CORNERS = np.array([0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan])
FUNCTIONS = {
    "plus": (lambda x, y: x + y, np.add), "minus": (lambda x, y: x - y, np.subtract),
    "times": (lambda x, y: x * y, np.multiply), "truediv": (lambda x, y: x / y, np.divide),
    "min": (lambda x, y: x.min(y), np.fmin), "max": (lambda x, y: x.max(y), np.fmax),
    "ainv": (lambda x, y: -x + 0 * y, lambda x, y: -x + 0 * y),
    "abs": (lambda x, y: abs(x) - y, lambda x, y: abs(x) - y),
    "sqrt": (lambda x, y: (x * x).sqrt() + y, lambda x, y: np.sqrt(x * x) + y),
    "number on the left": (lambda x, y: 2 - x + 3 / y, lambda x, y: 2 - x + 3 / y),
}  # fmt: skip


def pairs(dtype):
    x, y = (part.ravel().astype(dtype) for part in np.meshgrid(CORNERS, CORNERS))
    return x, y


@pytest.mark.parametrize("dtype", ["FP64", "FP32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_corner_values(name, dtype):
    ours, theirs = FUNCTIONS[name]
    x, y = pairs(np.float64 if dtype == "FP64" else np.float32)

    @gb.graph.one_pass
    def step(x, y):
        return ours(x, y)

    found = step(gb.Vector.from_dense(x), gb.Vector.from_dense(y)).to_dense()
    with np.errstate(all="ignore"):
        wanted = theirs(x, y)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


def test_sums_and_maxima_of_what_is_missing_and_longer_than_a_chunk():
    size = 2 * chunked_pass.CHUNK + 70
    rng = generator("one pass")
    dense = rng.integers(-5, 6, size).astype(float)
    there = rng.random(size) < 0.5
    v = gb.Vector.from_coo(np.flatnonzero(there), dense[there], size=size)
    w = gb.Vector.from_dense(dense)

    @gb.graph.one_pass
    def step(x, y, a):
        z = a * x - y
        return z, z.sum(), z.max(), abs(x).sum()

    for x in (v, w, gb.Vector.from_scalar(3.0, size), gb.Vector.from_coo([1, size - 1], [4.0, 7.0], size=size)):
        plain = x.to_dense(0.0)
        z, total, most, weight = step(x, w, 2)
        wanted = 2 * plain - dense
        assert z.to_dense().tolist() == wanted.tolist()
        assert (total.value, most.value, weight.value) == (wanted.sum(), wanted.max(), abs(plain).sum())


def test_sums_of_fp32_are_taken_in_fp64():
    size = chunked_pass.CHUNK + 70
    x = generator("sums of FP32").random(size).astype(np.float32) + np.float32(1e4)

    @gb.graph.one_pass
    def step(x):
        return x.sum()

    assert step(gb.Vector.from_dense(x)).value == pytest.approx(math.fsum(x.tolist()), rel=1e-14)


def test_a_maximum_leaves_nan_out():
    @gb.graph.one_pass
    def step(x):
        return x.max(), x.sum()

    most, total = step(gb.Vector.from_dense([np.nan, -3.0, np.nan, -5.0]))
    assert most.value == -3.0 and np.isnan(total.value)


def test_a_pass_of_thousands_of_operations():
    """Deeper than Python's recursion and a compiler's brackets."""

    @gb.graph.one_pass
    def step(x):
        for _ in range(3000):
            x = x * 0.5 + 1
        return x

    assert step(gb.Vector.from_dense([0.0, 4.0])).to_dense().tolist() == [2.0, 2.0]
    text = Program(lambda x: step._function(x), "x").cuda_text
    assert text.count("grb::mul") == 3000 and max(map(len, text.splitlines())) < 120


@pytest.mark.parametrize("what", MOST)
@pytest.mark.parametrize("more", [0, 1])
def test_as_many_operands_and_results_as_a_pass_has(what, more):
    """Exactly MOST of a kind are computed, one more is refused by name."""
    count = MOST[what] + more
    names = [f"a{k}" for k in range(count if what in ("vectors", "scalars") else 2)]
    scalars = names if what == "scalars" else []
    vectors = ["x"] if scalars else names
    total = " + ".join(f"{k + 1} * {name}" for k, name in enumerate(vectors + scalars))
    each = {"outputs": "({}) + {}", "sums": "(({}) + {}).sum()"}.get(what, "{}")
    results = ", ".join(each.format(total, k) for k in range(count if what in ("outputs", "sums") else 1))
    space = {}
    exec(f"def step({', '.join(vectors + scalars)}):\n    return {results}", space)
    given = [gb.Vector.from_dense(np.arange(5.0) + k) for k in range(len(vectors))] + [*range(2, 2 + len(scalars))]
    plain = [x.to_dense() if isinstance(x, gb.Vector) else x for x in given]
    step = gb.graph.one_pass(space["step"])
    if more:
        with pytest.raises(ValueError, match=f"step: {count} {what}, and a pass has {MOST[what]} at most"):
            step(*given)
        return
    found = step(*given)
    found = found if isinstance(found, tuple) else (found,)
    base = sum((k + 1) * x for k, x in enumerate(plain))
    for k, x in enumerate(found):
        wanted = base + k if what == "outputs" else (base + k).sum() if what == "sums" else base
        np.testing.assert_array_equal(x.value if what == "sums" else x.to_dense(), wanted)
    assert len(found) == (count if what in ("outputs", "sums") else 1)
