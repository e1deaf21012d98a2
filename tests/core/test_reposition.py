"""reposition into an object that exists, as in python-graphblas: entries outside the region stay."""

import numpy as np
import pytest

from support.library import gb, oracle
from support.seeds import generator

WRITES = {
    "plain": lambda C, M, E, lib: C << E,
    "mask": lambda C, M, E, lib: C(M.S) << E,
    "complement, replace": lambda C, M, E, lib: C(~M.S, replace=True) << E,
    "accumulator": lambda C, M, E, lib: C(accum=lib.binary.plus) << E,
    "all": lambda C, M, E, lib: C(M.V, accum=lib.binary.minus, replace=True) << E,
    "new": lambda C, M, E, lib: E.new(mask=M.S),
}


def entries(rng, shape):
    """(indices of each dimension, values) of about half of the positions."""
    places = np.nonzero(rng.random(shape) < 0.6)
    return places, rng.integers(0, 3, len(places[0]))


@pytest.mark.parametrize("kind", ["matrix", "transposed", "vector"])
@pytest.mark.parametrize("name", WRITES)
def test_reposition_into_an_object(name, kind):
    rng = generator("reposition", name, kind)
    for _ in range(30):
        size = 1 if kind == "vector" else 2
        shape, offsets = rng.integers(1, 6, size).tolist(), rng.integers(-7, 7, size).tolist()
        own = rng.integers(1, 6, size).tolist()
        x, c, m = entries(rng, own[::-1] if kind == "transposed" else own), entries(rng, shape), entries(rng, shape)
        results = []
        for lib in (oracle, gb):
            if kind == "vector":
                u, C, M = (lib.Vector.from_coo(*at, v, dtype=int, size=n[0]) for (at, v), n in
                           zip((x, c, m), (own, shape, shape), strict=True))  # fmt: skip
                E = u.reposition(offsets[0], size=shape[0])
            else:
                sizes = own[::-1] if kind == "transposed" else own, shape, shape
                A, C, M = (lib.Matrix.from_coo(*at, v, dtype=int, nrows=n[0], ncols=n[1]) for (at, v), n in
                           zip((x, c, m), sizes, strict=True))  # fmt: skip
                E = (A.T if kind == "transposed" else A).reposition(*offsets, nrows=shape[0], ncols=shape[1])
            made = WRITES[name](C, M, E, lib)
            results.append([part.tolist() for part in (C if made is None else made).to_coo()])
        assert results[0] == results[1], (own, shape, offsets)
