"""w = A (+.x) x over the tiled forms, in NumPy: for forced plans and the law that the format does not matter.

tiled: tiles whose column tile of x is empty are passed over (TileSpMSpV, Algorithm 4), the rest meets x tile by tile.
bittiled: words of a tile's rows meet words of x; only structure takes part, so it serves multiplies that read no values.
bitblock: the set bits of the blocks' maps are the entries.
"""
import numpy as np

from ...dtypes import cast
from ...storage import bits
from ...storage.bit_tiles import bit_blocks_of, bit_tiles_of
from ...storage.convert import words_of
from ...storage.sorting import ranges
from ...storage.tiled import tiled_of, tiled_vector_from
from .numpy_elementwise import restrict
from .numpy_entries import IDEMPOTENT, empty_vector, members, reduce_by_key, vector_of
from .numpy_matvec import matvec_rows


def matvec(A, x, semiring, allow, format):
    """As matvec_rows (backends/protocol.py), over A's form `format`: "tiled", "bittiled" or "bitblock"."""
    if A.indices.shape[0] == 0 or x.nvals == 0:
        return empty_vector(A.nrows, semiring.return_type)
    if format == "bittiled":
        if not can_use_bits(A, x, semiring):
            return matvec_rows(A, x, semiring, allow)
        w = matvec_bit_tiles(bit_tiles_of(A), A, x, semiring)
        return w if allow is None else restrict(w, allow)
    walk = matvec_tiled if format == "tiled" else matvec_bit_blocks
    return walk(tiled_of(A) if format == "tiled" else bit_blocks_of(A), x, semiring, allow)


def can_use_bits(A, x, semiring):
    """Does the product read no values, and the monoid only ask whether (or how often) there is one?"""
    op, name = semiring.binaryop, semiring.monoid.name
    if op.positional is not None or not (name in IDEMPOTENT or name == "plus"):
        return False
    return op.kind == "pair" or (A.iso and x.iso)


def matvec_tiled(T, x, semiring, allow):
    tx = tiled_vector_from(x, T.nt)
    live = (tx.x_ptr[T.tile_col] >= 0).nonzero()[0]
    counts = np.diff(T.tile_nnz)[live]
    at = ranges(T.tile_nnz[live], counts)
    rows = (T.tile_rows_of()[live] << 4).repeat(counts) + (T.nibbles[at] >> 4)
    cols = (T.tile_col[live].astype(np.int64) << 4).repeat(counts) + (T.nibbles[at] & 15)
    a = T.values[:1] if T.iso else np.concatenate((T.values[at], T.rest_values))
    rows = np.concatenate((rows, T.rest_rows))
    cols = np.concatenate((cols, T.rest_cols))
    return _entries_against(T, a, rows, cols, tx, semiring, allow)


def matvec_bit_blocks(B, x, semiring, allow):
    rows, cols = B.positions()
    return _entries_against(B, B.values[:1] if B.iso else B.values, rows, cols, tiled_vector_from(x, 64), semiring, allow)


def _entries_against(A, a, rows, cols, tx, semiring, allow):
    """Reduce a[p] (x) x[cols[p]] by rows[p], entries in any order."""
    present, b = tx.lookup(cols)
    if allow is not None:
        hit = members(allow.pattern, rows)
        present &= ~hit if allow.complement else hit
    kept = present.nonzero()[0]
    if kept.shape[0] == 0:
        return empty_vector(A.nrows, semiring.return_type)
    rows, cols, b = rows[kept], cols[kept], b[kept]
    if a.shape[0] != 1 or not A.iso:
        a = a[kept]
    op = semiring.binaryop
    if op.positional is not None:
        place = {"firsti": rows, "firstj": cols, "secondi": cols, "secondj": np.zeros_like(cols)}[op.positional.rstrip("1")]
        products = cast(place + (op.positional[-1] == "1"), op.return_type)
    elif op.kind == "pair":
        products = np.ones(1, op.return_type.np_type)
    else:
        products = op.numpy(cast(a, op.type), cast(b, op.type2))
    found, values, iso = reduce_by_key(rows, products, A.nrows, semiring.monoid)
    return vector_of(A.nrows, semiring.return_type, found, values, iso)


def matvec_bit_tiles(T, A, x, semiring):
    """Structure only: how many k (or whether any) are in row i of A and in x, a word of nt positions at a time."""
    words = words_of(x)
    words = bits.full(x.size) if words is None else words
    if T.nt == 32:
        words = words.view(np.uint32)
    met = T.row_words & words[T.tile_col][:, None]
    tile_rows = np.arange(T.tile_row_ptr.shape[0] - 1).repeat(np.diff(T.tile_row_ptr))
    padded = (T.tile_row_ptr.shape[0] - 1) * T.nt
    counts = np.zeros((padded // T.nt, T.nt), np.int64)
    np.add.at(counts, tile_rows, np.bitwise_count(met).astype(np.int64))
    counts = counts.reshape(-1)[: T.nrows]
    rows = counts.nonzero()[0]
    if rows.shape[0] == 0:
        return empty_vector(T.nrows, semiring.return_type)
    monoid, op = semiring.monoid, semiring.binaryop
    one = np.ones(1, op.return_type.np_type)
    if op.kind != "pair":                      # both operands iso: every product is this one
        one = op.numpy(cast(A.values[:1], op.type), cast(x.values[:1], op.type2))
    if monoid.name in IDEMPOTENT:
        return vector_of(T.nrows, semiring.return_type, rows, cast(one, semiring.return_type), True)
    return vector_of(T.nrows, semiring.return_type, rows,
                     counts[rows].astype(semiring.return_type.np_type) * one[0])

