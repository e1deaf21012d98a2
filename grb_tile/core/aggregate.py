"""Aggregators: reductions that need more than a monoid (mean, variance, argmin, ...), each a short formula.

An aggregator reduces the lines of a matrix (its rows, or its columns), a whole matrix, or a vector as a matrix of one
row, so one definition serves all.  With x the entries of a line and n = count of them,

    monoid        (+) x                               sum prod all any min max any_value bitwise_all bitwise_any
    semiring      (+) mul(x, init)                    count sum_of_squares ..., then an optional finalize
    composite     a formula of other aggregators      mean = sum / count, varp = sum(x^2)/n - (sum/n)^2, ...
    positions     argmin argmax first last first_index last_index

Types follow the operators used.  Source: python-graphblas 2025.2.0, graphblas.agg (names and types).
"""

from __future__ import annotations

from functools import partial
from operator import getitem
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np

from ..backends.select import current, on_host
from ..dtypes import BOOL, INT64, cast_scalar, lookup_dtype
from ..exceptions import NotImplementedException
from ..operations.multiply import matmul, matvec
from ..operations.record import Record
from ..operations.shaping import diagonal_matrix
from ..operations.write import true_entries
from ..operators import AggregatorBase, get_typed_op, registered, typed_semiring
from ..storage.constructors import full_vector, iso_like, row_matrix, vector_of_scalar
from ..storage.place import first_value
from ..storage.store import StoredMask
from . import kinds

if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DataType


def _typed(name, dtype, dtype2=None, kind=None):
    return get_typed_op(name, dtype, dtype2, kind=kind)


def _map(name, x):
    op = _typed(name, x.dtype, kind="unary")
    return current().apply(x, op)


def _both(name, x, y):
    return current().intersect(x, y, _typed(name, x.dtype, y.dtype, kind="binary"))


def _bind(name, x, right):
    right = right if isinstance(right, np.generic) else np.asarray(right)[()]
    return current().apply(x, _typed(name, x.dtype, lookup_dtype(right.dtype), kind="binary"), right=right)


class Aggregator(AggregatorBase):
    """A named reduction; `agg.mean[FP64]` is its typed form.

    Called with an object it reduces it: `agg.sum(v)`, `agg.sum(A)`, `agg.mean(A, rowwise=True)`.

    New ones are made of operators or of other aggregators:

        Aggregator("product", monoid=gb.monoid.times)
        Aggregator("cubes", initval=3, semiring=gb.semiring.plus_pow, semiring2=gb.semiring.plus_first)
        Aggregator("midrange", composite=[agg.min, agg.max], types=[agg.min],
                   finalize=lambda low, high, opts: gb.binary.truediv(gb.binary.plus(low & high).new(), 2))

    monoid       w = (+) x
    semiring     w = (+) mul(x, initval), with `switch` mul(initval, x); semiring2 joins the rows of a matrix
    finalize     a UnaryOp applied to w; of a composite, a function of the parts (Vectors) and a dict of options
    types        operators or aggregators whose types, composed in order, are {input type: result type}
    any_dtype    True: every type goes in; a DataType: the type of the result unless `agg[dtype]` asks for another
    """

    def __init__(
        self,
        name,
        *,
        initval=None,
        monoid=None,
        semiring=None,
        switch=False,
        semiring2=None,
        applybegin=None,
        finalize=None,
        composite=None,
        custom=None,
        types=None,
        any_dtype=None,
        formula=None,
        position=None,
        ss=False,
    ):
        if custom is not None:
            raise NotImplementedException(
                f"Aggregator {name!r}: `custom` functions work on internals of python-graphblas; use `composite` with "
                "`finalize`, or write a function of the object"
            )
        if not (monoid or semiring or composite or position):
            raise TypeError(f"Aggregator {name!r} needs a `monoid`, a `semiring` or a `composite`")
        if types is None and not (monoid or semiring):
            raise TypeError("types must be provided for composite and custom aggregators")
        self.name = name
        self.init = np.bool_(False) if initval is None else np.asarray(initval)[()]
        self.init_dtype = lookup_dtype(self.init.dtype)
        self.monoid, self.semiring, self.semiring2 = monoid, semiring, semiring2
        self.switch, self.applybegin, self.finalize = switch, applybegin, finalize
        self.composite, self.position = composite, position
        self.formula = partial(_user_formula, finalize) if composite and formula is None else formula
        self.chain = types or (
            [("monoid", monoid)]
            if monoid
            else [("semiring", semiring), ("semiring", semiring2 or semiring)]
            + ([("unary", finalize)] if finalize else [])
        )
        self.any_dtype = any_dtype
        self.ss = ss
        self._init_given = initval is not None
        self._types = None
        self._typed = {}

    @property
    def counts(self) -> bool:
        """Whether the result has one type whatever the input's (INT64: counts and indices)."""
        return self.any_dtype is not None and self.any_dtype is not True

    @property
    def _any_dtype(self):
        return self.any_dtype

    @property
    def types(self) -> dict[DataType, DataType]:
        """{input type: result type}, from the operators that the formula passes through."""
        if self._types is None:
            op = _link(self.chain[0])
            if self._init_given and self.semiring is not None:
                types = {t: get_typed_op(op, t, self.init_dtype).return_type for t in op.types}
            else:
                types = dict(op.types)
            for entry in self.chain[1:]:
                following = _link(entry).types
                types = {t: following[r] for t, r in types.items() if r in following}
            self._types = types
        return self._types

    def __getitem__(self, dtype: Any) -> TypedAggregator:
        dtype = lookup_dtype(dtype)
        typed = self._typed.get(dtype)
        if typed is None:
            if not self.any_dtype and dtype not in self.types:
                raise KeyError(f"{self.name} does not work with {dtype}")
            typed = self._typed[dtype] = TypedAggregator(self, dtype)
        return typed

    def __contains__(self, dtype):
        return bool(self.any_dtype) or lookup_dtype(dtype) in self.types

    def __repr__(self):
        return f"agg.ss.{self.name}" if self.ss else f"agg.{self.name}"

    def __reduce__(self):
        if AGGREGATORS.get(self.name) is not self:
            raise TypeError(f"{self!r} is not one of gb.agg and cannot be pickled; make it anew where it is needed")
        return (_find, (self.name,))

    def __call__(self, val: Any, *, rowwise: bool = False, columnwise: bool = False) -> Any:
        """Reduce a Vector, or a Matrix to a scalar or (rowwise, columnwise) to a vector: an expression."""
        ndim = getattr(val, "ndim", None)
        if ndim == 1:
            if rowwise or columnwise:
                raise ValueError("rowwise and columnwise arguments should not be used with Vector input")
            return val.reduce(self)
        if ndim == 2 and hasattr(val, "reduce_rowwise"):
            if rowwise and columnwise:
                raise ValueError("rowwise and columnwise arguments cannot both be True")
            if rowwise:
                return val.reduce_rowwise(self)
            return val.reduce_columnwise(self) if columnwise else val.reduce_scalar(self)
        raise TypeError(
            f"Bad type when calling {self!r}.\n"
            "    - Expected type: Vector, Matrix, TransposedMatrix.\n"
            f"    - Got: {type(val)}.\n"
            "Calling an Aggregator is syntactic sugar for calling reduce methods.  "
            f"For example, `A.reduce_scalar({self!r})` is the same as `{self!r}(A)`."
        )


class TypedAggregator(AggregatorBase):
    """An aggregator for one input type; `return_type` is the type of its result."""

    def __init__(self, parent, dtype):
        self.name, self.parent, self.type = parent.name, parent, dtype
        if dtype in parent.types:
            self.return_type = parent.types[dtype]
        else:
            self.return_type = dtype if parent.any_dtype is True else parent.any_dtype

    def __repr__(self):
        return f"{self.parent!r}[{self.type}]"

    def __reduce__(self):
        return (getitem, (self.parent, self.type))

    __call__ = Aggregator.__call__

    # A line reduction: store A (transposed first when `at`) -> vector store, an entry for each line that has one.

    def lines(self, A, at, mask=None):
        """w(i) = this aggregate of row i."""
        agg = self.parent
        if agg.monoid is not None:
            return _reduce_lines(A, at, _typed(agg.monoid, self.type, kind="monoid"), mask)
        if agg.composite is not None:
            return agg.formula(*[part.lines(A, at, mask) for part in self._parts()])
        if agg.position is not None:
            return agg.position(A, at, self.type, mask)
        w = self._products(A, at, mask)
        return w if agg.finalize is None else _map(agg.finalize, w)

    def _products(self, A, at, mask=None):
        A, init, semiring = self._factors(A, A.nrows if at else A.ncols)
        return matvec(A, at, init, semiring, mask)

    def _factors(self, x, size):
        """(the entries, the vector of initval, the semiring) of the product of a line with `size` positions."""
        agg = self.parent
        if agg.applybegin is not None:
            x = current().apply(x, _typed(agg.applybegin, x.dtype, kind="unary"))
        semiring = _typed(agg.semiring, self.type, agg.init_dtype, kind="semiring")
        if agg.switch:
            semiring = _typed(agg.semiring, agg.init_dtype, self.type, kind="semiring").flip()
        return x, full_vector(size, agg.init_dtype, agg.init), semiring

    def _parts(self):
        """The typed aggregators of a composite."""
        for part in self.parent.composite:
            part = AGGREGATORS[part] if isinstance(part, str) else part
            yield part if isinstance(part, TypedAggregator) else typed(part, self.type)

    def whole(self, x):
        """The aggregate of all entries as a vector store of size 1 (without an entry when x has none)."""
        agg, is_vector = self.parent, x.format in ("sparse", "bitmap")
        if agg.position is not None:
            return self.lines(row_matrix(x), False) if is_vector else self._whole_position(x)
        if agg.composite is not None:
            parts = [part.whole(x) for part in self._parts()]
            return on_host(lambda: agg.formula(*parts))
        if agg.monoid is not None:
            return _reduce_whole(x, _typed(agg.monoid, self.type, kind="monoid"))
        total = self._whole_product(x, is_vector)
        return total if agg.finalize is None else on_host(lambda: _map(agg.finalize, total))

    def _whole_product(self, x, is_vector):
        """The aggregate by a semiring of all entries: an inner product of a vector; of a matrix by its rows."""
        if is_vector:
            x, init, semiring = self._factors(x, x.size)
            if semiring.binaryop.kind == "pair":  # as many equal products as entries
                return _reduce_whole(iso_like(x, semiring.return_type, 1), semiring.monoid)
            return vector_of_scalar(current().inner(x, init, semiring), semiring.return_type)
        per_line, joining = self._products(x, False), self.parent.semiring2 or self.parent.semiring
        return _reduce_whole(per_line, _typed(joining, per_line.dtype, kind="semiring").monoid)

    def _whole_position(self, A):
        if self.name not in ("first", "last"):
            raise ValueError(f"Aggregator {self.name} may not be used with Matrix.reduce_scalar.")
        return self.lines(row_matrix(self.lines(A, False)), False)


def _reduce_whole(x, monoid):
    return vector_of_scalar(current().reduce(x, monoid), monoid.type)


def _reduce_lines(A, at, monoid, mask):
    ones = full_vector(A.nrows if at else A.ncols, monoid.type, 1)
    return matvec(A, at, ones, typed_semiring(monoid, "first"), mask)


class Aggregate(Record):
    """The record of a reduction by an aggregator; `kind` is "rowwise", "columnwise" or "scalar"."""

    __slots__ = ("x", "xt", "kind")
    name = "reduce"

    def __init__(self, x, op, kind, xt=False):
        self.x, self.op, self.kind, self.xt = x, op, kind, xt
        rows = (x.shape[1] if xt else x.shape[0]) if kind == "rowwise" else (x.shape[0] if xt else x.shape[-1])
        self.shape = () if kind == "scalar" else (rows,)
        self.dtype = op.return_type

    @property
    def c_name(self):
        return f"GrB_{'Matrix' if len(self.x.shape) == 2 else 'Vector'}_reduce_Aggregator"

    def operands(self):
        return ((self.x, self.xt),)

    def compute(self, mask=None):
        backend = current()
        store = self.x._store
        if self.kind == "scalar":
            # a matrix that comes transposed matters only to aggregators that look at the order of its entries
            if self.xt and self.op.parent.position is not None:
                store = backend.transpose(store)
            w = self.op.whole(store)
            return cast_scalar(first_value(w), self.dtype) if w.nvals else None
        w = self.op.lines(store, self.xt != (self.kind == "columnwise"), mask)
        w = backend.cast(w, self.dtype)
        return w if mask is None else backend.restrict(w, mask)


def reduce_expression(x, op, kind, xt=False):
    """The record of reducing x (untransposed object, flag `xt`) by a typed or polymorphic aggregator."""
    if isinstance(op, Aggregator):
        op = typed(op, x.dtype)
    return Aggregate(x, op, kind, xt)


def typed(op, dtype):
    """The typed form of an aggregator for objects of `dtype`: counts are INT64 whatever is counted."""
    return op[op.any_dtype if op.counts else dtype]


def _find(name):
    return AGGREGATORS[name]


def find(name: str) -> Aggregator | None:
    """The aggregator called `name`, "ss.<name>" for one of SuiteSparse's own; None where there is none.

    SuiteSparse's own are found without "ss." too, as in python-graphblas, with a DeprecationWarning.
    """
    plain = name.removeprefix("ss.")
    found = AGGREGATORS.get(plain)
    if found is None or plain != name and not found.ss:
        return None
    if found.ss and plain == name:
        warn(
            f"`gb.agg.{name}` is deprecated; please use `gb.agg.ss.{name}` instead. `{name}` is specific to "
            "SuiteSparse:GraphBLAS.",
            DeprecationWarning,
            stacklevel=3,
        )
    return found


def aggregators(ss: bool = False) -> dict[str, Aggregator]:
    """{name: Aggregator}: SuiteSparse's own, or the others."""
    return {name: op for name, op in AGGREGATORS.items() if bool(op.ss) is ss}


def _user_formula(finalize, *parts):
    """The formula of a composite that was given as a function of Vectors."""
    result = finalize(*[kinds.Vector._from_store(part, part.dtype, "") for part in parts], {})
    return (result if type(result) is kinds.Vector else result.new())._store


def _link(entry):
    """The operator or aggregator of an entry of `chain`."""
    if not isinstance(entry, tuple):
        return entry
    kind, name = entry
    if not isinstance(name, str):
        return name
    return AGGREGATORS[name] if kind == "agg" else registered(kind, name)


# Formulas of composites: vectors in, a vector out; n is the count.


def _mean(n, x):
    return _both("truediv", x, n)


def _varp(n, x, x2):
    return _both("minus", _both("truediv", x2, n), _bind("pow", _both("truediv", x, n), 2))


def _vars(n, x, x2):
    # sum(x^2) / (n - 1) - sum(x)^2 / (n (n - 1)), both divided by the sum's own count first as python-graphblas does
    right = _both("truediv", _bind("pow", x, 2), n)
    less = _bind("minus", n, 1)
    return _both("minus", _both("truediv", x2, less), _both("truediv", right, less))


def _geometric_mean(n, x):
    n = current().cast(n, lookup_dtype("FP64"))
    return _both("pow", x, _map("minv", n))


# Positions: which entry of a line.


def _extreme(monoid):
    def position(A, at, dtype, mask):
        # the entries equal to their line's extreme, and of them the smallest index
        best = _reduce_lines(A, at, _typed(monoid, dtype, kind="monoid"), mask)
        equal = matmul(
            diagonal_matrix(best, 0), False, A, at, _typed("any_eq", best.dtype, dtype, kind="semiring"), None
        )
        return _index_lines(true_entries(equal), False, "min_firstj", mask)

    return position


def _index_lines(A, at, semiring, mask):
    init = full_vector(A.nrows if at else A.ncols, BOOL, False)
    return matvec(A, at, init, _typed(registered("semiring", f"ss.{semiring}"), INT64), mask)


def _index(semiring):
    return lambda A, at, dtype, mask: _index_lines(A, at, semiring, mask)


def _value_at(semiring):
    def position(A, at, dtype, mask):
        # keep of A' the entry (index of the line's first or last, line), then any value of each line
        backend = current()
        where = _index_lines(A, at, semiring, mask)
        lines, chosen = backend.tuples(where)
        E = backend.transpose(A) if at else A
        ones = np.ones(1, BOOL.np_type)
        picked = backend.build_matrix(E.nrows, E.ncols, lines, chosen.astype(np.int64), ones, None, BOOL)
        return _reduce_lines(backend.restrict(E, StoredMask(picked)), False, _typed("any", dtype, kind="monoid"), mask)

    return position


_TRUEDIV = ("binary", "truediv")
_SQRT = ("unary", "sqrt")
_PLAIN = [
    Aggregator("sum", monoid="plus"),
    Aggregator("prod", monoid="times"),
    Aggregator("all", monoid="land"),
    Aggregator("any", monoid="lor"),
    Aggregator("min", monoid="min"),
    Aggregator("max", monoid="max"),
    Aggregator("any_value", monoid="any", any_dtype=True),
    Aggregator("bitwise_all", monoid="band"),
    Aggregator("bitwise_any", monoid="bor"),
    Aggregator("count", semiring="plus_pair", semiring2="plus_first", any_dtype=INT64),
    Aggregator("count_nonzero", semiring="plus_isne", semiring2="plus_first"),
    Aggregator("count_zero", semiring="plus_iseq", semiring2="plus_first"),
    Aggregator("sum_of_squares", initval=2, semiring="plus_pow", semiring2="plus_first"),
    Aggregator("sum_of_inverses", initval=-1.0, semiring="plus_pow", semiring2="plus_first"),
    Aggregator("exists", semiring="any_pair", semiring2="any_pair", any_dtype=INT64),
    Aggregator("hypot", initval=2, semiring="plus_pow", semiring2="plus_first", finalize="sqrt"),
    Aggregator("logaddexp", initval=np.e, semiring="plus_pow", semiring2="plus_first", switch=True, finalize="log"),
    Aggregator("logaddexp2", initval=2, semiring="plus_pow", semiring2="plus_first", switch=True, finalize="log2"),
    Aggregator("L1norm", semiring="plus_absfirst", semiring2="plus_first"),
    Aggregator("Linfnorm", semiring="max_absfirst", semiring2="max_first"),
    Aggregator("mean", composite=("count", "sum"), formula=_mean, types=[_TRUEDIV]),
    Aggregator(
        "peak_to_peak", composite=("max", "min"), formula=lambda a, b: _both("minus", a, b), types=[("monoid", "min")]
    ),
    Aggregator("varp", composite=("count", "sum", "sum_of_squares"), formula=_varp, types=[_TRUEDIV]),
    Aggregator("vars", composite=("count", "sum", "sum_of_squares"), formula=_vars, types=[_TRUEDIV]),
    Aggregator(
        "stdp",
        composite=("count", "sum", "sum_of_squares"),
        formula=lambda *parts: _map("sqrt", _varp(*parts)),
        types=[_TRUEDIV, _SQRT],
    ),
    Aggregator(
        "stds",
        composite=("count", "sum", "sum_of_squares"),
        formula=lambda *parts: _map("sqrt", _vars(*parts)),
        types=[_TRUEDIV, _SQRT],
    ),
    Aggregator("geometric_mean", composite=("count", "prod"), formula=_geometric_mean, types=[_TRUEDIV]),
    Aggregator(
        "harmonic_mean",
        composite=("count", "sum_of_inverses"),
        formula=lambda n, x: _both("truediv", n, x),
        types=[("agg", "sum_of_inverses"), _TRUEDIV],
    ),
    Aggregator(
        "root_mean_square",
        composite=("count", "sum_of_squares"),
        formula=lambda n, x2: _map("sqrt", _both("truediv", x2, n)),
        types=[_TRUEDIV, _SQRT],
    ),
    Aggregator("argmin", position=_extreme("min"), types=[("semiring", "ss.min_firsti")], ss=True),
    Aggregator("argmax", position=_extreme("max"), types=[("semiring", "ss.min_firsti")], ss=True),
    Aggregator("first", position=_value_at("min_secondi"), types=[("binary", "first")], any_dtype=True, ss=True),
    Aggregator("last", position=_value_at("max_secondi"), types=[("binary", "second")], any_dtype=True, ss=True),
    Aggregator(
        "first_index", position=_index("min_secondi"), types=[("semiring", "ss.min_secondi")], any_dtype=INT64, ss=True
    ),
    Aggregator(
        "last_index", position=_index("max_secondi"), types=[("semiring", "ss.min_secondi")], any_dtype=INT64, ss=True
    ),
]
AGGREGATORS = {a.name: a for a in _PLAIN}
AGGREGATORS["L0norm"] = AGGREGATORS["count_nonzero"]
AGGREGATORS["L2norm"] = AGGREGATORS["hypot"]
