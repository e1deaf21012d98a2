"""One breadth-first level over bit tiles: y = (A' x) & ~m, words of nt bits; the three walks of TileBFS.

A's tile rows are the frontier's side: its row words have the successors of a vertex in a tile, its column words the
predecessors.  In the paper's terms (the product's matrix is A') these are its CSC and its CSR.  The arrays are those of
storage/bit_tiles.py: the word of line v of tile t is words[start[t] + how many lines below v the map has].
Paper: tilespmspv_tilebfs_icpp22, section 3.4, algorithms 5 (push_csc), 6 (push_csr), 7 (pull_csc).
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import NONE, bit, ones, trailing_zeros


def push_csc(ptr, line, map, start, words, x, m, y):
    """Every bit of x takes its words along its tile row; visited bits are dropped at once."""
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


def push_csr(ptr, line, map, start, words, x, m, y):
    """Every tile whose part of x holds something tries each of its unvisited columns."""
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


def pull_csc(ptr, line, map, start, words, x, m, y):
    """Every unvisited vertex looks along its tiles until one meets x."""
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


def assign_levels(x, y, m, level, depth):
    """x = y, m |= y, levels of the new bits; y is cleared.  Returns how many there are."""
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
