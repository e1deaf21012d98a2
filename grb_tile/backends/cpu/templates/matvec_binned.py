"""Row-wise product over bins (propagation blocking): x goes slab by slab to the entries' places, then bins are summed.

A slab of x and the results of a bin stay in a core's cache, all else is read and written in sequence.  The entries of a
row are added in the order in which the matrix has them, as in matvec_rows.py: the same result, bit by bit.
Paper: Beamer, Asanovic, Patterson, "Reducing Pagerank communication via propagation blocking" (IPDPS 2017).
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    A_ISO,
    ADD,
    CODE,
    FLAG,
    INT64,
    MUL,
    NONE,
    WORD,
    X_FULL,
    X,
    Y,
    Z,
    bit,
)


def fill(
    cells: INT64,
    slabs: int,
    slab: int,
    columns: CODE,
    x_words: WORD,
    x_values: Y,
    live: FLAG,
    out_values: Y,
    out_met: FLAG,
    bins: int,
    end: int,
    first: int,
    last: int,
):
    """x of the slabs first..last into the bins bins..end that are live; out_met: which of the entries meet x."""
    start = cells[bins * slabs]
    for s in range(first, last):
        base = s << slab
        for b in range(bins, end):
            if live[b]:
                for e in range(cells[b * slabs + s], cells[b * slabs + s + 1]):
                    k = base + np.int64(columns[e])
                    out_values[e - start] = x_values[k]
                    if not X_FULL:
                        out_met[e - start] = (x_words[k >> 6] & bit(k)) != NONE


def add_entry(e, row, inside, codes, a_values, x_values, met, out_words, out_values, start):
    """Entry e to its row, of the bin whose rows begin with `row`."""
    code = np.int64(codes[e])
    i = row + (code & inside)
    a = a_values[0]
    if not A_ISO:
        a = a_values[e]
    t = MUL(a, x_values[e - start], 0, 0, 0)
    if X_FULL:
        total = ADD(out_values[i], t)
        out_values[i] = t if code > inside else total
    elif met[e - start]:
        if out_words[i >> 6] & bit(i):
            out_values[i] = ADD(out_values[i], t)
        else:
            out_values[i] = t
            out_words[i >> 6] |= bit(i)


def add(
    cells: INT64,
    slabs: int,
    rows: int,
    codes: CODE,
    a_values: X,
    x_values: Y,
    met: FLAG,
    live: FLAG,
    out_words: WORD,
    out_values: Z,
    start: int,
    first: int,
    last: int,
):
    """The rows of the live bins first..last; out_words (zero before) get bits where x is not full.

    Two bins in turns: an entry waits for the one before where both are in one row, those of two bins never do.
    """
    inside = (1 << rows) - 1
    for b in range(first, last, 2):
        e = cells[b * slabs]
        end = cells[(b + 1) * slabs] if live[b] else e
        f = cells[(b + 1) * slabs]
        f_end = f
        if b + 1 < last and live[b + 1]:
            f_end = cells[(b + 2) * slabs]
        row = b << rows
        f_row = (b + 1) << rows
        both = min(end - e, f_end - f)
        for _ in range(both):
            add_entry(e, row, inside, codes, a_values, x_values, met, out_words, out_values, start)
            add_entry(f, f_row, inside, codes, a_values, x_values, met, out_words, out_values, start)
            e += 1
            f += 1
        for rest in range(e, end):
            add_entry(rest, row, inside, codes, a_values, x_values, met, out_words, out_values, start)
        for rest in range(f, f_end):
            add_entry(rest, f_row, inside, codes, a_values, x_values, met, out_words, out_values, start)
