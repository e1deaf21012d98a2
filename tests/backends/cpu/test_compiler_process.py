"""The process that compiles: never waited for, gone with its parent, no trouble after a fork or an interrupt."""

import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from backends.cpu.programs import AT_ONCE, run

from grb_tile.backends.cpu.jit import cache as jit, compiler_process, link, prebuild, threads as jit_threads
from grb_tile.backends.cpu.jit.load import KernelError, links_here
from grb_tile.backends.cpu.jit.recipe import Recipe, features
from grb_tile.backends.cpu.jit.signatures import ARRAYS, NUMBERS, parameter_types
from grb_tile.backends.cpu.jit.specialise import text_of
from grb_tile.planner import tuning
from support.seeds import SEED


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A cache folder with one compiled kernel."""
    folder = tmp_path_factory.mktemp("cache")
    done = run(
        """
        from grb_tile.backends.cpu.jit import cache as jit
        kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
        assert kernel.load() is not None, jit.failures()
        """,
        folder,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def fresh(folder, monkeypatch):
    monkeypatch.setenv("GRB_TILE_CACHE", str(folder))
    monkeypatch.setattr(jit, "_mode", "auto")
    jit.forget()
    yield jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
    jit.forget()


def clear(functions):
    words = np.array([0b1011], np.uint64)
    assert functions.clear_bits(np.array([0, 3], np.int32), words) == 2
    assert words[0] == 0b0010


def test_a_damaged_kernel_is_compiled_again_and_nobody_notices(fresh, folder):
    (path,) = (folder / "cpu").iterdir()
    whole = path.read_bytes()
    for damaged in (whole[:-7], whole[:60] + b"X" + whole[61:], b"", whole + b"\0"):
        path.write_bytes(damaged)
        jit.forget()
        kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
        assert kernel.functions_for(1e-6) is None  # as if it were not there
        assert not jit.failures()
    clear(kernel.load())
    assert len(path.read_bytes()) > 1000 and path.read_bytes() != damaged


def test_entries_check_their_arguments(fresh):
    functions = fresh.load()
    indices, words = np.array([0, 3], np.int32), np.zeros(1, np.uint64)
    for wrong in (
        (indices.astype(np.int64), words), (indices, words.astype(np.int64)), (indices, words.reshape(1, 1)),
        (np.arange(4, dtype=np.int32)[::2], words), (indices.astype(">i4"), words), ([0, 3], words), (indices, None),
        (indices,), (indices, words, words),
    ):  # fmt: skip
        with pytest.raises(KernelError):
            functions.clear_bits(*wrong)
    frozen = indices.copy()
    frozen.flags.writeable = False
    functions.clear_bits(frozen, words)
    functions.clear_bits(indices.view(type("Sub", (np.ndarray,), {})), words)


def test_wrong_arguments_leave_the_work_to_numpy(fresh):
    functions = fresh.load()
    assert jit.attempt(fresh, lambda: functions.clear_bits(1, 2)) is NotImplemented
    assert fresh.failed and fresh.functions_for(0.5) is None
    assert "clear_bits" in jit.failures()[0][1]


@pytest.mark.slow
def test_object_code_loads_through_llvm_too():
    """The form of systems other than Linux on x86-64."""
    pytest.importorskip("llvmlite")
    program = """
        import json
        import numpy as np
        from grb_tile.backends.cpu.jit import load, worker
        from grb_tile.backends.cpu.jit.recipe import Recipe
        load.links_here = lambda: False
        payload = worker.build(Recipe("vectors", {"X_ISO": True, "VALUE": "d", "INDEX": "i"}), "here")
        names, _, code = payload.partition(b"\\n")
        words = np.array([0b1011], np.uint64)
        found = load.load(code, json.loads(names)).clear_bits(np.array([0, 3], np.int32), words)
        assert (found, int(words[0])) == (2, 0b0010)
    """
    done = run(program, "/nonexistent")
    assert done.returncode == 0, done.stderr


def test_the_linker_refuses_what_it_does_not_know():
    with pytest.raises(link.LinkError, match="not a relocatable object"):
        link.shared_object(b"\x7fELF" + bytes(100), {"grb_f"})


def test_a_compiler_that_dies_costs_its_kernel_and_no_other(fresh, tmp_path, monkeypatch):
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path))
    jit.forget()
    process = compiler_process.CompilerProcess(is_awaited=True)
    monkeypatch.setattr(compiler_process, "_current", process)
    monkeypatch.setattr(tuning, "WAIT_RATIO", math.inf)  # a quick machine would wait for the code
    kernels = [jit.plain_kernel("vectors", X_ISO=iso, VALUE="d", INDEX="i") for iso in (True, False)]
    for kernel in kernels:
        assert kernel.functions_for(0.5) is None
    os.kill(process._process.pid, signal.SIGKILL)
    process.wait(kernels[1].key)
    assert kernels[1].functions is not None
    process.stop()
    assert kernels[0].failed and "ended" in jit.failures()[0][1]


def test_a_recipe_that_does_not_compile_says_why(fresh):
    kernel = jit.kernel("broken", jit.Recipe("vectors", {"X_ISO": True, "VALUE": "d", "INDEX": "i"}, {}, ["nonsense("]))
    assert kernel.load() is None
    assert kernel.failed and "SyntaxError" in jit.failures()[0][1]


def test_a_forked_child_has_its_own_threads_and_compiler(tmp_path):
    """While another thread waits for a compilation, which holds a lock."""
    program = """
        import os, threading, time
        import numpy as np
        from grb_tile.backends.cpu.jit import cache as jit, compiler_process, threads
        jit.share_out(lambda chunk, worker: chunk, 8, 3)
        waiting = threading.Thread(target=jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i").load)
        waiting.start()
        time.sleep(0.05)
        child = os.fork()
        if child == 0:
            assert not compiler_process.awaited().is_running()
            assert jit.share_out(lambda chunk, worker: chunk, 8, 3) == list(range(8))
            kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
            functions = kernel.load()
            words = np.array([3], np.uint64)
            assert functions.clear_bits(np.array([0], np.int32), words) == 1
            os._exit(0)
        waiting.join()
        assert jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i").functions is not None
        raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_an_interrupt_while_waiting_is_an_interrupt(tmp_path):
    program = """
        import os, signal, threading, time
        from grb_tile.backends.cpu.jit import cache as jit
        kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
        signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in a shell's background begin without it
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            kernel.load()
        except KeyboardInterrupt:
            pass
        else:
            raise SystemExit("no interrupt")
        assert not kernel.failed and not jit.failures()
        assert kernel.load() is not None
    """
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr


def test_without_a_process_numpy_does_the_work(fresh, monkeypatch, tmp_path):
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path))
    jit.forget()
    monkeypatch.setattr(compiler_process, "_current", compiler_process.CompilerProcess())

    def refused(*arguments, **options):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refused)
    kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
    assert kernel.functions_for(0.5) is None
    assert kernel.load() is None and "Resource temporarily" in jit.failures()[0][1]


@pytest.mark.parametrize("trouble", ["frozen", "no poll", "another program"])
def test_where_no_compiler_can_run_numpy_does_the_work(fresh, monkeypatch, tmp_path, trouble):
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path))
    jit.forget()
    process = compiler_process.CompilerProcess(is_awaited=True)
    monkeypatch.setattr(compiler_process, "_awaited", process)
    if trouble == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    elif trouble == "no poll":
        monkeypatch.delattr(compiler_process.select, "poll")
    else:
        monkeypatch.setattr(compiler_process, "_START", "print('welcome', flush=True); input(); {path!r}")
    kernel = jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i")
    assert kernel.load() is None and kernel.failed and len(jit.failures()) == 1
    assert not process.is_running()


def test_a_compiler_that_ends_slowly_raises_nothing():
    class Slow:
        stdin = stdout = open(os.devnull)  # noqa: SIM115 - closed by `stop`
        kill = wait = returncode = None

    process, slow = compiler_process.CompilerProcess(), Slow()
    kills = []

    def wait(seconds):
        raise subprocess.TimeoutExpired("compiler", seconds)

    slow.kill, slow.wait = lambda: kills.append(1), wait
    for end in (process.stop, process._ended):
        process._process = slow
        end()
        assert not process.is_running() and kills


@pytest.mark.slow
def test_a_relative_cache_serves_both_processes(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    done = run(
        """
        import os
        from grb_tile.backends.cpu.jit import cache as jit
        assert jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i").load() is not None, jit.failures()
        os.chdir("elsewhere")
        assert jit.plain_kernel("vectors", X_ISO=True, VALUE="f", INDEX="i").load() is not None, jit.failures()
        """,
        "relative",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "relative" / "cpu").iterdir())) == 2
    assert os.listdir(tmp_path / "elsewhere") == []


def test_an_interrupt_of_the_look_up_leaves_the_kernel_as_it_was(fresh, monkeypatch):
    def interrupted(key):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jit._disk, "get", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fresh.is_ready()
    assert fresh.is_ready() and fresh.functions is not None


@pytest.mark.parametrize("error", [RuntimeError, ImportError, OSError])
def test_code_that_cannot_be_loaded_is_none(fresh, monkeypatch, error):
    def refused(code, names):
        raise error("refused")

    monkeypatch.setattr(jit, "load", refused)
    assert fresh.functions_for(0.0) is None
    assert "refused" in jit.failures()[0][1]


@pytest.mark.slow
def test_one_warning_where_no_folder_can_be_used(tmp_path):
    (tmp_path / "file").touch()
    done = run(
        """
        import os, warnings
        os.environ.pop("XDG_RUNTIME_DIR", None)
        from grb_tile.backends.cpu.jit import cache as jit
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for value in "df":
                assert jit.plain_kernel("vectors", X_ISO=True, VALUE=value, INDEX="i").load(), jit.failures()
        assert ["not kept on disk" in str(w.message) for w in caught] == [True], caught
        """,
        tmp_path / "file",
    )
    assert done.returncode == 0, done.stderr


def test_without_a_thread_the_caller_does_the_work(monkeypatch):
    def refused(self):
        raise RuntimeError("can't start new thread")

    jit_threads._forget_pool()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        assert jit.share_out(lambda chunk, worker: (chunk, worker), 9, 4) == [(chunk, 0) for chunk in range(9)]
    assert [chunk for chunk, _ in jit.share_out(lambda chunk, worker: (chunk, worker), 9, 4)] == list(range(9))


def test_an_interrupt_of_shared_out_work_waits_for_the_threads():
    running = []

    def job(chunk, worker):
        if worker == 0:
            raise KeyboardInterrupt
        running.append(chunk)
        time.sleep(0.05)
        running.remove(chunk)

    with pytest.raises(KeyboardInterrupt):
        jit.share_out(job, 50, 3)
    assert not running  # nothing writes into the caller's arrays any more


def test_many_callers_share_the_threads():
    errors = []

    def call():
        for _ in range(30):
            found = jit.share_out(lambda chunk, worker: (chunk, worker), 12, 3)
            if [chunk for chunk, _ in found] != list(range(12)) or not {worker for _, worker in found} <= {0, 1, 2}:
                errors.append(found)

    callers = [threading.Thread(target=call) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not errors


def test_no_call_compiles_and_the_process_never_imports_numba(tmp_path):
    """A user's loop from its first call until compiled kernels run it: another process compiles them."""
    program = f"""
        {AT_ONCE}
        import sys, time
        sys.path.insert(0, "tests/benchmarks")
        import common_programs
        import grb_tile as gb
        from grb_tile.backends.cpu.jit import cache as jit, compiler_process
        from grb_tile.planner import tuning
        waits = []
        jit.compiler_process.CompilerProcess.wait = lambda self, key, seconds=0: waits.append(key)
        tuning.FELT_SECONDS = 0.001
        A = common_programs.graph(gb, 9)
        levels, deadline = set(), time.monotonic() + 60
        while True:
            levels.add(common_programs.bfs(gb, A))
            kernels = [k for k in jit._kernels.values() if k.template.startswith("matvec")]
            if any(kernel.functions is not None for kernel in kernels):
                break
            assert time.monotonic() < deadline, jit.failures()
        levels.add(common_programs.bfs(gb, A))
        assert len(levels) == 1 and not waits and not jit.failures(), (levels, waits, jit.failures())
        assert not {{"numba", "llvmlite"}} & set(sys.modules)
        assert compiler_process.current().is_running()
    """
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Two kernels that come with the package, and nothing in the cache."""
    recipes = [Recipe("vectors", {"X_ISO": True, "VALUE": char, "INDEX": "i"}) for char in "di"]
    first, second = (recipe.data() for recipe in recipes)
    (tmp_path / "list.json").write_text(json.dumps({"install": [first], "release": [second]}))
    program = f"""
        import pathlib
        from grb_tile.backends.cpu.jit import prebuild
        prebuild.LIST = pathlib.Path({str(tmp_path / "list.json")!r})
        assert prebuild.prebuild({str(tmp_path / "prebuilt")!r}, "install") == (1, [])
        assert prebuild.prebuild({str(tmp_path / "prebuilt")!r}) == (2, [])
        count, failed = prebuild.prebuild({str(tmp_path / "late")!r}, "release", 0.0)
        assert count == 0 and "not compiled within 0 s" in failed[0][1]
    """
    done = run(program, tmp_path / "cache")
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(jit, "PREBUILT", tmp_path / "prebuilt")
    monkeypatch.setattr(jit, "_mode", "auto")
    jit.forget()
    yield tmp_path / "prebuilt"
    jit.forget()


@pytest.mark.skipif(not links_here() or not features() >= jit.BASELINE_FEATURES, reason="needs Linux on x86-64-v3")
def test_kernels_of_the_package_are_used_where_the_processor_can_run_them(package, monkeypatch):
    def find():
        jit.forget()
        return jit.plain_kernel("vectors", X_ISO=True, VALUE="d", INDEX="i").functions_for(1e-6)

    clear(find())
    for path in package.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert find() is None  # damaged
    for known in ({"sse2"}, jit.BASELINE_FEATURES - {"bmi2"}):
        monkeypatch.setattr(jit, "features", lambda known=known: frozenset(known))
        assert find() is None and not jit._prebuilt_keys()


def test_the_list_of_a_release_fits_the_templates():
    """Each recipe names a template, and every constant that the template's types need; one in twenty is made a text."""
    recipes = prebuild.recipes()
    assert len(recipes) > 50
    for recipe in recipes:
        wanted = {
            text for forms in parameter_types(recipe.template).values() for form in forms for _, text in form
        } - set(ARRAYS) - set(NUMBERS)  # fmt: skip
        assert wanted - {"ROWS"} <= set(recipe.constants), (recipe.template, wanted)
    for recipe in random.Random(SEED).sample(recipes, len(recipes) // 20):
        text, functions = text_of(recipe)
        compile(text, recipe.template, "exec")
        assert functions
