"""Bound products: w<mask> = E u of operands whose kinds stay the same, without what is decided once for them.

The planner still chooses the method in each call, by the numbers of entries, and the plan says so; what is skipped are
checks of types, sizes and placement, the look-up of the semiring's code, and two of three entrances of primitives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ....planner import tuning
from ....planner.choose_kernel import stays_bitmap
from ....planner.choose_matvec import can_stop_early
from ....planner.choose_matvec_gpu import choose_on_gpu
from ....storage.convert import cached_transpose
from ..lowering.semirings import lowered_plain
from ..runtime.errors import HostOnly, reporting
from ..runtime.late_vector import LateVector
from ..structure.arrays import empty_vector, words_of
from . import pull
from .columns import merged
from .matvec import mask_of, matvec_rows, multiply_rows, operand_types

if TYPE_CHECKING:
    from ....storage.store import BitmapVector, Compressed, SparseVector, StoredMask

    VectorStore = SparseVector | BitmapVector


def bind(
    backend: Any, A: Compressed, transposed: bool, u: VectorStore, semiring: Any, mask: StoredMask | None
) -> Callable[[Compressed, VectorStore, StoredMask | None], Any] | None:
    """The function of (A, u, mask) that PlannedProducts.bind_mxv asks for, or None.

    None where products are sorted, and where vectors may not be allocated.
    """
    device = backend.device
    if A.rows is not None or A.indices.shape[0] == 0 or max(A.nrows, A.ncols) > tuning.ALWAYS_ALLOCATED:
        return None
    s = lowered_plain(device, semiring, A.dtype, A.iso, u.dtype, u.iso) if operand_types(semiring, A, u) else None
    if s is None or not s.atomic:
        return None
    item = 0 if s.structure_only else s.dtype.np_type.itemsize
    early = can_stop_early(semiring)
    pulls = pull.suits(A, s) and stays_bitmap(max(A.nrows, A.ncols), item, device.profile)

    def mxv(backend, A, u, mask):
        if device.turns is not None:
            return NotImplemented
        try:
            A, u, mask = device.operands_to_device(A, u, mask)
        except HostOnly:  # a mask of a user-defined type
            return NotImplemented
        plan = choose_on_gpu(A, transposed, u, mask, early, backend)
        rows, held = plan.method == "rows", u.nvals_if_read
        E = A if rows != transposed else cached_transpose(A) or backend.transpose(A)
        if rows and E.rows is not None:  # a caller's hypersparse matrix, whose transpose A is
            return NotImplemented
        if held == 0:
            w = empty_vector(device, E.nrows if rows else E.ncols, s.dtype)
        elif not rows:
            nothing = False
            if mask is not None and mask.pattern.nvals_if_read is not None:
                mask, nothing = mask_of(device, mask)
            w = empty_vector(device, E.ncols, s.dtype) if nothing else merged(device, E, u, s, mask, plan)
        elif plan.format != "csr":
            w = matvec_rows(device, E, u, semiring, mask, plan)
        elif mask is None and held == u.size and (run := E.forms and E.forms.get("bound_rows", {}).get(s)):
            w = run(u, plan)  # as bound_rows(E, s): no plan is forced
        else:
            w = NotImplemented
            if pulls and u.format == "bitmap" and (mask is None or mask.complement or mask.pattern.format == "bitmap"):
                w = _pulled(device, E, u, held, s, mask, plan)
            if w is NotImplemented:
                w = multiply_rows(device, E, u, held, s, mask, plan, "exact")
        plan.engine = backend.name
        plan.seconds = perf_counter() - plan.started
        return w

    return partial(reporting(mxv), backend)


def _pulled(device, E, u, held, s, mask, plan):
    """The row-wise product where one match decides a row, u is a bitmap and the mask no list: rows_kernel (planner) has
    no other kernel then.  NotImplemented where the mask is known to admit all positions, or none.
    """
    words, complement, size = None, False, E.nrows
    if mask is not None:
        pattern, complement = mask.pattern, mask.complement
        if pattern.nvals_if_read in (0, size):
            return NotImplemented
        words = pattern.words if pattern.format == "bitmap" else words_of(device, pattern)
    elif held == u.size:
        return NotImplemented
    plan.use_kernel("pull_early_exit", "one_match_enough")
    w, found, count = pull.pull(device, E, u.words, u.values, s, words, complement)
    iso = w is None
    result = LateVector(device, size, s.dtype, found, s.value(device, E, u) if iso else w, count, iso)
    result.shared = iso
    return result
