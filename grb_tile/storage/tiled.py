"""TiledMatrix: the non-empty 16 x 16 tiles of a matrix, packed; TiledVector: a sparse vector as packed tiles.

Schema of TiledMatrix (T = tiles stored, E = entries in them; tile row = row // 16, tile column = column // 16)

    tile_ptr    int64  [tile_rows + 1]   tiles of tile row r: tile_ptr[r] .. tile_ptr[r+1]-1
    tile_col    int32  [T]               tile column, ascending within a tile row
    tile_nnz    int64  [T + 1]           entries of tile t: tile_nnz[t] .. tile_nnz[t+1]-1, by rows, then columns
    row_start   uint8  [T, 16]           start of row r of the tile, relative to tile_nnz[t] (at most 240; the end of
                                         row 15 follows from tile_nnz, so that 256 need not fit)
    nibbles     uint8  [E]               row in the tile * 16 + column in the tile
    row_mask    uint16 [T, 16]           bit c of row_mask[t, r]: is there an entry in row r, column c of the tile?
    values      dtype  [E]               one each, or [1] when iso
    rest_rows, rest_cols   int64 [R]     entries of tiles with fewer than `min_entries`, in order by rows (COO)
    rest_values dtype  [R]               one each, or empty when iso

Schema of TiledVector (size = its length, nt = 16, 32 or 64)

    x_ptr       int32  [ceil(size/nt)]   index of the tile among those stored, or -1 for an empty tile
    x_tile      dtype  [kept * nt]       value of position i: x_tile[x_ptr[i // nt] * nt + i % nt] (absent: 0)
    x_mask      uint16/32/64 [kept]      bit b: is position b of the tile present?

Paper: TileSpMSpV, papers/tilespmspv_tilebfs_icpp22.txt, 3.2.1 and 3.2.2 (where absent means zero; semirings need
x_mask).
"""

import numpy as np

from ..exceptions import OutOfMemory
from .bits import to_indices
from .convert import MAX_BITMAP, choose_format, compressed, forms_of, row_ids
from .sorting import segment_starts, stable_order
from .store import BitmapVector, SparseVector, index_dtype

NT = 16
MIN_ENTRIES = 4  # tiles with fewer entries take more bytes than their entries in COO
FREE_TILE_ROWS = 2**16  # tile rows that any matrix may have; more need an entry each
_MASK_TYPES = {16: np.uint16, 32: np.uint32, 64: np.uint64}


def can_tile(A):
    """Has A enough entries for its dimensions, so that arrays with an element for each tile row pay?"""
    return max(A.nrows, A.ncols) >> 3 <= FREE_TILE_ROWS + A.indices.shape[0]


def tile_order(A, nt):
    """(order, tile row, tile column, starts): the permutation of the entries to tiles, and where each tile starts."""
    shift = nt.bit_length() - 1
    tile_rows, tile_cols = -(-A.nrows // nt), -(-A.ncols // nt)
    if not can_tile(A):
        raise OutOfMemory(
            f"{A.nrows} x {A.ncols} with {A.nvals} entries is too large to be tiled; keep the matrix DCSR"
        )
    rows, cols = row_ids(A) >> shift, A.indices >> shift
    keys = rows * tile_cols + cols
    order = stable_order(keys, max(tile_rows * tile_cols, 1))
    keys = keys[order]
    starts = segment_starts(keys)
    first = order[starts]
    return order, rows[first], cols[first], starts


def pointers(tile_row, tile_rows):
    """CSR pointers of tiles whose tile rows are given in ascending order."""
    ptr = np.zeros(tile_rows + 1, np.int64)
    np.bincount(tile_row, minlength=tile_rows).cumsum(out=ptr[1:])
    return ptr


class TiledMatrix:
    """See the schema at the head of this file."""

    __slots__ = (
        "nrows", "ncols", "dtype", "tile_ptr", "tile_col", "tile_nnz", "row_start", "nibbles", "row_mask", "values",
        "iso", "rest_rows", "rest_cols", "rest_values", "shared", "forms",
    )  # fmt: skip
    format = "tiled"
    nt = NT

    def __init__(self, nrows, ncols, dtype, tile_ptr, tile_col, tile_nnz, row_start, nibbles, row_mask, values, iso,
                 rest_rows, rest_cols, rest_values):  # fmt: skip
        self.nrows, self.ncols, self.dtype = nrows, ncols, dtype
        self.tile_ptr, self.tile_col, self.tile_nnz = tile_ptr, tile_col, tile_nnz
        self.row_start, self.nibbles, self.row_mask = row_start, nibbles, row_mask
        self.values, self.iso = values, iso
        self.rest_rows, self.rest_cols, self.rest_values = rest_rows, rest_cols, rest_values
        self.shared, self.forms = True, None

    @property
    def shape(self):
        return (self.nrows, self.ncols)

    @property
    def nvals(self):
        return self.nibbles.shape[0] + self.rest_rows.shape[0]

    @property
    def ntiles(self):
        return self.tile_col.shape[0]

    @property
    def nbytes(self):
        arrays = (self.tile_ptr, self.tile_col, self.tile_nnz, self.row_start, self.nibbles, self.row_mask, self.values,
                  self.rest_rows, self.rest_cols, self.rest_values)  # fmt: skip
        return sum(array.nbytes for array in arrays)

    def tile_rows_of(self):
        """The tile row of each tile."""
        return np.arange(self.tile_ptr.shape[0] - 1).repeat(np.diff(self.tile_ptr))

    def positions(self):
        """(rows, columns) of the entries in tiles, in the order of `nibbles` (int64)."""
        counts = np.diff(self.tile_nnz)
        rows = (self.tile_rows_of() << 4).repeat(counts) + (self.nibbles >> 4)
        cols = (self.tile_col.astype(np.int64) << 4).repeat(counts) + (self.nibbles & 15)
        return rows, cols

    def to_compressed(self):
        """The same entries as CSR or DCSR."""
        rows, cols = self.positions()
        rows = np.concatenate((rows, self.rest_rows))
        cols = np.concatenate((cols, self.rest_cols))
        # Entries are ordered by tiles: sort by column, then stably by row.
        order = stable_order(cols, max(self.ncols, 1))
        order = order[stable_order(rows[order], max(self.nrows, 1))]
        values = self.values if self.iso else np.concatenate((self.values, self.rest_values))[order]
        return choose_format(compressed(self.nrows, self.ncols, self.dtype, rows[order], cols[order], values, self.iso))


def tiled_from(A, min_entries=MIN_ENTRIES):
    """The TiledMatrix of a Compressed; tiles with fewer than `min_entries` entries go to the remainder (COO).

    Cost: one radix sort by tile, a few passes over the entries.
    """
    tile_rows = -(-A.nrows // NT)
    order, tile_row, tile_col, starts = tile_order(A, NT)
    counts = np.diff(np.append(starts, order.shape[0]))
    kept = counts >= min_entries
    of_kept = kept.repeat(counts)
    tiles, rest = order[of_kept], np.sort(order[~of_kept])
    counts = counts[kept]
    tile_row, tile_col = tile_row[kept], tile_col[kept]
    ids, cols = row_ids(A), A.indices
    local_row, local_col = (ids[tiles] & 15).astype(np.uint8), (cols[tiles] & 15).astype(np.uint8)
    tile_nnz = np.zeros(counts.shape[0] + 1, np.int64)
    counts.cumsum(out=tile_nnz[1:])
    line = np.arange(counts.shape[0]).repeat(counts) * NT + local_row  # (tile, row) of each entry
    per_row = np.bincount(line, minlength=counts.shape[0] * NT).reshape(-1, NT)
    row_start = np.zeros((counts.shape[0], NT), np.uint8)
    row_start[:, 1:] = per_row.cumsum(axis=1)[:, :-1]
    row_mask = np.zeros(counts.shape[0] * NT, np.uint16)
    if line.shape[0]:
        first = segment_starts(line)
        row_mask[line[first]] = np.bitwise_or.reduceat(np.left_shift(np.uint16(1), local_col.astype(np.uint16)), first)
    values = A.values if A.iso else A.values[tiles]
    rest_values = A.values[:0] if A.iso else A.values[rest]
    return TiledMatrix(
        A.nrows, A.ncols, A.dtype, pointers(tile_row, tile_rows), tile_col.astype(np.int32), tile_nnz, row_start,
        (local_row << 4) | local_col, row_mask.reshape(-1, NT), values, A.iso, ids[rest], cols[rest].astype(np.int64),
        rest_values,
    )  # fmt: skip


def tiled_of(A):
    """The TiledMatrix of A, kept in A.forms["tiled"]."""
    forms = forms_of(A)
    form = forms.get("tiled")
    if form is None:
        form = forms["tiled"] = tiled_from(A)
    return form


class TiledVector:
    """See the schema at the head of this file."""

    __slots__ = ("size", "dtype", "nt", "x_ptr", "x_tile", "x_mask", "nvals", "shared", "forms")
    format = "tiledvector"
    iso = False

    def __init__(self, size, dtype, nt, x_ptr, x_tile, x_mask, nvals):
        self.size, self.dtype, self.nt = size, dtype, nt
        self.x_ptr, self.x_tile, self.x_mask, self.nvals = x_ptr, x_tile, x_mask, nvals
        self.shared, self.forms = True, None

    @property
    def shape(self):
        return (self.size,)

    @property
    def nbytes(self):
        return self.x_ptr.nbytes + self.x_tile.nbytes + self.x_mask.nbytes

    def lookup(self, indices):
        """(present, values) at the given positions; values at absent ones are 0."""
        shift = self.nt.bit_length() - 1
        if self.x_mask.shape[0] == 0:
            return np.zeros(indices.shape[0], np.bool_), np.zeros(indices.shape[0], self.x_tile.dtype)
        tile, local = self.x_ptr[indices >> shift], indices & (self.nt - 1)
        mask_type = self.x_mask.dtype.type
        present = ((self.x_mask[tile] >> local.astype(self.x_mask.dtype)) & mask_type(1)).astype(np.bool_) & (tile >= 0)
        return present, self.x_tile[tile.astype(np.int64) * self.nt + local]

    def to_vector(self):
        """The same entries as a sparse or bitmap vector."""
        kept = (self.x_ptr >= 0).nonzero()[0]
        octets = self.x_mask.view(np.uint8)
        at = np.unpackbits(octets, bitorder="little").view(np.bool_).nonzero()[0]
        indices = kept[at // self.nt] * self.nt + at % self.nt
        return choose_format(
            SparseVector(self.size, self.dtype, indices.astype(index_dtype(self.size)), self.x_tile[at])
        )


def tiled_vector_from(u, nt=NT):
    """The TiledVector of a sparse or bitmap vector."""
    shift = nt.bit_length() - 1
    tiles = -(-u.size // nt)
    if u.size > MAX_BITMAP:
        raise OutOfMemory(f"size {u.size} has too many tiles of {nt}; keep the vector sparse")
    if isinstance(u, BitmapVector):
        indices = np.arange(u.size) if u.words is None else to_indices(u.words, u.size)
        values = u.values[:1] if u.iso else u.values[indices]
    else:
        indices, values = u.indices, u.values[:1] if u.iso else u.values
    tile = indices >> shift
    local = indices & (nt - 1)
    x_ptr = np.full(tiles, -1, np.int32)
    mask_type = _MASK_TYPES[nt]
    if indices.shape[0] == 0:
        return TiledVector(u.size, u.dtype, nt, x_ptr, np.empty(0, u.dtype.np_type), np.empty(0, mask_type), 0)
    starts = segment_starts(tile)
    kept = tile[starts]
    x_ptr[kept] = np.arange(kept.shape[0], dtype=np.int32)
    x_tile = np.zeros(kept.shape[0] * nt, u.dtype.np_type)
    x_tile[x_ptr[tile].astype(np.int64) * nt + local] = values
    x_mask = np.bitwise_or.reduceat(np.left_shift(mask_type(1), local.astype(mask_type)), starts)
    return TiledVector(u.size, u.dtype, nt, x_ptr, x_tile, x_mask, indices.shape[0])
