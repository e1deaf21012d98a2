"""`gb.ss.about`, `gb.ss.config`, `A.ss.config`: facts and settings with python-graphblas's names.

The facts are those of grb_tile.  Settings that tune SuiteSparse (thread counts, chunk sizes, switches between formats)
are stored, so that programs that set them run, and have no effect, because the planner decides.  A setting that changes
results or output in SuiteSparse gives a warning.
"""

import sys
import warnings
from collections.abc import Mapping, MutableMapping
from pprint import pformat

from ...backends.select import current
from ...storage.dense import bitmap_switch

_DEFAULTS = {
    "bitmap_switch": None, "burble": False, "chunk": 0, "format": "by_row", "gpu_id": -1, "hyper_switch": 0.0625,
    "nthreads": 0, "print_1based": False,
}  # fmt: skip
_FORMATS = {
    1: {"sparse": "sparse", "bitmap": "bitmap", "full": "bitmap"},
    2: {"sparse": "csr", "hypersparse": "dcsr", "bitmap": "bitmapr", "full": "fullr"},
}


class About(Mapping):
    """Facts about the library, read like a dictionary."""

    def __init__(self):
        version = sys.modules["grb_tile"].__version__
        self._facts = {
            "api_name": "GraphBLAS C API",
            "api_url": "https://graphblas.org",
            "api_version": (2, 1, 0),
            "library_about": "grb_tile: GraphBLAS in Python; semantics of SuiteSparse:GraphBLAS 9.4.5",
            "library_name": "grb_tile",
            "library_version": tuple(int(part) for part in version.split(".")[:3]),
            "mode": "blocking",
            "openmp": False,
        }

    def __getitem__(self, key):
        return self._facts[key]

    def __iter__(self):
        return iter(self._facts)

    def __len__(self):
        return len(self._facts)

    def __repr__(self):
        return f"About({pformat(self._facts)})"


class GlobalConfig(MutableMapping):
    """`gb.ss.config`: SuiteSparse's settings, which are stored and have no effect; see the module's docstring."""

    _defaults = _DEFAULTS

    def __init__(self):
        self._values = dict(_DEFAULTS)

    def __getitem__(self, key):
        return self._values[key.lower()]

    def __setitem__(self, key, value):
        key = key.lower()
        if key not in _DEFAULTS:
            raise KeyError(f"{key!r}; known settings: {', '.join(_DEFAULTS)}")
        if value is None:
            value = _DEFAULTS[key]
        if key == "format" and value not in ("by_row", "by_col"):
            raise KeyError(f"format must be 'by_row' or 'by_col'; got {value!r}")
        if key in ("burble", "format", "print_1based") and value != _DEFAULTS[key]:
            instead = {
                "burble": "see gb.explain and gb.Recorder", "format": "sparse matrices are stored row-wise",
                "print_1based": "positions are shown from 0",
            }  # fmt: skip
            warnings.warn(f"gb.ss.config[{key!r}] = {value!r} has no effect: {instead[key]}", UserWarning, stacklevel=2)
        self._values[key] = value

    def __delitem__(self, key):
        raise TypeError("Configuration options can't be deleted.")

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def __repr__(self):
        return f"GlobalConfig({pformat(self._values)})"


class ObjectConfig(MutableMapping):
    """`A.ss.config` and `v.ss.config`.

    sparsity_status    the storage format: "sparse", "hypersparse", "bitmap" or "full"
    sparsity_control   {"auto"}; setting it to a format, or to several, converts the object once
    format             of a Matrix: "by_row", or "by_col" for a dense one in column-major order, which can be set
    bitmap_switch      the density above which a Matrix of this shape is a bitmap (storage/dense.py)
    hyper_switch       SuiteSparse's; None, since the planner decides
    """

    _read_only = frozenset({"sparsity_status"})

    def __init__(self, parent):
        self._parent = parent
        self._keys = ["bitmap_switch", "sparsity_control", "sparsity_status"]
        if parent.ndim == 2:
            self._keys[1:1] = ["format", "hyper_switch"]

    def __getitem__(self, key):
        key = key.lower()
        if key not in self._keys:
            raise KeyError(key)
        if key == "sparsity_status":
            form = self._parent.ss.format
            return {"csr": "sparse", "hypercsr": "hypersparse"}.get(form, form.removesuffix("r").removesuffix("c"))
        if key == "bitmap_switch" and self._parent.ndim == 2:
            return bitmap_switch(*self._parent.shape)
        by_columns = self._parent.ndim == 2 and self._parent.ss.orientation == "columnwise"
        return {"sparsity_control": {"auto"}, "format": "by_col" if by_columns else "by_row"}.get(key)

    def __setitem__(self, key, value):
        key = key.lower()
        if key not in self._keys:
            raise KeyError(key)
        if key in self._read_only:
            raise ValueError(f"Config option {key!r} is read-only")
        if key == "sparsity_control":
            self._convert({value} if isinstance(value, str) else set(value))
        elif key == "format":
            self._order(value)

    def _order(self, value):
        """Convert a dense matrix to row-major ("by_row") or column-major order ("by_col")."""
        if value not in ("by_row", "by_col"):
            raise ValueError(f'format must be "by_row" or "by_col", not {value!r}')
        status = self["sparsity_status"]
        if status in ("bitmap", "full"):
            form = status + ("c" if value == "by_col" else "r")
            self._parent._store = current().convert(self._parent._store, form)
        elif value != "by_row":
            warnings.warn("sparse matrices are stored row-wise: `format` has no effect", UserWarning, stacklevel=3)

    def _convert(self, wanted):
        """Convert the object to one of the wanted formats, once."""
        known = {"auto", "sparse", "hypersparse", "bitmap", "full"}
        if not wanted or not wanted <= known:
            raise KeyError(f"sparsity_control must be among {sorted(known)}; got {wanted!r}")
        if "auto" in wanted or self["sparsity_status"] in wanted:
            return
        parent = self._parent
        formats = _FORMATS[parent.ndim]
        possible = [formats[name] for name in sorted(wanted) if name in formats]
        if not possible:
            warnings.warn(
                f"a {type(parent).__name__} is stored as {' or '.join(formats)}; "
                f"sparsity_control = {wanted!r} has no effect",
                UserWarning, stacklevel=3,
            )  # fmt: skip
            return
        if len(possible) > 1 and possible[0] == "fullr" and parent.nvals < parent.nrows * parent.ncols:
            del possible[0]
        parent._store = current().convert(parent._store, possible[0])

    def __delitem__(self, key):
        raise TypeError("Configuration options can't be deleted.")

    def __iter__(self):
        return iter(self._keys)

    def __len__(self):
        return len(self._keys)

    def __repr__(self):
        return f"{type(self._parent).__name__}.ss.config({pformat(dict(self))})"


about = About()
config = GlobalConfig()
