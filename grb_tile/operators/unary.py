"""UnaryOp: z = f(x) for each entry."""

from __future__ import annotations

from ..dtypes import INT64
from .base import TypedOpBase
from .from_python import expression_from_text
from .functions import FunctionFamily, FunctionOp
from .ir import Node, argument, cast, constant, postorder
from .table import UNARY
from .to_numpy import numpy_function


class TypedUnaryOp(TypedOpBase):
    """A UnaryOp for one type.  Spec: GraphBLAS C API 2.1, section 3.4.1."""

    __slots__ = ()
    opclass = "UnaryOp"


def definition(text, type_):
    """The text of a table row for operands of `type_`: a row has one text, or one per kind of type."""
    return text.get(type_.np_type.kind, text.get("*")) if type(text) is dict else text


class UnaryOp(FunctionOp):
    """z = f(x), possibly of another type.

    Types: `op.types`; of a registered function the types that it accepts.  Spec: GraphBLAS C API 2.1, section 3.4.1.

    >>> from grb_tile.operators import UnaryOp
    >>> import numpy as np
    >>> op = UnaryOp.register_anonymous(lambda x: x * x + 1, "plus_one_squared")
    >>> op["INT64"].numpy(np.array([1, 2, 3])).tolist()
    [2, 5, 10]
    """

    _modname = "unary"
    opclass = "UnaryOp"

    @staticmethod
    def _argument_types(type_):
        return (type_,)

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


def _rooted(text, names, operands, result):
    """The expression of a table text, with the arguments replaced by `operands`, casts of the operator's arguments."""
    root = expression_from_text(text, names, result)
    return substitute(root, operands)


def substitute(root, operands):
    """`root` with argument k replaced by operands[k]."""
    if all(o.op == "arg" for o in operands):
        return root
    made = {}
    for node in postorder(root):
        if node.op == "arg":
            made[id(node)] = operands[node.value]
        elif node.args:
            made[id(node)] = Node(node.op, node.type, tuple(made[id(c)] for c in node.args), node.value)
        else:
            made[id(node)] = node
    return made[id(root)]


class ParameterizedUnaryOp(FunctionFamily):
    """A family of UnaryOps: a call with parameters returns the operator."""

    _op_class = UnaryOp
