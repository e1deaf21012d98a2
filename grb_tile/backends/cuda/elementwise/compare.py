"""Are two vectors or matrices equal, or close?  One kernel and one read-back (kernels/elementwise/compare.cuh).

A matrix is three vectors: row pointers, columns, values.  They are compared in this order until two differ.
"""

import numpy as np

from ....dtypes import BOOL, FP64, INT32, INT64, lookup_dtype
from ....operators import get_typed_op
from ....storage.store import BitmapVector, Compressed
from ..lowering.semirings import cast_text
from ..runtime.launch import bits_of
from ..runtime.mailbox import OnDevice
from ..structure.arrays import positions_of
from ..structure.formats import convert
from .mapping import reduced
from .values import all_plain, functor_text


def is_equal(device, x, y, op, tolerance=None):
    """See backends/protocol.py; NotImplemented for user-defined types."""
    if not all_plain(x.dtype, y.dtype):
        return NotImplemented
    if type(x) is Compressed:
        return _matrices(device, x, y, op, tolerance)
    if "bitmap" not in (x.format, y.format) or x.format != y.format:
        if x.nvals != y.nvals:
            return False
        if x.format == "bitmap" or y.format != "bitmap" and y.nvals < x.nvals:
            x, y = y, x  # the list is looked up in the bitmap
    return _agree(device, x, y, op, tolerance)


def _matrices(device, A, B, op, tolerance):
    if A.nvals != B.nvals:
        return False
    if (A.rows is None) != (B.rows is None):
        A, B = convert(device, A, "dcsr"), convert(device, B, "dcsr")
    for a, b in ((A.rows, B.rows), (A.indptr, B.indptr), (A.indices, B.indices)):
        if a is b:
            continue
        if a.shape != b.shape or not _agree(device, _full(a), _full(b), _EQUAL[a.dtype.itemsize], None):
            return False
    return not A.nvals or _agree(device, _full(A.values, A), _full(B.values, B), op, tolerance)


def _full(array, A=None):
    """The array, or the values of A, as a full vector."""
    if A is None:
        return BitmapVector(array.shape[0], lookup_dtype(array.dtype), None, array, array.shape[0])
    return BitmapVector(A.nvals, A.dtype, None, array, A.nvals, A.iso)


_EQUAL = {kind.np_type.itemsize: get_typed_op("eq", kind, kind="binary") for kind in (INT32, INT64)}


def _agree(device, u, v, op, tolerance):
    """Does the count of compare.cuh reach the number of positions, or of entries of the list u?"""
    n, count = (x.size if x.format == "bitmap" else x.indices.shape[0] for x in (u, v))
    if n == 0:
        return True
    u_type, u_indices, u_words = positions_of(u)
    v_type, v_indices, v_words = positions_of(v)
    if u.iso and v.iso and u_type == v_type == "void" and u_words is None and v_words is None:
        n = 1  # full vectors of any size
    template = (u_type, v_type, "Test")
    text = struct_text(op, u.dtype, v.dtype, tolerance is not None)
    kernel = device.launcher.kernel("elementwise/compare.cuh", "agreeing", text, template)
    rel, tol = tolerance or (0.0, 0.0)
    arguments = (
        u_indices, u_words, u.values, u.iso, n, v_indices, v_words, v.values, v.iso, count,
        bits_of(float(rel)), bits_of(float(tol)),
    )  # fmt: skip
    found = reduced(device, kernel, n, arguments, np.dtype(np.int64))
    if type(found) is not OnDevice:
        return bool(found == n)
    agrees = device.empty(1, np.bool_)
    device.launcher.kernel("programs/numbers.cuh", "equals_number").over(1, (found.array, n, agrees))
    return OnDevice(agrees)


def struct_text(op, have, other, is_close):
    """C++ text of `struct Test` (compare.cuh)."""
    kind = op.type
    if is_close and kind.np_type.kind not in "fc":
        kind = FP64
    a, x = cast_text(have, kind, "a"), cast_text(other, kind, "x")
    if is_close:
        real = "float" if kind.np_type in (np.float32, np.complex64) else "double"
        is_complex = any(t.np_type.kind == "c" for t in (kind, have, other))
        lines = ['#include "base/scalar_complex.cuh"'] if is_complex else []
        result = f"grb::close<{real}>({a}, {x}, rel, tol)"
    else:
        lines = [functor_text(op, BOOL)]
        result = f"Op()({a}, {x})"
    lines += [
        "struct Test {", f"  using A = {have.cuda_type};", f"  using X = {other.cuda_type};", "  double rel, tol;",
        f"  __device__ __forceinline__ bool operator()(A a, X x) const {{ return {result}; }}", "};",
    ]  # fmt: skip
    return "\n".join(lines)
