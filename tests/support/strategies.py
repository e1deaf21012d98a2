"""Hypothesis strategies for operands: small ones that shrink well, and larger ones made from a drawn seed."""

import numpy as np
from hypothesis import strategies as st

from support.library import TYPES
from support.operands import HUGE, KINDS, make
from support.plain import NUMPY_TYPES, Plain

SIZES = st.one_of(st.integers(1, 5), st.sampled_from([1, 8, 31, 32, 33, 63, 64, 65, 130]))
NUMBERS = {"INT64": st.integers(-3, 3), "FP64": st.integers(-3, 3).map(float), "BOOL": st.booleans()}
DTYPES = st.sampled_from(TYPES)


def small(shape, dtype):
    """Each place is absent or holds a value: shrinks to the empty object of the smallest shape."""
    numbers = NUMBERS.get(dtype, st.integers(0, 6))
    count = int(np.prod(shape))

    def gather(places):
        kept = sorted(places)
        indices = (
            np.unravel_index(np.array(kept, np.int64), shape) if kept else tuple(np.empty(0, np.int64) for _ in shape)
        )
        values = np.array([places[k] for k in kept]).astype(NUMPY_TYPES[dtype])
        return Plain(shape, dtype, tuple(np.asarray(index, np.int64) for index in indices), values)

    return st.dictionaries(st.integers(0, count - 1), numbers, max_size=count).map(gather)


def objects(shape, dtype="INT64"):
    """A vector or matrix of this shape: empty, full, iso, with one heavy row, with empty rows, or anything."""
    seeded = st.builds(
        lambda seed, kind: make(np.random.default_rng(seed), shape, dtype, kind),
        st.integers(0, 2**32 - 1),
        st.sampled_from(KINDS),
    )
    return st.one_of(small(shape, dtype), seeded) if np.prod(shape) <= 40 else seeded


def huge(shape_of=2, dtype="INT64"):
    return st.integers(0, 2**32 - 1).map(lambda seed: make(np.random.default_rng(seed), (HUGE,) * shape_of, dtype))


@st.composite
def product_operands(draw, dtype="INT64"):
    """A (m x k), B (k x n), x (k), y (m), masks and outputs of the shapes of the products."""
    m, k, n = draw(SIZES), draw(SIZES), draw(st.integers(1, 5))
    return {
        "A": draw(objects((m, k), dtype)),
        "B": draw(objects((k, n), dtype)),
        "x": draw(objects((k,), dtype)),
        "y": draw(objects((m,), dtype)),
        "M": draw(objects((m, n), "BOOL")),
        "m": draw(objects((m,), "BOOL")),
        "n": draw(objects((k,), "BOOL")),
        "C": draw(objects((m, n), dtype)),
        "w": draw(objects((m,), dtype)),
    }


@st.composite
def equal_shapes(draw, dtype="INT64", count=3):
    """Matrices A, B, ... and vectors u, v, ... of one shape each, and masks for them."""
    m, n = draw(SIZES), draw(SIZES)
    found = {name: draw(objects((m, n), dtype)) for name in "ABCDE"[:count]}
    found |= {name: draw(objects((n,), dtype)) for name in "uvwxy"[:count]}
    found |= {"M": draw(objects((m, n), "BOOL")), "m": draw(objects((n,), "BOOL"))}
    return found


@st.composite
def indices_into(draw, n, unique=False):
    if unique:
        order = (
            draw(st.permutations(range(n)))
            if n <= 8
            else np.random.default_rng(draw(st.integers(0, 2**32 - 1))).permutation(n).tolist()
        )
        return [int(i) for i in order[: draw(st.integers(1, n))]]
    return draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2 * min(n, 6)))
