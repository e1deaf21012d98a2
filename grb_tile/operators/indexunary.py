"""IndexUnaryOp: z = f(x, i, j, thunk), and SelectOp, the same with a BOOL result, for select."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dtypes import BOOL, INT32, INT64, UINT64
from .base import TypedOpBase
from .functions import FunctionFamily, FunctionOp
from .ir import argument, arguments_used, cast
from .table import INDEX_ALIASES, INDEXUNARY
from .to_numpy import numpy_function
from .unary import _rooted, definition

if TYPE_CHECKING:
    from typing import Any

_POSITIONAL = {"tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt", "rowindex", "colindex"}


class TypedIndexUnaryOp(TypedOpBase):
    """An IndexUnaryOp for one type of value and one of thunk.  Spec: GraphBLAS C API 2.1, section 3.4.1."""

    __slots__ = ("thunk_type", "uses")  # uses: the numbers of those of (x, i, j, thunk) on which the result depends
    opclass = "IndexUnaryOp"

    @property
    def uses_values(self):
        return 0 in self.uses


class TypedSelectOp(TypedIndexUnaryOp):
    """A SelectOp for one type of value and one of thunk.  Spec: GraphBLAS C API 2.1, section 4.3.9."""

    __slots__ = ()
    opclass = "SelectOp"


class IndexUnaryOp(FunctionOp):
    """z = f(x, i, j, thunk): the value, its row, its column (0 in a vector), and a scalar.

    Spec: GraphBLAS C API 2.1, section 3.4.1.

    >>> from grb_tile.operators import IndexUnaryOp
    >>> import numpy as np
    >>> op = IndexUnaryOp.register_anonymous(lambda x, i, j, thunk: i + j <= thunk)
    >>> z = np.zeros(3, np.int64)
    >>> op["INT64"].numpy(z, np.arange(3), z, np.int64(1)).tolist()
    [True, True, False]
    """

    _modname = "indexunary"
    _typed_class = TypedIndexUnaryOp
    opclass = "IndexUnaryOp"

    @staticmethod
    def _argument_types(type_):
        # python-graphblas infers result types with unsigned positions (UINT64).  Values are computed with signed ones
        # (INT64), so that i - j may be negative.
        return (type_, UINT64, UINT64, type_)

    @classmethod
    def _predefined(cls, name):
        name = INDEX_ALIASES.get(name, name)
        rule, text = INDEXUNARY[name]
        op = cls(name, rule=rule)
        op._builtin = True
        op._text = text
        op.is_positional = name in _POSITIONAL
        return op

    def _make(self, type_, inner, result):
        typed = self._typed_class(self, self.name, type_, result)
        if self.orig_func is not None:
            typed.thunk_type = type_
            self._user.install(typed, (type_, INT64, INT64, type_), result)
        else:
            by_value = self.name.startswith("value")
            thunk = type_ if by_value else INT32 if type_ is INT32 else INT64
            typed.thunk_type = thunk
            names = {"x": type_, "i": INT64, "j": INT64, "thunk": thunk if by_value else INT64}
            operands = [argument(k, t) for k, t in enumerate((type_, INT64, INT64, thunk))]
            if thunk is INT32 and not by_value:
                operands[3] = cast(operands[3], INT64)
            typed.expression = _rooted(definition(self._text, type_), names, operands, result)
            typed.numpy = numpy_function(typed.expression, 4)
            typed.kind = self.name
        typed.uses = set(range(4)) if typed.expression is None else arguments_used(typed.expression)
        return typed

    def _compile_udt(self, dtype, dtype2):
        dtype2 = dtype if dtype2 is None else dtype2
        typed = self._pairs.get((dtype, dtype2))
        if typed is not None:
            return typed
        if self.orig_func is None:
            raise KeyError(f"{self.name} does not work with {(dtype, dtype2)} types")
        types = (dtype, INT64, INT64, dtype2)
        result = self._user.natural_type(types)
        if result is None:
            raise KeyError(f"{self.name} does not work with {(dtype, dtype2)} types") from self._user.trial_error
        result = self._settled(result)
        typed = self._typed_class(self, self.name, dtype, result, dtype2)
        typed.thunk_type = dtype2
        self._user.install(typed, types, result)
        typed.uses = set(range(4)) if typed.expression is None else arguments_used(typed.expression)
        self._pairs[dtype, dtype2] = typed
        return typed

    def _settled(self, result):
        return result

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
        """Register `func(x, i, j, thunk)` as `grb_tile.indexunary.<name>`, and as a SelectOp when it returns BOOL.

        Raises: AttributeError when the name is taken; ValueError for a SelectOp that does not return BOOL.
        """
        IndexUnaryOp._refuse_taken(name)

        def new():
            if parameterized:
                index = ParameterizedIndexUnaryOp(name, func, is_udt=is_udt)
                chosen = ParameterizedSelectOp(name, func, is_udt=is_udt)
                return index, chosen
            index = IndexUnaryOp._build(name, func, is_udt=is_udt, cuda=cuda)
            fits = all(t is BOOL for t in index.types.values())
            if cls is SelectOp and not fits and not lazy:
                raise ValueError("SelectOp must have BOOL return type")
            return index, SelectOp._from_indexunary(index) if fits else None

        if lazy:
            made: list[Any] = []

            def one(which):
                if not made:
                    made.extend(new())
                if made[which] is None:
                    raise ValueError("SelectOp must have BOOL return type")
                return made[which]

            IndexUnaryOp._namespace().delay(name, lambda: one(0))
            if cls is SelectOp:
                SelectOp._namespace().delay(name, lambda: one(1))
            return None
        index, chosen = new()
        IndexUnaryOp._publish(name, index)
        if chosen is not None and (cls is SelectOp or not parameterized):
            SelectOp._publish(name, chosen)
        return chosen if cls is SelectOp else index


class SelectOp(IndexUnaryOp):
    """An IndexUnaryOp with a BOOL result: select keeps the entries for which it is true.

    Spec: GraphBLAS C API 2.1, section 4.3.9.
    """

    _modname = "select"
    _typed_class = TypedSelectOp
    opclass = "SelectOp"

    @classmethod
    def _from_indexunary(cls, index):
        """The select operator that keeps the entries for which `index` is true."""
        if not all(t is BOOL for t in index.types.values()):
            raise ValueError("SelectOp must have BOOL return type")
        op = cls(index.name, anonymous=index._anonymous)
        op._set_rule(index._rule)
        op._is_udt = index._is_udt
        op.is_positional = index.is_positional
        op._builtin = index._builtin
        if index.orig_func is not None:
            op.orig_func, op._user = index.orig_func, index._user
        else:
            op._text = index._text
        return op

    @classmethod
    def _build(cls, name, func, **options):
        op = super()._build(name, func, **options)
        if not all(t is BOOL for t in op.types.values()):
            raise ValueError("SelectOp must have BOOL return type")
        return op

    def _settled(self, result):
        return BOOL


class ParameterizedIndexUnaryOp(FunctionFamily):
    """A family of IndexUnaryOps: a call with parameters returns the operator."""

    _op_class = IndexUnaryOp


class ParameterizedSelectOp(ParameterizedIndexUnaryOp):
    """A family of SelectOps: a call with parameters returns the operator."""

    _op_class = SelectOp
