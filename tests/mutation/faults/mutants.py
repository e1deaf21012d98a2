"""Mutants of `generated.py` that no quick test of their layer had noticed, and what tests of their kinds found."""

from . import Fault

FIGURES = ("tests/planner/test_measured_figures.py",)
SHAPES = ("tests/storage/test_every_shape.py",)
SELDOM = ("tests/core/test_seldom_calls.py",)
WORDS = ("tests/core/test_refused_words.py",)
NUMBERS = ("tests/core/test_numbers.py",)

FAULTS = [
    Fault(
        "grb_tile/planner/choose_matvec_gpu.py",
        "a repeated plan's figures are its rule",
        'last[1], "csr", last[2], last[3])',
        'last[1], "csr", last[3], last[3])',
        ("tests/planner/test_matvec_work.py",),
    ),
    Fault(
        "grb_tile/planner/choose_matvec_gpu.py",
        "edges counted for what passing over rows costs, too",
        "rows - costs.fixed_ns > tuning.GPU_COUNT_EDGES_NS",
        "rows + costs.fixed_ns > tuning.GPU_COUNT_EDGES_NS",
        ("tests/planner/test_matvec_work.py",),
    ),
    Fault(
        "grb_tile/planner/choose_matmul_gpu.py",
        "the transposes of A and B exchanged in the count of products",
        "masked_products(A, B, pattern, at, bt) * tuning.GPU_MASKED_PUSH_NS + transpose",
        "masked_products(A, B, pattern, bt, at) * tuning.GPU_MASKED_PUSH_NS + transpose",
        ("tests/planner/test_choices_on_devices.py",),
    ),
    Fault(
        "grb_tile/planner/choose_kernel.py",
        "products of a pair of tiles save time",
        "tuning.GPU_TILE_VALUES_NS + each * tuning.GPU_TILE_PRODUCT_NS",
        "tuning.GPU_TILE_VALUES_NS - each * tuning.GPU_TILE_PRODUCT_NS",
        FIGURES,
    ),
    Fault(
        "grb_tile/planner/matvec_work.py",
        "a matrix of as many entries as columns is too empty for sums",
        "A.indices.shape[0] < A.ncols:",
        "A.indices.shape[0] <= A.ncols:",
        FIGURES,
    ),
    Fault(
        "grb_tile/planner/tuning/device.py",
        "a measured cost, twice",
        'GPU_BLOCK_BANDWIDTH = define(0.83, "share',
        'GPU_BLOCK_BANDWIDTH = define(1.66, "share',
        FIGURES,
    ),
    Fault(
        "grb_tile/storage/convert.py",
        "rows behind the last stored one",
        "    at = np.where(hit, at, 0)\n    starts = indptr[at]",
        "    starts = indptr[at]",
        SHAPES,
    ),
    Fault(
        "grb_tile/storage/dense.py",
        "two lines are in either order",
        "(flat.iso or lines == 1 or width == 1)",
        "(flat.iso or lines <= 2 or width == 1)",
        SHAPES,
    ),
    Fault(
        "grb_tile/storage/bit_tiles.py",
        "bit blocks are made only where they are there",
        'form = forms.get("bitblock")\n    if form is None:',
        'form = forms.get("bitblock")\n    if form is not None:',
        SHAPES,
    ),
    Fault(
        "grb_tile/io/replace.py",
        "a file that is open already is replaced",
        "if special or found is not None and given.startswith(DESCRIPTORS):",
        "if special:",
        ("tests/io/test_replace.py",),
    ),
    Fault(
        "grb_tile/io/dialect.py",
        "quotation marks beside a long delimiter",
        "if b'\"' in line and len(self.delimiter) == 1:",
        "if b'\"' in line:",
        ("tests/io/test_edge_list.py",),
    ),
    Fault(
        "grb_tile/io/networkx_graphs.py",
        "parallel edges without weights are one entry",
        "if every or any(each is not None for each in given):",
        "if any(each is not None for each in given):",
        ("tests/io/test_convert.py",),
    ),
    Fault(
        "grb_tile/core/ss/vector.py",
        "build_scalar of an empty Scalar",
        'if value is None or getattr(value, "is_empty", False):',
        "if value is None:",
        WORDS,
    ),
    Fault(
        "grb_tile/core/arguments.py",
        "large numbers of Python in floating point are refused",
        'dtype.np_type.kind in "iu" and not -(2**63)',
        'dtype.np_type.kind not in "iu" and not -(2**63)',
        SELDOM,
    ),
    Fault(
        "grb_tile/core/arguments.py",
        "what can be iterated once is listed in place of lists",
        "array if type(array) in (list, tuple) else list(array)",
        "list(array) if type(array) in (list, tuple) else array",
        SELDOM,
    ),
    Fault(
        "grb_tile/core/arguments.py",
        "an object that is no type has data",
        '            if not hasattr(dtype, "__len__"):\n                raise\n',
        "",
        WORDS,
    ),
    Fault(
        "grb_tile/core/vector.py",
        "a loop is not told that a vector is cleared",
        "        elements.note_write(self)\n        elements.reset(self, empty_vector",
        "        elements.reset(self, empty_vector",
        NUMBERS,
    ),
    Fault(
        "grb_tile/core/number.py",
        "a number of the loop on the right is one on the left",
        "left.vector.apply(name, right=other) if first else right.vector.apply(name, left=other)",
        "left.vector.apply(name, left=other) if first else right.vector.apply(name, right=other)",
        NUMBERS,
    ),
    Fault(
        "grb_tile/operations/write.py",
        "an interrupted change in place keeps the number of entries",
        "        c.words, c.nvals = words, nvals\n        raise",
        "        c.words = words\n        raise",
        ("tests/operations/test_in_place.py",),
    ),
    Fault(
        "grb_tile/operations/distribution.py",
        "sums of floating-point numbers distribute",
        'if name == "plus" and np_kind in "iu":',
        'if name == "plus" and np_kind in "iuf":',
        ("tests/operations/test_sums_and_refusals.py",),
    ),
]
