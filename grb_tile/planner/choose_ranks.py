"""How many ranks pay: a model of times over p ranks, and whether a loop runs on the whole graph of each rank.

    t(1) = work                  t(p) = divided / p + rest + turns (exchanges log2(p) exchange_ns + calls_ns)
                                        + bytes (p - 1) / p byte_ns

A model: rates are of one H200 and of the links in tuning/ranks.py; results/distributed.md has what it predicts beside
what was measured.  A search of a graph with levels by the thousand is never faster on several ranks: each level is an
exchange.

>>> from grb_tile.planner import choose_ranks as model
>>> road = model.bfs(10**7, 2 * 10**7, levels=3000)
>>> model.best(road, (1, 2, 4, 8), model.NVLINK), model.best(model.spmv(1 << 26, 1 << 31), (1, 2, 4, 8), model.NVLINK)
(1, 8)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from . import tuning


class Link(NamedTuple):
    """What joins ranks: ns of an exchange of few bytes among two, ns of a byte that a rank receives."""

    name: str
    exchange_ns: float
    byte_ns: float


NVLINK = Link("NVLink", tuning.DEVICE_EXCHANGE_NS, tuning.NVLINK_BYTE_NS)
PCIE = Link("PCIe", tuning.DEVICE_EXCHANGE_NS, tuning.PCIE_BYTE_NS)
NETWORK = Link("network", tuning.NETWORK_EXCHANGE_NS, tuning.NETWORK_BYTE_NS)
HOST = Link("host", tuning.HOST_EXCHANGE_NS, tuning.HOST_BYTE_NS)


class Task(NamedTuple):
    """An operation or algorithm on a graph.

    alone, divided   ns on one rank; of it what p ranks share when it runs over them
    turns, exchanges, calls_ns    iterations over ranks, exchanges of each, ns of calls that one rank does not make
    moved            bytes that a rank would receive of all others if it had nothing
    """

    alone: float
    divided: float
    turns: float
    exchanges: float
    moved: float
    calls_ns: float = 0.0


def nanoseconds(task: Task, ranks: int, link: Link) -> float:
    """What the task takes over so many ranks."""
    if ranks == 1:
        return task.alone
    exchanges = task.turns * (task.exchanges * link.exchange_ns * math.log2(ranks) + task.calls_ns)
    return task.divided / ranks + exchanges + task.moved * (ranks - 1) / ranks * link.byte_ns


def best(task: Task, sizes: Sequence[int], link: Link) -> int:
    """The number of ranks, of those given, on which the task is fastest; the least where several are equal."""
    return min(sizes, key=lambda ranks: nanoseconds(task, ranks, link))


# ---------------------------------------------------------------------- tasks: n vertices, nvals entries


def spmv(n: int, nvals: int, itemsize: int = 4, turns: int = 1) -> Task:
    """w = A x with a full x, `turns` times (PageRank: and 5 passes over vectors, which ranks share).

    In the turns of a loop the host is ahead of the devices; a product alone begins when its calls have been made.
    """
    work = turns * _product_ns(n, nvals, itemsize)
    return Task(work, work, turns, 1, turns * n * itemsize, tuning.RANKS_PRODUCT_NS if turns == 1 else 0.0)


def matmul(products: float, nvals: int, itemsize: int = 4, product_ns: float = 0.02) -> Task:
    """C = A B, or reduced under a mask (triangles): the rows of B travel, in as many stages as there are ranks."""
    work = products * product_ns
    return Task(work, work, 1, 4, nvals * (4 + itemsize))


def bfs(n: int, nvals: int, levels: float) -> Task:
    """A search: bits of the frontier travel each level; over ranks it is a loop of calls."""
    alone = tuning.RANKS_LOOP_NS + n * tuning.RANKS_BFS_NS + levels * tuning.RANKS_LEVEL_NS
    return Task(alone, n * tuning.RANKS_BFS_NS, levels, 5, levels * n / 8, tuning.RANKS_CALLS_NS)


def bfs_in_kernels(n: int, nvals: int, levels: float) -> Task:
    """A search by a launch on each rank (distributed/searches.py): all meet once or twice a level."""
    shared = n * tuning.RANKS_SEARCH_NS + tuning.RANKS_LOOP_NS
    calls = 2 * tuning.RANKS_MEETING_NS + tuning.RANKS_SEARCH_CALLS_NS / levels
    return bfs(n, nvals, levels)._replace(divided=shared, exchanges=0, calls_ns=calls)


def components(n: int, nvals: int, levels: float) -> Task:
    """Components: labels travel each turn, about log2 of the levels; a loop of calls over ranks."""
    alone = tuning.RANKS_LOOP_NS + n * tuning.RANKS_COMPONENTS_NS
    turns = 3 + math.log2(max(2.0, levels))
    work = turns * _product_ns(n, nvals, 8)
    return Task(alone, work, turns, 6, turns * n * 8, tuning.RANKS_CALLS_NS)


def sssp(n: int, nvals: int, levels: float) -> Task:
    """Shortest paths: distances of the frontier travel each turn, two turns a level; a loop of calls over ranks."""
    alone = tuning.RANKS_LOOP_NS + n * tuning.RANKS_SSSP_NS + levels * tuning.RANKS_LEVEL_NS
    return Task(alone, 2 * _product_ns(n, nvals, 8), 2 * levels, 5, 2 * n * 12, tuning.RANKS_CALLS_NS)


def _product_ns(n: int, nvals: int, itemsize: int) -> float:
    doublings = max(0.0, math.log2(max(1.0, n * itemsize / tuning.RANKS_NEAR_BYTES)))
    return nvals * (tuning.RANKS_ENTRY_NS + doublings * tuning.RANKS_FAR_NS)


LOOPS = {"bfs": bfs, "search": bfs_in_kernels, "components": components, "sssp": sssp}


def levels_of(n: int, nvals: int) -> float:
    """Levels of a search of a graph of that size: where few edges are at a vertex there may be thousands.

    >>> from grb_tile.planner.choose_ranks import levels_of
    >>> round(levels_of(10**6, 3 * 10**6)), round(levels_of(1 << 20, 1 << 25))
    (1000, 6)
    """
    if nvals <= tuning.HIGH_DIAMETER_MEAN * n and n >= tuning.HIGH_DIAMETER_VERTICES:
        return math.sqrt(n)
    return 2 + math.log(max(2, n)) / math.log(max(2.0, nvals / max(1, n)))


def saved_by_whole(loop: str, n: int, nvals: int, ranks: int, link: Link) -> float:
    """ns that a run of the loop is faster where each rank runs it on the whole graph; negative where it is slower."""
    task = LOOPS[loop](n, nvals, levels_of(n, nvals))
    return nanoseconds(task, ranks, link) - task.alone


def cost_of_whole(nbytes: int, ranks: int, link: Link) -> float:
    """ns that it takes every rank to get the whole of a matrix of so many bytes."""
    return link.exchange_ns + nbytes * (ranks - 1) / ranks * link.byte_ns
