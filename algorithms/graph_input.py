"""What describes a graph, read as a Matrix, a name, a direction and labels by the readers of grb_tile.io."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from grb_tile import Matrix

# (Matrix, a name or None, directed: True, False or None, labels or None); False: undirected, A = A' by construction
Described = tuple[Matrix, str | None, bool | None, Sequence[Any] | None]


def describe(A: Any, directed: bool | None, options: dict[str, Any], name: str = "A") -> Described:
    """The parts of the graph that A describes.

    directed   as Graph has it; False: edges that a table or an edge list has once are entered in both directions
    options    of Graph: "source", "target", "weight", "dup_op", those that were given
    name       of the argument, for the message

    Raises: TypeError for what is no graph, and for options that A has no use for.
    """
    if isinstance(A, Matrix):
        _use(A, options)
        return A, A.name, None, None
    from grb_tile import io
    from grb_tile.io.tables import is_adjacency, is_table
    from grb_tile.io.torch_tensors import is_sparse_tensor

    if hasattr(A, "labels") and (hasattr(A, "matrix") or hasattr(A, "obj")):
        _use(A, options)
        return _of_record(A)
    if hasattr(A, "new") and hasattr(A, "nrows"):  # tensors of PyTorch have `new` too
        _use(A, options)
        return A.new(), None, None, None
    if is_adjacency(A) and not options:
        names = list(A.columns)
        own = None if names == list(range(len(names))) else names
        return Matrix.from_dense(A.to_numpy(), missing_value=0), None, None, own
    if is_table(A):
        found = io.from_dataframe(A, directed=directed is not False, **options)
        return found.matrix, None, False if directed is False else None, found.labels
    if hasattr(A, "adjacency") and hasattr(A, "is_directed"):
        _use(A, options, "weight", "dup_op")
        return _of_networkx(A, **options)
    if hasattr(A, "get_edgelist") and hasattr(A, "vcount"):
        _use(A, options, "weight", "dup_op")
        found = io.from_igraph(A, **options)
        return found.matrix, None, bool(A.is_directed()), found.labels
    if isinstance(A, (str, os.PathLike)):
        _use(A, options, "weight", "dup_op")
        return _of_file(os.fspath(A), directed, **options)
    if hasattr(A, "tocoo") and hasattr(A, "shape"):
        _use(A, options, "dup_op")
        return io.from_scipy_sparse(A, **options), None, None, None
    if is_sparse_tensor(A) and len(A.shape) == 2:
        _use(A, options)
        return io.from_torch(A), None, None, None
    if getattr(A, "ndim", None) == 2 and hasattr(A, "__array__") and isinstance(A.shape, tuple):
        _use(A, options)
        return Matrix.from_dense(A, missing_value=0), None, None, None
    if hasattr(A, "collect") and hasattr(A, "schema"):
        raise TypeError(f"{name}: a {type(A).__name__} has no rows yet; write {name}.collect()")
    raise TypeError(
        f"{name}: cannot read a graph from {type(A).__name__}; give a Matrix, the path of a file, a data frame of "
        "edges, a NetworkX or igraph graph, a SciPy sparse array, a dense NumPy array, or what a reader of gb.io gave; "
        "of a list of edges make a data frame: pandas.DataFrame(edges); of three lists "
        "gb.Matrix.from_coo(sources, targets, weights)"
    )


def _use(A: Any, options: dict[str, Any], *known: str) -> None:
    """Refuse the options that are not among the `known`."""
    for name in options:
        if name not in known:
            raise TypeError(f"{name}: a {type(A).__name__} has no use for {name}={options[name]!r}; leave it out")


def _of_record(A: Any) -> Described:
    """From the records of a matrix and its labels: EdgeList, LabelledMatrix, Read."""
    from grb_tile.io.labels import matrix_and_labels

    matrix, labels = matrix_and_labels(A)
    if not isinstance(matrix, Matrix):
        raise TypeError(f"A: a graph needs a Matrix, this {type(A).__name__} has a {type(matrix).__name__}")
    return matrix, matrix.name, None, labels


def _of_file(path: str, directed: bool | None, weight: Any = None, dup_op: Any = None) -> Described:
    from grb_tile import io

    if not os.path.exists(path):
        raise FileNotFoundError(f"A: no file {path!r}; give the path of a file that gb.io.read takes, or a Matrix")
    if weight not in (None, False):
        raise TypeError(
            f"weight: expected False (no weights) or None for a file, got {weight!r}; read it into a data frame to "
            "choose a column"
        )
    both = edges = False
    if os.path.isfile(path):
        edges = io.detect_format(path) == "edges"
        both = edges and directed is False
    options: dict[str, Any] = {"directed": False} if both else {}
    if weight is False and edges:
        options["weights"] = False
    found = io.read(path, dup_op=dup_op, **options)
    matrix, _, _, labels = _of_record(found)
    if weight is False and not edges:
        from grb_tile import dtypes, unary

        matrix = unary.one[dtypes.BOOL](matrix).new()
    return matrix, os.path.basename(path), False if both else None, labels


def _of_networkx(G: Any, weight: Any = None, dup_op: Any = None) -> Described:
    from grb_tile import io
    from grb_tile.io.networkx_graphs import from_parallel_edges

    nodes = list(G)
    labels = None if nodes == list(range(len(nodes))) else nodes
    attribute = "weight" if weight is None else None if weight is False else weight
    if weight not in (None, False) and G.size() and not any(weight in each for *_, each in G.edges(data=True)):
        raise KeyError(f"weight: no edge has the attribute {weight!r}")
    if not G.is_multigraph():
        return io.from_networkx(G, weight=attribute), G.name or None, G.is_directed(), labels
    return from_parallel_edges(G, attribute, dup_op), G.name or None, G.is_directed(), labels
