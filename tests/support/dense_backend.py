"""The CPU backend whose every matrix is dense: a small matrix that a primitive returns becomes a bitmap or full.

Row-major and column-major alternate, so that operands of one operation come in both orders.  What has no method for
dense matrices then reads their CSR form, so that a run of the conformance suite covers both ways:

    GRB_TILE_TEST_ENGINES=dense pytest tests/conformance
"""

import functools
import inspect
import itertools

from grb_tile.backends import select
from grb_tile.backends.cpu.backend import CpuBackend
from grb_tile.backends.protocol import Backend
from grb_tile.storage.dense import to_dense
from grb_tile.storage.store import Compressed, Dense

MOST_POSITIONS = 2**16
PRIMITIVES = [name for name, value in vars(Backend).items() if inspect.isfunction(value) and not name.startswith("_")]
_ORDERS = itertools.cycle(("bitmapr", "bitmapr", "bitmapc"))


def dense(x):
    """x, or the same matrix in a dense form if it has at most MOST_POSITIONS positions."""
    if isinstance(x, tuple) and any(isinstance(one, Compressed) for one in x):
        return tuple(map(dense, x))
    if not isinstance(x, Compressed) or type(x) is Dense or not 0 < x.nrows * x.ncols <= MOST_POSITIONS:
        return x
    return to_dense(x, next(_ORDERS))


class DenseBackend(CpuBackend):
    """The CPU backend, all of whose matrices are dense."""

    name = "dense"
    depth = 0


def _with_dense_result(name):
    """The primitive with a dense result; a static one gets no self."""
    primitive, static = getattr(CpuBackend, name), isinstance(inspect.getattr_static(CpuBackend, name), staticmethod)

    @functools.wraps(primitive)
    def call(self, *args, **kwargs):
        self.depth += 1  # a primitive within another gives what that one expects
        try:
            found = primitive(*args, **kwargs) if static else primitive(self, *args, **kwargs)
        finally:
            self.depth -= 1
        return found if self.depth else dense(found)

    return call


for _name in PRIMITIVES:
    if _name != "convert":  # whoever calls it says which form
        setattr(DenseBackend, _name, _with_dense_result(_name))


def using_dense():
    """A context manager within which every small matrix is dense."""
    if "dense" not in select._made:
        select.register("dense", DenseBackend())
    return select.using("dense")
