"""Warm calls of programs: few Python functions, and the results of the plain function whatever is given or changes.

On the emulation the loops run as one persistent kernel; what is bound are calls of loops that the device has recorded.
"""

import gc
import sys
import threading
import warnings

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, using_shim
from grb_tile.backends.cuda.programs import bound_loop, persistent
from grb_tile.exceptions import CaptureWarning
from support import seeds

N = 130
# functions of grb_tile in a warm call
MOST = {"bfs": 136, "reached": 68, "pagerank": 44, "bellman_ford": 112, "least_labels": 37}


@pytest.fixture(autouse=True)
def as_one_kernel(monkeypatch):
    monkeypatch.setitem(persistent.LOWERING, "persistent", "always")
    with using_shim() as backend, warnings.catch_warnings():
        warnings.simplefilter("error", CaptureWarning)
        yield backend


def matrix(seed):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, N, 2 * N), rng.integers(0, N, 2 * N)
    A = gb.Matrix.from_coo(rows, cols, rng.integers(1, 9, 2 * N) / 8, nrows=N, ncols=N, dup_op="first")
    return gb.binary.first(A | A.T).new()


def bfs(A, source):
    level = gb.Vector(int, A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    depth = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
    return level


def reached(A, source):
    """Levels; the entries are counted, so that the loop is no search of the backend."""
    level = gb.Vector(int, A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    depth, met = 0, 0
    while f.nvals:
        level(f.S) << depth
        met += f.nvals
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
    assert met == level.nvals
    return level


def pagerank(A, w, d=0.85, most=4):
    r = gb.Vector.from_scalar(1 / A.nrows, A.nrows)
    for _ in gb.loop(max_turns=most):
        old = r.dup()
        r << (1 - d) / A.nrows
        r("plus") << A.T.mxv(d * (old * w), "plus_second")
        if abs(r - old).reduce("plus") < 0:
            break
    return r


def bellman_ford(A, source):
    d = gb.Vector.from_coo([source], [0.0], size=A.nrows)
    changed = True
    while changed:
        old = d.dup()
        d("min") << d.vxm(A, "min_plus")
        changed = not d.isequal(old)
    return d


def least_labels(A, labels):
    label, changed = labels.dup(), True
    while changed:
        old = label.dup()
        label("min") << A.mxv(label, "min_second")
        changed = not label.isequal(old)
    return label


def operands_of(function, A):
    if function is pagerank:
        return A, gb.unary.minv(A.reduce_rowwise("count").new(float)).new()
    return A, gb.Vector.from_dense(np.arange(N)[::-1].copy()) if function is least_labels else 3


def functions_of(call):
    """Python functions of grb_tile that a call enters."""
    count = 0

    def enter(frame, event, argument):
        nonlocal count
        name = frame.f_code.co_filename
        count += event == "call" and ("grb_tile" in name and "/tests/" not in name or name[0] == "<")

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def alike(found, wanted):
    return found.dtype is wanted.dtype and found.isclose(wanted, rel_tol=1e-9, abs_tol=1e-12)


def warm(program, *arguments):
    """The program after calls that bind it."""
    for _ in range(3):
        program(*arguments)
    assert program.loops[0]._bound, program.explain()


@pytest.mark.parametrize("function", [bfs, reached, pagerank, bellman_ford, least_labels])
def test_a_warm_call_enters_few_functions(function):
    program, A = gb.program(function), matrix(1)
    arguments = operands_of(function, A)
    warm(program, *arguments)
    assert functions_of(lambda: program(*arguments)) <= MOST[function.__name__]
    assert alike(program(*arguments), function(*arguments))


@pytest.mark.parametrize("function", [bfs, reached, bellman_ford])
def test_results_that_are_read_late_stay_as_they_were(function):
    program, A = gb.program(function), matrix(2)
    warm(program, A, 0)
    results = [program(A, source) for source in range(0, N, 17)]
    copies = [found.dup() for found in results[::2]]
    program(A, 5)
    for k, found in enumerate(results):
        assert alike(found, function(A, 17 * k)), k
    assert all(alike(found, function(A, 34 * k)) for k, found in enumerate(copies))


def test_what_nobody_reads_is_not_copied(monkeypatch):
    program, A = gb.program(reached), matrix(3)
    warm(program, A, 0)
    copied = []
    monkeypatch.setattr(
        bound_loop, "copy_arrays", lambda *args, plain=bound_loop.copy_arrays: (copied.append(1), plain(*args))[1]
    )
    for _ in range(3):
        program(A, 1)
        gc.collect()
    assert not copied
    level = program(A, 2)
    program(A, 1)
    assert len(copied) == 1
    assert alike(level, reached(A, 2))
    assert len(copied) == 1


def test_another_matrix_a_changed_one_and_one_of_the_same_arrays():
    program, A, B = gb.program(bfs), matrix(4), matrix(5)
    warm(program, A, 0)
    warm(program, B, 0)
    for X in (A, B, A.dup(), B, A):
        assert alike(program(X, 1), bfs(X, 1))
    A[0, N - 1] = 0.5
    for _ in range(4):
        assert alike(program(A, 0), bfs(A, 0))


SCALE = 2.0


def test_numbers_globals_and_turns_that_change(monkeypatch):
    def grown(v, add, turns):
        for _ in gb.loop(max_turns=turns):
            v << v * SCALE
            v("plus") << add
        return v

    program = gb.program(grown)
    for add, turns, scale in [(1.0, 3, 2.0)] * 4 + [(1.0, 0, 2.0), (0.5, 3, 2.0), (1.0, 1, 2.0), (1.0, 3, 4.0)] * 2 + [
        (1, 3, 4.0), (True, 3, 4.0), (1.0, 3, 4.0),
    ]:  # fmt: skip
        monkeypatch.setattr(sys.modules[__name__], "SCALE", scale)
        v, w = (gb.Vector.from_dense(np.arange(70.0)) for _ in range(2))
        assert alike(program(v, add, turns), grown(w, add, turns))
        assert program.loops[0].turns == turns
        assert alike(v, w)
    assert program.loops[0]._bound


def test_vectors_of_another_type_or_size():
    def doubled(v, w):
        for _ in gb.loop(max_turns=3):
            v("plus") << w
        return v

    program = gb.program(doubled)
    for k in range(12):
        dtype, size = (float, int)[k // 3 % 2], (64, 65)[k // 6]
        v, plain = (gb.Vector.from_dense(np.arange(size).astype(dtype)) for _ in range(2))
        w = gb.Vector.from_coo([1, 2, 63], np.array([1, 2, 3 + k], dtype), size=size)
        assert alike(program(v, w), doubled(plain, w)), k


def doubled(x):
    return x + x


def halved(x):
    return x * 0.5


def shaped(x, by=halved):
    return by(x)


def test_functions_that_the_loop_calls(monkeypatch):
    def spread(A, v, factor):
        def step(x):
            return shaped(x * factor)

        for _ in gb.loop(max_turns=3):
            v << step(v)
            v("max") << A.mxv(v, "max_second")
        return v

    program, here = gb.program(spread), sys.modules[__name__]
    A, B = matrix(15), matrix(16)
    for k in range(16):
        if k == 8:
            monkeypatch.setattr(shaped, "__defaults__", (doubled,))
        if k == 12:
            monkeypatch.setattr(here, "shaped", doubled)
        v, w = (gb.Vector.from_dense(np.arange(N) % 7.0) for _ in range(2))
        X, factor = (A, B)[k // 4 % 2], (1.5, 2.5)[k % 2]
        assert alike(program(X, v, factor), spread(X, w, factor)), k
    assert alike(program(X, v, factor), spread(X, w, factor))
    assert program.loops[0]._latest is not None, program.explain()


def joined(A, v, w, turns=2):
    """w is only read; v may be w."""
    for _ in gb.loop(max_turns=turns):
        v("max") << A.mxv(w, "max_second")
    return v


def test_a_vector_that_is_only_read_and_changes_between_calls():
    program, A = gb.program(joined), matrix(6)
    w = gb.Vector.from_dense(np.arange(N) % 7.0).apply("identity").new()
    few = gb.Vector.from_coo([1, 5, 9], True, size=N)
    for k in range(10):
        v, plain = gb.Vector(float, N), gb.Vector(float, N)
        if k == 5:
            w[3] = 100.0
        if k == 6:
            w("plus") << 1.0
        if k == 7:
            w << w.select("<", 5.0)  # gaps: another kind
        if k == 4:
            w(few.S) << 50.0
        if k == 8:
            w = gb.Vector.from_dense(np.arange(N) % 5.0)
        before = w.dup()
        assert alike(program(A, v, w), joined(A, plain, w)), k
        assert w.isequal(before)


def test_a_vector_that_is_only_read_after_a_call_by_the_long_way():
    program, A = gb.program(joined), matrix(11)
    first, second = (gb.Vector.from_dense(np.arange(N) % k).apply("identity").new() for k in (7.0, 5.0))
    for w in (first, first, first, first, second, first, first):
        if w is second:
            program.loops[0]._bound.clear()
        assert alike(program(A, gb.Vector(float, N), w), joined(A, gb.Vector(float, N), w))


def test_an_argument_that_is_copied_before_the_loop_writes_it():
    def grown(v0):
        v = v0.dup()
        for _ in gb.loop(max_turns=3):
            v("plus") << v
        return v

    program, v = gb.program(grown), gb.Vector.from_dense(np.arange(1.0, N)).apply("identity").new()
    wanted = grown(v)
    for _ in range(6):
        assert alike(program(v), wanted)


def test_a_full_vector_where_another_has_gaps():
    few = gb.Vector.from_coo([1, 5], True, size=N)

    def swapped(v, w, few):
        for _ in gb.loop(max_turns=3):
            v, w = w, v
            v(few.S) << 1.0
        return v, w

    program = gb.program(swapped)
    for _ in range(6):
        pairs = [
            (gb.Vector.from_dense(np.arange(float(N))).apply("identity").new(), gb.Vector.from_coo([2], 9.0, size=N))
            for _ in range(2)
        ]
        found, wanted = program(*pairs[0], few), swapped(*pairs[1], few)
        for x, y in zip(found, wanted, strict=True):
            assert x.to_coo()[0].tolist() == y.to_coo()[0].tolist()
            assert alike(x, y)
    assert program.loops[0]._latest is not None, program.explain()


def test_two_names_for_one_vector():
    program, A = gb.program(joined), matrix(7)
    for k in range(8):
        v, plain = (gb.Vector.from_dense(np.arange(N) % (3.0 + k)) for _ in range(2))
        if k % 2:
            found, wanted = program(A, v, v), joined(A, plain, plain)
        else:
            w = gb.Vector.from_dense(np.arange(N) % 2.0)
            found, wanted = program(A, v, w), joined(A, plain, w)
        assert alike(found, wanted), k


def forms_of(dtype, rng):
    """Vectors of one type in each form."""
    values = rng.integers(0, 100, N).astype(dtype.np_type)
    few, many = np.sort(rng.choice(N, 5, False)), np.sort(rng.choice(N, N // 2, False))
    of = gb.Vector.from_coo
    yield "empty", lambda: gb.Vector(dtype, N)
    yield "one", lambda: of(few[:1], values[:1], size=N)
    yield "few", lambda: of(few, values[:5], size=N)
    yield "few of one value", lambda: of(few, values[0], dtype, size=N)
    yield "many", lambda: of(many, values[: N // 2], size=N)
    yield "many of one value", lambda: of(many, values[0], dtype, size=N)
    yield "full", lambda: gb.Vector.from_dense(values)
    yield "full of one value", lambda: gb.Vector.from_scalar(values[0], N, dtype)
    yield "on the device", lambda: of(many, values[: N // 2], size=N).apply("identity").new()
    yield "full on the device", lambda: gb.Vector.from_dense(values).apply("identity").new()
    yield "of unknown count", lambda: gb.Vector.from_dense(values).select("!=", values[1]).new()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["BOOL", "INT8", "UINT16", "FP32", "INT64", "FP64", "FC64"])
def test_every_form_is_loaded(name):
    dtype, rng = getattr(gb.dtypes, name), seeds.generator("bound calls", name)
    mask = gb.Vector.from_coo(np.arange(0, N, 9), True, size=N)
    kept = gb.Vector.from_coo(np.arange(0, N, 2), True, size=N)
    one = dtype.np_type.type(1)

    def filled(v, w, mask, kept):
        for _ in gb.loop(max_turns=3):
            w << v
            v(mask.S) << one

    def thinned(v, w, mask, kept):
        for _ in gb.loop(max_turns=3):
            w << v
            v(kept.S, replace=True) << v

    for function in (filled, thinned):
        program = gb.program(function)
        for form, make in forms_of(dtype, rng):
            for _ in range(4):
                pairs = [(make(), gb.Vector(dtype, N)) for _ in range(2)]
                program(*pairs[0], mask, kept)
                function(*pairs[1], mask, kept)
                assert all(map(alike, *pairs)), (function.__name__, form)
                assert all(x.nvals == y.nvals for x, y in zip(*pairs, strict=True))
            assert program.loops[0]._latest is not None, (function.__name__, form, program.explain())


def test_an_interrupt_leaves_all_as_it_was(monkeypatch):
    program, A = gb.program(joined), matrix(8)
    w = gb.Vector.from_dense(np.arange(N) % 7.0)
    for _ in range(3):
        program(A, gb.Vector.from_coo([1], [50.0], size=N), w)
    (bound,) = program.loops[0]._bound.values()
    plain, v = bound.known.device.launch, gb.Vector.from_coo([1], [50.0], size=N)

    def interrupted(*args):
        plain(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(bound.known.device, "launch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        program(A, v, w)
    monkeypatch.setattr(bound.known.device, "launch", plain)
    assert v.to_dict() == {1: 50.0}
    for _ in range(4):
        assert alike(program(A, v.dup(), w), joined(A, v.dup(), w))


def test_an_error_of_the_device_runs_the_call_from_python(monkeypatch):
    program, A = gb.program(reached), matrix(12)
    warm(program, A, 0)
    (bound,) = program.loops[0]._bound.values()

    def failing(*args):
        raise RuntimeError("planted")

    monkeypatch.setattr(bound.known.device, "launch", failing)
    with pytest.warns(CaptureWarning, match="planted"):
        assert alike(program(A, 3), reached(A, 3))
    assert "planted" in program.explain()
    assert alike(program(A, 4), reached(A, 4))


def test_a_search_of_a_matrix_that_has_changed_beside_one_that_has_not():
    program, A = gb.program(bfs), matrix(13)
    warm(program, A, 0)
    B = A.dup()
    A[0, N - 1] = 0.5
    for X in (B, A, B, A):
        assert alike(program(X, 0), bfs(X, 0))


def test_threads_that_share_a_program():
    program, A = gb.program(reached), matrix(14)
    warm(program, A, 0)
    wanted = [reached(A, source) for source in range(8)]
    missed = []

    def calls(first):
        with using_shim():
            for k in range(12):
                source = (first + k) % 8
                if not alike(program(A, source), wanted[source]):
                    missed.append(source)

    threads = [threading.Thread(target=calls, args=(first,)) for first in (0, 3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not missed


def test_numbers_that_begin_otherwise():
    def counted(v, x, k, flag):
        while k < 5 and flag:
            x = x + k
            k += 1
            v << v + 1.0
        return x, k, flag

    program = gb.program(counted)
    for x, k, flag in [(0.5, 0, True)] * 4 + [(1.5, 3, True), (-0.0, 7, True), (2.5, 1, False), (1, 2, True)] * 3:
        v, w = (gb.Vector.from_dense(np.ones(5)) for _ in range(2))
        found, wanted = program(v, x, k, flag), counted(w, x, k, flag)
        assert list(map(type, found)) == list(map(type, wanted))
        assert found == wanted
        assert alike(v, w)


def test_vectors_that_swap_names():
    def swapped(A, r, t, turns):
        for _ in range(turns):
            r, t = t, r
            r << 0.5
            r("plus") << A.mxv(t, "plus_second")
        return r, t

    program, A = gb.program(swapped), matrix(9)
    for k, turns in enumerate([4, 4, 4, 4, 5, 3, 6, 2]):
        first, second = ([gb.Vector.from_scalar(1.0 + k, N), gb.Vector.from_scalar(2.0, N)] for _ in range(2))
        found, wanted = program(A, *first, turns), swapped(A, *second, turns)
        assert all(map(alike, (*found, *first), (*wanted, *second))), k
        assert [[x is y for y in first] for x in found] == [[x is y for y in second] for x in wanted]


@pytest.mark.skipif(not EMULATED, reason="counts launches of the emulation")
def test_a_warm_call_launches_the_load_and_the_loop():
    from cuda_emulation.launcher import EmulatedKernel

    program, A = gb.program(reached), matrix(10)
    warm(program, A, 0)
    names, plain = [], EmulatedKernel.__call__

    def noted(self, *args, **kwargs):
        names.append(self.name.partition("<")[0])
        return plain(self, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EmulatedKernel, "__call__", noted)
        program(A, 0)
    assert names == ["load_arrays", "run_turns"], names
