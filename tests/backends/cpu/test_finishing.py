"""The end of a program: what it asked of the compiler process is finished, in time, by one process a cache folder."""

import json
import os
import time

import pytest
from backends.cpu.programs import AT_ONCE, run

from grb_tile.backends.cpu.jit import compiler_process, worker
from grb_tile.backends.kernel_cache import KernelCache


def _state(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


ASK = f"""
    import os, signal
    {AT_ONCE}
    from grb_tile.backends.cpu.jit import cache as jit, compiler_process
    for char in "bhid":
        assert jit.plain_kernel("vectors", X_ISO=False, VALUE=char, INDEX="i").functions_for(0.5) is None
    print(compiler_process.current()._process.pid, flush=True)
"""


def compiled(folder):
    return len(list((folder / "cpu").glob("vectors-*"))) if folder.exists() else 0


def wait_for_the_end(pid, seconds=60):
    deadline = time.monotonic() + seconds
    while _state(pid) != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param("", id="exit", marks=pytest.mark.slow),
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", id="killed"),
    ],
)
def test_what_was_asked_is_finished_after_the_program(tmp_path, end):
    done = run(ASK + f"    {end}\n", tmp_path)
    assert not done.stderr and (done.returncode == 0 or end), done.stderr
    wait_for_the_end(int(done.stdout))
    assert compiled(tmp_path) == 4


@pytest.mark.slow
def test_one_process_finishes_for_a_cache_folder(tmp_path):
    import fcntl

    tmp_path.mkdir(exist_ok=True)
    with open(tmp_path / worker.FINISHING, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        wait_for_the_end(int(run(ASK, tmp_path).stdout))
    assert compiled(tmp_path) < 4  # those that were done before


def test_finishing_ends_in_time_and_makes_no_folder_anew(tmp_path, monkeypatch):
    """`Compilations` with children that sleep, in this process."""
    written = []

    def slow(request, cache, is_new_folder_welcome):
        time.sleep(0.2)
        (tmp_path / request["key"]).touch()
        return b""

    monkeypatch.setattr(worker, "answer", slow)
    monkeypatch.setattr(worker, "FINISH_SECONDS", 0.5)
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path / "cache"))
    source, sink = os.pipe()
    for number in range(8):
        request = {"key": f"key{number}", "seconds": float(number), "cache": str(tmp_path / "cache")}
        os.write(sink, json.dumps(request).encode() + b"\n")
    os.close(sink)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    start = time.monotonic()
    worker.Compilations(source, nowhere, 1).run()
    assert time.monotonic() - start < 5
    written = sorted(path.name for path in tmp_path.glob("key*"))
    assert written and len(written) < 8
    assert "key7" in written and "key0" not in written  # what costs most comes first
    os.close(source)
    os.close(nowhere)


def test_a_cache_folder_that_was_deleted_meanwhile_stays_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "build", lambda recipe, target: b"[]\ncode")
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path / "gone"))
    request = {"key": "k", "target": "t", "recipe": worker.WARM_UP.data(), "cache": str(tmp_path / "gone")}
    assert worker.answer(request, KernelCache("cpu"), False).endswith(b"[]\ncode")
    assert not (tmp_path / "gone").exists()
    worker.answer(request, KernelCache("cpu"))
    assert (tmp_path / "gone" / "cpu" / "k").exists()


SLEEP = """
import os, sys, time
sys.path[:] = {path!r}
os.nice = int
from grb_tile.backends.cpu.jit import worker
worker.build = lambda recipe, target: target == "warm-up" or time.sleep(600)
worker.thread_count = lambda: 3
worker.main()
"""


def test_stop_ends_the_children_too(tmp_path, monkeypatch):
    monkeypatch.setattr(compiler_process, "_START", SLEEP)
    process = compiler_process.CompilerProcess()
    for key in "abcde":
        process.request(key, "host", worker.WARM_UP.data(), 1.0, lambda *reply: None, str(tmp_path))
    pid = process._process.pid
    children = []
    deadline = time.monotonic() + 60
    while len(children) < 3 and time.monotonic() < deadline:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
    process.stop()
    assert len(children) == 3
    for child in children:
        wait_for_the_end(int(child))
