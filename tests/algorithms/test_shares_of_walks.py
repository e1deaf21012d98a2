"""Random walks: how often they return, restart and take heavy edges, as the formulas say, on each backend."""

import contextlib

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.algorithms import random_walks
from support.seeds import SEED

BACKENDS = {
    "numpy": lambda: gb.plan(force="numpy"), "compiled": lambda: gb.plan(force="numba"), "device": using_shim,
    "as it comes": contextlib.nullcontext,
}  # fmt: skip
N, LENGTH = 24, 12


def cycle():
    k = np.arange(N)
    return gb.Matrix.from_coo(np.r_[k, k], np.r_[(k + 1) % N, (k - 1) % N], 1.0, nrows=N, ncols=N)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("p", "q"), [(0.25, 1.0), (4.0, 1.0), (1.0, 0.25), (1.0, 4.0), (2.0, 0.5), (3.0, 3.0)])
def test_returns_on_a_cycle(p, q, backend):
    """Of two neighbours one is the vertex before, with weight 1/p, and the other is two steps from it, with 1/q."""
    with BACKENDS[backend]():
        walks = random_walks(cycle(), [0] * 300, LENGTH, p=p, q=q, seed=SEED % 1000).walks
    walks = np.asarray(walks)
    returned = (walks[:, 2:] == walks[:, :-2]).mean()
    expected = (1 / p) / (1 / p + 1 / q)
    spread = np.sqrt(expected * (1 - expected) / walks[:, 2:].size)
    assert abs(returned - expected) < 6 * spread, (returned, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_restarts_and_weights(backend):
    with BACKENDS[backend]():
        A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 0, 0], [1.0, 3.0, 1.0, 1.0], nrows=3, ncols=3)
        weighted = np.asarray(random_walks(A, [0] * 2000, 1, weighted=True, seed=1).walks)[:, 1]
        equal = np.asarray(random_walks(A, [0] * 2000, 1, seed=1).walks)[:, 1]
        again = np.asarray(random_walks(cycle(), [5] * 300, LENGTH, restart=0.5, seed=2).walks)
    assert abs((weighted == 2).mean() - 0.75) < 0.06 and abs((equal == 2).mean() - 0.5) < 0.06
    assert abs((again[:, 1:] == 5).mean() - 0.5) < 0.2 and (again[:, 1:] == 5).mean() > 0.4
