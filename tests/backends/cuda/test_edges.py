"""The entries of the rows in a list or a bitmap: kernels/products/edges.cuh; sizes about a word and a warp's words."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends.cuda.products import columns
from grb_tile.storage.convert import to_bitmap
from grb_tile.storage.store import SparseVector
from support.seeds import generator


@pytest.mark.parametrize("share", [0, 0.02, 0.5, 1])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 511, 512, 513, 9000])
def test_edges(n, share):
    rng = generator("edges", n, share)
    rows = np.concatenate((rng.integers(0, n, 4 * n), np.zeros(2000, int)))  # row 0 is long
    A = gb.Matrix.from_coo(rows, rng.integers(0, 5000, rows.size), 1, nrows=n, ncols=5000)
    at = np.flatnonzero(rng.random(n) < share)
    want = np.diff(A._store.indptr)
    with using_shim() as backend:
        store = A.to_device("cuda")._store
        listed = SparseVector(n, gb.dtypes.BOOL, at.astype(np.int32), np.ones(1, bool), True)
        for u in map(backend.store_to_device, (listed, to_bitmap(listed))):
            if u.format == "bitmap" and u.words is None:
                continue  # full: all rows, which nobody counts
            assert backend.edges_of(store, u) == backend.edges_of(store, u) == want[at].sum()  # the second is kept
            most = backend.edges_of(store, u, at_most=True)
            assert most == min(at.size * want.max(), A.nvals) >= want[at].sum()
        total = backend.device.zeros(1, np.uint64)
        words = np.zeros(-(-n // 64) * 64, bool)
        words[at] = True
        words = np.packbits(words, bitorder="little").view(np.uint64)
        columns.add_edges(backend.device, store, None, backend.device.array(words), n, total)
        assert backend.device.read(total) == [want[at].sum()]
        columns.add_edges(backend.device, store, None, None, n, total)
        assert backend.device.read(total) == [want[at].sum() + want.sum()]
