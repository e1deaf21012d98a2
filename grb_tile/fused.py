"""Deprecated: the operations are in grb_tile.graph.  Those that had a result always take an algorithm's loop here."""

from __future__ import annotations

from typing import Any

from .deprecated import by_algorithm, names_of
from .graph import Bfs, Components, Sssp


def _bfs(A: Any, source: Any, *, levels: bool = True, parents: bool = False, max_level: Any = None,
         target: Any = None, **_: Any) -> Bfs:  # fmt: skip
    from .algorithms import bfs

    found: Any = bfs(A, source, levels=levels, parents=parents, max_level=max_level, target=target)
    return Bfs(found.levels, found.parents, found.report)


def _bfs_multi(A: Any, sources: Any, *, levels: bool = True, parents: bool = False, max_level: Any = None,
               **_: Any) -> Bfs:  # fmt: skip
    from .algorithms import bfs_multi

    found: Any = bfs_multi(A, sources, levels=levels, parents=parents, max_level=max_level)
    return Bfs(found.levels, found.parents, found.report)


def _sssp(A: Any, source: int, *, delta: float | None = None, predecessors: bool = False, **_: Any) -> Sssp:
    from .algorithms import sssp

    found: Any = sssp(A, source, delta=delta, predecessors=predecessors)
    return Sssp(found.distances, found.predecessors, found.report)


def _components(A: Any, **_: Any) -> Components:
    from .algorithms import connected_components

    found: Any = connected_components(A)
    return Components(found.labels, found.count, found.report)


_LOOPS: dict[str, Any] = {"bfs": _bfs, "bfs_multi": _bfs_multi, "sssp": _sssp, "components": _components}
__getattr__ = names_of("fused", {name: by_algorithm(name, run) for name, run in _LOOPS.items()})
