"""Calls on several ranks that are threads of this process: the engines ranks1, ranks2, ranks3, ranks4.

Ranges are cut anywhere, not at multiples of 64 alone, so that small objects are spread too: some ranks have nothing,
some nearly all.
"""

import zlib

import numpy as np

from grb_tile.backends import select
from grb_tile.backends.distributed import loopback
from grb_tile.backends.distributed.backend import DistributedBackend
from support.seeds import SEED

PREFIX = "ranks"


class OddRanges(DistributedBackend):
    """Ranges drawn by the seed and the length of the dimension."""

    def starts_of(self, length):
        rng = np.random.default_rng(zlib.crc32(f"{SEED}/{length}/{self.size}".encode()))
        kind = rng.integers(3)
        if kind == 0 and length > 1 << 20:
            return super().starts_of(length)
        inner = rng.integers(0, length + 1, self.size - 1) if kind else np.full(self.size - 1, length // 2)
        return [0, *np.sort(inner).tolist(), length]


def is_ranks(name):
    return name.startswith(PREFIX) and name[len(PREFIX) :].isdecimal()


def on_ranks(name, function, backend=OddRanges, local="cpu", timeout=6.0):
    """[function() of rank 0, of rank 1, ...]"""

    def of_rank(comm):
        made = backend(comm, select.named(local))
        with select.entered(f"{name}-{made.number}", made):
            try:
                return function()
            finally:
                made.close()

    return loopback.run(int(name[len(PREFIX) :]), of_rank, timeout=timeout)
