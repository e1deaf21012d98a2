"""Operands of test_asked_in_turn.py: random matrices and vectors of every form, the same in each call."""

import numpy as np

import grb_tile as gb
from support import stores
from support.seeds import generator

N = 48


WIDE = 2**33  # columns whose indices are int64


def sparse(name, dtype="FP64", shape=(N, N), count=500, wide=False, iso=False, empty=(3, 4, 20)):
    """A random matrix, some rows of it empty and one long; `wide`: of so many columns that indices are int64."""
    rng = generator("asked in turn", name)
    here = rng.random(shape) < count / (shape[0] * shape[1])
    here[[k % shape[0] for k in empty]] = False
    here[7 % shape[0]] = True
    i, j = np.nonzero(here)
    values = stores.values(rng, gb.dtypes.lookup_dtype(dtype), i.size)
    return gb.Matrix.from_coo(
        i, spread(j, wide), 2 if iso else values, dtype, nrows=shape[0], ncols=WIDE if wide else shape[1]
    )


def spread(j, wide):
    """Positions 0 .. 47, or as many of 0 .. 2^33 - 1."""
    return j * (WIDE // N) if wide else j


def full(name, width, dtype="FP64", kind="full"):
    values = generator("asked in turn", name, width).integers(1, 9, (N, width))
    X = gb.Matrix.from_dense(values, dtype=dtype)
    if kind == "iso":
        return gb.Matrix.from_scalar(3, N, width, dtype)
    if kind == "bitmap":
        X = X.dup(mask=sparse("holes", "BOOL", (N, width), N * width // 2).S)
        X.ss.config["sparsity_control"] = "bitmap"
    if kind == "columns":
        return gb.Matrix.ss.import_fullc(values=np.asfortranarray(values.astype(X.dtype.np_type)))
    return X


def vector(kind, dtype="FP64", wide=False):
    rng = generator("asked in turn", "vector", kind, dtype)
    np_dtype = gb.dtypes.lookup_dtype(dtype)
    if kind == "iso":
        return gb.Vector.from_scalar(2, N, dtype)
    share = {"sparse": 0.1, "bitmap": 0.6, "full": 1.1}[kind]
    at = np.flatnonzero(rng.random(N) < share)
    return gb.Vector.from_coo(spread(at, wide), stores.values(rng, np_dtype, at.size), dtype, size=WIDE if wide else N)


def path(n=N):
    """A graph with weights: a circle and some chords, both ways."""
    rng = generator("asked in turn", "path")
    i = np.r_[np.arange(n), rng.integers(0, n, n)]
    j = np.r_[(np.arange(n) + 1) % n, rng.integers(0, n, n)]
    w = rng.integers(1, 9, i.size)
    keep = i != j
    i, j, w = i[keep], j[keep], w[keep]
    return gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.r_[w, w], "FP64", nrows=n, ncols=n, dup_op=gb.binary.min)


def masks(M):
    return {"S": M.S, "V": M.V, "~S": ~M.S, "~V": ~M.V, "none": None}
