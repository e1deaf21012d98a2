"""Order of (row, column) tuples, and of indices, for build; equal ones keep their input order.

Pairs: a counting sort by row, in which the column and the position of a pair are one key, then a merge sort of each
row.  Indices: a counting sort.  `free[k]` is first the number of keys k (histogram), then the next free position of key
k (exclusive scan), at last the end of key k.  Work: O(tuples + keys), and the sorts of rows.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64, sort_few

FEW = 24  # pairs of a row up to which insertion sort is faster


def scan(keys: INT64, free: INT64):
    """Histogram of the keys, then its exclusive scan: the first position of each key (`free` is zero before)."""
    for e in range(keys.shape[0]):
        free[keys[e]] += 1
    starts(free)


def starts(free):
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


def tally(rows: INT64, cols: INT64, ncols: int, free: INT64):
    """scan of the rows.  Returns 1 where the pairs ascend and are distinct, -1 where one is out of range, else 0."""
    nrows = free.shape[0]
    ascending = True
    before_row = -1
    before_col = -1
    for e in range(rows.shape[0]):
        i = rows[e]
        j = cols[e]
        if i < 0 or i >= nrows or j < 0 or j >= ncols:
            return -1
        ascending &= (i > before_row) | ((i == before_row) & (j > before_col))
        before_row = i
        before_col = j
        free[i] += 1
    starts(free)
    return int(ascending)


def into_rows(rows: INT64, cols: INT64, shift: int, free: INT64, keys: INT64):
    """keys: column << shift | position of each pair, by row; free[i] becomes the end of row i."""
    for e in range(rows.shape[0]):
        i = rows[e]
        at = free[i]
        free[i] = at + 1
        keys[at] = (cols[e] << shift) | e


def sort_rows(ends: INT64, keys: INT64, spare: INT64, first: int, last: int):
    """Sort the keys of each of the rows first..last; `spare` has as many elements."""
    lo = 0
    if first > 0:
        lo = ends[first - 1]
    for i in range(first, last):
        hi = ends[i]
        if hi - lo <= FEW:
            sort_few(keys, lo, hi)
        else:
            merge_sort(keys, spare, lo, hi)
        lo = hi


def merge_sort(keys, spare, lo, hi):
    """Sort keys[lo:hi]: runs of FEW, merged in pairs."""
    for begin in range(lo, hi, FEW):
        sort_few(keys, begin, min(begin + FEW, hi))
    width = FEW
    while width < hi - lo:
        for begin in range(lo, hi, 2 * width):
            p = begin
            middle = min(begin + width, hi)
            q = middle
            end = min(middle + width, hi)
            for at in range(begin, end):
                if q >= end or p < middle and keys[p] < keys[q]:
                    spare[at] = keys[p]
                    p += 1
                else:
                    spare[at] = keys[q]
                    q += 1
        for at in range(lo, hi):
            keys[at] = spare[at]
        width *= 2


def distinct(ends: INT64, keys: INT64, shift: int, indptr: INT64, indices: INDEX, firsts: INT64):
    """keys becomes the order of the pairs; indptr, indices: the distinct ones; firsts: the first of each.  How many."""
    mask = (1 << shift) - 1
    at = 0
    lo = 0
    indptr[0] = 0
    for i in range(ends.shape[0]):
        hi = ends[i]
        before = -1
        for p in range(lo, hi):
            key = keys[p]
            keys[p] = key & mask
            j = key >> shift
            if j != before:
                indices[at] = j
                firsts[at] = p
                at += 1
                before = j
        indptr[i + 1] = at
        lo = hi
    return at
