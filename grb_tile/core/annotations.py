"""Types of the arguments of core's methods, by name.  For type checkers: no module imports this one at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..dtypes import DataType
from ..operators import AggregatorBase, OpBase, ParameterizedUdf, TypedOpBase
from .expression import MatrixExpression, ScalarExpression, VectorExpression
from .indexed import MatrixIndexExpr, ScalarIndexExpr, VectorIndexExpr
from .infix import MatrixInfixExpr, ScalarInfixExpr, VectorInfixExpr
from .mask import Mask
from .matrix import Matrix
from .scalar import Scalar
from .transposed import TransposedMatrix
from .vector import Vector

DTypeLike: TypeAlias = DataType | np.dtype[Any] | type | str
OperatorLike: TypeAlias = OpBase | TypedOpBase | ParameterizedUdf | AggregatorBase | str | Callable[..., Any]
ScalarLike: TypeAlias = complex | np.generic | Scalar | ScalarExpression | ScalarIndexExpr | ScalarInfixExpr
VectorLike: TypeAlias = Vector | VectorExpression | VectorIndexExpr | VectorInfixExpr
MatrixLike: TypeAlias = Matrix | TransposedMatrix | MatrixExpression | MatrixIndexExpr | MatrixInfixExpr
MaskLike: TypeAlias = Mask | VectorLike | MatrixLike  # objects stand for their true values and must be Boolean
ArrayLike: TypeAlias = npt.ArrayLike
Position: TypeAlias = int | np.integer[Any] | Scalar
Positions: TypeAlias = slice | Sequence[int] | npt.NDArray[Any]
Indices: TypeAlias = int | np.integer[Any] | slice | Sequence[int] | npt.NDArray[Any] | Scalar
Array: TypeAlias = npt.NDArray[Any]
