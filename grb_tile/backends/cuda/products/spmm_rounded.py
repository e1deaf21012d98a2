"""C = A X on tensor cores, operands rounded to FP16, BF16 or TF32 (kernels/products/spmm_rounded.cuh).

Only where the user set it: planner/choose_precision.py has the rule and the bound of the error.

Schema of CondensedTiles (windows of 16 rows; a window with c distinct columns has ceil(c / 16) tiles), kept in A.forms

    cols            like A.indices [16 T]   columns of each tile; behind a window's last one its first one again
    tiles           uint16 or uint32 [256 T]   the values, zeros where A has no entry, in the order of the lanes
    chunk_windows   int32 [K]        the window of each chunk of tiles
    chunk_first     int64 [K + 1]    its first tile
    chunk_carry     int64 [K]        where the parts of its first row go, -1: it is a whole window
    carry_step      int64 [K]        chunks of its window: the parts of a row are side by side
    rows, chunk_ptr int64 [L], [L + 1]   rows of windows of several chunks, and their parts; None without such windows
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import choose_precision, tuning
from ....planner.choose_kernel import tiles_move_less
from ....storage.store import forms_of
from ..structure.arrays import index_type
from ..structure.sorting import sorted_by_key

if TYPE_CHECKING:
    from ....storage.store import BitmapVector, Compressed
    from ..runtime.device import Device

TILE = 16  # rows, and columns, as in spmm_rounded.cuh
FORMS = {"fp16": ("HALF", np.uint16), "bf16": ("BFLOAT", np.uint16), "tf32": ("TENSOR_FLOAT", np.uint32)}
LEAST_ARCH = 80  # m16n8k16 and m16n8k8 of these types
LEAST_CHUNK, MOST_CHUNK = 16, 64  # tiles: a window of more is several warps' work
WARPS_PER_PROCESSOR, CHUNKS_PER_WARP = 64, 4


class CondensedTiles:
    """See the schema at the head of this file."""

    __slots__ = (
        "carried", "carry_step", "chunk_carry", "chunk_first", "chunk_ptr", "chunk_windows", "chunks", "cols", "count",
        "rows", "tiles",
    )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (getattr(self, name) for name in self.__slots__)
        return sum(getattr(array, "nbytes", 0) for array in arrays)


def multiply(
    device: Device, A: Compressed, x: BitmapVector, n: int, semiring: Any, join: Any, values: Any, notes: list
) -> Any:
    """values = A X rounded where the setting requires it, else None; and a word that is not 0 where it is not done.

    x: X's values, n columns; join(rows, chunk_ptr, parts, carry): adds parts of rows; notes: gets what explain() says.
    The word is on the device, so the product over CSR is launched behind and looks at it.
    """
    precision = choose_precision.precision_of(semiring, A.dtype, x.dtype)
    if precision == "exact":
        return None
    found = _tiles_or_reason(device, A, x, n, precision)
    if isinstance(found, str):
        notes.append(choose_precision.exact(found))
        return None
    name, np_type = FORMS[precision]
    bad, count = device.counters(), x.values.shape[0]
    rounded = device.empty(count, np_type)
    launcher = device.launcher
    launcher.kernel("products/round_values.cuh", "round_values", "", (name,)).over(
        count // 4, (x.values, count, rounded, bad)
    )
    wide = next(w for w in (8, 4, 2) if n % (8 * w) == 0)
    carry = None if found.rows is None else device.empty(found.carried * n, np.float32)
    kernel = launcher.kernel("products/spmm_rounded.cuh", "spmm_tiles", "", (index_type(found.cols), name, str(wide)))
    kernel.over(found.chunks * (n // (8 * wide)) * 32, (
        found.cols, found.tiles, found.chunk_windows, found.chunk_first, found.chunk_carry, found.carry_step,
        found.chunks, A.nrows, rounded, n, values, carry, bad,
    ), most=2**31 - 1)  # fmt: skip
    if carry is not None:
        join(found.rows, found.chunk_ptr, found.carried, carry)
    text = choose_precision.rounded(precision, "A and X", 2)
    notes.append(f"{text}; exact where X has a value that {precision} cannot represent")
    return bad


def _tiles_or_reason(device, A, x, n, precision):
    """The CondensedTiles of A, or why there are none."""
    if device.launcher.arch < LEAST_ARCH:
        return f"the device has compute capability {device.launcher.arch / 10}, the instructions are those of 8.0"
    if x.iso or n % 16 or x.values.data.ptr % 16:
        return "X has one value" if x.iso else "its columns are not a multiple of 16"
    forms, key = forms_of(A), ("condensed_tiles", precision)
    found = forms.get(key, 0)
    if isinstance(found, int):
        if found < tuning.BUILD_AFTER:
            forms[key] = found + 1
            return f"the tiles of A are made after {tuning.BUILD_AFTER} products"
        found = forms[key] = _make(device, A, n, precision)
    return found


def _make(device, A, n, precision):
    """The CondensedTiles of A, or why there are none."""
    xp, (name, np_type), launcher = device.xp, FORMS[precision], device.launcher
    windows, entries = -(-A.nrows // TILE), A.indices.shape[0]
    bits = max((A.ncols - 1).bit_length(), 1)
    if bits + windows.bit_length() > 63:
        return "A has too many rows and columns for keys of 63 bits"
    device.check_room(entries * 24, f"the columns of the windows of {entries} entries")
    keys = device.empty(entries, np.int64)
    launcher.kernel("products/spmm_rounded.cuh", "window_keys", "", (index_type(A.indices),)).over(
        A.nrows * 32, (A.indptr, A.nrows, A.indices, bits, keys)
    )
    keys = sorted_by_key(device, keys, windows << bits)[0]
    keep = xp.ones(entries, np.bool_)
    keep[1:] = keys[1:] != keys[:-1]
    keys = keys[keep]
    del keep
    first = xp.searchsorted(keys, device.arange(windows + 1) << bits)
    counts = (first[1:] - first[:-1] + TILE - 1) // TILE
    tile_ptr = device.zeros(windows + 1, np.int64)
    tile_ptr[1:] = xp.cumsum(counts)
    form = CondensedTiles()
    form.count = device.read(tile_ptr[-1:])[0]
    item = np.dtype(np_type).itemsize
    if not tiles_move_less(entries, form.count, n, item):
        return f"{entries} entries in {form.count} tiles of 16 x 16 move more bytes than CSR"
    device.check_room(form.count * TILE * (TILE * item + A.indices.itemsize), f"{form.count} tiles of 16 x 16")
    form.cols = device.empty(form.count * TILE, A.indices.dtype)
    launcher.kernel("products/spmm_rounded.cuh", "tile_columns", "", (index_type(A.indices),)).over(
        form.count * TILE, (keys, first, tile_ptr, windows, form.count * TILE, bits, form.cols)
    )
    form.tiles = device.zeros(form.count * TILE * TILE, np_type)
    bad = device.counters()
    launcher.kernel("products/spmm_rounded.cuh", "fill_tiles", "", (index_type(A.indices), name)).over(
        A.nrows * 32, (A.indptr, A.nrows, A.indices, A.values, A.iso, keys, first, tile_ptr, bits, form.tiles, bad)
    )
    if device.read(bad[:1])[0]:
        return f"A has a value that {precision} cannot represent"
    _chunks(device, form, counts, tile_ptr)
    return form


def _chunks(device, form, counts, tile_ptr):
    """Cuts windows of many tiles."""
    xp = device.xp
    share = form.count // (device.launcher.processors * WARPS_PER_PROCESSOR * CHUNKS_PER_WARP)
    chunk = device.launcher.size(min(max(share, LEAST_CHUNK), MOST_CHUNK), 2)
    cuts = (counts + chunk - 1) // chunk
    ends = xp.cumsum(cuts)
    several = cuts > 1
    parts = xp.cumsum(xp.where(several, cuts * TILE, 0))
    form.chunks, form.carried = device.read(ends[-1:], parts[-1:])
    number = device.arange(form.chunks)
    window = xp.searchsorted(ends, number, side="right")
    inside = number - (ends - cuts)[window]
    form.chunk_windows = window.astype(np.int32)
    form.chunk_first = device.empty(form.chunks + 1, np.int64)
    form.chunk_first[:-1] = tile_ptr[window] + inside * chunk
    form.chunk_first[-1:] = tile_ptr[-1:]
    form.carry_step = cuts[window]
    form.chunk_carry = xp.where(several[window], (parts - cuts * TILE)[window] + inside, -1)
    form.rows = form.chunk_ptr = None
    if form.carried:
        cut = xp.flatnonzero(several)
        inner = device.arange(TILE)
        rows = (cut[:, None] * TILE + inner).reshape(-1)
        starts = ((parts - cuts * TILE)[cut][:, None] + inner * cuts[cut][:, None]).reshape(-1)
        form.rows = rows
        form.chunk_ptr = device.empty(rows.shape[0] + 1, np.int64)
        form.chunk_ptr[:-1], form.chunk_ptr[-1:] = starts, parts[-1:]
