"""The summary of a graph: its size, degrees, weights and storage, in a few lines.

    d = A plus.pair 1,   loops = nvals(diag A),   density = m / possible edges, loops among the m

Contract: G is not changed; what it caches (degrees, symmetry) is used and kept.
"""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class GraphSummary:
    """The facts of `Graph.summary()`; prints as a table, in notebooks too.

    edges counts an undirected edge once; degrees are those of edges that leave a node; isolated nodes have no edge in
    either direction.  smallest_weight and largest_weight are None without edges, and for complex weights.
    """

    name: str | None
    nodes: int
    edges: int
    directed: bool
    loops: int
    isolated: int
    density: float
    mean_degree: float
    median_degree: int
    degree_90: int
    degree_99: int
    largest_degree: int
    weight_type: str
    smallest_weight: Any
    largest_weight: Any
    storage: str

    def as_dict(self) -> dict[str, Any]:
        """The facts by name."""
        return asdict(self)

    def rows(self) -> list[tuple[str, str]]:
        """The facts as pairs of text."""
        kind = "directed" if self.directed else "undirected"
        weights = f"{self.smallest_weight} to {self.largest_weight}"
        if self.smallest_weight is None:
            weights = "without order" if self.edges else "no edges"
        return [
            ("nodes", f"{self.nodes:,}, {self.isolated:,} of them isolated"),
            ("edges", f"{self.edges:,} {kind}, {self.loops:,} of them loops; density {self.density:.3g}"),
            (
                "degrees",
                f"mean {self.mean_degree:.4g}, median {self.median_degree:,}, 90 % at most {self.degree_90:,}, "
                f"99 % at most {self.degree_99:,}, largest {self.largest_degree:,}",
            ),
            ("weights", f"{self.weight_type}, {weights}"),
            ("storage", self.storage),
        ]

    def __repr__(self) -> str:
        named = [("graph", self.name)] if self.name else []
        return "\n".join(f"{what:8}  {text}" for what, text in named + self.rows())

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(what)}</th>"
            f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
            for what, text in self.rows()
        )
        caption = f"<caption>{html.escape(self.name)}</caption>" if self.name else ""
        return f"<table>{caption}{cells}</table>"


def edge_density(n: int, nedges: int, directed: bool) -> float:
    """m / (n (n - 1)) of a directed graph, 2 m / (n (n - 1)) of an undirected one; 0 where n < 2."""
    return (1 if directed else 2) * nedges / (n * (n - 1)) if n > 1 else 0.0
