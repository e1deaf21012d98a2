"""One seed for everything random: GRB_TILE_SEED sets it, pytest's header prints it."""

import os
import zlib

import numpy as np

SEED = int(os.environ.get("GRB_TILE_SEED", "20260817"))


def generator(*names):
    """A NumPy generator that depends on SEED and on `names` alone, so that a test's data do not depend on its
    neighbours."""
    return np.random.default_rng([SEED, zlib.crc32("/".join(map(str, names)).encode())])
