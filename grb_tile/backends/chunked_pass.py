"""The pass of operations/one_pass.py on a host: NumPy's functions, one chunk of the vectors after the other.

A chunk's intermediate results stay in the processor's L2 cache, so that memory is read and written once.
"""

import numpy as np

from ..storage import bits
from ..storage.store import BitmapVector

CHUNK = 1 << 14  # positions: 128 KiB of FP64 for each operand, a few of which fit into an L2 cache of 1 MiB


class PlainSums:
    """Sums that are there already."""

    def __init__(self, values):
        self._values = values

    def value(self, k):
        return self._values[k]

    def send(self):
        pass

    def is_ready(self):
        return True


def one_pass(program, dtype, size, scalars, stores):
    """(stores, sums)"""
    np_type = dtype.np_type
    given = [np_type.type(x if isinstance(x, float) else x.value) for x in scalars]
    vectors = [_values(store) for store in stores]
    outputs = [np.empty(size, np_type) for _ in program.outputs]
    totals = [0.0] * len(program.sums)
    with np.errstate(all="ignore"):
        for start in range(0, size, CHUNK):
            part = slice(start, start + CHUNK)
            known = {"x": [v[part] if v.ndim else v for v in vectors], "s": given, "v": []}

            def operand(ref, known=known):
                return np_type.type(ref[1]) if ref[0] == "c" else known[ref[0]][ref[1]]

            for name, refs in program.steps:
                known["v"].append(program.functions[name][0](*map(operand, refs)))
            for output, ref in zip(outputs, program.outputs, strict=True):
                output[part] = operand(ref)
            length = min(CHUNK, size - start)
            for k, ref in enumerate(program.sums):
                x = np.asarray(operand(ref))
                totals[k] += float(x.sum(dtype=np.float64)) if x.ndim else float(x) * length
    made = [BitmapVector(size, dtype, None, values, size) for values in outputs]
    return made, PlainSums(totals)


def _values(store):
    """The values of a vector by position, 0 where it has no entry; of no dimension where all are one."""
    if store.nvals == store.size:
        return store.values[0] if store.iso else store.values
    if store.format == "bitmap":
        there = bits.to_bool(store.words, store.size)
        return np.where(there, store.values[0] if store.iso else store.values, store.dtype.np_type.type(0))
    dense = np.zeros(store.size, store.dtype.np_type)
    dense[store.indices] = store.values[0] if store.iso else store.values
    return dense
