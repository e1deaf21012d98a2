"""The order in which a launch runs its threads: one drawn for each launch, from GRB_TILE_SEED and the test's name.

begin("tests/.../test_bfs.py::test_levels[3]")   # before each test, by tests/conftest.py
seed_of("bfs<int32_t>")                          # of its next launch of that kernel
"""

import collections
import zlib

from support import seeds

_test = ""
_launches = collections.Counter()


def begin(name):
    """The launches from now on belong to the test of that name."""
    global _test
    _test = name
    _launches.clear()


def seed_of(kernel):
    """The seed of the next launch of that kernel: never 0, which is the order of the numbers."""
    _launches[kernel] += 1
    return 1 + zlib.crc32(f"{seeds.SEED}/{_test}/{kernel}/{_launches[kernel]}".encode())
