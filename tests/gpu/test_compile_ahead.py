"""On a device, with an empty cache: kernels come from threads, results are those of the CPU, and the process ends."""

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import json, sys, threading
import grb_tile as gb
from grb_tile import algorithms as alg, generators
from grb_tile.backends.cuda.runtime import compile as jit

threads, real = [], jit.compile_cubin

def counted(*arguments):
    threads.append(threading.current_thread().name)
    return real(*arguments)

jit.compile_cubin = counted
counts = []
for backend in ("cuda", "cpu"):
    gb.config.set(backend=backend)
    G = alg.Graph.of_symmetric(generators.kronecker(10, 16))
    counts.append([int(alg.triangle_count(G)), int(alg.bfs(G, 0).levels.reduce().new().value)])
print(json.dumps({"counts": counts, "ahead": threads.count("grb_tile_nvrtc"), "all": len(threads)}))
"""


def run(tmp_path):
    environment = {**os.environ, "GRB_TILE_CACHE": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_first_calls_compile_in_threads_and_later_processes_nothing(tmp_path):
    first = run(tmp_path)
    assert first["counts"][0] == first["counts"][1]
    assert first["ahead"] > 0 if len(os.sched_getaffinity(0)) > 1 else first["ahead"] == 0
    again = run(tmp_path)
    assert again["counts"] == first["counts"] and again["all"] == 0
