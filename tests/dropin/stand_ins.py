"""Thin stand-ins for internals of python-graphblas that its tests import, where the library under test has none.

They let a test file be imported; a test that truly needs such an internal then fails, and known_differences.txt says
why. `STAND_INS[module](real)` gives names used only when the real module lacks them; `EXTRAS` give names used always;
`PLACES` says where else in the library a module of python-graphblas may be found.
"""

import types


class Missing:
    """Fails when it is used: the library has no such internal."""

    def __init__(self, what):
        self.what = what

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"internal of python-graphblas without a counterpart: {self.what}")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.what}.{name}")


class Names:
    """The C library's names.  Numbers (enumeration values, GrB_INDEX_MAX) are the C library's; for a handle, such as
    GrB_PLUS_INT32, its name stands: that is what `gb_obj` of our types and operators is."""

    def __init__(self, lib):
        self._lib = lib

    def __getattr__(self, name):
        value = getattr(self._lib, name)
        return value if isinstance(value, (int, types.BuiltinFunctionType)) else name

    def __dir__(self):
        return dir(self._lib)


def constants():
    import suitesparse_graphblas

    return Names(suitesparse_graphblas.lib), suitesparse_graphblas.ffi


def core(real):
    lib, ffi = constants()
    return {"_supports_udfs": True, "lib": lib, "ffi": ffi, "NULL": ffi.NULL}


STAND_INS = {
    "core": core,
    "core.base": lambda real: {"libget": Missing("base.libget"), "call": Missing("base.call")},
    "core.descriptor": lambda real: {"lookup": Missing("descriptor.lookup")},
    "core.formatting": lambda real: {"CSS_STYLE": "<style> (no style sheet) </style>"},
    "core.ss.context": lambda real: {
        "global_context": Missing("global_context"),
        "threadlocal": Missing("threadlocal"),
    },
    "core.expr": lambda real: {"_ALL_INDICES": None},  # theirs pickles to itself
}

# Tests choose what to expect by the name of the backend; everything that SuiteSparse has is asked of us.
EXTRAS = {"": {"backend": lambda real: "suitesparse"}}

PLACES = {
    "core.formatting": ("core.display_html",),
}
