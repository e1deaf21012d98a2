"""Public members without a row of their own, each with the reason."""

from calls.table import not_here

_DEVICE = "arrays of a GPU: tests/backends/cuda/test_device_arrays.py and tests/gpu/test_interop.py"
_OPTIONAL = "needs a package that is not installed with the tests: tests/io/test_convert.py has stand-ins for it"
_READS = "the other half of a row of its writer"
for cls in ("Matrix", "Vector", "TransposedMatrix"):
    not_here(_DEVICE, *(f"{cls}.__{name}__" for name in ("cuda_array_interface", "dlpack", "dlpack_device")))
for cls in ("Matrix", "Vector"):
    for name in ("gather", "local", "placement"):
        not_here("parts of ranks: tests/distributed/test_dist.py", f"{cls}.{name}")
for cls in ("Matrix", "Vector", "Scalar", "TransposedMatrix"):
    not_here("a handle of the C library in python-graphblas: tests/dropin/test_surface.py", f"{cls}.gb_obj")
for cls in ("Matrix", "TransposedMatrix"):
    not_here("NetworkX's dispatch: tests/nx", f"{cls}.__networkx_backend__", f"{cls}.__networkx_plugin__")
not_here("settings, no operation: tests/core/test_suitesparse_names.py", "ss.about", "ss.config")
not_here("a class of results: tests/io/test_edge_list.py", "io.EdgeList", "io.LabelledMatrix", "io.BadFile")
not_here("a warning: tests/io/test_edge_list.py", "io.RepeatedEdges")
not_here(_OPTIONAL, *(f"io.{way}_{name}" for way in ("from", "to") for name in ("awkward", "pydata_sparse")))
not_here(_DEVICE, "io.from_cupy", "io.from_cupy_coo", "io.from_cupy_csr", "io.to_cupy", "io.to_cupyx_sparse")
not_here(_DEVICE, "io.entries_on_device", "io.vector_of_entries")
not_here(
    _READS, "io.load", "io.load_npz", "io.mmread", "io.read", "io.read_edge_list", "io.deserialize", "io.from_networkx",
    "io.from_graphblas", "io.from_scipy_sparse", "io.from_suitesparse_blob",
)  # fmt: skip
not_here("reads text, whatever the form: tests/io", "io.detect_format", "io.mminfo", "io.read_metis")
not_here("reads a table: tests/io/test_convert.py", "io.from_pandas_edgelist")
not_here("reads a table: tests/io/test_tables.py", "io.from_dataframe")
not_here(_OPTIONAL, "io.from_igraph", "io.from_torch", "io.to_torch")
