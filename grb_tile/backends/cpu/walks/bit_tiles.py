"""One breadth-first level over bit tiles: y = (A' x) & ~m, words of nt bits; the three walks of TileBFS.

A's tile rows are the frontier's side: `row_words[t, u]` has the successors of vertex u in tile t, `col_words[t, v]` the
predecessors of v.  In the paper's terms (the product's matrix is A') these are its CSC and its CSR.
Paper: tilespmspv_tilebfs_icpp22, section 3.4, algorithms 5 (push_csc), 6 (push_csr), 7 (pull_csc).
"""
import numpy as np

from grb_tile.backends.cpu.walks.placeholders import NONE, bit, ones, trailing_zeros


def push_csc(tile_row_ptr, tile_col, row_words, x, m, y):
    """Every bit of x takes its words along its tile row; visited bits are dropped at once."""
    nt = row_words.shape[1]
    for r in range(x.shape[0]):
        rest = np.uint64(x[r])
        while rest != NONE:
            u = trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            if u < nt:
                for t in range(tile_row_ptr[r], tile_row_ptr[r + 1]):
                    c = tile_col[t]
                    y[c] |= np.uint64(row_words[t, u]) & ~np.uint64(m[c])


def push_csr(tile_col_ptr, tile_row, col_words, x, m, y):
    """Every tile whose part of x holds something tries each of its unvisited columns."""
    for c in range(y.shape[0]):
        open_places = ~np.uint64(m[c])
        if col_words.shape[1] == 32:
            open_places &= np.uint64(0xFFFFFFFF)
        got = NONE
        for t in range(tile_col_ptr[c], tile_col_ptr[c + 1]):
            part = np.uint64(x[tile_row[t]])
            if part != NONE:
                rest = open_places & ~got
                while rest != NONE:
                    v = trailing_zeros(rest)
                    rest &= rest - np.uint64(1)
                    if np.uint64(col_words[t, v]) & part:
                        got |= bit(v)
        y[c] = got


def pull_csc(tile_col_ptr, tile_row, col_words, x, m, y):
    """Every unvisited vertex looks along its tiles until one meets x."""
    for c in range(y.shape[0]):
        rest = ~np.uint64(m[c])
        if col_words.shape[1] == 32:
            rest &= np.uint64(0xFFFFFFFF)
        got = NONE
        while rest != NONE:
            v = trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            for t in range(tile_col_ptr[c], tile_col_ptr[c + 1]):
                if np.uint64(col_words[t, v]) & np.uint64(x[tile_row[t]]):
                    got |= bit(v)
                    break
        y[c] = got


def settle(x, y, m, level, depth):
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
