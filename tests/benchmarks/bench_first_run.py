"""Six programs (common_programs.py) run for the first time on a machine, and again: whole script and algorithm.

    python tests/benchmarks/bench_first_run.py [--scales 14,16,18] [--turns 3] [--write]

Installs the checkout's wheel with its kernels in a temporary folder, runs each script with an empty cache (first) and
again with what that left (second), and python-graphblas's beside it, in turn; the figures are minima over the turns.
Writes results/first_run.md with --write.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import common_programs

ROOT = common_programs.ROOT
RESULTS = ROOT / "tests" / "benchmarks" / "results" / "first_run.md"
GOALS = {"first": (1.0, 1.5), "second": (0.8, 1.0)}  # ours over theirs: whole script, algorithm


def install(target):
    """The wheel with its kernels, in the folder `target`."""
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target", target, ROOT],
        env={**os.environ, "GRB_TILE_PREBUILD": "1"},
        check=True,
    )


def script(name, scale, library, folder, cache):
    """(seconds of the whole process, seconds of the algorithm, its result)."""
    variables = {**os.environ, "PYTHONPATH": str(folder), "GRB_TILE_CACHE": str(cache)}
    variables.pop("GRB_TILE_JIT", None)
    command = [sys.executable, common_programs.__file__, name, str(scale), library]
    start = time.perf_counter()
    run = subprocess.run(command, env=variables, capture_output=True, text=True, cwd="/")
    seconds = time.perf_counter() - start
    if run.returncode:
        raise RuntimeError(run.stderr)
    inside, result = run.stdout.split()
    return seconds, float(inside), float(result)


def compare(name, scale, folder, turns):
    """{"first", "second", "theirs": (script, algorithm)}: minima in seconds.  Results must agree."""
    found = {"first": [], "second": [], "theirs": []}
    for _ in range(turns):
        with tempfile.TemporaryDirectory() as cache:
            for run in ("first", "second"):
                found[run].append(script(name, scale, "grb_tile", folder, cache))
        found["theirs"].append(script(name, scale, "graphblas", folder, cache))
    results = [run[2] for runs in found.values() for run in runs]
    assert max(results) - min(results) <= 1e-6 * abs(results[0]), (name, scale, results)
    return {run: tuple(min(part) for part in list(zip(*runs, strict=True))[:2]) for run, runs in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", default="14,16,18")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--programs", default=",".join(common_programs.PROGRAMS))
    parser.add_argument("--installed", help="a folder with an installed wheel, in place of building one")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = [
        "| program | scale | python-graphblas: script, algorithm (s) | first run: script, algorithm (s) | ratios | "
        "second run (s) | ratios |",
        "|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        if options.installed:
            folder = options.installed
        else:
            install(folder)
        for name in options.programs.split(","):
            for scale in map(int, options.scales.split(",")):
                found = compare(name, scale, folder, options.turns)
                theirs = found["theirs"]
                cells = [name, str(scale), f"{theirs[0]:.2f}, {theirs[1]:.3f}"]
                for run in ("first", "second"):
                    ours = found[run]
                    cells.append(f"{ours[0]:.2f}, {ours[1]:.3f}")
                    cells.append(f"{ours[0] / theirs[0]:.2f}, {ours[1] / theirs[1]:.2f}")
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], flush=True)
    if options.write:
        head = [
            "# First and second runs of whole scripts",
            "",
            f"`python tests/benchmarks/bench_first_run.py`, minima of {options.turns} turns; {_machine()}.",
            "Goals, ours over python-graphblas's: first run 1.0 (script) and 1.5 (algorithm), second 0.8 and 1.0.",
            "",
        ]
        RESULTS.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


def _machine():
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")
    return f"{len(os.sched_getaffinity(0))} cores, {name}, load average {os.getloadavg()[0]:.0f}"


if __name__ == "__main__":
    main()
