"""Types that the signatures of this package share."""

from typing import Any

import numpy as np

from grb_tile.dtypes import DataType
from grb_tile.operators import BinaryOp
from grb_tile.operators.binary import TypedBinaryOp

from .replace import PathLike, Writable
from .streams import Readable

DTypeLike = DataType | str | type | np.dtype[Any]
DupOp = BinaryOp | TypedBinaryOp | str

__all__ = ["DTypeLike", "DupOp", "PathLike", "Readable", "Writable"]
