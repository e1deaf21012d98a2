"""Faults of objects, operators and errors as callers meet them."""

from . import Fault

TESTS = ("tests/core/test_objects.py",)

FAULTS = [
    Fault(
        "grb_tile/core/collection.py",
        "select by a mask: a thunk is not refused",
        'if thunk is not None:\n                    raise TypeError("thunk argument not None',
        'if thunk is NotImplemented:\n                    raise TypeError("thunk argument not None',
    ),
    Fault(
        "grb_tile/exceptions.py",
        "the status of an empty object has no exception",
        "        EmptyObject,\n        JitError,\n",
        "        JitError,\n",
    ),
    Fault(
        "grb_tile/core/ss/formats.py",
        "an exported bitmap does not say how many entries it has",
        '        if format == "bitmap":\n            info["nvals"] = v.nvals',
        '        if format == "full":\n            info["nvals"] = v.nvals',
    ),
    Fault(
        "grb_tile/operators/vectorised.py",
        "a function's max: the second of two equal values",
        "return np.where(y > x, y, x)",
        "return np.where(y >= x, y, x)",
        ("tests/operators/test_user_functions.py",),
    ),
    Fault(
        "grb_tile/graph/operands.py",
        "check_square: AT is not looked at",
        "if A.ncols != A.nrows or (AT is not None and AT is not A and AT.shape != A.shape):",
        "if A.ncols != A.nrows:",
        ("tests/backends/cpu/test_graph_loops.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/vectorised/first_of_rows.py",
        "of values that equal the k-th smallest all are kept",
        "(some.cumsum(axis=1) <= need[tied, None])",
        "(some.cumsum(axis=1) <= width)",
        ("tests/core/test_first_of_lines.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/vectorised/first_of_rows.py",
        "a row whose k-th smallest is NaN loses its numbers",
        "before |= nan & ~no_bound if largest else ~nan & no_bound",
        "before |= nan & ~no_bound if largest else False",
        ("tests/core/test_first_of_lines.py",),
    ),
    Fault(
        "kernels/elementwise/first_of_rows.cuh",
        "0 and -0 are two values",
        "if (x != T(0)) memcpy(&bits, &x, sizeof(T));",
        "memcpy(&bits, &x, sizeof(T));",
        ("tests/backends/cuda/test_first_of_rows.py",),
    ),
    Fault(
        "kernels/elementwise/first_of_rows.cuh",
        "the last of the equal keys is left out",
        "rank < kth.need",
        "rank + 1 < kth.need",
        ("tests/backends/cuda/test_first_of_rows.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/elementwise/first_of_rows.py",
        "the last selection reads the entries of the row in place of those of its pieces",
        "return _select(device, indptr, longest, entries, keys, k)[0]",
        "return _select(device, indptr, longest, None, keys, k)[0]",
        ("tests/backends/cuda/test_first_of_rows.py",),
    ),
]
