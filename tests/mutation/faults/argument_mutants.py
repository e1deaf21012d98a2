"""Mutants of operators, generators, C names, NetworkX's functions and programs, and what their tests found."""

from . import Fault

GENERATORS = ("tests/generators/test_arguments.py",)
GRB = ("tests/grb/test_every_refusal.py",)
NX = ("tests/nx/test_every_argument.py",)
DISTRIBUTED = ("tests/distributed/test_every_call.py",)
OPERATORS = ("tests/operators/test_every_definition.py",)
PROGRAMS = ("tests/backends/cuda/test_program_operands.py",)

FAULTS = [
    Fault(
        "grb_tile/generators.py",
        "rmat does not tell that it sorts",
        '    _tell(progress, "sorting edges")\n',
        "",
        GENERATORS,
    ),
    Fault(
        "grb_tile/generators.py",
        "another default of rmat",
        "    edge_factor: int = 16,\n    a: float",
        "    edge_factor: int = 17,\n    a: float",
        GENERATORS,
    ),
    Fault(
        "grb_tile/generators.py",
        "one unknown is refused",
        'whole("unknowns", unknowns, 1, 16)',
        'whole("unknowns", unknowns, 2, 16)',
        GENERATORS,
    ),
    Fault(
        "grb_tile/generators.py",
        "lengths as weights by default",
        "distances: bool = False",
        "distances: bool = True",
        GENERATORS,
    ),
    Fault(
        "grb_tile/generators.py",
        "uniform_random takes any flag",
        '    flags(directed=directed)\n    n = whole("n"',
        '    n = whole("n"',
        GENERATORS,
    ),
    Fault(
        "grb_tile/edge_draws.py", "NumPy's numbers wrap around", "    return int(value)", "    return value", GENERATORS
    ),
    Fault(
        "grb_tile/nx/functions/clusters.py",
        "a loop counts as a neighbour",
        "    counts[loops.to_coo(values=False)[0]] -= 1\n",
        "",
        NX,
    ),
    Fault(
        "grb_tile/nx/functions/degrees.py",
        "reciprocity of an isolated node",
        '            raise nx.NetworkXError("Not defined for isolated nodes.")',
        "            pass",
        NX,
    ),
    Fault(
        "grb_tile/nx/functions/structure.py",
        "k_truss takes loops",
        "def k_truss(G, k):\n    found = graph(G)\n    if found.nself:",
        "def k_truss(G, k):\n    found = graph(G)\n    if False:",
        NX,
    ),
    Fault(
        "grb_tile/grb/operations.py",
        "eWiseMult takes the types the other way round",
        '_typed("eWiseMult", op, A.dtype, B.dtype)',
        '_typed("eWiseMult", op, B.dtype, A.dtype)',
        GRB,
    ),
    Fault(
        "grb_tile/grb/operations.py",
        "vxm takes operators of any kind",
        'op, u.dtype, A.dtype, kind="semiring")',
        "op, u.dtype, A.dtype)",
        GRB,
    ),
    Fault(
        "grb_tile/grb/operations.py",
        "operators of another kind are computed with",
        "    if typed.opclass not in classes:",
        "    if False:",
        GRB,
    ),
    Fault(
        "grb_tile/grb/operations.py",
        "the shapes of an assign exchanged in the message",
        "region_shape(call, shape, region)",
        "region_shape(call, region, shape)",
        GRB,
    ),
    Fault(
        "grb_tile/grb/operations.py",
        "assign takes a number for a list of indices",
        "K if axis == line else",
        "K if isinstance(K, int) else",
        GRB,
    ),
    *(
        Fault("grb_tile/grb/methods.py", f"{name} takes any object", f'    _expect("{name}", {given})\n', "", GRB)
        for name, given in (
            ("Scalar_dup", "s=(s, Scalar)"),
            ("Scalar_nvals", "s=(s, Scalar)"),
            ("Scalar_setElement", "s=(s, Scalar)"),
            ("Matrix_resize", "A=(A, Matrix)"),
        )
    ),
    Fault(
        "grb_tile/grb/methods.py",
        "rows of a matrix that is built have the bound of its columns",
        '_counted("I", I, n), C.shape[0])',
        '_counted("I", I, n), C.shape[1])',
        GRB,
    ),
    Fault(
        "algorithms/iteration.py",
        "a sum that overflows passes for rounding",
        " < np.inf  # a sum",
        "  # a sum",
        ("tests/algorithms/test_eigenvector_katz_hits.py",),
    ),
    Fault(
        "algorithms/hits.py",
        "hits begins with zeros",
        "iteration.start(nstart, G, 1.0 / max(G.n, 1))",
        'iteration.vector(nstart, "nstart", G, 1.0 / max(G.n, 1))',
        ("tests/algorithms/test_eigenvector_katz_hits.py",),
    ),
    Fault(
        "grb_tile/programs/captured.py",
        "a vector that a name of the turn alone has is not lost",
        'values, strict=True) if role != "own"}',
        "values, strict=True)}",
        PROGRAMS,
    ),
    Fault(
        "grb_tile/programs/captured.py",
        "vectors that are written and lost",
        "            if key in lost or key not in bound",
        "            if key not in bound",
        PROGRAMS,
    ),
    Fault(
        "grb_tile/programs/running.py",
        "defaults of functions that a loop calls are not looked at",
        '                self.read += [(f"{name}\'s default", x) for x in given]\n',
        "",
        PROGRAMS,
    ),
    Fault(
        "grb_tile/operators/scalar.py",
        "a bit that the type has not is cleared",
        "def bclr(x, y, bits):\n    if y < 1 or y > bits:\n        return np.int64(x)\n",
        "def bclr(x, y, bits):\n",
        OPERATORS,
    ),
    Fault(
        "grb_tile/operators/scalar.py",
        "an unsigned bit that the type has not is set",
        "def bset_unsigned(x, y, bits):\n    if y < 1 or y > bits:\n        return np.uint64(x)\n",
        "def bset_unsigned(x, y, bits):\n",
        OPERATORS,
    ),
    Fault(
        "grb_tile/operators/iso_products.py",
        "second does not read its second operand",
        'kind != "first"',
        'kind == "first"',
        OPERATORS,
    ),
    Fault(
        "grb_tile/operators/udf.py",
        "a trial of a function warns",
        '            with np.errstate(all="ignore"):\n                value = self.function',
        "            with np.errstate():\n                value = self.function",
        OPERATORS,
    ),
    Fault(
        "grb_tile/operators/indexunary.py",
        "select has no name that is made late",
        "                SelectOp._namespace().delay(name, lambda: one(1))",
        "                pass",
        OPERATORS,
    ),
    Fault(
        "grb_tile/dtypes/types.py",
        "a type that is restored has name and dtype exchanged",
        "register_anonymous(dtype, name)\n    return _REGISTRY[name] if",
        "register_anonymous(name, dtype)\n    return _REGISTRY[name] if",
        OPERATORS,
    ),
    Fault("grb_tile/dtypes/types.py", "a type keeps its first name", "            known.name = name\n", "", OPERATORS),
    Fault(
        "grb_tile/backends/cuda/graph/topological.py",
        "vertices that 32-bit numbers do not hold",
        "0 < n < 2**31 - 128",
        "0 < n < 2**32 - 128",
        ("tests/backends/cuda/test_most_vertices.py",),
    ),
    Fault(
        "grb_tile/dist/generate.py",
        "another seed than the ordinary generator's by default",
        "dtype: Any = None, seed: int = 0, name: str | None = None,\n) -> Matrix:  # fmt: skip\n    "
        '"""The matrix of `gb.generators.rmat`',
        "dtype: Any = None, seed: int = 1, name: str | None = None,\n) -> Matrix:  # fmt: skip\n    "
        '"""The matrix of `gb.generators.rmat`',
        DISTRIBUTED,
    ),
    Fault(
        "grb_tile/dist/world.py",
        "a longer wait by default",
        "timeout: float = 300.0) -> World",
        "timeout: float = 600.0) -> World",
        DISTRIBUTED,
    ),
    Fault(
        "grb_tile/dist/build.py",
        "any object is distributed",
        "if backend.rank == root and not isinstance(x, Matrix | Vector):",
        "if False:",
        DISTRIBUTED,
    ),
    Fault(
        "grb_tile/backends/distributed/connect.py",
        "an MPI communicator is not taken",
        "        return _mpi(comm, timeout)\n    if os.environ",
        "        pass\n    if os.environ",
        DISTRIBUTED,
    ),
    Fault(
        "grb_tile/backends/distributed/building.py",
        "columns of parts that are made longer",
        "(None, None, len(given), store.shape[1])",
        "(None, None, len(given), store.shape[2])",
        DISTRIBUTED,
    ),
    Fault(
        "grb_tile/backends/distributed/nccl.py",
        "what is queued is lost with the communicator",
        '            self.wait("close", SECONDS_TO_CLOSE)',
        "            pass",
        ("tests/distributed/test_nccl.py",),
    ),
    Fault(
        "grb_tile/backends/distributed/nccl.py",
        "a communicator closes twice",
        "        finally:\n            self._stopped.set()",
        "        finally:\n            pass",
        ("tests/distributed/test_nccl.py",),
    ),
]
