"""Types that the signatures of this package share."""

import os
from typing import IO, Any

import numpy as np

from grb_tile.dtypes import DataType
from grb_tile.operators import BinaryOp
from grb_tile.operators.binary import TypedBinaryOp

from .streams import Source

DTypeLike = DataType | str | type | np.dtype[Any]
DupOp = BinaryOp | TypedBinaryOp | str
PathLike = str | os.PathLike[str]
Readable = str | os.PathLike[str] | IO[bytes] | IO[str] | Source
Writable = str | os.PathLike[str] | IO[bytes]
