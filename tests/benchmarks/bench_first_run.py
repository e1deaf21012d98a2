"""Programs and jobs of one call run for the first time on a machine, and again.

    python tests/benchmarks/bench_first_run.py [--scales 14,16,18] [--turns 3] [--parts ...] [--write]

programs    with a release's kernels (wheel), those of `pip install .` (checkout) and none (--installs): each script
            with an empty cache (first) and with what that left (second), python-graphblas's beside it, in turn
jobs        after `pip install .`, with an empty cache: the call of a first process over that of a warm one
ratios      after `pip install .`, kron 18: the call of a first, a third and a warm process over python-graphblas's, for
            a process's first call and for the best of its calls
compiled    without any kernel in the package: the third process, and one process that repeats its call

Figures are minima over the turns.  Writes results/first_run.md with --write.
"""

import argparse
import fcntl
import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import common_programs
import first_programs

ROOT = common_programs.ROOT
RESULTS = ROOT / "tests" / "benchmarks" / "results" / "first_run.md"
SIX_JOBS = ("bfs", "pagerank", "mxv", "triangles", "sssp", "components")
PEER_JOBS = tuple(first_programs.PEER_JOBS)
JOB_SCALE, RATIO_SCALE, RATIO_CALLS = 16, 18, 10
FINISHING = "finishing.lock"  # in the cache folder: backends/cpu/jit/worker.py
GOALS = {"first": (1.0, 1.5), "second": (0.8, 1.0)}  # ours over theirs: whole script, algorithm


PREBUILD = {"wheel": "1", "checkout": "", "none": "0"}  # kinds of install -> GRB_TILE_PREBUILD
LIMITS = {"first": 1.5, "third": 1.5, "best": 2.0}  # of a warm call's seconds; of the best call's
SLACK_SECONDS = 0.3  # beside the time of the compilation


def install(folder, kind):
    """The package with the kernels of a kind of install, in a folder of its own below `folder`."""
    target = pathlib.Path(folder) / kind
    if not target.exists():
        print(f"installing ({kind})", file=sys.stderr, flush=True)
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--target"]
        subprocess.run([*command, target, ROOT], env={**os.environ, "GRB_TILE_PREBUILD": PREBUILD[kind]}, check=True)
    return target


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


def compare(name, scale, targets, turns):
    """{"theirs", (kind, "first"), (kind, "second"): (script, algorithm)}: minima in seconds.  Results must agree."""
    found = {}
    for _ in range(turns):
        for kind, target in targets.items():
            with tempfile.TemporaryDirectory() as cache:
                for run in ("first", "second"):
                    found.setdefault((kind, run), []).append(script(name, scale, "grb_tile", target, cache))
                    wait_for_the_finishing(cache)
        found.setdefault("theirs", []).append(script(name, scale, "graphblas", target, "unused"))
    results = [run[2] for runs in found.values() for run in runs]
    assert max(results) - min(results) <= 1e-6 * abs(results[0]), (name, scale, results)
    return {run: tuple(min(part) for part in list(zip(*runs, strict=True))[:2]) for run, runs in found.items()}


def programs(options, folder):
    """Lines of the table of programs."""
    lines = [
        "| program | scale | install | python-graphblas: script, algorithm (s) | first run: script, algorithm (s) "
        "| ratios | second run (s) | ratios |",
        "|---|---|---|---|---|---|---|---|",
    ]
    targets = {kind: install(folder, kind) for kind in options.installs.split(",")}
    for name in options.programs.split(","):
        for scale in map(int, options.scales.split(",")):
            found = compare(name, scale, targets, options.turns)
            theirs = found["theirs"]
            for kind in targets:
                cells = [name, str(scale), kind, f"{theirs[0]:.2f}, {theirs[1]:.3f}"]
                for run in ("first", "second"):
                    ours = found[kind, run]
                    cells.append(f"{ours[0]:.2f}, {ours[1]:.3f}")
                    cells.append(f"{ours[0] / theirs[0]:.2f}, {ours[1] / theirs[1]:.2f}")
                lines.append(row(cells))
    return [f"Goals, ours over python-graphblas's: {GOALS}.", "", *lines]


def row(cells):
    """A line of a table, which is printed, too."""
    line = "| " + " | ".join(cells) + " |"
    print(line, flush=True)
    return line


def job(name, folder, cache, calls=1, library="grb_tile", scale=JOB_SCALE, **variables):
    """The seconds of each call of a job in a process of its own."""
    path = os.pathsep.join([str(folder), str(pathlib.Path(__file__).parent)])
    environment = {**os.environ, "PYTHONPATH": path, "GRB_TILE_CACHE": str(cache)}
    environment.pop("GRB_TILE_JIT", None)
    command = [sys.executable, first_programs.__file__, name, str(scale), "BOOL", str(calls), library]
    run = subprocess.run(
        command, env={**environment, **variables}, capture_output=True, text=True, cwd="/", check=False
    )
    if run.returncode:
        raise RuntimeError(run.stderr)
    return list(map(float, run.stdout.split()[:-1]))


def wait_for_the_finishing(cache):
    """Until the compiler process of an ended program has finished what was asked."""
    path = pathlib.Path(cache) / FINISHING
    time.sleep(0.2)
    if path.exists():
        with open(path, "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)


def jobs(options, folder):
    """Lines of the table of jobs after `pip install .`."""
    lines = ["| job | first process (ms) | warm process (ms) | ratio, at most 1.5 |", "|---|---|---|---|"]
    target = install(folder, "checkout")
    for name in SIX_JOBS:
        first, warm = [], []
        with tempfile.TemporaryDirectory() as cache:
            job(name, target, cache, GRB_TILE_JIT="always")
            for _ in range(options.turns):
                with tempfile.TemporaryDirectory() as empty:
                    first += job(name, target, empty)
                warm += job(name, target, cache)
        ratio = min(first) / min(warm)
        lines.append(row([name, f"{min(first) * 1e3:.1f}", f"{min(warm) * 1e3:.1f}", f"{ratio:.2f}"]))
    return lines


def ratios(options, folder):
    """Lines of the table of jobs on a large graph against python-graphblas."""
    lines = [
        "| job | python-graphblas: first call, best of ten (ms) | first process (ms) | ratios | third process (ms) "
        "| ratios | warm process (ms) | ratios |",
        "|---|---|---|---|---|---|---|---|",
    ]
    target = install(folder, "checkout")
    for name in PEER_JOBS:
        found = {"theirs": [], "first": [], "third": [], "warm": []}
        with tempfile.TemporaryDirectory() as cache:
            job(name, target, cache, GRB_TILE_JIT="always", scale=RATIO_SCALE)
            for _ in range(options.turns):
                with tempfile.TemporaryDirectory() as empty:
                    for run in ("first", "second", "third"):
                        found.setdefault(run, []).append(job(name, target, empty, RATIO_CALLS, scale=RATIO_SCALE))
                        wait_for_the_finishing(empty)
                found["theirs"].append(job(name, target, cache, RATIO_CALLS, "graphblas", RATIO_SCALE))
                found["warm"].append(job(name, target, cache, RATIO_CALLS, scale=RATIO_SCALE))
        least = {run: (min(calls[0] for calls in turns), min(map(min, turns))) for run, turns in found.items()}
        theirs, cells = least["theirs"], [name, "{:.1f}, {:.2f}".format(*(x * 1e3 for x in least["theirs"]))]
        for run in ("first", "third", "warm"):
            cells.append("{:.1f}, {:.2f}".format(*(x * 1e3 for x in least[run])))
            cells.append(", ".join(f"{a / b:.2f}" for a, b in zip(least[run], theirs, strict=True)))
        lines.append(row(cells))
    return lines


def compiled(options, folder):
    """Lines of the table of jobs where nothing is compiled ahead."""
    lines = [
        "| job | compilation (s) | first, second, third process (ms) | warm (ms) | third over warm, at most 1.5 | "
        "calls are within 2x of the best after (s) | allowed (s) |",
        "|---|---|---|---|---|---|---|",
    ]
    target = install(folder, "none")
    for name in SIX_JOBS:
        with tempfile.TemporaryDirectory() as cache:
            whole = job(name, target, cache, 5, GRB_TILE_JIT="always")
            warm = min(job(name, target, cache)[0] for _ in range(options.turns))
        compilation = whole[0] - min(whole)
        with tempfile.TemporaryDirectory() as cache:
            processes = []
            for _ in range(3):
                processes.append(job(name, target, cache)[0])
                wait_for_the_finishing(cache)
        with tempfile.TemporaryDirectory() as cache:
            calls = int((compilation + 5) / max(min(whole), 1e-3))
            seconds = job(name, target, cache, min(calls, 3000))
        best, ends, settled = min(seconds), list(itertools.accumulate(seconds)), 0.0
        for k in range(len(seconds) - 4):  # medians of five calls: one that was interrupted does not count
            if statistics.median(seconds[k : k + 5]) > LIMITS["best"] * best:
                settled = ends[k + 4]
        lines.append(
            row(
                [
                    name, f"{compilation:.2f}", ", ".join(f"{x * 1e3:.1f}" for x in processes), f"{warm * 1e3:.1f}",
                    f"{processes[-1] / warm:.2f}", f"{settled:.2f}", f"{compilation + SLACK_SECONDS:.2f}",
                ]
            )
        )  # fmt: skip
    return lines


PARTS = {"programs": programs, "jobs": jobs, "ratios": ratios, "compiled": compiled}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scales", default="14,16,18")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--programs", default=",".join(common_programs.PROGRAMS))
    parser.add_argument("--installs", default="wheel,checkout", help=f"of the programs: some of {', '.join(PREBUILD)}")
    parser.add_argument("--installed", help="a folder with installs below it, made where they are missing")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = [
        "# First and second runs of whole scripts", "",
        f"`python tests/benchmarks/bench_first_run.py`, minima of {options.turns} turns; {_machine()}.",
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for part in options.parts.split(","):
            print(f"## {part}", flush=True)
            lines += ["", f"## {part}", "", *PARTS[part](options, options.installed or folder)]
    if options.write:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _machine():
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown processor")
    return f"{len(os.sched_getaffinity(0))} cores, {name}, load average {os.getloadavg()[0]:.0f}"


if __name__ == "__main__":
    main()
