"""w<allow> = A x over tiles with values (TileSpMSpV) through a compiled kernel, for plans that force "tiled".

Template: templates/tiled_rows.py; NumPy's form: vectorised/tiles.py.
"""

import numpy as np

from grb_tile.operators.iso_products import one_result, uses
from grb_tile.planner import forced_tile_size, tuning
from grb_tile.storage.tiled import NT, can_tile, tiled_of, tiled_vector_from

from ..jit import cache as jit
from ..jit.operators import result_value
from .matvec import (
    CHUNKS_PER_THREAD,
    allow_words,
    even_words,
    operand,
    result_vector,
    semiring_kernel,
    structure_kernel,
)

_TRUE = np.ones(1, np.bool_)


def matvec_tiled(A, x, semiring, allow=None):
    """As matvec_rows (backends/protocol.py), over tiles of the forced size or 16; NotImplemented leaves it to NumPy."""
    if A.indices.shape[0] == 0 or x.nvals == 0 or A.rows is not None or not can_tile(A):
        return NotImplemented
    nt = forced_tile_size(NT)
    T = tiled_of(A, nt)
    multiply = semiring.binaryop
    reads_a, reads_x = uses(multiply)
    a_iso, x_iso = A.iso or not reads_a, x.iso or not reads_x
    one = one_result(semiring, a_iso, x_iso)
    flags = {
        "A_ISO": one or a_iso, "X_ISO": one or x_iso, "START": T.row_start.dtype.char, "LEVEL": "B",
        "TILE": np.dtype(f"u{nt // 8}").char,
    }  # fmt: skip
    index = T.rest_col.dtype.char
    if one:
        kernel = structure_kernel("tiled_rows", index, **flags)
    else:
        kernel = semiring_kernel("tiled_rows", semiring, index, **flags)
    functions = kernel and kernel.functions_for(jit.numpy_seconds(A.indices.shape[0], tuning.NUMPY_ENTRY_NS))
    if functions is None:
        return NotImplemented
    tx = tiled_vector_from(x, nt)

    def run():
        size, dtype = A.nrows, semiring.return_type
        value = result_value(semiring, A, x) if one else None
        a_values = rest_values = x_values = _TRUE
        if not one:
            a_values, _ = operand(Values(T.values, A), multiply.type, reads_a)
            rest_values = a_values
            if not a_iso:
                rest_values, _ = operand(Values(T.rest_values, A), multiply.type, reads_a)
            x_values, _ = operand(Values(tx.x_tile, x), multiply.type2, reads_x)
        out_words = np.empty((size + 63) // 64, np.uint64)
        out_values = np.empty(size, dtype.np_type) if value is None else _TRUE
        arrays = (
            T.tile_ptr, T.tile_col, T.tile_nnz, T.row_start.reshape(-1), T.local_col, a_values, T.rest_ptr, T.rest_row,
            T.rest_col, rest_values, tx.x_ptr, tx.x_mask, x_values, size, *allow_words(allow), out_words, out_values,
        )  # fmt: skip
        threads = jit.thread_count()
        if threads == 1 or A.indices.shape[0] < tuning.PARALLEL_MATVEC:
            cuts = [0, out_words.shape[0]]
        else:
            cuts = even_words(A.indptr, size, threads * CHUNKS_PER_THREAD)

        def job(chunk, worker):
            return functions.tiled_rows(*arrays, cuts[chunk], cuts[chunk + 1])

        count = job(0, 0) if len(cuts) == 2 else sum(jit.share_out(job, len(cuts) - 1, threads))
        return result_vector(size, dtype, out_words, out_values if value is None else value, count, value is not None)

    return jit.attempt(kernel, run)


class Values:
    """Values of tiles as an operand: those of a store in another order."""

    def __init__(self, values, store):
        self.values, self.dtype, self.iso = values, store.dtype, store.iso
