"""Modules that are called otherwise now: their names give what took their place, with a DeprecationWarning.

fused, sequential, rowwise   ->   graph
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from . import graph


def names_of(module: str, others: dict[str, Callable[..., Any]]) -> Callable[[str], Any]:
    """The __getattr__ of a module whose names are those of gb.graph, but for `others`, whose results were different."""

    def get(name: str) -> Any:
        found = others.get(name) or getattr(graph, name, None)
        if found is None or name.startswith("_"):
            raise AttributeError(f"module 'grb_tile.{module}' has no attribute {name!r}")
        warnings.warn(
            f"grb_tile.{module}.{name} is deprecated, use grb_tile.graph.{name}", DeprecationWarning, stacklevel=2
        )
        return found

    return get


def by_algorithm(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """gb.graph's operation of that name, or, where it is None and `fallback` is true, what run(...) gives."""
    operation = getattr(graph, name)

    @functools.wraps(operation)
    def call(*args: Any, fallback: bool = True, **options: Any) -> Any:
        found = operation(*args, **options)
        return run(*args, **options) if found is None and fallback else found

    return call
