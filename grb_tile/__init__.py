"""grb_tile: GraphBLAS for Python, with python-graphblas's notation.

    import grb_tile as gb
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])
    v = gb.Vector.from_coo([0], [5.0], size=3)
    w = A.mxv(v, gb.semiring.min_plus).new()

The names below are loaded when first used, so that importing the package costs little more than importing NumPy.

Spec: GraphBLAS C API 2.1; SuiteSparse:GraphBLAS where the specification leaves the choice.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from pathlib import Path as _Path
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

__version__ = "0.1.0"

_here = _Path(__file__).resolve().parent
if not (_here / "kernels").exists():  # a source checkout: kernels/ and algorithms/ are next to grb_tile/
    __path__.append(str(_here.parent))

from .config import config  # noqa: E402  (after __path__ is complete)
from .spelling import no_attribute as _no_attribute  # noqa: E402

if _TYPE_CHECKING:  # type checkers do not run __getattr__
    from . import (
        agg,
        binary,
        core,
        dist as dist,
        dtypes,
        exceptions,
        fused as fused,
        generators as generators,
        graph as graph,
        grb as grb,
        indexunary,
        io,
        monoid,
        op,
        rowwise as rowwise,
        select,
        semiring,
        sequential as sequential,
        ss,
        unary,
        viz,
    )
    from .backends.select import device as device
    from .core.mask import Mask as Mask
    from .core.matrix import Matrix
    from .core.recorder import Recorder
    from .core.scalar import Scalar
    from .core.transposed import TransposedMatrix as TransposedMatrix
    from .core.updater import replace
    from .core.vector import Vector
    from .planner import explain as explain, plan as plan
    from .programs import loop as loop, program as program


def _use_backend(name: str | None) -> None:
    select = _import_module(".backends.select", __name__)
    select.use_configured() if name is None else select.use(name)


def _use_device(number: int | None) -> None:
    select = _import_module(".backends.select", __name__)
    select.use_configured() if number is None else select.use_device(number)


config.listen("backend", _use_backend)
config.listen("device", _use_device)


backend = "grb_tile"
MAX_SIZE = 2**60  # a dimension is at most GrB_INDEX_MAX + 1

_CORE = {
    "Matrix": ".core.matrix", "Vector": ".core.vector", "Scalar": ".core.scalar", "Recorder": ".core.recorder",
    "TransposedMatrix": ".core.transposed", "Mask": ".core.mask", "replace": ".core.updater",
}  # fmt: skip
_FUNCTIONS = {"plan": ".planner", "explain": ".planner", "device": ".backends.select"}
_PROGRAMS = {"program", "loop"}
_MODULES = {
    "agg", "algorithms", "backends", "binary", "core", "dist", "dtypes", "exceptions", "fused", "generators", "graph",
    "grb", "indexunary", "io", "kernels", "monoid", "op", "operations", "operators", "planner", "programs", "rowwise",
    "select", "semiring", "sequential", "ss", "storage", "unary", "viz",
}  # fmt: skip
_NEED_CORE = {          # operators called on expressions need the callables of core
    "agg", "algorithms", "binary", "dist", "fused", "generators", "graph", "grb", "indexunary", "io", "monoid", "op",
    "rowwise", "select", "semiring", "sequential", "ss", "unary", "viz",
}  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in _CORE:
        value = getattr(_load_core(_CORE[name]), name)
    elif name in _PROGRAMS:
        value = getattr(_load_core(".programs"), name)
    elif name in _FUNCTIONS:
        value = getattr(_import_module(_FUNCTIONS[name], __name__), name)
    elif name in _MODULES:
        value = _load_core(f".{name}") if name in _NEED_CORE else _import_module(f".{name}", __name__)
    else:
        raise _no_attribute(f"module {__name__!r}", name, __dir__())
    globals()[name] = value
    return value


def _load_core(module: str) -> _Any:
    _import_module(".core", __name__)
    return _import_module(module, __name__)


def __dir__() -> list[str]:
    return sorted(
        (globals().keys() | _CORE.keys() | _FUNCTIONS.keys() | _PROGRAMS | _MODULES)
        - {"_import_module", "_Path", "_Any", "_TYPE_CHECKING", "annotations"}
    )


def init(backend: str | None = None, blocking: bool | None = None) -> None:
    """Accepted for programs written for python-graphblas, which must start their C library; nothing to start here.

    Execution is always eager; `gb.config.set(backend=...)` picks what computes.
    """


__all__ = [
    "MAX_SIZE", "Matrix", "Recorder", "Scalar", "Vector", "agg", "backend", "binary", "config", "core", "dtypes",
    "exceptions", "indexunary", "init", "io", "monoid", "op", "replace", "select", "semiring", "ss", "unary", "viz",
]  # fmt: skip
