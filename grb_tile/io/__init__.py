"""Reading, writing and converting: files (Matrix Market, edge lists, .npz, .grb) and objects of other libraries.

Optional libraries are imported when a function needs them; the error for a missing one has its install command.

>>> from grb_tile import io
>>> "mmread" in dir(io)
True
"""

from typing import TYPE_CHECKING

from grb_tile.io.arrays import as_numpy, from_csr, from_numpy, to_numpy
from grb_tile.io.awkward_arrays import from_awkward, to_awkward
from grb_tile.io.device_arrays import (
    entries_on_device,
    from_cupy,
    from_cupy_coo,
    from_cupy_csr,
    to_cupy,
    to_cupyx_sparse,
    vector_of_entries,
)
from grb_tile.io.edge_list import EdgeList, read_edge_list
from grb_tile.io.edge_write import write_edge_list
from grb_tile.io.errors import BadFile, RepeatedEdges
from grb_tile.io.files import detect_format, read, write
from grb_tile.io.igraph_graphs import from_igraph
from grb_tile.io.matrix_market import mminfo, mmread, mmwrite
from grb_tile.io.metis import read_metis
from grb_tile.io.networkx_graphs import from_networkx, to_networkx
from grb_tile.io.npz import load_npz, save_npz
from grb_tile.io.pandas_frames import LabelledMatrix, from_pandas_edgelist
from grb_tile.io.pydata_sparse import from_pydata_sparse, to_pydata_sparse
from grb_tile.io.scipy_sparse import from_scipy_sparse, to_scipy_sparse
from grb_tile.io.serialize import deserialize, load, save, serialize
from grb_tile.io.suitesparse import from_graphblas, to_graphblas
from grb_tile.io.suitesparse_blob import from_suitesparse_blob, to_suitesparse_blob
from grb_tile.io.tables import from_dataframe
from grb_tile.io.torch_tensors import from_torch, to_torch

__all__ = [
    "BadFile",
    "EdgeList",
    "LabelledMatrix",
    "RepeatedEdges",
    "as_numpy",
    "deserialize",
    "detect_format",
    "entries_on_device",
    "from_awkward",
    "from_csr",
    "from_cupy",
    "from_cupy_coo",
    "from_cupy_csr",
    "from_dataframe",
    "from_graphblas",
    "from_igraph",
    "from_networkx",
    "from_numpy",
    "from_pandas_edgelist",
    "from_pydata_sparse",
    "from_scipy_sparse",
    "from_suitesparse_blob",
    "from_torch",
    "load",
    "load_npz",
    "mminfo",
    "mmread",
    "mmwrite",
    "read",
    "read_edge_list",
    "read_metis",
    "save",
    "save_npz",
    "serialize",
    "to_awkward",
    "to_cupy",
    "to_cupyx_sparse",
    "to_graphblas",
    "to_networkx",
    "to_numpy",
    "to_pydata_sparse",
    "to_scipy_sparse",
    "to_suitesparse_blob",
    "to_torch",
    "vector_of_entries",
    "write",
    "write_edge_list",
]


if not TYPE_CHECKING:  # type checkers take a module's __getattr__ for every name

    def __getattr__(name):
        from grb_tile.spelling import no_attribute

        raise no_attribute(f"module {__name__!r}", name, __all__)
