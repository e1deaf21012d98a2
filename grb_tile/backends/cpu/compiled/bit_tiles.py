"""BFS and products over bit tiles (TileBFS): for the plans "bittiled", "push_csc", "push_csr" and "pull_csc".

Paper: tilespmspv_tilebfs_icpp22, section 3.4.  Without a compiled kernel the templates run as plain Python, which is
slower and gives the same result.
"""

import time

import numpy as np

from grb_tile.operators.iso_products import one_result, uses
from grb_tile.planner import forced_tile_size
from grb_tile.storage import bits, convert
from grb_tile.storage.bit_tiles import bit_tiles_of
from grb_tile.storage.tiled import can_tile

from ..jit import cache as jit
from ..jit.operators import result_value
from .matvec import result_vector

WIDE_FROM = 10_000  # vertices above which tiles are 64 x 64, 32 x 32 below (section 3.4)
SPARSE = 0.01  # frontier / vertices below which push-CSC runs
FEW_LEFT = 0.05  # unvisited / vertices below which pull-CSC runs
DIRECTIONS = ("push_csc", "push_csr", "pull_csc")


def choose_direction(frontier, unvisited, n):
    """Push-CSC for a sparse frontier, Push-CSR for a dense one, Pull-CSC when few vertices are left."""
    if unvisited < FEW_LEFT * n:
        return "pull_csc"
    return "push_csc" if frontier < SPARSE * n else "push_csr"


def _functions(tiles, seconds):
    """The compiled directions for such tiles, or None as long as they do not pay."""
    constants = {"TILE": tiles.row_words.dtype.char, "START": tiles.by_rows.start.dtype.char}
    return jit.plain_kernel("bit_tiles", **constants).functions_for(seconds)


def matvec_bit_tiles(A, x, semiring, allow, direction):
    """As matvec_rows (backends/protocol.py), where all results are one value: one level of TileBFS, whose visited
    vertices are the positions that are not allowed.  NotImplemented leaves it to NumPy.
    """
    reads_a, reads_x = uses(semiring.binaryop)
    if A.indices.shape[0] == 0 or x.nvals == 0 or A.rows is not None or not can_tile(A):
        return NotImplemented
    if not one_result(semiring, A.iso or not reads_a, x.iso or not reads_x):
        return NotImplemented
    n = A.nrows
    tiles = bit_tiles_of(A, forced_tile_size(64))
    functions = _functions(tiles, A.nvals * 20e-9 + 1e-3)
    if functions is None:
        return NotImplemented
    words, word = convert.words_of(x), tiles.row_words.dtype
    words = bits.full(x.size) if words is None else words
    visited, wanted = np.zeros((n + 63) // 64, np.uint64), n
    if allow is not None:
        pattern = convert.words_of(allow.pattern)
        pattern = bits.full(n) if pattern is None else pattern
        visited = pattern if allow.complement else ~pattern
        wanted = n - allow.pattern.nvals if allow.complement else allow.pattern.nvals
    if direction not in DIRECTIONS:
        direction = "pull_csc" if wanted < FEW_LEFT * n else "push_csc" if x.nvals < SPARSE * x.size else "push_csr"
    found = np.zeros(visited.shape[0], np.uint64)
    lines = tiles.by_cols if direction == "push_csc" else tiles.by_rows
    parts = -(-n // tiles.nt)
    x_parts = words.view(word)[: -(-A.ncols // tiles.nt)]
    getattr(functions, direction)(*lines, x_parts, visited.view(word)[:parts], found.view(word)[:parts])
    count = int(np.bitwise_count(found).sum())
    return result_vector(n, semiring.return_type, found, result_value(semiring, A, x), count, True)


def traverse_bit_tiles(A, sources, max_level, target, direction=None):
    """(words, levels, report rows, engine) of a BFS over A's bit tiles; direction: of DIRECTIONS, or None to choose."""
    n = A.nrows
    nt = forced_tile_size(64 if n > WIDE_FROM else 32)
    tiles = bit_tiles_of(A, nt)
    functions = _functions(tiles, A.nvals * 20e-9 + 1e-3)
    engine = "numba"
    if functions is None:
        from ..templates import bit_tiles as functions

        engine = "python"
    parts = -(-n // nt)
    word = tiles.row_words.dtype
    x, m, y = (np.zeros(parts, word) for _ in range(3))
    if n % nt:
        m[-1] = ~word.type((1 << (n % nt)) - 1)  # positions past the last vertex count as visited
    level = np.zeros(n, np.int32)
    np.bitwise_or.at(x, sources // nt, np.left_shift(word.type(1), (sources % nt).astype(word)))
    m |= x
    size, left, depth = sources.size, n - sources.size, 0
    rows = []
    with np.errstate(over="ignore"):
        while size and (max_level is None or depth < max_level):
            if target is not None and int(m[target // nt]) >> (target % nt) & 1:
                break
            start = time.perf_counter()
            depth += 1
            chosen = direction or choose_direction(size, left, n)
            getattr(functions, chosen)(*(tiles.by_rows if chosen == "push_csc" else tiles.by_cols), x, m, y)
            found = functions.assign_levels(x, y, m, level, depth)
            ms = (time.perf_counter() - start) * 1e3
            rows.append({"level": depth - 1, "frontier": int(size), "direction": chosen, "edges": None, "ms": ms})
            size = found
            left -= found
    if n % nt:
        m[-1] &= word.type((1 << (n % nt)) - 1)
    words = np.zeros((n + 63) // 64, np.uint64)
    words.view(word)[:parts] = m
    return words, level, rows, engine
