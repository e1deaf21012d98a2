"""TileBFS: one BFS level over bit tiles, y = (A' x) & ~m on words of nt bits, by push-CSC, push-CSR or pull-CSC.

Paper: tilespmspv_tilebfs_icpp22, section 3.4, algorithms 5 (push_csc), 6 (push_csr), 7 (pull_csc).
x: frontier; m: visited; y: next frontier.  The row words of A's tiles have the successors of a vertex, the column words
its predecessors; the paper multiplies by A', so they are its CSC and its CSR.  Arrays as in storage/bit_tiles.py: the
word of line v of tile t is words[start[t] + popcount(map[t] & ((1 << v) - 1))].
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import INT32, INT64, NONE, START, TILE, bit, ones, trailing_zeros


def push_csc(ptr: INT64, line: INT32, map: TILE, start: START, words: TILE, x: TILE, m: TILE, y: TILE):
    """Algorithm 5, for a sparse frontier: each bit of x unites its words along its tile row, masked by ~m."""
    one = np.uint64(1)
    for r in range(x.shape[0]):
        part = np.uint64(x[r])
        if part != NONE:
            for t in range(ptr[r], ptr[r + 1]):
                here = np.uint64(map[t])
                rest = here & part
                c = line[t]
                while rest != NONE:
                    lowest = bit(trailing_zeros(rest))
                    rest &= rest - one
                    y[c] |= np.uint64(words[start[t] + ones(here & (lowest - one))]) & ~np.uint64(m[c])


def push_csr(ptr: INT64, line: INT32, map: TILE, start: START, words: TILE, x: TILE, m: TILE, y: TILE):
    """Algorithm 6, for a dense frontier: each tile whose word of x is not zero tests its unvisited columns."""
    one = np.uint64(1)
    for c in range(y.shape[0]):
        got = NONE
        for t in range(ptr[c], ptr[c + 1]):
            part = np.uint64(x[line[t]])
            if part != NONE:
                here = np.uint64(map[t])
                rest = here & ~np.uint64(m[c]) & ~got
                while rest != NONE:
                    lowest = bit(trailing_zeros(rest))
                    rest &= rest - one
                    if np.uint64(words[start[t] + ones(here & (lowest - one))]) & part:
                        got |= lowest
        y[c] = got


def pull_csc(ptr: INT64, line: INT32, map: TILE, start: START, words: TILE, x: TILE, m: TILE, y: TILE):
    """Algorithm 7, for few unvisited vertices: each scans its tiles, with early exit at the first that meets x."""
    one = np.uint64(1)
    nt = 8 * m.itemsize
    for c in range(y.shape[0]):
        got = NONE
        for v in range(nt):
            lowest = bit(v)
            if np.uint64(m[c]) & lowest:
                continue
            for t in range(ptr[c], ptr[c + 1]):
                here = np.uint64(map[t])
                if here & lowest and np.uint64(words[start[t] + ones(here & (lowest - one))]) & np.uint64(x[line[t]]):
                    got |= lowest
                    break
        y[c] = got


def assign_levels(x: TILE, y: TILE, m: TILE, level: INT32, depth: int):
    """The end of a level: x = y, m |= y, level of the new bits, y = 0; returns the number of new bits."""
    nt = 8 * x.itemsize
    count = 0
    for c in range(y.shape[0]):
        rest = np.uint64(y[c])
        x[c] = rest
        y[c] = NONE
        if rest != NONE:
            m[c] |= rest
            count += ones(rest)
            while rest != NONE:
                level[c * nt + trailing_zeros(rest)] = depth
                rest &= rest - np.uint64(1)
    return count
