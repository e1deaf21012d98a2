"""Specialisation, the cache folder, when a kernel is asked for, and life without Numba."""

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.compiled import dispatch as accelerate
from grb_tile.backends.cpu.jit import cache as jit, lost_time, threads as jit_threads
from grb_tile.backends.cpu.jit.signatures import parameter_types
from grb_tile.backends.cpu.jit.specialise import TEMPLATES, specialise_text
from grb_tile.backends.cpu.templates import placeholders
from grb_tile.backends.cpu.vectorised import matvec as numpy_matvec
from grb_tile.planner import Plan, tuning
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import StoredMask
from support.stores import matrix, same_vector, vector


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A fresh process with an empty cache folder."""
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path))
    monkeypatch.setattr(jit, "_mode", "auto")
    jit.forget()
    yield tmp_path
    jit.forget()


def operands(count=400):
    rng = np.random.default_rng(0)
    return (
        matrix(rng, 60, 50, count, gb.dtypes.FP64),
        vector(rng, 50, 50, gb.dtypes.FP64, "full"),
        gb.semiring.plus_times["FP64"],
    )


def test_flags_are_folded_away():
    flags = {"LISTED": True, "X_FULL": True, "A_ISO": True, "X_ISO": True, "ANY": True, "EXIT": False, "ISO_OUT": True}
    types = {"INDEX": "i", "X": "d", "Y": "d", "Z": "d", "ROWS": "l"}
    text, called = specialise_text("matvec_rows", {**flags, **types}, {}, "")
    assert "LISTED" not in text
    assert "x_words[" not in text  # a full vector needs no presence test
    assert "out_values[" not in text
    assert "a_values[np.uint64" not in text.replace("a_values[0]", "")
    compile(text, "text", "exec")
    types = {name: (char, dimensions) for name, char, dimensions in called["matvec_rows"]}
    assert types["indptr"] == types["rows"] == ("l", 1)
    assert types["indices"] == ("i", 1)
    assert types["out_values"] == ("d", 1)
    assert types["first"] == ("l", 0)


def test_every_template_is_python_that_runs():
    """Templates are readable on their own: the stand-ins make them importable."""
    from importlib import import_module

    names = sorted(path.stem for path in TEMPLATES.glob("*.py") if path.stem not in ("__init__", "placeholders"))
    assert {"matvec_rows", "matvec_cols", "matmul_rows", "matmul_dot", "bfs"} <= set(names)
    for name in names:
        import_module(f"grb_tile.backends.cpu.templates.{name}")
    from grb_tile.backends.cpu.templates import matvec_rows

    A, x, op = operands()
    words = np.zeros(1, np.uint64)
    out = np.zeros(60)
    no_words = np.zeros(0, np.uint64)
    full = np.array([2**64 - 1] * 1, np.uint64)
    found = matvec_rows.matvec_rows(
        A.indptr, A.indices, A.values, full, x.values, no_words, np.uint64(0), words, out, 0, 1
    )
    wanted = numpy_matvec.matvec_rows(A, x, op, None)
    assert found == wanted.nvals
    np.testing.assert_allclose(out[np.diff(A.indptr) > 0], wanted.values[np.diff(A.indptr) > 0])


@pytest.mark.parametrize("template", sorted(path.stem for path in TEMPLATES.glob("*.py")))
def test_functions_that_python_calls_have_types(template):
    if template not in ("__init__", "placeholders"):
        for forms in parameter_types(template).values():
            for types in forms:
                assert all(hasattr(placeholders, text) for _, text in types if text.isupper())


def test_small_work_does_not_start_a_compilation(fresh):
    A, x, op = operands()
    assert accelerate.matvec_rows(A, x, op) is NotImplemented
    assert not jit.compiler_process.current().waiting
    assert not [path for path in fresh.rglob("*") if path.is_file()]


@pytest.fixture
def requests(monkeypatch):
    """What is asked of the compiler process, in place of asking it: [(key, receive)]."""
    found = []
    monkeypatch.setattr(
        jit.compiler_process.CompilerProcess, "request", lambda self, key, *rest: found.append((key, rest[-1]))
    )
    return found


def test_numpy_runs_until_a_compilation_breaks_even(fresh, requests, monkeypatch):
    """On a single core: ski rental."""
    jit.compiler_process.current().stop()  # its start counts
    monkeypatch.setattr(jit, "thread_count", lambda: 1)
    monkeypatch.setattr(tuning, "COMPILE_SECONDS", 0.01)
    monkeypatch.setattr(tuning, "START_SECONDS", 0.02)
    A, x, op = operands()
    backend = gb.backends.select._class_of("cpu")()
    spent = 0.0
    while not requests:
        start = time.perf_counter()
        backend.matvec_rows(A, x, op)
        spent += time.perf_counter() - start
        assert spent < 5
    assert (
        spent * tuning.COMPILED_SAVES >= 0.025
    )  # NumPy took about as long as the compilation and the start of its process
    assert len(requests) == 1
    backend.matvec_rows(A, x, op)
    assert len(requests) == 1  # it is asked once


def test_with_another_core_a_kernel_is_asked_for_once_it_is_missed(fresh, requests, monkeypatch):
    monkeypatch.setattr(jit, "thread_count", lambda: 2)
    kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
    assert kernel.functions_for(0.5 * tuning.FELT_SECONDS) is None and not requests
    kernel.count(0.3 * tuning.FELT_SECONDS)
    assert kernel.functions_for(0.1 * tuning.FELT_SECONDS) is None and not requests
    assert kernel.functions_for(1.1 * tuning.FELT_SECONDS) is None and len(requests) == 1
    assert kernel.functions_for(0.5) is None and len(requests) == 1


def test_many_small_calls_ask_for_a_kernel(fresh, requests, monkeypatch):
    """Each loses a little: the disk is asked after some, a compilation after more."""
    monkeypatch.setattr(jit, "thread_count", lambda: 2)
    kernel, each = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i"), 0.1 * tuning.SMALL_CALLS_SECONDS
    for _ in range(9):
        assert kernel.of_small_calls(each) is None
    assert not kernel._looked and kernel.saved_seconds == pytest.approx(9 * each)
    calls = 9
    while not requests:
        assert kernel.of_small_calls(each) is None
        calls += 1
        assert calls * each < 2 * tuning.FELT_SECONDS + tuning.SMALL_CALLS_SECONDS
    assert kernel._looked and calls * each >= tuning.FELT_SECONDS


@pytest.mark.parametrize(("seconds", "waits"), [(60.0, True), (0.5, False), (float("inf"), False)])
def test_a_call_waits_where_numpy_would_take_longer(fresh, requests, monkeypatch, seconds, waits):
    waited = []
    monkeypatch.setattr(jit, "thread_count", lambda: 2)
    monkeypatch.setattr(jit, "_compile_seconds", [])  # as before the first compilation
    monkeypatch.setattr(
        jit.compiler_process.CompilerProcess, "wait", lambda self, key, most: waited.append((key, most))
    )
    kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
    assert kernel.functions_for(seconds) is None and len(requests) == 1
    assert [key for key, _ in waited] == [kernel.key] * waits
    assert all(0 < most < seconds for _, most in waited)


def test_lost_time_is_kept_from_run_to_run(fresh, requests, monkeypatch, caplog):
    monkeypatch.setattr(jit, "thread_count", lambda: 2)

    def process(seconds):
        jit.forget()
        kernels = [jit.plain_kernel("vectors", X_ISO=iso, VALUE="d", INDEX="i") for iso in (True, False)]
        for kernel in kernels:
            assert kernel.functions_for(1e-6) is None
        kernels[0].count(seconds)
        jit._store_lost_time()
        return kernels[0]

    for turn in range(1, 4):
        kernel = process(0.3 * tuning.FELT_SECONDS)
        assert kernel.saved_seconds == pytest.approx(0.3 * turn * tuning.FELT_SECONDS) and not requests
    kernel = process(0.3 * tuning.FELT_SECONDS)
    assert [key for key, _ in requests] == [kernel.key]
    stored = fresh / lost_time.FILE
    assert list(json.loads(stored.read_text())) == [kernel.key]  # the other lost nothing to speak of
    kernel.functions = object()  # compiled
    jit._store_lost_time()
    assert json.loads(stored.read_text()) == {}
    for damaged in ("", "[1]", '{"key": "text"}', "{"):
        stored.write_text(damaged)
        assert process(0.3 * tuning.FELT_SECONDS).saved_seconds == pytest.approx(0.3 * tuning.FELT_SECONDS)
    assert not caplog.records


def test_one_notice_where_a_process_is_slow_for_want_of_kernels(fresh, requests, caplog):
    kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
    kernel.functions_for(1e-6)
    for _ in range(5):
        kernel.count(0.4 * lost_time.NOTICE_SECONDS)
    assert [record.name for record in caplog.records] == ["grb_tile"]
    assert "grb-tile compile" in caplog.text


def test_the_time_of_numpy_is_measured_not_estimated(fresh, requests):
    A, x, op = operands()
    kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
    assert jit.tried(lambda: kernel.functions_for(1e-6)) is None
    jit.in_numpy(time.sleep, 0.05)
    assert kernel.saved_seconds == pytest.approx(0.05 * tuning.COMPILED_SAVES, rel=0.5)
    jit.in_numpy(time.sleep, 0.01)  # no kernel declined this one
    assert kernel.saved_seconds < 0.1
    assert kernel.functions_for(0.5) is None  # a long call starts the compilation and does not wait for it
    assert len(requests) == 1


def test_a_finished_compilation_is_swapped_in(fresh, monkeypatch):
    monkeypatch.setattr(jit.compiler_process.current(), "is_awaited", True)
    kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
    assert kernel.functions_for(0.5) is None
    deadline = time.monotonic() + 60
    while kernel.functions_for(1e-6) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    words = np.array([0b111], np.uint64)
    assert kernel.functions.clear_bits(np.array([0, 2, 5], np.int32), words) == 2
    assert words[0] == 0b010
    assert [path.name for path in fresh.rglob("*") if path.is_file()] == [kernel.key]


def test_ready_asks_and_changes_nothing(fresh):
    A, x, op = operands()
    with gb.plan(force="numpy"):
        assert not accelerate.ready("matvec_rows", A, x, op)
    assert not accelerate.ready("matvec_rows", A, x, op)
    assert not accelerate.ready("matmul", A, A, op)
    assert not [path for path in fresh.rglob("*") if path.is_file()]
    assert not any(kernel.saved_seconds for kernel in jit._kernels.values())
    with gb.plan(force="numba"):
        assert accelerate.ready("matvec_rows", A, x, op)
        assert accelerate.matvec_rows(A, x, op) is not NotImplemented
    assert accelerate.ready("matvec_rows", A, x, op)
    assert not accelerate.ready("matvec_cols", A, x, op)
    assert not gb.backends.select.current().is_ready("matmul", A, A, op, None, "dot")


@pytest.mark.parametrize("method", ["gustavson", "dot"])
def test_ready_asks_for_the_kernel_that_a_product_takes(method, monkeypatch):
    """For a mask and a method; nothing is compiled here."""
    A, op, taken = matrix(np.random.default_rng(0), 60, 60, 400, gb.dtypes.FP64), gb.semiring.min_plus["FP64"], []
    monkeypatch.setattr(jit.Kernel, "functions_for", lambda kernel, seconds: taken.append(kernel))
    monkeypatch.setattr(jit.Kernel, "is_ready", lambda kernel: taken.append(kernel))
    for mask in (None, StoredMask(A), StoredMask(A, True))[1 if method == "dot" else 0 : 2 if method == "dot" else 3]:
        B = transpose_of(A) if method == "dot" else A
        assert accelerate.matmul(A, A, op, mask, Plan("matmul", method, "csr", "forced"), B) is NotImplemented
        assert accelerate.ready("matmul", A, B, op, mask, method) is None
        product, asked = taken
        assert product is asked and product.template == {"dot": "matmul_dot", "gustavson": "matmul_rows"}[method]
        taken.clear()


def test_forced_engines():
    A, x, op = operands()
    with gb.plan(force="numpy"):
        assert accelerate.matvec_rows(A, x, op) is NotImplemented
    with gb.plan(force="numba"):
        same_vector(accelerate.matvec_rows(A, x, op), numpy_matvec.matvec_rows(A, x, op, None))
        with gb.plan(force="numpy"):
            assert accelerate.matvec_rows(A, x, op) is NotImplemented


def test_unknown_modes_are_refused(monkeypatch):
    with pytest.raises(gb.exceptions.InvalidValue, match="auto, always, never"):
        jit.set_mode("sometimes")
    monkeypatch.setattr(jit, "_mode", None)
    monkeypatch.setenv("GRB_TILE_JIT", "foo")
    with pytest.raises(gb.exceptions.InvalidValue, match="GRB_TILE_JIT='foo'.*auto, always, never"):
        jit.mode()
    monkeypatch.setattr(jit_threads, "_threads", None)
    monkeypatch.setenv("GRB_TILE_THREADS", "foo")
    with pytest.raises(gb.exceptions.InvalidValue, match="GRB_TILE_THREADS='foo'"):
        jit.thread_count()


def test_a_function_that_cannot_be_lowered_is_left_to_numpy():
    names = iter(["a"])

    def odd(x, y):
        return x + y if next(names, None) else x

    op = gb.semiring.register_anonymous(gb.monoid.plus, gb.binary.register_anonymous(odd))
    A, x, _ = operands()
    with gb.plan(force="numba"):
        assert accelerate.matvec_rows(A, x, op["FP64"]) is NotImplemented


@pytest.mark.parametrize("trouble", ["raise ImportError('none here')", "raise SystemError('broken')"])
def test_without_numba_everything_still_works(tmp_path, trouble):
    (tmp_path / "numba.py").write_text(trouble)
    program = (
        "import warnings; warnings.simplefilter('error')\n"
        "import grb_tile as gb\n"
        "A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0])\n"
        "v = gb.Vector.from_coo([0, 1, 2], [1.0, 1.0, 1.0])\n"
        "with gb.plan(force='numba'):\n"
        "    w = gb.semiring.plus_times(A @ v).new()\n"
        "    print(w.to_coo()[1].tolist())\n"
        "    print(gb.graph.bfs(A, 0, pull=False).report.engine)\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}",
        "GRB_TILE_CACHE": str(tmp_path / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["[1.0, 2.0, 3.0]", "numpy"]


def test_a_second_process_loads_what_the_first_compiled(tmp_path):
    program = (
        "import sys, numpy as np\n"
        "from grb_tile.backends.cpu.jit import cache as jit, compiler_process as helper\n"
        "kernel = jit.plain_kernel('vectors', X_ISO=True, VALUE='d', INDEX='i')\n"
        "kernel.load().clear_bits(np.arange(3, dtype=np.int32), np.zeros(1, np.uint64))\n"
        "print(helper.awaited().is_running(), 'numba' in sys.modules, 'llvmlite' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "GRB_TILE_CACHE": str(tmp_path)}
    outputs = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.split())
    assert outputs == [["True", "False", "False"], ["False", "False", "False"]]


def test_shared_out_jobs_come_back_in_order_and_raise():
    assert jit.share_out(lambda chunk, worker: (chunk, worker < 3), 20, 3) == [(chunk, True) for chunk in range(20)]

    def fails(chunk, worker):
        if chunk == 7:
            raise RuntimeError("chunk 7")

    with pytest.raises(RuntimeError, match="chunk 7"):
        jit.share_out(fails, 20, 3)
