"""The objects of users: Matrix, Vector, Scalar, masks, expressions, and the syntax of writing to them.

No module here computes: an expression has a record of grb_tile.operations, and `<<` passes it to operations.write.
Importing the package gives every operator its call (`op.plus(A | B)`, `unary.exp(A)`), see calls.py.
"""

from importlib import import_module

from . import calls, chains, infix, matrix, scalar, sugar, transposed, vector  # noqa: F401  (each completes the others)

matrix.Vector = vector.Vector  # type: ignore[attr-defined]  # programs import both from core.matrix

# modules loaded when first read as an attribute: `gb.core.utils.ensure_type` needs no import of its own
_LAZY = {"dtypes", "expr", "operator", "ss", "utils"}


def __getattr__(name):
    if name in _LAZY:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
