"""BitTiledMatrix and BitBlockMatrix: the structure of a matrix as bits of tiles.

Schema of BitTiledMatrix, structure only (nt = 32 or 64; words are uint32 or uint64; tile row = row // nt)

    tile_row_ptr  int64 [tile_rows + 1]   tiles of tile row r (CSR of tiles)
    tile_col      int32 [T]               tile column, ascending within a tile row
    row_words     word  [T, nt]           bit c of row_words[t, r]: is there an entry in row r, column c of the tile?
    tile_col_ptr  int64 [tile_cols + 1]   tiles of tile column c (CSC of tiles)
    tile_row      int32 [T]               tile row, ascending within a tile column
    col_words     word  [T, nt]           bit r of col_words[t, c]: is there an entry in row r, column c of the tile?

A symmetric structure keeps one array of each: tile_col_ptr is tile_row_ptr, tile_row is tile_col, col_words is
row_words.

Schema of BitBlockMatrix, with values (blocks of 8 x 8, by block rows)

    block_ptr     int64  [block_rows + 1]  blocks of block row r
    block_col     int32  [B]               block column, ascending within a block row
    block_map     uint64 [B]               bit 8 r + c: is there an entry in row r, column c of the block?
    value_ptr     int64  [B + 1]           values of block b: value_ptr[b] .. value_ptr[b+1]-1, in the order of the bits
    values        dtype  [nvals]           one each, or [1] when iso

Papers: TileSpMSpV 3.2.3 (papers/tilespmspv_tilebfs_icpp22.txt); Spaden 4.2 (bit blocks).
"""
import numpy as np

from ..dtypes import BOOL
from .convert import compressed, forms_of, row_ids, settle, transpose_of
from .sorting import segment_starts, stable_order
from .tiled import pointers, tile_order

_WORDS = {32: np.uint32, 64: np.uint64}
BLOCK = 8


class BitTiledMatrix:
    """See the schema at the head of this file."""

    __slots__ = (
        "nrows", "ncols", "nt", "nvals", "tile_row_ptr", "tile_col", "row_words", "tile_col_ptr", "tile_row",
        "col_words", "shared", "forms",
    )  # fmt: skip
    format = "bittiled"
    iso = True
    dtype = BOOL

    def __init__(self, nrows, ncols, nt, nvals, by_rows, by_cols):
        self.nrows, self.ncols, self.nt, self.nvals = nrows, ncols, nt, nvals
        self.tile_row_ptr, self.tile_col, self.row_words = by_rows
        self.tile_col_ptr, self.tile_row, self.col_words = by_cols
        self.shared, self.forms = True, None

    @property
    def shape(self):
        return (self.nrows, self.ncols)

    @property
    def ntiles(self):
        return self.tile_col.shape[0]

    @property
    def symmetric(self):
        """Does one array serve rows and columns?"""
        return self.col_words is self.row_words

    @property
    def nbytes(self):
        one = self.tile_row_ptr.nbytes + self.tile_col.nbytes + self.row_words.nbytes
        return one if self.symmetric else one + self.tile_col_ptr.nbytes + self.tile_row.nbytes + self.col_words.nbytes

    def to_compressed(self):
        """The structure as an iso BOOL matrix, CSR or DCSR."""
        at = np.unpackbits(self.row_words.reshape(-1).view(np.uint8), bitorder="little").view(np.bool_).nonzero()[0]
        nt = self.nt
        tile, local = at // (nt * nt), at % (nt * nt)
        tile_rows = np.arange(self.tile_row_ptr.shape[0] - 1).repeat(np.diff(self.tile_row_ptr))
        rows = tile_rows[tile] * nt + local // nt
        cols = self.tile_col[tile].astype(np.int64) * nt + local % nt
        order = stable_order(rows, max(self.nrows, 1))       # tiles ascend by column: a stable order by row is enough
        values = np.ones(1 if at.shape[0] else 0, np.bool_)
        matrix = compressed(self.nrows, self.ncols, BOOL, rows[order], cols[order], values, at.shape[0] > 0)
        return settle(matrix)


def _bit_tiles(A, nt):
    """(tile pointers, tile column, words) of A by rows of tiles."""
    tile_rows = -(-A.nrows // nt)
    order, tile_row, tile_col, starts = tile_order(A, nt)
    counts = np.diff(np.append(starts, order.shape[0]))
    word = _WORDS[nt]
    words = np.zeros(counts.shape[0] * nt, word)
    if order.shape[0]:
        place = np.arange(counts.shape[0]).repeat(counts) * nt + (row_ids(A)[order] & (nt - 1))
        bits = np.left_shift(word(1), (A.indices[order] & (nt - 1)).astype(word))
        first = segment_starts(place)
        words[place[first]] = np.bitwise_or.reduceat(bits, first)
    return pointers(tile_row, tile_rows), tile_col.astype(np.int32), words.reshape(-1, nt)


def bit_tiles_from(A, nt=64, symmetric=None):
    """The BitTiledMatrix of a Compressed's structure.

    symmetric: True when the caller knows the structure to be so (not checked), False to keep both arrays, None to find
    out.
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
    """The BitTiledMatrix of A, kept in A.forms["bittiled64"] or ["bittiled32"]."""
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
        order = stable_order(rows, max(self.nrows, 1))       # blocks ascend by column, bits by (row, column)
        values = self.values if self.iso else self.values[order]
        return settle(compressed(self.nrows, self.ncols, self.dtype, rows[order], cols[order], values, self.iso))


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
        A.nrows, A.ncols, A.dtype, block_ptr, block_col.astype(np.int32), block_map, value_ptr, values, A.iso)


def bit_blocks_of(A):
    """The BitBlockMatrix of A, kept in A.forms["bitblock"]."""
    forms = forms_of(A)
    form = forms.get("bitblock")
    if form is None:
        form = forms["bitblock"] = bit_blocks_from(A)
    return form
