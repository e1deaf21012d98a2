"""The value and the mask of an assignment, made to fit what the indices pick.

indices        value                              mask (assign)        mask (subassign)
v[I]           Vector, list, array, scalar        Vector of v's size   Vector of I's size
A[I, J]        Matrix, nested list, array, scalar Matrix of A's shape  Matrix of the region's shape
A[i, J]        Vector, list, array, scalar        Vector or Matrix     Vector of J's size
A[i, j], v[i]  scalar                             of the object        refused
"""

from .. import operations as ops
from ..dtypes import cast_scalar
from ..exceptions import DimensionMismatch, OutOfMemory
from ..storage.place import arrays_of
from ..storage.turn_array import TurnArray
from . import elements, kinds, recorder, turn_arrays
from .arguments import expect_type, literal, output_type, values_array
from .pending_writes import write_part

_LEAST, _MOST = -(2**63), 2**63 - 1  # of INT64


def assign(self, resolved, value, desc=ops.PLAIN, is_submask=False, input_mask=None):
    """self[resolved] = value as `desc` says; is_submask: the mask has the region's shape."""
    if input_mask is not None:
        raise TypeError("`input_mask` argument may only be used for extract")
    mask = desc.mask
    if mask is not None:
        _check_mask_kind(self, resolved, mask, is_submask)
    of_turn = type(value) is TurnArray
    value = turn_arrays.assigned(resolved, value) if of_turn else region_value(self, resolved, value)
    if mask is not None:
        wanted = resolved.shape if is_submask else self.shape
        if self.ndim == 2 and mask.parent.ndim == 1 and not is_submask:
            wanted = self.shape[1:] if resolved.indices[0].size is None else self.shape[:1]
        ops.checks.mask_shape("subassign" if is_submask else "assign", mask.parent.shape, wanted)
    is_scalar = output_type(value) is kinds.Scalar
    if is_scalar:
        stored = ops.EMPTY if value._value is None else value._value
    elif value.ndim == 2 and value._is_transposed:
        stored = ops.transpose(value._matrix).compute()
        stored.shared = True
    else:
        stored = value._store
    if not is_scalar and not of_turn and value.shape != resolved.shape:
        raise DimensionMismatch(
            f"Dimensions not compatible for assignment: {value.name} has shape {value.shape}, but the indices pick a "
            f"region of shape {resolved.shape}; use other indices or resize the value"
        )
    keys = [axis.index for axis in resolved.indices]
    if len(keys) == 1 and type(keys[0]) is int:
        keys = [range(keys[0], keys[0] + 1)]

    def compute(c):
        return ops.assign(c, stored, *keys, dtype=self.dtype, desc=desc, subassign=is_submask)

    def find(c):
        return ops.part_of_assign(c, stored, *keys, desc=desc, subassign=is_submask)

    try:
        if not write_part(self, find, compute):
            after = compute(elements.store_to_write(self))
            if not is_scalar and (after is stored or _share_arrays(after, stored)):
                after.shared = stored.shared = True
            self._store = after
    except MemoryError as exc:
        raise OutOfMemory(f"assign: the region of shape {resolved.shape} does not fit in memory ({exc})") from None
    if recorder.active is not None:
        _note(self, value, keys, desc, is_submask)


def fill(self, number, desc):
    """self << number as `desc` says, everywhere; False, and nothing done, where `assign` has more to check.

    The short form of `assign` for a Python number without indices: iterative algorithms call it once per level.
    """
    if self.dtype._is_udt or desc.mask is not None and desc.mask.parent.shape != self.shape:
        return False
    dtype = self.dtype
    if type(number) is not float and dtype.np_type.kind in "iub" and _LEAST <= number <= _MOST:
        value = cast_scalar(number, dtype)  # the cast of an INT64 or BOOL literal
    else:
        try:
            value = literal(number)[0]
        except (TypeError, ValueError):
            return False
    try:

        def compute(c):
            if self.ndim == 1:
                return ops.fill(c, value, dtype, desc)
            return ops.assign(c, value, None, None, dtype=dtype, desc=desc)

        def find(c):
            return ops.part_of_assign(c, value, None, desc=desc, subassign=False)

        bitmap = self._pending is None and self._store.format == "bitmap"  # changes in place: see can_keep_changes
        if desc.mask is None or bitmap or not write_part(self, find, compute):
            self._store = compute(elements.store_to_write(self))
    except MemoryError as exc:
        raise OutOfMemory(f"assign: the region of shape {self.shape} does not fit in memory ({exc})") from None
    return True


def _share_arrays(a, b):
    a, b = arrays_of(a), arrays_of(b)
    return a.values is b.values or getattr(a, "indices", 0) is getattr(b, "indices", 1)


def region_value(self, resolved, value):
    """`value` as a Scalar (possibly empty), or as a Vector or Matrix of the region's number of dimensions.

    Raises: TypeError for a value of the wrong kind, ValueError for a list or an array of the wrong shape.
    """
    shape = resolved.shape
    accepted = (
        (kinds.Scalar,),
        (kinds.Scalar, kinds.Vector),
        (kinds.Scalar, kinds.Matrix, kinds.TransposedMatrix),
    )[len(shape)]
    extra = "Literal scalars and lists also accepted." if shape else "Literal scalars also accepted."
    kind = output_type(value)
    if kind is kinds.Scalar or kind in kinds.COLLECTIONS:
        if type(value) in accepted:
            return value
        if kind is kinds.Scalar:
            return kinds.Scalar.from_value(value)  # computes an expression, or says that autocompute is off
        return expect_type(self, value, accepted, within="__setitem__", argname="value", extra_message=extra)
    try:
        scalar, dtype = literal(value, self.dtype if self.dtype._is_udt else None)
    except (TypeError, ValueError):
        pass
    else:
        return kinds.Scalar._from_value(scalar, dtype, True, "")
    if shape:
        try:
            array, dtype = values_array(value, self.dtype if self.dtype._is_udt else None)
        except Exception:
            array = None
        if array is not None and (array.ndim or not isinstance(value, (str, bytes))) and array.dtype.kind in "biufcV":
            if (array.shape[: len(shape)] if dtype.np_type.subdtype is not None else array.shape) != shape:
                raise ValueError(
                    f"shape mismatch: value array of shape {array.shape} does not match indexing of shape {shape}"
                )
            return (kinds.Vector if len(shape) == 1 else kinds.Matrix).from_dense(array, dtype=dtype)
    return expect_type(self, value, accepted, within="__setitem__", argname="value", extra_message=extra)


def _check_mask_kind(self, resolved, mask, is_submask):
    """The mask's number of dimensions goes with the indices."""
    parent, shape = mask.parent, resolved.shape
    if self.ndim == 1:
        if parent.ndim != 1:
            raise TypeError(f"Mask object must be type Vector; got {type(parent)}")
        if is_submask and not shape:
            raise TypeError("Single element assign does not accept a submask")
    elif parent.ndim == 1:
        if len(shape) == 0:
            raise TypeError("Unable to use Vector mask on single element assignment to a Matrix")
        if len(shape) == 2:
            raise TypeError("Unable to use Vector mask on Matrix assignment to a Matrix")
    elif is_submask:
        if len(shape) == 0:
            raise TypeError("Single element assign does not accept a submask")
        if len(shape) == 1:
            raise TypeError("Indices for subassign imply Vector submask, but got Matrix mask instead")


def _note(self, value, keys, desc, is_submask):
    mask, accum, flags = recorder.texts_of(desc)
    kind = "Vector" if self.ndim == 1 else "Matrix"
    scalar = "_Scalar" if output_type(value) is kinds.Scalar else ""
    if scalar:
        text = value.name or repr(value.value)
        if value._is_cscalar or not value.name:
            scalar = f"_{value.dtype}"
    else:
        text = value.name
    parts = []
    for key, size in zip(keys, self.shape, strict=True):
        parts += [
            "GrB_ALL" if key is None else _index_text(key),
            str(size if key is None else 1 if isinstance(key, int) else len(key)),
        ]
    call = f"{'GxB' if is_submask else 'GrB'}_{kind}_{'subassign' if is_submask else 'assign'}{scalar}"
    if getattr(value, "_is_transposed", False):
        flags, text = flags + "T0", value._matrix.name
    descriptor = f"GrB_DESC_{flags}" if flags else "NULL"
    recorder.record(f"{call}({', '.join([self.name or 'temp', mask, accum, text, *parts, descriptor])});")


def _index_text(key):
    if isinstance(key, int):
        return str(key)
    shown = key if len(key) < 20 else [*key[:5], "...", *key[-5:]]
    return f"(uint64_t[]){{{', '.join(map(str, shown))}}}"
