"""Dense matrices beside sparse ones in every primitive that takes both, against the reference backend.

With and without room for a sparse operand's positions (MOST_POSITIONS), and with operators that read positions, which
take no dense operand: then all are CSR. And passes over vectors of every form on the host.
"""

import itertools

import numpy as np
import pytest
from backends.agree import assert_same

import grb_tile as gb
from grb_tile import binary, dtypes, select as selects, semiring
from grb_tile.backends import chunked_pass, dense, select
from grb_tile.storage.convert import compressed, to_bitmap, to_sparse
from grb_tile.storage.dense import to_dense
from grb_tile.storage.store import StoredMask

REFERENCE = select.named("reference")
NROWS, NCOLS = 6, 9
FORMS = ("csr", "fullr", "fullc", "bitmapr", "bitmapc", "iso")


def plain(rng, form, dtype=dtypes.INT64, nrows=NROWS, ncols=NCOLS):
    """A matrix as CSR: all positions for a full form, half of them for others."""
    there = np.ones((nrows, ncols), bool) if form in ("fullr", "fullc") else rng.random((nrows, ncols)) < 0.5
    i, j = np.nonzero(there)
    values = rng.integers(-9, 10, i.size).astype(dtype.np_type)
    if form == "iso":
        values = values[:1]
    return compressed(nrows, ncols, dtype, i, j.astype(np.int32), values, form == "iso")


def as_form(A, form):
    return A if form in ("csr", "iso") else to_dense(A, form)


def masks(rng):
    yield None, None
    for form in ("csr", "bitmapr", "bitmapc"):
        M = plain(rng, form, dtypes.BOOL)
        for complement in (False, True):
            yield StoredMask(M, complement), StoredMask(as_form(M, form), complement)


@pytest.mark.parametrize(
    ("name", "most"), [pytest.param("numpy", "room", marks=pytest.mark.slow), ("cpu", "room"), ("cpu", "no room")]
)
def test_every_pair_of_forms(name, most, monkeypatch):
    """Each pair without a mask and with two of the masks in turn."""
    if most == "no room":
        monkeypatch.setattr(dense, "MOST_POSITIONS", 1)
    backend, rng = select.named(name), np.random.default_rng(5)
    for number, (one, two) in enumerate(itertools.product(FORMS, repeat=2)):
        x, y = plain(rng, one), plain(rng, two)
        a, b = as_form(x, one), as_form(y, two)
        without, *others = masks(rng)
        for mask, given in (without, others[number % 6], others[(number + number // 6 + 3) % 6]):
            for op in (binary.minus["INT64"], binary.ss.firstj["INT64"], binary.second["INT64"]):
                assert_same(backend.union(a, b, op, given), REFERENCE.union(x, y, op, mask))
                assert_same(backend.intersect(a, b, op, given), REFERENCE.intersect(x, y, op, mask))
            if mask is None:
                continue
            assert_same(backend.restrict(a, given), REFERENCE.restrict(x, mask))
            t, wanted = backend.restrict(b, given), REFERENCE.restrict(y, mask)
            assert_same(backend.overwrite(a, t, given), REFERENCE.overwrite(x, wanted, mask))
            assert_same(backend.select(a, selects.valuegt["INT64"], np.int64(1), given),
                        REFERENCE.select(x, selects.valuegt["INT64"], np.int64(1), mask))  # fmt: skip


@pytest.mark.parametrize("name", ["numpy", "cpu"])
def test_products_of_every_pair_of_forms(name):
    """B, its transpose, or both are given, each in a form of its own."""
    backend, rng, plus_times = select.named(name), np.random.default_rng(6), semiring.plus_times["INT64"]
    for one, two in itertools.product(FORMS, repeat=2):
        x, y = plain(rng, one), plain(rng, two, nrows=NCOLS, ncols=NROWS)
        a, b = as_form(x, one), as_form(y, two)
        wanted = REFERENCE.matmul(x, y, plus_times)
        assert_same(backend.matmul(a, b, plus_times), wanted)
        turned = REFERENCE.transpose(y)
        for form in FORMS[:5]:
            if form not in ("fullr", "fullc") or two in ("fullr", "fullc"):
                assert_same(backend.matmul(a, b, plus_times, BT=as_form(turned, form)), wanted)
        for form in ("csr", "bitmapr"):
            M = plain(rng, form, dtypes.BOOL, NROWS, NROWS)
            for complement in (False, True):
                masked = REFERENCE.matmul(x, y, plus_times, StoredMask(M, complement))
                assert_same(backend.matmul(a, b, plus_times, StoredMask(as_form(M, form), complement)), masked)


@pytest.mark.parametrize("result", ["BOOL", "INT8", "UINT8", "INT64", "FP32", "FP64"])
@pytest.mark.parametrize("name", ["numpy", "cpu"])
def test_tiles_of_every_type_are_cast_as_the_specification_says(name, result):
    """A float beyond an integer's range becomes the bound, NaN 0: not as NumPy assigns it."""
    backend, dtype = select.named(name), dtypes.lookup_dtype(result)
    values = {
        "FP64": [1e30, -1e30, np.nan, 2.9, -2.9, 300.0], "INT64": [-1, 0, 300, -300, 2**40, 7],
        "UINT8": [0, 1, 127, 128, 255, 4], "BOOL": [True, False, True, True, False, True],
    }  # fmt: skip
    tiles = []
    for kind, given in values.items():
        of = dtypes.lookup_dtype(kind)
        at = np.arange(6)
        tiles.append(compressed(2, 3, of, at // 3, (at % 3).astype(np.int32), np.array(given, of.np_type), False))
    wanted = REFERENCE.concat_matrices([tiles[:2], tiles[2:]], dtype)
    for form in ("csr", "fullr", "fullc", "bitmapr", "bitmapc"):
        made = [as_form(tile, form) for tile in tiles]
        assert_same(backend.concat_matrices([made[:2], made[2:]], dtype), wanted)


@pytest.mark.parametrize("shape", [(40, 30, 20), (20, 30, 40)])
def test_what_is_said_of_a_dense_product(shape):
    """The figure of its rule: columns of a dense operand beside a sparse one, whichever it is; entries; positions."""
    m, n, k = shape
    rng = np.random.default_rng(7)
    sparse = gb.Matrix.from_coo(np.arange(m), rng.integers(0, n, m), 1.0, nrows=m, ncols=n)
    full = gb.Matrix.from_dense(rng.random((n, k)))
    other = gb.Matrix.from_dense(rng.random((k, m)))
    figures = {}
    for name, call in {
        "sparse by dense": lambda: sparse.mxm(full, "plus_times"),
        "dense by sparse": lambda: other.mxm(sparse, "plus_times"),
        "dense by dense": lambda: full.mxm(other, "plus_times"),
    }.items():
        with gb.plan(force="numba"):
            call().new()
        figures[name] = [(plan.method, plan.figures) for plan in gb.explain().plans if plan.operation == "matmul"]
    assert figures == {
        "sparse by dense": [("spmm", (k,))],
        "dense by sparse": [("spmm", (k,))],
        "dense by dense": [("dense", (n * m,))],
    }


PASSES = {
    "a number": lambda x, y: 2.5 * x - y + 1,
    "numbers alone": lambda x, y: x - x + (y - y) + 4.0,
    "functions": lambda x, y: abs(x - 3) + (y * y).sqrt(),
    "x itself": lambda x, y: x,
}


def vectors(rng, dtype, size):
    """(form, a vector of that form, its values with 0 where it has no entry)."""
    values, there = rng.integers(-9, 10, size).astype(dtype), rng.random(size) < 0.5
    for form in ("full", "bitmap", "sparse", "iso", "iso bitmap", "iso sparse", "none"):
        here = np.zeros(size, bool) if form == "none" else np.ones(size, bool) if form in ("full", "iso") else there
        held = np.full(size, values[0]) if "iso" in form else values
        if form == "iso":
            v = gb.Vector.from_scalar(held[0], size, dtype)
        else:
            given = held[0] if "iso" in form else held[here]
            v = gb.Vector.from_coo(np.flatnonzero(here), given, dtype, size=size)
            v._store = (to_sparse if "sparse" in form or form == "none" else to_bitmap)(v._store)
        yield form, v, np.where(here, held, 0).astype(dtype)


@pytest.mark.parametrize("name", ["numpy", "cpu", "reference"])
@pytest.mark.parametrize("size", [1, 64, chunked_pass.CHUNK, chunked_pass.CHUNK + 1])
def test_passes_over_vectors_of_every_form(name, size):
    with select.using(name):
        for dtype in (np.float64, np.float32):
            rng = np.random.default_rng(8)
            some = list(vectors(rng, dtype, size))
            for (form, v, x), (other, w, y) in zip(some, some[3:] + some[:3], strict=True):
                for text, function in PASSES.items():

                    @gb.graph.one_pass
                    def step(x, y, function=function):
                        z = function(x, y)
                        return z, z.sum(), z.max()

                    z, total, most = step(v, w)
                    if text == "functions":
                        wanted = np.abs(x - 3) + np.sqrt(y * y)
                    elif text == "x itself":
                        wanted = x
                    elif text == "a number":
                        wanted = 2.5 * x - y + 1
                    else:
                        wanted = np.full(size, 4.0)
                    np.testing.assert_allclose(z.to_dense(), wanted, rtol=1e-6, err_msg=f"{form}, {other}: {text}")
                    assert z.to_dense().dtype == dtype
                    assert total.value == pytest.approx(float(wanted.sum(dtype=np.float64)), rel=1e-5, abs=1e-3)
                    assert most.value == pytest.approx(float(wanted.max()), rel=1e-6)
