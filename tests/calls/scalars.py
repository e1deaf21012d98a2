"""Rows of Scalars."""

import operator

import numpy as np

from calls.table import own, refused, row

for name, call in {
    "apply": {
        "unary": lambda lib, o: o.s.apply(lib.unary.ainv).new(),
        "right": lambda lib, o: o.s.apply(lib.binary.minus, 2).new(),
        "left": lambda lib, o: o.s.apply(lib.binary.minus, left=2).new(),
        "empty": lambda lib, o: o.e.apply(lib.unary.ainv).new(),
    },
    "ewise_add": {"": lambda lib, o: [x.ewise_add(y, "minus").new() for x in (o.s, o.e) for y in (o.t, o.e)]},
    "ewise_mult": {"": lambda lib, o: [x.ewise_mult(y, "minus").new() for x in (o.s, o.e) for y in (o.t, o.e)]},
    "ewise_union": {
        "": lambda lib, o: [x.ewise_union(y, "minus", 10, 20).new() for x in (o.s, o.e) for y in (o.t, o.e)]
    },
    "select": {
        sign: lambda lib, o, sign=sign: [x.select(sign, 3).new() for x in (o.s, o.t, o.e)] for sign in ("==", "<", ">=")
    },
    "dup": {"": lambda lib, o: [o.s.dup(), o.s.dup("FP64"), o.e.dup(), o.s.dup(clear=True)]},
    "get": {"": lambda lib, o: [o.s.get(), o.e.get(), o.e.get(7)]},
    "isequal": {"": lambda lib, o: [o.s.isequal(x) for x in (o.s, o.t, o.e, 3)]},
    "isclose": {"": lambda lib, o: [o.s.isclose(x) for x in (o.s, o.t, o.e, 3.00000001)]},
    "is_empty": {"": lambda lib, o: [o.s.is_empty, o.e.is_empty]},
    "nvals": {"": lambda lib, o: [o.s.nvals, o.e.nvals]},
    "ndim": {"": lambda lib, o: o.s.ndim},
    "shape": {"": lambda lib, o: list(o.s.shape)},
    "dtype": {"": lambda lib, o: o.s.dtype.name},
    "is_cscalar": {"": lambda lib, o: [o.s.is_cscalar, lib.Scalar.from_value(1, is_cscalar=True).is_cscalar]},
    "is_grbscalar": {"": lambda lib, o: [o.s.is_grbscalar, lib.Scalar.from_value(1, is_cscalar=True).is_grbscalar]},
    "value": {"": lambda lib, o: [o.s.value, o.e.value], "written": lambda lib, o: setattr(o.s, "value", 9)},
    "clear": {"": lambda lib, o: o.s.clear()},
    "name": {"": lambda lib, o: (setattr(o.s, "name", "another"), o.s.name)[1]},
    "wait": {"": lambda lib, o: o.s.wait()},
    "from_value": {
        "": lambda lib, o: (
            [lib.Scalar.from_value(x) for x in (1, 2.5, True, 1j, np.int8(3))]
            + [lib.Scalar.from_value(o.s, "FP64"), lib.Scalar.from_value(lib.Scalar.from_value(-2.7), "INT8")]
        )
    },
    "update": {"": lambda lib, o: [o.s.update(x) for x in (9, o.t, o.A.reduce_scalar("plus"))] and None},
    "__bool__": {"": lambda lib, o: [bool(o.s), bool(o.b)]},
    "__int__": {"": lambda lib, o: int(o.s)},
    "__float__": {"": lambda lib, o: float(o.s)},
    "__complex__": {"": lambda lib, o: complex(o.s)},
    "__index__": {"": lambda lib, o: range(9)[lib.Scalar.from_value(4)]},
    "__array__": {"": lambda lib, o: np.asarray(o.s)},
    "__abs__": {"": lambda lib, o: abs(o.s).new()},
    "__neg__": {"": lambda lib, o: (-o.s).new()},
    "__invert__": {"BOOL": lambda lib, o: (~o.b).new()},
    "__lshift__": {"": lambda lib, o: [o.s.__lshift__(x) for x in (9, o.t, o.A.reduce_scalar("plus"), o.e)] and None},
    "__call__": {
        "accum": lambda lib, o: o.s(lib.binary.minus).__lshift__(o.t),
        "empty": lambda lib, o: o.e(lib.binary.minus).__lshift__(o.t),
        "a reduction": lambda lib, o: o.s(accum=lib.binary.plus).__lshift__(o.A.reduce_scalar("plus")),
        "refused: a mask": refused(lambda lib, o: o.s(mask=o.m.S)),
    },
    "__divmod__": {"": lambda lib, o: [x.new() for x in divmod(o.s, 2)]},
    "__rdivmod__": {"": own(lambda lib, o: [int(x.new()) for x in divmod(7, o.s)], lambda o: [2, 1])},
    "__or__": {"BOOL": lambda lib, o: (o.b | o.b).new(), "closed": lambda lib, o: lib.binary.minus(o.s | o.t).new()},
    "__and__": {"BOOL": lambda lib, o: (o.b & o.b).new(), "closed": lambda lib, o: lib.binary.minus(o.s & o.t).new()},
    "__xor__": {"BOOL": lambda lib, o: (o.b ^ o.b).new()},
    "__matmul__": {"refused": refused(lambda lib, o: o.s @ o.t)},
    "__rmatmul__": {"refused": refused(lambda lib, o: 1 @ o.s)},
}.items():
    row(f"Scalar.{name}", call)
for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge", "eq", "ne"):
    function = getattr(operator, name)
    exactly = (lambda x: x) if name in ("eq", "ne", "lt", "le", "gt", "ge") else (lambda x: x.new())
    row(
        f"Scalar.__{name}__",
        {
            "Scalar": lambda lib, o, f=function, e=exactly: _computed(f(o.s, o.t)),
            "number": lambda lib, o, f=function, e=exactly: _computed(f(o.s, 2)),
        },
    )
    if name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        if name == "mod":
            row("Scalar.__rmod__", {"number": own(lambda lib, o: int(_computed(7 % o.s)), lambda o: 1)})
        else:
            row(f"Scalar.__r{name}__", {"number": lambda lib, o, f=function: _computed(f(7, o.s))})
        row(f"Scalar.__i{name}__", {"number": lambda lib, o, name=name: _in_place(o.s.dup(), name, 2)})
for name in ("and", "or", "xor"):
    row(f"Scalar.__i{name}__", {"BOOL": lambda lib, o, name=name: _in_place(o.b.dup(), name, o.b)})
    reverse = getattr(operator, {"and": "and_", "or": "or_", "xor": "xor"}[name])
    cell = (
        (lambda lib, o, f=reverse: _computed(f(True, o.b)))
        if name == "xor"
        else refused(lambda lib, o, f=reverse: _computed(f(True, o.b)))
    )
    row(f"Scalar.__r{name}__", {"BOOL": cell})
row("Scalar.__imatmul__", {"refused": refused(lambda lib, o: _in_place(o.s.dup(), "matmul", o.t))})


def _computed(x):
    return x.new() if hasattr(x, "new") else x


def _in_place(x, name, y):
    return _computed(getattr(operator, f"i{name}")(x, y))
