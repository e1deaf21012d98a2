"""Faults that were noticed once a table went over all of their kind: engines, forms, options, labels, texts."""

from . import Fault

FORCED = ("tests/backends/cuda/test_every_forced_kernel.py",)
COMPILED = ("tests/algorithms/test_options_with_compiled_code.py",)
CHAINS = ("tests/core/test_every_chain.py",)
TEXTS = ("tests/core/test_texts_of_expressions.py",)
READ = ("tests/io/test_every_option_of_read.py",)
TYPES = ("tests/operators/test_types.py",)
LABELS = ("tests/algorithms/test_every_label.py",)
CLUSTERS = ("tests/algorithms/test_markov_clustering.py",)
DEVICE = ("tests/algorithms/test_options_on_a_device.py",)
WALKS = ("tests/algorithms/test_shares_of_walks.py",)
NOT_ASKED = ("tests/algorithms/test_what_is_not_asked_for.py",)
FLAGS = ("tests/algorithms/test_every_flag.py",)
ERRORS = ("tests/core/test_errors_name_the_argument.py",)
SPARSITY = ("tests/core/test_every_sparsity.py",)
UFUNCS = ("tests/operators/test_every_ufunc.py",)
SOURCES = ("tests/operators/test_every_source.py",)
PRODUCTS = ("tests/backends/cpu/test_every_product.py",)
ON_RANKS = ("tests/algorithms/test_options_on_ranks.py",)
RANKS = ("tests/distributed/test_every_form.py",)

FAULTS = [
    Fault(
        "grb_tile/backends/cuda/products/matvec.py",
        "products that are sorted forget the mask",
        "columns.sorted_products(device, AT, x, s, mask)",
        "columns.sorted_products(device, AT, x, s, None)",
        FORCED,
    ),
    Fault(
        "grb_tile/backends/cpu/templates/strong_components.py",
        "the last component's number is what the array had",
        "    for k in range(count):\n",
        "    for k in range(count - 1):\n",
        COMPILED,
    ),
    Fault(
        "grb_tile/backends/cpu/templates/dijkstra.py",
        "the edges of the source count for none",
        "        for k in range(tail - 1, -1, -1):\n            v = order[k]\n",
        "        for k in range(tail - 1, 0, -1):\n            v = order[k]\n",
        COMPILED,
    ),
    Fault(
        "grb_tile/core/chains.py",
        "a sum by columns of an infix product forms it",
        ', "reduce_rowwise", "reduce_columnwise")',
        ', "reduce_rowwise")',
        CHAINS,
    ),
    Fault(
        "grb_tile/core/infix.py",
        "expressions within others have no brackets",
        """return f"({x._format_expr() if attribute == 'name' else x._format_expr_html()})\"""",
        """return x._format_expr() if attribute == 'name' else x._format_expr_html()""",
        TEXTS,
    ),
    Fault(
        "grb_tile/io/files.py",
        "dup_op does not reach the reader of METIS",
        "read_metis(source, dup_op=dup_op)",
        "read_metis(source)",
        READ,
    ),
    Fault(
        "grb_tile/operators/base.py",
        "types that nothing is cast from are among the coercions",
        "{t: r[0] for t, r in rule.items() if r[0] is not t}",
        "{t: r[0] for t, r in rule.items()}",
        TYPES,
    ),
    Fault(
        "algorithms/graph.py",
        "True is the label 1 of a graph without labels",
        " and not isinstance(label, bool)",
        "",
        LABELS,
    ),
    Fault(
        "algorithms/graph.py",
        "a flag of NumPy is the label 1",
        "_KINDS = (bool, np.bool_), (",
        "_KINDS = bool, (",
        LABELS,
    ),
    Fault(
        "algorithms/markov_clustering.py",
        "steps are doubled once too seldom",
        "range(M.nrows.bit_length())",
        "range(M.nrows.bit_length() - 1)",
        CLUSTERS,
    ),
    Fault(
        "grb_tile/core/matrix_export.py",
        "arrays of another type are cast as parts of ranks",
        """        store = current().convert(store, format)
        return store, own_values(store)
""",
        """        store = current().convert(self._lined(columnwise), format)
        if dtype is not None:
            store = current().cast(store, lookup_dtype(dtype))
        return store, own_values(store)
""",
        RANKS,
    ),
    Fault(
        "grb_tile/backends/cuda/graph/brandes.py",
        "a hypersparse matrix has a pointer for each vertex",
        "weighted or A.rows is not None or not 0 < n",
        "weighted or not 0 < n",
        DEVICE,
    ),
    Fault(
        "grb_tile/backends/cuda/products/bound_products.py",
        "a hypersparse transpose is pulled",
        "        if rows and E.rows is not None:  # a caller's hypersparse matrix, whose transpose A is\n"
        "            return NotImplemented\n",
        "",
        DEVICE,
    ),
    Fault(
        "grb_tile/backends/distributed/parts.py",
        "the values of another vector are known",
        "self.known if varies else Known(self.known.positions)",
        "self.known",
        ON_RANKS,
    ),
    Fault("algorithms/random_walks.py", "p is q", "p=p, q=q, restart", "p=q, q=p, restart", WALKS),
    Fault(
        "grb_tile/graph/paths.py",
        "predecessors are computed though nobody asks for them",
        "    if predecessors and p is None:\n",
        "    if p is None:\n",
        NOT_ASKED,
    ),
    Fault(
        "algorithms/paths.py",
        "lengths by whatever is true",
        "    arguments.flags(weighted=weighted)\n    G = as_graph(G)\n    search:",
        "    G = as_graph(G)\n    search:",
        FLAGS,
    ),
    Fault(
        "grb_tile/core/matrix_build.py",
        "errors of from_csr name the columns",
        '("col", "row") if columnwise else ("row", "col")\n        indptr = indices_array',
        '("row", "col") if columnwise else ("col", "row")\n        indptr = indices_array',
        ERRORS,
    ),
    Fault(
        "grb_tile/core/matrix_build.py",
        "arrays of a compressed matrix may have a negative size",
        '        width = dimension(width, f"n{other}s")\n',
        "",
        ERRORS,
    ),
    Fault(
        "grb_tile/core/ss/config.py",
        "a full vector is asked to be sparse",
        '"bitmap": "bitmap", "full": "bitmap"}',
        '"bitmap": "bitmap", "full": "sparse"}',
        SPARSITY,
    ),
    Fault(
        "grb_tile/core/ss/config.py",
        "a matrix with gaps is to be full, though it may be sparse, too",
        """        if len(possible) > 1 and possible[0] == "fullr" and parent.nvals < parent.nrows * parent.ncols:
            del possible[0]
""",
        "",
        SPARSITY,
    ),
    Fault(
        "grb_tile/operators/resolve.py",
        "a binary function of NumPy is a unary operator",
        "if (kind is None or kind.startswith(namespace.name)) and",
        "if",
        UFUNCS,
    ),
    Fault(
        "grb_tile/operators/source.py",
        "functions with decorators have no source",
        "in (node.lineno, *(d.lineno for d in node.decorator_list)):",
        "in (node.lineno,):",
        SOURCES,
    ),
    Fault(
        "grb_tile/backends/cpu/vectorised/tiles.py",
        "a union of columns has as many places as there are columns",
        "    united = np.zeros(bits.word_count(T.nrows), np.uint64)\n    np.bitwise_or.at",
        "    united = np.zeros(bits.word_count(T.ncols), np.uint64)\n    np.bitwise_or.at",
        PRODUCTS,
    ),
]
