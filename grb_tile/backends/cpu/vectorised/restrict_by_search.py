"""restrict where the store has few entries against the mask, or the mask against it.  See backends/protocol.py."""

from ....storage.convert import compressed, share
from ....storage.update_entries import FEW, find_keys, keys_of
from .entries import vector_of


def restrict(x, mask):
    """t[p] = x[p] where p is in mask, by a binary search for each of the few; NotImplemented where neither is few."""
    pattern, complement = mask.pattern, mask.complement
    if x.format == "bitmap" or pattern.format == "bitmap":
        return NotImplemented
    n, most = x.nvals, pattern.nvals
    if n * FEW <= most and n:
        rows, cols = keys_of(x)
        found = find_keys(pattern, rows, cols)[1]
        at = (~found if complement else found).nonzero()[0]
        rows, cols = rows[at], cols[at]
    elif most * FEW <= n and most and not complement:
        rows, cols = keys_of(pattern)
        at, found = find_keys(x, rows, cols)
        at, rows, cols = at[found], rows[found], cols[found]
    else:
        return NotImplemented
    values = x.values if x.iso else x.values[at]
    if x.format == "sparse":
        result = vector_of(x.size, x.dtype, cols, values, x.iso)
    else:
        result = compressed(x.nrows, x.ncols, x.dtype, rows, cols, values, x.iso)
    return share(x, result) if x.iso else result
