"""Faults of dense matrices: forms, order, sharing, SpMM and SDDMM."""

from . import Fault

TESTS = FORMS = ("tests/storage/test_dense.py", "tests/laws/test_forms_agree.py")
CPU = ("tests/backends/cpu/test_dense_products.py",)
CUDA = ("tests/backends/cuda/test_dense_products.py",)
ROUNDED = ("tests/backends/cuda/test_spmm_rounded.py",)
SLABS = ("tests/backends/cuda/test_spmm_slabs.py",)

FAULTS = [
    Fault(
        "grb_tile/storage/dense.py",
        "a bitmap becomes CSR below the switch, not below half of it",
        "count >= bitmap_switch(nrows, ncols) / 2 * t.size",
        "count >= bitmap_switch(nrows, ncols) * t.size",
        FORMS,
    ),
    Fault(
        "grb_tile/storage/dense.py",
        "the transpose keeps the order of its arrays",
        "    result = Dense(A.ncols, A.nrows, A.flat, not A.by_columns)\n",
        "    result = Dense(A.ncols, A.nrows, A.flat, A.by_columns)\n",
        FORMS,
    ),
    Fault(
        "grb_tile/backends/dense.py",
        "a result that is an operand's own vector is not marked as shared",
        "            if t is flat:\n                t.shared = True\n",
        "            continue\n",
        ("tests/core/test_small_writes.py",),
    ),
    Fault(
        "grb_tile/backends/dense.py",
        "operators that read positions get those of the flat vector",
        "        if first is None or reads_positions(op) or",
        "        if first is None or",
        FORMS,
    ),
    Fault(
        "grb_tile/backends/dense.py",
        "a full matrix of one value is not cut to the entries beside it",
        "            x, y = _one_value_beside(x, y), _one_value_beside(y, x)\n",
        "",
        FORMS,
    ),
    Fault(
        "grb_tile/storage/update_entries.py",
        "the CSR of a dense matrix outlives an element written in place",
        "        c.nvals = count\n    c.forms = None\n",
        "        c.nvals = count\n",
        survives="the changed vector goes into a new store, which has no forms",
    ),
    Fault(
        "grb_tile/backends/cpu/templates/spmm.py",
        "a position of X that is absent is multiplied",
        "                    if x_words[p >> 6] & bit(p) != NONE:\n",
        "                    if True:\n",
        CPU,
    ),
    Fault(
        "grb_tile/backends/dense_products.py",
        "the operands of a transposed product are not swapped",
        "semiring.flip(), notes)\n",
        "semiring, notes)\n",
        CPU,
    ),
    Fault(
        "kernels/products/spmm.cuh",
        "the parts of a row that is cut into chunks go to one place",
        "(whole ? row : number) * n + column",
        "(whole ? row : 0) * n + column",
        CUDA,
    ),
    Fault(
        "kernels/products/spmm.cuh",
        "a row that is cut into chunks has its first part only",
        "    for (int64_t c = from; c < to; c += by) {\n",
        "    for (int64_t c = from; c <= from; c += by) {\n",
        CUDA,
    ),
    Fault(
        "kernels/products/sddmm.cuh",
        "the row of A stays from the entry before",
        "          if (row != held) {\n",
        "          if (held < 0) {\n",
        CUDA,
    ),
    Fault(
        "grb_tile/backends/dense_products.py",
        "the operands of a column-major product with a vector are not swapped",
        "x.iso), semiring.flip()\n",
        "x.iso), semiring\n",
        ("tests/backends/cpu/test_dense_lines.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/vectorised/dense_lines.py",
        "a row without entries has an entry in the product",
        "present[segment, rows[block]] |= flags.any(axis=1)",
        "present[segment, rows[block]] |= True",
        ("tests/backends/cpu/test_dense_lines.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/vectorised/dense_lines.py",
        "a lone -0.0 becomes 0.0",
        "np_type.type(-0.0 if np_type",
        "np_type.type(0.0 if np_type",
        ("tests/backends/cpu/test_dense_lines.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/compiled/dense_products.py",
        "the strips of a product are put in the first columns",
        "                values[:, strip] = out\n",
        "                values[:, : out.shape[1]] = out\n",
        ("tests/backends/cpu/test_dense_lines.py",),
    ),
    Fault(
        "grb_tile/backends/dense.py",
        "tiles are joined side by side only",
        "        top += row[0].nrows\n",
        "",
        ("tests/backends/cpu/test_dense_lines.py",),
    ),
    Fault(
        "kernels/base/rounded.cuh",
        "a value beyond the range of FP16 is rounded all the same",
        "(near < LEAST || near >= ABOVE || size >= 0x7f800000u)",
        "(near < LEAST || size >= 0x7f800000u)",
        ROUNDED,
    ),
    Fault(
        "kernels/products/round_values.cuh",
        "the product over CSR does not replace a rounded one of values that are not finite",
        "  if (any) *bad = 1;\n",
        "",
        ROUNDED,
    ),
    Fault(
        "kernels/products/spmm_slabs.cuh",
        "a slab forgets the sums of those before",
        "      if (earlier >> r & 1) {\n",
        "      if (false) {\n",
        SLABS,
    ),
    Fault(
        "kernels/products/spmm_slabs.cuh",
        "the next unit's entries are copied over those of this one",
        "own.begin_copy(next, (step + 1) & 1);",
        "own.begin_copy(next, step & 1);",
        SLABS,
    ),
    Fault(
        "kernels/products/spmm_slabs.cuh",
        "a unit with one entry more than has room is copied",
        "if (piece.total > STAGED) cols =",
        "if (piece.total > STAGED + 1) cols =",
        SLABS,
    ),
    Fault(
        "grb_tile/backends/cuda/products/spmm.py",
        "rows that are too long for slabs are left out",
        "            product.multiply_long(slabs.longest)\n",
        "",
        SLABS,
    ),
    Fault(
        "kernels/base/launch.cuh",
        "blocks that keep together leave their count behind",
        "== gridDim.x - 1) turns[0] = 0, turns[1] = 0;",
        "== gridDim.x - 1) turns[1] = 0;",
        SLABS + ("tests/backends/cuda/test_binned_columns.py",),
    ),
    Fault(
        "grb_tile/backends/dense_regions.py",
        "a list that does not ascend is taken for a range",
        "len(I) - 1 and bool((I[1:] > I[:-1]).all()):",
        "len(I) - 1:",
        ("tests/storage/test_dense.py",),
    ),
]
