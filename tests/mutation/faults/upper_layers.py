"""Faults of what users call: objects, results, files, the NetworkX backend, the command."""

from . import Fault

NETWORKX = ("tests/nx/test_differential.py",)
TESTS = ("tests/calls",)

FAULTS = [
    Fault(
        "grb_tile/io/npz.py",
        "load_npz: damaged arrays not checked",
        '            if hasattr(array, "check_format"):\n                array.check_format()\n',
        "",
        ("tests/bad_input/test_files.py",),
    ),
    Fault(
        "grb_tile/nx/functions/clusters.py",
        "generalized_degree: self-loops not removed",
        "    A = gb.select.offdiag(found.A).new()\n    # C<A,s> = A plus.pair A': the triangles at each",
        "    A = found.A\n    # C<A,s> = A plus.pair A': the triangles at each",
        NETWORKX,
    ),
    Fault(
        "grb_tile/grb/operations.py",
        "Col_assign: j checked against the number of rows",
        'C, mask, accum, u, I, _position("j", j, C.shape[1]), desc, False)',
        'C, mask, accum, u, I, _position("j", j, C.shape[0]), desc, False)',
        ("tests/grb",),
    ),
    Fault(
        "grb_tile/cli/bench_verify.py",
        "bench: product's check asks A for iso, not C",
        "values = np.broadcast_to(C.values, C.nvals)[found] if C.iso else C.values[found]",
        "values = np.broadcast_to(C.values, C.nvals)[found] if A.iso else C.values[found]",
        ("tests/cli/test_bench.py",),
    ),
    Fault(
        "grb_tile/io/files.py",
        "read of npz: dup_op not passed on",
        "load_npz(source, dup_op=dup_op)",
        "load_npz(source)",
        ("tests/io/test_convert.py",),
    ),
    Fault(
        "grb_tile/core/scalar.py",
        "Scalar.from_value of a Scalar: value not cast",
        "cls._from_value(None if held is None else cast_scalar(held, dtype), dtype,",
        "cls._from_value(held, dtype,",
    ),
    Fault(
        "grb_tile/core/ss/config.py",
        "ss.config format: bitmap forgotten",
        'if status in ("bitmap", "full"):\n            form',
        'if status == "full":\n            form',
        ("tests/core/test_suitesparse_names.py",),
    ),
    Fault(
        "grb_tile/cli/gap_verify.py",
        "gap tc check: self-loops kept",
        "kept = rows > cols",
        "kept = rows >= cols",
        ("tests/cli/test_gap.py",),
    ),
    Fault(
        "algorithms/random_walks.py",
        "restart decided by the number that draws the edge",
        "_uniform(key, step, 1) < restart",
        "_uniform(key, step, 0) < restart",
        ("tests/algorithms/test_random_walks.py",),
    ),
    Fault(
        "grb_tile/nx/functions/clusters.py",
        "_neighbours: self-loops counted",
        "    counts[loops.to_coo(values=False)[0]] -= 1\n",
        "",
        NETWORKX,
    ),
    Fault(
        "grb_tile/nx/functions/matrices.py",
        "to_scipy_sparse_array of a subgraph: weight not passed on",
        "return to_scipy_sparse_array(G.subgraph(nodelist), nodelist, weight=weight, format=format)",
        "return to_scipy_sparse_array(G.subgraph(nodelist), nodelist, format=format)",
        NETWORKX,
    ),
    Fault(
        "grb_tile/core/collection.py",
        "__array__(copy=True) returns a view",
        "        if copy is False:\n            return _view(self, dtype)",
        "        if copy is not None:\n            return _view(self, dtype)",
        ("tests/core/test_objects.py",),
    ),
    Fault(
        "grb_tile/core/lines.py",
        "sort by a user's operator: ties the wrong way round",
        "int(minor[a]) - int(minor[b])",
        "int(minor[b]) - int(minor[a])",
        ("tests/core/test_objects.py",),
    ),
    Fault(
        "grb_tile/nx/functions/components.py",
        "is_weakly_connected: null graph not refused",
        "def is_weakly_connected(G):\n"
        "    if len(G) == 0:\n"
        '        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")\n',
        "def is_weakly_connected(G):\n",
        NETWORKX,
    ),
    Fault(
        "grb_tile/core/index.py",
        "index range: step forgotten",
        "np.arange(index.start, index.stop, index.step, dtype=np.int64)",
        "np.arange(index.start, index.stop, dtype=np.int64)",
        ("tests/core/test_indexing.py",),
    ),
    Fault(
        "grb_tile/operations/shaping.py",
        "concat of vectors: no cast to the result's type",
        "backend.tuples_vector(backend.cast(u, dtype))",
        "backend.tuples_vector(u)",
    ),
    Fault(
        "grb_tile/core/calls.py",
        "op(literal, Scalar): operands swapped",
        '    if getattr(right, "_is_scalar", False):\n        return right.apply(op, left=left)',
        '    if getattr(right, "_is_scalar", False):\n        return right.apply(op, right=left)',
    ),
    Fault(
        "grb_tile/config.py",
        "expanded variables not validated",
        "self.set({name: text for name, text in texts.items() if text != self._values[name]})",
        "self._values.update({name: text for name, text in texts.items() if text != self._values[name]})",
        ("tests/core/test_config.py",),
    ),
    Fault(
        "algorithms/result.py",
        "top: positions among entries taken for vertices",
        "self._labels(at[order])",
        "self._labels(order)",
        ("tests/algorithms/test_result.py",),
    ),
    Fault(
        "grb_tile/operations/multiply.py",
        "dense matvec: a forced kernel ignored",
        "if rules.method is not None or rules.format is not None or rules.kernel is not None:\n"
        "        return NotImplemented\n"
        "    start, backend = perf_counter(), current()\n"
        "    w =",
        "if rules.method is not None or rules.format is not None:\n"
        "        return NotImplemented\n"
        "    start, backend = perf_counter(), current()\n"
        "    w =",
        ("tests/planner/test_kernels.py",),
    ),
    Fault(
        "grb_tile/viz.py",
        "viz.frontier: rounds without a number",
        ' and rounds[k]["frontier"] is not None]',
        "]",
        ("tests/core/test_viz.py",),
    ),
    Fault(
        "grb_tile/io/replace.py",
        "writing to `name/`: the slash ignored",
        "stat.S_ISDIR(found.st_mode) or given.endswith(os.sep):",
        "stat.S_ISDIR(found.st_mode):",
        ("tests/io/test_replace.py",),
    ),
    Fault(
        "grb_tile/nx/functions/clusters.py",
        "repeated nodes kept",
        "return list(dict.fromkeys(map(nodes_of(G).number, G.nbunch_iter(nodes))))",
        "return list(map(nodes_of(G).number, G.nbunch_iter(nodes)))",
        NETWORKX,
    ),
    Fault(
        "grb_tile/core/ss/vector.py",
        "Vector.ss.selectk: negative k",
        '        if k < 0:\n            raise ValueError("negative k is not allowed")\n        parent, how',
        "        parent, how",
    ),
    Fault(
        "grb_tile/core/ss/formats.py",
        "ss.export of a vector: format in capitals",
        "    format = format.lower()\n    if format not in VECTOR_FORMATS",
        "    if format not in VECTOR_FORMATS",
    ),
    Fault(
        "grb_tile/io/device_arrays.py",
        "from_cupy_coo: row = nrows accepted",
        "(rows >= nrows).sum()",
        "(rows > nrows).sum()",
        ("tests/backends/cuda/test_device_arrays.py",),
    ),
    Fault(
        "grb_tile/core/assign.py",
        "assigned arrays: user-defined type forgotten",
        "array, dtype = values_array(value, self.dtype if self.dtype._is_udt else None)\n"
        "        except Exception:\n"
        "            array = None\n"
        "        if array is not None and (array.ndim",
        "array, dtype = values_array(value, None)\n"
        "        except Exception:\n"
        "            array = None\n"
        "        if array is not None and (array.ndim",
        ("tests/core/test_indexing.py",),
    ),
    Fault(
        "grb_tile/core/display_html.py",
        "html: facts not escaped",
        'f"<td>{escape(str(value))}</td>"',
        'f"<td>{value}</td>"',
        ("tests/core/test_objects.py",),
    ),
    Fault(
        "grb_tile/cli/vertex_values.py",
        "the number of all nodes is no number of samples",
        "not 1 <= args.samples <= n",
        "not 1 <= args.samples < n",
        ("tests/cli/test_vertex_values.py",),
    ),
    Fault(
        "grb_tile/core/aggregate.py",
        "the exponent of the geometric mean is of single precision",
        '    n = current().cast(n, lookup_dtype("FP64"))\n    return _both("pow", x',
        '    n = current().cast(n, lookup_dtype("FP32"))\n    return _both("pow", x',
        ("tests/core/test_objects.py",),
    ),
    Fault(
        "algorithms/result.py",
        "a frame of edges has the ends of each exchanged",
        '{"source": self._labels(i), "target": self._labels(j), self.values.name: x}',
        '{"source": self._labels(j), "target": self._labels(i), self.values.name: x}',
        ("tests/algorithms/test_result.py",),
    ),
    Fault(
        "grb_tile/core/build.py",
        "many indices may be one too large",
        "(indices.view(np.uint64) if long else indices).max() < size",
        "(indices.view(np.uint64) if long else indices).max() <= size",
        ("tests/core/test_objects.py",),
    ),
    Fault(
        "grb_tile/nx/interface.py",
        "a graph of exactly min_edges adjacencies is too small",
        "sum(map(len, adjacency.values()))) < least",
        "sum(map(len, adjacency.values()))) <= least",
        ("tests/nx/test_dispatch.py",),
    ),
    Fault(
        "grb_tile/grb/methods.py",
        "a dimension of 2^60 is refused",
        "if not 0 <= n <= _MOST:",
        "if not 0 <= n < _MOST:",
        ("tests/grb",),
    ),
    Fault(
        "grb_tile/core/matrix_build.py",
        "a matrix cleared and built of nothing keeps the store of its old shape",
        "store = empty_matrix(*shape, self.dtype) if clear else self._store",
        "store = empty_matrix(self._nrows, self._ncols, self.dtype) if clear else self._store",
        ("tests/core/test_objects.py",),
    ),
    Fault(
        "grb_tile/io/streams.py",
        "a header's line that is too long is read as two",
        "if len(line) >= LONGEST_LINE:",
        "if len(line) > LONGEST_LINE:",
        ("tests/io/test_matrix_market.py",),
    ),
    Fault(
        "algorithms/local_moves.py",
        "the last round looks at neighbours of moved nodes only",
        "                if active is None:\n                    break\n                active = None  # sums",
        "                if True:\n                    break\n                active = None  # sums",
        ("tests/algorithms/test_communities.py",),
    ),
    Fault(
        "grb_tile/grb/methods.py",
        "a wrong number of columns is called nrows",
        'A.resize(_dimension("nrows", nrows), _dimension("ncols", ncols))',
        'A.resize(_dimension("nrows", nrows), _dimension("nrows", ncols))',
        ("tests/grb",),
    ),
    Fault(
        "grb_tile/core/indexed.py",
        "a duplicate of an element ignores the type",
        "return self.new(dtype, is_cscalar=is_cscalar, name=name, **opts)\n\n\nAmb",
        "return self.new(is_cscalar=is_cscalar, name=name, **opts)\n\n\nAmb",
        ("tests/core/test_objects.py",),
    ),
    Fault(
        "grb_tile/core/calls.py",
        "defaults of a union drop a second operand",
        "if left_default is None or right_default is None or right is not None or not infix:",
        "if left_default is None or right_default is None or not infix:",
        ("tests/core/test_expressions.py",),
    ),
    Fault(
        "grb_tile/core/chains.py",
        "a second mask of a chain replaces the first",
        "            if product.mask is not None:\n                return None\n            record",
        "            record",
        ("tests/conformance/test_product_chains.py",),
    ),
    Fault(
        "grb_tile/operators/table.py",
        "numpy.reciprocal of unsigned zeros saturates",
        '"u": "reciprocal_integer(x)",',
        '"u": "cdiv(1, x)",',
        ("tests/operators/test_values.py",),
    ),
    Fault(
        "grb_tile/operators/scalar.py",
        "a right shift by as many bits as the type has is left to the processor",
        "def shift_right(x, y, bits):\n    if y < 0 or y >= bits:",
        "def shift_right(x, y, bits):\n    if y < 0 or y > bits:",
        ("tests/operators/test_scalar_text.py",),
    ),
    Fault(
        "grb_tile/operators/monoid.py",
        "a single value is reduced with the identity",
        "        if values.shape[0] == 1:  # as it is",
        "        if False:  # as it is",
        ("tests/operators/test_monoids.py",),
    ),
    Fault(
        "grb_tile/operators/binary.py",
        "the flip of rpow is pow, which treats overflow in another way",
        'if self.name in ("pow", "rpow"):',
        'if self.name == "pow":',
        ("tests/operators/test_values.py",),
    ),
    Fault(
        "grb_tile/operators/namespaces.py",
        "NumPy's semirings of lcm that cannot be are there",
        'integer = {"gcd", "lcm", "left_shift", "right_shift"}',
        'integer = {"gcd", "left_shift", "right_shift"}',
        ("tests/operators/test_names.py",),
    ),
]
