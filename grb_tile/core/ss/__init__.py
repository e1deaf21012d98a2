"""python-graphblas's `.ss`: concat, split, diag, reshape, sort, selectk, compactify, scan, import, export, serialize.

matrix.py has `A.ss`, vector.py `v.ss`, tools.py what both share and `gb.ss.concat` and `gb.ss.diag`, formats.py import
and export of arrays, serialize.py bytes, config.py the settings.  Contexts and burble are not supported.
"""

from .matrix import MatrixTools
from .tools import concat, diag
from .vector import VectorTools

version_major = 9  # of the SuiteSparse:GraphBLAS whose semantics are followed
_IS_SSGB7 = False

__all__ = ["MatrixTools", "VectorTools", "concat", "diag", "version_major"]
