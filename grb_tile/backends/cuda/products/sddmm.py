"""C<M> = A B for full A and B at the entries of M, on the device (kernels/products/sddmm.cuh)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....storage.convert import share
from ....storage.store import Compressed, Dense
from ..lowering.semirings import lowered_plain
from ..structure.arrays import index_type
from .spmm import chunk_of, elements_at_once, power_of_two_from

if TYPE_CHECKING:
    from ..runtime.device import Device

MOST_STEPS = 4  # loads of a lane that stay in registers
LEAST_CHUNK = 64  # entries of a chunk: its first row is searched for
LEAST_WORK = 4096  # products of a chunk, which take longer than the search: fewer entries where each has many


def sddmm(device: Device, A: Dense, B: Dense, semiring: Any, pattern: Compressed) -> Any:
    """C[i,j] = (+)_k A[i,k] (x) B[k,j] for the entries (i,j) of `pattern`; NotImplemented where it is hypersparse."""
    a, b, depth, entries = device.to_device(A.flat), device.to_device(B.flat), A.ncols, pattern.indices.shape[0]
    s = lowered_plain(device, semiring, a.dtype, a.iso, b.dtype, b.iso)
    if s is None or pattern.rows is not None or entries == 0:
        return NotImplemented
    nrows, ncols, indptr, indices = pattern.nrows, pattern.ncols, pattern.indptr, pattern.indices
    if s.structure_only:
        values = s.value(device, a, b)
        return share(pattern, Compressed(nrows, ncols, s.dtype, indptr, indices, values, True))
    read = [x.values for x, reads in ((a, s.reads_a), (b, s.reads_x)) if reads and not x.iso]
    width = elements_at_once(depth, *read)
    lanes = power_of_two_from(-(-depth // width), 8)
    while lanes < 32 and lanes * width * MOST_STEPS < depth:
        lanes *= 2
    steps = -(-depth // (lanes * width))
    steps = 0 if steps > MOST_STEPS else steps
    chunk = chunk_of(device, entries, max(32 // lanes, min(LEAST_CHUNK, LEAST_WORK // depth)))
    chunks = -(-entries // chunk)
    values = device.empty(entries, s.dtype.np_type)
    template = index_type(indices), "S", str(width), str(lanes), str(steps)
    s.kernel(device.launcher, "products/sddmm.cuh", "sddmm", template).over(chunks * 32, (
        indptr, nrows, indices, entries, chunk, chunks, a.values if s.reads_a else None,
        b.values if s.reads_x else None, depth, values,
    ))  # fmt: skip
    return share(pattern, Compressed(nrows, ncols, s.dtype, indptr, indices, values))
