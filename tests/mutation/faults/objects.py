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
        '            info["bitmap"][indices] = True\n            info["nvals"] = v.nvals',
        '            info["bitmap"][indices] = True',
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
        "grb_tile/core/lines.py",
        "values that equal the k-th smallest are left out",
        "(values[at] <= bound) | (bound != bound)",
        "(values[at] < bound) | (bound != bound)",
        ("tests/core/test_first_of_lines.py",),
    ),
    Fault(
        "grb_tile/core/lines.py",
        "a line with k NaN loses them",
        "(values[at] <= bound) | (bound != bound)",
        "values[at] <= bound",
        ("tests/core/test_first_of_lines.py",),
    ),
]
