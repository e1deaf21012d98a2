"""Rows of a matrix binned by length and dealt to lanes: made once for each matrix, kept in A.forms.

Schema of RowSchedule (R = rows with entries, L = long ones among them)

    rows       int32 or int64 [R]   row numbers, long rows first, then by bin; None: position = row (CSR, nearly all in
                                    one bin)
    starts     int32 or int64 [R]   first entry of each (int32 while the matrix has fewer than 2^31 entries)
    stops      the same type [R]
    bins       int64 [24]           per bin c: [c] warps up to its end, [8 + c], [16 + c] its positions
                                    (products/rows.cuh)
    warps      warps in all
    piece      entries of a chunk of a long row; 0: its length over its number of chunks, rounded up
    piece_ptr  int64 [L + 1]        chunks of long row r; None without long rows
    owner      int32 [chunks]       the long row of each chunk
    arrived    uint32 [L]           zero, before and after every launch

Bins 1 to 6 give a row 32, 16, 8, 4, 2, 1 lanes; bin 0 has the long rows. There are three tables, because kernels that
read all entries are fastest with many lanes a row, kernels with early exit with few, and steps of one kernel of a
program, which has fewer threads, between them. Products of full vectors without a mask use products/segments.py.
"""

import numpy as np

from ....planner import tuning
from ....storage.store import forms_of
from ..structure.arrays import index_type
from ..structure.rows import longest_row

# longest rows of each bin
LONGEST = {"all": tuning.ROW_BINS_ALL, "early": tuning.ROW_BINS_EARLY, "step": tuning.ROW_BINS_STEP}
MOST_BINS = 256  # tables of listed rows that are kept


class RowSchedule:
    """See the schema at the head of this file."""

    __slots__ = ("arrived", "bins", "owner", "piece", "piece_ptr", "pieces", "rows", "starts", "stops", "warps")


def schedule_of(device, A, name="all"):
    """The RowSchedule of A, kept in A.forms; name: a key of LONGEST."""
    forms = forms_of(A)
    key = "rows_" + name
    found = forms.get(key)
    if found is None:
        found = forms[key] = _make(device, A, LONGEST[name])
    return found


def pointers(device, A):
    """A.indptr as int32 while that holds it, kept in A.forms."""
    if A.indices.shape[0] >= 2**31 - 4096:  # kernels read some entries ahead
        return A.indptr
    forms = forms_of(A)
    found = forms.get("indptr32")
    if found is None:
        found = forms["indptr32"] = A.indptr.astype(np.int32)
    return found


def highest_degree_neighbours(device, A, transpose):
    """(int32 [n], int32 [4 n]): of each row of A the column whose own row in `transpose` is longest, and
    the next four.

    -1 where there are fewer.  transpose: A's, or A itself when it is symmetric.  Kept in A.forms.
    """
    forms = forms_of(A)
    found = forms.get("highest_degree_neighbours")
    if found is None:
        n, start, out = A.nrows, pointers(device, A), pointers(device, transpose)
        found = device.empty(n, np.int32), device.empty(4 * n, np.int32)
        kernel = device.launcher.kernel("graph/bfs_prepare.cuh", "highest_degree_neighbours", "", (index_type(start),))
        kernel.over(n * 32, (start, A.indices, out, n, *found))
        forms["highest_degree_neighbours"] = found
    return found


def _make(device, A, longest):
    xp = device.xp
    ptr = pointers(device, A)
    starts, stops = ptr[:-1], ptr[1:]
    lengths = stops - starts
    limits = device.array(np.array(longest), lengths.dtype)
    # bin 6 (one lane) for the shortest ... bin 1, bin 0 for rows longer than all limits; 7 for empty rows
    kinds = (6 - xp.searchsorted(limits, lengths, side="left")).astype(np.int8)
    kinds[lengths == 0] = 7
    counts = device.host(xp.bincount(kinds, minlength=8)).tolist()
    result = RowSchedule()
    result.piece = longest[-1]
    held = lengths.shape[0]
    main = max(range(1, 7), key=lambda c: counts[c])
    if A.rows is None and counts[0] == 0 and counts[main] >= tuning.ROWS_ALIKE * held:
        result.rows = None
        result.starts, result.stops = starts, stops
        counts = [held if c == main else 0 for c in range(7)]
    else:
        order = xp.argsort(kinds, kind="stable")[: held - counts[7]]
        rows = order if A.rows is None else A.rows[order]
        result.rows = device.array(rows.astype(np.int32 if A.nrows < 2**31 else np.int64))
        result.starts, result.stops = device.array(starts[order]), device.array(stops[order])
    _pieces(device, result, counts[0])
    _bins(device, result, counts)
    return result


def _pieces(device, result, long):
    result.piece_ptr = result.owner = result.arrived = None
    result.pieces = 0
    if long:
        xp = device.xp
        lengths = result.stops[:long].astype(np.int64) - result.starts[:long]
        ends = xp.cumsum((lengths + result.piece - 1) // result.piece)
        result.piece_ptr = device.zeros(long + 1, np.int64)
        result.piece_ptr[1:] = ends
        result.pieces = device.read(ends[-1:])[0]
        places = device.arange(result.pieces)
        result.owner = xp.searchsorted(ends, places, side="right").astype(np.int32)
        result.arrived = device.zeros(long, np.uint32)


def _bins(device, result, counts):
    bins = np.zeros(24, np.int64)
    warps, place = result.pieces, counts[0]
    bins[0] = warps
    for c in range(1, 7):
        rows_in_warp = 32 // (64 >> c)
        bins[8 + c] = place
        place += counts[c]
        bins[16 + c] = place
        warps += -(-counts[c] // rows_in_warp)
        bins[c] = warps
    result.bins, result.warps = device.array(bins), warps


def chosen_rows(device, A, rows, mean):
    """A RowSchedule of the ascending int64 `rows` only, all in one bin.

    The mean length decides the bin; or each row is cut into the chunks that make the longest row of A short, as far as
    there are warps for them.
    """
    from ..structure.rows import picked_rows

    count = rows.shape[0]
    starts, lengths = picked_rows(device, A, rows)
    result = RowSchedule()
    result.rows, result.starts, result.stops = rows, starts, starts + lengths
    result.piece = 0  # each row's own: its length over its number of pieces
    limits = LONGEST["all"]
    cuts = min(tuning.LISTED_CHUNKS // count, -(-longest_row(device, A) // limits[-1]))
    kind = 0 if cuts > 1 else next((6 - k for k, limit in enumerate(limits[:-1]) if mean <= limit), 1)
    result.pieces = count * cuts if kind == 0 else 0
    kept = device.__dict__.setdefault("row_bins", {})
    found = kept.get((count, kind, cuts))
    if found is None:
        result.piece_ptr = result.owner = result.arrived = None
        if kind == 0:
            result.piece_ptr = device.arange(count + 1) * cuts
            result.owner = (device.arange(result.pieces) // cuts).astype(np.int32)
            result.arrived = device.zeros(count, np.uint32)
        _bins(device, result, [count if c == kind else 0 for c in range(7)])
        if len(kept) >= MOST_BINS:
            kept.clear()
        kept[count, kind, cuts] = result.bins, result.warps, result.piece_ptr, result.owner, result.arrived
    else:
        result.bins, result.warps, result.piece_ptr, result.owner, result.arrived = found
    return result
