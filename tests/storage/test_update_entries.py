"""Few entries changed in a store of any form, against dictionaries: what is new, what is shared, what is forgotten."""

import numpy as np
import pytest

from grb_tile import dtypes
from grb_tile.storage import convert, update_entries as module
from grb_tile.storage.dense import in_order
from grb_tile.storage.store import Dense
from grb_tile.storage.update_entries import find_entries, find_keys, is_few, keys_of, store_of, update_entries
from support.library import LIBRARY, gb
from support.seeds import generator
from support.stored import stored
from support.written import entries_of

if LIBRARY == "graphblas":
    pytest.skip("the stores are this library's", allow_module_level=True)

SHAPES = {1: (300,), 2: (20, 30)}
FORMS = (
    *((1, form) for form in ("sparse", "bitmap", "full", "iso", "full iso", "empty")),
    *((2, form) for form in ("csr", "dcsr", "bitmapr", "bitmapc", "fullr", "fullc", "iso", "full iso", "empty")),
)
TOUCHED = (1, 3, 16, 17, 64, 65)  # to both sides of the limits of update_entries.py


def entries(rng, ndim, form, dtype="INT64"):
    """A store in that form that shares no array with another."""
    store = stored(rng, SHAPES[ndim], dtype, form).build(gb)._store
    return store.moved(np.array)


def changes(rng, ndim, before, count, kind, one=None):
    """(touched, t): `count` positions and the entries at those of them that have one afterwards.

    kind: positions that have an entry keep one ("replace"), positions without get one ("insert"), all lose theirs
    ("delete"), or any of these ("mixed").  one: the value of all entries.
    """
    shape = SHAPES[ndim]
    positions = list(np.ndindex(*shape))
    if kind in ("replace", "insert"):
        positions = [p for p in positions if (p in before) == (kind == "replace")]
    chosen = sorted(rng.permutation(len(positions))[:count].tolist())
    touched = [positions[k] for k in chosen]
    kept = [p for p in touched if kind in ("replace", "insert") or kind == "mixed" and rng.random() < 0.6]
    t = {p: int(rng.integers(-9, 9)) if one is None else one for p in kept}
    return touched, t


def as_store(shape, found, iso=False):
    """The sparse store of {position: value}, or of positions; iso: of one value."""
    values = np.array([found[p] for p in found] if isinstance(found, dict) else [1] * len(found), np.int64)
    places = np.array(list(found), np.int64).reshape(-1, len(shape))
    made = store_of(shape, dtypes.INT64, places[:, 0], places[:, -1], values)
    return made.with_values(made.dtype, values[:1], True) if iso and found else made


def plainly(store):
    return {p if isinstance(p, tuple) else (p,): x for p, x in entries_of(store).items()}


@pytest.mark.parametrize("ndim, form", FORMS)
@pytest.mark.parametrize("own", [False, True])
def test_the_entries_afterwards(ndim, form, own):
    rng = generator("splice", ndim, form, own)
    for kind in ("replace", "insert", "delete", "mixed"):
        for count in TOUCHED:
            for same in (False, True):
                c = entries(rng, ndim, form)
                before = plainly(c)
                one = next(iter(before.values()), 4) if same else None
                touched, t = changes(rng, ndim, before, count, kind, one)
                if not touched:
                    continue
                arrays = (as_store(SHAPES[ndim], touched), as_store(SHAPES[ndim], t, iso=same))
                wanted = {p: x for p, x in before.items() if p not in set(touched)} | t
                edited = any((p in before) != (p in t) for p in touched)
                few = c.format[:4] in ("bitm", "full") or len(touched) <= max(64, len(before) // 64)
                result = update_entries(c, arrays[1], arrays[0] if t.keys() != set(touched) else arrays[1], own)
                where = f"{kind} {count} {same}"
                if not few or edited and form == "dcsr":
                    assert result is NotImplemented, where
                    continue
                found = plainly(result)
                assert found == wanted and result.nvals == len(wanted), where
                assert result.dtype is c.dtype and result.shape == c.shape, where
                if not own:
                    assert plainly(c) == before, where
                    if not c.shared and result is not c:
                        assert not shares(c, result), where
                dense = c.format[:4] in ("bitm", "full")
                if own and not c.iso and not edited and not dense and t:
                    assert result is c, where
                if c.iso and same and not dense and t:
                    assert result.iso or result.nvals == 0, where
                if result is not c and shares(c, result) and not (own and dense):
                    assert c.shared and result.shared, where


@pytest.mark.parametrize("shape", [(2**33,), (2**60,), (2**40, 7), (5, 2**33), (2**60, 2**60)], ids=str)
def test_dimensions_beyond_32_bits(shape):
    rng = generator("huge", *shape)
    ends = [np.array([0, size // 2, size // 2 + 1, size - 2, size - 1]) for size in shape]
    places = sorted({tuple(int(rng.choice(end)) for end in ends) for _ in range(12)})
    before = {p: k for k, p in enumerate(places)}
    c = as_store(shape, before)
    assert plainly(c) == before and c.shape == shape
    t = dict.fromkeys(places[::2], -1)
    found = update_entries(c, as_store(shape, t), as_store(shape, t), False)
    assert plainly(found) == before | t
    at, here = find_keys(c, *keys_of(c))
    assert here.all() and at.tolist() == list(range(len(places)))


def shares(c, result):
    return any(np.shares_memory(x, y) for x in arrays_of(c) for y in arrays_of(result))


def arrays_of(store):
    store = store.flat if type(store) is Dense else store
    names = ("words", "values") if store.format == "bitmap" else ("values",)  # those that may change in place
    return [x for x in (getattr(store, name, None) for name in names) if x is not None]


@pytest.mark.parametrize("form", ["csr", "bitmapr", "bitmapc", "fullc"])
def test_forms_of_the_values_are_forgotten_and_those_of_the_structure_stay(form):
    rng = generator("splice forms", form)
    c = entries(rng, 2, form)
    before = plainly(c)
    if form == "csr":
        T = convert.transpose_of(c)
        convert.occupied(c), convert.row_ids(c)
    else:
        T, other = None, in_order(c, not c.by_columns)
        c.indices  # noqa: B018  the entries as CSR are kept
    position, value = next(iter(before.items()))
    t = as_store(SHAPES[2], {position: value + 1})
    result = update_entries(c, t, t, True)
    if form == "csr":
        assert result is c
        assert set(c.forms) == {"occupied", "row_ids"} and convert.cached_transpose(T) is None
        assert plainly(T) == {(j, i): x for (i, j), x in before.items()}
        assert plainly(convert.transpose_of(c)) == {(j, i): x for (i, j), x in plainly(c).items()}
    else:
        assert c.forms is None
        assert plainly(Dense(20, 30, other.flat, other.by_columns)) in (before, before | {position: value + 1})


def test_what_may_change_in_place():
    rng = generator("own")
    c = entries(rng, 1, "bitmap")
    assert module.owns_arrays(c)
    for name in ("values", "words"):
        c = entries(rng, 1, "bitmap")
        held = getattr(c, name)
        assert not module.owns_arrays(c), name
        del held
        assert module.owns_arrays(c)
        setattr(c, name, getattr(c, name)[:])  # a view
        assert not module.owns_arrays(c), name
    for form, ndim in (("sparse", 1), ("csr", 2)):
        c = entries(rng, ndim, form)
        assert module.owns_arrays(c)
        c.shared = True
        assert not module.owns_arrays(c)
        c.shared = False
        c.values.flags.writeable = False
        assert not module.owns_arrays(c)
    assert not module.owns_arrays(entries(rng, 1, "iso"))
    c = entries(rng, 1, "full")
    assert c.words is None and module.owns_arrays(c)


@pytest.mark.parametrize("form", ["csr", "dcsr", "empty"])
@pytest.mark.parametrize("count", [1, 16, 17, 200])
def test_search_of_matrices(form, count):
    rng = generator("find", form, count)
    A = entries(rng, 2, form)
    found = plainly(A)
    rows, cols = rng.integers(0, 20, count), rng.integers(0, 30, count)
    at, present = find_entries(A, rows, cols)
    listed = sorted(found)
    for i, j, k, p in zip(rows.tolist(), cols.tolist(), at.tolist(), present.tolist(), strict=True):
        assert p == ((i, j) in found)
        if p or form == "csr":
            assert k == sum(q < (i, j) for q in listed), (i, j)
    again = find_keys(A, rows, cols)
    assert np.array_equal(again[0], at) and np.array_equal(again[1], present)
    assert list(zip(*(x.tolist() for x in keys_of(A)), strict=True)) == listed


@pytest.mark.parametrize("form", ["sparse", "bitmap", "full", "empty"])
def test_search_of_vectors(form):
    rng = generator("find", form)
    u = entries(rng, 1, form)
    found = sorted(i for (i,) in plainly(u))
    keys = np.arange(300)
    at, present = find_keys(u, None, keys)
    assert present.tolist() == [i in found for i in range(300)]
    assert at.tolist() == (keys.tolist() if form in ("bitmap", "full") else np.searchsorted(found, keys).tolist())
    if u.format == "sparse":
        rows, cols = keys_of(u)
        assert cols.tolist() == found and rows.tolist() == [0] * len(found) and cols.dtype == rows.dtype == np.int64


def test_few():
    assert is_few(64, 0) and not is_few(65, 64 * 65 - 1) and is_few(65, 64 * 65)


def test_values_compared_by_their_bits():
    nan, zeros = np.array([np.nan] * 3), np.array([0.0, -0.0])
    assert module._all_equal(nan, nan) and module._all_equal(nan[:0], nan)
    assert not module._all_equal(zeros, zeros) and not module._all_equal(np.array([1.0, 2.0]), np.array([1.0]))
    pairs = np.array([[1, 2], [1, 2], [1, 3]])
    assert module._all_equal(pairs[:2], pairs) and not module._all_equal(pairs, pairs)
