"""Exceptions of algorithms besides TypeError, ValueError and IndexError for arguments."""

from __future__ import annotations

from typing import Any


class AlgorithmError(Exception):
    """Base of the errors that an algorithm finds in the course of its work."""


class NegativeCycleError(AlgorithmError):
    """No shortest path exists: a cycle of negative total weight can be reached.

    `node` is one whose distance keeps falling.
    """

    def __init__(self, message: str, node: int) -> None:
        super().__init__(message)
        self.node = node


class CycleError(AlgorithmError):
    """The graph has a cycle, and what was asked for needs one without.  `node` is on it."""

    def __init__(self, message: str, node: int) -> None:
        super().__init__(message)
        self.node = node


class NoPathError(AlgorithmError):
    """No path leads from the source to the target."""


class ConvergenceFailure(AlgorithmError):
    """The iteration limit came before the tolerance.  `iterations`, `residual`, and what was reached in `result`."""

    def __init__(self, message: str, iterations: int, residual: float, result: Any) -> None:
        super().__init__(message)
        self.iterations = iterations
        self.residual = residual
        self.result = result
