"""What users hold: Matrix, Vector, Scalar, masks, expressions, and how they are written to.

Nothing here computes: an expression has a record of grb_tile.operations, and `<<` passes it to operations.write.
Importing the package gives every operator its call (`op.plus(A | B)`, `unary.exp(A)`), see calls.py.
"""

from importlib import import_module

from . import calls, infix, matrix, scalar, sugar, transposed, vector  # noqa: F401  (each completes the others)

# what python-graphblas has in its core, and where it is here
_ELSEWHERE = {"operator": "..operators", "dtypes": "..dtypes", "expr": ".updater", "ss": ".ss"}


def __getattr__(name):
    if name in _ELSEWHERE:
        return import_module(_ELSEWHERE[name], __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
