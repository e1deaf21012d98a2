"""repeat v (+)= A (+.x) v on the device: many turns a launch, one read-back.  Kernel: kernels/graph/fixpoint.cuh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner.choose_lowering import iteration_fits
from ....storage.store import BitmapVector, forms_of
from ..lowering.semirings import is_idempotent, lowered_plain
from ..products.row_schedule import longest_row, pointers, schedule_of
from ..runtime.errors import on_device
from ..structure.arrays import index_type, repeated, to_bitmap
from ..structure.formats import choose_format

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 1024  # one block a multiprocessor: with two of 512 a barrier takes 2 us more
TURNS = 1 << 14  # of a launch, so that a loop without end can be interrupted
CONTROL_BYTES = 32  # of FixpointControl


@on_device
def fixpoint(
    device: Device, A: Compressed, readers: Callable[[], Compressed], v: Any, semiring: Any, most: int, until: bool
) -> Any:
    """GraphOperations.fixpoint; NotImplemented where a row has more entries than a warp takes, or a turn reads so much
    that products as kernels of their own are faster.

    Memory: twice the values and presence bits of a vector; 4 bytes for each row, kept with the matrix.
    """
    n, count = A.nrows, A.indices.shape[0]
    A, v = device.to_device(A), device.to_device(v)
    s = lowered_plain(device, semiring, A.dtype, A.iso, v.dtype, False)
    if s is None or not s.reads_x or s.any or s.dtype is not v.dtype or A.rows is not None or count == 0:
        return NotImplemented
    item = A.indices.dtype.itemsize + (A.values.dtype.itemsize if s.reads_a and not A.iso else 0)
    idempotent = is_idempotent(semiring.monoid)
    if not iteration_fits(n, count, item, longest_row(device, A), idempotent, device.profile):
        return NotImplemented
    schedule = schedule_of(device, A, "step")
    if schedule.pieces:
        return NotImplemented
    device.check_room(2 * n * v.dtype.np_type.itemsize, "fixpoint: two vectors")
    starts = reader_rows = task_of = None
    AT = device.to_device(readers()) if idempotent else None
    marked = AT is not None and AT.rows is None
    if marked and AT is not A:
        starts, reader_rows = pointers(device, AT), AT.indices
    if marked and schedule.rows is not None:
        task_of = _tasks(device, A, schedule)
    scratch = device.zeros(CONTROL_BYTES + 2 * schedule.warps * marked, np.uint8)
    marks = scratch[CONTROL_BYTES:] if marked else None
    v = to_bitmap(device, v)
    full, values = v.words is None, repeated(device, v.values, n) if v.iso else v.values
    arrays = [device.empty(n, v.values.dtype) for _ in range(2)]
    words = [None, None] if full else [device.empty((n + 63) >> 6, np.uint64) for _ in range(2)]
    kernel = s.kernel(device.launcher, "graph/fixpoint.cuh", "fixpoint", (
        index_type(A.indices), index_type(schedule.starts),
        "int64_t" if schedule.rows is None else index_type(schedule.rows), "S", "true" if full else "false",
    ))  # fmt: skip
    threads = device.launcher.threads(BLOCK)
    blocks = device.launcher.blocks(kernel.resident_blocks(threads), schedule.warps * 32 + threads - 1, threads)
    turns, begun = 0, (values, v.words)
    while True:
        record = device.counters()
        kernel(blocks, threads, (
            schedule.rows, schedule.starts, schedule.stops, schedule.bins, schedule.warps, A.indices,
            A.values if s.reads_a else None, *arrays, *words, *begun, n, starts, reader_rows,
            task_of, marks, min(most - turns, TURNS), until, scratch, record,
        ), 0, True)  # fmt: skip
        begun = None, None
        done, changed, held = device.read(record[:3])
        turns += done
        if done % 2:
            arrays.reverse()
            words.reverse()
        if turns == most or until and not changed:
            break
    found = choose_format(device, BitmapVector(n, v.dtype, words[0], arrays[0], n if full else held))
    return found, turns, changed > 0


def _tasks(device, A, schedule):
    """The task of each row of a schedule that names them, int32, kept with A."""
    forms = forms_of(A)
    found = forms.get("tasks_of_rows")
    if found is None:
        found = forms["tasks_of_rows"] = device.empty(A.nrows, np.int32)
        kernel = device.launcher.kernel("graph/fixpoint.cuh", "tasks_of_rows", "", (index_type(schedule.rows),))
        held = schedule.rows.shape[0]
        kernel.over(held, (schedule.rows, held, schedule.bins, found))
    return found
