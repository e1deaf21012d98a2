"""TileSpMSpV (Algorithm 4): w<allow> = A x over tiles with values and a tiled x, by tile rows.

Arrays as in storage/tiled.py.  A tile whose tile of x is empty is passed over; in the others the open rows are reduced,
those that are allowed and neither at the first product (ANY) nor at the terminal value (EXIT).
Work: the tiles, and the entries of those that x meets.
Paper: tilespmspv_tilebfs_icpp22, 3.3.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    ANY,
    EXIT,
    INDEX,
    INT32,
    INT64,
    ISO_OUT,
    LEVEL,
    MUL,
    NONE,
    START,
    TERMINAL,
    TILE,
    WORD,
    X_ISO,
    X,
    Y,
    Z,
    bit,
    ones,
)


def put(i, product, seen, out_values):
    """w_i = product, or w_i (+) product once row i was seen; is the row finished?"""
    if not ISO_OUT:
        if seen:
            product = ADD(out_values[i], product)
        out_values[i] = product
    if ANY:
        return True
    if EXIT:
        return product == TERMINAL
    return False


def tiled_rows(
    tile_ptr: INT64,
    tile_col: INT32,
    tile_nnz: INT64,
    row_start: START,
    local_col: LEVEL,
    a_values: X,
    rest_ptr: INT64,
    rest_row: LEVEL,
    rest_col: INDEX,
    rest_values: X,
    x_ptr: INT32,
    x_mask: TILE,
    x_tile: Y,
    n: int,
    allow: WORD,
    flip: np.uint64,
    out_words: WORD,
    out_values: Z,
    first: int,
    last: int,
):
    """Rows of the words first..last; returns how many results there are."""
    nt = 8 * x_mask.itemsize
    count = 0
    for w in range(first, last):
        base = w * 64
        open_rows = ~NONE
        if allow.shape[0] > 0:
            open_rows = allow[w] ^ flip
        if n - base < 64:
            open_rows &= bit(n - base) - np.uint64(1)
        got = NONE
        if open_rows != NONE:
            for r in range(base // nt, min((base + 64) // nt, tile_ptr.shape[0] - 1)):
                for t in range(tile_ptr[r], tile_ptr[r + 1]):
                    slot = np.int64(x_ptr[tile_col[t]])
                    if slot >= 0:
                        present = np.uint64(x_mask[slot])
                        end = tile_nnz[t]
                        for v in range(nt):
                            i = r * nt + v
                            begin = end
                            end = tile_nnz[t + 1]
                            if v < nt - 1:
                                end = tile_nnz[t] + np.int64(row_start[t * nt + v + 1])
                            if not open_rows & bit(i - base):
                                continue
                            for e in range(begin, end):
                                local = np.int64(local_col[e])
                                if present & bit(local):
                                    a = a_values[0]
                                    b = x_tile[0]
                                    if not A_ISO:
                                        a = a_values[e]
                                    if not X_ISO:
                                        b = x_tile[slot * nt + local]
                                    product = MUL(a, b, i, tile_col[t] * np.int64(nt) + local, 0)
                                    seen = got & bit(i - base)
                                    got |= bit(i - base)
                                    if put(i, product, seen != NONE, out_values):
                                        open_rows &= ~bit(i - base)
                                        break
                for e in range(rest_ptr[r], rest_ptr[r + 1]):
                    i = r * nt + np.int64(rest_row[e])
                    if open_rows & bit(i - base):
                        k = np.int64(rest_col[e])
                        slot = np.int64(x_ptr[k // nt])
                        if slot >= 0 and np.uint64(x_mask[slot]) & bit(k % nt):
                            a = a_values[0]
                            b = x_tile[0]
                            if not A_ISO:
                                a = rest_values[e]
                            if not X_ISO:
                                b = x_tile[slot * nt + k % nt]
                            product = MUL(a, b, i, k, 0)
                            seen = got & bit(i - base)
                            got |= bit(i - base)
                            if put(i, product, seen != NONE, out_values):
                                open_rows &= ~bit(i - base)
        out_words[w] = got
        count += ones(got)
    return count
