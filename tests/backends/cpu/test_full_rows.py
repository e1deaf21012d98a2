"""Compiled kernels over rows of exactly the lengths at which a template does something else, against NumPy's results.

| constant of backends/cpu/templates              | test                                    |
|-------------------------------------------------|-----------------------------------------|
| matmul_rows.FEW, gather.FEW (24)                | test_columns_of_a_row                   |
| LOPSIDED of matmul_dot, merge_rows, merge_masked | test_rows_of_which_one_is_much_longer   |
| placeholders.STRIDE, words of 64                | test_vectors_of_whole_words             |
| bfs_multi.BLOCK (128), compiled/bfs_multi.BATCH | test_vertices_of_whole_blocks           |
"""

import numpy as np
import pytest
from backends.full_operands import around, of_lengths, rng_of, shuffled_lengths

import grb_tile as gb
from grb_tile import algorithms, dtypes
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.backends.cpu.templates import bfs_multi, gather, matmul_dot, matmul_rows, merge_masked, merge_rows


@pytest.fixture(autouse=True)
def compiled():
    yield
    assert jit.failures() == []


def same(function):
    """function() by compiled kernels and by NumPy."""
    with gb.plan(force="numpy"):
        wanted = function()
    with gb.plan(force="numba"):
        found = function()
    assert found.isequal(wanted, check_dtype=True)


def matrix(rng, lengths, ncols, dtype=dtypes.INT64):
    return gb.Matrix._from_store(of_lengths(rng, lengths, ncols, dtype), dtype)


@pytest.mark.parametrize("name", ["plus_times", "min_plus", "any_pair"])
def test_columns_of_a_row(name):
    """Rows of C of 23, 24 and 25 columns, and of every length: products, and columns that an index list takes."""
    assert matmul_rows.FEW == gather.FEW == 24
    rng, op = rng_of(1, len(name)), getattr(gb.semiring, name)
    A = matrix(rng, shuffled_lengths(rng, 130, [*around(24)] * 3), 140)
    diagonal = gb.Vector.from_dense(np.arange(1, 141)).diag()
    B = matrix(rng, rng.permutation(np.resize([*around(24), *around(12), 1, 2], 140)), 900)
    M = matrix(rng, np.resize(shuffled_lengths(rng, 65), A.nrows), 900, dtypes.BOOL)
    same(lambda: op(A @ diagonal).new())
    same(lambda: op(A @ B).new())
    for mask in (M.S, ~M.S):
        same(lambda: op(A @ B).new(mask=mask))
    for at in (rng.permutation(140), rng.integers(0, 140, 300), np.arange(140)[::-1]):
        same(lambda: A[:, at].new())


@pytest.mark.parametrize("short", [1, 2, 5, 16])
def test_rows_of_which_one_is_much_longer(short):
    """Rows 12 times as long as the other operand's, one entry fewer and one more; the last sought entry is another
    row's first."""
    assert matmul_dot.LOPSIDED == merge_rows.LOPSIDED == merge_masked.LOPSIDED == 12
    rng = rng_of(2, short)
    lengths = [length for length in around(12 * short) for _ in range(4)]
    few = [short] * len(lengths)
    A, B = (matrix(rng, one, 400) for one in (lengths, few))
    M = matrix(rng, [len(lengths)] * len(lengths), len(lengths), dtypes.BOOL)
    some = gb.binary.plus(A.select(">", 0).new() | B.select("<", 0).new()).new()
    for left, right in ((A, B), (B, A)):
        same(lambda: gb.semiring.plus_times(left @ right.T).new(mask=M.S))
        same(lambda: left.ewise_mult(right, gb.binary.minus).new())
        same(lambda: left.ewise_add(right, gb.binary.minus).new())
        same(lambda: left.dup(mask=right.S))
        same(lambda: left.dup(mask=~right.S))
        for other in (left, right):  # looked up in a third matrix, of which it has some entries
            same(lambda: some.ewise_add(other, gb.binary.minus).new(mask=left.S))
            same(lambda: other.ewise_union(some, gb.binary.minus, 3, 2).new(mask=right.S))
            same(lambda: other.ewise_mult(some, gb.binary.minus).new(mask=right.S))


@pytest.mark.parametrize("size", [*around(64), *around(128), *around(4096)])
def test_vectors_of_whole_words(size):
    rng = rng_of(3, size)
    A = matrix(rng, np.minimum(np.resize(shuffled_lengths(rng, 65), size), size), size)
    for share in (1.0, 0.97, 0.3):
        kept = np.flatnonzero(rng.random(size) < share)
        x = gb.Vector.from_coo(kept, rng.integers(-4, 5, kept.size), size=size)
        for op in (gb.semiring.plus_times, gb.semiring.any_pair, gb.semiring.max_second):
            same(lambda: A.mxv(x, op).new())
            same(lambda: x.vxm(A, op).new())
            same(lambda: A.mxv(x, op).new(mask=~x.S))
        same(lambda: x.ewise_add(x.apply("ainv").new(), gb.binary.plus).new())


@pytest.mark.parametrize("size", [*around(64), *around(128), *around(256)])
def test_vertices_of_whole_blocks(size):
    """Vertices, and sources of a batch, that fill words and blocks of 128."""
    assert bfs_multi.BLOCK == 128
    rng = rng_of(4, size)
    rows, cols = rng.integers(0, size, 3 * size), rng.integers(0, size, 3 * size)
    A = gb.Matrix.from_coo(rows, cols, True, nrows=size, ncols=size)
    sources = rng.permutation(size)[: 65 if size > 65 else size].tolist()
    for count in (1, 63, 64, len(sources)):
        same(lambda: algorithms.bfs_multi(A, sources[:count]).levels)
    same(lambda: algorithms.bfs(A, sources[0]).levels)
