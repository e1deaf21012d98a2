"""Written elements: what fails, is interrupted or runs in several threads loses nothing."""

import os
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.core import elements
from grb_tile.exceptions import IndexOutOfBound, OutOfMemory, OutputNotEmpty
from support.written import entries_of


def vector():
    return gb.Vector.from_coo(range(0, 200, 2), np.arange(100.0), size=200)


def matrix():
    return gb.Matrix.from_coo(np.arange(100) // 10, np.arange(100) % 10, np.arange(100), nrows=20, ncols=12)


OBJECTS = {
    "sparse": (lambda: gb.Vector.from_coo([3, 90], [1.0, 2.0], size=10**6), 5, 90),
    "bitmap": (vector, 5, 4),
    "full": (lambda: gb.Vector.from_dense(np.arange(99.0)), 5, 6),
    "csr": (matrix, (3, 11), (2, 2)),
    "dcsr": (lambda: gb.Matrix.from_coo([5, 10**9], [1, 2**50], [1.0, 2.0], nrows=2**40, ncols=2**60), (7, 3), (5, 1)),
}


def contents(obj):
    return obj.to_dicts() if obj.ndim == 2 else obj.to_dict()


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
@pytest.mark.parametrize("kind", OBJECTS)
def test_a_merge_that_fails_anywhere_changes_nothing(kind, error, monkeypatch):
    """The n-th NumPy call of the merge raises, for every n: the object keeps all it had, and the next merge
    succeeds."""
    make, fresh, removed = OBJECTS[kind]
    wanted = make()
    wanted[fresh] = 7
    del wanted[removed]
    wanted = contents(wanted)
    names = ["array", "concatenate", "insert", "ones", "zeros", "fromiter", "lexsort", "where", "cumsum"]
    failures = 0
    for turn in range(40):
        obj = make()
        obj[fresh] = 7
        del obj[removed]
        left = [turn]

        def failing(name, left=left):
            function = getattr(np, name)

            def call(*args, **kwargs):
                left[0] -= 1
                if left[0] == -1:
                    raise error("planted")
                return function(*args, **kwargs)

            return call

        stand_in = type("numpy", (), {"__getattr__": lambda self, name: getattr(np, name)})()
        for name in names:
            setattr(stand_in, name, failing(name))
        with monkeypatch.context() as patch:
            patch.setattr(elements, "np", stand_in)
            try:
                obj.wait()
            except (OutOfMemory, KeyboardInterrupt):
                failures += 1
        assert obj.get(*fresh if obj.ndim == 2 else (fresh,)) == 7
        assert obj.get(*removed if obj.ndim == 2 else (removed,)) is None
        assert contents(obj) == wanted
    assert 3 <= failures < 40  # at least the calls of the merge itself, and the last turns passed them all


def test_a_merge_that_cannot_fit_says_so_and_keeps_both():
    v = gb.Vector.from_scalar(3, 2**60)
    v[5] = 7
    for _ in range(2):
        with pytest.raises(OutOfMemory, match=r"1 written elements do not fit beside 1152921504606846976 entries"):
            v.wait()
        assert (v.get(5), v.get(6), v.nvals) == (7, 3, 2**60)


@pytest.mark.parametrize("kind", OBJECTS)
def test_threads_read_what_was_written(kind):
    make, fresh, removed = OBJECTS[kind]
    wanted = make()
    wanted[fresh] = 7
    del wanted[removed]
    wanted = contents(wanted)
    for _ in range(60):
        obj, found, start = make(), [], threading.Barrier(4)
        obj[fresh] = 7
        del obj[removed]

        def read(obj=obj, found=found, start=start):
            start.wait()
            try:
                found.append((contents(obj), obj.get(*fresh if obj.ndim == 2 else (fresh,))))
            except Exception as error:  # noqa: BLE001
                found.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [(wanted, 7)] * 4


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.integers(0, 5), st.integers(0, 5), st.integers(-9, 9)),
        st.tuples(st.just("delete"), st.integers(0, 5), st.integers(0, 5)),
        st.tuples(st.just("read"), st.integers(0, 5), st.integers(0, 5)),
        st.tuples(st.just("count")),
        st.tuples(st.just("dup")),
        st.tuples(st.just("resize"), st.integers(1, 8), st.integers(1, 8)),
        st.tuples(st.just("clear")),
    ),
    max_size=25,
)


@settings(deadline=None, max_examples=150)
@given(STEPS)
def test_a_matrix_is_a_dictionary(steps):
    """Random writes, deletions, reads and resizings against a dict."""
    A, model, shape = gb.Matrix(int, 6, 6), {}, (6, 6)
    for name, *args in steps:
        if name in ("set", "delete", "read") and not (args[0] < shape[0] and args[1] < shape[1]):
            continue
        if name == "set":
            A[args[0], args[1]] = args[2]
            model[args[0], args[1]] = args[2]
        elif name == "delete":
            del A[args[0], args[1]]
            model.pop((args[0], args[1]), None)
        elif name == "read":
            assert A.get(*args) == model.get(tuple(args))
        elif name == "count":
            assert A.nvals == len(model)
        elif name == "dup":
            A = A.dup()
        elif name == "clear":
            A.clear()
            model.clear()
        else:
            A.resize(*args)
            shape = tuple(args)
            model = {(i, j): x for (i, j), x in model.items() if i < shape[0] and j < shape[1]}
    rows, cols, values = A.to_coo()
    assert dict(zip(zip(rows.tolist(), cols.tolist(), strict=True), values.tolist(), strict=True)) == model


REFUSED = {
    "index outside": ({"clear": True}, [9], IndexOutOfBound),
    "index outside after resizing": ({"clear": True, "size": 3}, [5], IndexOutOfBound),
    "duplicates": ({"clear": True}, [1, 1], ValueError),
    "not empty": ({"size": 9}, [5], OutputNotEmpty),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_build_that_is_refused_changes_nothing(case):
    options, where, error = REFUSED[case]
    v = gb.Vector.from_coo([0, 2], [1, 2], size=5)
    with pytest.raises(error):
        v.build(where, [1] * len(where), **options)
    assert v.size == 5 and v.to_dict() == {0: 1, 2: 2}
    options = {name: value for name, value in options.items() if name != "size"} | (
        {"nrows": options["size"]} if "size" in options else {}
    )
    A = gb.Matrix.from_coo([0, 2], [1, 2], [1, 2], nrows=5, ncols=5)
    with pytest.raises(error):
        A.build(where, [0] * len(where), [1] * len(where), **options)
    assert A.shape == (5, 5) and A.to_dicts() == {0: {1: 1}, 2: {2: 2}}


def test_build_scalar_wants_an_empty_object():
    v, A = gb.Vector.from_coo([0], [1], size=3), gb.Matrix.from_coo([0], [0], [1], nrows=3, ncols=3)
    with pytest.raises(OutputNotEmpty):
        v.ss.build_scalar([1], 2)
    with pytest.raises(OutputNotEmpty):
        A.ss.build_scalar([1], [1], 2)
    assert v.to_dict() == {0: 1} and A.to_dicts() == {0: {0: 1}}


def test_build_clears_and_resizes():
    v = gb.Vector.from_coo([0, 2], [1, 2], size=5)
    v.build([6], [3], clear=True, size=7)
    assert v.size == 7 and v.to_dict() == {6: 3}
    v.build([], [], clear=True)
    assert v.nvals == 0 and v.size == 7
    A = gb.Matrix.from_coo([4], [4], [1])
    A.build([0], [1], [2], nrows=2, ncols=3)  # what lay outside the new shape is gone, so the matrix was empty
    assert A.shape == (2, 3) and A.to_dicts() == {0: {1: 2}}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_while_another_thread_merges_and_makes_a_backend_reads_its_objects():
    v = vector()
    v[1] = 3.0
    locked, release = threading.Event(), threading.Event()

    def hold():
        with select.current().merging, select._making:
            locked.set()
            release.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait(60)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits for a thread that it does not have
        os._exit(0 if select.named("cpu") is not None and v.nvals == 101 else 1)
    release.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_rows_written_one_after_the_other_take_bounded_memory():
    n, k = 200, 40
    A = gb.Matrix.from_coo(np.repeat(np.arange(n), k), np.tile(np.arange(k), n), np.arange(n * k), nrows=n, ncols=99)
    row = gb.Vector.from_coo(np.arange(k) + 1, np.ones(k, int), size=99)
    most = 0
    for i in range(n):
        A[i, :] << row
        most = max(most, sum(map(len, (A._pending or {}).values())))
    assert 0 < most <= n * k // 8 + 4 * k
    assert A.to_dicts() == {i: dict.fromkeys(range(1, k + 1), 1) for i in range(n)}


def test_a_long_loop_of_accumulations_takes_bounded_memory():
    v = gb.Vector(int, 5)
    count = 3 * elements.LONGEST + 7
    for k in range(count):
        v(gb.binary.minus)[2] << k
        assert len(v._pending[0][2]) <= elements.LONGEST
    assert v.to_dict() == {2: -sum(range(1, count))}


@pytest.mark.parametrize("kind", OBJECTS)
def test_nvals_counts_few_waiting_elements_and_leaves_them_waiting(kind):
    """A loop that reads nvals after each write copies nothing for it; many are merged, once."""
    make, fresh, removed = OBJECTS[kind]
    obj, model = make(), dict(entries_of(make()))
    at, gone = ((x,) if obj.ndim == 1 else x for x in (fresh, removed))
    writes = [
        (lambda: obj.__setitem__(fresh, 7), at),
        (lambda: obj.__setitem__(fresh, 8), at),
        (lambda: obj("plus")[fresh] << 1, at),
        (lambda: obj.__delitem__(fresh), None),
        (lambda: obj.__delitem__(fresh), None),  # it is gone already
        (lambda: obj.__delitem__(removed), None),
        (lambda: obj("plus")[removed] << 1, gone),  # an absent element becomes the operand
    ]
    for number, (write, present) in enumerate(writes):
        write()
        if present is None:
            model.pop(at if number < 5 else gone, None)
        else:
            model[present] = None
        assert obj.nvals == len(model) and obj._pending is not None
    assert obj.dup().nvals == len(model)
    for k in range(min(2 * elements.COUNTED, obj.shape[0])):
        key = (k,) if obj.ndim == 1 else (k, 1)
        obj[key if obj.ndim == 2 else k] = 1
        model[key] = None
        assert obj.nvals == len(model)
        assert sum(map(len, (obj._pending or {}).values())) <= elements.COUNTED
    assert entries_of(obj).keys() == model.keys()


def test_single_writes_that_wait_take_bounded_memory(monkeypatch):
    """As many wait as the store has entries, or WAITING, repeated writes and accumulations included."""
    monkeypatch.setattr(elements, "WAITING", 50)
    v, waiting = gb.Vector(int, 10**9), []
    for k in range(400):
        v[k] = k
        waiting.append(len(v._pending[0]))
    assert waiting[49:51] == [50, 1] and max(waiting) == 200  # 50, then as many as are stored: 50, 100, 200
    for k in range(400):
        v(gb.binary.plus)[k % 10] << 1
        waiting.append(sum(map(len, v._pending[0].values())) if v._pending else 0)
    assert max(waiting[400:]) <= 400 + 2 * 10  # an accumulation has its operator and its start, too
    assert v.to_dict() == {k: k + 40 * (k < 10) for k in range(400)}
    for k in range(400):
        del v[k]
    assert len(v._pending[0]) <= 400 and v.nvals == 0
