"""Dense matrices times vectors and each other, vectors broadcast over them: what their CSR gives, not over CSR."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.vectorised import dense_lines
from support.dense_operands import semiring_named
from support.seeds import generator

TYPES = ("FP64", "FP32", "INT8", "UINT64", "BOOL", "FC64")
SEMIRINGS = ("plus_times", "min_plus", "max_first", "any_second", "plus_pair", "any_pair", "times_minus", "lxor_lor",
             "eq_land", "plus_rdiv", "bxnor_bor", "ss.min_secondi", "ss.max_firsti1", "ss.plus_firstj",
             "ss.any_secondj1")  # fmt: skip


@pytest.fixture(params=["one block", "many blocks"])
def blocks(request, monkeypatch):
    """Blocks of 7 values, so that small matrices have many; or as they are."""
    if request.param == "many blocks":
        monkeypatch.setattr(dense_lines, "CHUNK", 7)
        monkeypatch.setattr(dense_lines, "HIGH", 3)
        monkeypatch.setattr(dense_lines, "LEAST", 1)


def dense(rng, shape, form, dtype):
    """(the matrix in that form, its CSR); values with NaN, -0.0 and infinities where the type has them."""
    values = rng.integers(0, 2 if dtype == "BOOL" else 9, shape).astype(gb.dtypes.lookup_dtype(dtype).np_type)
    if dtype[0] == "F":
        values[rng.random(shape) < 0.2] = -0.0
        values[rng.random(shape) < 0.1] = np.nan if dtype[1] == "P" else 3j
        values[rng.random(shape) < 0.1] = -np.inf if dtype[1] == "P" else 2
    if form == "iso":
        A = gb.Matrix.from_scalar(3, *shape, dtype)
    elif form[:4] == "full":
        A = getattr(gb.Matrix.ss, f"import_{form}")(values=values)
    else:
        present = rng.random(shape) < 0.6
        present[0] = False
        A = getattr(gb.Matrix.ss, f"import_{form}")(bitmap=present, values=values)
    plain = A.dup()
    plain.ss.config["sparsity_control"] = "sparse"
    A._store.forms = None
    assert plain.ss.format == "csr" and A.ss.format[:4] in ("full", "bitm")
    return A, plain


def vectors(rng, size, dtype):
    """Full, one value, half of the positions, one entry, none."""
    values = rng.integers(0, 5, size).astype(gb.dtypes.lookup_dtype(dtype).np_type)
    yield gb.Vector.from_dense(values)
    yield gb.Vector.from_scalar(2, size, dtype)
    for count in (size // 2 + 1, 1, 0):
        at = rng.choice(size, count, replace=False)
        yield gb.Vector.from_coo(at, values[at], dtype, size=size)


def same(found, wanted, name=""):
    """The same entries, of floats up to rounding; any of the products where the monoid is any."""
    assert found.dtype == wanted.dtype and found.nvals == wanted.nvals
    *at, values = found.to_coo()
    *places, others = wanted.to_coo()
    assert all(np.array_equal(x, y) for x, y in zip(at, places, strict=True))
    if not name.startswith(("any_s", "any_f", "ss.any_s")):
        np.testing.assert_allclose(values, others, rtol=1e-5 if values.dtype.itemsize == 4 else 1e-12)


@pytest.mark.parametrize("form", ["fullr", "fullc", "bitmapr", "bitmapc", "iso"])
@pytest.mark.parametrize("name", SEMIRINGS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_matrix_times_vector(name, form, blocks):
    for dtype in generator("types", name, form).choice(TYPES, 3, replace=False).tolist():
        rng = generator("dense matvec", name, form, dtype)
        try:
            op = semiring_named(name)[dtype]
        except KeyError:
            continue
        A, plain = dense(rng, (9, 13), form, dtype)
        for u in vectors(rng, 13, dtype):
            few, most = (gb.Vector.from_coo(at, True, size=9) for at in ([4], [0, 2, 3, 4, 5, 7, 8]))
            for mask in (None, few.S, ~few.S, most.S, ~most.V):
                with gb.plan(force="numpy"):
                    w, v = op(A @ u).new(mask=mask), op(u @ A.T.new()).new(mask=mask)
                    expected = gb.explain(2).plans
                    want = op(plain @ u).new(mask=mask), op(u @ plain.T.new()).new(mask=mask)
                assert [plan.method for plan in expected] == ["dense"] * 2
                assert "csr" not in (A._store.forms or {})
                same(w, want[0], name)
                same(v, want[1], name)


@pytest.mark.parametrize("name", ["plus_times", "min_plus", "max_second", "any_first", "times_minus"])
@pytest.mark.parametrize("forms", ["fullr fullr", "fullc fullr", "fullr fullc", "iso fullr", "fullc iso", "iso iso"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_full_times_full(name, forms, blocks):
    op = getattr(gb.semiring, name)
    for dtype, shape in (("FP64", (5, 6, 4)), ("INT8", (2, 30, 9)), ("FC64", (9, 30, 2)), ("UINT64", (4, 1, 5))):
        if dtype not in {t.name for t in op.types}:
            continue
        rng = generator("dense mxm", name, forms, dtype)
        A, plain_a = dense(rng, shape[:2], forms.split()[0], dtype)
        B, plain_b = dense(rng, shape[1:], forms.split()[1], dtype)
        with gb.plan(force="numpy"):
            C = op(A @ B).new()
            assert gb.explain().plans[0].method == "dense"
            D, masked = op(plain_a @ plain_b).new(), op(A @ B).new(mask=~gb.Matrix(int, *C.shape).S)
        same(C, D, name)
        same(masked, D, name)


@pytest.mark.parametrize("name", ["plus_times", "min_plus", "times_minus"])
def test_full_times_full_by_a_compiled_kernel(name):
    rng, op = generator("dense mxm compiled", name), getattr(gb.semiring, name)
    for *shape, form in ((7, 5, 3, "fullr"), (7, 5, 3, "fullc"), (70, 300, 600, "fullr")):  # the last in strips of X
        A, plain_a = dense(rng, shape[:2], "fullc", "UINT64")
        B, plain_b = dense(rng, shape[1:], form, "UINT64")
        with gb.plan(force="numba"):
            C = op(A @ B).new()
            assert gb.explain().plans[0].method == "dense"
        with gb.plan(force="gustavson"):
            assert C.isequal(op(plain_a @ plain_b).new(), check_dtype=True)


@pytest.mark.parametrize("form", ["fullr", "fullc"])
def test_matrix_times_vector_by_a_compiled_kernel(form):
    rng = generator("dense matvec compiled", form)
    A, plain = dense(rng, (40, 33), form, "INT8")
    u = gb.Vector.from_dense(rng.integers(0, 9, 33).astype(np.int8))
    mask = gb.Vector.from_coo(np.arange(0, 40, 2), True, size=40)
    for name in ("min_plus", "plus_minus"):
        op = getattr(gb.semiring, name)
        with gb.plan(force="numba"):
            found = [op(A @ u).new(), op(A @ u).new(mask=mask.S)]
        for w, allow in zip(found, (None, mask.S), strict=True):
            assert w.isequal(op(plain @ u).new(mask=allow), check_dtype=True)


def test_a_mask_that_leaves_few_rows():
    """Rows that are read one by one: those of a small mask, and those outside a large one."""
    rng = generator("dense matvec of few rows")
    A, plain = dense(rng, (40, 13), "fullr", "INT8")
    u = gb.Vector.from_dense(rng.integers(0, 9, 13).astype(np.int8))
    few, most = (gb.Vector.from_coo(at, True, size=40) for at in ([3, 30], np.delete(np.arange(40), [5, 20])))
    with gb.plan(force="numpy"):
        for mask in (few.S, ~most.S):
            same(A.mxv(u, "min_plus").new(mask=mask), plain.mxv(u, "min_plus").new(mask=mask))


@pytest.mark.parametrize("form", ["bitmapr", "bitmapc"])
@pytest.mark.sampled(1)
def test_rows_with_entries_in_one_block_alone(form, monkeypatch):
    """In the first, a middle or the last block of a row's segment: the row has a product."""
    monkeypatch.setattr(dense_lines, "CHUNK", 2)
    monkeypatch.setattr(dense_lines, "HIGH", 2)
    present = np.zeros((3, 48), bool)
    present[[0, 1, 2], [0, 20, 47]] = True
    A = getattr(gb.Matrix.ss, f"import_{form}")(bitmap=present, values=np.arange(144.0).reshape(3, 48))
    with gb.plan(force="numpy"):
        w = A.mxv(gb.Vector.from_scalar(1.0, 48), "min_first").new()
        assert gb.explain().plans[0].method == "dense"
    assert w.to_dict() == {0: 0.0, 1: 68.0, 2: 143.0}


def test_an_operator_of_another_type_than_the_array():
    """The values are cast to the operator's type, not its result alone."""
    a, u = np.arange(-600, 600, 7, dtype=np.int16)[:160].reshape(8, 20), np.arange(20, dtype=np.int8)
    A, x = gb.Matrix.from_dense(a), gb.Vector.from_dense(u)
    for name, wanted in (("min", np.minimum(a.astype(np.int8), u)), ("lt", a.astype(np.int8) < u)):
        found = getattr(gb.binary, name)["INT8"](A & x).new()
        assert found.ss.format == "fullr" and np.array_equal(found.to_dense(), wanted)


@pytest.mark.parametrize("form", ["bitmapr", "bitmapc"])
def test_a_sum_of_one_product_is_that_product(form, blocks):
    values, present = np.full((4, 70), 5.0), np.zeros((4, 70), bool)
    values[[0, 1, 2], [3, 69, 20]], present[[0, 1, 2], [3, 69, 20]] = (-0.0, np.nan, -np.inf), True
    A, u = getattr(gb.Matrix.ss, f"import_{form}")(bitmap=present, values=values), gb.Vector.from_scalar(1.0, 70)
    for name in ("plus", "times", "min", "max"):
        w = A.mxv(u, getattr(gb.semiring, f"{name}_first")).new()
        assert gb.explain().plans[0].method == "dense"
        assert w.to_coo()[1].tobytes() == np.array([-0.0, np.nan, -np.inf]).tobytes(), name
    G = gb.Matrix.ss.import_bitmapr(bitmap=present, values=np.full((4, 70), -4))
    gcd = gb.core.operator.Semiring.register_anonymous(gb.monoid.numpy.gcd, gb.binary.first)
    assert G.mxv(gb.Vector.from_scalar(1, 70), gcd).new().to_coo()[1].tolist() == [-4, -4, -4]


def test_no_product_is_left_out_by_blas():
    """0 times infinity is NaN, whatever a BLAS may skip."""
    n = 70
    values = np.full((n, n), np.inf)
    A, zeros = gb.Matrix.from_dense(values), gb.Vector.from_dense(np.arange(n) * 0.0 + np.eye(n)[0] * 0)
    Z = gb.Matrix.from_dense(np.triu(np.zeros((n, n))) + np.tril(np.full((n, n), -0.0), -1))
    for w in (A.mxv(zeros).new(), zeros.vxm(A).new(), A.mxm(Z).new(), Z.mxm(A).new()):
        assert np.isnan(w.to_coo()[-1]).all()


@pytest.mark.parametrize("form", ["fullr", "fullc", "bitmapr", "iso"])
@pytest.mark.parametrize("name", ["times", "minus", "first", "second", "pair", "lt", "pow"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_vector_broadcast_over_a_dense_matrix(name, form, blocks):
    op = getattr(gb.binary, name)
    for left, right in (("FP64", "INT8"), ("INT8", "INT8"), ("BOOL", "FP32")):
        rng = generator("dense broadcast", name, form, left)
        A, plain = dense(rng, (9, 13), form, left)
        u, v = (next(vectors(rng, size, right)) for size in (13, 9))
        M = dense(rng, (9, 13), "bitmapr", "BOOL")[0]
        for mask in (None, M.S, ~M.V, plain.S):
            for X, x in ((A, plain), (A.T, plain.T.new())):
                row, column = (u, v) if X is A else (v, u)
                if X is not A and mask is not None:
                    continue
                same(op(X & row).new(mask=mask), op(x & row).new(mask=mask))
                same(op(column & X).new(mask=mask), op(column & x).new(mask=mask))
                if form[:4] == "full":
                    same(op(X | row).new(mask=mask), op(x | row).new(mask=mask))


def test_a_broadcast_makes_no_copy_of_the_vector(monkeypatch):
    A, u = gb.Matrix.from_dense(np.ones((5, 6))), gb.Vector.from_dense(np.arange(6.0))
    monkeypatch.setattr(np, "tile", None)
    monkeypatch.setattr(np, "repeat", None)
    assert A.ewise_mult(u, "times").new().to_dense().tolist() == [[0.0, 1, 2, 3, 4, 5]] * 5
    assert (A + u).new().reduce_scalar("plus").new() == 30 + 75


def test_concat_of_dense_matrices():
    rng = generator("dense concat")
    for forms in (("fullr", "fullc", "iso", "fullr"), ("bitmapr", "fullc", "bitmapc", "iso"), ("iso",) * 4):
        for (high, low), (left, right) in (((3, 2), (4, 1)), ((3, 0), (2, 5)), ((1, 1), (1, 1))):
            shapes = (high, left), (high, right), (low, left), (low, right)
            both = [dense(rng, shape, form, "INT8") if min(shape) else [gb.Matrix("INT8", *shape)] * 2
                    for shape, form in zip(shapes, forms, strict=True)]  # fmt: skip
            dense_tiles, plain_tiles = (
                [[pair[k] for pair in both[:2]], [pair[k] for pair in both[2:]]] for k in (0, 1)
            )
            for dtype in (None, "FP32"):
                C, D = gb.ss.concat(dense_tiles, dtype=dtype), gb.ss.concat(plain_tiles, dtype=dtype)
                assert C.isequal(D, check_dtype=True) and C.ss.format[:4] in ("full", "bitm")
            assert all("csr" not in (A._store.forms or {}) for row in dense_tiles for A in row)
    huge = gb.Matrix.from_scalar(1, 2**59, 2**59)
    assert gb.ss.concat([[huge, huge]]).nbytes == 8
    full, bitmap = gb.Vector.from_dense([1, 2, 3]), gb.Vector.from_coo(range(30), 4, size=40)
    assert gb.ss.concat([full, bitmap, full]).to_coo()[1].tolist() == [1, 2, 3, *[4] * 30, 1, 2, 3]
