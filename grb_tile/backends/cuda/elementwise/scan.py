"""Prefix results of the entries of rows, or of a vector, on the device.  Semantics: backends/protocol.py.

Kernels: elementwise/scan.cuh.  Read-backs: the longest row, kept with the matrix; where one is more than a
chunk, and of a vector, the number of chunks, once for each level of chunks.
"""

import numpy as np

from ..structure.arrays import gather, progression, ranges, repeated, to_sparse
from ..structure.prefix_sums import running_sums
from ..structure.rows import longest_row
from .values import all_plain, functor_text, like, values_as

_CHUNK = 1024  # entries that a warp scans


def scan(device, x, monoid):
    dtype = monoid.type
    if not all_plain(x.dtype, dtype):
        return NotImplemented
    functors = functor_text(monoid.binaryop, dtype)
    if x.format == "bitmap" and x.words is not None:
        x = to_sparse(device, x)
    count = x.nvals
    values = values_as(device, x, dtype)
    if x.iso:
        values = repeated(device, values, count)
    if count:
        if x.format not in ("csr", "dcsr"):
            values = _scanned(device, functors, dtype, values, device.array(np.array([count])), count)
        elif longest_row(device, x) <= device.launcher.size(_CHUNK, 64):  # a row is a chunk
            values = _scan_chunks(device, functors, dtype, values, x.indptr, x.indptr.shape[0] - 1, count)
        else:
            values = _scanned(device, functors, dtype, values, x.indptr[1:], count)
    return like(x, dtype, values[:count], False)


def _scanned(device, functors, dtype, values, ends, count):
    """The scan of each segment; ends: where the segments end, in `count` values."""
    xp, size = device.xp, device.launcher.size(_CHUNK, 64)
    if ends.shape[0] == 1:
        total = longest = -(-count // size)
        number, last = progression(device, total, np.dtype(np.int64)), None
        begins = number * size
    else:
        starts = xp.concatenate((device.zeros(1, ends.dtype), ends[:-1]))
        chunks = (ends - starts + (size - 1)) // size
        last, total = running_sums(device, chunks, total=True)
        (longest,) = device.read(chunks.max())
        segment, number = ranges(device, device.zeros(ends.shape[0], np.int64), last, total)
        begins = gather(device, starts, segment) + number * size
    out = _scan_chunks(device, functors, dtype, values, begins, total, count)
    if longest > 1:
        at = xp.concatenate((begins[1:], device.array(np.array([count])))) - 1
        last = device.array(np.array([total])) if last is None else last
        carries = _scanned(device, functors, dtype, gather(device, out, at), last, total)
        kernel = device.launcher.kernel("elementwise/scan.cuh", "add_carries", functors, (dtype.cuda_type, "Op"))
        kernel.over(32 * total, (begins, number, total, count, carries, out))
    return out


def _scan_chunks(device, functors, dtype, values, begins, chunks, count):
    """The scan of each chunk alone."""
    out = device.empty(count, dtype.np_type)
    kernel = device.launcher.kernel("elementwise/scan.cuh", "scan_chunks", functors, (dtype.cuda_type, "Op"))
    kernel.over(32 * chunks, (values, begins, chunks, count, out))
    return out
