"""Processes that compile with NVRTC: the same code as in this process, errors, killed ones, reuse; no GPU."""

import os
import signal
import struct
import sys
import threading
import time

import pytest

pytest.importorskip("cupy")

from backends.cuda.test_compile_ahead import BROKEN, instance, is_process, run

from grb_tile.backends.cuda.runtime import ahead, compile as jit, nvrtc_workers
from grb_tile.backends.cuda.runtime.nvrtc_workers import Compiler, Workers
from grb_tile.exceptions import JitError

# Without the headers of kernels/: NVRTC names their static data at random.
THIRDS = """
namespace grb {}
template <class T> __global__ void thirds(T* x) { x[threadIdx.x] = x[threadIdx.x] / 3 + GRB_CUDA; }
"""


def code_of(cubin):
    """{name: bytes} of the sections of machine code and constants of an ELF file of 64 bits."""
    table, size, count, names = *struct.unpack_from("<Q", cubin, 40), *struct.unpack_from("<HHH", cubin, 58)
    heads = [struct.unpack_from("<IIQQQQ", cubin, table + k * size) for k in range(count)]
    text = cubin[heads[names][4] :]
    found = {text[head[0] : text.index(b"\0", head[0])]: cubin[head[4] : head[4] + head[5]] for head in heads}
    return {name: code for name, code in found.items() if name.startswith((b".text.", b".nv.constant"))}


def lengths_of(cubin):
    return {name: len(code) for name, code in code_of(cubin).items()}


@pytest.fixture
def workers():
    found = Workers()
    yield found
    found.stop()
    found.close()


@pytest.mark.parametrize("options", [(), ("-ftz=true", "-DOTHER=1")])
def test_a_worker_compiles_what_this_process_does(workers, options):
    text, expression = jit.source_text(None, "thirds", THIRDS, ("float",))
    compiler = Compiler(workers)
    found = jit.compile_cubin(text, expression, 90, options, compiler.in_worker)
    assert compiler._worker is not None
    # Some releases of NVRTC give one of many codes of equal length for one text, also within a process.
    name, here = jit.compile_cubin(text, expression, 90, options)
    assert name == found[0] and lengths_of(here) == lengths_of(found[1])
    assert found[1][:4] == b"\x7fELF" and found[0].encode() in found[1]
    other = jit.compile_cubin(text, expression, 90, ("-use_fast_math",))
    assert len(code_of(found[1])) > 1 and code_of(found[1]) != code_of(other[1])


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
    text, expression = jit.source_text("graph/sssp.cuh", "sssp", "", ("unsigned", "4", "false", "32", "1", "true"))
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


def test_this_process_compiles_where_a_worker_hangs(workers, monkeypatch):
    monkeypatch.setattr(nvrtc_workers, "MOST_SECONDS", 0.2)
    text, expression = jit.source_text(None, "thirds", THIRDS, ("float",))
    compiler = Compiler(workers)
    worker = compiler._worker
    os.kill(worker.pid, signal.SIGSTOP)
    found = jit.compile_cubin(text, expression, 90, (), compiler)
    assert found[1][:4] == b"\x7fELF" and worker not in workers._all
    worker._process.wait(10)
    assert worker._process.returncode == -signal.SIGKILL


def test_threads_have_the_workers_of_earlier_ones(monkeypatch):
    monkeypatch.setattr(ahead, "thread_count", lambda: 3)
    threads, seen = ahead.Threads(), []
    try:
        for k in range(3):
            text, expression = jit.source_text(*instance(k))
            jobs = [
                ahead.Job(lambda compiler, made=(text, expression): jit.compile_cubin(*made, 90, (), compiler))
                for _ in range(4)
            ]
            threads.submit(jobs)
            while threads._running:
                time.sleep(0.01)
            seen.append({worker.pid for worker in threads.workers._all})
        assert len(seen[0]) == 2 and seen[0] == seen[1] == seen[2]
        assert all(os.getsid(pid) == pid for pid in seen[0]), "an interrupt of the terminal does not reach them"
    finally:
        threads.stop()
    assert not any(map(is_process, seen[0]))


@pytest.mark.parametrize("missing", ["executable", "library"])
def test_a_system_without_workers_compiles_in_this_process(workers, monkeypatch, missing):
    if missing == "executable":
        monkeypatch.setattr(sys, "executable", "/no/python/here")
    else:
        monkeypatch.setattr(nvrtc_workers, "library", lambda: "/no/library/here")
    text, expression = jit.source_text(None, "thirds", THIRDS, ("float",))
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
    assert len(workers._all) == {processes} and len(here) == (0 if {processes} else 9)  # the first is empty
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
