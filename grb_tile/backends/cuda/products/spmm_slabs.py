"""Slabs of columns for SpMM where the L2 cache does not hold X: cache blocking (kernels/products/spmm.cuh).

Nishtala, Vuduc, Demmel, Yelick, "When cache blocking of sparse matrix vector multiply works and why" (AAECC 18, 2007).

Schema of ColumnSlabs, kept in A.forms["column_slabs"]

    asked     int                        products that asked; slabs are considered after tuning.BUILD_AFTER of them
    shares    list of float              shares[k]: of the entries, in the 2^k columns with the most entries
    made      {slabs: list of Entries}   of each slab: where its entries of each row begin and end; all of them views of
                                         ends, int32 (int64 from 2^31 entries on) [slabs + 1, nrows]
    choices   {(n, items): (kernel, rule, figures)}

A row's columns ascend, so a slab's entries of a row are side by side, and A is read as it is stored.  A product reads
and writes C once for each slab, 8 bytes of `ends` for each row and slab, and each row of X from DRAM once:

    bytes, n columns of v bytes, an entry     gathers                  bins, n values an entry   slabs
    where no cache holds X                    n v, in 32s, at random   4.5 + 2 n v               4 + slabs (2 n v + 8) /
                                                                                                 (entries of a row)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....planner import tuning
from ....planner.choose_kernel import slabs_pay
from ....planner.record import forced
from ....storage.store import forms_of
from ..structure.arrays import index_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....storage.store import Compressed
    from ..runtime.device import Device

ROWS, SLABS = KERNELS = ("spmm_rows", "spmm_slabs")
MOST_BYTES = 10  # of `ends`, an entry
FREE_FACTOR = 3  # times the bytes of `ends` must be free


class Entries(NamedTuple):
    """Entries of each row that a launch takes, as RowEntries of the kernel has them."""

    starts: Any  # int64 or int32
    next: int
    begins: Any  # None: C has nothing yet
    total: int  # about as many in all
    long: Callable[[int, int], Any]  # the LongRows among them: of (longest, chunk)


class ColumnSlabs:
    """See the schema at the head of this file."""

    __slots__ = ("asked", "choices", "made", "shares")

    def __init__(self) -> None:
        self.asked, self.choices, self.made, self.shares = 0, {}, {}, None


def slab_bytes(device: Device) -> int:
    """Bytes of X that the L2 cache holds while A and C stream through it."""
    return max(int(device.launcher.limits.cache * tuning.GPU_CACHED_SHARE), 1)


def slabs_of(
    device: Device, A: Compressed, row_bytes: int, result_bytes: int, cut: Callable[..., Any], notes: list
) -> list[Entries] | None:
    """The slabs that a product takes one after the other, None: all columns at once.

    row_bytes, result_bytes: of a row of X, of C.  cut: spmm.py's cut_rows.  notes: gets (kernel, rule, figures).
    """
    count = -(-A.ncols * row_bytes // slab_bytes(device))
    wanted = forced().kernel
    if wanted not in KERNELS:
        wanted = None
    if wanted is None and count < 2:
        return None
    form = forms_of(A).get("column_slabs")
    if form is None:
        form = forms_of(A)["column_slabs"] = ColumnSlabs()
    if wanted is not None:
        suits = wanted == ROWS or 2 <= count <= A.ncols
        choice = (wanted, "forced", ()) if suits else (ROWS, "kernel_unsuited", (wanted,))
    else:
        form.asked = min(form.asked + 1, tuning.BUILD_AFTER + 1)
        key = row_bytes, result_bytes
        if form.asked <= tuning.BUILD_AFTER:
            choice = ROWS, "slabs_later", (form.asked, tuning.BUILD_AFTER)
        elif key in form.choices:
            choice = form.choices[key]
        else:
            choice = form.choices[key] = _choice(device, A, form, count, row_bytes, result_bytes)
    notes.append(choice)
    if choice[0] == ROWS:
        return None
    if count not in form.made:
        form.made[count] = _make(device, A, count, cut)
    return form.made[count]


def _choice(device, A, form, count, row_bytes, result_bytes):
    """(kernel, rule, figures) by cost."""
    entries, need = A.indices.shape[0], (count + 1) * A.nrows * _end_type(A).itemsize
    if need > MOST_BYTES * entries or device.memory()[0] < FREE_FACTOR * need:
        return ROWS, "slabs_no_memory", (need,)
    if form.shares is None:
        form.shares = column_shares(device, A)
    cached = share_of(form.shares, slab_bytes(device) // row_bytes)
    pays, *figures = slabs_pay(entries, A.nrows, count, row_bytes, result_bytes, cached, device.profile)
    return (SLABS, "slabs_cheaper", tuple(figures)) if pays else (ROWS, "rows_of_x_cheaper", tuple(figures))


def column_shares(device: Device, A: Compressed) -> list[float]:
    """ColumnSlabs.shares of A."""
    xp = device.xp
    counts = xp.sort(xp.bincount(A.indices, minlength=A.ncols))[::-1]
    upto = xp.cumsum(counts)
    most = [min(1 << k, A.ncols) - 1 for k in range((A.ncols - 1).bit_length() + 1)]
    return [each / max(A.indices.shape[0], 1) for each in device.read(*(upto[k : k + 1] for k in most))]


def share_of(shares: list[float], columns: int) -> float:
    """The share of the entries in the `columns` most frequent columns, between those that are known on a line.

    >>> share_of([0.25, 0.5, 1.0], 3), share_of([0.25, 0.5, 1.0], 0), share_of([0.25, 0.5, 1.0], 9)
    (0.75, 0.0, 1.0)
    """
    if columns < 1:
        return 0.0
    k = columns.bit_length() - 1
    if k + 1 >= len(shares):
        return shares[-1]
    return shares[k] + (shares[k + 1] - shares[k]) * (columns - (1 << k)) / (1 << k)


def _end_type(A):
    return np.dtype(np.int32 if A.indices.shape[0] < 2**31 else np.int64)


def _make(device, A, count, cut):
    """The Entries of `count` slabs."""
    width, ends = -(-A.ncols // count), device.empty((count + 1) * A.nrows, _end_type(A))
    device.launcher.kernel("products/spmm.cuh", "split_rows", "", (index_type(A.indices), index_type(ends))).over(
        A.nrows, (A.indptr, A.nrows, A.indices, width, count, ends)
    )
    each = [ends[s * A.nrows : (s + 1) * A.nrows] for s in range(count + 1)]
    return [
        Entries(each[s], A.nrows, each[0] if s else None, A.indices.shape[0] // count, _long_rows(device, each, s, cut))
        for s in range(count)
    ]


def _long_rows(device, each, slab, cut):
    """The function of (longest, chunk), whose results are kept, that gives the LongRows of a slab."""
    kept = {}

    def long(longest, chunk):
        key = longest, chunk
        if key not in kept:
            found = cut(device, each[slab].astype(np.int64), each[slab + 1].astype(np.int64), longest, chunk)
            kept[key] = found if found.chunks else None
        return kept[key]

    return long
