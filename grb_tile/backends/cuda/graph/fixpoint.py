"""repeat v (+)= A (+.x) v on the device: many turns a launch, one read-back.  Kernel: kernels/graph/fixpoint.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner.choose_lowering import product_fits
from ....storage.store import BitmapVector
from ..lowering.semirings import lowered_plain
from ..products.row_schedule import schedule_of
from ..runtime.errors import on_device
from ..structure.arrays import index_type, repeated, to_bitmap

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 1024  # one block a multiprocessor: with two of 512 a barrier takes 2 us more
TURNS = 1 << 14  # of a launch, so that a loop without end can be interrupted
CONTROL_WORDS = 4  # FixpointControl has 32 bytes


@on_device
def fixpoint(device: Device, A: Compressed, v: Any, semiring: Any, most: int, until: bool) -> Any:
    """GraphOperations.fixpoint; NotImplemented where a row has more entries than a warp takes, or a turn reads so much
    that products as kernels of their own are faster.

    Memory: twice the values and presence bits of a vector.
    """
    n = A.nrows
    A, v = device.to_device(A), device.to_device(v)
    s = lowered_plain(device, semiring, A.dtype, A.iso, v.dtype, False)
    if s is None or not s.reads_x or s.any or s.dtype is not v.dtype:
        return NotImplemented
    if A.rows is not None or A.indices.shape[0] == 0:
        return NotImplemented
    item = A.indices.dtype.itemsize + (A.values.dtype.itemsize if s.reads_a and not A.iso else 0)
    schedule = schedule_of(device, A, "step")
    if schedule.pieces or not product_fits(A.indices.shape[0], item, device.profile):
        return NotImplemented
    device.check_room(2 * n * v.dtype.np_type.itemsize, "fixpoint: two vectors")
    v = to_bitmap(device, v)
    full = v.words is None
    values = repeated(device, v.values, n) if v.iso else v.values.copy()
    arrays = [values, values.copy()]
    words = [None, None] if full else [v.words.copy(), v.words.copy()]
    kernel = s.kernel(device.launcher, "graph/fixpoint.cuh", "fixpoint", (
        index_type(A.indices), index_type(schedule.starts),
        "int64_t" if schedule.rows is None else index_type(schedule.rows), "S", "true" if full else "false",
    ))  # fmt: skip
    threads = device.launcher.threads(BLOCK)
    blocks = device.launcher.blocks(kernel.resident_blocks(threads), schedule.warps * 32 + threads - 1, threads)
    control, turns, changed = device.zeros(CONTROL_WORDS, np.uint64), 0, True
    while True:
        record = device.counters()
        kernel(blocks, threads, (
            schedule.rows, schedule.starts, schedule.stops, schedule.bins, schedule.warps, A.indices,
            A.values if s.reads_a else None, *arrays, *words, n, min(most - turns, TURNS), until, control, record,
        ), 0, True)  # fmt: skip
        done, changed, held = device.read(record[:3])
        turns += done
        if done % 2:
            arrays.reverse()
            words.reverse()
        if turns == most or until and not changed:
            break
    return BitmapVector(n, v.dtype, words[0], arrays[0], n if full else held), turns, bool(changed)
