"""The bound call of C<M> = T for small matrices (bound.py): one kernel (templates/overwrite_rows.py) in place of a
restriction and a union.
"""

import numpy as np

from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format
from grb_tile.storage.store import Compressed

from ..jit import cache as jit
from .bound import Bound, KernelError, matrix_kind
from .gather import RAW, raw


def overwrite(c, t, mask):
    """All of T's entries, and C's outside the mask; NotImplemented where no call of these kinds is prepared."""
    if c.indices.shape[0] > tuning.MERGED_SIZE:  # its loop has a branch an entry: merges are faster on many
        return NotImplemented
    kinds = matrix_kind(c), matrix_kind(t), matrix_kind(mask.pattern)
    if None in kinds:
        return NotImplemented
    try:
        return _calls[kinds](c, t, mask)
    except KernelError:  # the general form finds out what the kernel refuses
        return NotImplemented


def _prepare(c, t, pattern):
    (dtype, c_iso, index), (t_type, t_iso, t_index) = c, t
    if dtype is not t_type or dtype._is_udt or dtype.np_type.itemsize not in RAW or index != t_index:
        return None
    value, np_type, np_index = np.dtype(RAW[dtype.np_type.itemsize]).char, dtype.np_type, np.dtype(index)
    kernel = jit.plain_kernel(
        "overwrite_rows", X_ISO=c_iso, Y_ISO=t_iso, VALUE=value, INDEX=index, M_INDEX=pattern[2]
    )  # fmt: skip

    def run(c, t, mask):
        functions = kernel.functions or kernel.of_small_calls(tuning.SMALL_OVERWRITE_SECONDS)
        if functions is None:
            return NotImplemented
        capacity, pattern = c.indices.shape[0] + t.indices.shape[0], mask.pattern
        indptr, indices = np.empty(c.nrows + 1, np.int64), np.empty(capacity, np_index)
        values = np.empty(capacity, np_type)
        count = functions.overwrite(
            c.indptr, c.indices, raw(c.values), t.indptr, t.indices, raw(t.values), pattern.indptr, pattern.indices,
            mask.complement, indptr, indices, values.view(value),
        )  # fmt: skip
        if count * 8 <= capacity * 7:
            indices, values = indices[:count].copy(), values[:count].copy()
        elif count < capacity:
            indices, values = indices[:count], values[:count]
        return choose_format(Compressed(c.nrows, c.ncols, dtype, indptr, indices, values))

    return run


_calls = Bound(_prepare)
