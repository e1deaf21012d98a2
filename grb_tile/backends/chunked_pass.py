"""The pass of operations/one_pass.py on a host: NumPy's functions, one chunk of the vectors after the other.

A chunk's intermediate results stay in the processor's L2 cache, so that memory is read and written once.
"""

import numpy as np

from ..operators.primitives import PRIMITIVES
from ..storage import bits
from ..storage.store import BitmapVector

CHUNK = 1 << 13  # positions, a multiple of 64: 64 KiB of FP64 an operand, ten of which fit into an L2 cache of 1 MiB


class PlainSums:
    """Sums that are known when the pass returns."""

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
    operands = [_values(store) for store in stores]
    operands += [np_type.type(x if isinstance(x, float) else x.value) for x in scalars]
    outputs = [np.empty(size, np_type) for _ in program.outputs]
    results = dict(zip(program.outputs, outputs, strict=True))
    totals = [-np.inf if monoid == "max" else 0.0 for monoid in program.monoids]
    known, by_chunk, varying = {}, [], []  # varying: (function, operands, result, where it is computed)
    with np.errstate(all="ignore"):
        for node in program.nodes:
            if node.op == "const":
                known[node] = np_type.type(node.value)
            elif node.op == "arg":
                x = operands[node.value]
                if callable(x):
                    by_chunk.append((node, x))
                else:
                    known[node] = x
            else:
                function = PRIMITIVES[node.op].numpy_for("f")
                if all(x in known for x in node.args):
                    known[node] = function(*map(known.get, node.args))
                else:
                    room = results[node] if node in results else np.empty(min(CHUNK, size), np_type)
                    varying.append((function, node.args, node, room))
        computed = {node for _, _, node, _ in varying}
        for start in range(0, size, CHUNK):
            part, length = slice(start, start + CHUNK), min(CHUNK, size - start)
            known |= {node: x(part) for node, x in by_chunk}
            for function, args, node, room in varying:
                out = room[part] if node in results else room[:length]
                known[node] = function(*map(known.get, args), out=out)
            for output, node in zip(outputs, program.outputs, strict=True):
                if results[node] is not output or node not in computed:
                    output[part] = known[node]
            for k, node in enumerate(program.sums):
                x = known[node]
                if program.monoids[k] == "max":
                    totals[k] = max(totals[k], float(np.fmax.reduce(x) if x.ndim else x))
                    continue
                totals[k] += float(x.sum(dtype=np.float64)) if x.ndim else float(x) * length
    return [BitmapVector(size, dtype, None, values, size) for values in outputs], PlainSums(totals)


def _values(store):
    """The function that gives the values of a slice of the vector, 0 where it has no entry; a scalar where all are one.

    Slices begin at a multiple of 64.
    """
    values, np_type = store.values[0] if store.iso else store.values, store.dtype.np_type
    if store.nvals == store.size:
        return values if store.iso else values.__getitem__
    if store.format == "bitmap":
        bits_type = np.int64 if np_type.itemsize == 8 else np.int32

        def of(part):
            stop = min(part.stop, store.size)
            there = bits.to_bool(store.words[part.start >> 6 : (stop + 63) >> 6], stop - part.start)
            kept = there.view(np.int8).astype(bits_type)
            np.negative(
                kept, out=kept
            )  # all bits where there is an entry; a select by a bool array takes twice as long
            return np.bitwise_and(kept, (values if store.iso else values[part]).view(bits_type), out=kept).view(np_type)

        return of
    dense = np.zeros(store.size, np_type)
    dense[store.indices] = values
    return dense.__getitem__
