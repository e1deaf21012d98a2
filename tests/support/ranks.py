"""Calls on several ranks that are threads of this process: the engines ranks1, ranks2, ranks3, ranks4.

Ranges are cut anywhere, not at multiples of 64 alone, so that small objects are spread too: some ranks have nothing,
some nearly all.

With GRB_TILE_TEST_RANK_DEVICES=2 in the environment the ranks compute on two devices, in turn, instead of the CPU; on
emulated ones unless GRB_TILE_TEST_DEVICE=cuda is there too.
"""

import contextvars
import os
import queue
import threading
import zlib
from contextlib import ExitStack, contextmanager
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


class Kept:
    """Ranks that wait for functions to call, each in its thread with its device: NCCL takes half a second to start."""

    def __init__(self, name, size, of_rank, timeout):
        self._asked = [queue.SimpleQueue() for _ in range(size)]
        self._told = queue.SimpleQueue()

        def serve(host):
            with of_rank(host) as enter:
                while (function := self._asked[host.rank].get()) is not None:
                    self._told.put((host.rank, enter(function)))

        def run():
            try:
                loopback.run(size, serve, timeout=timeout)
            except BaseException as error:
                self._told.put((None, error))

        threading.Thread(target=run, name=name, daemon=True).start()

    def __call__(self, function):
        """[function() of each rank], with the caller's context variables; its error ends the ranks."""
        found = {}
        for each in self._asked:
            context = contextvars.copy_context()
            each.put(lambda context=context: context.run(function))
        while len(found) < len(self._asked):
            rank, result = self._told.get()
            if rank is None:
                raise result
            found[rank] = result
        return [found[rank] for rank in range(len(found))]

    def end(self):
        for each in self._asked:
            each.put(None)


KEPT = {}  # (name, timeout) -> Kept


def on_ranks(name, function, backend=OddRanges, local="cpu", timeout=60.0 if DEVICES else 6.0, devices=DEVICES):
    """[function() of rank 0, of rank 1, ...]; devices: how many the ranks take in turn, 0: all compute with `local`."""
    if DEVICES and os.environ.get("GRB_TILE_TEST_DEVICE") != "cuda":
        emulated()

    @contextmanager
    def of_rank(host):
        here = select.named(f"cuda:{host.rank % devices}" if devices else local)
        comm = connect.over_devices(host, here) if here.on_device else host
        made = backend(comm, here)

        def enter(call):
            with select.entered(f"{name}-{made.number}", made):
                return call()

        try:
            yield enter
        finally:
            made.close()
            if comm is not host:
                comm.close()

    def once(host):
        with of_rank(host) as enter:
            return enter(function)

    size = int(name[len(PREFIX) :])
    if not DEVICES or devices != DEVICES or backend is not OddRanges:
        return loopback.run(size, once, timeout=timeout)
    if (name, timeout) not in KEPT:
        KEPT[name, timeout] = Kept(name, size, of_rank, timeout)
    try:
        return KEPT[name, timeout](function)
    except BaseException:
        KEPT.pop((name, timeout)).end()
        raise
