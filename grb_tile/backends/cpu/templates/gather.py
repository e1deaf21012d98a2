"""Entries copied row by row: select by column range, extract, assign and concatenation of matrices.

Row r of the result takes the entries begins[r]..ends[r] of the operand.  Which of their columns it takes:

    runs, copy          the columns of a range: one run of entries, because columns ascend; found by binary search
    count, ascending    column j becomes targets[ptr[j]:ptr[j + 1]], and the targets of all columns ascend
    count, shuffled     the same with targets in any order: each row is sorted (matmul_rows.py has the same last step)

Values are moved as unsigned integers of their size, so that one kernel serves all types.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    INDEX,
    INT64,
    NONE,
    OUT_INDEX,
    VALUE,
    WORD,
    X_ISO,
    bit,
    first_at_least,
    sort_few,
    take_bits,
)

FEW = 24  # columns of a row up to which insertion sort is faster than a scan of the summary


def runs(indices: INDEX, low: int, high: int, slope: int, begins: INT64, counts: INT64, first: int, last: int):
    """Rows first..last: of the counts[r] entries from begins[r] on those in columns [low + slope r, high + slope r)."""
    for r in range(first, last):
        begin = begins[r]
        end = begin + counts[r]
        lo = low + slope * r
        hi = high + slope * r
        if begin < end and indices[begin] < lo:
            begin = first_at_least(indices, begin, end, lo)
        end = min(end, begin + hi - lo)  # columns are distinct
        if begin < end and indices[end - 1] >= hi:
            end = first_at_least(indices, begin, end, hi)
        begins[r] = begin
        counts[r] = end - begin


def copy(
    indices: INDEX,
    values: VALUE,
    begins: INT64,
    counts: INT64,
    shift: int,
    out_begins: INT64,
    out_indices: OUT_INDEX,
    out_values: VALUE,
    first: int,
    last: int,
):
    """Rows first..last: copy the runs to out_begins[r] and on, with `shift` added to their columns."""
    for r in range(first, last):
        p = begins[r]
        for q in range(out_begins[r], out_begins[r] + counts[r]):
            out_indices[q] = indices[p] + shift
            if not X_ISO:
                out_values[q] = values[p]
            p += 1


def count(indices: INDEX, begins: INT64, counts: INT64, ptr: INT64, first: int, last: int):
    """Rows first..last: counts[r] from the entries of the operand's row to those of the result's."""
    for r in range(first, last):
        found = 0
        for p in range(begins[r], begins[r] + counts[r]):
            j = indices[p]
            found += ptr[j + 1] - ptr[j]
        counts[r] = found


def ascending(
    indices: INDEX,
    values: VALUE,
    begins: INT64,
    ptr: INT64,
    targets: OUT_INDEX,
    out_ptr: INT64,
    out_indices: OUT_INDEX,
    out_values: VALUE,
    first: int,
    last: int,
):
    """Rows first..last of the result, the entries of each in the order of the operand's."""
    for r in range(first, last):
        p = begins[r]
        q = out_ptr[r]
        while q < out_ptr[r + 1]:
            j = indices[p]
            for t in range(ptr[j], ptr[j + 1]):
                out_indices[q] = targets[t]
                if not X_ISO:
                    out_values[q] = values[p]
                q += 1
            p += 1


def shuffled(
    indices: INDEX,
    values: VALUE,
    begins: INT64,
    ptr: INT64,
    targets: OUT_INDEX,
    out_ptr: INT64,
    words: WORD,
    summary: WORD,
    dense: VALUE,
    out_indices: OUT_INDEX,
    out_values: VALUE,
    first: int,
    last: int,
):
    """Rows first..last of the result, each sorted by column; words and summary are zero between rows."""
    for r in range(first, last):
        p = begins[r]
        start = out_ptr[r]
        end = out_ptr[r + 1]
        q = start
        few = end - start <= FEW
        while q < end:
            j = indices[p]
            for t in range(ptr[j], ptr[j + 1]):
                k = targets[t]
                if not X_ISO:
                    dense[k] = values[p]
                if few:
                    out_indices[q] = k
                else:
                    w = k >> 6
                    if words[w] == NONE:
                        summary[w >> 6] |= bit(np.int64(w))
                    words[w] |= bit(np.int64(k))
                q += 1
            p += 1
        if few:
            sort_few(out_indices, start, end)
        else:
            take_bits(words, summary, out_indices, start, 0, summary.shape[0])
        if not X_ISO:
            for q in range(start, end):
                out_values[q] = dense[out_indices[q]]


def rectangle(
    ptr: INT64,
    indices: INDEX,
    values: VALUE,
    top: int,
    low: int,
    high: int,
    out_ptr: INT64,
    out_indices: OUT_INDEX,
    out_values: VALUE,
):
    """The rows from `top` on, as many as out_ptr is for, of a CSR matrix: their entries in the columns [low, high).

    Columns are moved to start at 0; out_ptr becomes the row pointers.  Returns the number of entries.
    """
    at = 0
    out_ptr[0] = 0
    for r in range(out_ptr.shape[0] - 1):
        begin = ptr[top + r]
        end = ptr[top + r + 1]
        if begin < end and indices[begin] < low:
            begin = first_at_least(indices, begin, end, low)
        while begin < end and indices[begin] < high:
            out_indices[at] = indices[begin] - low
            if not X_ISO:
                out_values[at] = values[begin]
            begin += 1
            at += 1
        out_ptr[r + 1] = at
    return at
