"""Products over tiles as forced plans, and tiles built on the device.

Kernels: products/tiles.cuh, products/bit_tiles.cuh, products/bit_tiles_build.cuh; schemas: storage/tiled.py,
storage/bit_tiles.py.

    tiled                             tiles with values (TileSpMSpV, Algorithm 4); entries of sparse tiles are COO
    bittiled push_csr push_csc pull_csc   bit tiles (TileBFS, Algorithms 5 to 7), for products that read no values

Bit tiles are of 16 x 16 positions, tiles with values of 32 x 32, or of the forced size. A sparse x is read as a tiled
vector; a full x or a bitmap is read directly, because a tile is empty where its word of 16, 32 or 64 bits is 0.
Paper: tilespmspv_tilebfs_icpp22, 3.2 to 3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import INT64, cast as host_cast
from ....operators import get_typed_op
from ....planner import forced_tile_size, tuning
from ....storage.bit_tiles import BitTiledMatrix, TileLines, start_type
from ....storage.store import Compressed, forms_of
from ....storage.tiled import WORDS, TiledMatrix, TiledVector, can_tile, least_entries, start_type_of
from ..elementwise.values import combined
from ..lowering.semirings import is_idempotent, lowered
from ..structure.arrays import (
    cast_array,
    counted_later,
    empty_vector,
    gather,
    index_type,
    line_starts,
    moved_type,
    words_of,
)  # fmt: skip
from ..structure.formats import convert
from ..structure.rows import longest_row
from ..structure.sorting import stable_order

if TYPE_CHECKING:
    from ....storage.store import StoredMask
    from ..runtime.device import Device

WIDTH = 16  # of the bit tiles of products and traversals, because it takes the fewest bytes
TILES_OF_CHUNK = 32  # tiles, as in products/bit_tiles.cuh
REST_OF_CHUNK = 1024  # entries of the remainder, as in products/tiles.cuh
_MOVED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
SAMPLE, SAMPLES = 1 << 16, 8  # rows in a sample of how entries cluster, and in how many ranges they are
CUT = 256  # entries of a row beyond which its tile row is built in parts
TILE_ROW = 128  # mean entries of a tile row's rows beyond which it is built in parts
NAMES = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "word"}
DIRECTIONS = ("push_csc", "push_csr", "pull_csc")


def matvec(device: Device, A: Compressed, x: Any, semiring: Any, mask: StoredMask | None, format: str) -> Any:
    """As `matvec_rows`, over A's form `format`; NotImplemented for products that the form does not support."""
    if not can_tile(A) or x.size > 1 << 40:
        return NotImplemented
    if mask is not None:
        pattern = mask.pattern
        if pattern.nvals == 0 or pattern.nvals == pattern.size:  # hides everything, or nothing
            if (pattern.nvals == 0) != mask.complement:
                return empty_vector(device, A.nrows, semiring.return_type)
            mask = None
    if format == "tiled":
        return _tiled(device, A, x, semiring, mask, forced_tile_size(tuning.GPU_TILE_WIDTH))
    if format == "bittiled" or format in DIRECTIONS:
        return _bit_tiled(device, A, x, semiring, mask, format, forced_tile_size(WIDTH))
    return NotImplemented


def _tiled(device, A, x, semiring, mask, nt):
    T = tiled_of(device, A, nt)
    size, word = T.nrows, WORDS[nt]
    s = lowered(device, semiring, T.dtype, T.iso, x.dtype, x.iso)
    x_ptr = None
    if x.format == "sparse":
        tx = tiled_vector_of(device, x, nt, s.reads_x)
        x_ptr, x_parts, x_values = tx.x_ptr, tx.x_mask, tx.x_tile
    else:
        x_parts, x_values = None if x.words is None else x.words.view(word), x.values
    mask_words = None if mask is None else words_of(device, mask.pattern)
    mask_words = None if mask_words is None else mask_words.view(word)
    words, total = (size + 63) >> 6, device.counters()
    w_words = device.empty(words, np.uint64)
    w = None if s.structure_only else device.empty(size, s.dtype.np_type)
    lines, chunks, extra, owner = chunks_of(device, T, False)
    partial = have = None
    if extra is not None:
        have = device.empty(chunks * nt, np.bool_)
        partial = None if s.structure_only else device.empty(chunks * nt, s.dtype.np_type)
    masked, complement = "false" if mask is None else "true", mask is not None and mask.complement
    kernel = device.launcher.kernel("products/tiles.cuh", "tiled_rows", s.text, (
        "S", NAMES[nt], index_type(T.row_start), index_type(T.rest_col), masked))  # fmt: skip
    read = (lambda values: values) if s.reads_a else (lambda values: None)
    kernel.over(chunks * 32, (
        size, T.tile_ptr, T.tile_col, T.tile_nnz, T.row_start.reshape(-1), T.local_col, read(T.values), T.rest_ptr,
        T.rest_row, T.rest_col, read(T.values if T.iso else T.rest_values), lines, chunks, extra, owner, x_ptr, x_parts,
        x_values if s.reads_x else None, mask_words, complement, w, w_words.view(word), words * (64 // nt), partial,
        have, total,
    ))  # fmt: skip
    if extra is not None:
        kernel = device.launcher.kernel("products/tiles.cuh", "join_chunks", s.text, ("S", NAMES[nt], masked))
        kernel.over((chunks - lines) * 32, (
            size, lines, chunks, extra, owner, mask_words, complement, w, w_words.view(word), partial, have, total
        ))  # fmt: skip
    one = s.value(device, T, x) if s.structure_only else w
    return counted_later(device, size, s.dtype, w_words, one, total, s.structure_only)


def tiled_vector_of(device: Device, x: Any, nt: int, values: bool = True) -> TiledVector:
    """The TiledVector of a sparse vector, with device arrays, kept in x.forms; without its values unless `values`."""
    values = values and not x.iso
    forms, key = forms_of(x), f"tiled{nt}" if values else f"tiled{nt}_words"
    found = forms.get(key)
    if found is None:
        tiles, count = -(-x.size // nt), x.indices.shape[0]
        most = min(tiles, count)
        x_ptr, x_mask = device.empty(tiles, np.int32), device.empty(most, WORDS[nt])
        moved = x.values.view(_MOVED[x.values.dtype.itemsize])
        x_tile = device.empty(most * nt, moved.dtype) if values else None
        kernel = device.launcher.kernel(
            "products/tiles.cuh", "tile_vector", "", (index_type(x.indices), moved_type(moved), NAMES[nt])
        )
        kernel.over(tiles, (x.indices, moved if values else None, count, tiles, x_ptr, x_tile, x_mask,
                            device.counters()))  # fmt: skip
        x_tile = x_tile.view(x.values.dtype) if values else x.values
        found = forms[key] = TiledVector(x.size, x.dtype, nt, x_ptr, x_tile, x_mask, count, x.iso)
    return found


def _bit_tiled(device, A, x, semiring, mask, direction, nt):
    op, monoid = semiring.binaryop, semiring.monoid
    same = op.kind == "pair" or A.iso and x.iso
    idempotent = is_idempotent(monoid)
    if op.positional is not None or not same or not (idempotent or monoid.ufunc is np.add):
        return NotImplemented
    size, dtype = A.nrows, semiring.return_type
    if direction == "bittiled":
        direction = _direction(x.nvals_if_read, x.size, size, mask)
    by_columns = direction == "push_csc" and idempotent
    T = bit_tiles_of(device, A, nt, columns=by_columns)
    lines, word = T.by_cols if by_columns else T.by_rows, T.row_words.dtype
    x_words = words_of(device, x)
    if x_words is None:
        x_words = _all_words(device, x.size)
    mask_words = None if mask is None else words_of(device, mask.pattern)
    w_words, total = device.zeros((size + 63) >> 6, np.uint64), device.counters()
    counts = None if idempotent else device.zeros(w_words.shape[0] * 64, np.uint64)
    chunks = chunks_of(device, T, by_columns)
    common = (*lines, *chunks, x_words.view(word), None if mask_words is None else mask_words.view(word),
              mask_words is not None,
              mask is not None and mask.complement, w_words.view(word))  # fmt: skip
    template = NAMES[T.nt], index_type(lines.start)
    if by_columns:
        device.launcher.kernel("products/bit_tiles.cuh", "bit_tile_columns", "", template).over(
            chunks[1] * 32, (*common, total)
        )
    else:
        name = "bit_tile_pull" if direction == "pull_csc" else "bit_tile_rows"
        device.launcher.kernel("products/bit_tiles.cuh", name, "", template).over(
            chunks[1] * 32, (size, *common, counts, total)
        )
    one = np.ones(1, op.return_type.np_type)
    if op.kind != "pair":
        a, b = device.iso_value(A).reshape(1), device.iso_value(x).reshape(1)
        one = op.numpy(host_cast(a, op.type), host_cast(b, op.type2))
    one = host_cast(one, dtype)[0]
    if idempotent:
        return counted_later(device, size, dtype, w_words, device.constant(one, dtype.np_type), total, True)
    times = get_typed_op("times", dtype, kind="binary")  # by our own kernel: CuPy's flushes subnormal numbers
    counts = cast_array(device, counts[:size].view(np.int64), INT64, dtype)
    values = combined(device, times, dtype, size, counts, False, device.constant(one), True)
    return counted_later(device, size, dtype, w_words, values, total)


def _direction(held, width, size, mask):
    """push_csc, push_csr or pull_csc as TileBFS chooses (section 3.4): by x's entries `held` and the wanted rows."""
    pattern = None if mask is None else mask.pattern
    masked = None if pattern is None else pattern.nvals_if_read
    if masked is not None and (size - masked if mask.complement else masked) * tuning.TILES_PULL_CSC <= size:
        return "pull_csc"
    return "push_csc" if held is not None and held < tuning.TILES_SPARSE_X * width else "push_csr"


def _all_words(device, size):
    words = device.full((size + 63) >> 6, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64)
    if size & 63:
        words[-1:] >>= np.uint64(64 - (size & 63))
    return words


# ---------------------------------------------------------------------- building tiles


def tiled_of(device: Device, A: Compressed, nt: int = WIDTH) -> TiledMatrix:
    """A's TiledMatrix with device arrays, kept in A.forms["tiled16"] and the like."""
    forms, key = forms_of(A), f"tiled{nt}"
    found = forms.get(key)
    if found is None:
        found = forms[key] = _make_tiled(device, A, nt)
    return found


def _make_tiled(device, A, nt):
    if A.rows is not None:
        A = convert(device, A, "csr")
    tasks, task_ptr, owner = _merging_tasks(device, A.indptr, nt)
    tile_count, entry_count = device.zeros(tasks + 1, np.int64), device.zeros(tasks + 1, np.int64)
    rest_count = device.zeros(tasks * nt + 1, np.int64)
    values = None if A.iso else A.values.view(_MOVED[A.values.dtype.itemsize])
    row_start = device.empty(0, start_type_of(nt))

    def merge(fill, *arrays):
        kernel = device.launcher.kernel("products/tiles.cuh", "merge_values", "", (
            index_type(A.indices), "uint8_t" if values is None else moved_type(values), NAMES[nt],
            index_type(row_start), fill))  # fmt: skip
        kernel.over(tasks * min(nt, 32), (
            A.indptr, A.indices, values, A.nrows, least_entries(nt), tasks, task_ptr, owner, *arrays))  # fmt: skip

    merge("false", tile_count[1:], entry_count[1:], rest_count[1:], *[None] * 8)
    ptr, first, rest_ptr = (device.xp.cumsum(counts) for counts in (tile_count, entry_count, rest_count))
    tiles, entries, left = device.read(ptr[-1:], first[-1:], rest_ptr[-1:])
    value = 0 if values is None else values.dtype.itemsize
    device.check_room(
        tiles * (12 + nt * row_start.itemsize) + A.nvals * (1 + value) + left * A.indices.itemsize,
        f"{tiles} tiles of {nt} x {nt}",
    )
    tile_col, tile_nnz = device.empty(tiles, np.int32), device.empty(tiles + 1, np.int64)
    row_start = device.empty(tiles * nt, row_start.dtype)
    local_col, rest_row = device.empty(entries, np.uint8), device.empty(left, np.uint8)
    rest_col = device.empty(left, A.indices.dtype)
    kept = rest_values = None
    if values is not None:
        kept, rest_values = device.empty(entries, values.dtype), device.empty(left, values.dtype)
    merge("true", ptr, first, rest_ptr, tile_col, tile_nnz, row_start, local_col, kept, rest_row, rest_col,
          rest_values)  # fmt: skip
    tile_nnz[-1:] = entries
    if owner is None:
        rest_ptr = device.array(rest_ptr[::nt])
    else:
        rest_ptr = gather(device, rest_ptr, task_ptr * nt)
        ptr = gather(device, ptr, task_ptr)
    A.shared = A.shared or A.iso
    own = A.values.dtype
    result = TiledMatrix(
        A.nrows, A.ncols, A.dtype, nt, ptr, tile_col, tile_nnz, row_start.reshape((tiles, nt)), local_col,
        A.values if A.iso else kept.view(own), A.iso, rest_ptr, rest_row, rest_col,
        A.values[:0] if A.iso else rest_values.view(own),
    )  # fmt: skip
    result.forms = {}
    return result


def bit_tiles_of(
    device: Device, A: Compressed, nt: int = WIDTH, symmetric: bool | None = None, columns: bool = True
) -> BitTiledMatrix:
    """A's BitTiledMatrix with device arrays, kept in A.forms["bittiled32"] and the like.

    symmetric: True when the structure is known to be symmetric.  columns: False leaves by_cols None.
    """
    forms = forms_of(A)
    key = f"bittiled{nt}"
    T = forms.get(key)
    if T is None:
        T = forms[key] = BitTiledMatrix(A.nrows, A.ncols, nt, A.indices.shape[0], _merged(device, A, nt), None)
        T.forms = {}
    if T.by_cols is None and symmetric:
        T.by_cols = T.by_rows
    if T.by_cols is None and columns:
        transposed = _transposed(device, T.by_rows, -(-A.ncols // nt), nt)
        same = A.nrows == A.ncols and all(a.shape == b.shape for a, b in zip(T.by_rows, transposed, strict=True))
        if same:
            differ = [(a != b).any().reshape(1) for a, b in zip(T.by_rows, transposed, strict=True)]
            same = not any(device.read(*differ))
        T.by_cols = T.by_rows if same else transposed
    return T


def _merged(device, A, nt):
    """A's TileLines by rows of tiles: the rows of each tile row merged, once to count and once to write."""
    if A.rows is not None:
        A = convert(device, A, "csr")
    word = WORDS[nt]
    merge, counts, held, task_ptr = _counted(device, A.indptr, A.indices, nt)
    ptr, first = device.xp.cumsum(counts), device.xp.cumsum(held)
    tiles, words = device.read(ptr[-1:], first[-1:])
    start = device.empty(tiles + 1, start_type(words))
    device.check_room(tiles * (4 + nt // 8) + words * nt // 8, f"{tiles} bit tiles of {nt}")
    line, map_, bits = device.empty(tiles, np.int32), device.empty(tiles, word), device.empty(words, word)
    merge(index_type(start), "true", ptr, first, line, map_, start, bits)
    start[-1:] = words
    return TileLines(ptr if task_ptr is None else gather(device, ptr, task_ptr), line, map_, start, bits)


def _counted(device, indptr, indices, nt):
    """(merge, tiles and words of each task, task_ptr) of the rows of `indptr`; merge() writes what was counted."""
    nrows = indptr.shape[0] - 1
    tasks, task_ptr, owner = _merging_tasks(device, indptr, nt)
    counts, held = device.zeros(tasks + 1, np.int64), device.zeros(tasks + 1, np.int64)

    def merge(start_name, fill, *arrays):
        kernel = device.launcher.kernel(
            "products/bit_tiles_build.cuh", "merge_tile_row", "", (index_type(indices), NAMES[nt], start_name, fill)
        )
        kernel.over(tasks * min(nt, 32), (indptr, indices, nrows, tasks, task_ptr, owner, *arrays))

    merge("int32_t", "false", counts[1:], held[1:], None, None, None, None)
    return merge, counts, held, task_ptr


def entries_per_tile(device: Device, A: Compressed, nt: int) -> float:
    """Mean entries of a non-empty tile, from SAMPLES ranges of tile rows where A has more (CSR)."""
    tile_rows = -(-A.nrows // nt)
    span = max(1, SAMPLE // SAMPLES // nt)
    starts = [0] if tile_rows <= span * SAMPLES else [k * (tile_rows - span) // (SAMPLES - 1) for k in range(SAMPLES)]
    span = tile_rows if len(starts) == 1 else span
    found = []
    for start in starts:
        indptr = A.indptr[start * nt : min((start + span) * nt, A.nrows) + 1]
        found += [_counted(device, indptr, A.indices, nt)[1].sum().reshape(1), indptr[-1:] - indptr[:1]]
    numbers = device.read(*found)
    return sum(numbers[1::2]) / max(sum(numbers[::2]), 1)


def tile_facts(device: Device, A: Compressed) -> tuple[float, int]:
    """(mean entries of a non-empty 16 x 16 tile, entries of the longest row), kept in A.forms."""
    forms = forms_of(A)
    found = forms.get("tile_facts")
    if found is None:
        found = forms["tile_facts"] = entries_per_tile(device, A, 16), longest_row(device, A)
    return found


def _merging_tasks(device, indptr, nt):
    """(tasks, first task of each tile row, tile row of each task); see products/tile_rows.cuh.

    (tasks, None, None) where each tile row is one task.
    """
    xp, nrows = device.xp, indptr.shape[0] - 1
    tile_rows = -(-nrows // nt)
    longest = device.zeros(tile_rows * nt, np.int64)
    longest[:nrows] = indptr[1:] - indptr[:-1]
    total, longest = (getattr(longest.reshape(tile_rows, nt), name)(axis=1) for name in ("sum", "max"))
    more = xp.maximum(xp.maximum(longest // CUT, xp.minimum(total // (TILE_ROW * nt), longest - 1)), 0)
    ends = xp.cumsum(more + 1)
    tasks = device.read(ends[-1:])[0]
    if tasks == tile_rows:
        return tasks, None, None
    task_ptr = device.zeros(tile_rows + 1, np.int64)
    task_ptr[1:] = ends
    owner = xp.searchsorted(ends, device.arange(tasks), side="right")
    return tasks, task_ptr, device.array(owner.astype(np.int32))


def _transposed(device, lines, tile_cols, nt):
    """The TileLines by columns of tiles, from those by rows."""
    tiles = lines.line.shape[0]
    order = stable_order(device, lines.line).astype(np.int64, copy=False)
    map_, counts = device.empty(tiles, WORDS[nt]), device.zeros(tiles + 1, lines.start.dtype)
    template = NAMES[nt], index_type(lines.start)
    kernel = device.launcher.kernel("products/bit_tiles_build.cuh", "transposed_maps", "", template)
    kernel.over(tiles, (order, tiles, lines.map, lines.start, lines.words, map_, counts[1:]))
    start = device.xp.cumsum(counts, dtype=counts.dtype)
    words, tile_row = device.empty(device.read(start[-1:])[0], WORDS[nt]), device.empty(tiles, np.int32)
    kernel = device.launcher.kernel("products/bit_tiles_build.cuh", "transpose_tiles", "", template)
    kernel.over(tiles * min(nt, 32), (
        order, tiles, lines.ptr, lines.ptr.shape[0] - 1, lines.map, lines.start, lines.words, map_, start, words,
        tile_row,
    ))  # fmt: skip
    return TileLines(line_starts(device, gather(device, lines.line, order), tile_cols), tile_row, map_, start, words)


def chunks_of(device: Device, T: TiledMatrix | BitTiledMatrix, by_columns: bool) -> tuple:
    """(lines, chunks, extra, owner) of T's lines of tiles (products/bit_tiles.cuh), kept in T.forms.

    A chunk of a TiledMatrix has TILES_OF_CHUNK tiles and REST_OF_CHUNK entries of the remainder.
    """
    if T.format == "tiled":
        found = T.forms.get("chunks")
        if found is None:
            parts = (T.tile_ptr, TILES_OF_CHUNK), (T.rest_ptr, REST_OF_CHUNK)
            found = T.forms["chunks"] = chunks_of_lines(device, *parts)
        return found
    by_columns = by_columns and not T.symmetric
    found = T.forms.get(by_columns)
    if found is None:
        ptr = T.by_cols.ptr if by_columns else T.by_rows.ptr
        found = T.forms[by_columns] = chunks_of_lines(device, (ptr, TILES_OF_CHUNK))
    return found


def chunks_of_lines(device: Device, *parts: tuple) -> tuple:
    """(lines, chunks, extra, owner) of lines cut into chunks: of `size` elements of each part (pointers, size)."""
    xp, lines = device.xp, parts[0][0].shape[0] - 1
    extra = 0
    for ptr, size in parts:
        extra = xp.maximum((ptr[1:] - ptr[:-1] + (size - 1)) // size - 1, extra)
    ends = xp.cumsum(extra)
    more = device.read(ends[-1:])[0]
    if not more:
        return lines, lines, None, None
    starts = device.zeros(lines + 1, np.int32)
    starts[1:] = ends
    owner = xp.searchsorted(ends, device.arange(more), side="right")
    return lines, lines + more, starts, device.array(owner.astype(np.int32))
