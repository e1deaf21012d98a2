"""Lowering of a semiring on stored types to the C++ struct S of the products' kernels (kernels/products/semiring.cuh).

    s = lowered(device, semiring, A.dtype, A.iso, x.dtype, x.iso)      # None when a type has no device form
    s.text, s.dtype, s.reads_a, s.reads_x, s.structure_only, ...

Values that are read: `first` reads A only, `second` and `any` read x only, `pair` and positional multiplies none.
Structure only: every product has the same value and the monoid is idempotent, so the result is iso.
"""

import numpy as np

from ....dtypes import FP32, FP64, cast as host_cast
from ....operators import ANY, to_cuda

_IDEMPOTENT = frozenset((
    np.fmin, np.fmax, np.minimum, np.maximum, np.logical_or, np.logical_and, np.bitwise_or, np.bitwise_and,
))  # fmt: skip
_BUILT_IN_STARTS = frozenset((
    np.add, np.multiply, np.minimum, np.maximum, np.fmin, np.fmax, np.logical_or, np.logical_and, np.logical_xor,
    np.bitwise_or, np.bitwise_and, np.bitwise_xor,
))  # fmt: skip
_HARDWARE = {
    np.fmin: "least",
    np.fmax: "greatest",
}  # one instruction for FP32; which of -0 and 0 results depends on the order, as for any minimum
_WORST = {np.fmin: np.inf, np.fmax: -np.inf}
_NAN_STAYS = frozenset(("plus", "minus", "rminus", "times"))  # of floats: what NaN is one of is NaN
_FOLDS = {np.logical_or: "FOLD_OR", np.logical_and: "FOLD_AND", np.logical_xor: "FOLD_XOR"}  # of BOOL
_EXACT_NAMES = frozenset(("eq", "lxnor", "bxnor"))  # identity (+) v = v exactly; for hypot, for example, it is not


class Lowered:
    """The struct S as text, and its properties that the host reads."""

    __slots__ = (
        "a_iso", "any", "atomic", "counts", "dtype", "early_exit", "has_start", "has_terminal", "kernels", "one",
        "reads_a", "reads_x", "start", "start_marks_absent", "structure_only", "text", "x_iso",
    )  # fmt: skip

    @property
    def merges_by_atomics(self):
        """May several threads merge into one value?  A store of more than 8 bytes could mix two writers' values."""
        return self.structure_only or (self.atomic and self.dtype.np_type.itemsize <= 8)

    def value(self, device, A, x):
        """The length-1 device array of the one value of a structure-only semiring's products."""
        key = device
        if not self.one.fixed:  # the device never frees constants, so their addresses identify them
            key = device, device.address(A.values), device.address(x.values)
        found = self.kernels.get(key)
        if found is None:
            found = device.constant(self.one(device, A, x), self.dtype.np_type)
            if (
                self.one.fixed
                or device.known_constant(A.values) is not None
                and device.known_constant(x.values) is not None
            ):
                self.kernels[key] = found
        return found

    def kernel(self, launcher, header, name, template):
        """launcher.kernel with this struct, cached by a short key (the struct's text is slow to hash)."""
        key = launcher, name, template
        found = self.kernels.get(key)
        if found is None:
            found = self.kernels[key] = launcher.kernel(header, name, self.text, template)
        return found


_cache = {}


def lowered(device, semiring, a_dtype, a_iso, x_dtype, x_iso):
    """The Lowered of a semiring for operands of these types; cached."""
    key = semiring, a_dtype, a_iso, x_dtype, x_iso
    found = _cache.get(key)
    if found is None:
        if len(_cache) > 4096:
            _cache.clear()
        found = _cache[key] = _lower(semiring, a_dtype, a_iso, x_dtype, x_iso)
    return found


def lowered_plain(device, semiring, a_dtype, a_iso, x_dtype, x_iso):
    """The same, or None where a type has no device form."""
    found = _cache.get((semiring, a_dtype, a_iso, x_dtype, x_iso))
    if found is None:
        types = a_dtype, x_dtype, semiring.return_type, semiring.type, semiring.type2
        found = None if any(t._is_udt for t in types) else lowered(device, semiring, a_dtype, a_iso, x_dtype, x_iso)
    return found


def cast_text(have, want, text):
    """C++ text of the value `text` of type `have` as one of `want`, with SuiteSparse's typecast."""
    if have is want:
        return text
    wants_complex = want.np_type.kind == "c" and have.np_type.kind != "c"
    return f"grb::{'complex_cast' if wants_complex else 'cast'}<{want.cuda_type}>({text})"


def start_of(monoid):
    """Start value of an accumulation: a scalar s with s (+) v = v for every v, also NaN and -0; None if unknown."""
    ufunc, np_type = monoid.ufunc, monoid.type.np_type
    if ufunc not in _BUILT_IN_STARTS:
        return monoid.identity if monoid.name in _EXACT_NAMES and monoid.parent._builtin else None
    if np_type.kind == "f":
        if ufunc is np.fmin or ufunc is np.fmax:
            return np_type.type(np.nan)
        if ufunc is np.add:
            return np_type.type(-0.0)
    if np_type.kind == "c":
        if ufunc is np.add:
            return np_type.type(complex(-0.0, -0.0))
        return None
    return monoid.identity


def is_idempotent(monoid):
    """Is v (+) v = v for every v?"""
    return monoid.ufunc in _IDEMPOTENT or monoid.terminal is ANY


def _lower(semiring, a_dtype, a_iso, x_dtype, x_iso):
    op, monoid = semiring.binaryop, semiring.monoid
    result = Lowered()
    result.dtype = z = semiring.return_type
    kind, positional = op.kind, op.positional
    result.reads_a = positional is None and kind not in ("pair", "second", "any")
    result.reads_x = positional is None and kind not in ("pair", "first")
    result.a_iso, result.x_iso = a_iso, x_iso
    result.any = monoid.terminal is ANY
    same = positional is None and (a_iso or not result.reads_a) and (x_iso or not result.reads_x)
    result.structure_only = same and is_idempotent(monoid)
    result.one = _one(op, z, result.reads_a, result.reads_x) if same else None
    # a sum of ones: the number of products
    result.counts = kind == "pair" and monoid.ufunc is np.add and z.np_type.kind in "iuf"
    start = None if result.any else start_of(monoid)
    result.has_start, result.start = start is not None, start
    result.has_terminal = monoid.terminal is not None and not result.any
    result.atomic = result.structure_only or result.any or (result.has_start and z.np_type.itemsize <= 8)
    if result.structure_only:
        result.reads_a = result.reads_x = False
        result.has_start = result.has_terminal = False
    # see kernels/products/column_merge.cuh
    result.start_marks_absent = start is not None and monoid.ufunc is np.add and z.np_type.kind == "f"
    result.early_exit = result.structure_only or result.any or (result.has_terminal and z.np_type.kind == "b")
    result.kernels = {}
    operators, text, position = [], [], None
    if positional is not None:
        position = {"firsti": "i", "firstj": "k", "secondi": "k", "secondj": "j"}[positional.rstrip("1")]
        product = f"grb::cast<{z.cuda_type}>({position}{' + 1' if positional[-1] == '1' else ''})"
    elif result.structure_only:
        product = f"{z.cuda_type}(1)"
    elif kind == "pair":
        product = to_cuda.constant_text(1, op.return_type)
        product = cast_text(op.return_type, z, product)
    elif kind == "first":
        product = cast_text(op.return_type, z, cast_text(op.type, op.return_type, cast_text(a_dtype, op.type, "a")))
    elif kind in ("second", "any"):
        product = cast_text(op.return_type, z, cast_text(op.type2, op.return_type, cast_text(x_dtype, op.type2, "x")))
    else:
        operators.append(op)
        text.append(to_cuda.functor(op, "Times"))
        arguments = f"{cast_text(a_dtype, op.type, 'a')}, {cast_text(x_dtype, op.type2, 'x')}"
        product = cast_text(op.return_type, z, f"Times()({arguments})")
    if result.any or result.structure_only:
        addition = "p"
    else:
        add = monoid.binaryop
        operators.append(add)
        text.append(to_cuda.functor(add, "Plus"))
        addition = cast_text(add.return_type, z, "Plus()(p, q)")
        if monoid.ufunc in _HARDWARE and z.np_type == np.float32:
            addition = f"grb::{_HARDWARE[monoid.ufunc]}(p, q)"
    types = (a_dtype, x_dtype, z, op.type, op.type2, op.return_type)
    includes = {to_cuda.includes(o) for o in operators}
    if any(t.np_type.kind == "c" for t in types) or any("complex" in line for line in includes):
        include = '#include "base/scalar_complex.cuh"'
    else:
        include = '#include "base/scalar.cuh"'
    terminal = "false"
    if result.has_terminal:
        terminal = f"v == {to_cuda.constant_text(monoid.terminal, z)}"
    flags = {
        "reads_a": result.reads_a, "reads_x": result.reads_x, "a_iso": a_iso, "x_iso": x_iso,
        "structure_only": result.structure_only, "any": result.any, "has_start": result.has_start,
        "has_terminal": result.has_terminal, "reads_i": position == "i", "reads_k": position == "k",
        "plain_sum": monoid.ufunc is np.add and z.np_type.kind in "iuf",
        "picks": result.has_start and monoid.ufunc in _WORST and z is FP64,
        "leaves_nan_out": result.has_start and monoid.ufunc in _WORST and _keeps_nan(op, a_dtype, x_dtype, z),
    }  # fmt: skip
    a_type = a_dtype.cuda_type if result.reads_a else "uint8_t"
    x_type = x_dtype.cuda_type if result.reads_x else "uint8_t"
    zt = z.cuda_type
    body = [
        f"  using Z = {zt}; using A = {a_type}; using X = {x_type};",
        f"  static constexpr int fold = grb::{_fold(monoid, z)};",
        *(f"  static constexpr bool {name} = {'true' if flag else 'false'};" for name, flag in flags.items()),
        f"  static __device__ __forceinline__ Z start() {{ return {_start_text(start, z)}; }}",
        f"  static __device__ __forceinline__ bool terminal(Z v) {{ return {terminal}; }}",
        *(_picking(monoid, z) if flags["picks"] else ()),
        f"  static __device__ __forceinline__ Z add(Z p, Z q) {{ return {addition}; }}",
        "  static __device__ __forceinline__ Z times(A a, X x, int64_t i, int64_t k, int64_t j) "
        f"{{ return {product}; }}",
    ]
    result.text = "\n".join([include, *text, "struct S {", *body, "};"])
    return result


def _fold(monoid, z):
    if z.np_type.kind != "b":
        return "NO_FOLD"
    if monoid.name in _EXACT_NAMES and monoid.parent._builtin:
        return "FOLD_XNOR"
    return _FOLDS.get(monoid.ufunc, "NO_FOLD")


def _keeps_nan(op, a_dtype, x_dtype, z):
    """Are products floats that are NaN where an operand is?"""
    types = {a_dtype, x_dtype, op.type, op.type2, op.return_type, z}
    return len(types) == 1 and z in (FP32, FP64) and op.parent._builtin and op.name in _NAN_STAYS


def _picking(monoid, z):
    """Whether it is a minimum, and the value that it never picks, of a minimum or maximum of FP64."""
    worst = to_cuda.constant_text(z.np_type.type(_WORST[monoid.ufunc]), z)
    yield f"  static __device__ __forceinline__ Z worst() {{ return {worst}; }}"
    yield f"  static constexpr bool picks_least = {'true' if monoid.ufunc is np.fmin else 'false'};"


def _start_text(start, z):
    return f"{z.cuda_type}()" if start is None else to_cuda.constant_text(start, z)


def _one(op, z, reads_a, reads_x):
    """A function that computes the product of two iso operands on the host."""

    def compute(device, A, x):
        if op.kind == "pair":
            value = np.ones(1, op.return_type.np_type)
        elif not reads_x:
            value = host_cast(host_cast(device.iso_value(A).reshape(1), op.type), op.return_type)
        elif not reads_a:
            value = host_cast(host_cast(device.iso_value(x).reshape(1), op.type2), op.return_type)
        else:
            a = host_cast(device.iso_value(A).reshape(1), op.type)
            value = op.numpy(a, host_cast(device.iso_value(x).reshape(1), op.type2))
        return host_cast(value, z)[0]

    compute.fixed = op.kind == "pair"  # otherwise it depends on the operands' values
    return compute
