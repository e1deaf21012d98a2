"""BFS over bit tiles (TileBFS): for the plans "bittiled", "push_csc", "push_csr" and "pull_csc".

Paper: tilespmspv_tilebfs_icpp22, section 3.4.  Without a compiled kernel the templates run as plain Python, which is
slower and gives the same result.
"""

import time

import numpy as np

from grb_tile.planner import forced_tile_size
from grb_tile.storage.bit_tiles import bit_tiles_of
from grb_tile.storage.tiled import WORDS

from ..jit import cache as jit

WIDE_FROM = 10_000  # vertices above which tiles are 64 x 64, 32 x 32 below (section 3.4)
SPARSE = 0.01  # frontier / vertices below which push-CSC runs
FEW_LEFT = 0.05  # unvisited / vertices below which pull-CSC runs
DIRECTIONS = ("push_csc", "push_csr", "pull_csc")


def choose_direction(frontier, unvisited, n):
    """Push-CSC for a sparse frontier, Push-CSR for a dense one, Pull-CSC when few vertices are left."""
    if unvisited < FEW_LEFT * n:
        return "pull_csc"
    return "push_csc" if frontier < SPARSE * n else "push_csr"


def traverse_bit_tiles(A, sources, max_level, target, direction=None):
    """(words, levels, report rows, engine) of a BFS over A's bit tiles; direction: of DIRECTIONS, or None to choose."""
    n = A.nrows
    nt = forced_tile_size(64 if n > WIDE_FROM else 32)
    tiles = bit_tiles_of(A, nt)
    start = tiles.by_rows.start.dtype.char
    functions = jit.plain_kernel("bit_tiles", TILE=WORDS[nt]().dtype.char, START=start).functions_for(
        A.nvals * 20e-9 + 1e-3
    )
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
    bits = np.left_shift(word.type(1), (sources % nt).astype(word))
    np.bitwise_or.at(x, sources // nt, bits)
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
