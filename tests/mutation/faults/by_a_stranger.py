"""Faults that somebody planted who had written none of the tests, and that no quick test of the layer noticed then."""

from . import Fault

OBJECTS = ("tests/backends/cuda/test_program_objects.py",)
FUNCTIONS = ("tests/backends/cuda/test_program_functions.py",)
NUMBERS = ("tests/backends/cuda/test_program_numbers.py",)
GRAPH = ("tests/algorithms/test_every_graph_function.py",)
AGREE = ("tests/backends/test_agree_with_reference.py",)
CPU = "tests/backends/cpu/"
SAID = ("tests/cli/test_what_is_said.py",)

FAULTS = [
    Fault(
        "grb_tile/programs/carried.py",
        "the list of vectors is cut before it is divided",
        """        self.others = [vector for k, vector in enumerate(self.vectors) if k not in places]
        self.vectors = [self.vectors[k] for k in places]
""",
        """        self.vectors = [self.vectors[k] for k in places]
        self.others = [vector for k, vector in enumerate(self.vectors) if k not in places]
""",
        OBJECTS,
    ),
    Fault(
        "grb_tile/core/number.py",
        "a number that is spread keeps its own type",
        "        vector = self.vector if dtype is None or dtype is self.vector.dtype else self.vector.dup(dtype)\n",
        "        vector = self.vector\n",
        NUMBERS,
    ),
    Fault(
        "grb_tile/programs/functions.py",
        "the real part of a complex number is taken for it",
        "_checked(x).new(FP64)",
        "x.new(FP64)",
        FUNCTIONS,
    ),
    Fault(
        "grb_tile/programs/captured.py",
        "vectors that a turn exchanges begin as those that it left",
        "                others[home] = begun[id(value)]\n",
        "                pass\n",
        OBJECTS,
    ),
    Fault(
        "grb_tile/programs/results.py",
        "the second of two exchanged vectors stays where it was",
        "                contents[places[id(values[end])]] = stores[home]\n",
        "                contents[home] = stores[home]\n",
        OBJECTS,
    ),
    Fault(
        "grb_tile/graph/report.py",
        "levels and pulled levels are exchanged in a plan's figures",
        "iter((len(levels), pulled, *self.more))",
        "iter((pulled, len(levels), *self.more))",
        GRAPH,
    ),
    Fault(
        "grb_tile/cli/info.py",
        "what was printed before loading is printed once more after it",
        "        lines = []\n        if not args.head:\n",
        "        if not args.head:\n",
        SAID,
    ),
    Fault(
        "grb_tile/backends/cuda/backend.py",
        "arrays of a type without a device form are copied to the device first",
        'frozenset("?bhilqBHILQfdFD")',
        'frozenset("?bhilqBHILQefdFD")',
        ("tests/backends/cuda/test_constructors.py",),
    ),
    Fault(
        "grb_tile/backends/reference.py",
        "a repeated position of a matrix is an error of indices",
        'dup, dtype, "rows, columns")',
        'dup, dtype, "indices")',
        AGREE,
    ),
    Fault(
        "grb_tile/backends/cpu/templates/bfs.py",
        "after a full log the frontier begins at the first vertex",
        "    begin = state[0]\n    end = state[1]\n    depth = state[2]\n    edges = state[3]\n    unexplored",
        "    begin = 0\n    end = state[1]\n    depth = state[2]\n    edges = state[3]\n    unexplored",
        (CPU + "test_bfs.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/jit/cache.py",
        "what many small calls lose is not counted",
        "                self.count(seconds)\n        return self.functions\n",
        "                pass\n        return self.functions\n",
        (CPU + "test_jit.py",),
    ),
    Fault(
        "grb_tile/backends/distributed/queued.py",
        "an interrupt within a queued call is an error of the library",
        "isinstance(error, Exception):  # NcclError",
        "error is not None:  # NcclError",
        ("tests/distributed/test_nccl.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/compiled/binned.py",
        "bins have twice the rows that their 16 bits name",
        "SLAB_BITS, ROW_BITS = 16, 15",
        "SLAB_BITS, ROW_BITS = 16, 16",
        (CPU + "test_binned.py",),
    ),
    Fault(
        "grb_tile/backends/protocol.py",
        "a backend lacks another primitive than it says",
        'self._missing("gather_vector")',
        'self._missing("gather_matrix")',
        ("tests/backends/test_protocol.py",),
    ),
]
