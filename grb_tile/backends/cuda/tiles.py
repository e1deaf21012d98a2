"""Products over tiles as forced plans, and tiles made on the device.  Kernels: tiles.cuh; schemas: storage/tiled.py, bit_tiles.py.

    tiled                             16 x 16 tiles with values (TileSpMSpV, Algorithm 4); sparse tiles stay rows of a remainder
    bittiled push_csr push_csc pull_csc   64 x 64 bit tiles (TileBFS, Algorithms 5 to 7), for products that read no values

x is met through its presence words, 16, 32 or 64 bits a tile: an empty part is what x_ptr = -1 says in the paper.
Paper: papers/tilespmspv_tilebfs_icpp22.txt, 3.2 to 3.4.
"""
import numpy as np

from ...dtypes import cast as host_cast
from ...storage.bit_tiles import BitTiledMatrix
from ...storage.store import BitmapVector, Compressed
from ...storage.tiled import MIN_ENTRIES, NT, TiledMatrix, can_tile
from .entries import empty_vector, gather, index_type, row_ids, segment_starts, stable_order, to_bitmap, words_of
from .semirings import is_idempotent, lowered
from .structure import settle, transpose

SPARSE = 0.01                # share of x's places below which its columns are walked
WALKS = ("push_csc", "push_csr", "pull_csc")


def matvec(device, A, x, semiring, allow, format):
    """As matvec_rows over A's form `format`; NotImplemented where that form cannot serve (the plain rows do then)."""
    if not can_tile(A) or x.size > 1 << 40:
        return NotImplemented
    if allow is not None:
        pattern = allow.pattern
        if pattern.nvals == 0 or pattern.nvals == pattern.size:          # hides everything, or nothing
            if (pattern.nvals == 0) != allow.complement:
                return empty_vector(device, A.nrows, semiring.return_type)
            allow = None
    if format == "tiled":
        return _tiled(device, A, x, semiring, allow)
    if format == "bittiled" or format in WALKS:
        return _bit_tiled(device, A, x, semiring, allow, format)
    return NotImplemented


def _tiled(device, A, x, semiring, allow):
    from .matvec import matvec_rows

    T = tiled_of(device, A)
    w = _tiles_only(device, T, x, semiring, allow) if T.ntiles else None
    rest = T.forms["rest"]
    if rest is None:
        return w
    other = matvec_rows(device, rest, x, semiring, allow)
    if w is None or w.nvals == 0:
        return other
    if other.nvals == 0:
        return w
    from .elementwise import union

    return union(device, w, other, semiring.monoid.binaryop, None, None, None, None)


def _tiles_only(device, T, x, semiring, allow):
    size = T.nrows
    s = lowered(device, semiring, T.dtype, T.iso, x.dtype, x.iso)
    if s.reads_x and not x.iso and x.nvals != x.size:
        x = to_bitmap(device, x)
    x_words = None if x.nvals == x.size else words_of(device, x)
    mask = None if allow is None else words_of(device, allow.pattern)
    tile_rows = T.tile_ptr.shape[0] - 1
    w_words, total = device.zeros((size + 63) >> 6, np.uint64), device.zeros(1, np.uint64)
    w = None if s.structure_only else device.empty(size, s.dtype.np_type)
    kernel = device.launcher.kernel("tiles.cuh", "tiled_rows", s.text, ("int32_t", "S", "false" if mask is None else "true"))
    kernel.over(tile_rows * 32, (
        size, tile_rows, T.tile_ptr, T.tile_col, T.tile_nnz, T.row_start.reshape(-1), T.nibbles,
        T.values if s.reads_a else None, None if x_words is None else x_words.view(np.uint16), x.size,
        x.values if s.reads_x else None, mask, allow is not None and allow.complement, w, w_words.view(np.uint16), total,
    ))  # fmt: skip
    return _bitmap(device, size, s.dtype, w_words, total, w, s.value(device, T, x) if s.structure_only else None)


def _bitmap(device, size, dtype, words, total, values, one):
    """The settled vector of counted words with its values, or with `one` for all."""
    held = device.read(total)[0]
    if held == 0:
        return empty_vector(device, size, dtype)
    result = BitmapVector(size, dtype, words, values if one is None else one, held, one is not None)
    result.shared = one is not None
    return settle(device, result)


def _bit_tiled(device, A, x, semiring, allow, walk):
    op, monoid = semiring.binaryop, semiring.monoid
    same = op.kind == "pair" or A.iso and x.iso
    idempotent = is_idempotent(monoid)
    if op.positional is not None or not same or not (idempotent or monoid.ufunc is np.add):
        return NotImplemented
    size, dtype = A.nrows, semiring.return_type
    T = bit_tiles_of(device, A)
    word = np.uint64 if T.nt == 64 else np.uint32
    name = "word" if T.nt == 64 else "uint32_t"
    x_words = words_of(device, x)
    if x_words is None:
        x_words = _all_words(device, x.size)
    mask = None if allow is None else words_of(device, allow.pattern)
    parts = None if mask is None else mask.view(word)
    complement = allow is not None and allow.complement
    w_words, total = device.zeros((size + 63) >> 6, np.uint64), device.zeros(1, np.uint64)
    counts = None if idempotent else device.zeros(w_words.shape[0] * 64, np.int64)
    if walk == "bittiled":
        walk = "push_csc" if x.nvals < SPARSE * x.size else "push_csr"
    launcher = device.launcher
    if walk == "push_csc" and idempotent:
        columns = T.tile_col_ptr.shape[0] - 1
        launcher.kernel("tiles.cuh", "bit_tile_columns", "", (name,)).over(columns * 32, (
            columns, T.tile_col_ptr, T.tile_row, T.col_words.reshape(-1), x_words.view(word), parts, mask is not None,
            complement, w_words.view(word)))  # fmt: skip
        launcher.kernel("tiles.cuh", "count_words").over(w_words.shape[0], (w_words, w_words.shape[0], total))
    else:
        tile_rows = T.tile_row_ptr.shape[0] - 1
        launcher.kernel("tiles.cuh", "bit_tile_rows", "", (name,)).over(tile_rows * 32, (
            size, tile_rows, T.tile_row_ptr, T.tile_col, T.row_words.reshape(-1), x_words.view(word), parts,
            mask is not None, complement, w_words.view(word), counts, total))  # fmt: skip
    one = np.ones(1, op.return_type.np_type)
    if op.kind != "pair":
        a, b = device.iso_value(A).reshape(1), device.iso_value(x).reshape(1)
        one = op.numpy(host_cast(a, op.type), host_cast(b, op.type2))
    one = host_cast(one, dtype)[0]
    if idempotent:
        return _bitmap(device, size, dtype, w_words, total, None, device.constant(one, dtype.np_type))
    values = counts[:size].astype(dtype.np_type) * one
    return _bitmap(device, size, dtype, w_words, total, device.array(values.astype(dtype.np_type, copy=False)), None)


def _all_words(device, size):
    words = device.full((size + 63) >> 6, np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64)
    if size & 63:
        words[-1:] >>= np.uint64(64 - (size & 63))
    return words


# ---------------------------------------------------------------------- making tiles


def tiled_of(device, A):
    """A's TiledMatrix with device arrays, kept in A.forms["tiled"]; its forms["rest"] holds the remainder by rows."""
    forms = A.forms
    if forms is None:
        forms = A.forms = {}
    found = forms.get("tiled")
    if found is None:
        found = forms["tiled"] = _make_tiled(device, A)
    return found


def _tile_order(device, A, nt):
    """(rows of the entries, order by tile, tile row, tile column, starts); as storage.tiled.tile_order."""
    shift, tile_cols = nt.bit_length() - 1, -(-A.ncols // nt)
    count = A.indices.shape[0]
    rows = row_ids(device, A)
    keys = device.empty(count, np.int64)
    kernel = device.launcher.kernel("tiles.cuh", "tile_keys", "", (index_type(A.indices),))
    kernel.over(count, (rows, A.indices, count, shift, tile_cols, keys))
    order = stable_order(device, keys)
    keys = gather(device, keys, order)
    starts = segment_starts(device, None, keys)
    first = gather(device, keys, starts)
    return rows, order, first // tile_cols, (first % tile_cols).astype(np.int32), starts


def _pointers(device, lines, count):
    return device.array(device.xp.searchsorted(lines, device.arange(count + 1), side="left").astype(np.int64))


def _make_tiled(device, A):
    xp, count = device.xp, A.indices.shape[0]
    rows, order, tile_row, tile_col, starts = _tile_order(device, A, NT)
    ends = device.empty(starts.shape[0] + 1, np.int64)
    ends[:-1], ends[-1:] = starts, count
    lengths = ends[1:] - ends[:-1]
    kept = lengths >= MIN_ENTRIES
    tile = xp.searchsorted(starts, device.arange(count), side="right") - 1
    of_kept = kept[tile]
    tiles, rest = order[of_kept], xp.sort(order[~of_kept])
    tile_row, tile_col, lengths = tile_row[kept], tile_col[kept], lengths[kept]
    held = lengths.shape[0]
    tile_nnz = device.zeros(held + 1, np.int64)
    tile_nnz[1:] = xp.cumsum(lengths)
    nibbles = device.empty(tiles.shape[0], np.uint8)
    row_start, row_mask = device.empty((held, NT), np.uint8), device.empty((held, NT), np.uint16)
    kernel = device.launcher.kernel("tiles.cuh", "pack_tiles", "", (index_type(A.indices),))
    tiles = device.array(tiles)
    kernel.over(held, (tiles, rows, A.indices, tile_nnz, held, nibbles, row_start, row_mask))
    values = A.values if A.iso else gather(device, A.values, tiles)
    rest = device.array(rest)
    rest_rows, rest_cols = gather(device, rows, rest), gather(device, A.indices, rest)
    rest_values = A.values[:0] if A.iso else gather(device, A.values, rest)
    result = TiledMatrix(
        A.nrows, A.ncols, A.dtype, _pointers(device, tile_row, -(-A.nrows // NT)), device.array(tile_col), tile_nnz,
        row_start, nibbles, row_mask, values, A.iso, rest_rows, rest_cols.astype(np.int64), rest_values,
    )  # fmt: skip
    A.shared = A.shared or A.iso
    remainder = None
    if rest_rows.shape[0]:
        remainder = Compressed(A.nrows, A.ncols, A.dtype, _pointers(device, rest_rows, A.nrows), rest_cols,
                               A.values if A.iso else rest_values, A.iso)  # fmt: skip
    result.forms = {"rest": remainder}
    return result


def bit_tiles_of(device, A, nt=64):
    """A's BitTiledMatrix with device arrays, kept in A.forms["bittiled64"] or ["bittiled32"]."""
    forms = A.forms
    if forms is None:
        forms = A.forms = {}
    key = f"bittiled{nt}"
    found = forms.get(key)
    if found is None:
        by_rows = _bit_tiles(device, A, nt)
        by_cols = _bit_tiles(device, transpose(device, A), nt)
        xp = device.xp
        if A.nrows == A.ncols and all(a.shape == b.shape and bool(xp.array_equal(a, b))
                                      for a, b in zip(by_rows, by_cols, strict=True)):
            by_cols = by_rows
        found = forms[key] = BitTiledMatrix(A.nrows, A.ncols, nt, A.indices.shape[0], by_rows, by_cols)
    return found


def _bit_tiles(device, A, nt):
    rows, order, tile_row, tile_col, starts = _tile_order(device, A, nt)
    tiles, count = starts.shape[0], order.shape[0]
    device.check_room(tiles * nt * nt // 8, f"{tiles} bit tiles of {nt}")
    words = device.zeros((tiles, nt), np.uint64 if nt == 64 else np.uint32)
    kernel = device.launcher.kernel("tiles.cuh", "fill_bit_tiles", "", (
        index_type(A.indices), "word" if nt == 64 else "uint32_t"))
    kernel.over(count, (order, rows, A.indices, starts, tiles, count, words))
    return _pointers(device, tile_row, -(-A.nrows // nt)), device.array(tile_col), words
