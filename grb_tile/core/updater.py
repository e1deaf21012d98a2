"""Writing: `C << expr`, `C(mask, accum, replace) << expr`, `C[I, J] << x`, `C(M)[I, J] << x`, `C[I, J](M) << x`.

Masks, accumulators and replace are implemented in operations/write.py only; here arguments are recognised, checked and
passed on as one Descriptor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import operations as ops
from ..config import config
from ..exceptions import OutOfMemory
from ..operators import OpBase, TypedOpBase, find_opclass, from_string, get_typed_op
from . import elements, kinds, recorder, tracing, turn_arrays
from .arguments import check_options, expect_op, expect_type, literal, output_type
from .assign import assign, fill
from .expression import Computable, MatrixExpression, VectorExpression
from .index import Resolved
from .mask import Mask, check_mask
from .number import Number, spread_like
from .pending_writes import write_part
from .recipes import RepositionRecipe

if TYPE_CHECKING:
    from typing import Any

    from .annotations import MaskLike, OperatorLike


class _Replace:
    """The type of `replace`: `C(mask, gb.replace) << expr` is `C(mask, replace=True) << expr`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "replace"

    def __reduce__(self) -> str:
        return "replace"


replace = _Replace()
REPLACE = replace  # for functions whose argument is called `replace`
_NUMBERS = frozenset((bool, int, float))
_OPERATORS = OpBase, TypedOpBase


class Updater(ops.Descriptor):
    """`C(mask, accum, replace)`: a Descriptor and its output; waits for `<<`, `.update(...)` or an index."""

    __slots__ = ("parent", "input_mask", "__weakref__")

    def __init__(self, parent, mask=None, accum=None, replace=False, input_mask=None):
        self.parent = parent
        self.mask = mask
        self.accum = accum
        self.replace = replace
        self.is_plain = mask is None and accum is None
        self.is_anew = accum is None and (mask is None or replace)
        self.input_mask = input_mask

    def __lshift__(self, expr: Any) -> None:
        self.parent._update(expr, self, self.input_mask)

    update = __lshift__

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments as python-graphblas names them."""
        return {
            "mask": self.mask, "accum": self.accum, "replace": self.replace, "input_mask": self.input_mask,
        }  # fmt: skip

    def _resolve(self, keys):
        if self.parent._is_scalar:
            raise TypeError("Indexing not supported for Scalars")
        return Resolved(self.parent, keys)

    def __getitem__(self, keys: Any) -> Assigner:
        return Assigner(self, self._resolve(keys), is_submask=False)

    def __setitem__(self, keys: Any, value: Any) -> None:
        if type(value) in _NUMBERS and type(keys) is slice and keys.start is keys.stop is keys.step is None:
            parent = self.parent
            if parent.ndim == 1 and not parent.dtype._is_udt:  # the same as without indices
                self << value
                return
        self._assign(self._resolve(keys), value, False)

    def __delitem__(self, keys):
        self._delete(self._resolve(keys))

    def _delete(self, resolved):
        if not resolved.shape:
            self.parent._delete_element(resolved)
        else:
            self._assign(resolved, kinds.Scalar(self.parent.dtype, name="s_empty"), False)

    def _assign(self, resolved, value, is_submask):
        if self.input_mask is not None:
            raise TypeError("`input_mask` argument may only be used for extract")
        if tracing.active is not None:
            resolved, value = turn_arrays.as_region(self.parent, resolved, value)
        if not resolved.shape and self.mask is None:
            if self.accum is None:
                self.parent._assign_element(resolved, value)
                return
            if self.parent._accumulate_element(resolved, value, self.accum):
                return
        assign(self.parent, resolved, value, self, is_submask)

    def __eq__(self, other):
        raise TypeError(f"__eq__ not defined for objects of type {type(self)}.")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self):
        raise TypeError(f"__bool__ not defined for objects of type {type(self)}.")


class Assigner:
    """`C(mask)[I, J]` or `C[I, J](mask)`: waits for `<<`."""

    __slots__ = ("updater", "resolved_indexes", "is_submask", "__weakref__")

    def __init__(self, updater, resolved, *, is_submask):
        if updater.input_mask is not None:
            raise TypeError("`input_mask` argument may only be used for extract")
        self.updater = updater
        self.resolved_indexes = resolved
        self.is_submask = is_submask

    def __lshift__(self, expr: Any) -> None:
        self.updater._assign(self.resolved_indexes, expr, self.is_submask)

    update = __lshift__

    def __eq__(self, other):
        raise TypeError(f"__eq__ not defined for objects of type {type(self)}.")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self):
        raise TypeError(f"__bool__ not defined for objects of type {type(self)}.")


def make_updater(
    self: Any,
    *args: Any,
    mask: MaskLike | None = None,
    accum: OperatorLike | None = None,
    replace: bool = False,
    input_mask: MaskLike | None = None,
    **opts: Any,
) -> Updater:
    """Where and how the next `<<` writes: `C(mask, accum, replace) << expr`, positional arguments in any order.

    mask        a Mask (M.S, ~M.V, ...) or a Boolean object
    accum       BinaryOp, Monoid or a string such as "plus" or "+": combines old and new values
    replace     delete what the mask does not let be written; `gb.replace` as a positional argument
    input_mask  mask of the object that is extracted from, in `C(input_mask=M) << A[I, J]`

    Examples:
    >>> v, w = gb.Vector.from_dict({0: 1, 1: 2}), gb.Vector.from_dict({1: 3})
    >>> w(accum=gb.binary.plus) << v
    >>> w.to_dict()
    {0: 1, 1: 5}
    >>> w(v.S, replace=True) << 8
    >>> w.to_dict()
    {0: 8, 1: 8}
    """
    if opts:
        check_options(opts)
    for arg in args:
        if isinstance(arg, _OPERATORS) and accum is None:
            accum = arg
        elif arg is REPLACE:
            replace = True
        elif isinstance(arg, Mask) or output_type(arg) in kinds.COLLECTIONS or getattr(arg, "_is_scalar", False):
            if self._is_scalar:
                raise TypeError("Mask not allowed for Scalars")
            if mask is not None:
                raise TypeError("Got multiple values for argument 'mask'")
            mask = arg
        else:
            if accum is not None:
                raise TypeError("Got multiple values for argument 'accum'")
            accum, opclass = find_opclass(arg)
            if opclass == "UnknownOpClass":
                if not isinstance(accum, str):
                    raise TypeError(f"Invalid item found in output params: {type(arg)}")
                accum = from_string(accum, "binary")
    if self._is_scalar:
        _refuse_masks(mask, replace, input_mask)
    elif mask is not None:
        if input_mask is not None:
            raise TypeError("mask and input_mask arguments cannot both be given")
        if not isinstance(mask, Mask):
            mask = check_mask(mask)
    elif input_mask is not None:
        input_mask = check_mask(input_mask)
    elif replace:
        raise TypeError("'replace' argument may only be True if a mask is provided")
    if accum is not None:
        accum = get_typed_op(accum, self.dtype, kind="binary")
        if accum.opclass == "Monoid":
            accum = accum.binaryop
        elif accum.opclass != "BinaryOp":
            expect_op(self, accum, "BinaryOp", within="__call__", keyword_name="accum")
    return Updater(self, mask, accum, replace, input_mask)


def _refuse_masks(mask, replace, input_mask):
    if mask is not None:
        raise TypeError("Mask not allowed for Scalars")
    if input_mask is not None:
        raise TypeError("input_mask not allowed for Scalars")
    if replace:
        raise TypeError(
            "'replace' argument may not be True for Scalar (replace may only be True when a mask is provided, "
            "and masks aren't allowed for Scalars)."
        )


def update(self, expr: Any, desc: ops.Descriptor = ops.PLAIN, input_mask: Mask | None = None) -> None:
    """self << expr as `desc` says, for a Matrix or a Vector and anything that may stand right of `<<`."""
    if type(expr) is not self._expression_type:
        if type(expr) is Number:
            if (trace := tracing.current()) is not None and input_mask is None:
                trace.assign(expr, desc)
            expr = spread_like(expr, self)
        if type(expr) in _NUMBERS and input_mask is None and recorder.active is None and fill(self, expr, desc):
            return
        expr = _to_expression(self, expr, desc, input_mask)
        if expr is None:
            return
        if input_mask is not None and type(expr) is tuple:
            expr, desc = expr
            input_mask = None
    if input_mask is not None:
        raise TypeError("`input_mask` argument may only be used for extract")
    record = expr._record
    if record.shape != self.shape:
        ops.checks.output_shape(record.name, self.shape, record.shape)
    mask = desc.mask
    if mask is not None:
        if mask.parent.shape != self.shape:
            check_mask(mask, self)
            if mask.parent.ndim != self.ndim:
                raise TypeError(
                    f"Mask object must be a mask of a {type(self).__name__}, as the output is; "
                    f"got one of a {type(mask.parent).__name__}"
                )
            ops.checks.mask_shape(record.name, mask.parent.shape, self.shape)
    if type(record) is RepositionRecipe:
        assign(self, Resolved(self, record.region), record.part(), desc)
        return
    try:
        if desc.is_anew:  # what self held is not looked at
            if tracing.active is not None:
                elements.note_write(self, record, desc)
            self._store = ops.write(None, record, self.dtype, desc)  # these three as in elements.reset
            self._pending = None
            self._base = None
        else:
            _write(self, record, desc)
    except MemoryError as exc:
        if recorder.active is not None:
            recorder.note_write(self.name, record, desc, "OutOfMemory")
        raise OutOfMemory(f"{record.name}: the result of shape {record.shape} does not fit in memory ({exc})") from None
    if recorder.active is not None:
        recorder.note_write(self.name, record, desc)


def _write(self, record, desc):
    t, mask = ops.compute(record, desc)
    if self._pending is None and self._store.format == "bitmap":  # changes in place: see can_keep_changes
        self._store = ops.finish(elements.store_to_write(self, record, desc), t, self.dtype, mask, desc)
        return

    def finish(c):
        return ops.finish(c, t, self.dtype, mask, desc)

    if not write_part(self, lambda c: ops.part_of_write(c, t, mask, desc), finish):
        self._store = finish(elements.store_to_write(self, record, desc))


def _to_expression(self, expr, desc, input_mask):
    """An expression of self's kind, (expression, Descriptor) for an extract with an input mask, or None when all is
    done.
    """
    if isinstance(expr, Computable):
        typed = _typed(self, expr._to_expr())
        if input_mask is not None and expr._takes_input_mask:
            mask = expr._input_mask_to_mask(check_mask(input_mask, expr.parent))
            return typed, ops.Descriptor(mask, desc.accum, desc.replace)
        return typed
    if type(expr) is type(self):
        assign(self, Resolved(self, ...), expr, desc, False, input_mask)
        return None
    kind = output_type(expr)
    if kind is kinds.TransposedMatrix and self.ndim == 2:
        return MatrixExpression(ops.transpose(expr._matrix), ("{0}", expr))
    if kind is not kinds.Scalar:
        try:
            literal(expr, self.dtype if self.dtype._is_udt else None)
        except (TypeError, ValueError):
            name = type(self).__name__
            raise TypeError(
                f"Assignment value must be a valid expression type, not {type(expr)}.\n\n"
                f"Valid expression types include {name}, {name}Expression, AmbiguousAssignOrExtract, and scalars."
            ) from None
    assign(self, Resolved(self, ...), expr, desc, False, input_mask)
    return None


def _typed(self, expr):
    """`expr` if it computes to self's class.  A scalar expression is computed (autocompute) and assigned."""
    if expr.output_type is type(self):
        return expr
    if expr._is_scalar and config.get("autocompute"):
        store_like = self.dup(clear=True)
        assign(store_like, Resolved(self, ...), expr.new())
        cls = VectorExpression if self.ndim == 1 else self._expression_type
        return cls(ops.copy(store_like), ("{0}", expr))
    expected = type(type(self).__name__ + "Expression", (), {})
    expect_type(self, expr, (kinds.Scalar, type(self), expected), within="update")
    raise AssertionError("unreachable")  # pragma: no cover
