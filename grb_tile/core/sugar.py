"""Python's operators on matrices, vectors and scalars.

    A + B   union by plus        A += B   accumulates        A + 1   apply, as all operators with a scalar
    A - B   union by minus with 0 for what is missing
    A * B, A / B, A // B, A % B, A ** B        the intersection
    A < B, A == B, ...                         the intersection; on a Scalar == and != compare values instead
    abs(A), -A, ~A (Boolean)                   apply
    A ^ B (Boolean)                            union by lxor
    A | B, A & B, A @ B                        infix forms, which an operator completes (infix.py)

All return expressions; the in-place forms write into the object on the left.
"""

from ..dtypes import BOOL
from . import tracing
from .arguments import output_type
from .base import BaseType
from .collection import default_op
from .expression import BaseExpression, Computable, ScalarExpression
from .indexed import IndexExpr, ScalarIndexExpr
from .infix import InfixExpr, ScalarInfixExpr, ewise, matmul
from .matrix import Matrix
from .number import Number, combined as combine_numbers
from .scalar import Scalar
from .transposed import TransposedMatrix
from .vector import Vector

_COLLECTIONS = {Matrix, Vector, TransposedMatrix}
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_ARITHMETIC = {
    "add": ("plus", "ewise_add"), "mul": ("times", "ewise_mult"), "truediv": ("truediv", "ewise_mult"),
    "floordiv": ("floordiv", "ewise_mult"), "mod": ("numpy.mod", "ewise_mult"), "pow": ("pow", "ewise_mult"),
    "sub": ("minus", "ewise_union"),
}  # fmt: skip


def combine(left, right, name, method="ewise_mult"):
    """The expression of `left op right`: element-wise for two collections, apply when one is a scalar."""
    if tracing.active is not None:
        left, right = (x.new() if isinstance(x, (ScalarExpression, ScalarIndexExpr)) else x for x in (left, right))
        if type(right) is Number or type(left) is Number:
            return combine_numbers(left, right, name)
    op = default_op("binary", name)
    if left is None or right is None:
        return op(left, right)  # raises
    kind, other_kind = output_type(left), output_type(right)
    defaults = (False, False) if method == "ewise_union" else ()
    if kind in _COLLECTIONS:
        return getattr(left, method)(right, op, *defaults) if other_kind in _COLLECTIONS else left.apply(op, right)
    if other_kind in _COLLECTIONS:
        return right.apply(op, left=left)
    if kind is Scalar:
        return getattr(left, method)(right, op, *defaults)
    return getattr(Scalar.from_value(left, name=""), method)(right, op, *defaults)


def _boolean(expr, method, symbol, how):
    if expr.dtype is not BOOL:
        raise TypeError(
            f"The {method} infix operator, `x {symbol} y`, is not supported for {expr.dtype.name} dtype."
            f"  It is only supported for BOOL dtype (and it uses {how})."
        )
    return expr


def _spreads(self, other):
    """In place, `other` is not simply accumulated: a vector beside a matrix, or a scalar beside either."""
    kind = output_type(other)
    return (kind is Vector and self.ndim == 2) or (not self._is_scalar and kind not in _COLLECTIONS)


def _put(classes, name, function):
    function.__name__ = name
    for cls in classes:
        setattr(cls, name, function)


def _define_arithmetic(everything):
    for name, (op, method) in _ARITHMETIC.items():

        def forwards(self, other, _op=op, _method=method):
            return combine(self, other, _op, _method)

        def reflected(self, other, _op=op, _method=method):
            return combine(other, self, _op, _method)

        def in_place(self, other, _op=op, _method=method):
            if _op == "plus" and not _spreads(self, other):
                self(default_op("binary", _op)) << other
            else:
                self << combine(self, other, _op, _method)
            return self

        _put(everything, f"__{name}__", forwards)
        _put(everything, f"__r{name}__", reflected)
        _put((BaseType,), f"__i{name}__", in_place)

    def divmod_(self, other):
        return combine(self, other, "floordiv"), combine(self, other, "numpy.mod")

    def rdivmod(self, other):
        return combine(other, self, "floordiv"), combine(other, self, "numpy.mod")

    _put(everything, "__divmod__", divmod_)
    _put(everything, "__rdivmod__", rdivmod)


def _define_comparisons(everything):
    not_scalars = (Matrix, Vector, TransposedMatrix, Number)
    for name in _COMPARISONS:

        def compare(self, other, _op=name):
            return combine(self, other, _op)

        if name not in ("eq", "ne"):
            _put(everything, f"__{name}__", compare)
            continue
        _put(not_scalars, f"__{name}__", compare)

        def compare_or_value(self, other, _op=name, _dunder=f"__{name}__"):
            if self._is_scalar:
                return getattr(self._get_value(_dunder), _dunder)(other)
            return combine(self, other, _op)

        _put((BaseExpression, IndexExpr, InfixExpr), f"__{name}__", compare_or_value)
    for cls in (*not_scalars, BaseExpression, IndexExpr, InfixExpr):
        cls.__hash__ = object.__hash__  # by identity: {A: 1}, lru_cache
    for cls in (ScalarExpression, ScalarIndexExpr, ScalarInfixExpr):
        cls.__hash__ = None


def _define_boolean(everything):
    def abs_(self):
        return self.apply(default_op("unary", "abs"))

    def neg(self):
        return self.apply(default_op("unary", "ainv"))

    def invert(self):
        if self.dtype is not BOOL:
            raise TypeError(
                f"The invert operator, `~`, is not supported for {self.dtype.name} dtype."
                "  It is only supported for BOOL dtype."
            )
        return default_op("unary", "lnot")(self)

    def xor(self, other):
        return _boolean(combine(self, other, "lxor", "ewise_add"), "__xor__", "^", "ewise_add--the union")

    def rxor(self, other):
        return _boolean(combine(other, self, "lxor", "ewise_add"), "__xor__", "^", "ewise_add--the union")

    for name, function in (("abs", abs_), ("neg", neg), ("invert", invert), ("xor", xor), ("rxor", rxor)):
        _put(everything, f"__{name}__", function)

    def in_place_union(op, symbol, method):
        def in_place(self, other):
            if _spreads(self, other):
                self << _boolean(combine(self, other, op, "ewise_add"), method, symbol, "ewise_add--the union")
            else:
                if getattr(other, "dtype", None) is not BOOL and not (self._is_scalar and type(other) is bool):
                    found = getattr(other, "dtype", type(other))
                    raise TypeError(
                        f"The {method} infix operator, `x {symbol} y`, is not supported for {found} dtype."
                        "  It is only supported for BOOL dtype (and it uses ewise_add--the union)."
                    )
                self(default_op("binary", op)) << other
            return self

        return in_place

    def iand(self, other):
        self << _boolean(combine(self, other, "land"), "__iand__", "&=", "ewise_mult--the intersection")
        return self

    _put((BaseType,), "__ixor__", in_place_union("lxor", "^=", "__ixor__"))
    _put((BaseType,), "__ior__", in_place_union("lor", "|=", "__ior__"))
    _put((BaseType,), "__iand__", iand)


def _define_infix(everything):
    def or_(self, other):
        return ewise(self, other, "|", "__or__")

    def ror(self, other):
        return ewise(other, self, "|", "__ror__")

    def and_(self, other):
        return ewise(self, other, "&", "__and__")

    def rand(self, other):
        return ewise(other, self, "&", "__rand__")

    def matmul_(self, other):
        return NotImplemented if self._is_scalar else matmul(self, other, "__matmul__")

    def rmatmul(self, other):
        return NotImplemented if self._is_scalar else matmul(other, self, "__rmatmul__")

    def imatmul(self, other):
        if self._is_scalar:
            raise TypeError("'__imatmul__' not supported for Scalar")
        self << self @ other
        return self

    for name, function in (("or", or_), ("ror", ror), ("and", and_), ("rand", rand)):
        _put(everything, f"__{name}__", function)
    _put(everything, "__matmul__", matmul_)
    _put(everything, "__rmatmul__", rmatmul)
    _put((BaseType,), "__imatmul__", imatmul)


def _define():
    everything = (BaseType, TransposedMatrix, BaseExpression, IndexExpr, InfixExpr)
    _define_infix((BaseType, TransposedMatrix, Computable))
    _define_arithmetic((*everything, Number))
    _define_comparisons((*everything, Number))
    _define_boolean(everything)


_define()
