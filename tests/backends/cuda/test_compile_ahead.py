"""Compilation in threads, what is expected of a program, and the kernels of a release: NVRTC, no GPU."""

import json
import lzma
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

pytest.importorskip("cupy")

from grb_tile.backends.cuda import prebuild
from grb_tile.backends.cuda.runtime import ahead, compile as jit, cupy_kernels, package as packages
from grb_tile.backends.cuda.runtime.ahead import Compilations
from grb_tile.backends.cuda.runtime.kernel_groups import KernelGroups, Prediction
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


def test_a_kernel_that_is_asked_for_before_it_is_needed(cache, monkeypatch):
    """It is compiled in a thread, once; a failure counts as an end, and the request raises it."""
    compilations = Compilations(90)
    assert not compilations.is_ready(instance())
    wait_for_threads()
    assert compilations.is_ready(instance()) and [name for _, name in cache] == ["grb_tile_nvrtc"]
    compilations.get(instance())
    compilations.drop(instance())
    assert compilations.is_ready(instance()) and len(cache) == 1  # from the disk
    compilations.is_ready(instance(text=BROKEN))
    wait_for_threads()
    assert compilations.is_ready(instance(text=BROKEN))
    with pytest.raises(JitError, match="nothing_of_that_name"):
        compilations.get(instance(text=BROKEN))
    monkeypatch.setattr(ahead, "thread_count", lambda: 1)
    assert compilations.is_ready(instance(3))  # there is no thread for it


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


def test_what_is_expected_by_most_comes_first():
    a, b, c, d, e = (instance(k) for k in range(5))
    groups = record({"one": [a, b, c, d], "two": [a, b, d, e], "three": [a, d, e]})
    groups._costs.update({b: 5, e: 9})
    prediction = Prediction(groups)
    prediction.asked(a)
    assert prediction.expected_with(a) == [a, d, e, b]  # three ask for a and d, two for e and b


def test_each_request_puts_what_it_leaves_to_expect_before_the_rest(cache, monkeypatch):
    a, b, c, d, e, f = (instance(k) for k in range(6))
    groups = record({"one": [a, b, c], "two": [a, d, e, f]})
    monkeypatch.setattr(ahead, "recorded", lambda: groups)
    monkeypatch.setattr(ahead.threading.Thread, "start", lambda self: (_ for _ in ()).throw(RuntimeError("no thread")))
    threads, compilations = ahead.Threads(), Compilations(90)
    monkeypatch.setattr(ahead, "_threads", threads)

    def waiting():
        names = {job: other for other, job in compilations._jobs.items()}
        return [names[job] for job in threads._waiting]

    compilations.get(a)
    assert waiting() == [b, c, d, e, f] and not threads._running
    compilations.get(e)
    assert waiting() == [d, f, b, c]
    compilations.drop(d)
    assert [job.begun for job in threads._waiting] == [False] * 4


def test_cupys_usual_kernels_are_compiled_once_with_the_device(cache, monkeypatch):
    programs = {"one": [0, 1], "two": [1, 2], "three": [1, 3], "four": [1, 0]}
    monkeypatch.setattr(cupy_kernels, "recorded", lambda: {"programs": programs})
    begun = []
    monkeypatch.setattr(cupy_kernels, "compile_kernel", lambda *arguments: begun.append(arguments[:3]))

    def begin(arch, device):
        begun.clear()
        Compilations(arch, device=device).begin()
        wait_for_threads()
        return begun

    assert begin(90, None) == []
    with monkeypatch.context() as context:
        context.setattr(ahead, "thread_count", lambda: 1)
        assert begin(90, 0) == []
    assert sorted(begin(90, 0)) == [(0, 90, 0), (1, 90, 0)]  # of two and of all four
    assert begin(90, 0) == []
    assert cupy_kernels.usual() == [1, 0]
    assert len(begin(80, 1)) == 2


def test_the_record_of_cupys_kernels_is_read_in_little_memory():
    """It is read while the first call runs; a reader of xz allocates the dictionary that its writer chose."""
    packed = cupy_kernels.RECORD.read_bytes()
    tracemalloc.start()
    text = lzma.decompress(packed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert json.loads(text)["kernels"] and peak < 4e6


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
    import atexit, os, sys, threading, time
    {early}
    sys.path[:0] = [{root!r}, {tests!r}]
    from backends.cuda.test_compile_ahead import instance, record
    from grb_tile.backends.cuda.runtime import ahead, compile as jit
    ahead.thread_count = lambda: 5
    slow = [("graph/sssp.cuh", "sssp", "", ("unsigned", "4", "false", str(32 * k), "1", "true")) for k in range(1, 25)]
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
        assert len(ahead._threads._running) == 4
        while len(ahead._threads.workers._all) < 4:
            time.sleep(0.01)
        print(*(worker.pid for worker in ahead._threads.workers._all))
        print(len(os.listdir(os.environ["GRB_TILE_CACHE"] + "/cuda")))
        {ending}
    """
    last = "atexit.register(lambda: print(len(ahead._threads._waiting), len(ahead._threads._running)))"
    done = run(program, tmp_path, last)
    assert (done.returncode, done.stderr) == (0, "")
    *pids, before, waiting, running = map(int, done.stdout.split())
    assert (waiting, running) == (0, 0)
    assert len(pids) == 4 and not any(map(is_process, pids))
    finished = [name for name in entries(tmp_path) if name.endswith(".cubin")]
    assert len(finished) <= before + 2, "of four that ran some were nearly done"


def test_a_forked_child_compiles_on_its_own(tmp_path):
    program = """
        import warnings
        compilations.get(instance())
        child = os.fork()
        if not child:
            assert not ahead._threads._running and not ahead._threads._waiting
            try:
                assert ahead._threads._lock.acquire(timeout=60)
                ahead._threads._lock.release()
                job = ahead.Job(lambda compiler: ("name", b"code"))
                ahead._threads.submit([job])
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
        import signal
        ahead.thread_count = lambda: 3  # each worker compiles to its end, which takes seconds
        compilations.get(instance())
        while len(ahead._threads.workers._all) < 2:
            time.sleep(0.01)
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
        assert done.returncode == -signal.SIGKILL and len(pids) == 2
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


def test_the_archive_of_the_nearest_architecture_serves(tmp_path):
    """Of those that the driver can load; kernels of an earlier one know less of the device."""
    for arch, nvrtc in ((80, 12), (86, 12), (88, 13), (90, 12)):
        packages.write_package(tmp_path, arch, (nvrtc, 0), {"key": b"payload"})
    for driver, served in (
        (13000, {80: 80, 86: 86, 87: 86, 88: 88, 89: 88, 90: 90}),
        (12000, {86: 86, 88: 86, 89: 86}),
    ):
        for arch, wanted in served.items():
            assert package_for(arch, driver, tmp_path).arch == wanted, (arch, driver)


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
