"""Searches give what was asked for and nothing else: every combination of flags, on each backend."""

import contextlib

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile import graph
from support.seeds import generator

BACKENDS = {
    "numpy": lambda: gb.plan(force="numpy"), "compiled": lambda: gb.plan(force="numba"), "device": using_shim,
    "as it comes": contextlib.nullcontext,
}  # fmt: skip


def matrix(weighted):
    rng = generator("not asked for")
    i, j = np.nonzero(rng.random((40, 40)) < 0.08)
    values = rng.integers(1, 9, i.size).astype(float) if weighted else True
    return gb.Matrix.from_coo(i, j, values, nrows=40, ncols=40)


@pytest.mark.parametrize("backend", BACKENDS)
def test_searches(backend):
    with BACKENDS[backend]():
        A = matrix(False)
        for levels, parents in ((False, True), (True, False), (True, True)):
            for found in (
                graph.bfs(A, 3, levels=levels, parents=parents),
                graph.bfs(A, 3, levels=levels, parents=parents, max_level=2),
                graph.bfs_multi(A, [3, 5], levels=levels, parents=parents),
            ):
                if found is not None:  # a backend without the operation composes it
                    assert (found.levels is not None, found.parents is not None) == (levels, parents)
        for predecessors in (False, True):
            found = graph.sssp(matrix(True), 3, predecessors=predecessors)
            assert found is None or (found.predecessors is not None) == predecessors


@pytest.mark.parametrize("backend", BACKENDS)
def test_algorithms(backend):
    from grb_tile import algorithms

    with BACKENDS[backend]():
        for flag in (False, True):
            assert (algorithms.sssp(matrix(True), 3, predecessors=flag).predecessors is not None) == flag
            assert (algorithms.bfs(matrix(False), 3, parents=flag).parents is not None) == flag
