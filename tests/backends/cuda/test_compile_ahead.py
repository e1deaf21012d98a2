"""Compilation in threads, what is expected of a program, and the kernels of a release: NVRTC, no GPU."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("cupy")

from grb_tile.backends.cuda import prebuild
from grb_tile.backends.cuda.runtime import ahead, compile as jit, nvrtc_workers, package as packages
from grb_tile.backends.cuda.runtime.ahead import Compilations
from grb_tile.backends.cuda.runtime.kernel_groups import KernelGroups, Prediction
from grb_tile.backends.cuda.runtime.nvrtc_workers import Compiler, Workers
from grb_tile.backends.cuda.runtime.package import Package, package_for
from grb_tile.exceptions import InvalidValue, JitError

HEADER = "base/launch.cuh"
DOUBLED = "template <class T, int K> __global__ void doubled(T* x) { x[threadIdx.x] *= 2 + K; }"
BROKEN = "template <class T, int K> __global__ void doubled(T* x) { nothing_of_that_name(); }"


def instance(k=0, text=DOUBLED):
    return HEADER, "doubled", text, ("int", str(k))


def record(programs, cost=1):
    """KernelGroups of {name: instances}."""
    listed = list(dict.fromkeys(i for asked in programs.values() for i in asked))
    texts = list(dict.fromkeys(i[2] for i in listed))
    return KernelGroups(
        {
            "functors": texts,
            "kernels": [[h, n, texts.index(f), list(t), cost] for h, n, f, t in listed],
            "programs": {name: [listed.index(i) for i in asked] for name, asked in programs.items()},
        }
    )


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache on disk; a record of nothing; counts of what NVRTC compiled."""
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ahead, "thread_count", lambda: 3)
    monkeypatch.setattr(ahead, "recorded", lambda: record({}))
    compiled, real = [], jit.compile_cubin

    def counted(text, expression, *rest):
        compiled.append((expression, threading.current_thread().name))
        return real(text, expression, *rest)

    monkeypatch.setattr(jit, "compile_cubin", counted)
    return compiled


def wait_for_threads():
    while ahead._threads._running:
        time.sleep(0.01)


def entries(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache" / "cuda").iterdir())


def test_requests_for_one_kernel_at_once_compile_it_once(cache):
    compilations, found = Compilations(90), []
    barrier = threading.Barrier(6)

    def request():
        barrier.wait()
        found.append(compilations.get(instance()))

    threads = [threading.Thread(target=request) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6 and len(set(found)) == 1 and len(cache) == 1
    name, cubin = found[0]
    assert cubin[:4] == b"\x7fELF" and name.encode() in cubin
    compilations.drop(instance())
    assert compilations.get(instance()) == found[0] and len(cache) == 1  # from the disk


def test_the_kernels_of_a_program_are_compiled_with_its_first(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(ahead, "recorded", lambda: record({"p": [instance(k) for k in range(5)]}))
    compilations = Compilations(90)
    compilations.get(instance(0))
    wait_for_threads()
    assert sorted(e for e, _ in cache) == [f"doubled<int, {k}>" for k in range(5)]
    main = threading.current_thread().name
    assert [thread == main for e, thread in cache if e == "doubled<int, 0>"] == [True]
    assert "grb_tile_nvrtc" in {thread for _, thread in cache}
    assert len(entries(tmp_path)) == 5
    for k in range(5):
        assert compilations.get(instance(k))[0]
    assert len(cache) == 5
    Compilations(90).get(instance(3))  # another process: all from the disk, nothing is started
    assert len(cache) == 5


def test_a_request_takes_over_what_no_thread_has_begun(cache, monkeypatch):
    monkeypatch.setattr(ahead, "recorded", lambda: record({"p": [instance(k) for k in range(4)]}))
    monkeypatch.setattr(ahead._threads, "submit", lambda jobs: None)  # all threads are busy
    compilations = Compilations(90)
    for k in range(4):
        compilations.get(instance(k))
    assert len(cache) == 4 and {thread for _, thread in cache} == {threading.current_thread().name}


def test_one_thread_compiles_nothing_ahead(cache, monkeypatch):
    monkeypatch.setattr(ahead, "recorded", lambda: record({"p": [instance(k) for k in range(4)]}))
    monkeypatch.setattr(ahead, "thread_count", lambda: 1)
    Compilations(90).get(instance(0))
    wait_for_threads()
    assert len(cache) == 1


def test_errors_are_raised_by_the_request_alone(cache, monkeypatch):
    broken = instance(1, BROKEN)
    monkeypatch.setattr(ahead, "recorded", lambda: record({"p": [instance(0), broken, instance(2)]}))
    compilations = Compilations(90)
    compilations.get(instance(0))
    wait_for_threads()
    assert len(cache) == 3
    for _ in range(2):
        with pytest.raises(JitError, match="nothing_of_that_name"):
            compilations.get(broken)
        compilations.drop(broken)
    compilations.get(instance(2))


def test_candidates_are_the_programs_that_agree_with_the_requests():
    a, b, c, d, e, f, x = (instance(k) for k in range(7))
    groups = record({"one": [a, b, c, d], "two": [a, b, e], "three": [a, f], "four": [x]})
    prediction = Prediction(groups)
    prediction.asked(a)
    assert prediction.expected_with(a) == [a, b]  # of two in three
    prediction.asked(c)
    assert set(prediction.expected_with(c)) == {a, b, c, d}
    prediction.asked(x)  # another program begins
    assert prediction.expected_with(x) == [x]
    prediction.asked(instance(99))  # not recorded, and no functors of its kernel are alike
    prediction.asked(e)
    assert set(prediction.expected_with(e)) == {a, b, e}
    groups = record({"one": [a, b, c], "two": [a, b, d, e], "three": [d, f]})
    prediction = Prediction(groups)
    prediction.asked(b)
    prediction.asked(d)  # of two and three, but three has no b
    assert set(prediction.expected_with(d)) == {a, b, d, e}


def test_functors_that_are_not_recorded_take_the_place_of_recorded_ones():
    plus, minus, other = (f"struct S {{ {text} }};\n// {text}" for text in ("plus", "minus", "other"))

    def of(name, text):
        return "products/rows.cuh", name, text, ("int32_t", "S")

    analyse = "products/spgemm.cuh", "spgemm_analyse", "", ("int32_t",)
    groups = record({"p": [analyse, of("count", plus), of("fill", plus), of("fill", other)], "q": [of("sum", minus)]})
    prediction = Prediction(groups)
    new = of("count", plus.replace("plus", "plus ", 1))
    prediction.asked(new)
    assert prediction.expected_with(new) == [analyse, new, of("fill", new[2])]
    assert prediction.expected_with(of("unknown", plus)) == []


# ---------------------------------------------------------------------- processes

PROGRAM = """
    import atexit, os, sys, threading
    {early}
    sys.path[:0] = [{root!r}, {tests!r}]
    from backends.cuda.test_compile_ahead import instance, record
    from grb_tile.backends.cuda.runtime import ahead, compile as jit
    ahead.thread_count = lambda: 9
    slow = [("traversal/sssp.cuh", "sssp", "", ("unsigned", "4", "false", str(32 * k), "1")) for k in range(1, 25)]
    ahead.recorded = lambda: record({{"p": [instance(), *slow]}})
    compilations = ahead.Compilations(90)
"""


def run(program, tmp_path, early=""):
    """early: a line that runs before grb_tile is imported."""
    root = os.getcwd()
    head = textwrap.dedent(PROGRAM).format(root=root, tests=os.path.join(root, "tests"), early=early)
    environment = {**os.environ, "GRB_TILE_CACHE": str(tmp_path / "cache")}
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "ignore", "-W", "always::ResourceWarning",
         "-c", head + textwrap.dedent(program)],
        env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("ending", ["pass", "raise SystemExit(0)"])
def test_a_process_ends_while_threads_compile(tmp_path, ending):
    """What runs is ended, what waits is left; no process stays."""
    program = f"""
        compilations.get(instance())
        assert len(ahead._threads._running) == 8
        while len(ahead._threads.workers._all) < 8:
            pass
        print(*(worker.pid for worker in ahead._threads.workers._all))
        print(len(os.listdir(os.environ["GRB_TILE_CACHE"] + "/cuda")))
        {ending}
    """
    last = "atexit.register(lambda: print(len(ahead._threads._waiting), len(ahead._threads._running)))"
    done = run(program, tmp_path, last)
    assert (done.returncode, done.stderr) == (0, "")
    *pids, before, waiting, running = map(int, done.stdout.split())
    assert (waiting, running) == (0, 0)
    assert len(pids) == 8 and not any(map(is_process, pids))
    finished = [name for name in entries(tmp_path) if name.endswith(".cubin")]
    assert len(finished) <= before + 4, "of eight that ran some were nearly done"


def test_a_forked_child_compiles_on_its_own(tmp_path):
    program = """
        import time, warnings
        compilations.get(instance())
        child = os.fork()
        if not child:
            assert not ahead._threads._running and not ahead._threads._waiting
            try:
                assert ahead._threads._lock.acquire(timeout=60)
                ahead._threads._lock.release()
                job = ahead.Job(lambda compiler: ("name", b"code"))
                ahead._threads.submit([(1, job)])
                while ahead._threads._running:
                    time.sleep(0.01)
                assert job.result() == ("name", b"code") and not compilations._jobs
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = run(program, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_killed_process_leaves_none_behind(tmp_path):
    """Nor where a forked child lives on: it holds no end of the workers' pipes."""
    program = """
        import signal, time
        compilations.get(instance())
        while len(ahead._threads.workers._all) < 8:
            pass
        child = os.fork()
        if not child:
            os.close(1), os.close(2)
            time.sleep(300)
            os._exit(0)
        print(child, *(worker.pid for worker in ahead._threads.workers._all), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = run(program, tmp_path)
    child, *pids = map(int, done.stdout.split())
    try:
        assert done.returncode == -signal.SIGKILL and len(pids) == 8
        until = time.monotonic() + 100  # each finishes its kernel
        while any(map(is_process, pids)) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(map(is_process, pids)) and is_process(child)
    finally:
        os.kill(child, signal.SIGKILL)


def is_process(pid):
    """Is there a process of that number, which has not ended?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


# ---------------------------------------------------------------------- compilation in processes

THIRDS = """
namespace grb {}
template <class T> __global__ void thirds(T* x) { x[threadIdx.x] = x[threadIdx.x] / 3 + GRB_CUDA; }
"""


@pytest.fixture
def workers():
    found = Workers()
    yield found
    found.stop()
    found.close()


@pytest.mark.parametrize("options", [(), ("-ftz=true", "-DOTHER=1")])
def test_a_worker_compiles_what_this_process_does(workers, options):
    text, expression = jit.source_text(None, "thirds", THIRDS, ("float",))  # NVRTC names static data at random
    compiler = Compiler(workers)
    found = jit.compile_cubin(text, expression, 90, options, compiler.in_worker)
    assert compiler._worker is not None
    assert found == jit.compile_cubin(text, expression, 90, options)
    assert found[1][:4] == b"\x7fELF" and found[0].encode() in found[1]
    assert found[1] not in (jit.compile_cubin(text, expression, 90, ("-use_fast_math",))[1], b"")


def test_errors_of_a_worker_are_those_of_this_process(workers):
    text, expression = jit.source_text(*instance(0, BROKEN))
    compiler = Compiler(workers)
    logs = []
    for compile_source in (compiler.in_worker, jit.in_process):
        with pytest.raises(JitError, match=r"doubled<int, 0> does not compile for sm_90") as caught:
            jit.compile_cubin(text, expression, 90, (), compile_source)
        logs.append(
            [line[line.index("rest(1): error:") :] for line in str(caught.value).splitlines() if "error:" in line]
        )
    assert logs[0] == logs[1] and "nothing_of_that_name" in logs[0][0]
    text, expression = jit.source_text(*instance(0))
    assert jit.compile_cubin(text, expression, 90, (), compiler.in_worker)[0]  # it goes on


def test_this_process_compiles_where_a_worker_was_killed(workers):
    text, expression = jit.source_text("traversal/sssp.cuh", "sssp", "", ("unsigned", "4", "false", "32", "1"))
    compiler = Compiler(workers)
    (worker,) = workers._all
    found = []
    thread = threading.Thread(target=lambda: found.append(jit.compile_cubin(text, expression, 90, (), compiler)))
    thread.start()
    time.sleep(0.3)
    os.kill(worker.pid, signal.SIGKILL)
    thread.join()
    assert found[0][1][:4] == b"\x7fELF" and not workers._all and worker._process.returncode == -signal.SIGKILL
    compiler.close()
    other = Compiler(workers)  # the next thread has one again
    (worker,) = workers._all
    other.close()
    os.kill(worker.pid, signal.SIGKILL)
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
    other = Compiler(workers)  # one that ended meanwhile is not taken
    assert workers._all and worker not in workers._all
    for _ in range(nvrtc_workers.MOST_FAILURES):
        workers.failed(other._worker)
    assert Compiler(workers)._worker is None


def test_threads_have_the_workers_of_earlier_ones(cache):
    threads, seen = ahead.Threads(), []
    try:
        for k in range(3):
            text, expression = jit.source_text(*instance(k))
            jobs = [
                ahead.Job(lambda compiler, made=(text, expression): jit.compile_cubin(*made, 90, (), compiler))
                for _ in range(4)
            ]
            threads.submit((1, job) for job in jobs)
            while threads._running:
                time.sleep(0.01)
            seen.append({worker.pid for worker in threads.workers._all})
        assert len(seen[0]) == 2 and seen[0] == seen[1] == seen[2]
    finally:
        threads.stop()
    assert not any(map(is_process, seen[0]))


@pytest.mark.parametrize("missing", ["executable", "library"])
def test_a_system_without_workers_compiles_in_this_process(workers, monkeypatch, missing):
    if missing == "executable":
        monkeypatch.setattr(sys, "executable", "/no/python/here")
    else:
        monkeypatch.setattr(nvrtc_workers, "library", lambda: "/no/library/here")
    text, expression = jit.source_text(*instance(0))
    compiler = Compiler(workers)
    assert jit.compile_cubin(text, expression, 90, (), compiler) == jit.compile_cubin(text, expression, 90)
    assert compiler._worker is None


CUPYS = """
    import contextlib, threading
    import cupy
    from cupy.cuda import compiler as theirs
    from cupy_backends.cuda.libs import nvrtc
    from grb_tile.backends.cuda.runtime import cupy_kernels
    from grb_tile.backends.cuda.runtime.nvrtc_workers import Compiler, Workers

    class Module:  # which the driver loads
        load = _set_mapping = lambda self, code: None

    theirs.function.Module = Module
    theirs._get_arch = lambda: "90"
    theirs._get_arch_for_options_for_nvrtc = lambda arch=None: ("-arch=sm_90", "cubin")
    cupy.cuda.Device = lambda number: contextlib.nullcontext()
    cupy.cuda.runtime.memGetInfo = lambda: None
    here, whole = [], nvrtc.compileProgram
    nvrtc.compileProgram = lambda *arguments: (here.append(arguments), whole(*arguments))[1]
    workers = Workers()
    if not {processes}:
        workers._failures = 99
    compiler = Compiler(workers)
    for number in range(8):
        cupy_kernels.compile_kernel(number, 90, 0, compiler)
    assert len(workers._all) == {processes} and len(here) == (0 if {processes} else 9)  # an empty one to learn a version
    theirs._compile_module_with_cache("__global__ void f() {{}}", ())
    assert len(here) == (2 if {processes} else 11)  # all others compile as before
    workers.stop(), workers.close()
"""


def test_cupys_kernels_are_the_entries_that_cupy_makes(tmp_path, monkeypatch):
    found = []
    for processes in (0, 1):
        folder = tmp_path / str(processes)
        monkeypatch.setenv("CUPY_CACHE_DIR", str(folder))
        done = run(CUPYS.format(processes=processes), folder)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        found.append({path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()})
    assert found[0] == found[1] and len(found[0]) == 9


# ---------------------------------------------------------------------- the whole list, the kernels of a release


def test_the_cache_is_filled_once(cache, monkeypatch):
    broken = instance(9, BROKEN)
    monkeypatch.setattr(ahead, "recorded", lambda: record({"p": [instance(0), broken], "q": [instance(1)]}))
    seen = []
    done, failed, seconds = ahead.fill_cache([80, 90], lambda *counts: seen.append(counts))
    assert done == 4 and seen == [(k, 6) for k in range(1, 7)] and seconds > 0
    assert sorted(name for name, _ in failed) == ["doubled for sm_80", "doubled for sm_90"]
    assert all("nothing_of_that_name" in reason for _, reason in failed)
    assert ahead.fill_cache([80, 90])[0] == 0
    Compilations(80).get(instance(1))
    assert sum("1>" in expression for expression, _ in cache) == 2
    with pytest.raises(InvalidValue, match=r"architectures: .*7\.0 is not supported"):
        ahead.fill_cache([70])


def test_kernels_of_a_release_are_found_and_verified(cache, monkeypatch, tmp_path):
    folder = tmp_path / "prebuilt"
    count, failed = prebuild.prebuild(folder, (80, 90), 2, [instance(0), instance(1)])
    assert (count, failed) == (4, [])
    assert sorted(path.name for path in folder.iterdir()) == ["sm_80.kernels", "sm_90.kernels"]
    wanted = Compilations(90).get(instance(0))
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path / "empty"))
    cache.clear()

    def get(arch, driver=13050):
        package = package_for(arch, driver, folder)
        return Compilations(arch, (), package).get(instance(0))

    assert get(90) == wanted and not cache
    monkeypatch.setattr(jit, "compiler", lambda: type("NVRTC", (), {"getVersion": staticmethod(lambda: (99, 0))}))
    assert get(90) == wanted and not cache, "any version of NVRTC finds them"
    monkeypatch.undo()


def test_which_archive_serves_a_device(cache, tmp_path):
    folder = tmp_path / "prebuilt"
    prebuild.prebuild(folder, (80, 90), 2, [instance(0)])
    major = 1000 * jit.compiler().getVersion()[0]
    assert [getattr(package_for(arch, major, folder), "arch", None) for arch in (75, 80, 86, 89, 90, 100, 120)] == [
        None, 80, 80, 80, 90, None, None,
    ]  # fmt: skip
    assert package_for(90, major + 2000, folder).arch == 90
    assert package_for(90, major - 10, folder) is None, "drivers load nothing of a later major version"
    assert package_for(90, major, tmp_path / "none") is None


def test_a_damaged_archive_is_as_good_as_none(cache, tmp_path):
    folder = tmp_path / "prebuilt"
    prebuild.prebuild(folder, (90,), 2, [instance(0)])
    text, expression = jit.source_text(*instance(0))
    key, path = jit.key_of(text, expression, 90), folder / "sm_90.kernels"
    whole = path.read_bytes()
    assert Package(path, 90).get(key) and Package(path, 90).get("other") is None
    start = whole.index(b"\n") + 1
    for damaged in (whole[:-1], whole[: start + 40] + b"x" + whole[start + 41 :], whole[:start]):
        path.write_bytes(damaged)
        assert Package(path, 90).get(key) is None
    for head in (b"", b"{}\n", b"[1]\n", b'{"nvrtc": [13], "entries": {"a": 3}}\n', b"\xff\xfe\n"):
        path.write_bytes(head + whole[start:])
        assert package_for(90, 99000, folder) is None
    other = packages.write_package(folder, 90, (13, 0), {"another key": b"payload"})
    moved = other.read_bytes().replace(b"another key", b"renamed key")
    other.write_bytes(moved)
    assert Package(other, 90).get("renamed key") is None, "an entry is verified with its key"
