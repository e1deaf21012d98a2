"""SpMM by slabs of columns, where the L2 cache does not hold X: cache blocking (kernels/products/spmm_slabs.cuh).

Nishtala, Vuduc, Demmel, Yelick, "When cache blocking of sparse matrix vector multiply works and why" (AAECC 18, 2007).

Schema of Slabs (a unit: 32 neighbouring rows; U units, P slabs), kept in A.forms["column_slabs"].made[P]

    cols      as A.indices [entries]   in the order of (slab, row, column), those of rows longer than `longest` left out
    values    as A.values [entries]    in the same order; None where A has one value
    counts    uint8 [P U 32]           entries of each row in each slab
    starts    int64 [P U + 1]          the first entry of each unit in each slab
    turns     uint32 [2]               zeros, before and after each product
    longest   int                      entries of a row, at most; longer rows are added by spmm.cuh

and of ColumnSlabs: asked, how many products of the matrix asked (slabs are considered after tuning.BUILD_AFTER of
them); shares[k], of the entries, in the 2^k columns with the most entries; choices, (kernel, rule, figures) by widths
of rows.

What bounds a product with n columns of v bytes where no cache holds X, a entries an average row, bytes an entry:

    all columns at once   4 + the values of A + n v at random, in sectors of 32, from DRAM
    bins of n values      4.5 + 2 n v, streams; n products over bins of one value: n (4.5 + 2 v)
    slabs                 4 + the values of A + n v from L2, and sweeps n v / a from DRAM
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import tuning
from ....planner.choose_kernel import SPMM, slabs_pay
from ....planner.record import forced
from ....storage.store import forms_of
from ..structure.arrays import index_type, moved_type

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

HEADER = "products/spmm_slabs.cuh"
ROWS, SLABS = SPMM
UNIT = 32  # rows
MOST_COUNT = 255  # entries of a row in a slab
LONG_ROWS = 8  # times the mean: longer rows are not in slabs, because a group of lanes would add one alone
THREADS = 768
AT_ONCE = 4  # entries of a row whose rows of X a group of lanes has in flight
STAGED = 160  # entries of a unit in a slab that have room in shared memory, twice
STAGED_SHARE = 0.8  # of them, on average
MOST_BYTES = 10  # of the form, an entry
FREE_FACTOR = 3  # times the form's size must be free
LOAD_BYTES = 16


class Slabs:
    """See the schema at the head of this file."""

    __slots__ = ("cols", "count", "counts", "longest", "starts", "turns", "units", "values")


class ColumnSlabs:
    """See the schema at the head of this file."""

    __slots__ = ("asked", "choices", "made", "shares")

    def __init__(self) -> None:
        self.asked, self.choices, self.made, self.shares = 0, {}, {}, None


def slab_bytes(device: Device) -> int:
    """Bytes of X that the L2 cache holds while A streams through it."""
    return max(int(device.launcher.limits.cache * tuning.GPU_SLAB_SHARE), 1)


def slabs_of(
    device: Device, A: Compressed, x: Any, n: int, s: Lowered, values: Any, notes: list | None
) -> Slabs | None:
    """The slabs by which C, whose array is `values`, is computed; None: all columns at once.

    notes: gets (kernel, rule, figures).
    """
    if not s.reads_x or x.iso:
        return None
    row_bytes = n * x.values.dtype.itemsize
    count = slabs_for(device, A, row_bytes)
    wanted = forced().kernel
    if wanted not in SPMM:
        wanted = None
        if count < 2:
            return None
    form = column_slabs_of(A)
    shape = _shape(device, A, x, n, s, values)
    if wanted is not None:
        suits = wanted == ROWS or (2 <= count <= A.ncols and shape is not None)
        choice = (wanted, "forced", ()) if suits else (ROWS, "kernel_unsuited", (wanted,))
    else:
        form.asked = min(form.asked + 1, tuning.BUILD_AFTER + 1)
        key = row_bytes, shape
        if form.asked <= tuning.BUILD_AFTER:
            choice = ROWS, "slabs_later", (form.asked, tuning.BUILD_AFTER)
        elif key in form.choices:
            choice = form.choices[key]
        else:
            choice = form.choices[key] = _choice(device, A, form, count, row_bytes, shape)
    if notes is not None:
        notes.append(choice)
    if choice[0] == ROWS:
        return None
    return made_of(device, A, count)


def slabs_for(device: Device, A: Compressed, row_bytes: int) -> int:
    """How many slabs: whose rows of X the cache holds, and whose entries of a unit a warp has room for."""
    count = -(-A.ncols * row_bytes // slab_bytes(device))
    if count < 2:
        return count
    of_unit = A.indices.shape[0] * UNIT // max(A.nrows, 1)
    return max(count, int(of_unit / (STAGED_SHARE * staged_of(device))))


def column_slabs_of(A: Compressed) -> ColumnSlabs:
    """The ColumnSlabs of A, kept in A.forms."""
    form = forms_of(A).get("column_slabs")
    if form is None:
        form = forms_of(A)["column_slabs"] = ColumnSlabs()
    return form


def made_of(device: Device, A: Compressed, count: int) -> Slabs:
    """The Slabs of A, `count` of them, kept until another number is asked for: each has all entries."""
    made = column_slabs_of(A).made
    if count not in made:
        made.clear()
        made[count] = _make(device, A, count)
    return made[count]


def form_bytes(A: Compressed, count: int) -> int:
    """Bytes of the Slabs."""
    item = 0 if A.iso else A.values.dtype.itemsize
    return A.indices.shape[0] * (A.indices.dtype.itemsize + item) + count * (A.nrows + A.nrows // UNIT * 8)


def _choice(device, A, form, count, row_bytes, shape):
    """(kernel, rule, figures) by cost."""
    entries = A.indices.shape[0]
    if shape is None:
        return ROWS, "slabs_too_wide", (row_bytes,)
    need = form_bytes(A, count)
    if need > MOST_BYTES * entries or device.memory()[0] < FREE_FACTOR * need:
        return ROWS, "slabs_no_memory", (need,)
    lengths, longest = A.indptr[1:] - A.indptr[:-1], longest_of(A)
    left_out = device.read(lengths[lengths > longest].sum().reshape(1))[0] / max(entries, 1)
    if left_out > 1 - tuning.GPU_SLABS_HAVE:
        return ROWS, "rows_long", (left_out, longest)
    if form.shares is None:
        form.shares = column_shares(device, A)
    cached = share_of(form.shares, int(device.launcher.limits.cache * tuning.GPU_CACHED_SHARE) // row_bytes)
    sweeps = sweeps_of(device, A, *shape)
    pays, *figures = slabs_pay(entries, (A.nrows, A.ncols), count, row_bytes, sweeps, cached, device.profile)
    return (SLABS if pays else ROWS), ("slabs_cheaper" if pays else "rows_of_x_cheaper"), tuple(figures)


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


def longest_of(A: Compressed) -> int:
    """Entries of the rows in slabs, at most."""
    return min(MOST_COUNT, LONG_ROWS * max(A.indices.shape[0] // max(A.nrows, 1), 1))


def _make(device, A, count):
    """The Slabs of A, `count` of them."""
    result, launcher = Slabs(), device.launcher
    result.count, result.units = count, -(-A.nrows // UNIT)
    result.longest = longest_of(A)
    width, index = -(-A.ncols // count), index_type(A.indices)
    result.counts = device.zeros(count * result.units * UNIT, np.uint8)
    shape = count, result.units, result.longest
    launcher.kernel(HEADER, "count_slabs", "", (index,)).over(
        A.nrows, (A.indptr, A.nrows, A.indices, width, *shape, result.counts)
    )
    result.starts = device.zeros(count * result.units + 1, np.int64)
    result.starts[1:] = device.xp.cumsum(result.counts.reshape(-1, UNIT).sum(axis=1, dtype=np.int64))
    held = device.read(result.starts[-1:])[0]
    result.cols = device.empty(held, A.indices.dtype)
    result.values = None if A.iso else device.empty(held, A.values.dtype)
    launcher.kernel(HEADER, "place_slabs", "", (index, moved_type(A.values))).over(result.units * 32, (
        A.indptr, A.nrows, A.indices, None if A.iso else A.values, *shape, result.counts, result.starts, result.cols,
        result.values,
    ))  # fmt: skip
    result.turns = device.zeros(2, np.uint32)
    return result


def _shape(device, A, x, n, s, values):
    """(threads, units of a warp in a sweep, elements of a lane, lanes of a row); None where a row is too wide."""
    width = 4
    while width > 1 and (n % width or any(
        width * a.itemsize > LOAD_BYTES or a.data.ptr % (width * a.itemsize) for a in (x.values, values)
    )):  # fmt: skip
        width //= 2
    lanes = 1 << (-(-n // width) - 1).bit_length()
    if lanes > 32:
        return None
    launcher, sums = device.launcher, UNIT * n * s.dtype.np_type.itemsize
    threads = launcher.threads(THREADS)
    while threads >= 32:
        warps = threads // 32
        most = (launcher.limits.dynamic_shared // warps - _shared(A, s, 0, sums, staged_of(device)) - 32) // (sums + 4)
        if most > 0:
            mine = -(-A.nrows // (UNIT * launcher.blocks(launcher.processors) * warps))
            sweeps = max(1, -(-mine // most))
            return threads, max(1, -(-mine // sweeps)), width, lanes
        threads //= 2
    return None


def staged_of(device: Device) -> int:
    """Entries of a unit in a slab that a warp has room for."""
    return device.launcher.size(STAGED, 24)


def _shared(A, s, held, sums, staged):
    """Bytes of shared memory of a warp with `held` units of `sums` bytes."""
    values = A.values.dtype.itemsize if s.reads_a and not A.iso else 0
    columns, values, sums, words = (
        -(-size // 16) * 16 for size in (staged * A.indices.dtype.itemsize, staged * values, held * sums, held * 4)
    )
    return sums + 2 * (columns + values) + words


def sweeps_of(device: Device, A: Compressed, threads: int, held: int, width: int, lanes: int) -> int:
    """How often X is read from DRAM."""
    blocks = device.launcher.blocks(device.launcher.processors)
    return -(-A.nrows // (UNIT * blocks * (threads // 32) * held))


def multiply(device: Device, A: Compressed, x: Any, n: int, s: Lowered, values: Any, slabs: Slabs) -> None:
    """values[rows with entries in slabs] = A X."""
    threads, held, width, lanes = _shape(device, A, x, n, s, values)
    launcher, staged = device.launcher, staged_of(device)
    template = index_type(A.indices), "S", str(width), str(lanes), str(staged), str(AT_ONCE), str(THREADS)
    a_values = None if not s.reads_a else A.values if A.iso else slabs.values
    s.kernel(launcher, HEADER, "spmm_slabs", template)(
        launcher.blocks(launcher.processors), threads,
        (slabs.cols, a_values, slabs.counts, slabs.starts, slabs.units, slabs.count, A.nrows, x.values, n, values, held,
         slabs.turns),
        shared=_shared(A, s, held, UNIT * n * s.dtype.np_type.itemsize, staged) * (threads // 32),
    )  # fmt: skip
