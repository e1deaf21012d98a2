"""User-defined operators and types through the primitives: a function sees stored values only; records keep their
fields."""

import numpy as np
import pytest
from backends.agree import assert_same

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select as choose
from grb_tile.operators import get_typed_op
from grb_tile.operators.binary import BinaryOp
from grb_tile.operators.monoid import Monoid
from grb_tile.operators.semiring import Semiring
from grb_tile.operators.unary import UnaryOp
from grb_tile.storage import convert
from grb_tile.storage.store import BitmapVector, SparseVector, StoredMask
from support.seeds import generator

REFERENCE = choose.named("reference")


@pytest.fixture(params=["numpy", "cpu"])
def backend(request):
    return choose.named(request.param)


def test_a_function_sees_stored_values_only(backend):
    """Absent places of a bitmap hold rubbish that the function would trip over."""
    seen = []

    def inverse(x):
        seen.append(float(x))
        if x == 0:
            raise ZeroDivisionError("an absent place was read")
        return 1.0 / x

    op = UnaryOp.register_anonymous(inverse)["FP64"]
    flags = np.arange(100) % 3 == 0
    u = convert.to_bitmap(SparseVector(100, dtypes.FP64, np.flatnonzero(flags).astype(np.int32), np.arange(34.0) + 1))
    assert u.format == "bitmap" and not u.values[1]
    if op.lowerable:
        pytest.fail("the test wants a function that NumPy calls entry by entry; this one was lowered")
    got = backend.apply(u, op)
    assert_same(got, REFERENCE.apply(u, op))
    assert sorted(seen[-34:]) == sorted(u.values[flags].tolist())


@pytest.mark.parametrize("primitive", ["union", "intersect"])
def test_a_function_sees_stored_values_of_a_common_structure_only(backend, primitive):
    seen = []

    def quotient(x, y):
        seen.append((float(x), float(y)))
        if x == 0:
            raise ZeroDivisionError("an absent place was read")
        return y / x

    op = BinaryOp.register_anonymous(quotient)["FP64"]
    assert not op.lowerable
    at = np.arange(0, 300, 3, dtype=np.int32)
    x = convert.to_bitmap(SparseVector(300, dtypes.FP64, at, np.arange(100.0) + 1))
    y = x.with_values(dtypes.FP64, x.values * 2, False)  # with the presence bits of x
    seen.clear()
    got = getattr(backend, primitive)(x, y, op)
    assert sorted(seen) == [(i, 2 * i) for i in np.arange(100.0) + 1]
    assert_same(got, getattr(REFERENCE, primitive)(x, y, op))


def test_user_semiring(backend):
    far = BinaryOp.register_anonymous(lambda x, y: x + 2 * y)
    larger = BinaryOp.register_anonymous(lambda x, y: x if x > y else y, "any")  # a name that promises too much
    most = Semiring.register_anonymous(Monoid.register_anonymous(larger, -(2**62)), far)
    rng = np.random.default_rng(1)
    picked = rng.random((30, 30)) < 0.2
    i, j = picked.nonzero()
    A = convert.compressed(30, 30, dtypes.INT64, i, j, rng.integers(0, 99, i.shape[0]))
    x = SparseVector(30, dtypes.INT64, np.arange(0, 30, 2, dtype=np.int32), rng.integers(0, 99, 15))
    semiring = get_typed_op(most, dtypes.INT64, kind="semiring")
    want = REFERENCE.matvec_rows(A, x, semiring)
    assert_same(backend.matvec_rows(A, x, semiring), want)
    assert_same(backend.matvec_cols(convert.transpose_of(A), x, semiring), want)
    assert_same(backend.matmul(A, A, semiring), REFERENCE.matmul(A, A, semiring))
    assert backend.reduce(x, semiring.monoid) == x.values.max()


@pytest.fixture(scope="module")
def point():
    return dtypes.register_anonymous(np.dtype([("x", np.int32), ("y", np.float64)], align=True), "point")


def records(point, count):
    values = np.zeros(count, point.np_type)
    values["x"], values["y"] = np.arange(count), np.arange(count) / 2
    return values


def test_records_travel_whole(backend, point):
    u = backend.build_vector(9, np.array([7, 1, 4]), records(point, 3), None, point)
    v = SparseVector(9, point, np.array([1, 8], np.int32), records(point, 2))
    indices, values = backend.tuples_vector(u)
    assert indices.tolist() == [1, 4, 7] and values["x"].tolist() == [1, 2, 0]
    wide = BitmapVector(9, point, None, records(point, 9), 9)
    for a, b in ((u, v), (u, wide), (wide, v), (convert.to_bitmap(u), convert.to_bitmap(v))):
        united = backend.union(a, b, None)
        second = get_typed_op(BinaryOp._find("second"), point, point)
        assert (
            backend.tuples_vector(backend.union(a, b, second))[1].tolist() == backend.tuples_vector(united)[1].tolist()
        )
        expected = dict(zip(*(t.tolist() for t in backend.tuples_vector(a)), strict=True))
        expected.update(zip(*(t.tolist() for t in backend.tuples_vector(b)), strict=True))
        assert backend.tuples_vector(united)[1].tolist() == [expected[k] for k in sorted(expected)]
        kept = backend.restrict(a, StoredMask(b, True))
        assert set(backend.tuples_vector(kept)[0].tolist()) == (
            set(backend.tuples_vector(a)[0].tolist()) - set(backend.tuples_vector(b)[0].tolist())
        )
    assert backend.tuples_vector(backend.gather_vector(u, np.array([4, 4, 0])))[1]["y"].tolist() == [1.0, 1.0]
    A = backend.build_matrix(5, 5, np.array([4, 0]), np.array([0, 3]), records(point, 2), None, point)
    assert backend.tuples_matrix(backend.transpose(A))[2]["x"].tolist() == [1, 0][::-1]


def test_the_backend_option(monkeypatch):
    from grb_tile.config import config

    before = choose.current().name
    with config.set(backend="reference"):
        assert choose.current().name == "reference"
        with choose.using("numpy"):
            assert choose.current().name == "numpy"
        assert choose.current().name == "reference"
    assert choose.current().name == before
    from grb_tile.exceptions import InvalidValue

    with pytest.raises(InvalidValue, match="cpu, numpy, reference"):
        choose.use("abacus")
    assert choose.current().name == before


@pytest.mark.parametrize(("name", "function"), [("min", "plus"), ("plus", "max"), ("any", "plus"), ("times", "plus")])
@pytest.mark.parametrize("iso", [False, True])
def test_names_of_operators_promise_nothing(name, function, iso):
    """A user's monoid or multiply that is called like one of the specification gives what another name gives."""

    def made(kind):
        body = {"plus": lambda x, y: x + y, "max": lambda x, y: x if x > y else y}[function]
        return BinaryOp.register_anonymous(body, kind)

    rng = generator("names of operators", name, iso)
    present = rng.random((2, 6, 6)) < 0.5
    values = np.full((2, 6, 6), 2) if iso else rng.integers(1, 3, (2, 6, 6))
    A, B = (
        gb.Matrix.from_coo(*part.nonzero(), v[part], nrows=6, ncols=6) for part, v in zip(present, values, strict=True)
    )
    mask = gb.Matrix.from_coo([0, 2, 4], [1, 2, 5], True, nrows=6, ncols=6)

    def results(semiring, monoid):
        yield A.mxm(B, semiring).new()
        yield A.mxm(B, semiring).new(mask=mask.S)
        yield gb.Vector.from_scalar(1, 6).vxm(A, semiring).new()
        with gb.config.set(autocompute=True):
            yield A.mxm(B, semiring).reduce_rowwise(monoid).new()
            yield A.mxm(B, semiring).reduce_columnwise(monoid).new()
            yield A.mxm(B, semiring).reduce_scalar(monoid).new()

    def agree(one, other):
        for k, (x, y) in enumerate(zip(results(*one), results(*other), strict=True)):
            assert x.isequal(y), (k, x, y)

    for backend in ("cpu", "numpy"):
        with gb.config.set(backend=backend):
            for multiply in ("pair", "first", "second", "times"):
                monoids = [Monoid.register_anonymous(made(called), 0, called) for called in (name, "unlike")]
                agree(*((Semiring.register_anonymous(m, getattr(gb.binary, multiply)), m) for m in monoids))
            for monoid in (gb.monoid.plus, gb.monoid.min):
                multiplies = [made(called) for called in (name, "unlike")]
                agree(*((Semiring.register_anonymous(monoid, op), monoid) for op in multiplies))
