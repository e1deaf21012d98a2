"""What is kept with a store depends on arguments: asked with one, then with another, it is what a fresh store gives.

Each function of FORMS derives something from a store and keeps it with the store; each is called on one store with
all its arguments in turn, there and back, and compared with the same call on a store that keeps nothing yet.
"""

import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, shim
from grb_tile.backends.cpu.compiled import binned
from grb_tile.backends.cuda.graph import bfs_tiles
from grb_tile.backends.cuda.products import spmm, spmm_rounded, spmm_slabs, tiles
from grb_tile.backends.cuda.products.row_schedule import schedule_of
from grb_tile.dtypes import FP32, FP64
from grb_tile.planner import force, tuning
from grb_tile.storage import bit_tiles, tiled
from support import stores
from support.seeds import generator


def matrix(dtype=FP64):
    """40 x 48 with empty rows, and rows of 20 and more entries."""
    rng = generator("kept forms", dtype.name)
    A = stores.matrix(rng, 40, 48, 500, dtype)
    lengths = np.diff(A.indptr).copy()
    lengths[[3, 4, 20, 39]] = 0
    kept = np.repeat(np.arange(40), np.diff(A.indptr))
    kept = ~np.isin(kept, [3, 4, 20, 39])
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return type(A)(40, 48, dtype, indptr, A.indices[kept], A.values[kept])


def square():
    rng = generator("kept forms", "square")
    return stores.matrix(rng, 64, 64, 300, FP64)


def vector():
    return stores.vector(generator("kept forms", "vector"), 200, 60, FP64, "sparse")


def on_device(function):
    def call(store, *arguments):
        device = shim().device
        with device.bound():
            return function(device, device.to_device(store), *arguments)

    return call


def of_windows(device, A, precision):
    """The tiles, which are made when they were asked for often enough; each precision has its own type of values."""
    x = stores.vector(generator("x"), A.ncols * 16, 0, FP32, "full")
    for _ in range(tuning.BUILD_AFTER + 1):
        found = spmm_rounded._tiles_or_reason(device, A, device.to_device(x), 16, precision)
    return found


def cpu_bins(A, slab_bits, row_bits, reads_a):
    """The bins of A with their arrays."""
    with pytest.MonkeyPatch.context() as patch, force("numba"):
        patch.setattr(binned, "SLAB_BITS", slab_bits)
        patch.setattr(binned, "ROW_BITS", row_bits)
        form = binned.form_of(A)
        assert binned._make(A, form, reads_a, 0.0)
        return form


FORMS = {  # name: (store, function, the arguments asked in turn)
    "storage tiled_of": (matrix, tiled.tiled_of, [(16,), (32,), (64,)]),
    "storage bit_tiles_of": (square, bit_tiles.bit_tiles_of, [(32,), (64,)]),
    "cpu bins": (matrix, cpu_bins, [(4, 6, True), (5, 6, True), (4, 7, True)]),
    "spmm rows_present": (matrix, on_device(spmm._presence), [(3,), (5,), (1,), (64,)]),
    "spmm long_rows": (
        matrix, on_device(spmm.long_rows), [(4, 2), (4, 8), (10, 8), (10, 2), (1000, 2)]
    ),
    "spmm_rounded tiles": (lambda: matrix(FP32), on_device(of_windows), [("tf32",), ("fp16",), ("bf16",)]),
    "spmm_slabs slabs": (matrix, on_device(spmm_slabs.made_of), [(2,), (3,), (5,)]),
    "tiles tiled_of": (matrix, on_device(tiles.tiled_of), [(16,), (32,)]),
    "tiles bit_tiles_of": (square, on_device(tiles.bit_tiles_of), [(32,), (64,)]),
    "tiles tiled_vector_of": (vector, on_device(tiles.tiled_vector_of), [(16, False), (16, True), (32, True)]),
    "schedule_of": (matrix, on_device(schedule_of), [("all",), ("early",)]),
    "bfs tiles": (square, on_device(lambda device, A, nt: bfs_tiles.graph_of(device, A, None, nt)), [(32,), (64,)]),
}  # fmt: skip


def content(x, depth=0):
    """Arrays and numbers of an object as nested tuples; what is not data (kernels, devices, pointers) is left out."""
    if hasattr(x, "nbytes") and hasattr(x, "ravel"):
        return np.asarray(x.get() if hasattr(x, "get") else x)
    if isinstance(x, (tuple, list)):
        return [content(item, depth) for item in x]
    if isinstance(x, (int, float, str, bool, np.number, type(None))):
        return x
    if depth > 2:
        return type(x).__name__
    names = {name for cls in type(x).__mro__ for name in getattr(cls, "__slots__", ())} | set(
        getattr(x, "__dict__", ())
    )
    left_out = {"device", "launches", "forms", "__weakref__", "_launch", "_table", "kept", "kernel"}
    return {name: content(getattr(x, name, None), depth + 1) for name in sorted(names - left_out)}


def same(a, b):
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and a == b


@pytest.mark.skipif(not EMULATED, reason="reads the arrays of the emulation")
@pytest.mark.parametrize("name", FORMS)
def test_a_kept_form_follows_its_arguments(name):
    make, function, asked = FORMS[name]
    fresh = {arguments: content(function(make(), *arguments)) for arguments in asked}
    store = make()
    for arguments in (*asked, *asked[::-1]):
        found = content(function(store, *arguments))
        assert same(found, fresh[arguments]), f"{name}{arguments} after {asked}: not what a fresh store gives"
    kinds = [fresh[arguments] for arguments in asked]
    assert not all(same(kinds[0], other) for other in kinds[1:]), f"{name}: its arguments make no difference here"
