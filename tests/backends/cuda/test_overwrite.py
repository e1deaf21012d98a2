"""C<M> = T in C's own arrays on the CUDA backend, its kernels run as fibers, against the NumPy backend."""

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import EMULATED, shim, using_shim
from grb_tile import Vector, dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.runtime.late_vector import LateVector
from grb_tile.planner import tuning
from grb_tile.storage import holders
from grb_tile.storage.constructors import iso_like
from grb_tile.storage.place import host
from grb_tile.storage.store import StoredMask
from support import seeds

NUMPY = select.named("numpy")


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def meaning(c, t, allow):
    """C<allow> = T by the primitives that it is made of."""
    return NUMPY.union(t, NUMPY.restrict(c, ~allow), None)


@pytest.mark.parametrize("type_", ["BOOL", "INT32", "FP64", "FC64"])
@pytest.mark.parametrize("turn", range(6))
def test_all_formats(type_, turn, monkeypatch):
    dtype = getattr(dtypes, type_)
    rng = rng_of(turn, len(type_))
    if turn == 5:
        monkeypatch.setattr(tuning, "LIST_NS", 0)  # as if the vectors were very long
    for _ in range(4):
        dim = samples.dimension(rng, huge=turn == 4)
        c = samples.random_vector(rng, dim, dtype)
        pattern = samples.random_vector(rng, dim, dtypes.INT8)
        complement = turn % 3 == 2
        allow = StoredMask(pattern, complement)
        if complement or turn % 2:
            t = NUMPY.restrict(samples.random_vector(rng, dim, dtype), allow)
        else:
            t = iso_like(pattern, dtype, dtype.np_type.type(1))
        want = meaning(c, t, allow)
        before = agree.snapshot(c, t, pattern)
        got = shim().overwrite(c, t, allow)
        assert got.nvals == want.nvals
        agree.assert_same(host(got), want)
        assert agree.snapshot(c, t, pattern) == before
        if not complement:
            value = dtype.np_type.type(3)
            wanted = meaning(c, iso_like(pattern, dtype, value), allow)
            filled = shim().fill(c, value, pattern)
            if filled is not NotImplemented:  # of matrices and of what is too long for a bitmap
                assert filled.nvals == wanted.nvals
                agree.assert_same(host(shim().convert(filled, "sparse")), host(NUMPY.convert(wanted, "sparse")))
            assert agree.snapshot(c, t, pattern) == before
        for _ in range(2):  # once more into what is now C's own
            pattern = samples.random_vector(rng, dim, dtypes.BOOL)
            t = iso_like(pattern, dtype, dtype.np_type.type(0))
            want = meaning(want, t, StoredMask(pattern))
            got = shim().overwrite(got, t, StoredMask(pattern))
            agree.assert_same(host(shim().convert(got, "sparse")), host(NUMPY.convert(want, "sparse")))


def test_the_complement_of_a_mask():
    """C<!M> = T of bitmaps, values of their own: C keeps what M covers and loses what T lacks elsewhere."""
    rng = rng_of(77)
    for n in (70, 500):
        c, pattern, t = (samples.random_vector(rng, (n, np.arange(n)), dtypes.INT32, 0.5) for _ in range(3))
        allow = StoredMask(pattern, True)
        c, t = (NUMPY.convert(v, "bitmap") for v in (c, NUMPY.restrict(t, allow)))
        assert c.format == t.format == "bitmap"
        want = meaning(c, t, allow)
        got = shim().overwrite(c, t, allow)
        assert got is not NotImplemented and got.nvals == want.nvals
        agree.assert_same(host(got), want)


def test_a_scalar_under_the_complement_of_a_mask():
    with using_shim():
        w = Vector.from_coo(range(0, 200, 2), np.arange(100), dtypes.INT32, size=200)
        m = Vector.from_coo(range(100), True, dtypes.BOOL, size=200)
        w(~m.S) << 7
        assert w.to_dict() == {**{k: k // 2 for k in range(0, 100, 2)}, **dict.fromkeys(range(100, 200), 7)}


def test_what_others_hold_is_left_alone():
    """Copies, masks and results that share arrays with C keep their entries when C is written into."""
    n = 200
    rng = rng_of(3)
    with using_shim():
        c = Vector.from_coo(np.arange(0, n, 3), np.arange(0, n, 3), size=n)
        held, wanted = [], {i: i for i in range(0, n, 3)}
        for turn in range(12):
            where = np.unique(rng.integers(0, n, 20))
            m = Vector.from_coo(where, True, size=n)
            if turn % 3 == 0:
                held.append((c.dup(), dict(wanted)))
            elif turn % 3 == 1:
                held.append(((c + 0).new(), dict(wanted)))
            c(m.S) << turn
            wanted.update(dict.fromkeys(where.tolist(), turn))
            c(c.S) << c.apply(lambda x: x + 1) if turn == 5 else c(c.S) << c
            if turn == 5:
                wanted = {i: x + 1 for i, x in wanted.items()}
            held.append((m, dict.fromkeys(where.tolist(), True)))
        rest = {i: -i for i in range(n) if i not in wanted and i % 7 < 3}
        v = Vector.from_coo(list(rest), list(rest.values()), size=n)
        c(~c.S) << v  # C is its own mask
        wanted.update(rest)
        c(c.S) << 8
        held.append((c, dict.fromkeys(wanted, 8)))
        for v, entries_ in held:
            assert v.to_dict() == entries_


def test_nothing_is_read_back_and_arrays_stay():
    """A loop that marks what it found changes the places found; the count is asked for once, at the end."""
    n = 3000
    with using_shim() as backend:
        c = Vector.from_coo([5], [7], size=n)
        m = Vector.from_coo(np.arange(0, n, 2), True, size=n)
        c(m.S) << 1
        assert type(c._store) is LateVector
        if not EMULATED and holders.count_of(c._store.values) > holders.ONE:
            pytest.skip(
                "the interpreter shows more holders than there are, as under compute-sanitizer: arrays are copied"
            )
        place, reads = backend.device.address(c._store.values), []
        read = backend.device.read
        backend.device.read = backend.device.read_count = lambda *arrays: reads.append(arrays) or read(*arrays)
        try:
            for turn in range(3):
                c(m.S) << turn
            assert not reads
        finally:
            del backend.device.read, backend.device.read_count
        assert backend.device.address(c._store.values) == place
        assert c.nvals == n // 2 + 1
        c(m.S) << 9
        assert c.nvals == n // 2 + 1 and c[4].new().value == 9 and c[5].new().value == 7
