"""Faults of what loops of users need on a device: positions, functions of numbers, matrices made in each call."""

from . import Fault

POSITIONS = ("tests/backends/cuda/test_program_positions.py",)
FUNCTIONS = ("tests/backends/cuda/test_program_functions.py",)
ANYWHERE = ("tests/backends/cuda/test_program_anywhere.py",)
TESTS = POSITIONS

FAULTS = [
    Fault(
        "kernels/programs/positions.cuh",
        "negative positions do not count from the end",
        "int64_t(p) + (negative && from_end ? size : 0)",
        "int64_t(p)",
    ),
    Fault(
        "kernels/programs/positions.cuh",
        "a position beyond the end is left out and not told",
        "  *wrong = 1;\n  *stop = 1;\n  return -1;",
        "  return -1;",
    ),
    Fault(
        "kernels/programs/positions.cuh",
        "positions that come twice are not told",
        "    if (once && !fresh) *wrong = 1, *stop = 1;\n",
        "",
    ),
    Fault(
        "grb_tile/backends/cuda/programs/positions.py",
        "of equal positions the first counts",
        'by = ("min" if first else "max") if pick',
        'by = "min" if pick',
    ),
    Fault(
        "grb_tile/backends/cuda/programs/touched.py",
        "a gather reads only what its block wrote",
        '"gather_at": {2, 3}',
        '"gather_at": set()',
    ),
    Fault(
        "grb_tile/storage/turn_array.py",
        "arrays of different vectors with gaps fit",
        "            return self.store is other.store\n",
        "            return self.store.size == other.store.size\n",
    ),
    Fault(
        "grb_tile/programs/temporaries.py",
        "matrices of one shape and number of entries are taken for the same",
        "    return bool(backend.is_equal(a, b, get_typed_op",
        "    return bool(True or backend.is_equal(a, b, get_typed_op",
        FUNCTIONS,
    ),
    Fault(
        "grb_tile/programs/functions.py",
        "floor and ceil give floating-point numbers",
        "return found.new(INT64) if function in _WHOLE else found",
        "return found",
        FUNCTIONS,
    ),
    Fault(
        "grb_tile/programs/branches.py",
        "`x or y` is `x and y`",
        "if every else (lambda: first, second)",
        "if not every else (lambda: first, second)",
        FUNCTIONS,
    ),
    Fault(
        "grb_tile/core/turn_arrays.py",
        "a column is a row",
        'if axis is first else A.mxv(one, "any_first")',
        'if axis is not first else A.mxv(one, "any_first")',
        FUNCTIONS,
    ),
    Fault(
        "grb_tile/programs/bounded.py",
        "a product at a complement is at all positions",
        "        return self._inner.restrict(all_of, self._mask(bound, mask))",
        "        return all_of",
        ANYWHERE,
        survives="the write step leaves out what the mask does not admit: the product computes more than it needs",
    ),
    Fault(
        "grb_tile/programs/bounded.py",
        "a vector along the columns is one along the rows",
        "A.bound.ends(axis == 0)",
        "A.bound.ends(axis == 1)",
        ANYWHERE,
    ),
]
