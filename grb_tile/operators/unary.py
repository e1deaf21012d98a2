"""UnaryOp: z = f(x), entry by entry."""
import inspect
from types import FunctionType

from ..dtypes import INT64
from .base import OpBase, ParameterizedUdf, TypedOpBase
from .from_python import expression_from_text
from .ir import argument, cast, constant
from .table import UNARY
from .to_numpy import numpy_function
from .udf import UserFunction, infer_rule


class TypedUnaryOp(TypedOpBase):
    """A UnaryOp for one type.  Spec: GraphBLAS C API 2.1, section 3.5.1."""

    __slots__ = ()
    opclass = "UnaryOp"


def definition(text, type_):
    """The text for operands of `type_`: rows give one for all kinds or one per kind."""
    return text.get(type_.np_type.kind, text.get("*")) if type(text) is dict else text


class UnaryOp(OpBase):
    """z = f(x), possibly of another type.

    Types: `op.types`; registered functions get the types they compute with.  Spec: GraphBLAS C API 2.1, section 3.5.1.

    >>> from grb_tile.operators import UnaryOp
    >>> import numpy as np
    >>> op = UnaryOp.register_anonymous(lambda x: x * x + 1, "plus_one_squared")
    >>> op["INT64"].numpy(np.array([1, 2, 3])).tolist()
    [2, 5, 10]
    """

    _modname = "unary"
    opclass = "UnaryOp"
    orig_func = None
    _numba_func = None

    @classmethod
    def _predefined(cls, name):
        rule, text = UNARY[name]
        op = cls(name, rule=rule)
        op._builtin = True
        op._text = text
        op.is_positional = rule == "position"
        op._takes_udt = name in ("identity", "one")
        return op

    def _make(self, type_, inner, result):
        typed = TypedUnaryOp(self, self.name.removeprefix("ss."), type_, result)
        if self.is_positional:
            typed.positional = typed.name.removeprefix("position")
        elif self.orig_func is not None:
            self._user.install(typed, (type_,), result)
        else:
            x = cast(argument(0, type_), inner)
            typed.expression = _rooted(definition(self._text, inner), {"x": inner}, [x], result)
            typed.numpy = numpy_function(typed.expression, 1)
            typed.kind = {"identity": "identity", "one": "one"}.get(self.name)
        return typed

    def _compile_udt(self, dtype, dtype2):
        typed = self._pairs.get(dtype)
        if typed is not None:
            return typed
        if self.orig_func is not None:
            result = self._user.natural_type((dtype,))
            if result is None:
                raise KeyError(f"{self.name} does not work with {dtype}") from self._user.trial_error
            typed = TypedUnaryOp(self, self.name, dtype, result)
            self._user.install(typed, (dtype,), result)
        elif self.name == "identity":
            typed = TypedUnaryOp(self, self.name, dtype, dtype)
            typed.expression, typed.kind = argument(0, dtype), "identity"
            typed.numpy = numpy_function(typed.expression, 1)
        else:
            typed = TypedUnaryOp(self, self.name, dtype, INT64)
            typed.expression, typed.kind = constant(1, INT64), "one"
            typed.numpy = numpy_function(typed.expression, 1)
        self._pairs[dtype] = typed
        return typed

    @classmethod
    def _build(cls, name, func, *, anonymous=False, is_udt=False, cuda=None):
        check_function(func)
        op = cls(name or getattr(func, "__name__", "<anonymous_unary>"), anonymous=anonymous)
        op.orig_func = func
        op._user = UserFunction(func, cuda)
        op._is_udt = is_udt
        if not is_udt:
            op._set_rule(infer_rule(op._user, lambda t: (t,)))
        return op

    @property
    def _numba_func(self):
        return None if self.orig_func is None else self._user.compiled()

    @classmethod
    def register_anonymous(cls, func, name=None, *, parameterized=False, is_udt=False, cuda=None):
        """An operator of `func(x)` that no namespace holds.

        `parameterized`: func returns the function.  `is_udt`: typed when used (user-defined types).  `cuda`: C++ text of
        a functor body, for functions whose source cannot be lowered.
        Raises: TypeError for what is not a function, UdfParseError for what cannot be an operator.
        """
        if parameterized:
            return ParameterizedUnaryOp(name, func, anonymous=True, is_udt=is_udt)
        return cls._build(name, func, anonymous=True, is_udt=is_udt, cuda=cuda)

    @classmethod
    def register_new(cls, name, func, *, parameterized=False, is_udt=False, lazy=False, cuda=None):
        """Register `func(x)` as `grb_tile.unary.<name>` (periods make nested names); see `register_anonymous`.

        `lazy`: built on first use.  Raises: AttributeError when the name is taken.
        """
        cls._refuse_taken(name)
        if lazy:
            return cls._namespace().delay(name, lambda: cls._new(name, func, parameterized, is_udt, cuda))
        op = cls._new(name, func, parameterized, is_udt, cuda)
        cls._publish(name, op)
        return op

    @classmethod
    def _new(cls, name, func, parameterized, is_udt, cuda):
        if parameterized:
            return ParameterizedUnaryOp(name, func, is_udt=is_udt)
        return cls._build(name, func, is_udt=is_udt, cuda=cuda)


def _rooted(text, names, operands, result):
    """The expression of a table text with its arguments replaced by `operands` (casts of the real arguments)."""
    root = expression_from_text(text, names, result)
    return substitute(root, operands)


def substitute(root, operands):
    from .ir import Node, walk

    if all(o.op == "arg" for o in operands):
        return root
    made = {}
    for node in walk(root):
        if node.op == "arg":
            made[id(node)] = operands[node.value]
        elif node.args:
            made[id(node)] = Node(node.op, node.type, tuple(made[id(c)] for c in node.args), node.value)
        else:
            made[id(node)] = node
    return made[id(root)]


def check_function(func):
    if not isinstance(func, FunctionType):
        raise TypeError(f"UDF argument must be a function, not {type(func)}")


class ParameterizedUnaryOp(ParameterizedUdf):
    """A UnaryOp with parameters: call it to get the operator."""

    _modname = "unary"
    opclass = "UnaryOp"

    def __init__(self, name, func, *, anonymous=False, is_udt=False):
        self.func = func
        self.__signature__ = inspect.signature(func)
        self._is_udt = is_udt
        super().__init__(getattr(func, "__name__", name) if name is None else name, anonymous)

    def _call(self, *args, **kwargs):
        function = self.func(*args, **kwargs)
        function._parameterized_info = (self, args, kwargs)
        return UnaryOp.register_anonymous(function, self.name, is_udt=self._is_udt)

    def _reduce_args(self):
        return (self.func,)

    @staticmethod
    def _deserialize(name, func, anonymous):
        if anonymous:
            return UnaryOp.register_anonymous(func, name, parameterized=True)
        found = UnaryOp._find(name)
        return found if found is not None else UnaryOp.register_new(name, func, parameterized=True)
