"""Primitives with each of their options on operands of every form, dense ones of both orders among them, against the
reference backend; indices at their bounds; which backend is in use, by name, device, thread and block."""

import itertools
import threading
import types

import numpy as np
import pytest
from backends.agree import assert_same
from backends.test_dense_beside_others import FORMS, NCOLS, NROWS, as_form, masks, plain

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile import binary, dtypes, indexunary, monoid, select as selects, semiring, unary
from grb_tile.backends import chunked_pass, select
from grb_tile.backends.indices import last_of_each, positions_in
from grb_tile.exceptions import IndexOutOfBound, InvalidValue
from grb_tile.storage.constructors import full_vector
from grb_tile.storage.convert import to_bitmap, to_sparse
from grb_tile.storage.dense import to_dense
from grb_tile.storage.store import BitmapVector, StoredMask

REFERENCE = select.named("reference")
BACKENDS = {"cpu": lambda: select.using("cpu"), "numpy": lambda: select.using("numpy"), "device": using_shim}
I64 = np.int64


def forms(rng):
    """(name, as CSR, in that form): the forms of one value, full and with gaps, too."""
    for form in FORMS:
        x = plain(rng, form)
        yield form, x, as_form(x, form)
        if form == "iso":
            for dense in ("bitmapr", "bitmapc"):
                yield f"iso {dense}", x, to_dense(x, dense)
    nothing = REFERENCE.select(plain(rng, "csr"), selects.valuegt["INT64"], I64(99))
    yield "nothing", nothing, nothing
    one = plain(rng, "fullr")
    one = one.with_values(dtypes.INT64, np.array([3], I64), True)
    for dense in ("fullr", "fullc"):
        yield f"iso {dense}", one, to_dense(one, dense)


APPLIED = (
    (unary.ainv["INT64"], {}), (unary.ss.positioni["INT64"], {}), (unary.ss.positionj1["INT64"], {}),
    (binary.minus["INT64"], {"left": I64(10)}), (binary.minus["INT64"], {"right": I64(10)}),
    (binary.ss.firsti["INT64"], {"right": I64(1)}), (binary.ss.secondj1["INT64"], {"left": I64(1)}),
    (indexunary.rowindex["INT64"], {"thunk": I64(2)}), (indexunary.colindex["INT64"], {"thunk": I64(2)}),
    (indexunary.valuegt["INT64"], {"thunk": I64(1)}), (indexunary.tril["INT64"], {"thunk": I64(1)}),
)  # fmt: skip
SELECTED = (
    "tril",
    "triu",
    "diag",
    "offdiag",
    "rowle",
    "rowgt",
    "colle",
    "colgt",
    "valuegt",
    "valuele",
    "valueeq",
    "valuene",
)


def in_turn(cases, number):
    """Without a mask, and one of the others."""
    first, *others = cases
    return first, others[number % len(others)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_apply_and_select(backend):
    rng = np.random.default_rng(11)
    with BACKENDS[backend]() as made:
        for number, (_, x, a) in enumerate(forms(rng)):
            for k, (op, given) in enumerate(APPLIED):
                for mask, stored in in_turn(list(masks(rng)), number + k):
                    assert_same(made.apply(a, op, stored, **given), REFERENCE.apply(x, op, mask, **given))
            for k, text in enumerate(SELECTED):
                op = getattr(selects, text)["INT64"]
                for mask, stored in in_turn(list(masks(rng)), number + k):
                    assert_same(made.select(a, op, I64(2), stored), REFERENCE.select(x, op, I64(2), mask))


@pytest.mark.parametrize("backend", BACKENDS)
def test_unions_with_defaults_and_intersections(backend):
    """Different ones for the two sides, and operators for which the sides differ."""
    rng = np.random.default_rng(12)
    with BACKENDS[backend]() as made:
        pairs = itertools.product(forms(rng), forms(rng))
        for k, ((_, x, a), (_, y, b)) in enumerate(pairs):
            op = (binary.minus, binary.first, binary.second)[k % 3]["INT64"]
            for mask, stored in in_turn(list(masks(rng)), k):
                options = {"left_default": I64(100), "right_default": I64(-7), "dtype": dtypes.INT64}
                assert_same(made.union(a, b, op, stored, **options), REFERENCE.union(x, y, op, mask, **options))
                assert_same(made.intersect(a, b, op, stored), REFERENCE.intersect(x, y, op, mask))
            pattern = StoredMask(y)
            assert_same(made.restrict(a, StoredMask(b)), REFERENCE.restrict(x, pattern))
            assert_same(made.restrict(a, StoredMask(b, True)), REFERENCE.restrict(x, ~pattern))


@pytest.mark.parametrize("backend", ["cpu", "numpy"])
def test_lines_that_are_reduced_and_spread(backend):
    """Sums of rows and of columns, of the matrix and its transpose; a vector along rows and along columns."""
    rng = np.random.default_rng(13)
    with BACKENDS[backend]() as made:
        for _, x, a in forms(rng):
            for text, turned, axis in itertools.product(("plus", "max", "min", "times"), (False, True), (0, 1)):
                op = getattr(monoid, text)["INT64"]
                wanted = REFERENCE.reduced(x, turned, op, axis)
                assert_same(to_sparse(made.reduced(a, turned, op, axis)), to_sparse(wanted))
                some = REFERENCE.build_vector(wanted.size, np.array([0, 3]), np.array([True]), None, dtypes.BOOL)
                for mask in (StoredMask(some), StoredMask(some, True)):
                    masked = REFERENCE.reduced(x, turned, op, axis, mask)
                    assert_same(to_sparse(made.reduced(a, turned, op, axis, mask)), to_sparse(masked))
            for axis, size in ((0, NROWS), (1, NCOLS)):
                values = rng.integers(1, 9, size)
                full = BitmapVector(size, dtypes.INT64, None, values, size)
                some = to_sparse(full)
                gaps = REFERENCE.gather_vector(some, range(size)) if size else some
                for u in (full, to_bitmap(gaps), full_vector(size, dtypes.INT64, 4)):
                    assert_same(made.broadcast(u, a, axis), REFERENCE.broadcast(u, x, axis))


REGIONS = (
    None,
    range(2, 5),
    range(5, 0, -2),
    range(3, 4),
    range(0, 6, 5),
    np.array([4]),
    np.array([5, 0, 3]),
    range(0),
)


@pytest.mark.parametrize("backend", BACKENDS)
def test_regions(backend):
    """Taken out, put elsewhere, left out: by ranges in both directions, single lines, lists, all, none."""
    rng = np.random.default_rng(14)
    with BACKENDS[backend]() as made:
        for _, x, a in forms(rng):
            for I, J in itertools.product(REGIONS, REGIONS):
                assert_same(made.gather_matrix(a, I, J), REFERENCE.gather_matrix(x, I, J))
                rows, columns = (range(n) if K is None else K for K, n in ((I, NROWS), (J, NCOLS)))
                if len(rows) * len(columns) and I is not None and type(I) is not np.ndarray and I.step > 0:
                    assert_same(made.outside(a, I, J), REFERENCE.outside(x, I, J))
            for I, J in itertools.product((None, range(1, 1 + 2 * NROWS, 2), np.array([7, 3, 9, 0, 8, 1])), repeat=2):
                J = J if J is None or type(J) is range else np.arange(NCOLS)[::-1] + 2
                J = range(3, 3 + NCOLS) if type(J) is range else J
                m, n = (NROWS if I is None else 14), (NCOLS if J is None else 14)
                assert_same(made.expand_matrix(a, I, J, m, n), REFERENCE.expand_matrix(x, I, J, m, n))


INNER = {  # a multiply operator -> of u(k), v(k), k
    "minus": lambda x, y, k: x - y, "first": lambda x, y, k: x, "second": lambda x, y, k: y,
    "times": lambda x, y, k: x * y, "isgt": lambda x, y, k: int(x > y), "ss.firsti": lambda x, y, k: 0,
    "ss.firstj": lambda x, y, k: k, "ss.secondi1": lambda x, y, k: k + 1, "ss.secondj1": lambda x, y, k: 1,
}  # fmt: skip


@pytest.mark.parametrize("backend", ["cpu", "numpy", "reference"])
def test_inner_products_of_operators_whose_sides_differ(backend):
    """Whichever vector is full, by loops over the positions: the backends share one form of it."""
    rng, n = np.random.default_rng(15), 70
    made = select.named(backend)
    full = BitmapVector(n, dtypes.INT64, None, rng.integers(1, 9, n), n)
    few, half, none = (
        REFERENCE.build_vector(n, np.array(at, int), rng.integers(1, 9, len(at)), None, dtypes.INT64)
        for at in ([3, 5, 60], range(0, n, 2), [])
    )
    for u, v in itertools.product((full, few, to_bitmap(half), none, full_vector(n, dtypes.INT64, 3)), repeat=2):
        x, y = (dict(zip(*(part.tolist() for part in REFERENCE.tuples_vector(w)), strict=True)) for w in (u, v))
        for text, add in itertools.product(INNER, ("plus", "max")):
            namespace = semiring.ss if "." in text else semiring
            op = getattr(namespace, f"{add}_{text.removeprefix('ss.')}", None)
            if op is None:
                continue
            terms = [INNER[text](x[k], y[k], k) for k in x if k in y]
            found = made.inner(u, v, op["INT64"])
            assert found == ({"plus": sum, "max": max}[add](terms) if terms else None), (text, add)


def test_indices_at_their_bounds():
    for size in (1, 5, 2**40):
        for index in (0, size - 1, -1, -size):
            assert positions_in(np.array([index]), size).tolist() == [index % size]
        for index in (size, size + 1, -size - 1):
            with pytest.raises(IndexOutOfBound, match=f"index={index}, size={size}"):
                positions_in(np.array([0, index]), size)
            with pytest.raises(IndexOutOfBound, match=f"index={index}"):
                gb.Vector(int, size)[[0, index]].new()


@pytest.mark.parametrize("size", [40, 10**9])
def test_the_last_of_repeated_indices_wins(size):
    """By a table of all positions, and without one."""
    rng = np.random.default_rng(16)
    assert last_of_each(np.array([3, 1]), size)[1] is None and last_of_each(np.arange(60), size)[1] is None
    for count in (2, 3, 4, 7, 8, 9, 16, 33, 60, 300):
        index = rng.integers(0, count + count // 2, count) % 40
        index[-1] = index[0]
        found, places = last_of_each(index, size)
        if places is None:
            raise AssertionError(f"{index} has a repeated index")
        wanted = {at: k for k, at in enumerate(index.tolist())}
        assert found.tolist() == sorted(wanted) and places.tolist() == [wanted[at] for at in sorted(wanted)]
        v, x = gb.Vector(int, size), np.arange(count)
        v[index] << gb.Vector.from_dense(x)
        assert v.to_dict() == wanted


def test_sums_and_maxima_of_numbers_that_are_none(monkeypatch):
    """NaN and infinities in a chunk, between chunks, everywhere, and where a vector has no entry."""
    monkeypatch.setattr(chunked_pass, "CHUNK", 64)

    @gb.graph.one_pass
    def both(x, y):
        return (x + y).max(), (x + y).sum(), x.max(), x + y

    for n in (1, 63, 64, 65, 200):
        for at in ([], [0], [n - 1], [n // 2], range(n), range(1, n)):
            for value in (np.nan, -np.inf, np.inf, -5.0):
                x = -np.arange(1.0, n + 1)
                x[list(at)] = value
                found = both(gb.Vector.from_dense(x), gb.Vector.from_scalar(0.0, n))
                greatest = np.fmax.reduce(x)
                assert found[0].value == found[2].value == (-np.inf if np.isnan(greatest) else greatest) or n < 0, (
                    n,
                    at,
                    value,
                )
                assert np.isclose(found[1].value, x.sum(), equal_nan=True)
                assert np.array_equal(found[3].to_dense(), x, equal_nan=True)


@pytest.mark.parametrize("backend", ["cpu", "numpy", "reference"])
def test_what_stands_at_absent_positions_is_no_value(backend):
    """Bitmaps of the same entries, with other values at all, some or none of the positions without one."""
    made, n = select.named(backend), 130
    words = to_bitmap(REFERENCE.build_vector(n, np.arange(0, n, 3), np.arange(44), None, dtypes.INT64)).words
    op = binary.eq["INT64"]
    for turn in range(4):
        x, y = np.arange(n), np.arange(n)
        absent = np.flatnonzero(np.arange(n) % 3)
        y[absent[:: (1, 2, 7, 10**6)[turn]]] += 1
        a, b = (BitmapVector(n, dtypes.INT64, words, values, 44) for values in (x, y))
        assert made.is_equal(a, b, op) and made.is_equal(a, b, op, (0.0, 0.0)), turn
        z = y.copy()
        z[63] += 1
        assert not made.is_equal(a, BitmapVector(n, dtypes.INT64, words, z, 44), op)


# ---------------------------------------------------------------- which backend


def test_names_of_backends():
    for name in ("cpu", "numpy", "reference"):
        assert select.named(name).name == name and select.named(name) is select.named(name)
        for number in ("0", "1", "x", ""):
            with pytest.raises(InvalidValue, match=f"'{name}:{number}' is not known"):
                select.named(f"{name}:{number}")
    for wrong in ("gpu", "", "cuda:x", "cuda:-1", "cuda:", "cuda:1.0", "CPU"):
        with pytest.raises(InvalidValue, match="is not known; choose one of auto, cuda, cpu"):
            select.named(wrong)


def test_the_device_of_a_rank(monkeypatch):
    """Of devices each rank takes the next one, unless somebody has named one."""
    monkeypatch.setattr(select, "_class_of", lambda name: type("Three", (), {"count_devices": lambda: 3}))
    assert [select.own_device("cuda", number) for number in range(5)] == [
        "cuda:0",
        "cuda:1",
        "cuda:2",
        "cuda:0",
        "cuda:1",
    ]
    assert [select.own_device(name, 2) for name in ("cuda:1", "cpu", "numpy")] == ["cuda:1", "cpu", "numpy"]
    for variable, number in (("GRB_TILE_DEVICE", 0), (None, 1)):
        told = types.SimpleNamespace(variable=lambda name: variable, get=lambda name, other=None: number)  # noqa: B023
        monkeypatch.setattr(select, "config", told)
        assert select.own_device("cuda", 2) == "cuda"


def test_blocks_and_threads_have_backends_of_their_own():
    """Also after an error in a block, and after one in a block within a block."""
    before = gb.config.get("backend"), select.current()
    seen = []

    def other():
        seen.append(select.current().name)
        with select.using("numpy"):
            seen.append(select.current().name)

    with select.using("reference"):
        for error in (None, KeyError, KeyboardInterrupt):
            try:
                with select.using("numpy"):
                    assert select.current().name == "numpy" == select.in_use().name
                    if error is not None:
                        raise error
            except (KeyError, KeyboardInterrupt):
                pass
            assert select.current().name == "reference"
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
    assert seen == [before[1].name, "numpy"] * 3
    assert (gb.config.get("backend"), select.current()) == before


def test_use_holds_in_the_block_around_it_and_after():
    before = select.current().name
    try:
        with select.using("numpy"):
            assert select.use("reference") is select.current() and select.current().name == "reference"
        assert select.current().name == "reference"
        select.use("numpy")
        assert select.current().name == "numpy"
    finally:
        select.use(before)


def test_a_backend_of_a_block_alone():
    """Nobody finds it by its name after the block, whichever way that ends."""
    made = type(select.named("numpy"))()
    for error in (None, ValueError):
        try:
            with select.entered("of a block", made) as entered:
                assert entered is made is select.current() and made.name == "of a block" == select.current().name
                if error is not None:
                    raise error
        except ValueError:
            pass
        assert "of a block" not in select._made
        with pytest.raises(InvalidValue):
            select.named("of a block")
