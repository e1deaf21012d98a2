"""`A.ss.serialize()` and `Matrix.ss.deserialize(data)` with python-graphblas's arguments.

`serialize` writes grb_tile's file format, or with format="suitesparse" a blob of SuiteSparse; `deserialize` reads both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...exceptions import InvalidObject
from .. import kinds
from ..arguments import check_options

if TYPE_CHECKING:
    from typing import Any

    from ..annotations import Array

_LEVELS = {"none": 0, "default": 1, "lz4": 1, "lz4hc": 9, "zstd": 1}
_WITH_LEVEL = {"lz4hc": 9, "zstd": 19}


def serialize(
    self,
    compression: str | None = "default",
    level: int | None = None,
    *,
    format: str = "grb_tile",
    **opts: Any,
) -> Array:
    """The object as an array of bytes (uint8), in grb_tile's file format (docs/FILE_FORMAT.md); gb.io.load reads it.

    format       "grb_tile", or "suitesparse": a blob that python-graphblas deserializes, too
    compression  "default", "lz4", "lz4hc", "zstd", "none" or None.  grb_tile's format has deflate only: a name chooses
                 its level, 1 for "default", "lz4" and "zstd", 9 for "lz4hc".  A blob is compressed by the named method,
                 "default" is none; "zstd" needs the package zstandard (or Python 3.14), "lz4" and "lz4hc" need lz4
    level        1 to 9 for "lz4hc", 1 to 19 for "zstd" (in grb_tile's format at most 9)
    Raises: ValueError for another format, compression or level; TypeError for a level without "lz4hc" or "zstd".
    """
    if opts:
        check_options(opts)
    if format not in ("grb_tile", "suitesparse"):
        raise ValueError(f'format must be "grb_tile" or "suitesparse"; got {format!r}')
    if format == "suitesparse":
        from ...io.suitesparse_blob import to_suitesparse_blob  # io is above core

        chosen = "none" if compression == "default" else compression
        return np.frombuffer(to_suitesparse_blob(self._parent, chosen, level), np.uint8)
    name = "none" if compression is None else compression
    if not isinstance(name, str) or name.lower() not in _LEVELS:
        raise ValueError(f"compression argument must be None or one of {', '.join(_LEVELS)}; got: {compression!r}")
    name = name.lower()
    most = _WITH_LEVEL.get(name, 0)
    if level is not None and not most:
        raise TypeError(f"level argument is only valid with 'lz4hc' and 'zstd' compression, not {compression!r}")
    if level is not None and not 1 <= level <= most:
        raise ValueError(f"level argument must be 1 to {most} for {name!r}; got: {level!r}")
    from ...io.serialize import serialize as to_bytes  # io is above core

    data = to_bytes(self._parent, compression=_LEVELS[name] if level is None else min(level, 9))
    return np.frombuffer(data, np.uint8)


def reader(kind):
    """`deserialize` of MatrixTools or VectorTools; `kind` is "Matrix" or "Vector"."""

    def deserialize(data, dtype=None, *, name=None, **opts):
        """The object in `data` (bytes, or an array of them), from `serialize` of grb_tile or of python-graphblas.

        dtype  the result is cast to it; required for a user-defined type in a blob of SuiteSparse
        Raises: InvalidObject when `data` is damaged or is an object of another class.
        """
        if opts:
            check_options(opts)
        data = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        from ...io.serialize import deserialize as from_bytes  # io is above core
        from ...io.suitesparse_blob import from_suitesparse_blob, is_suitesparse_blob

        if is_suitesparse_blob(data):
            return from_suitesparse_blob(data, dtype, kind=kind, name=name)
        found = from_bytes(data)
        if type(found) is not getattr(kinds, kind):
            raise InvalidObject(f"a {kind} is expected, but the data hold a {type(found).__name__}")
        if dtype is not None and found.dtype != dtype:
            found = found.dup(dtype)
        if name is not None:
            found.name = name
        return found

    return staticmethod(deserialize)
