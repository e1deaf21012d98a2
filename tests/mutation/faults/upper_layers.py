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
]
