"""Bound row-wise products: w = A (+.x) x for an x without gaps and no mask, once nothing is left to decide.

A call then is one launch and the result's store.  What decided before stays as long as the forms of A do: the function
is kept with them, and dropped with them where memory is short.  A forced plan and a rounded precision pass it by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....planner.choose_precision import setting
from ....planner.record import FREE, Plan, forced
from ....storage import convert as conversions
from ....storage.store import BitmapVector, forms_of
from .segments import arguments_of, gathers, segments_of

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

_UNREAD = "segments", "columns_unread"


def bound_rows(A: Compressed, s: Lowered) -> Callable[[Any, Plan], BitmapVector] | None:
    """The function of (x, plan) that is kept for products of A over `s`, or None."""
    kept = None if A.forms is None else A.forms.get("bound_rows")
    found = None if kept is None else kept.get(s)
    return found if found is not None and forced() is FREE and setting() == "exact" else None


def bind_rows(device: Device, A: Compressed, s: Lowered, occupied: tuple[int, Any]) -> None:
    """Keep the function for A and `s` where the product that has just run would run the same way in every later call.

    occupied: the number of rows with entries, and their words (None: all).
    """
    form, (known, words) = segments_of(device, A), occupied
    columns, choice = form.plain, _UNREAD
    if gathers(s):
        # bins, blocks and what else is weighed again in each call: not while one of them may still be taken
        if form.choice is None or form.frequent is not None or form.by_blocks.get((s, "exact"), False) is not None:
            return
        columns, choice = form.columns, form.choice
    launch = form.launches.get((s, columns.kind, None))
    if launch is None or columns.order is not None or columns.bins is not None:
        return
    if known * conversions.BITMAP_TO_SPARSE < A.nrows or forced() is not FREE or setting() != "exact":
        return
    kernel, blocks, threads, shared, cached, parts, flags = launch
    first = arguments_of(A, form, s, columns)
    last, nrows, dtype, reads_x = (parts, flags, form.arrived), A.nrows, s.dtype, s.reads_x
    empty = device.array_class

    def run(x: Any, plan: Plan) -> BitmapVector:
        plan.use_kernel(*choice)
        w = empty(nrows, dtype.np_type)
        kernel(blocks, threads, (*first, x.values if reads_x else None, cached, w, *last), shared=shared)
        result = BitmapVector(nrows, dtype, words, w, known)
        result.shared = words is not None
        return result

    forms_of(A).setdefault("bound_rows", {})[s] = run
