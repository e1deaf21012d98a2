"""What an oracle of the battery of options may answer, and what oracles share."""

import math

import numpy as np

from grb_tile.algorithms import errors

INF = math.inf


REFUSALS = errors.CycleError, errors.NegativeCycleError, errors.NoPathError


class Check:
    """An expectation that is a function of the result, which raises AssertionError."""

    def __init__(self, function):
        self.function = function


class Refusal:
    """The exceptions one of which is expected."""

    def __init__(self, *errors):
        self.errors = errors + REFUSALS


def distances(d, weighted):
    """n x n array of lengths of shortest paths; None with a negative cycle."""
    D = np.where(d.present, d.weights if weighted else 1, INF).astype(float)
    for i in range(d.n):
        D[i, i] = min(D[i, i], 0)
    for k in range(d.n):
        D = np.minimum(D, D[:, k : k + 1] + D[k : k + 1, :])
    return None if (np.diag(D) < 0).any() else D


def has_negative_cycle(d):
    return distances(d, True) is None


def finite(row):
    return {j: x for j, x in enumerate(row.tolist()) if x < INF}


def require(holds, *shown):
    assert holds, shown


def weights_of(d, weighted):
    return np.where(d.present, d.weights if weighted else 1, 0)
