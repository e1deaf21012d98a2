"""Epilogues of masked products: an entry of C is stored, or selected and reduced (kernels/products/masked_emit.cuh).

    e = epilogue(device, s, dtype, keep, monoid, axis)      # None: the monoid has no atomic

stored      at the entries of the mask, all or those that a select operator keeps
reduced     (+)_j C(i,j) (axis 1), (+)_i C(i,j) (axis 0), (+)_ij C(i,j) (axis None: the sums of the rows, reduced)
corners     rows of words: (+)_j C(v,j) + (+)_i C(i,v), and for each entry of B' in how many products it is
C itself is not formed where it is reduced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....operators import get_typed_op, typed_semiring
from ..elementwise.mapping import reduce, thunk_of
from ..elementwise.values import functor_text
from ..lowering.semirings import cast_text, lowered
from ..structure.arrays import empty_vector, gather, vector_of
from ..structure.prefix_sums import listed

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

AT_MASK, BY_ROW, BY_COLUMN, CORNERS = "AT_MASK", "BY_ROW", "BY_COLUMN", "CORNERS"


class Epilogue:
    """The struct E as text, with that of the semiring before it, and what it writes."""

    def __init__(self, s, keep=None, sums=None, monoid=None, axis=None, corners=False):
        self.s, self.keep, self.sums, self.monoid, self.axis = s, keep, sums, monoid, axis
        self.into = CORNERS if corners else AT_MASK if sums is None else BY_COLUMN if axis == 0 else BY_ROW
        self.name = "Stored<S>" if keep is None and sums is None else "E"
        self.text = s.text if self.name != "E" else "\n".join([s.text, *self._text()])

    def _text(self):
        s, value, thunk, kept = self.s, self.s.dtype.cuda_type, "uint8_t", "true"
        spaces, includes = [], set()
        if self.keep is not None:
            op = self.keep[0]
            include, body = functor_text(op, op.return_type).split("\n", 1)
            includes.add(include)
            spaces += ["namespace of_select {", body, "}"]
            thunk = op.thunk_type.cuda_type
            x = cast_text(s.dtype, op.type, "v") if op.uses_values else f"{op.type.cuda_type}()"
            kept = f"grb::cast<bool>(of_select::Op()({x}, i, j, *thunk))"
        monoid = "S"
        if self.sums is not None:
            include, body = self.sums.text.split("\n", 1)
            includes.add(include)
            spaces += ["namespace of_sum {", body, "}"]
            monoid = "of_sum::S"
        out = value if self.sums is None else f"{monoid}::Z"
        flags = {"iso": s.structure_only, "keeps": self.keep is not None}
        return [
            *sorted(includes), *spaces, "struct E {",
            f"  using Value = {value}; using R = {monoid}; using Out = {out}; using Thunk = {thunk};",
            f"  static constexpr int into = grb::{self.into};",
            *(f"  static constexpr bool {name} = {'true' if flag else 'false'};" for name, flag in flags.items()),
            "  static __device__ __forceinline__ bool keep(Value v, int64_t i, int64_t j, const Thunk* thunk) "
            f"{{ return {kept}; }}",
            "};",
        ]  # fmt: skip

    def thunk(self, device: Device) -> Any:
        """The scalar of the select operator, on the device."""
        return None if self.keep is None else thunk_of(device, *self.keep)

    def target(self, device: Device, pattern: Compressed) -> tuple[Any, Any]:
        """(out, hit) of a product at this mask; out is None where every value is the same."""
        if self.into == AT_MASK:
            count = pattern.indices.shape[0]
            out = None if self.s.structure_only else device.accumulators(count, self.s.dtype.np_type)
            return out, device.zeros(count, np.bool_)
        count = pattern.ncols if self.into == BY_COLUMN else pattern.indptr.shape[0] - 1
        out = device.accumulators(count, self.sums.dtype.np_type)
        if not self.sums.any:
            self.sums.kernel(device.launcher, "products/columns.cuh", "fill_start", ("S",)).over(count, (out, count))
        return out, device.zeros(count, np.bool_)

    def reduced(self, device: Device, pattern: Compressed, out: Any, hit: Any) -> Any:
        """The vector of the sums that were hit, or their sum: a NumPy scalar, None for none."""
        at, names = listed(device, hit), pattern.rows if self.into == BY_ROW else None
        values = gather(device, out, at)
        at = at if names is None else gather(device, names, at)
        size = pattern.ncols if self.axis == 0 else pattern.nrows
        w = vector_of(device, size, self.sums.dtype, at, values)
        return reduce(device, w, self.monoid) if self.axis is None else w

    def nothing(self, device: Device, nrows: int, ncols: int) -> Any:
        """What a product without entries is reduced to."""
        return None if self.axis is None else empty_vector(device, ncols if self.axis == 0 else nrows, self.sums.dtype)


def corners(device: Device, s: Lowered) -> Epilogue:
    """That of a product that counts matches, for the corners of triangles."""
    plus = typed_semiring(get_typed_op("plus", s.dtype, kind="monoid"), "first")
    return Epilogue(s, None, lowered(device, plus, s.dtype, False, s.dtype, True), corners=True)


def epilogue(
    device: Device, s: Lowered, keep: tuple[Any, Any] | None = None, monoid: Any = None, axis: int | None = None
) -> Epilogue | None:
    """The Epilogue of a product's entries; None for operators without a device form or an atomic."""
    if keep is not None and any(t._is_udt for t in (keep[0].type, keep[0].thunk_type, keep[0].return_type)):
        return None
    if monoid is None:
        return Epilogue(s, keep)
    if monoid.type._is_udt or monoid.return_type is not monoid.type:
        return None
    sums = lowered(device, typed_semiring(monoid, "first"), s.dtype, False, monoid.type, True)
    return Epilogue(s, keep, sums, monoid, axis) if sums.merges_by_atomics else None
