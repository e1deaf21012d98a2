"""Operators: one typed definition each, lowered to NumPy, Numba and CUDA C++.

table.py        the predefined operators, one row each        from_python.py  Python text or functions to expressions
ir.py           typed scalar expressions                      to_numpy.py     expressions to vectorised NumPy
primitives.py   the nodes of expressions                      to_python.py    ... to scalar Python text for Numba
vectorised.py   NumPy functions of primitives                 to_cuda.py      ... to a CUDA C++ functor
scalar.py, scalar_complex.py   scalar ones for Numba          base.py         lookup by type, pickling, the call hook
unary.py, binary.py, indexunary.py, monoid.py, semiring.py    functions.py, udf.py, source.py  functions of users
registry.py, namespaces.py, resolve.py  names and strings     names.py        names in the C API
"""

from .base import AggregatorBase, OpBase, ParameterizedUdf, TypedOpBase
from .binary import BinaryOp, ParameterizedBinaryOp, TypedBinaryOp
from .indexunary import (
    IndexUnaryOp,
    ParameterizedIndexUnaryOp,
    ParameterizedSelectOp,
    SelectOp,
    TypedIndexUnaryOp,
    TypedSelectOp,
)  # fmt: skip
from .monoid import ANY, Monoid, ParameterizedMonoid, TypedMonoid
from .registry import OpPath, registered
from .resolve import (
    UNKNOWN_OPCLASS,
    aggregator_from_string,
    binary_from_string,
    find_opclass,
    from_string,
    get_semiring,
    get_typed_op,
    indexunary_from_string,
    monoid_from_string,
    op_from_string,
    select_from_string,
    semiring_from_string,
    typed_semiring,
    unary_from_string,
)  # fmt: skip
from .semiring import ParameterizedSemiring, Semiring, TypedSemiring
from .unary import ParameterizedUnaryOp, TypedUnaryOp, UnaryOp

__all__ = [
    "ANY",
    "UNKNOWN_OPCLASS",
    "AggregatorBase",
    "BinaryOp",
    "IndexUnaryOp",
    "Monoid",
    "OpBase",
    "OpPath",
    "ParameterizedBinaryOp",
    "ParameterizedIndexUnaryOp",
    "ParameterizedMonoid",
    "ParameterizedSelectOp",
    "ParameterizedSemiring",
    "ParameterizedUdf",
    "ParameterizedUnaryOp",
    "SelectOp",
    "Semiring",
    "TypedBinaryOp",
    "TypedIndexUnaryOp",
    "TypedMonoid",
    "TypedOpBase",
    "TypedSelectOp",
    "TypedSemiring",
    "TypedUnaryOp",
    "UnaryOp",
    "aggregator_from_string",
    "binary_from_string",
    "find_opclass",
    "from_string",
    "get_semiring",
    "get_typed_op",
    "indexunary_from_string",
    "monoid_from_string",
    "op_from_string",
    "registered",
    "select_from_string",
    "semiring_from_string",
    "typed_semiring",
    "unary_from_string",
]  # fmt: skip
