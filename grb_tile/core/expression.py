"""Expressions: what a method such as `A.mxv(v)` returns.  They have a record; nothing is computed until

    expr.new(dtype, mask=, name=)      a new object
    C << expr,  C(mask, accum) << expr
    expr.nvals, expr[0], ...           use of the value, when gb.config's `autocompute` is on

The attributes of the computed object are properties here (`forward_public`), so that they are listed and documented;
its special methods come from `forward`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import operations as ops
from ..config import config
from ..dtypes import cast_scalar, lookup_dtype
from ..exceptions import OutOfMemory
from ..storage.constructors import empty_matrix, empty_vector
from . import recorder, tracing
from .arguments import check_options
from .display import format_expression
from .display_html import format_expression_html
from .mask import check_mask
from .operand import MatrixOperand, Operand, ScalarOperand, VectorOperand

if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DataType
    from .annotations import DTypeLike, MaskLike
    from .matrix import Matrix
    from .scalar import Scalar
    from .vector import Vector

_MUTATORS = {"build", "clear", "resize", "setdiag", "update"}


def get_value(self, attr: str | None = None) -> Any:
    """The computed object of an expression, kept for the next use; TypeError when autocompute is off."""
    if config.get("autocompute"):
        if self._value is None:
            self._value = self.new()
        return self._value
    raise TypeError(
        f"{attr} not enabled for objects of type {type(self)}.  "
        f"Use `.new()` to create a new {self.output_type.__name__}.\n\n"
        "Hint: use `gb.config.set(autocompute=True)` to enable automatic computation of expressions."
    )


def forward_public(cls, output_type):
    """Let `cls` compute to `output_type` and have its public attributes, other than mutators, as properties."""
    cls.output_type = output_type
    for name in dir(output_type):
        if name[0] == "_" or name in _MUTATORS or name.startswith("from_") or hasattr(cls, name):
            continue

        def attribute(self, _name=name):
            return getattr(self._get_value(_name), _name)

        # not getattr: that would load ss.py for its property's value
        member = next(vars(base)[name] for base in output_type.__mro__ if name in vars(base))
        setattr(cls, name, property(attribute, doc=member.__doc__))


def forward(cls, names):
    """Give `cls` the special methods `names` of the object that it computes to."""
    for name in names:

        def method(self, *args, _name=name):
            return getattr(self._get_value(_name), _name)(*args)

        method.__name__ = name
        setattr(cls, name, method)


def refuse_in_place(cls):
    """In-place operators make no sense on what is not an object yet."""
    for name in ("add", "and", "floordiv", "matmul", "mod", "mul", "or", "pow", "sub", "truediv", "xor"):

        def method(self, other, _name=f"__i{name}__"):
            raise TypeError(f"{_name!r} not supported for {type(self).__name__}")

        method.__name__ = f"__i{name}__"
        setattr(cls, f"__i{name}__", method)


def new_or_empty(self, dtype=None, *, clear=False, mask=None, name=None, **opts):
    """Like `new`; an empty object of the same shape with clear=True."""
    if clear:
        return self.output_type(self.dtype if dtype is None else dtype, *self.shape, name=name)
    return self.new(dtype, mask=mask, name=name, **opts)


class Computable(Operand):
    """Base of everything that can be computed to a Matrix, a Vector or a Scalar."""

    __slots__ = ()
    _is_scalar = False
    _takes_input_mask = False  # True of what extracts: `w(input_mask=M) << v[I]`
    output_type: Any = None  # set in matrix.py, vector.py and scalar.py
    _get_value = get_value
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        # what core itself reads of the computed object; its public attributes are properties, see forward_public
        if name in ("_nvals", "_store", "_name_html", "_is_empty", "_as_vector", "_as_matrix"):
            return getattr(self._get_value(name), name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def name(self) -> str:
        """The name of the computed object."""
        return self._get_value("name").name

    @name.setter
    def name(self, name: str) -> None:
        self._get_value("name").name = name

    def __bool__(self):
        raise TypeError(
            f"__bool__ not defined for objects of type {type(self)}.  Perhaps use .nvals attribute instead."
        )

    def __repr__(self):
        return format_expression(self)

    def _repr_html_(self):
        return format_expression_html(self)


class BaseExpression(Computable):
    """A record, the object it was computed to (if it was), and its text for `repr`.

    text  a format string and its arguments, e.g. ("{0.name}.mxv({1.name}, op={2})", A, v, op)
    """

    __slots__ = ("_record", "_value", "_text", "__weakref__")

    def __init__(self, record, text=None):
        self._record = record
        self._value = None
        self._text = text

    @property
    def dtype(self) -> DataType:
        return self._record.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._record.shape

    @property
    def op(self) -> Any:
        return self._record.op

    @property
    def method_name(self) -> str:
        return self._record.name

    def _to_expr(self):
        """The expression that has a record: this one."""
        return self

    def _format_expr(self):
        if self._text is None:
            names = [getattr(x, "name", "") + (".T" if t else "") for x, t in self._record.operands()]
            op = [] if self._record.op is None else [f"op={self._record.op}"]
            return f"{names[0] if names else ''}.{self._record.name}({', '.join(names[1:] + op)})"
        return self._text[0].format(*self._text[1:])

    def _format_expr_html(self):
        if self._text is None:
            return self._format_expr()
        text = self._text[0].replace(".name", "._name_html").replace("._expr_name", "._expr_name_html")
        return text.format(*self._text[1:])

    def _cached(self, dtype, name):
        """The value that autocompute left, handed over; None when there is none of that type."""
        value = self._value
        if value is None or (dtype is not None and value.dtype is not lookup_dtype(dtype)):
            return None
        self._value = None
        if name is not None:
            value.name = name
        return value

    def _new_store(self, dtype, mask):
        """(store, dtype) of the value, written into an empty object."""
        record = self._record
        dtype = record.dtype if dtype is None else lookup_dtype(dtype)
        try:
            if mask is None:
                return ops.write(None, record, dtype), dtype
            shape = record.shape
            mask = check_mask(mask, self)
            ops.checks.mask_shape(record.name or "new", mask.parent.shape, shape)
            empty = empty_vector(shape[0], dtype) if len(shape) == 1 else empty_matrix(*shape, dtype)
            return ops.write(empty, record, dtype, ops.Descriptor(mask)), dtype
        except MemoryError as exc:
            if recorder.active is not None:
                recorder.note_write("temp", record, ops.Descriptor(mask), error="OutOfMemory")
            shape = record.shape
            raise OutOfMemory(f"{record.name}: the result of shape {shape} does not fit in memory ({exc})") from None

    def _note(self, out, mask=None):
        if recorder.active is not None:
            recorder.note_new(out)
            recorder.note_write(out.name, self._record, ops.Descriptor(mask))


class VectorShaped(VectorOperand):
    """What an expression whose value is a Vector says of its shape."""

    __slots__ = ()
    ndim = 1

    if TYPE_CHECKING:

        def new(
            self, dtype: DTypeLike | None = None, *, mask: MaskLike | None = None, name: str | None = None, **opts: Any
        ) -> Vector: ...

    @property
    def size(self) -> int:
        return self.shape[0]

    _size = size


class MatrixShaped(MatrixOperand):
    """What an expression whose value is a Matrix says of its shape."""

    __slots__ = ()
    ndim = 2

    if TYPE_CHECKING:

        def new(
            self, dtype: DTypeLike | None = None, *, mask: MaskLike | None = None, name: str | None = None, **opts: Any
        ) -> Matrix: ...

    _is_transposed = False
    __networkx_backend__ = __networkx_plugin__ = "grb_tile"

    @property
    def nrows(self) -> int:
        return self.shape[0]

    @property
    def ncols(self) -> int:
        return self.shape[1]

    _nrows = nrows
    _ncols = ncols


class CollectionExpression(BaseExpression):
    """An expression whose value is a Vector or a Matrix."""

    __slots__ = ()

    def new(
        self, dtype: DTypeLike | None = None, *, mask: MaskLike | None = None, name: str | None = None, **opts: Any
    ) -> Any:
        """Compute; the result goes into a new object of the expression's type, or of `dtype`.

        Examples:
        >>> v, w = gb.Vector.from_dict({0: 1, 1: 2}), gb.Vector.from_dict({1: 3})
        >>> (v + w).new(float).to_dict()
        {0: 1.0, 1: 5.0}
        >>> v.ewise_add(w).new(mask=w.S).to_dict()
        {1: 5}
        """
        if opts:
            check_options(opts)
        if self._value is not None and mask is None and (value := self._cached(dtype, name)) is not None:
            return value
        store, dtype = self._new_store(dtype, mask)
        out = self.output_type._from_store(store, dtype, name)
        self._note(out, mask)
        return out

    dup = new_or_empty


class VectorExpression(VectorShaped, CollectionExpression):
    """An expression whose value is a Vector."""

    __slots__ = ()


class MatrixExpression(MatrixShaped, CollectionExpression):
    """An expression whose value is a Matrix."""

    __slots__ = ()


class ScalarExpression(ScalarOperand, BaseExpression):
    """An expression whose value is a Scalar.

    identity   what the value is when the record's is empty (None: an empty Scalar)
    is_cscalar as in python-graphblas; it has no effect here
    """

    __slots__ = ("_identity", "_is_cscalar")
    ndim = 0
    shape = ()
    _is_scalar = True

    def __init__(self, record, text=None, identity=None, is_cscalar=False):
        self._record = record
        self._value = None
        self._text = text
        self._identity = identity
        self._is_cscalar = is_cscalar

    @property
    def is_cscalar(self) -> bool:
        return self._is_cscalar

    @property
    def is_grbscalar(self) -> bool:
        return not self._is_cscalar

    def _compute(self):
        """NumPy scalar of the record's type, or None."""
        value = self._record.compute()
        return self._identity if value is None else value

    def new(
        self, dtype: DTypeLike | None = None, *, is_cscalar: bool | None = None, name: str | None = None, **opts: Any
    ) -> Scalar:
        """Compute; the result is a new Scalar of the expression's type, or of `dtype`.

        Examples:
        >>> gb.Vector.from_coo([0, 1], [2, 3]).reduce(gb.monoid.plus).new().value
        5
        """
        if opts:
            check_options(opts)
        if is_cscalar is None:
            is_cscalar = self._is_cscalar
        if self._value is not None and (value := self._cached(dtype, name)) is not None:
            if value._is_cscalar != is_cscalar:
                value = value.dup(is_cscalar=is_cscalar, name=name)
            return value
        dtype = self._record.dtype if dtype is None else lookup_dtype(dtype)
        value = self._compute()
        if tracing.active is not None and (trace := tracing.current()) is not None:
            number = trace.number(value, self._record.dtype)
            if number is not value:
                return number.new(dtype)
        value = None if value is None else cast_scalar(value, dtype)
        out = self.output_type._from_value(value, dtype, is_cscalar, name)
        self._note(out)
        return out

    def dup(
        self,
        dtype: DTypeLike | None = None,
        *,
        clear: bool = False,
        is_cscalar: bool | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Scalar:
        """Like `new`; an empty Scalar with clear=True."""
        if clear:
            return self.output_type(self.dtype if dtype is None else dtype, is_cscalar=bool(is_cscalar), name=name)
        return self.new(dtype, is_cscalar=is_cscalar, name=name, **opts)


COLLECTION_DUNDERS = ("__contains__", "__getitem__", "__iter__", "__array__")
SCALAR_DUNDERS = ("__array__", "__bool__", "__complex__", "__eq__", "__float__", "__int__", "__ne__")
for _cls in (VectorExpression, MatrixExpression):
    forward(_cls, COLLECTION_DUNDERS)
    refuse_in_place(_cls)
forward(ScalarExpression, SCALAR_DUNDERS)
refuse_in_place(ScalarExpression)
