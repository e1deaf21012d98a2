"""Distributed matrices and vectors: one program on several ranks, each of which has a part of every object.

    import grb_tile as gb
    world = gb.dist.init()                  # the ranks that a launcher started; without one, one rank
    A = gb.dist.read("graph.mtx")           # each rank reads a share of the file
    ranks = gb.algorithms.pagerank(A).values
    first, mine = ranks.local               # this rank's part, an ordinary Vector
    everything = ranks.gather()             # an ordinary Vector on every rank

All ranks run the same program and make the same calls, in the same order.  Constructors take arguments that are equal
on all ranks; `from_coo` and `from_local` here take what each rank has.  docs/DISTRIBUTED.md.
"""

from __future__ import annotations

from .build import distribute, from_coo, from_local
from .files import read, write
from .generate import rmat, uniform_random
from .world import World, init, local, run, world

__all__ = [
    "World",
    "distribute",
    "from_coo",
    "from_local",
    "init",
    "local",
    "read",
    "rmat",
    "run",
    "uniform_random",
    "world",
    "write",
]
