"""TiledMatrix: the non-empty nt x nt tiles of a matrix, packed; TiledVector: a sparse vector as packed tiles.

Schema of TiledMatrix (nt = 16, 32 or 64; T = tiles stored, E = entries in them; tile row = row // nt)

    tile_ptr    int64  [tile_rows + 1]   tiles of tile row r: tile_ptr[r] .. tile_ptr[r+1]-1 (CSR of tiles)
    tile_col    int32  [T]               tile column, ascending within a tile row
    tile_nnz    int64  [T + 1]           entries of tile t: tile_nnz[t] .. tile_nnz[t+1]-1, by rows, then columns
    row_start   uint8 or uint16 [T, nt]  start of row r of the tile, relative to tile_nnz[t] (the end of the last row
                                         follows from tile_nnz, so that 16 x 16 tiles need a byte: 240 at most)
    local_col   uint8  [E]               column in the tile
    values      dtype  [E]               one each, or [1] when iso
    rest_ptr    int64  [tile_rows + 1]   entries of tile row r whose tile has fewer than `least_entries(nt)`:
                                         rest_ptr[r] .. rest_ptr[r+1]-1, by rows, then columns (COO)
    rest_row    uint8  [R]               row in the tile row
    rest_col    index  [R]               column in the matrix (int32; int64 from 2^31 columns on)
    rest_values dtype  [R]               one each, or empty when iso

Schema of TiledVector (size = its length, nt = 16, 32 or 64)

    x_ptr       int32  [ceil(size/nt)]   index of the tile among those stored, or -1 for an empty tile
    x_tile      dtype  [kept * nt]       value of position i: x_tile[x_ptr[i // nt] * nt + i % nt] (absent: 0);
                                         [1] when iso
    x_mask      uint16/32/64 [kept]      bit b: is position b of the tile present?

Paper: TileSpMSpV, tilespmspv_tilebfs_icpp22, 3.2.1 and 3.2.2 (where absent means zero; semirings need
x_mask).  There a byte of a 16 x 16 tile has row and column; rows follow from row_start, so that a byte serves all nt.
"""

import numpy as np

from ..exceptions import OutOfMemory
from .bits import to_indices
from .convert import MAX_BITMAP, choose_format, compressed, forms_of, row_ids
from .sorting import ranges, segment_starts, stable_order
from .store import BitmapVector, SparseVector, index_dtype

NT = 16
WORDS = {16: np.uint16, 32: np.uint32, 64: np.uint64}
FREE_TILE_ROWS = 2**16  # tile rows that any matrix may have; more need an entry each


def start_type_of(nt):
    """The type of row_start: starts are at most nt * (nt - 1)."""
    return np.uint8 if nt == 16 else np.uint16


def least_entries(nt):
    """Entries from which a tile takes no more bytes than its entries in the remainder: 7, 19 and 35.

    A tile's column, count and row starts, against a column of 4 bytes for each entry.
    """
    return -(-(4 + 8 + nt * np.dtype(start_type_of(nt)).itemsize) // 4)


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
        "nrows", "ncols", "dtype", "nt", "tile_ptr", "tile_col", "tile_nnz", "row_start", "local_col", "values", "iso",
        "rest_ptr", "rest_row", "rest_col", "rest_values", "shared", "forms",
    )  # fmt: skip
    format = "tiled"

    def __init__(self, nrows, ncols, dtype, nt, tile_ptr, tile_col, tile_nnz, row_start, local_col, values, iso,
                 rest_ptr, rest_row, rest_col, rest_values):  # fmt: skip
        self.nrows, self.ncols, self.dtype, self.nt = nrows, ncols, dtype, nt
        self.tile_ptr, self.tile_col, self.tile_nnz = tile_ptr, tile_col, tile_nnz
        self.row_start, self.local_col = row_start, local_col
        self.values, self.iso = values, iso
        self.rest_ptr, self.rest_row, self.rest_col, self.rest_values = rest_ptr, rest_row, rest_col, rest_values
        self.shared, self.forms = True, None

    @property
    def shape(self):
        return (self.nrows, self.ncols)

    @property
    def nvals(self):
        return self.local_col.shape[0] + self.rest_row.shape[0]

    @property
    def ntiles(self):
        return self.tile_col.shape[0]

    @property
    def nbytes(self):
        arrays = (self.tile_ptr, self.tile_col, self.tile_nnz, self.row_start, self.local_col, self.values,
                  self.rest_ptr, self.rest_row, self.rest_col, self.rest_values)  # fmt: skip
        return sum(array.nbytes for array in arrays)

    def positions(self, tiles):
        """(rows, columns) of the entries of the tiles with these numbers, in the order of `local_col` (int64)."""
        counts = np.diff(self.tile_nnz)[tiles]
        lengths = np.diff(self.row_start[tiles].astype(np.int64), axis=1, append=counts[:, None])
        line = np.arange(tiles.shape[0] * self.nt).repeat(lengths.ravel())
        tile_row = np.searchsorted(self.tile_ptr, tiles, side="right") - 1
        rows = (tile_row * self.nt).repeat(counts) + line % self.nt
        cols = (self.tile_col[tiles].astype(np.int64) * self.nt).repeat(counts)
        return rows, cols + self.local_col[ranges(self.tile_nnz[tiles], counts)]

    def rest_positions(self):
        """(rows, columns) of the remainder (int64)."""
        tile_row = np.arange(self.rest_ptr.shape[0] - 1).repeat(np.diff(self.rest_ptr))
        return tile_row * self.nt + self.rest_row, self.rest_col.astype(np.int64)

    def to_compressed(self):
        """The same entries as CSR or DCSR."""
        parts = self.positions(np.arange(self.ntiles)), self.rest_positions()
        rows, cols = (np.concatenate(both) for both in zip(*parts, strict=True))
        # Entries are ordered by tiles: sort by column, then stably by row.
        order = stable_order(cols, max(self.ncols, 1))
        order = order[stable_order(rows[order], max(self.nrows, 1))]
        values = self.values if self.iso else np.concatenate((self.values, self.rest_values))[order]
        return choose_format(compressed(self.nrows, self.ncols, self.dtype, rows[order], cols[order], values, self.iso))


def tiled_from(A, nt=NT, least=None):
    """The TiledMatrix of a Compressed; tiles of fewer than `least` entries (None: least_entries(nt)) are remainder.

    Raises: OutOfMemory where the matrix has far more rows or columns than entries.
    """
    least = least_entries(nt) if least is None else least
    tile_rows = -(-A.nrows // nt)
    order, tile_row, tile_col, starts = tile_order(A, nt)
    counts = np.diff(np.append(starts, order.shape[0]))
    kept = counts >= least
    of_kept = kept.repeat(counts)
    tiles, rest = order[of_kept], np.sort(order[~of_kept])
    counts = counts[kept]
    tile_row, tile_col = tile_row[kept], tile_col[kept]
    ids, cols = row_ids(A), A.indices
    tile_nnz = np.zeros(counts.shape[0] + 1, np.int64)
    counts.cumsum(out=tile_nnz[1:])
    line = np.arange(counts.shape[0]).repeat(counts) * nt + (ids[tiles] & (nt - 1))  # (tile, row) of each entry
    per_row = np.bincount(line, minlength=counts.shape[0] * nt).reshape(-1, nt)
    row_start = np.zeros((counts.shape[0], nt), start_type_of(nt))
    row_start[:, 1:] = per_row.cumsum(axis=1)[:, :-1]
    values = A.values if A.iso else A.values[tiles]
    rest_values = A.values[:0] if A.iso else A.values[rest]
    rest_rows = ids[rest]
    return TiledMatrix(
        A.nrows, A.ncols, A.dtype, nt, pointers(tile_row, tile_rows), tile_col.astype(np.int32), tile_nnz, row_start,
        (cols[tiles] & (nt - 1)).astype(np.uint8), values, A.iso, pointers(rest_rows // nt, tile_rows),
        (rest_rows & (nt - 1)).astype(np.uint8), cols[rest], rest_values,
    )  # fmt: skip


def tiled_of(A, nt=NT):
    """The TiledMatrix of A, kept in A.forms["tiled16"] and the like."""
    forms, key = forms_of(A), f"tiled{nt}"
    form = forms.get(key)
    if form is None:
        form = forms[key] = tiled_from(A, nt)
    return form


class TiledVector:
    """See the schema at the head of this file."""

    __slots__ = ("size", "dtype", "nt", "x_ptr", "x_tile", "x_mask", "nvals", "iso", "shared", "forms")
    format = "tiledvector"

    def __init__(self, size, dtype, nt, x_ptr, x_tile, x_mask, nvals, iso=False):
        self.size, self.dtype, self.nt = size, dtype, nt
        self.x_ptr, self.x_tile, self.x_mask, self.nvals, self.iso = x_ptr, x_tile, x_mask, nvals, iso
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
        word = self.x_mask.dtype.type
        present = ((self.x_mask[tile] >> local.astype(self.x_mask.dtype)) & word(1)).astype(np.bool_) & (tile >= 0)
        if self.iso:
            return present, np.broadcast_to(self.x_tile, indices.shape)
        return present, self.x_tile[tile.astype(np.int64) * self.nt + local]

    def to_vector(self):
        """The same entries as a sparse or bitmap vector; tiles may be stored in any order."""
        tile_of = np.zeros(self.x_mask.shape[0], np.int64)
        kept = (self.x_ptr >= 0).nonzero()[0]
        tile_of[self.x_ptr[kept]] = kept
        at = np.unpackbits(self.x_mask.view(np.uint8), bitorder="little").view(np.bool_).nonzero()[0]
        indices = tile_of[at // self.nt] * self.nt + at % self.nt
        order = indices.argsort()
        values = self.x_tile if self.iso else self.x_tile[at[order]]
        indices = indices[order].astype(index_dtype(self.size))
        return choose_format(SparseVector(self.size, self.dtype, indices, values, self.iso))


def tiled_vector_from(u, nt=NT):
    """The TiledVector of a sparse or bitmap vector."""
    shift = nt.bit_length() - 1
    tiles = -(-u.size // nt)
    if u.size > MAX_BITMAP:
        raise OutOfMemory(f"size {u.size} has too many tiles of {nt}; keep the vector sparse")
    if isinstance(u, BitmapVector):
        indices = np.arange(u.size) if u.words is None else to_indices(u.words, u.size)
    else:
        indices = u.indices
    values = u.values if u.iso or u.format == "sparse" else u.values[indices]
    tile = indices >> shift
    local = indices & (nt - 1)
    x_ptr = np.full(tiles, -1, np.int32)
    word = WORDS[nt]
    if indices.shape[0] == 0:
        return TiledVector(u.size, u.dtype, nt, x_ptr, np.empty(0, u.dtype.np_type), np.empty(0, word), 0)
    starts = segment_starts(tile)
    kept = tile[starts]
    x_ptr[kept] = np.arange(kept.shape[0], dtype=np.int32)
    x_mask = np.bitwise_or.reduceat(np.left_shift(word(1), local.astype(word)), starts)
    x_tile = values
    if not u.iso:
        x_tile = np.zeros(kept.shape[0] * nt, u.dtype.np_type)
        x_tile[x_ptr[tile].astype(np.int64) * nt + local] = values
    return TiledVector(u.size, u.dtype, nt, x_ptr, x_tile, x_mask, indices.shape[0], u.iso)
