"""The common base of Matrix, Vector and Scalar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .arguments import check_options
from .display import format_object
from .display_html import format_object_html
from .operand import InPlace, Operand
from .updater import make_updater, update

if TYPE_CHECKING:
    from typing import Any

    from .annotations import MaskLike, OperatorLike
    from .updater import Updater


class ToolsProperty:
    """`A.ss`: the tools of an object; `Matrix.ss`: their class, for what makes new objects."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __get__(self, instance, owner=None):
        from . import ss

        tools = getattr(ss, self._name)
        return tools if instance is None else tools(instance)


class BaseType(InPlace, Operand):
    """An object that stores values and can be written to."""

    __slots__ = ()
    _is_scalar = False
    _update = update

    def __call__(
        self,
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
        return make_updater(self, args, mask, accum, replace, input_mask, opts)

    def __lshift__(self, expr: Any) -> None:
        self._update(expr)

    def update(self, expr: Any, **opts: Any) -> None:
        """`self << expr` as a method."""
        if opts:
            check_options(opts)
        self._update(expr)

    def __bool__(self):
        raise TypeError(
            f"__bool__ not defined for objects of type {type(self)}.  Perhaps use .nvals attribute instead."
        )

    def __repr__(self, mask=None, expr=None):
        return format_object(self, mask=mask, expr=expr)

    def _repr_html_(self, mask=None, collapse=False, expr=None):
        return format_object_html(self, mask=mask, collapse=collapse, expr=expr)

    @property
    def _name_html(self):
        """The name with what follows its first underscore as a subscript."""
        head, _, tail = self.name.partition("_")
        return f"{head}<sub>{tail}</sub>" if tail else self.name

    @property
    def _expr_name(self):
        return self.name
