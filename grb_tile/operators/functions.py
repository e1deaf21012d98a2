"""Operators from Python functions: registration and parameterized families, for UnaryOp, BinaryOp and IndexUnaryOp."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import TYPE_CHECKING

from .base import OpBase, ParameterizedUdf
from .udf import UserFunction, infer_rule

if TYPE_CHECKING:
    from typing import Any


class FunctionOp(OpBase):
    """An operator that a Python function may define."""

    orig_func = None
    _family = None  # the class of its families, see FunctionFamily

    @staticmethod
    def _argument_types(type_):
        """The types of the function's arguments for operands of `type_`."""
        raise NotImplementedError

    @property
    def _numba_func(self):
        return None if self.orig_func is None else self._user.compiled()

    @classmethod
    def _build(cls, name, func, *, anonymous=False, is_udt=False, cuda=None):
        if not isinstance(func, FunctionType):
            raise TypeError(f"UDF argument must be a function, not {type(func)}")
        op = cls(name or getattr(func, "__name__", f"<anonymous_{cls._modname}>"), anonymous=anonymous)
        op.orig_func = func
        op._user = UserFunction(func, cuda)
        op._is_udt = is_udt
        if not is_udt:
            op._set_rule(infer_rule(op._user, cls._argument_types))
        return op

    @classmethod
    def register_anonymous(
        cls,
        func: Any,
        name: str | None = None,
        *,
        parameterized: bool = False,
        is_udt: bool = False,
        cuda: str | None = None,
    ) -> Any:
        """The operator of `func(x)`, `func(x, y)` or `func(x, i, j, thunk)`, without a name in a namespace.

        `parameterized`: func returns the function.  `is_udt`: types are inferred at each use (user-defined or mixed
        types).  `cuda`: C++ text of a functor body, for functions whose source cannot be lowered.
        Raises: TypeError for an object that is no function, UdfParseError for a function that cannot be an operator.
        """
        return cls._new(name, func, parameterized, is_udt, cuda, anonymous=True)

    @classmethod
    def register_new(
        cls,
        name: str,
        func: Any,
        *,
        parameterized: bool = False,
        is_udt: bool = False,
        lazy: bool = False,
        cuda: str | None = None,
    ) -> Any:
        """Register `func` as `<name>` of the operators' namespace (periods make nested names); see
        `register_anonymous`.

        `lazy`: built on first use, None is returned.  Raises: AttributeError when the name is taken.
        """
        cls._refuse_taken(name)
        if lazy:
            return cls._namespace().delay(name, lambda: cls._new(name, func, parameterized, is_udt, cuda))
        op = cls._new(name, func, parameterized, is_udt, cuda)
        cls._publish(name, op)
        return op

    @classmethod
    def _new(cls, name, func, parameterized, is_udt, cuda, anonymous=False):
        if parameterized:
            return cls._family(name, func, anonymous=anonymous, is_udt=is_udt)
        return cls._build(name, func, anonymous=anonymous, is_udt=is_udt, cuda=cuda)


class FunctionFamily(ParameterizedUdf):
    """A family of operators: `func(*parameters)` returns the function of one, of class `_op_class`."""

    _op_class: Any = None

    def __init_subclass__(cls):
        op_class = cls._op_class
        op_class._family = cls
        cls._modname, cls.opclass = op_class._modname, op_class.opclass

    def __init__(self, name, func, *, anonymous=False, is_udt=False):
        self.func = func
        self.__signature__ = inspect.signature(func)
        self._is_udt = is_udt
        super().__init__(getattr(func, "__name__", name) if name is None else name, anonymous)

    def _call(self, *args, **kwargs):
        function = self.func(*args, **kwargs)
        function._parameterized_info = (self, args, kwargs)
        return self._op_class.register_anonymous(function, self.name, is_udt=self._is_udt)

    def _reduce_args(self):
        return (self.func,)

    @classmethod
    def _deserialize(cls, name, func, anonymous):
        if anonymous:
            return cls._op_class.register_anonymous(func, name, parameterized=True)
        found = cls._op_class._find(name)
        return found if found is not None else cls._op_class.register_new(name, func, parameterized=True)
