"""The GPU kernel of a whole traversal (BFS, SSSP), from facts that the backend counts.

    bit tiles              the entries cluster: words of bits are read instead of column indices, and one atomic sets
                           the visited bits that a tile finds (tilespmspv_tilebfs_icpp22, 3.4: occupancy decides)
    blocks_high_diameter   few edges a vertex and levels by the thousand: a few blocks, because their barrier takes
                           less than that of the grid; a level of too many edges is handed over to the grid
    grid_low_skew          the whole grid, direction by level (Beamer); hubs are not looked up first
    grid_wide              the same; a pull tests the highest-degree neighbours first

The switch between push and pull by level is made on the device: LoopReport (graph/report.py) has its outcome.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import tuning
from .record import forced


class Choice(NamedTuple):
    """The kernel of a traversal: its name (FORCIBLE), the rule that chose it (RULES) and that rule's figures."""

    kernel: str
    rule: str
    figures: tuple


NO_BOUND = Choice("grid_wide", "no_bound", ())
TRAVERSALS = ("grid_wide", "grid_low_skew", "blocks_high_diameter")


def forced_traversal() -> str | None:
    """The kernel that is forced for a traversal, or None."""
    kernel = forced().kernel
    return kernel if kernel in TRAVERSALS else None


def search_over(entries: int, high_diameter: bool, entries_per_tile: Callable[[], float]) -> tuple[str, tuple]:
    """(format, figures of the rule "tiles_full") for a traversal: "bittiled" or "csr".

    entries: of the matrix.  high_diameter: rows_beat_tiles of the graph.
    entries_per_tile: called only where the rest speaks for tiles, because it samples the matrix.
    """
    if entries < tuning.TILES_ENTRIES or high_diameter:
        return "csr", ()
    full = entries_per_tile()
    return ("bittiled", (full,)) if full >= tuning.TILES_FULL else ("csr", ())


def rows_beat_tiles(n: int, entries: int, longest: Callable[[], int], heavy: Callable[[int], int]) -> bool:
    """Does the high-diameter kernel serve this graph better than tiles do?  Facts as for has_high_diameter."""
    return entries <= tuning.TILES_DIAMETER_MEAN * n and has_high_diameter(n, entries, longest, heavy)[0]


def has_high_diameter(
    n: int, entries: int, longest: int | Callable[[], int], heavy: Callable[[int], int], degree: int | None = None
) -> tuple[bool, float]:
    """(may the graph have levels by the thousand?, share of the entries that are in long rows).

    longest: entries of the longest row, or a function that counts them.  heavy(d): entries in rows longer than d,
    called only where there are such rows and the mean allows levels by the thousand.  degree: the d,
    HIGH_DIAMETER_DEGREE unless given.
    A few long rows do not matter: the kernel hands over a level with too many edges.
    """
    if entries > tuning.HIGH_DIAMETER_MEAN * n or n < tuning.HIGH_DIAMETER_VERTICES:
        return False, 0.0
    degree = tuning.HIGH_DIAMETER_DEGREE if degree is None else degree
    if (longest() if callable(longest) else longest) <= degree:
        return True, 0.0
    in_long_rows = heavy(degree)
    share = in_long_rows / max(entries, 1)
    few = share <= tuning.HIGH_DIAMETER_HEAVY and in_long_rows <= tuning.HIGH_DIAMETER_HEAVY_ENTRIES
    return few, share


def grid_kernel(n: int, entries: int, longest: int, local_share: Callable[[], float] | None) -> tuple[Choice, bool]:
    """(Choice, is it the low-skew one?) of the BFS kernel that the whole grid runs.

    local_share(): the share of the vertices whose highest-degree neighbour has a near number; None without in-edges.
    """
    mean = entries / max(n, 1)
    wanted = forced_traversal()
    if wanted == "grid_low_skew" and local_share is None:
        return Choice("grid_wide", "kernel_unsuited", (wanted,)), False
    if wanted == "grid_wide" or wanted == "grid_low_skew":
        return Choice(wanted, "forced", ()), wanted == "grid_low_skew"
    if local_share is not None:
        if longest < tuning.LOW_SKEW * mean:
            return Choice("grid_low_skew", "low_skew", (longest, mean)), True
        local = local_share()
        if local > tuning.LOCAL_SHARE:
            return Choice("grid_low_skew", "local", (local,)), True
    return Choice("grid_wide", "hubs", (longest, mean)), False


def bfs_kernel(n: int, entries: int, longest: int, heavy: Callable[[int], int], grid: Choice) -> tuple[Choice, bool]:
    """(Choice, is the high-diameter kernel launched first?) of a BFS from one source; grid: what runs otherwise."""
    degree = tuning.HIGH_DIAMETER_DEGREE
    wanted = forced_traversal()
    if wanted == "blocks_high_diameter":
        if longest > degree and heavy(degree) > tuning.HIGH_DIAMETER_HEAVY_ENTRIES:
            return Choice(grid.kernel, "kernel_unsuited", (wanted,)), False
        return Choice(wanted, "forced", ()), True
    if wanted is not None:
        return grid, False
    high, share = has_high_diameter(n, entries, longest, heavy)
    if high:
        return Choice("blocks_high_diameter", "high_diameter", (entries / max(n, 1), share, degree)), True
    return grid, False


def sssp_kernel(n: int, entries: int, longest: int, heavy: Callable[[int], int]) -> tuple[Choice, bool]:
    """(Choice, is the high-diameter kernel launched first?) of shortest paths."""
    wanted = forced_traversal()
    if wanted is not None:
        if wanted == "grid_low_skew":
            return Choice("grid_wide", "kernel_unsuited", (wanted,)), False
        return Choice(wanted, "forced", ()), wanted == "blocks_high_diameter"
    high, share = has_high_diameter(n, entries, longest, heavy, tuning.SSSP_HIGH_DIAMETER_DEGREE)
    mean = entries / max(n, 1)
    if high:
        figures = mean, share, tuning.SSSP_HIGH_DIAMETER_DEGREE
        return Choice("blocks_high_diameter", "high_diameter", figures), True
    return Choice("grid_wide", "hubs", (longest, mean)), False


def has_short_rows(n: int, entries: int) -> bool:
    """Are rows so short that SSSP may need thousands of rounds?  Then nothing is ever pulled."""
    return entries <= tuning.HIGH_DIAMETER_MEAN * n
