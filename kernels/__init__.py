"""CUDA C++ sources: the headers in the folders beside this file, their include folder, and a digest of them all.

    base/          types, scalar operators, bits, warps, atomics, launches: what every kernel includes
    structure/     building, converting, gathering, transposing
    elementwise/   apply, select, reduce, union, intersection, writes in place
    products/      matrix-vector and matrix-matrix products over a semiring, tiles
    graph/         whole loops over a graph: searches, shortest paths, components, cores, orders
    communities/   labels of rows (mode, best move, least absent), rounds of local moves

A header is named by its path from here, in `#include` lines too: "base/scalar.cuh".

A compiled kernel is cached under its text and options; the digest goes along as an option, because no cache looks into
included headers.

>>> from grb_tile import kernels
>>> "namespace grb" in kernels.source("base/scalar.cuh")
True
"""

if __name__ != "grb_tile.kernels":  # a second copy, imported from a checkout's folder, would have its own state
    raise ImportError(f"import grb_tile.kernels, not {__name__}")

import hashlib as _hashlib
from functools import lru_cache as _lru_cache
from pathlib import Path as _Path

INCLUDE_FOLDER = _Path(__file__).resolve().parent


def names():
    """Paths of all headers and kernels from here, sorted."""
    return sorted(
        p.relative_to(INCLUDE_FOLDER).as_posix() for p in INCLUDE_FOLDER.rglob("*.cu*") if p.suffix in (".cuh", ".cu")
    )


def source(name):
    """The text of one of them.  Raises: FileNotFoundError naming what there is."""
    path = INCLUDE_FOLDER / name
    if not path.is_file():
        raise FileNotFoundError(f"kernels: no file {name!r}; there are {', '.join(names())}")
    return path.read_text(encoding="utf-8")


@_lru_cache(maxsize=1)
def digest():
    """A short hash of all sources, for keys of compiled kernels."""
    state = _hashlib.sha256()
    for name in names():
        state.update(name.encode() + b"\0" + source(name).encode() + b"\0")
    return state.hexdigest()[:16]
