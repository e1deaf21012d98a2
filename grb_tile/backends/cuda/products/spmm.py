"""C = A X for a sparse A and a dense X on the device (kernels/products/spmm.cuh): any semiring and type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....storage.store import BitmapVector, Compressed, Dense, forms_of
from ..lowering.semirings import lowered_plain
from ..structure.entries import counted_later, index_type

if TYPE_CHECKING:
    from ..runtime.device import Device

LOAD_BYTES = 16  # of one load or store of a lane
CHUNKS_PER_WARP = 4  # of the entries, for each warp that is resident: so that warps end at about the same time
LEAST_CHUNK, MOST_CHUNK = 64, 1024  # entries of a chunk: its first row is searched for, and its ends may need a fix-up
WARPS_PER_PROCESSOR = 64


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


def chunk_of(device: Device, entries: int) -> int:
    """Entries of a chunk, a multiple of 32."""
    share = entries // (device.launcher.processors * WARPS_PER_PROCESSOR * CHUNKS_PER_WARP)
    return min(max(share, LEAST_CHUNK), MOST_CHUNK) & ~31


def spmm(device: Device, A: Compressed, X: Dense, semiring: Any) -> Any:
    """C[i,j] = (+)_k A[i,k] (x) X[k,j], dense; NotImplemented for hypersparse A and types without a device form."""
    x, n, entries = device.own(X.flat), X.ncols, A.indices.shape[0]
    s = lowered_plain(device, semiring, A.dtype, A.iso, x.dtype, x.iso)
    if s is None or A.rows is not None or entries == 0:
        return NotImplemented
    full, size = x.words is None, A.nrows * n
    if full and s.structure_only:
        words, count = _presence(device, A, n)
        return Dense(A.nrows, n, BitmapVector(size, s.dtype, words, s.value(device, A, x), count, True))
    z = s.dtype.np_type
    device.check_room(size * (z.itemsize + (not full)), f"mxm: a dense result of {A.nrows} x {n}")
    values = s.value(device, A, x) if s.structure_only else device.empty(size, z)
    moved = [x.values] if s.reads_x and not x.iso else []
    width = elements_at_once(n, *moved, *([] if s.structure_only else [values]))
    lanes = power_of_two_from(-(-n // width), 32)
    chunk = chunk_of(device, entries)
    chunks, tiles = -(-entries // chunk), -(-n // (lanes * width))
    present = None if full else device.zeros(-(-size // 64) * 64, np.bool_)
    carry = None if s.structure_only else device.empty(chunks * 2 * n, z)
    carry_present = None if full else device.empty(chunks * 2 * n, np.bool_)
    flag = "true" if full else "false"
    kernel = s.kernel(
        device.launcher, "products/spmm.cuh", "spmm", (index_type(A.indices), "S", str(width), str(lanes), flag)
    )
    kernel.over(chunks * tiles * 32, (
        A.indptr, A.nrows, A.indices, A.values if s.reads_a else None, entries, chunk, chunks, tiles, x.words,
        x.values if s.reads_x else None, n, None if s.structure_only else values, present, carry, carry_present,
    ))  # fmt: skip
    if chunks > 1:
        kernel = s.kernel(device.launcher, "products/spmm.cuh", "spmm_fix_up", ("S", flag))
        kernel.over((chunks - 1) * 32, (
            A.indptr, A.nrows, entries, chunk, chunks, n, None if s.structure_only else values, present, carry,
            carry_present,
        ))  # fmt: skip
    if full:
        words, count = _presence(device, A, n)
        return Dense(A.nrows, n, BitmapVector(size, s.dtype, words, values, count))
    words = _words(device, present)
    count = present.sum(dtype=np.int64).reshape(1)
    return Dense(A.nrows, n, counted_later(device, size, s.dtype, words, values, count, s.structure_only))


def _words(device, present):
    """Presence words of a bool array whose length is a multiple of 64."""
    return device.xp.packbits(present, bitorder="little").view(np.uint64)


def _presence(device, A, n):
    """(words or None, count) of the positions of an A.nrows x n matrix in the rows where A has entries; kept with A."""
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
