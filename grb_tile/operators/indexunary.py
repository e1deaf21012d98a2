"""IndexUnaryOp: z = f(x, i, j, thunk), and SelectOp, the same with a BOOL result, for select."""
import inspect

from ..dtypes import BOOL, INT32, INT64, UINT64
from .base import OpBase, ParameterizedUdf, TypedOpBase
from .ir import argument, arguments_used, cast
from .table import INDEX_ALIASES, INDEXUNARY
from .to_numpy import numpy_function
from .udf import UserFunction, infer_rule
from .unary import _rooted, check_function, definition

_POSITIONAL = {"tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt", "rowindex", "colindex"}


class TypedIndexUnaryOp(TypedOpBase):
    """An IndexUnaryOp for one type of value and one of thunk.  Spec: GraphBLAS C API 2.1, section 3.5.4."""

    __slots__ = ("thunk_type", "uses_values")
    opclass = "IndexUnaryOp"


class TypedSelectOp(TypedIndexUnaryOp):
    """A SelectOp for one type of value and one of thunk.  Spec: GraphBLAS C API 2.1, section 4.3.9."""

    __slots__ = ()
    opclass = "SelectOp"


class IndexUnaryOp(OpBase):
    """z = f(x, i, j, thunk): the value, its row, its column (0 in a vector), and a scalar.

    Spec: GraphBLAS C API 2.1, section 3.5.4.

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
    orig_func = None

    @classmethod
    def _predefined(cls, name):
        name = INDEX_ALIASES.get(name, name)
        rule, text = INDEXUNARY[name]
        op = cls(name, rule=rule)
        op._builtin = True
        op._text = text
        op.is_positional = name in _POSITIONAL
        return op

    def _typed_by_rule(self, dtype, rule):
        typed = super()._typed_by_rule(dtype, rule)
        return typed

    def _make(self, type_, inner, result):
        typed = self._typed_class(self, self.name, type_, result)
        if self.orig_func is not None:
            typed.thunk_type = type_
            self._user.install(typed, (type_, INT64, INT64, type_), result)
        else:
            by_value = self.name.startswith("value")
            thunk = type_ if by_value else INT32 if type_ is INT32 else INT64
            typed.thunk_type = thunk
            place = INT64
            names = {"x": type_, "i": place, "j": place, "thunk": thunk if by_value else INT64}
            operands = [argument(k, t) for k, t in enumerate((type_, INT64, INT64, thunk))]
            if thunk is INT32 and not by_value:
                operands[3] = cast(operands[3], INT64)
            typed.expression = _rooted(definition(self._text, type_), names, operands, result)
            typed.numpy = numpy_function(typed.expression, 4)
            typed.kind = self.name
        typed.uses_values = typed.expression is None or 0 in arguments_used(typed.expression)
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
        typed.uses_values = typed.expression is None or 0 in arguments_used(typed.expression)
        self._pairs[dtype, dtype2] = typed
        return typed

    def _settled(self, result):
        return result

    @property
    def _numba_func(self):
        return None if self.orig_func is None else self._user.compiled()

    @classmethod
    def _build(cls, name, func, *, anonymous=False, is_udt=False, cuda=None):
        check_function(func)
        op = cls(name or getattr(func, "__name__", "<anonymous_indexunary>"), anonymous=anonymous)
        op.orig_func = func
        op._user = UserFunction(func, cuda)
        op._is_udt = is_udt
        if not is_udt:
            # Positions are unsigned to Numba and so to python-graphblas: result types are inferred with that, values are
            # computed with signed positions, so that i - j means what it says.
            op._set_rule(infer_rule(op._user, lambda t: (t, UINT64, UINT64, t)))
        return op

    @classmethod
    def register_anonymous(cls, func, name=None, *, parameterized=False, is_udt=False, cuda=None):
        """An operator of `func(x, i, j, thunk)` that no namespace holds; see `UnaryOp.register_anonymous`."""
        if parameterized:
            return cls._parameterized_class()(name, func, anonymous=True, is_udt=is_udt)
        return cls._checked(cls._build(name, func, anonymous=True, is_udt=is_udt, cuda=cuda))

    @classmethod
    def register_new(cls, name, func, *, parameterized=False, is_udt=False, lazy=False, cuda=None):
        """Register `func(x, i, j, thunk)` as `grb_tile.indexunary.<name>`, and as a SelectOp when it gives BOOL.

        Raises: AttributeError when the name is taken; ValueError for a SelectOp that does not give BOOL.
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
            made = []

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

    @classmethod
    def _checked(cls, op):
        return op

    @classmethod
    def _parameterized_class(cls):
        return ParameterizedIndexUnaryOp


class SelectOp(IndexUnaryOp):
    """An IndexUnaryOp with a BOOL result: which entries select keeps.

    Spec: GraphBLAS C API 2.1, section 4.3.9.
    """

    _modname = "select"
    _typed_class = TypedSelectOp
    opclass = "SelectOp"

    @classmethod
    def _from_indexunary(cls, index):
        """The select operator that keeps the entries for which `index` gives true."""
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
    def _checked(cls, op):
        if not all(t is BOOL for t in op.types.values()):
            raise ValueError("SelectOp must have BOOL return type")
        return op

    def _settled(self, result):
        return BOOL

    @classmethod
    def _parameterized_class(cls):
        return ParameterizedSelectOp


class ParameterizedIndexUnaryOp(ParameterizedUdf):
    """An IndexUnaryOp with parameters: call it to get the operator."""

    _modname = "indexunary"
    opclass = "IndexUnaryOp"
    _op_class = IndexUnaryOp

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


class ParameterizedSelectOp(ParameterizedIndexUnaryOp):
    """A SelectOp with parameters: call it to get the operator."""

    _modname = "select"
    opclass = "SelectOp"
    _op_class = SelectOp
