"""TileSpMSpV and TileBFS in NumPy: products and BFS over the tiled forms, for forced plans.

Paper: tilespmspv_tilebfs_icpp22, 3.3 and 3.4.

tiled      tiles whose tile of x is empty are skipped (Algorithm 4); the others are multiplied
bitblock   the set bits of the blocks' maps are the entries
bittiled   words of a tile's rows AND words of x; structure only, for multiplies that read no values

The methods of bittiled can be forced by name (TileBFS, 3.4, Algorithms 5 to 7); they give the same result:
    push_csr   tiles of A by rows whose word of x is not zero
    push_csc   the union of the column words at the bits of x
    pull_csc   tiles of the tile rows with a position that the mask admits
"""

from time import perf_counter

import numpy as np

from ....dtypes import INT32, cast
from ....planner import forced, forced_tile_size, tuning
from ....storage import bits
from ....storage.bit_tiles import BitTiledMatrix, bit_blocks_of, bit_tiles_of
from ....storage.convert import choose_format, words_of
from ....storage.sorting import ranges
from ....storage.store import BitmapVector
from ....storage.tiled import NT, can_tile, tiled_of, tiled_vector_from
from ...outcome import LoopOutcome
from .elementwise import restrict
from .entries import empty_vector, is_idempotent, members, reduce_by_key, vector_of

BIT_FORMATS = frozenset(("bittiled", "push_csr", "push_csc", "pull_csc"))
FORMATS = BIT_FORMATS | {"tiled", "bitblock"}


def matvec(A, x, semiring, mask, format):
    """As matvec_rows (backends/protocol.py), over A's form `format`; NotImplemented if it does not apply.

    The size of its tiles is that which is forced, else 16 with values and 64 without.
    """
    if A.indices.shape[0] == 0 or x.nvals == 0:
        return empty_vector(A.nrows, semiring.return_type)
    if not can_tile(A):
        return NotImplemented
    if format == "tiled":
        return matvec_tiled(tiled_of(A, forced_tile_size(NT)), x, semiring, mask)
    if format == "bitblock":
        return matvec_bit_blocks(bit_blocks_of(A), x, semiring, mask)
    if not can_use_bits(A, x, semiring):
        return NotImplemented
    return matvec_bit_tiles(bit_tiles_of(A, forced_tile_size(64)), A, x, semiring, mask, format)


def can_use_bits(A, x, semiring):
    """Is the product determined by the structure: an iso multiply, and an idempotent monoid or plus?"""
    op, monoid = semiring.binaryop, semiring.monoid
    if op.positional is not None or not (is_idempotent(monoid) or monoid.ufunc is np.add):
        return False
    return op.kind == "pair" or (A.iso and x.iso)


def matvec_tiled(T, x, semiring, mask):
    tx = tiled_vector_from(x, T.nt)
    live = (tx.x_ptr[T.tile_col] >= 0).nonzero()[0]
    at = ranges(T.tile_nnz[live], np.diff(T.tile_nnz)[live])
    a = T.values[:1] if T.iso else np.concatenate((T.values[at], T.rest_values))
    rows, cols = (np.concatenate(both) for both in zip(T.positions(live), T.rest_positions(), strict=True))
    return _entries_against(T, a, rows, cols, tx, semiring, mask)


def matvec_bit_blocks(B, x, semiring, mask):
    rows, cols = B.positions()
    values = B.values[:1] if B.iso else B.values
    return _entries_against(B, values, rows, cols, tiled_vector_from(x, 64), semiring, mask)


def _entries_against(A, a, rows, cols, tx, semiring, mask):
    """Reduce a[p] (x) x[cols[p]] by rows[p]; the entries are in any order."""
    present, b = tx.lookup(cols)
    if mask is not None:
        hit = members(mask.pattern, rows)
        present &= ~hit if mask.complement else hit
    kept = present.nonzero()[0]
    if kept.shape[0] == 0:
        return empty_vector(A.nrows, semiring.return_type)
    rows, cols, b = rows[kept], cols[kept], b[kept]
    if a.shape[0] != 1 or not A.iso:
        a = a[kept]
    op = semiring.binaryop
    if op.positional is not None:
        base = op.positional.rstrip("1")
        position = rows if base == "firsti" else np.zeros_like(cols) if base == "secondj" else cols
        products = cast(position + (op.positional[-1] == "1"), op.return_type)
    elif op.kind == "pair":
        products = np.ones(1, op.return_type.np_type)
    else:
        products = op.numpy(cast(a, op.type), cast(b, op.type2))
    found, values, iso = reduce_by_key(rows, products, A.nrows, semiring.monoid)
    return vector_of(A.nrows, semiring.return_type, found, values, iso)


def matvec_bit_tiles(T, A, x, semiring, mask, direction):
    """Structure only: is any k (or how many) in row i of A and in x, by AND of words of T.nt positions."""
    words = words_of(x)
    words = bits.full(x.size) if words is None else words
    x_words = words.view(T.row_words.dtype)
    monoid, op, dtype = semiring.monoid, semiring.binaryop, semiring.return_type
    one = np.ones(1, op.return_type.np_type)
    if op.kind != "pair":  # both operands iso: every product is this one
        one = op.numpy(cast(A.values[:1], op.type), cast(x.values[:1], op.type2))
    if direction == "push_csc" and is_idempotent(monoid):
        rows = bits.to_indices(_united_columns(T, words), T.nrows)
        counts = None
    else:
        wanted = None
        if direction == "pull_csc" and mask is not None:
            wanted = words_of(mask.pattern)
            wanted = bits.full(T.nrows) if wanted is None else wanted
            wanted = bits.complement(wanted, T.nrows) if mask.complement else wanted
        counts = _row_counts(T, x_words, wanted, direction == "push_csr")
        rows = counts.nonzero()[0]
    if rows.shape[0] == 0:
        return empty_vector(T.nrows, dtype)
    if is_idempotent(monoid):
        w = vector_of(T.nrows, dtype, rows, cast(one, dtype), True)
    else:
        with np.errstate(all="ignore"):
            w = vector_of(T.nrows, dtype, rows, cast(counts[rows], dtype) * cast(one, dtype))
    return w if mask is None else restrict(w, mask)


def bfs(A, sources, parents, max_level, target):
    """(levels, None, LoopOutcome) of a BFS whose levels are y = (A' x) & ~m over bit tiles, where the plan forces them.

    NotImplemented otherwise, and for parents, which bits do not record.
    """
    format, n = forced().format, A.nrows
    if format not in BIT_FORMATS or parents or not can_tile(A):
        return NotImplemented
    start = perf_counter()
    tiles = bit_tiles_of(A, forced_tile_size(64))
    T = BitTiledMatrix(n, n, tiles.nt, tiles.nvals, tiles.by_cols, tiles.by_rows)  # of A'
    level, frontier, left, depth, rows = np.full(n, -1, np.int32), sources, n - sources.size, 0, []
    level[sources] = 0
    while frontier.size and (max_level is None or depth < max_level) and (target is None or level[target] < 0):
        begin = perf_counter()
        direction = format if format != "bittiled" else choose_direction(frontier.size, left, n)
        words = bits.from_indices(frontier, n)
        if direction == "push_csc":
            found = bits.to_indices(_united_columns(T, words), n)
        else:
            wanted = bits.from_bool(level < 0) if direction == "pull_csc" else None
            found = _row_counts(T, words.view(T.row_words.dtype), wanted, direction == "push_csr").nonzero()[0]
        fresh = found[level[found] < 0]
        depth += 1
        level[fresh] = depth
        ms = (perf_counter() - begin) * 1e3
        rows.append({"level": depth - 1, "frontier": frontier.size, "direction": direction, "edges": None, "ms": ms})
        frontier, left = fresh, left - fresh.size
    words = None if left == 0 else bits.from_bool(level >= 0)
    store = choose_format(BitmapVector(n, INT32, words, level, n - left))
    method = "by level" if format == "bittiled" else format
    outcome = LoopOutcome("numpy", method, lambda: rows, "bittiled", n - left, perf_counter() - start)
    return store, None, outcome


def choose_direction(frontier, unvisited, n):
    """Push-CSC for a sparse frontier, Push-CSR for a dense one, Pull-CSC when few vertices are left (3.4)."""
    if unvisited * tuning.TILES_PULL_CSC < n:
        return "pull_csc"
    return "push_csc" if frontier < tuning.TILES_SPARSE_X * n else "push_csr"


def _row_counts(T, x_words, wanted, skip):
    """For each row of A, how many of its columns are in x; tiles outside `wanted`, or where x is zero, are skipped."""
    tile_rows = np.arange(T.tile_row_ptr.shape[0] - 1).repeat(np.diff(T.tile_row_ptr))
    word, (tile, line) = T.row_words, T.by_rows.positions()
    chosen = None
    if wanted is not None:
        chosen = wanted.view(word.dtype)[tile_rows[tile]].nonzero()[0]
    elif skip:
        chosen = x_words[T.tile_col[tile]].nonzero()[0]
    if chosen is not None:
        tile, line, word = tile[chosen], line[chosen], word[chosen]
    met = np.bitwise_count(word & x_words[T.tile_col[tile]]).astype(np.int64)
    counts = np.zeros((T.tile_row_ptr.shape[0] - 1) * T.nt, np.int64)
    np.add.at(counts, tile_rows[tile] * T.nt + line, met)
    return counts[: T.nrows]


def _united_columns(T, words):
    """Words of the union of the columns of A that are in x."""
    columns = bits.to_indices(words, T.ncols)
    tile_cols = columns // T.nt
    lengths = T.tile_col_ptr[tile_cols + 1] - T.tile_col_ptr[tile_cols]
    tiles = ranges(T.tile_col_ptr[tile_cols], lengths)
    word = T.col_words.dtype.type
    bit = np.left_shift(word(1), (columns % T.nt).astype(word)).repeat(lengths)
    used = (T.col_map[tiles] & bit).nonzero()[0]
    tiles, bit = tiles[used], bit[used]
    found = T.col_words[T.col_start[tiles] + np.bitwise_count(T.col_map[tiles] & (bit - word(1)))]
    united = np.zeros(bits.word_count(T.nrows), np.uint64)
    np.bitwise_or.at(united.view(word), T.tile_row[tiles], found)
    return united
