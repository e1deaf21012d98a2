"""Stable counting sort of (row, column) tuples: by column first, then by row; equal tuples keep their input order.

`free[k]` is first the number of keys k (histogram), then the next free position of key k (exclusive scan).
Work: O(tuples + keys), no comparisons.
"""

from grb_tile.backends.cpu.templates.placeholders import INT64, NUMBER


def scan(keys: INT64, free: INT64):
    """Histogram of the keys, then its exclusive scan: the first position of each key (`free` is zero before)."""
    for e in range(keys.shape[0]):
        free[keys[e]] += 1
    at = 0
    for k in range(free.shape[0]):
        mine = free[k]
        free[k] = at
        at += mine


def by_key(keys: INT64, free: INT64, order: INT64):
    """order: the tuples sorted by one key."""
    for e in range(keys.shape[0]):
        k = keys[e]
        at = free[k]
        free[k] = at + 1
        order[at] = e


def by_column(rows: INT64, cols: INT64, free: INT64, order: NUMBER, order_rows: NUMBER):
    """First pass: the tuples by column, with their rows; free[j] becomes the end of column j."""
    for e in range(cols.shape[0]):
        j = cols[e]
        at = free[j]
        free[j] = at + 1
        order[at] = e
        order_rows[at] = rows[e]


def by_row(before: NUMBER, before_rows: NUMBER, ends: INT64, free: INT64, order: NUMBER, out_cols: NUMBER):
    """Second pass: the tuples of `before` (column j ends at ends[j]) by row; free[i] becomes the end of row i."""
    j = 0
    for p in range(before.shape[0]):
        while p >= ends[j]:
            j += 1
        i = before_rows[p]
        at = free[i]
        free[i] = at + 1
        order[at] = before[p]
        out_cols[at] = j


def repeat(ends: INT64, out: INT64):
    """out: the row number of each tuple (expanded row pointers)."""
    at = 0
    for i in range(ends.shape[0]):
        while at < ends[i]:
            out[at] = i
            at += 1
