"""The record of a whole level loop: what a backend did and what it found out meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class LoopOutcome:
    """What a whole loop did: reached (vertices, or None), seconds, rows() (a dictionary per level).

    engine   what computed: a device's name ("cuda", "cuda:1"), "numba", "numpy", "reference"
    method   by which algorithm: "by level", a direction over bit tiles, "delta", "bellman_ford", "afforest" ...
    format   the storage that was read: csr, dcsr, bittiled
    choice   (kernel, rule, figures) where the planner chose among kernels, else None
    tiles    figures of the rule "tiles_full" where that decided, else None
    expanded a function that gives the sum of the frontiers where rows may lack some; None: the rows have all
    late     do rows, reached and seconds have to be read from a device?  Then a plan keeps no hold of them

    A device's own class has the same attributes and reads from the device what is used, once.
    """

    choice: tuple | None = None
    tiles: tuple | None = None
    late = False
    expanded: Callable[[], int] | None = None

    def __init__(
        self,
        engine: str,
        method: str,
        rows: Callable[[], list[dict]],
        format: str = "csr",
        reached: int | None = None,
        seconds: float | None = None,
    ) -> None:
        self.engine = engine
        self.method = method
        self.rows = rows
        self.format = format
        self.reached = reached
        self.seconds = seconds
