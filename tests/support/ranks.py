"""Calls on several ranks that are threads of this process: the engines ranks1, ranks2, ranks3, ranks4.

Ranges are cut anywhere, not at multiples of 64 alone, so that small objects are spread too: some ranks have nothing,
some nearly all.

With GRB_TILE_TEST_RANK_DEVICES=2 in the environment the ranks compute on two devices, in turn, instead of the CPU; on
emulated ones unless GRB_TILE_TEST_DEVICE=cuda is there too.
"""

import os
import zlib
from contextlib import ExitStack
from functools import lru_cache

import numpy as np

from grb_tile.backends import select
from grb_tile.backends.distributed import connect, loopback
from grb_tile.backends.distributed.backend import DistributedBackend
from support.seeds import SEED

PREFIX = "ranks"
DEVICES = int(os.environ.get("GRB_TILE_TEST_RANK_DEVICES", "0"))


class OddRanges(DistributedBackend):
    """Ranges drawn by the seed and the length of the dimension; loops run over the ranks, however small the graph."""

    replicates = False

    def starts_of(self, length):
        rng = np.random.default_rng(zlib.crc32(f"{SEED}/{length}/{self.size}".encode()))
        kind = rng.integers(3)
        if kind == 0 and length > 1 << 20:
            return super().starts_of(length)
        inner = rng.integers(0, length + 1, self.size - 1) if kind else np.full(self.size - 1, length // 2)
        return [0, *np.sort(inner).tolist(), length]


@lru_cache(maxsize=1)
def emulated():
    """The emulated devices of the environment, from now on."""
    from support.emulated_devices import emulated_devices

    block = ExitStack()
    block.enter_context(emulated_devices(DEVICES))
    return block


def is_ranks(name):
    return name.startswith(PREFIX) and name[len(PREFIX) :].isdecimal()


def on_ranks(name, function, backend=OddRanges, local="cpu", timeout=60.0 if DEVICES else 6.0, devices=DEVICES):
    """[function() of rank 0, of rank 1, ...]; devices: how many the ranks take in turn, 0: all compute with `local`."""
    if DEVICES and os.environ.get("GRB_TILE_TEST_DEVICE") != "cuda":
        emulated()

    def of_rank(host):
        here = select.named(f"cuda:{host.rank % devices}" if devices else local)
        comm = connect.over_devices(host, here) if here.on_device else host
        made = backend(comm, here)
        with select.entered(f"{name}-{made.number}", made):
            try:
                return function()
            finally:
                made.close()
                if comm is not host:
                    comm.close()

    return loopback.run(int(name[len(PREFIX) :]), of_rank, timeout=timeout)
