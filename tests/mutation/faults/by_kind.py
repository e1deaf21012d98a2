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
]
