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

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 1024  # one block a multiprocessor: with two of 512 a barrier takes 2 us more
TURNS = 1 << 14  # of a launch, so that a loop without end can be interrupted
CONTROL_WORDS = 4  # FixpointControl has 32 bytes


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
    starts = reader_rows = task_of = marks = None
    if idempotent:
        AT = device.to_device(readers())
        if AT.rows is None:
            starts, reader_rows, task_of = pointers(device, AT), AT.indices, _tasks(device, A, schedule)
            marks = device.zeros(2 * schedule.warps, np.uint8)
    v = to_bitmap(device, v)
    full = v.words is None
    values = repeated(device, v.values, n) if v.iso else v.values.copy()
    arrays = [values, values.copy()]
    words = [None, None] if full else [v.words.copy(), v.words.copy()]
    kernel = s.kernel(device.launcher, "graph/fixpoint.cuh", "fixpoint", (
        index_type(A.indices), index_type(schedule.starts), _rows_type(schedule), "S", "true" if full else "false",
    ))  # fmt: skip
    threads = device.launcher.threads(BLOCK)
    blocks = device.launcher.blocks(kernel.resident_blocks(threads), schedule.warps * 32 + threads - 1, threads)
    control, turns = device.zeros(CONTROL_WORDS, np.uint64), 0
    while True:
        record = device.counters()
        kernel(blocks, threads, (
            schedule.rows, schedule.starts, schedule.stops, schedule.bins, schedule.warps, A.indices,
            A.values if s.reads_a else None, *arrays, *words, n, starts, reader_rows, task_of, marks,
            min(most - turns, TURNS), until, control, record,
        ), 0, True)  # fmt: skip
        done, changed, held = device.read(record[:3])
        turns += done
        if done % 2:
            arrays.reverse()
            words.reverse()
        if turns == most or until and not changed:
            break
    return BitmapVector(n, v.dtype, words[0], arrays[0], n if full else held), turns, changed > 0


def _rows_type(schedule):
    return "int64_t" if schedule.rows is None else index_type(schedule.rows)


def _tasks(device, A, schedule):
    """The task of each row, int32, kept with A."""
    forms = forms_of(A)
    found = forms.get("tasks_of_rows")
    if found is None:
        found = forms["tasks_of_rows"] = device.empty(A.nrows, np.int32)
        kernel = device.launcher.kernel("graph/fixpoint.cuh", "tasks_of_rows", "", (_rows_type(schedule),))
        held = schedule.starts.shape[0]
        kernel.over(held, (schedule.rows, held, schedule.bins, found))
    return found
