"""`graphblas.core.operator`: where programs written for python-graphblas take the classes of operators from."""

from ..operators import (
    UNKNOWN_OPCLASS,
    BinaryOp,
    IndexUnaryOp,
    Monoid,
    OpBase,
    OpPath,
    ParameterizedBinaryOp,
    ParameterizedIndexUnaryOp,
    ParameterizedMonoid,
    ParameterizedSelectOp,
    ParameterizedSemiring,
    ParameterizedUdf,
    ParameterizedUnaryOp,
    SelectOp,
    Semiring,
    TypedOpBase,
    UnaryOp,
    aggregator_from_string,
    binary_from_string,
    find_opclass,
    get_semiring,
    get_typed_op,
    indexunary_from_string,
    monoid_from_string,
    op_from_string,
    select_from_string,
    semiring_from_string,
    unary_from_string,
)
from .aggregate import Aggregator, TypedAggregator

__all__ = [
    "UNKNOWN_OPCLASS", "Aggregator", "BinaryOp", "IndexUnaryOp", "Monoid", "OpBase", "OpPath", "ParameterizedBinaryOp",
    "ParameterizedIndexUnaryOp", "ParameterizedMonoid", "ParameterizedSelectOp", "ParameterizedSemiring",
    "ParameterizedUdf", "ParameterizedUnaryOp", "SelectOp", "Semiring", "TypedAggregator", "TypedOpBase", "UnaryOp",
    "aggregator_from_string", "binary_from_string", "find_opclass", "get_semiring", "get_typed_op",
    "indexunary_from_string", "monoid_from_string", "op_from_string", "select_from_string", "semiring_from_string",
    "unary_from_string",
]  # fmt: skip
