"""SpMM and SDDMM on the device: what products of CSR give on the host, for rows that cross chunks too."""

import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.algorithms import pagerank_multi
from grb_tile.planner import tuning
from support.dense_operands import dense, semiring_named, sparse
from support.seeds import generator

SEMIRINGS = [("plus_times", "FP32"), ("plus_times", "FP64"), ("min_plus", "INT32"), ("lor_land", "BOOL"),
             ("any_second", "FP32"), ("plus_pair", "INT64"), ("ss.min_secondi", "INT64"), ("times_plus", "INT16"),
             ("plus_times", "FC64"), ("any_pair", "BOOL")]  # fmt: skip
KINDS = ("full", "bitmap", "iso")
CASES = [(s, KINDS[(k + shift) % 3]) for k, s in enumerate(SEMIRINGS) for shift in (0, 1)]


def of_device(make, operands):
    """make(*operands) computed on the device."""
    with using_shim():
        found = make(*operands)
        return found, str(gb.explain())


def agree(found, wanted, name):
    if name.startswith("any_"):  # any of the products
        found, wanted = found.apply("one").new(), wanted.apply("one").new()
    assert found.isequal(wanted, check_dtype=True)


@pytest.mark.parametrize(("semiring", "kind"), CASES)
def test_spmm(semiring, kind):
    name, dtype = semiring
    op, rng = semiring_named(name), generator("spmm on the device", name, kind)
    for n, width, density in ((1100, 16, 0.02), (40, 5, 0.1), (700, 64, 0.02), (33, 134, 0.2)):
        A = sparse(rng, (20, n), density, dtype, long_row=True)
        X, plain = dense(rng, (n, width), kind, dtype)
        found, plan = of_device(lambda A, X: op(A @ X).new(), (A, X))
        assert "spmm" in plan
        agree(found, op(A @ plain).new(), name)


@pytest.mark.parametrize(
    ("semiring", "kind"),
    [
        (("plus_times", "FP32"), "full"), (("min_plus", "INT64"), "full"), (("plus_times", "FC64"), "full"),
        (("plus_times", "FP64"), "iso"), (("ss.min_secondi", "INT64"), "full"),
    ],
)  # fmt: skip
def test_sddmm(semiring, kind):
    name, dtype = semiring
    op, rng = semiring_named(name), generator("sddmm on the device", name, kind)
    for depth in (1, 7, 64, 130, 1030):
        A, plain_a = dense(rng, (12, depth), "full", dtype)
        B, plain_b = dense(rng, (40, depth), kind, dtype)
        M = sparse(rng, (12, 40), 0.1, "BOOL", long_row=True)
        found, plan = of_device(lambda A, B, M: op(A @ B.T).new(mask=M.S), (A, B, M))
        assert "sddmm" in plan
        agree(found, op(plain_a @ plain_b.T).new(mask=M.S), name)


@pytest.mark.slow
def test_personalised_pagerank_is_spmm():
    """Also for the sums over dangling nodes: a full matrix times a full vector is no product over CSR."""
    rng = generator("personalised pagerank on the device")
    A, sources = sparse(rng, (40, 40), 0.05, "FP64"), [3, 17, 25]
    options = {"tol": 0, "max_iter": 4}
    wanted = pagerank_multi(A, sources, **options).ranks
    with using_shim():
        found = pagerank_multi(A, sources, **options).ranks
        methods = {plan.method for plan in gb.explain(16).plans if plan.operation in ("matmul", "matvec")}
        assert "spmm" in methods and "dense" in methods, methods
    assert found.isclose(wanted, rel_tol=1e-12, check_dtype=True)


@pytest.mark.parametrize("kind", ["full", "iso", "bitmap"])
@pytest.mark.parametrize("semiring", [("plus_times", "FP32"), ("min_minus", "INT32"), ("ss.min_secondi", "INT64")])
def test_a_dense_matrix_times_a_vector(semiring, kind, monkeypatch):
    name, dtype = semiring
    op, rng = semiring_named(name), generator("dense matvec on the device", name, kind)
    for shape, few in (((5, 70), 4096), ((40, 3), 4096), ((5, 70), 10)):  # the last: few rows, long ones
        monkeypatch.setattr(tuning, "DENSE_DOTS", few)
        A, plain = dense(rng, shape, kind, dtype)
        u, v = (gb.Vector.from_dense(rng.integers(1, 9, n), dtype=dtype) for n in shape[::-1])
        mask = gb.Vector.from_coo(range(0, shape[0], 2), True, size=shape[0])
        found, plan = of_device(lambda A, u, m: (op(A @ u).new(), op(A @ u).new(mask=~m.S)), (A, u, mask))
        if kind == "full" and op[dtype].binaryop.positional is None:
            assert "dense_array" in plan
        agree(found[0], op(plain @ u).new(), name)
        agree(found[1], op(plain @ u).new(mask=~mask.S), name)
        agree(of_device(lambda A, v: op(v @ A).new(), (A, v))[0], op(v @ plain).new(), name)


@pytest.mark.parametrize(("dtype", "by_library"), [("FP64", True), ("FP32", True), ("INT64", False)])
def test_full_matrices_are_multiplied_by_the_library_of_the_device(dtype, by_library):
    """Where it has their product; in every order of the operands, and with a mask."""
    rng = generator("a full matrix times a full one", dtype)
    A, B = (dense(rng, shape, "full", dtype)[0] for shape in ((7, 12), (12, 9)))
    M = sparse(rng, (7, 9), 0.9, "BOOL")
    for a, b in ((A, B), (B.T, A.T), (A.T.new().T, B.T.new().T)):
        mask = M if a.shape[0] == 7 else M.T.new()
        for keep in (None, mask.S, ~mask.S):
            found, plan = of_device(lambda a, b, keep=keep: gb.semiring.plus_times(a @ b).new(mask=keep), (a, b))
            if keep is None:
                assert ("spmm" in plan) != by_library
            agree(found, gb.semiring.plus_times(a @ b).new(mask=keep), "plus_times")
    for value in (float("nan"), float("inf")) if dtype != "INT64" else ():
        A[3, 4] = value
        B[4, 2] = 0
        found, _ = of_device(lambda: gb.semiring.plus_times(A @ B).new(), ())
        assert found.isclose(gb.semiring.plus_times(A @ B).new()) or str(found.to_dense()) == str(
            gb.semiring.plus_times(A @ B).new().to_dense()
        )


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
@pytest.mark.parametrize("kinds", [("bitmap", "bitmap"), ("bitmap", "full"), ("full", "bitmap")], ids="-".join)
def test_bitmaps_are_multiplied_by_the_library_of_the_device(dtype, kinds):
    """With zeros at absent positions: rows and columns without entries, every order of the operands, masks; and by the
    general kernel where an absent entry would meet a value that is not finite, beside which it is no zero."""
    rng = generator("a bitmap times a bitmap", dtype, *kinds)
    for m, n, k in ((7, 12, 9), (13, 5, 70), (1, 66, 1)):
        A, B = (dense(rng, shape, kind, dtype)[0] for shape, kind in zip(((m, n), (n, k)), kinds, strict=True))
        if kinds[1] == "bitmap" and k > 1:
            del B[:, 4]
        M = sparse(rng, (m, k), 0.9, "BOOL")
        for a, b in ((A, B), (B.T, A.T), (A.T.new().T, B.T.new().T)):
            mask = M if a.shape[0] == m else M.T.new()
            for keep in (None, mask.S, ~mask.S):
                found, plan = of_device(lambda a, b, keep=keep: gb.semiring.plus_times(a @ b).new(mask=keep), (a, b))
                if keep is None:
                    assert "spmm" not in plan
                agree(found, gb.semiring.plus_times(a @ b).new(mask=keep), "plus_times")
        for value in (float("nan"), float("inf"), -float("inf")):
            a, b = A.dup(), B.dup()
            x = a if kinds[1] == "bitmap" else b  # beside it entries are absent
            x[0, 0] = value
            found, plan = of_device(lambda a, b: gb.semiring.plus_times(a @ b).new(), (a, b))
            assert "spmm" in plan
            want = gb.semiring.plus_times(a @ b).new()
            assert found.isequal(want) or [str(part) for part in found.to_coo()] == [str(p) for p in want.to_coo()]
