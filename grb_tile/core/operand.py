"""Operand: the base of the operands of Python's operators, `A + B` or `A @ v`: objects and expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class Operand:
    """Base of objects and expressions; sugar.py defines their operators, type checkers read them here."""

    __slots__ = ()

    if TYPE_CHECKING:

        def _unary(self) -> Any: ...
        def _binary(self, other: Any) -> Any: ...

        __abs__ = __neg__ = __invert__ = _unary
        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __divmod__ = _binary
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rdivmod__ = _binary
        __and__ = __or__ = __xor__ = __matmul__ = __rand__ = __ror__ = __rxor__ = __rmatmul__ = _binary
        __lt__ = __le__ = __gt__ = __ge__ = _binary
