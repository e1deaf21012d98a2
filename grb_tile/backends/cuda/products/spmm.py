"""C = A X for a sparse A and a dense X on the device (kernels/products/spmm.cuh): any semiring and type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner.choose_precision import precision_of
from ....storage.store import BitmapVector, Compressed, Dense, forms_of
from ..lowering.semirings import lowered_plain
from ..structure.arrays import counted_later, index_type
from ..structure.rows import longest_row
from .spmm_rounded import multiply as rounded
from .spmm_slabs import multiply as by_slabs, slabs_of

if TYPE_CHECKING:
    from ..runtime.device import Device

LOAD_BYTES = 16  # of one load or store of a lane
IN_FLIGHT = 8  # entries of a row for each group of lanes that shares it, at least: two loads
STAGES = 8  # as many, one after the other, in a row that is not cut into chunks
MOST_CHUNK = 1024  # entries of a chunk at most
CHUNKS_PER_WARP = 4  # of the entries, for each warp that is resident: so that warps end at about the same time
WARPS_PER_PROCESSOR = 64
MOST_STEPS = 8  # rows of a warp one after the other: rows that share rows of X stay in one block
BLOCK_WARPS = 8
MANY_PARTS = 64  # of a row, on average: a warp adds them in 8 rounds of loads, a block in one
NO_LIMIT = 2**31 - 1  # of the grid: blocks in order, so that rows of X that neighbours share are in L2


def elements_at_once(n: int, *arrays: Any) -> int:
    """How many consecutive elements a lane moves: a power of two that divides n, of LOAD_BYTES bytes at most."""
    found = 4
    while found > 1 and (
        n % found or any(found * a.itemsize > LOAD_BYTES or a.data.ptr % (found * a.itemsize) for a in arrays)
    ):
        found //= 2
    return found


def power_of_two_from(count: int, most: int) -> int:
    """The least power of two that is not below `count`, `most` at most."""
    return min(1 << max(count - 1, 0).bit_length(), most)


def power_of_two_below(count: int) -> int:
    """The greatest power of two that is not above `count`, 1 at least."""
    return 1 << max(count.bit_length() - 1, 0)


def chunk_of(device: Device, entries: int, least: int) -> int:
    """Entries of a chunk, a multiple of 32, `least` or more."""
    share = entries // (device.launcher.processors * WARPS_PER_PROCESSOR * CHUNKS_PER_WARP)
    return max(min(share, MOST_CHUNK) & ~31, least)


class LongRows:
    """Rows of more than `longest` entries, cut into chunks: rows, chunk_ptr of them; row and start of each chunk."""

    __slots__ = ("chunk_ptr", "chunk_rows", "chunk_starts", "chunks", "rows")


def long_rows(device: Device, A: Compressed, longest: int, chunk: int) -> LongRows | None:
    """Those of A, kept with A; None where there are none."""
    entries = A.indices.shape[0]
    if (entries if A.nrows == 1 else longest_row(device, A)) <= longest:
        return None
    if A.nrows == 1:
        return _one_row(device, entries, chunk)
    forms, key = forms_of(A), ("long_rows", longest, chunk)
    found = forms.get(key)
    if found is None:
        xp, found = device.xp, LongRows()
        lengths = A.indptr[1:] - A.indptr[:-1]
        found.rows = xp.flatnonzero(lengths > longest)
        found.chunk_ptr = device.zeros(found.rows.shape[0] + 1, np.int64)
        found.chunk_ptr[1:] = xp.cumsum((lengths[found.rows] + chunk - 1) // chunk)
        found.chunks = device.read(found.chunk_ptr[-1:])[0]
        number = device.arange(found.chunks)
        owner = xp.searchsorted(found.chunk_ptr[1:], number, side="right")
        found.chunk_rows = found.rows[owner]
        found.chunk_starts = A.indptr[found.chunk_rows] + (number - found.chunk_ptr[owner]) * chunk
        forms[key] = found
    return found


def _one_row(device, entries, chunk):
    """The LongRows of a matrix of one row, which needs no count from the device."""
    found = LongRows()
    found.chunks = -(-entries // chunk)
    found.rows, found.chunk_rows = device.zeros(1, np.int64), device.zeros(found.chunks, np.int64)
    found.chunk_ptr = device.arange(2) * found.chunks
    found.chunk_starts = device.arange(found.chunks) * chunk
    return found


def aligned(array: Any) -> Any:
    """The array, or a copy that begins at a multiple of LOAD_BYTES."""
    return array.copy() if array.data.ptr % LOAD_BYTES else array


def spmm(device: Device, A: Compressed, X: Dense, semiring: Any, notes: list | None = None) -> Any:
    """C[i,j] = (+)_k A[i,k] (x) X[k,j], dense; NotImplemented for hypersparse A and types without a device form.

    notes: the list to which the lines of explain() on rounding are appended, and (kernel, rule, figures).
    """
    x, n, entries = device.to_device(X.flat), X.ncols, A.indices.shape[0]
    s = lowered_plain(device, semiring, A.dtype, A.iso, x.dtype, x.iso)
    if s is None or A.rows is not None or entries == 0 or n >= 2**31:
        return NotImplemented
    full, size = x.words is None, A.nrows * n
    if full and s.structure_only:
        words, count = _presence(device, A, n)
        return Dense(A.nrows, n, BitmapVector(size, s.dtype, words, s.value(device, A, x), count, True))
    z = s.dtype.np_type
    device.check_room(size * (z.itemsize + (not full)), f"mxm: a dense result of {A.nrows} x {n}")
    values = s.value(device, A, x) if s.structure_only else device.empty(size, z)
    if full:
        product = _Product(device, A, x, n, s, values, None)
        exact = precision_of(semiring, A.dtype, x.dtype) == "exact"
        slabs = slabs_of(device, A, x, n, s, values, notes) if exact else None
        if slabs is None:
            product.run(semiring, [] if notes is None else notes)
        else:
            by_slabs(device, A, x, n, s, values, slabs)
            product.multiply_long(slabs.longest)
        words, count = _presence(device, A, n)
        return Dense(A.nrows, n, BitmapVector(size, s.dtype, words, values, count))
    present = device.zeros(-(-size // 64) * 64, np.bool_)
    _Product(device, A, x, n, s, values, present).multiply()
    words = _words(device, present)
    count = present.sum(dtype=np.int64).reshape(1)
    return Dense(A.nrows, n, counted_later(device, size, s.dtype, words, values, count, s.structure_only))


class _Product:
    """values, present = A X: the launches."""

    __slots__ = ("A", "device", "full", "n", "out", "present", "s", "x")

    def __init__(self, device, A, x, n, s, values, present):
        self.device, self.A, self.x, self.n, self.s, self.present = device, A, x, n, s, present
        self.out, self.full = None if s.structure_only else values, present is None

    def run(self, semiring, notes):
        """Rounded where the setting requires it (spmm_rounded.py), else exact."""
        self.multiply(rounded(self.device, self.A, self.x, self.n, semiring, self.join, self.out, notes))

    def multiply_long(self, longest):
        """The rows of more than `longest` entries alone."""
        if longest_row(self.device, self.A) > longest:
            self.multiply(None, longest)

    def multiply(self, wanted=None, only_longer=None):
        """Exact; wanted: a word on the device, nothing is done where it is 0.  only_longer: rows of so many entries."""
        device, A, x, n, s = self.device, self.A, self.x, self.n, self.s
        entries, z = A.indices.shape[0], s.dtype.np_type
        moved = [x.values] if s.reads_x and not x.iso else []
        width = elements_at_once(n, *moved, *([] if self.out is None else [self.out]))
        lanes = power_of_two_from(-(-n // width), 32)
        groups, tiles = 32 // lanes, -(-n // (lanes * width))
        parts = min(power_of_two_below(entries // (A.nrows * IN_FLIGHT)), groups)
        longest, chunk = (chunk_of(device, entries, IN_FLIGHT * STAGES * count) for count in (parts, groups))
        longest = longest if only_longer is None else only_longer
        long = long_rows(device, A, longest, chunk)
        chunks = 0 if long is None else long.chunks
        turns = -(-A.nrows * parts // groups) if only_longer is None else 0  # of warps over all rows
        steps = min(max(turns // (device.launcher.processors * WARPS_PER_PROCESSOR * CHUNKS_PER_WARP), 1), MOST_STEPS)
        chunk_warps, row_warps = (-(-count // BLOCK_WARPS) * BLOCK_WARPS for count in (chunks, -(-turns // steps)))
        carry = None if self.out is None or not chunks else device.empty(chunks * n, z)
        carry_present = None if self.full or not chunks else device.empty(chunks * n, np.bool_)
        kernel = s.kernel(
            device.launcher, "products/spmm.cuh", "spmm",
            (index_type(A.indices), "S", str(width), str(lanes), self.flag),
        )  # fmt: skip
        kernel.over(tiles * (chunk_warps + row_warps) * 32, (
            A.indptr, A.nrows, aligned(A.indices), aligned(A.values) if s.reads_a else None, entries, parts, steps,
            longest, None if long is None else long.chunk_rows, None if long is None else long.chunk_starts, chunk,
            chunks, chunk_warps, row_warps, tiles, x.words, x.values if s.reads_x else None, n, self.out, self.present,
            carry, carry_present, wanted,
        ), BLOCK_WARPS * 32, NO_LIMIT)  # fmt: skip
        if long is not None:
            self.join(long.rows, long.chunk_ptr, chunks, carry, carry_present, wanted)

    @property
    def flag(self):
        """FULL as text."""
        return "true" if self.full else "false"

    def join(self, rows, chunk_ptr, parts, carry, carry_present=None, wanted=None):
        """Adds the parts of rows of several chunks, `parts` of them in all."""
        count, n = rows.shape[0], self.n
        by_block = parts > count * self.device.launcher.size(MANY_PARTS, 4)
        template = ("S", self.flag, "true" if by_block else "false")
        kernel = self.s.kernel(self.device.launcher, "products/spmm.cuh", "spmm_join", template)
        kernel.over(count * -(-n // 32) * (BLOCK_WARPS if by_block else 1) * 32, (
            rows, chunk_ptr, count, self.A.nrows, n, self.out, self.present, carry, carry_present, wanted,
        ), BLOCK_WARPS * 32)  # fmt: skip


def _words(device, present):
    """Presence words of a bool array whose length is a multiple of 64."""
    return device.xp.packbits(present, bitorder="little").view(np.uint64)


def _presence(device, A, n):
    """(words or None, count) of the positions of an A.nrows x n matrix in the rows where A has entries; kept with A."""
    if A.nrows == 1:
        return None, n
    forms, key = forms_of(A), ("rows_present", n)
    found = forms.get(key)
    if found is None:
        flags = A.indptr[1:] != A.indptr[:-1]
        rows = device.read(flags.sum(dtype=np.int64).reshape(1))[0]
        words = None
        if rows < A.nrows:
            present = device.zeros(-(-A.nrows * n // 64) * 64, np.bool_)
            present[: A.nrows * n] = device.xp.repeat(flags, n)
            words = _words(device, present)
        found = forms[key] = words, rows * n
    return found
