"""BitTiledMatrix and BitBlockMatrix: the structure of a matrix as bits of tiles.

Schema of BitTiledMatrix, structure only (nt = 16, 32 or 64; words are uint16, uint32 or uint64; tile row = row // nt).
Only the non-empty rows of a tile have a word, because a tile of a mesh has a few bits in half of its rows.

    tile_row_ptr  int64 [tile_rows + 1]   tiles of tile row r (CSR of tiles)
    tile_col      int32 [T]               tile column, ascending within a tile row
    row_map       word  [T]               bit r of row_map[t]: is row r of the tile non-empty?
    row_start     int32 [T + 1]           words of tile t: row_start[t] .. row_start[t+1]-1 (int64 from 2^31 words)
    row_words     word  [W]               one for each bit of the maps, ascending: bit c: is there an entry in column c?
    tile_col_ptr  int64 [tile_cols + 1]   tiles of tile column c (CSC of tiles)
    tile_row      int32 [T]               tile row, ascending within a tile column
    col_map       word  [T]               bit c of col_map[t]: is column c of the tile non-empty?
    col_start     int32 [T + 1]           as row_start
    col_words     word  [V]               one for each bit of the maps: bit r: is there an entry in row r?

The word of row r of tile t is row_words[row_start[t] + popcount(row_map[t] & ((1 << r) - 1))].  A symmetric structure
has one array of each: tile_col_ptr is tile_row_ptr, tile_row is tile_col, and so on.

Schema of BitBlockMatrix, with values (blocks of 8 x 8, by block rows)

    block_ptr     int64  [block_rows + 1]  blocks of block row r
    block_col     int32  [B]               block column, ascending within a block row
    block_map     uint64 [B]               bit 8 r + c: is there an entry in row r, column c of the block?
    value_ptr     int64  [B + 1]           values of block b: value_ptr[b] .. value_ptr[b+1]-1, in the order of the bits
    values        dtype  [nvals]           one each, or [1] when iso

Papers: TileSpMSpV 3.2.3 (tilespmspv_tilebfs_icpp22); Spaden 4.2 (spaden_bitmap_spmv_icpp24; bit blocks).
"""

from typing import Any, NamedTuple

import numpy as np

from ..dtypes import BOOL
from .convert import choose_format, compressed, forms_of, row_ids, transpose_of
from .sorting import segment_starts, stable_order
from .tiled import WORDS, pointers, tile_order

BLOCK = 8


class TileLines(NamedTuple):
    """One orientation of a BitTiledMatrix: its five arrays by tile rows, or by tile columns."""

    ptr: Any
    line: Any
    map: Any
    start: Any
    words: Any

    @property
    def nbytes(self):
        return sum(array.nbytes for array in self)

    def positions(self):
        """(tile, line within the tile) of each word (int64)."""
        nt = 8 * self.map.itemsize
        at = np.unpackbits(self.map.view(np.uint8), bitorder="little").view(np.bool_).nonzero()[0]
        return at // nt, at % nt


class BitTiledMatrix:
    """See the schema at the head of this file."""

    __slots__ = ("nrows", "ncols", "nt", "nvals", "by_rows", "by_cols", "shared", "forms")
    format = "bittiled"
    iso = True
    dtype = BOOL

    def __init__(self, nrows, ncols, nt, nvals, by_rows, by_cols):
        self.nrows, self.ncols, self.nt, self.nvals = nrows, ncols, nt, nvals
        self.by_rows, self.by_cols = by_rows, by_cols
        self.shared, self.forms = True, None

    tile_row_ptr = property(lambda self: self.by_rows.ptr)
    tile_col = property(lambda self: self.by_rows.line)
    row_map = property(lambda self: self.by_rows.map)
    row_start = property(lambda self: self.by_rows.start)
    row_words = property(lambda self: self.by_rows.words)
    tile_col_ptr = property(lambda self: self.by_cols.ptr)
    tile_row = property(lambda self: self.by_cols.line)
    col_map = property(lambda self: self.by_cols.map)
    col_start = property(lambda self: self.by_cols.start)
    col_words = property(lambda self: self.by_cols.words)

    @property
    def shape(self):
        return (self.nrows, self.ncols)

    @property
    def ntiles(self):
        return self.tile_col.shape[0]

    @property
    def symmetric(self):
        """Do rows and columns share their arrays?"""
        return self.by_cols is self.by_rows

    @property
    def nbytes(self):
        columns = self.by_cols is not None and not self.symmetric
        return self.by_rows.nbytes + (self.by_cols.nbytes if columns else 0)

    def to_compressed(self):
        """The structure as an iso BOOL matrix, CSR or DCSR."""
        nt, words = self.nt, self.row_words
        at = np.unpackbits(words.view(np.uint8), bitorder="little").view(np.bool_).nonzero()[0]
        tile, local = (found[at // nt] for found in self.by_rows.positions())
        tile_rows = np.arange(self.tile_row_ptr.shape[0] - 1).repeat(np.diff(self.tile_row_ptr))
        rows = tile_rows[tile] * nt + local
        cols = self.tile_col[tile].astype(np.int64) * nt + at % nt
        order = stable_order(rows, max(self.nrows, 1))  # tiles ascend by column: a stable order by row is enough
        values = np.ones(1 if at.shape[0] else 0, np.bool_)
        matrix = compressed(self.nrows, self.ncols, BOOL, rows[order], cols[order], values, at.shape[0] > 0)
        return choose_format(matrix)


def start_type(words):
    """The type of row_start for this number of words."""
    return np.dtype(np.int32 if words < 2**31 else np.int64)


def _bit_tiles(A, nt):
    """The TileLines of A by rows of tiles."""
    order, tile_row, tile_col, starts = tile_order(A, nt)
    tiles, word = starts.shape[0], WORDS[nt]
    counts = np.diff(np.append(starts, order.shape[0]))
    map_, words = np.zeros(tiles, word), np.zeros(0, word)
    words_of_tile = np.zeros(tiles, np.int64)
    if tiles:
        line = np.arange(tiles).repeat(counts) * nt + (row_ids(A)[order] & (nt - 1))
        bits = np.left_shift(word(1), (A.indices[order] & (nt - 1)).astype(word))
        first = segment_starts(line)
        words = np.bitwise_or.reduceat(bits, first)
        of_tile, local = line[first] // nt, (line[first] % nt).astype(word)
        map_ = np.bitwise_or.reduceat(np.left_shift(word(1), local), segment_starts(of_tile))
        words_of_tile = np.bincount(of_tile, minlength=tiles)
    start = np.zeros(tiles + 1, start_type(words.shape[0]))
    words_of_tile.cumsum(out=start[1:])
    return TileLines(pointers(tile_row, -(-A.nrows // nt)), tile_col.astype(np.int32), map_, start, words)


def bit_tiles_from(A, nt=64, symmetric=None):
    """The BitTiledMatrix of a Compressed's structure.

    symmetric: True when the structure is known to be symmetric (not checked), False to keep both arrays, None to test.
    """
    by_rows = _bit_tiles(A, nt)
    if symmetric:
        return BitTiledMatrix(A.nrows, A.ncols, nt, A.nvals, by_rows, by_rows)
    by_cols = _bit_tiles(transpose_of(A), nt)
    if symmetric is None and A.nrows == A.ncols and _same_arrays(by_rows, by_cols):
        by_cols = by_rows
    return BitTiledMatrix(A.nrows, A.ncols, nt, A.nvals, by_rows, by_cols)


def _same_arrays(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def bit_tiles_of(A, nt=64):
    """The BitTiledMatrix of A, kept in A.forms["bittiled64"] and the like."""
    forms, key = forms_of(A), f"bittiled{nt}"
    form = forms.get(key)
    if form is None:
        form = forms[key] = bit_tiles_from(A, nt)
    return form


class BitBlockMatrix:
    """See the schema at the head of this file."""

    __slots__ = (
        "nrows", "ncols", "dtype", "block_ptr", "block_col", "block_map", "value_ptr", "values", "iso", "shared",
        "forms",
    )  # fmt: skip
    format = "bitblock"

    def __init__(self, nrows, ncols, dtype, block_ptr, block_col, block_map, value_ptr, values, iso):
        self.nrows, self.ncols, self.dtype = nrows, ncols, dtype
        self.block_ptr, self.block_col, self.block_map = block_ptr, block_col, block_map
        self.value_ptr, self.values, self.iso = value_ptr, values, iso
        self.shared, self.forms = True, None

    @property
    def shape(self):
        return (self.nrows, self.ncols)

    @property
    def nvals(self):
        return int(self.value_ptr[-1])

    @property
    def ntiles(self):
        return self.block_col.shape[0]

    @property
    def nbytes(self):
        arrays = (self.block_ptr, self.block_col, self.block_map, self.value_ptr, self.values)
        return sum(array.nbytes for array in arrays)

    def positions(self):
        """(rows, columns) of the entries in the order of `values` (int64)."""
        at = np.unpackbits(self.block_map.view(np.uint8), bitorder="little").view(np.bool_).nonzero()[0]
        block, local = at >> 6, at & 63
        block_rows = np.arange(self.block_ptr.shape[0] - 1).repeat(np.diff(self.block_ptr))
        return block_rows[block] * BLOCK + (local >> 3), self.block_col[block].astype(np.int64) * BLOCK + (local & 7)

    def to_compressed(self):
        """The same entries as CSR or DCSR."""
        rows, cols = self.positions()
        order = stable_order(rows, max(self.nrows, 1))  # blocks ascend by column, bits by (row, column)
        values = self.values if self.iso else self.values[order]
        return choose_format(compressed(self.nrows, self.ncols, self.dtype, rows[order], cols[order], values, self.iso))


def bit_blocks_from(A):
    """The BitBlockMatrix of a Compressed."""
    order, block_row, block_col, starts = tile_order(A, BLOCK)
    block_map = np.empty(0, np.uint64)
    if order.shape[0]:
        place = ((row_ids(A)[order] & 7) << 3) | (A.indices[order] & 7)
        block_map = np.bitwise_or.reduceat(np.left_shift(np.uint64(1), place.astype(np.uint64)), starts)
    value_ptr = np.append(starts, order.shape[0]).astype(np.int64)
    values = A.values if A.iso else A.values[order]
    block_ptr = pointers(block_row, -(-A.nrows // BLOCK))
    return BitBlockMatrix(
        A.nrows, A.ncols, A.dtype, block_ptr, block_col.astype(np.int32), block_map, value_ptr, values, A.iso
    )


def bit_blocks_of(A):
    """The BitBlockMatrix of A, kept in A.forms["bitblock"]."""
    forms = forms_of(A)
    form = forms.get("bitblock")
    if form is None:
        form = forms["bitblock"] = bit_blocks_from(A)
    return form
