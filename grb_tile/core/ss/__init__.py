"""The useful part of python-graphblas's `.ss`: concat, split, diag, reshape, sort, selectk, compactify, scan.

`A.ss` (matrix.py) and `v.ss` (vector.py) give these as methods, `gb.ss` has `concat` and `diag`.  formats.py has import
and export of arrays, serialize.py writes and reads bytes, config.py has the settings; contexts and burble are left out.
"""

from .matrix import MatrixTools
from .tools import concat, diag
from .vector import VectorTools

version_major = 9  # the SuiteSparse:GraphBLAS whose semantics are followed
_IS_SSGB7 = False

__all__ = ["MatrixTools", "VectorTools", "concat", "diag", "version_major"]
