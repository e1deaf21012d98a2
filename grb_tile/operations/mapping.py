"""apply and select: an operator applied to every entry, and the entries for which an operator is true.

Spec: GraphBLAS C API 2.1, sections 4.3.8 (apply) and 4.3.9 (select).
"""

from ..backends.select import current
from ..dtypes import lookup_dtype
from . import checks
from .record import Record


def _suffix(scalar):
    """The end of a C function's name for a scalar argument: its type."""
    dtype = lookup_dtype(scalar.dtype)
    return "UDT" if dtype._is_udt else dtype.name


def _oriented(x):
    return current().transpose(x._store)


class _Map(Record):
    __slots__ = ("x", "xt")

    def __init__(self, x, op, xt=False):
        self.x, self.op, self.xt = x, op, xt
        self.shape = checks.oriented(x.shape, True) if xt else x.shape
        self.dtype = op.return_type

    def operands(self):
        return ((self.x, self.xt),)

    @property
    def c_name(self):
        return f"GrB_{'Matrix' if len(self.shape) == 2 else 'Vector'}_{self.c_stem}"


class Apply(_Map):
    """C(i, j) = op(A(i, j))."""

    __slots__ = ()
    name = "apply"
    c_stem = "apply"

    def compute(self, mask=None):
        return current().apply(_oriented(self.x) if self.xt else self.x._store, self.op, mask)


class ApplyBind(_Map):
    """C(i, j) = op(left, A(i, j)) or op(A(i, j), right)."""

    __slots__ = ("left", "right")
    name = "apply"

    def __init__(self, x, op, left=None, right=None, xt=False):
        super().__init__(x, op, xt)
        self.left, self.right = left, right

    @property
    def c_stem(self):
        side, scalar = ("2nd", self.right) if self.left is None else ("1st", self.left)
        return f"apply_BinaryOp{side}_{_suffix(scalar)}"

    def compute(self, mask=None):
        x = _oriented(self.x) if self.xt else self.x._store
        return current().apply(x, self.op, mask, self.left, self.right)

    def leading(self):
        return () if self.left is None else (str(self.left),)

    def extra(self):
        return () if self.right is None else (str(self.right),)


class ApplyIndex(_Map):
    """C(i, j) = op(A(i, j), i, j, thunk)."""

    __slots__ = ("thunk",)
    name = "apply"
    c_stem = "apply_IndexOp"

    def __init__(self, x, op, thunk, xt=False):
        super().__init__(x, op, xt)
        self.thunk = thunk

    def compute(self, mask=None):
        x = _oriented(self.x) if self.xt else self.x._store
        return current().apply(x, self.op, mask, thunk=self.thunk)

    def extra(self):
        return (str(self.thunk),)


class Select(_Map):
    """C = A at the entries with op(A(i, j), i, j, thunk); A's type."""

    __slots__ = ("thunk",)
    name = "select"
    c_stem = "select"

    def __init__(self, x, op, thunk, xt=False):
        super().__init__(x, op, xt)
        self.thunk = thunk
        self.dtype = x.dtype

    def compute(self, mask=None):
        x = _oriented(self.x) if self.xt else self.x._store
        return current().select(x, self.op, self.thunk, mask)

    def extra(self):
        return (str(self.thunk),)
