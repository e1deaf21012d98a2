"""Matrices that change in a program's loop: the same entries as turn by turn, within patterns that stay.

On the emulation, which has no graphs, turns run one by one under the rules of a capture, or as one kernel.
"""

import linecache
import warnings

import numpy as np
import pytest
from backends.cuda.test_program_lowerings import shape  # noqa: F401  (a fixture)
from backends.cuda.test_programs import N, agree, drawn, matrix, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile.exceptions import CaptureWarning
from grb_tile.planner import tuning
from grb_tile.programs import bounded
from grb_tile.storage.store import Dense


def integers(seed, symmetric=True, entries=None):
    """A matrix of INT64 from 1 to 8."""
    A = matrix(seed, symmetric)
    return (A * 8.0).new(int) if entries is None else (A * 8.0).new(int).ss.selectk("first", entries)


def same(found, wanted):
    """Are vectors, matrices and numbers equal?"""
    found, wanted = (x if isinstance(x, tuple) else (x,) for x in (found, wanted))
    return all(
        a.isequal(b, check_dtype=True) if isinstance(a, gb.Matrix) else agree((a,), (b,))
        for a, b in zip(found, wanted, strict=True)
    )


def truss(C, k):
    plus_pair = gb.semiring.plus_pair[gb.dtypes.INT64]
    before, edges = -1, C.nvals
    while edges != before:
        C(C.S, replace=True) << plus_pair(C @ C.T)
        C << gb.select.valuege(C, k - 2)
        before, edges = edges, C.nvals
    return C


def rebound(C, A, turns):
    """C is another matrix in each turn, H one of the turn."""
    for _ in gb.loop(max_turns=turns):
        H = C.select("tril").new()
        C = gb.binary.plus(H | A).new()
        C << C.select("<=", 30)
    return C


def reduced(C, v, turns):
    """Sums of rows and columns, products with vectors, an entry's place."""
    total = 0
    for _ in gb.loop(max_turns=turns):
        w = C.reduce_rowwise("plus").new()
        u = C.reduce_columnwise("max").new()
        v("plus") << C.mxv(w, "min_plus")
        v("max") << C.T.mxv(u, "plus_minus")
        v("plus") << u.vxm(C, "max_second")
        C << C.select("offdiag")
        C("plus") << C.apply("rowindex")
        C << C.select("<=", 200)
        total += C.reduce_scalar("plus").new().value + C.nvals
    return C, v, total


def masked(C, D, A, turns):
    """Masks of values and complements, accumulators, replace, a comparison."""
    k = 0
    while k < turns:
        old = C.dup()
        C(D.V, replace=True) << C.ewise_add(A, "minus")
        D(~C.S) << D.apply("ainv")
        D("times", mask=A.S) << C
        C(C.V, "plus") << D.ewise_mult(A, "min")
        D("plus", mask=A.S) << 3
        C(C.S) << 5
        C(D.S) << D
        C("plus") << A
        k += 1
        if C.isequal(old):
            break
    return C, D, k


def branched(C, A, turns):
    """A number of the device chooses."""
    for _ in gb.loop(max_turns=turns):
        if C.nvals > 200:
            C << C.select(">", 2)
        else:
            C << gb.binary.plus(C | A)
        C << C.apply("minus", right=1)
    return C


def products(C, A, turns):
    """With a matrix that stays, transposed ones, and a select that follows."""
    for _ in gb.loop(max_turns=turns):
        C(A.S) << A.mxm(C, "plus_times")
        C(C.S, "plus") << C.T.mxm(A, "max_first")
        C << C.apply("numpy.mod", right=31).new(int)
        H = gb.semiring.plus_pair[gb.dtypes.INT64](C @ C).new(mask=C.S)
        C("min") << H.select(">=", 1)
        C << C.ewise_mult(C.T, "max")
    return C


def decomposed(C, T):
    """T: the greatest k of a truss for each edge; k is a number of the loop, and a matrix is multiplied by it."""
    plus_pair = gb.semiring.plus_pair[gb.dtypes.INT64]
    k = 2
    while C.nvals:
        S = C.apply("second", right=0).new()
        S("plus", mask=C.S) << plus_pair(C @ C.T)
        keep = (S >= k - 2).new()
        before = C.nvals
        C(keep.V, replace=True) << C
        T(C.S) << C * k
        if C.nvals == before:
            k += 1
    return C, T, k


CASES = {
    decomposed: lambda k: (integers(21).apply("one").new(), gb.Matrix(int, N, N)),
    truss: lambda k: (integers(1), 4),
    rebound: lambda k: (integers(2), integers(3), 3 + k),
    reduced: lambda k: (integers(4, False), gb.Vector.from_dense(np.arange(N) + k), 4),
    masked: lambda k: (integers(5), integers(6, False), integers(7), 4),
    branched: lambda k: (integers(8), integers(9), 5),
    products: lambda k: (integers(10), integers(11, False), 3),
}
A_OF = {}


def operands_of(function, k):
    """Arguments of the k-th call: matrices that stay are the same objects, the others are made anew."""
    found = CASES[function](k)
    fixed = A_OF.setdefault(function, found)
    stays = {rebound: (1,), masked: (2,), branched: (1,), products: (1,)}.get(function, ())
    return tuple(fixed[j] if j in stays else x for j, x in enumerate(found))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", CASES)
def test_every_call_as_turn_by_turn(function):
    program = gb.program(function, strict=True)
    A_OF.pop(function, None)
    for k in range(5):
        wanted = function(*operands_of(function, k))
        assert same(program(*operands_of(function, k)), wanted), (k, program.explain())
        assert ("turns on the device" in program.explain()) == (k > 0), program.explain()
        assert k == 0 or f"matrices of {N} x {N} within" in program.explain()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("function", [truss, products, masked])
def test_matrices_as_one_kernel(function, shape):  # noqa: F811
    program = gb.program(function, strict=True)
    A_OF.pop(function, None)
    for k in range(3):
        wanted = function(*operands_of(function, k))
        assert same(program(*operands_of(function, k)), wanted), (k, program.explain())
    assert "one kernel" in program.explain() or function is not truss


def test_the_matrix_of_the_caller_is_written():
    def dropped(C, turns):
        for k in range(turns):  # noqa: B007
            C << C.select(">", 2)
            C("minus") << C.apply("one")

    program = gb.program(dropped, strict=True)
    for _ in range(3):
        C, D = integers(12), integers(12)
        program(C, 3)
        dropped(D, 3)
        assert same(C, D)
    assert "turns on the device" in program.explain()


@pytest.mark.parametrize("more", [1, 40])
def test_entries_outside_the_bound(more):
    """A later call begins with `more` entries elsewhere: the bound gets them, and nothing is lost."""
    A = integers(13)
    rows, cols, values = A.to_coo()

    def begun(extra):
        C = gb.Matrix.from_coo(rows, cols, values, nrows=N, ncols=N)
        free = [p for p in range(N * N) if C.get(p // N, p % N) is None][:extra]
        for p in free:
            C[p // N, p % N] = 7
        return C

    def grown(C, turns):
        for _ in gb.loop(max_turns=turns):
            C << C.apply("plus", right=1)
        return C

    program = gb.program(grown, strict=True)
    for extra in (0, 0, 0, more, more, 0):
        assert same(program(begun(extra), 3), grown(begun(extra), 3))
        assert program(begun(extra), 3).nvals == A.nvals + extra
    assert "turns on the device" in program.explain()


def test_what_is_added_in_a_turn_belongs_to_the_bound():
    def added(C, A, B, turns):
        for k in gb.loop(max_turns=turns):
            C("plus") << A
            if k == 2:
                C("plus") << B
        return C

    program, A, B = gb.program(added, strict=True), integers(14, entries=3), integers(15, False)
    for turns in (4, 4, 4, 1, 5):
        C, D = (integers(16, entries=5) for _ in range(2))
        assert same(program(C, A, B, turns), added(D, A, B, turns))
    assert "turns on the device" in program.explain()


REFUSED = {
    "a product without a mask": ("C << C.mxm(A, 'plus_times')", "may have entries anywhere"),
    "at a complement": ("C(~A.S) << C.mxm(A, 'plus_times')", "may have entries anywhere"),
    "a diagonal": ("v << C.diag()", "that changes in the loop|that the device cannot carry|Bounded"),
    "positions as operands": ("C << gb.binary.ss.firsti(C & A)", "it reads positions"),
    "a part": ("C[0, 1] << 2", ""),
    "rows": ("v << C[0, :]", ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_runs_turn_by_turn(name, monkeypatch):
    monkeypatch.setattr(bounded, "MOST_ANYWHERE", N * N - 1)
    statement, reason = REFUSED[name]
    text = (
        "def refused(C, A, v, turns):\n    for turn in gb.loop(max_turns=turns):\n"
        f"        {statement}\n        C << C.select('<=', 99)\n    return C, v\n"
    )
    file = f"<refused {name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    scope = {"gb": gb}
    exec(compile(text, file, "exec"), scope)
    program, A = gb.program(scope["refused"]), integers(17)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CaptureWarning)
        for _ in range(6):
            got, wanted = (
                call(integers(18), A, gb.Vector.from_dense(np.arange(N)), 4) for call in (program, scope["refused"])
            )
            assert same(got, wanted)
    assert "turns from Python" in program.explain()
    assert len(caught) == 1 and ("line" in str(caught[0].message))
    assert any(part in str(caught[0].message) for part in reason.split("|")), caught[0].message


def test_a_product_of_many_look_ups_runs_from_python(monkeypatch):
    monkeypatch.setattr(tuning, "GPU_BOUNDED_LOOKUPS", 1000)
    program = gb.program(truss)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        for _ in range(4):
            assert same(program(integers(1), 4), truss(integers(1), 4))
    assert "look-ups" in program.explain()


def test_a_matrix_that_changes_in_a_loop_within():
    def nested(C, v, turns):
        for _ in gb.loop(max_turns=turns):
            C << C.select(">", 1)
            while v.reduce("max") > 5:
                v << v.apply("minus", right=C.nvals)
        return C, v

    program = gb.program(nested)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptureWarning)
        for _ in range(4):
            found, wanted = (call(integers(19), gb.Vector.from_dense(np.arange(N)), 2) for call in (program, nested))
            assert same(found, wanted)


def test_a_matrix_that_a_function_writes():
    def helper(C):
        C << C.select(">", 2)

    def hidden(C, turns):
        for _ in gb.loop(max_turns=turns):
            helper(C)
        return C

    program = gb.program(hidden, strict=True)
    C = integers(20)
    program(C.dup(), 2)
    program, found = gb.program(hidden), []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CaptureWarning)
        kept = integers(20)
        for _ in range(3):
            found.append(program(kept, 2).dup())
            kept << integers(20)
    assert all(same(x, hidden(integers(20), 2)) for x in found)
    assert all("is written in the loop" in str(w.message) for w in caught)


STATEMENTS = (
    "C << C.ewise_mult(A, 'plus')", "C('max') << A", "C(C.S, replace=True) << C.mxm(C.T, 'plus_pair')",
    "C << C.select('<=', 40)", "C << D.ewise_add(C, 'min')", "C, D = D, C", "D = C.dup()",
    "D(C.V, replace=True) << A", "D(~C.S) << D.apply('minus', right=2)", "k += 2", "D << C.select('tril')",
    "v << C.reduce_rowwise('plus')", "v('max') << D.mxv(v, 'max_second')", "D('plus', mask=A.S) << C.T",
    "D(A.S) << A.mxm(D, 'plus_first')", "D(C.S) << 3", "C(A.S) << 2", "C << D", "D << A",
    "C = gb.binary.max(C | D).new()", "D << D.apply('ainv')",
)  # fmt: skip
ENDS = ("if k > 9: break", "if C.isequal(D): break", "if C.nvals < 60: break", "k += 1", "k += D.nvals")


@pytest.mark.parametrize("case", [0, 1, 2, 3, *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 60))])
def test_random_programs(case):
    """A loop of statements at random: the same matrices, vectors and numbers as turn by turn."""
    text, function = drawn("program with matrices", case, STATEMENTS, ENDS, "C, D, v", most=5)
    A = integers(case, case % 2 == 0)
    program = gb.program(function)
    for turns in (4, 4, 4, 1, 6):
        kept = [
            (
                integers(case + 1),
                integers(case + 2, entries=3),
                gb.Vector.from_coo(range(0, N, 3), 1, size=N, dtype=int),
            )
            for _ in range(2)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptureWarning)
            found = program(A, *kept[0], turns)
        wanted = function(A, *kept[1], turns)
        assert same(found, wanted), (text, program.explain())
        assert same(kept[0], kept[1]), (text, program.explain())
    print(text, program.explain())


WIDE = 200_000  # rows, few of which have entries: their numbers are an array of their own
ENTRIES = [3, 8, 12, 4, 9, 13], [1, 2, 3, 1, 2, 3]


def spread():
    """P and Q, which have one array of columns, in other rows."""
    S = gb.Matrix.from_coo([0, 5, 9], [1, 2, 3], 1, nrows=WIDE - 9, ncols=WIDE)
    P, Q = gb.Matrix(int, WIDE, WIDE), gb.Matrix(int, WIDE, WIDE)
    P[3 : WIDE - 6, :] << S
    Q[4 : WIDE - 5, :] << S
    assert P._store.indices is Q._store.indices
    return P, Q


def test_matrices_that_stay_and_share_their_columns():
    def function(C, P, Q):
        for _ in gb.loop(max_turns=3):
            C("plus") << C.ewise_mult(P, "second")
            C("times") << C.ewise_mult(Q, "first")
        return C

    program, (P, Q) = gb.program(function, strict=True), spread()
    for k in range(3):
        C, D = (gb.Matrix.from_coo(*ENTRIES, [1, 2, 3, 4, 5, 6 + k], nrows=WIDE, ncols=WIDE) for _ in range(2))
        assert same(program(C, P, Q), function(D, P, Q))
    assert "turns on the device" in program.explain()


def test_matrices_that_change_and_share_their_columns():
    def function(C, D):
        for _ in gb.loop(max_turns=3):
            C << C.apply("plus", right=1)
            D << D.apply("plus", right=2)
        return C, D

    program = gb.program(function, strict=True)
    for _ in range(3):
        assert same(program(*spread()), function(*spread()))
    assert "within 6 positions" in program.explain()


def by_structure(C, A):
    for _ in gb.loop(max_turns=3):
        C(A.S) << 4
        C("plus") << C.ewise_mult(C, "times")
    return C


def by_value(C, A):
    for _ in gb.loop(max_turns=3):
        C(A.V) << 4
        C("plus") << C.ewise_mult(C, "times")
    return C


@pytest.mark.parametrize("function", [by_structure, by_value])
def test_a_value_at_a_dense_mask_that_stays(function):
    A = gb.Matrix.from_dense(np.arange(36).reshape(6, 6) % 5, missing_value=0)
    assert type(A._store) is Dense and A.nvals == 28
    program = gb.program(function, strict=True)
    for _ in range(3):
        C, D = (gb.Matrix.from_dense(np.arange(36).reshape(6, 6)) for _ in range(2))
        assert same(program(C, A), function(D, A))
    assert "turns on the device" in program.explain()
