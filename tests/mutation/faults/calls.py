"""Faults that only a certain call, a second question to a cache, or a seldom option shows."""

from . import Fault

CALLS = ("tests/calls/test_calls.py",)
KEPT = ("tests/caches/test_kept_forms.py",)
INDEX_TYPES = ("tests/caches/test_index_types.py",)
TURNS = ("tests/caches/test_asked_in_turn.py",)
OPTIONS = ("tests/algorithms/test_options.py",)
TESTS = CALLS

FAULTS = [
    # ------------------------------------------------------------------ what is kept, asked twice
    Fault(
        "grb_tile/backends/cuda/products/spmm.py",
        "the rows with entries are kept without the width",
        'forms, key = forms_of(A), ("rows_present", n)',
        'forms, key = forms_of(A), ("rows_present",)',
        KEPT,
    ),
    Fault(
        "grb_tile/backends/cuda/products/spmm.py",
        "long rows are kept without their chunk",
        'forms, key = forms_of(A), ("long_rows", longest, chunk)',
        'forms, key = forms_of(A), ("long_rows", longest)',
        KEPT,
    ),
    Fault(
        "grb_tile/backends/cuda/products/spmm.py",
        "long rows are kept without their length",
        'forms, key = forms_of(A), ("long_rows", longest, chunk)',
        'forms, key = forms_of(A), ("long_rows", chunk)',
        KEPT,
    ),
    Fault(
        "grb_tile/backends/cuda/products/spmm_rounded.py",
        "condensed tiles are kept without the precision",
        'forms, key = forms_of(A), ("condensed_tiles", precision)',
        'forms, key = forms_of(A), "condensed_tiles"',
        KEPT,
    ),
    Fault(
        "grb_tile/backends/cuda/products/tiles.py",
        "a tiled vector without values is kept as one with values",
        'forms_of(x), f"tiled{nt}" if values else f"tiled{nt}_words"',
        'forms_of(x), f"tiled{nt}"',
        KEPT,
    ),
    Fault(
        "grb_tile/backends/cuda/products/row_schedule.py",
        "schedules of both kinds are one",
        '    key = "rows_" + name\n',
        '    key = "rows"\n',
        KEPT,
    ),
    Fault(
        "grb_tile/storage/tiled.py",
        "tiles are kept without their size",
        'forms, key = forms_of(A), f"tiled{nt}"',
        'forms, key = forms_of(A), "tiled"',
        KEPT,
    ),
    Fault(
        "grb_tile/storage/bit_tiles.py",
        "bit tiles are kept without their size",
        'forms, key = forms_of(A), f"bittiled{nt}"',
        'forms, key = forms_of(A), "bittiled"',
        KEPT,
    ),
    Fault(
        "grb_tile/backends/cpu/compiled/selection.py",
        "a kernel that selects is kept without the index type",
        "    key = (op, A.dtype, A.iso, A.rows is not None, A.indices.dtype.char)\n",
        "    key = (op, A.dtype, A.iso, A.rows is not None)\n",
        INDEX_TYPES,
    ),
    Fault(
        "grb_tile/backends/cpu/compiled/matvec.py",
        "a product's kernel is kept without the index type",
        "    key = (template, semiring, a_dtype_index, *flags.values())\n",
        "    key = (template, semiring, *flags.values())\n",
        INDEX_TYPES,
    ),
    Fault(
        "grb_tile/backends/cpu/compiled/matvec.py",
        "an array as long as a wide matrix is made for a few entries",
        "    return has_capacity(size, sum(A.indices.shape[0] for A in operands))\n",
        "    return size <= 1 << 33\n",
        TURNS,
    ),
    # ------------------------------------------------------------------ calls that nobody made
    Fault(
        "grb_tile/core/elements.py",
        "an element of a dense matrix by columns is looked up by rows",
        "key = column * store.nrows + row if store.by_columns else row * store.ncols + column",
        "key = row * store.ncols + column",
    ),
    Fault(
        "grb_tile/operations/indexing.py",
        "a vector's slice under a mask is written everywhere",
        "    t = backend.expand_vector(t, I, c.size)\n    if desc.is_plain",
        "    t = full_vector(c.size, dtype, 1) if desc.mask else backend.expand_vector(t, I, c.size)\n"
        "    if desc.is_plain",
    ),
    Fault(
        "grb_tile/operations/indexing.py",
        "a column written to a hypersparse matrix keeps old entries",
        "    return new if empty else backend.union(backend.outside(c, *place), new, None)\n",
        '    rest = c if c.format == "dcsr" and not by_row else backend.outside(c, *place)\n'
        "    return new if empty else backend.union(rest, new, None)\n",
    ),
    Fault(
        "grb_tile/operations/product_chains.py",
        "of two selects in a chain the first is forgotten",
        "            return None if product.keep else SelectedProduct(",
        "            return SelectedProduct(",
    ),
    Fault(
        "grb_tile/operations/one_pass.py",
        "the minimum of a pass keeps NaN on the host",
        'self._made("fmin",',
        'self._made("nmin",',
        ("tests/operations/test_one_pass.py",),
    ),
    Fault(
        "grb_tile/core/infix.py",
        "the inner defaults of a chain of unions are dropped",
        "            left = left.close(op, defaults).new() if isinstance(left, InfixExpr) else left\n",
        "            left = left.close(op).new() if isinstance(left, InfixExpr) else left\n",
    ),
    Fault(
        "grb_tile/core/infix.py",
        "BOOL | INT64 is computed",
        "                if not (left.dtype is BOOL and right.dtype is BOOL):",
        "                if not (left.dtype is BOOL or right.dtype is BOOL):",
    ),
    Fault(
        "grb_tile/core/ss/formats.py",
        "values of another size than the bitmap are taken as they are",
        "            size = min(bitmap.shape[0], values.shape[0]) if values.ndim else bitmap.shape[0]\n",
        "            size = bitmap.shape[0]\n",
    ),
    Fault(
        "grb_tile/core/ss/formats.py",
        "few values by columns are repeated by rows",
        'np.resize(values.ravel(order), bitmap.shape[::-1] if order == "F" else bitmap.shape)',
        "np.resize(values.ravel(order), bitmap.shape[::-1] if values.ndim > 2 else bitmap.shape)",
    ),
    Fault(
        "algorithms/arguments.py",
        "a negative node in a list is accepted",
        "{int} and min(values) >= 0 and max(values) < G.n:",
        "{int} and max(values) < G.n:",
        OPTIONS,
    ),
    Fault(
        "grb_tile/graph/labels.py",
        "the own label does not go first among equals without compiled code",
        "    t(stays.S) << labels\n",
        "",
        ("tests/backends/test_best_labels.py",),
    ),
    Fault(
        "grb_tile/backends/graph.py",
        "a node without a gain wants to move",
        "        wants = gain > 0\n",
        "        wants = gain >= 0\n",
        ("tests/backends/test_best_labels.py", "tests/algorithms/test_communities.py"),
    ),
    Fault(
        "grb_tile/io/edge_chunks.py",
        "the header is no line of an edge list",
        "before + line_number(text, marks, at + skipped)",
        "before + line_number(text, marks, at)",
        ("tests/io/test_edge_list.py",),
    ),
    Fault(
        "grb_tile/io/suitesparse_blob.py",
        "a blob may have more vectors than its dimension",
        '        _expect(0 <= self.nvec <= self.vdim, f"{self.nvec} vectors of {self.vdim}")\n',
        "",
        ("tests/io/test_suitesparse_blob.py",),
    ),
    Fault(
        "grb_tile/planner/matvec_work.py",
        "the rows that are looked at cost nothing",
        "    cost = work.rows * tuning.CPU_LOOKED_ROW_NS\n",
        "    cost = 0.0\n",
        ("tests/planner/test_costs_count.py",),
    ),
    Fault(
        "grb_tile/planner/matvec_work.py",
        "the pages of a sparse vector spread out cost nothing",
        "            cost += min(u.nvals, u.size * u.values.itemsize / 4096) * tuning.CPU_PAGE_NS\n",
        "            cost += 0.0 * tuning.CPU_PAGE_NS\n",
        ("tests/planner/test_costs_count.py",),
    ),
    # ------------------------------------------------------------------ more of storage, operations, core and io
    Fault(
        "grb_tile/storage/dense.py",
        "a transpose of a dense matrix keeps its order",
        "    result = Dense(A.ncols, A.nrows, A.flat, not A.by_columns)\n",
        "    result = Dense(A.ncols, A.nrows, A.flat, A.by_columns)\n",
    ),
    Fault(
        "grb_tile/operations/shaping.py",
        "the diagonal of a full matrix by columns is taken by rows",
        "start, width = (j * A.nrows + i, A.nrows) if A.by_columns else (i * A.ncols + j, A.ncols)",
        "start, width = i * A.ncols + j, A.ncols",
    ),
    Fault(
        "grb_tile/operations/written_region.py",
        "columns overwritten in a hypersparse matrix are found by number of stored row",
        "    if c.rows is not None:\n        rows = c.rows[rows]\n    return Part(_nothing_in(c), None, None, (rows,",
        "    return Part(_nothing_in(c), None, None, (rows,",
        ("tests/operations/test_in_place.py",),
    ),
    Fault(
        "grb_tile/backends/dense.py",
        "a region of a dense matrix by columns is gathered by rows",
        "        lines, width = (A.ncols, A.nrows) if A.by_columns else (A.nrows, A.ncols)\n"
        "        I, J = (J, I) if A.by_columns else (I, J)\n",
        "        lines, width = (A.ncols, A.nrows) if A.by_columns else (A.nrows, A.ncols)\n",
    ),
    Fault(
        "grb_tile/backends/dense.py",
        "lines of a dense matrix by columns are reduced the other way",
        "        along = 1 if (axis == 1) != A.by_columns else 0  #",
        "        along = 1 if axis == 1 else 0  #",
    ),
    Fault(
        "grb_tile/backends/indices.py",
        "negative numbers in an array of indices count from one before the end",
        "            array[array < 0] += size\n",
        "            array[array < 0] += size - 1\n",
    ),
    Fault(
        "grb_tile/core/index.py",
        "a slice over all of a dimension backwards is taken as it is",
        "        if count == size and step == 1:\n",
        "        if count == size:\n",
    ),
    Fault(
        "grb_tile/core/lines.py",
        "the largest of equal values is the first, not the last",
        'return order if how in ("first", "smallest", "random")',
        'return order if how in ("first", "smallest", "random", "largest")',
        ("tests/core/test_objects.py",),
    ),
    Fault(
        "grb_tile/io/scipy_sparse.py",
        "a matrix by columns is exported with its rows and columns exchanged",
        "        return ss.csc_array((values, rows, _int32_if_possible(indptr, A.shape)), shape=A.shape)\n",
        "        return ss.csr_array((values, rows, _int32_if_possible(indptr, A.shape)), shape=A.shape[::-1])\n",
    ),
    Fault(
        "grb_tile/backends/chunked_pass.py",
        "a scalar's sum counts one chunk",
        "else float(x) * length\n",
        "else float(x)\n",
        ("tests/operations/test_one_pass.py",),
    ),
    Fault(
        "grb_tile/operations/write.py",
        "a value mask that is false everywhere is taken as absent",
        "        if store.nvals == 0 or any(np.asarray(first_value(store)).tobytes()):\n",
        "        if store.nvals == 0 or True:\n",
    ),
    # ------------------------------------------------------------------ options that nobody drew
    Fault(
        "algorithms/louvain.py",
        "communities of a directed graph with all edges both ways ignore the other direction",
        "binary.plus(A | (A.T if G.directed else A.diag().diag()))",
        "binary.plus(A | (A.T if G.directed and not G.is_symmetric_structure else A.diag().diag()))",
        OPTIONS,
    ),
    Fault(
        "algorithms/louvain.py",
        "symmetric weights are kept without whether they are weighted",
        'G.keep(("symmetric weights", weighted, G.directed), make)',
        'G.keep("symmetric weights", make)',
        OPTIONS,
    ),
    Fault(
        "algorithms/spanning_forest.py",
        "a maximum forest takes the lesser of a pair's two weights",
        "        lesser = binary.max if maximum else binary.min\n",
        "        lesser = binary.min\n",
        OPTIONS,
    ),
    Fault(
        "algorithms/spanning_forest.py",
        "of a directed graph with all edges both ways one weight counts",
        "    if not G.is_symmetric:\n",
        "    if not G.is_symmetric_structure:\n",
        OPTIONS,
    ),
    Fault(
        "algorithms/modularity.py",
        "loops of an undirected graph count once",
        "    loops = 0.0 if G.directed else float(A.diag().reduce(monoid.plus).new().value or 0.0)\n",
        "    loops = 0.0\n",
        OPTIONS,
    ),
    Fault(
        "algorithms/similarity.py",
        "a loop counts where neighbours are shared only",
        "                both = semiring.plus_pair[FP64](rows @ self.G.A.T).new(mask=B.S)\n",
        "                both = B\n",
        OPTIONS,
    ),
    Fault(
        "algorithms/clustering.py",
        "weighted triangles of all vertices count one each",
        "    if wanted is None and not weighted and G.is_symmetric_structure:\n",
        "    if wanted is None and G.is_symmetric_structure:\n",
        OPTIONS,
    ),
    Fault(
        "grb_tile/backends/cpu/templates/local_round.py",
        "a vertex without a gain moves in a compiled round",
        "chosen if most - score_of_own > 0.0 else -1",
        "chosen if most - score_of_own >= 0.0 else -1",
        ("tests/algorithms/test_communities.py",),
    ),
    Fault(
        "grb_tile/backends/graph.py",
        "the first bit of a vertex's hash is not looked at",
        "        moves = wants & (mixed_by(at.astype(np.uint64), key) >> np.uint64(63) == 0)\n",
        "        moves = wants & True\n",
        ("tests/algorithms/test_communities.py",),
    ),
    Fault(
        "algorithms/core_number.py",
        "a shell holds what is beyond it",
        '_subgraph(G.A, select.valueeq(core, k).new(), "k_shell")',
        '_subgraph(G.A, select.valuege(core, k).new(), "k_shell")',
        OPTIONS,
    ),
    Fault(
        "algorithms/pattern.py",
        "in-degrees without loops count them",
        "    found = G.in_degree.to_dense(0)\n    if G.nself:\n",
        "    found = G.in_degree.to_dense(0)\n    if False:\n",
        OPTIONS,
    ),
]
