"""Deprecated: the operations are in grb_tile.graph, and give Vectors; here those that gave NumPy arrays still do."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import graph
from .deprecated import names_of


def _array(v: Any, fill: int = -1) -> np.ndarray:
    return v.to_dense(fill, dtype="INT64")


def _labelled(name: str) -> Any:
    def call(A: Any, **options: Any) -> tuple[np.ndarray, int] | None:
        found = getattr(graph, name)(A, **options)
        return None if found is None else (_array(found[0]), found[1])

    return call


def _core_numbers(A: Any, AT: Any, degree: Any) -> np.ndarray | None:
    found = graph.core_numbers(A, AT)
    return None if found is None else _array(found)


def _topological_levels(A: Any, in_degree: Any) -> tuple[np.ndarray, np.ndarray] | None:
    lists = A if isinstance(A, graph.Lists) else graph.Lists(*(x.astype(np.int64) for x in A.to_csr()[:2]))
    return graph.topological_order(lists)


def _bipartite_matching(B: Any) -> tuple[np.ndarray, np.ndarray] | None:
    found = graph.bipartite_matching(B)
    return None if found is None else (_array(found[0]), _array(found[1]))


_OTHERS = {
    "strong_components": _labelled("strong_components"), "components": _labelled("components"),
    "core_numbers": _core_numbers, "topological_levels": _topological_levels, "bipartite_matching": _bipartite_matching,
}  # fmt: skip
__getattr__ = names_of("sequential", _OTHERS)
