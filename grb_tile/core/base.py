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
    __call__ = make_updater

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
