"""What all operators share: lookup by type, interning, registration by name, pickling, and the call hook of core.

An untyped operator (`OpBase`) makes typed ones on demand: `op[FP64]`, `op["FP64"]`, `op[float]`.  Typed operators are
interned, so `op[t] is op[t]`.  grb_tile.core defines calls of both: it sets `OpBase._call_handler`.
"""

from __future__ import annotations

from operator import getitem
from typing import TYPE_CHECKING, overload

from ..dtypes import UINT64, lookup_dtype, unify
from .names import gb_name
from .registry import NAMESPACES, publish
from .table import RULES

if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    from ..dtypes import DataType

    E = TypeVar("E", covariant=True)

    class Operand(Protocol[E]):
        """An operand of core, whose classes are above: what a called operator makes of it, such as an expression."""

        @property
        def _makes(self) -> E: ...


def _no_core(op, *args, **kwargs):
    raise TypeError(f"{op!r} is called before grb_tile.core is imported, which gives calls their meaning")


def _no_aggregators(name):
    raise TypeError(f"aggregator {name!r} is looked up before grb_tile.core is imported, which defines the aggregators")


class TypedOpBase:
    """An operator for one type of operands (`type`; the second operand may have another one, `type2`).

    return_type      the type of the result
    numpy            the vectorised function; None for positional operators
    expression       the typed expression (ir.py); None for positional operators and functions that are not lowered
    lowerable        whether there is an expression; if not, `python_function` and `refusal`, the reason
    positional       "i", "firstj1" ...: the part of the position that a positional operator returns; None for others
    kind             "first", "pair", "tril" ...: operators that backends compute without the expression; or None
    """

    __slots__ = (
        "__weakref__",
        "_resolved",
        "_type2",
        "cuda_text",
        "expression",
        "kind",
        "name",
        "numpy",
        "parent",
        "positional",
        "python_function",
        "refusal",
        "return_type",
        "type",
    )  # fmt: skip
    opclass: Any = None  # the name of the class without Typed: a str in each subclass

    def __init__(self, parent, name, type_, return_type, type2=None):
        self.parent = parent
        self.name = name
        self.type = type_
        self.return_type = return_type
        self._type2 = type2
        self.expression = None
        self.numpy = None
        self.positional = None
        self.kind = None
        self.python_function = None
        self.refusal = None
        self.cuda_text = None

    def __repr__(self):
        type2 = "" if self._type2 is None else f", {self._type2.name}"
        return f"{self.opclass.lower().removesuffix('op')}.{self.name}[{self.type.name}{type2}]"

    @overload
    def __call__(self, x: Operand[E], /, *args: Any, **kwargs: Any) -> E: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return OpBase._call_handler(self, *args, **kwargs)

    @property
    def type2(self) -> DataType:
        return self.type if self._type2 is None else self._type2

    @property
    def lowerable(self) -> bool:
        """True when the operator has a typed expression, so that every backend can compile it."""
        return self.expression is not None

    @property
    def is_positional(self) -> bool:
        return self.parent.is_positional

    @property
    def orig_func(self) -> Any:
        return self.parent.orig_func

    @property
    def _numba_func(self):
        return self.parent._numba_func

    @property
    def gb_name(self) -> str:
        return gb_name(self)

    @property
    def gb_obj(self) -> str:
        """The operator's name in the C API, in place of a C library's handle."""
        return self.gb_name

    def __reduce__(self):
        if self._type2 is None or self._type2 is self.type:
            return (getitem, (self.parent, self.type))
        return (getitem, (self.parent, (self.type, self._type2)))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class OpBase:
    """An operator for all types in its domain; `types` maps each to the type of the result."""

    _call_handler = staticmethod(_no_core)
    _modname: Any = None  # the namespace, such as "binary"
    is_positional = False
    _custom_dtype = None
    _is_udt = False
    _takes_udt = False
    _initialized = True  # operators are built on first use; programs for python-graphblas may read it

    def __init__(self, name, *, anonymous=False, rule=None):
        self.name = name
        self._anonymous = anonymous
        self._builtin = False
        self._typed = {}  # every key an operator was looked up by -> typed operator
        self._pairs = {}  # (type, type2) of operators used with user-defined or mixed types -> typed operator
        self._resolved = {}  # get_typed_op's cache
        self.types = {}
        self.coercions = {}
        self._rule = {}
        if rule is not None:
            self._set_rule(RULES[rule])

    def _set_rule(self, rule):
        """`rule`: {input type: (type of the typed operator, inner type, return type)}."""
        self._rule = rule
        self.types = {t: r[2] for t, r in rule.items()}
        self.coercions = {t: r[0] for t, r in rule.items() if r[0] is not t}

    def __repr__(self):
        return f"{self._modname}.{self.name}"

    @overload
    def __call__(self, x: Operand[E], /, *args: Any, **kwargs: Any) -> E: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return OpBase._call_handler(self, *args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._typed[key]
        except (KeyError, TypeError):
            return self._look_up(key)

    def _look_up(self, key):
        if type(key) is tuple:
            return self._for_types(lookup_dtype(key[0]), lookup_dtype(key[1]))
        dtype = lookup_dtype(key)
        if self._is_udt or dtype._is_udt and self._takes_udt:
            return self._compile_udt(dtype, dtype)
        rule = self._rule.get(dtype)
        if rule is not None:
            typed = self._typed[dtype] if dtype in self._typed else self._typed_by_rule(dtype, rule)
        elif self.is_positional:
            return self[UINT64]
        else:
            typed = self._for_unlisted(dtype)
        self._typed[dtype] = typed
        if type(key) is not tuple and key.__hash__ is not None:
            self._typed[key] = typed
        return typed

    def _for_types(self, dtype, dtype2, is_left_scalar=False, is_right_scalar=False):
        """The typed operator for operands of two types; `dtype2` is None where there is one operand."""
        key = dtype, dtype2, is_left_scalar, is_right_scalar
        typed = self._resolved.get(key)
        if typed is None:
            typed = self._resolved[key] = self._choose_types(*key)
        return typed

    def _choose_types(self, dtype, dtype2, is_left_scalar, is_right_scalar):
        if self._is_udt:
            return self._compile_udt(dtype, dtype2)
        if dtype2 is None:
            return self[dtype]
        if self._custom_dtype is not None:
            typed = self._custom_dtype(self, dtype, dtype2)
            if typed is not None:
                return typed
        if dtype is dtype2:
            return self[dtype]
        if not (dtype._is_udt or dtype2._is_udt):
            return self[unify(dtype, dtype2, is_left_scalar=is_left_scalar, is_right_scalar=is_right_scalar)]
        if self.is_positional:
            return self[UINT64]
        if not self._takes_udt:
            return self[unify(dtype, dtype2)]
        return self._compile_udt(dtype, dtype2)

    def _for_unlisted(self, dtype):
        """The typed operator for a type that `types` does not name."""
        raise KeyError(f"{self.name} does not work with {dtype}")

    def _typed_by_rule(self, dtype, rule):
        own, inner, result = rule
        if own is dtype:
            return self._make(own, inner, result)
        if own in self._rule:
            return self[own]
        # ldexp has no input types FP32 and FP64, but computes integers in them
        hidden = next((self._typed[t] for t, r in self._rule.items() if r[0] is own and t in self._typed), None)
        return hidden if hidden is not None else self._make(own, inner, result)

    def _make(self, type_, inner, result):
        raise NotImplementedError

    def _compile_udt(self, dtype, dtype2):
        raise KeyError(f"{self.name} does not work with {dtype}")

    def __contains__(self, key):
        try:
            self[key]
        except (TypeError, KeyError):  # an unknown name of a type stays a ValueError
            return False
        except Exception as error:  # Numba's typing errors, without importing Numba to name them
            if type(error).__module__.startswith("numba"):
                return False
            raise
        return True

    def __delitem__(self, key):
        dtype = lookup_dtype(key)
        self._rule = {t: r for t, r in self._rule.items() if t is not dtype}
        del self.types[dtype]
        self._typed = {k: t for k, t in self._typed.items() if k in self._rule}
        self._resolved.clear()

    @property
    def _typed_ops(self):
        """{type: typed operator} of all types, made now."""
        return {dtype: self[dtype] for dtype in self._rule}

    @classmethod
    def _initialize(cls):
        """Nothing to do: operators are built on first use."""

    # names and registration
    @classmethod
    def _namespace(cls):
        return NAMESPACES[cls._modname]

    @classmethod
    def _find(cls, name):
        """The registered operator of that (possibly dotted) name, or None."""
        return cls._namespace().get(name)

    @classmethod
    def _publish(cls, name, op):
        """Register `op` in its namespace, and in grb_tile.op where the name is free."""
        publish(cls._modname, name, op)

    @classmethod
    def _refuse_taken(cls, name):
        if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"name must be a Python identifier, or several joined by periods; got: {name!r}")
        cls._namespace().refuse_taken(name)

    @classmethod
    def _deserialize(cls, name, *args):
        found = cls._find(name)
        return found if found is not None else cls.register_new(name, *args)

    def _reduce_args(self):
        return (self.orig_func,)

    def __reduce__(self):
        if self._anonymous:
            info = getattr(getattr(self, "orig_func", None), "_parameterized_info", None)
            if info is not None:
                return (_restore_parameterized, info)
            args = self._reduce_args()
            return (self.register_anonymous, (*args, self.name))
        if self._builtin:
            return (_find_builtin, (self._modname, self.name))
        return (self._deserialize, (self.name, *self._reduce_args()))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _find_builtin(namespace, name):
    return NAMESPACES[namespace].get(name)


def _restore_parameterized(op, args, kwargs):
    return op(*args, **kwargs)


class AggregatorBase:
    """Base class of core's aggregators; core sets `_finder(name)`, which looks one up, and `_names()`, of all."""

    opclass = "Aggregator"
    _finder = staticmethod(_no_aggregators)
    _names: Any = staticmethod(tuple)


class ParameterizedUdf:
    """A family of operators: a call with parameters makes one, which is cached."""

    is_positional = False
    _custom_dtype = None
    _builtin = False
    _modname: Any
    _call: Any  # makes the operator of the parameters

    def __init__(self, name, anonymous):
        self.name = name
        self._anonymous = anonymous
        self._cache = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = (args, tuple(sorted(kwargs.items())))
        try:
            return self._cache[key]
        except KeyError:
            made = self._cache[key] = self._call(*args, **kwargs)
            return made
        except TypeError:  # unhashable parameters
            return self._call(*args, **kwargs)

    def __repr__(self):
        return f"{self._modname}.{self.name}"

    def __reduce__(self):
        if self._builtin:
            return (_find_builtin, (self._modname, self.name))
        return (self._deserialize, (self.name, *self._reduce_args(), self._anonymous))
