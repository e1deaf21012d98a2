"""SpMV over 8 x 8 bitmap blocks: the form of a matrix, kept in A.forms["bitblock"], and its products.

Schema of BitBlocks (B blocks in order of block rows, then columns; T block rows with a block; N chunks of CHUNK
blocks; kernels/products/bitblock_rows.cuh reads it). It differs from storage/bit_tiles.py's BitBlockMatrix, because the
lanes of a warp read bits and values in another order, and because every product reads it, so that its bytes matter:

    maps         uint64 [B]       bit 8 c + r: is there an entry in row r, column c of the block?
    codes        uint16 [B + 1]   highest bit: does a block row begin?  The others: column of the block less its base
    bases        int32 [N]        the least column of each chunk
                                  where a chunk spans 2^15 blocks: codes int32 [B + 1], ~column where a block row
                                  begins, and no bases; the last code is not used
    values       [E + PAD bytes]  in the order of the bits, and bytes that may be read; [1] when iso
    value_ptr    int64 [N + 1]    values before each chunk
    begun        int32 [N]        block rows begun before each chunk
    block_ptr    int32 [T + 1]    first block of each block row
    names        int32 [T]        block rows with a block; None: all
    rest         uint32 [R]       remainder, entries of blocks with fewer than LEAST: 8 * column + row in the block row;
                                  None where block rows have fewer than REST_ENTRIES on average: blocks have them
    rest_values  [R] or [1]
    rest_ptr     int32 [T + 1]    entries of the remainder of each block row; [0] where there is none
    most         {16: , 32: }     the most values in a stage of so many blocks, which a warp copies at once
    halves       {precision: }    the values in half precision, made at first use; None where a value has none

FP32 takes 4 bytes an entry and 10.4 bytes a block. Paper: Spaden (spaden_bitmap_spmv_icpp24), 4.2 and 4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import tuning
from ....planner.choose_kernel import blocks_pay
from ....planner.choose_precision import exact, rounded
from ....storage.store import forms_of
from ..structure.arrays import gather, index_type, to_bitmap, words_of
from ..structure.formats import convert
from .tile_blocks import entries_per_block, merged_blocks
from .tiles import _MOVED

if TYPE_CHECKING:
    from ....planner import Plan
    from ....storage.store import Compressed
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

CHUNK = 32  # blocks, as in kernels/products/bitblock_build.cuh
LEAST = 3  # entries: below it 4 bytes for each column take less than the 10 of a map and a column of a block
# Entries of the remainder for each block row: a block takes 20 instructions of a warp, the remainder of a block row 60
# and more (SASS of sm_90), so that it pays from the instructions of 3 to 4 blocks of one or two entries on.
REST_ENTRIES = 4
THREADS = 128
BLOCKS = {1: 4, 2: 4, 4: 4, 8: 5, 16: 3}  # resident blocks for a multiprocessor, by bytes of a value: registers
STAGE = {1: 32, 2: 32, 4: 32, 8: 16, 16: 16}  # blocks that a warp copies at once, by bytes of a stored value
HALF = {"fp16": "HALF", "bf16": "BFLOAT"}  # forms of kernels/base/rounded.cuh by gb.config's matmul_precision
PAD = 16  # bytes behind the values, which are copied in multiples of 16
LARGEST = 1 << 28  # rows and columns: 8 * column + row fits into 32 bits


class BitBlocks:
    """See the schema at the head of this file."""

    __slots__ = (
        "arrived", "bases", "begun", "block_ptr", "blocks", "codes", "halves", "launches", "maps", "most", "names",
        "rest", "rest_ptr", "rest_values", "value_ptr", "values",
    )  # fmt: skip
    format = "bitblock"

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        arrays = (self.maps, self.codes, self.bases, self.values, self.value_ptr, self.begun, self.block_ptr,
                  self.names, self.rest, self.rest_values, self.rest_ptr, *self.halves.values())  # fmt: skip
        return sum(array.nbytes for array in arrays if array is not None)


def suits(A: Compressed) -> bool:
    """Has A few enough rows and columns, and enough entries for its block rows?"""
    return (
        max(A.nrows, A.ncols) <= LARGEST
        and 0 < A.indices.shape[0] < 2**31
        and A.nrows <= 64 * (A.indices.shape[0] + 1024)
    )


def spmv_blocks_of(device: Device, A: Compressed) -> BitBlocks:
    """The BitBlocks of A, kept in A.forms["bitblock"]."""
    forms = forms_of(A)
    found = forms.get("bitblock")
    if found is None:
        found = forms["bitblock"] = _make(device, A)
    return found


def _make(device, A):
    if A.rows is not None:
        A = convert(device, A, "csr")
    xp, form = device.xp, BitBlocks()
    values = None if A.iso else A.values.view(_MOVED[A.values.dtype.itemsize])
    for least in (LEAST, 0):
        merge, counts, task_ptr = merged_blocks(device, A.indptr, A.indices, values, least)
        ptr, held, left = (xp.cumsum(count) for count in counts)
        form.blocks, entries, rest = (int(n) for n in device.read(ptr[-1:], held[-1:], left[-1:]))
        if rest == 0 or rest >= REST_ENTRIES * -(-A.nrows // 8):
            break
    device.check_room(form.blocks * 14 + entries * A.values.dtype.itemsize, f"{form.blocks} blocks of 8 x 8")
    form.maps, cols = device.empty(form.blocks, np.uint64), device.empty(form.blocks, np.int32)
    form.rest = device.empty(rest, np.uint32) if rest else None
    form.values = form.rest_values = A.values
    kept = rest_values = None
    if values is not None:
        kept = device.empty(entries + PAD // values.dtype.itemsize, values.dtype)
        rest_values = device.empty(rest, values.dtype)
        form.values, form.rest_values = kept.view(A.values.dtype), rest_values.view(A.values.dtype)
    else:
        A.shared = True
    merge("true", ptr, held, left, form.maps, cols, kept, form.rest, rest_values, None)
    if task_ptr is not None:
        ptr, left = gather(device, ptr, task_ptr), gather(device, left, task_ptr)
    names = xp.nonzero(ptr[1:] != ptr[:-1])[0]
    if names.shape[0] == ptr.shape[0] - 1:
        form.names = None
    else:
        form.names = names.astype(np.int32)
        ends = device.array(np.array([ptr.shape[0] - 1]))
        at = xp.concatenate((names, ends))
        ptr, left = gather(device, ptr, at), gather(device, left, at)
    form.block_ptr, form.rest_ptr = ptr.astype(np.int32), left.astype(np.int32) if rest else device.zeros(1, np.int32)
    _encode(device, form, cols)
    form.arrived, form.launches, form.halves = None, {}, {}
    return form


def _encode(device, form, cols):
    """The codes of the columns, and what begins before each chunk."""
    xp, blocks = device.xp, form.blocks
    chunks = -(-blocks // CHUNK)
    rows = form.block_ptr.shape[0] - 1
    begins = device.zeros(chunks + 1, np.uint32)
    device.launcher.kernel("products/segments_build.cuh", "mark_begins", "", (index_type(form.block_ptr),)).over(
        rows + 1, (form.block_ptr, rows, blocks, begins)
    )
    counts = device.zeros(chunks + 1, np.int64)

    def encode(name, np_type, bases, facts):
        codes = device.empty(blocks + 1, np_type)  # two of 16 bits are copied together
        device.launcher.kernel("products/bitblock_build.cuh", "encode_blocks", "", (name,)).over(
            chunks * 32, (form.maps, cols, begins, blocks, codes, bases, counts[1:], facts)
        )
        return codes

    facts = device.counters()
    form.bases = device.empty(chunks, np.int32)
    form.codes = encode("uint16_t", np.uint16, form.bases, facts)
    wide, *most = device.read(facts[:3])
    form.most = dict(zip((16, 32), most, strict=True))
    if wide:
        form.codes, form.bases = encode("int32_t", np.int32, None, device.counters()), None
    form.value_ptr = xp.cumsum(counts)
    starts = device.arange(chunks) * CHUNK
    form.begun = xp.searchsorted(form.block_ptr[:-1], starts.astype(np.int32), side="left").astype(np.int32)


def pays(device: Device, A: Compressed, s: Lowered, column_bytes: int, precision: str = "exact") -> tuple | None:
    """The figures of planner.choose_kernel.blocks_pay for A and s; None where segments cost less, or are the only form.

    column_bytes: of a column index in A's segments. Blocks are counted, in a sample, only where full blocks cost less
    than segments. precision: of the values in blocks; segments have those of A. Sums of BOOL stay with segments, which
    combine eight products of a lane as bits of a byte.
    """
    entries = A.indices.shape[0]
    if A.rows is not None or s.dtype.np_type.kind == "b" or not suits(A) or entries < tuning.TILES_ENTRIES:
        return None
    item = A.values.dtype.itemsize if s.reads_a and not A.iso else 0
    held = 2 if precision in HALF and item else item
    if blocks_pay(entries, entries / 64, held, item, column_bytes, device.profile) is None:
        return None
    return blocks_pay(entries, entries / entries_per_block(device, A), held, item, column_bytes, device.profile)


def values_in(device: Device, form: BitBlocks, precision: str) -> Any:
    """The values in half precision, kept; None where one of them cannot be rounded with the precision's error."""
    if precision not in form.halves:
        count, found = form.values.shape[0] - PAD // form.values.dtype.itemsize, device.counters()
        half = device.empty(count + PAD // 2, np.uint16)
        device.launcher.kernel("products/round_values.cuh", "round_values", "", (HALF[precision],)).over(
            -(-count // 4), (form.values, count, half, found)
        )
        form.halves[precision] = None if device.read(found[:1])[0] else half
    return form.halves[precision]


def has_values_in(device: Device, A: Compressed, precision: str) -> bool:
    """Have A's blocks values in this precision?"""
    if precision not in HALF:
        return precision == "exact"
    return not A.iso and values_in(device, spmv_blocks_of(device, A), precision) is not None


def precision_for(device: Device, A: Compressed, precision: str, plan: Plan) -> str:
    """`precision` where A's blocks have values in it, else "exact"; explain() says why."""
    if precision == "exact":
        return precision
    if precision not in HALF:
        text, precision = exact("values of 32 bits are read all the same in a product with a vector"), "exact"
    elif A.iso:
        text, precision = exact("all values of A are equal: one is stored"), "exact"
    elif not has_values_in(device, A, precision):
        text, precision = exact(f"A has a value that {precision} does not represent with its unit roundoff"), "exact"
    else:
        text = rounded(precision, "A")
    plan.use_precision(text)
    return precision


def multiply_full(device: Device, A: Compressed, s: Lowered, x_values: Any, w: Any, precision: str = "exact") -> None:
    """w[rows with entries] = A (+.x) x for a full x."""
    _run(device, A, s, True, None, x_values, None, False, w, None, None, precision)


def multiply(device: Device, A: Compressed, x: Any, s: Lowered, mask: Any, precision: str = "exact") -> tuple:
    """(w or None, its presence words, their count) of w<mask> = A (+.x) x for any x."""
    size = A.nrows
    x_words = None
    if x.nvals_if_read != x.size:
        if s.reads_x and not x.iso:
            x = to_bitmap(device, x)
        x_words = words_of(device, x)
    mask_words = None if mask is None else words_of(device, mask.pattern)
    words, found = device.zeros((size + 63) >> 6, np.uint64), device.counters()
    w = None if s.structure_only else device.empty(size, s.dtype.np_type)
    complement = mask is not None and mask.complement
    _run(device, A, s, False, x_words, x.values, mask_words, complement, w, words, found, precision)
    return w, words, found


def _run(device, A, s, full, x_words, x_values, mask, complement, w, words, found, precision):
    form = spmv_blocks_of(device, A)
    launch = form.launches.get((s, full, precision))
    if launch is None:
        x_item = x_values.dtype.itemsize if s.reads_x else 1
        launch = form.launches[s, full, precision] = _launch(device, form, s, x_item, full, precision)
    kernel, blocks, threads, shared, buffer, parts, have, values = launch
    x_present, mask, w_present = (part if part is None else part.view(np.uint8) for part in (x_words, mask, words))
    kernel(blocks, threads, (
        form.maps, form.codes, form.bases, values, form.value_ptr, form.begun, form.block_ptr, form.names, form.rest,
        form.rest_values if s.reads_a else None, form.rest_ptr, form.blocks, form.rest_ptr.shape[0] - 1, A.nrows,
        A.ncols, x_present, x_values if s.reads_x else None, mask, complement, w, w_present, found, parts, have,
        form.arrived, buffer,
    ), shared=shared)  # fmt: skip


def block_shape(most: int, stage: int, item: int, x_item: int, limit: int) -> tuple[int, int, int]:
    """(bytes of a buffer, threads of a block, its shared memory) where a stage has at most `most` values to copy.

    The window of a warp: kernels/products/bitblock_stage.cuh. limit: bytes of shared memory that a block may have.
    """
    buffer = -(-(most * item + 32) // 16) * 16 if most else 0
    window = 2 * buffer + stage * (2 * 16 + 2 * (8 * x_item + 4 + 1) + 12) + 6 * 16
    threads = THREADS
    while threads > 32 and threads // 32 * window > limit:
        threads //= 2
    return buffer, threads, threads // 32 * window


def _launch(device, form, s, x_item, full, precision):
    """(kernel, blocks, threads, shared memory, bytes of a buffer, parts of block rows that cross shares, whether they
    hold something, values).
    """
    values, stored = form.values if s.reads_a else None, "AS_STORED"
    if precision in HALF:
        values, stored = form.halves[precision], HALF[precision]
    item = 1 if values is None else values.dtype.itemsize
    wide, stage = max(s.dtype.np_type.itemsize, item), STAGE[item]
    loads = s.reads_a and not s.a_iso and not s.structure_only
    buffer, threads, shared = block_shape(form.most[stage] if loads else 0, stage, item, x_item, device.launcher.shared)
    kernel = s.kernel(device.launcher, "products/bitblock_rows.cuh", "bit_block_rows", (
        "S", "int32_t" if form.bases is None else "uint16_t", stored, "true" if full else "false",
        "false" if form.rest is None else "true", str(stage), str(threads), str(BLOCKS[wide]),
    ))  # fmt: skip
    warps = threads // 32
    chunks = -(-form.blocks // CHUNK)
    blocks = max(1, min(kernel.resident_blocks(threads, shared), -(-chunks // warps)))
    shares = blocks * warps
    if form.arrived is None or form.arrived.shape[0] < shares:
        form.arrived = device.zeros(shares, np.uint32)
    slots = shares * 16
    parts, have = device.empty(slots, s.dtype.np_type), device.empty(slots, np.uint8)
    return kernel, blocks, threads, shared, buffer, parts, have, values
