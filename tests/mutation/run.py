"""Plant faults one at a time in copies of the checkout and run the tests that should notice them.

    python tests/mutation/run.py                        # all faults, one job a core
    python tests/mutation/run.py --sample 20 --seed 3   # twenty of them
    python tests/mutation/run.py --only write.py        # those whose name contains a text
    python tests/mutation/run.py --output results.md    # a table of the result
    python tests/mutation/run.py --generated 30 --layer core --seed 1    # thirty mutants that generated.py draws

A mutant meets the quick tests of its layer that execute its line; which ones these are is recorded once, and kept in
the temporary directory until a file changes. A mutant that none executes is reported at once.

A fault is noticed when a test fails, or when the tests do not end in --limit seconds (a fault can make a loop endless).
Ends with exit code 1 if a fault was not noticed that is not marked as surviving, or if one so marked was noticed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import hashlib
import itertools
import json
import os
import pathlib
import queue
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mutation import generated, lines
from mutation.faults import ROOT, Fault, all_faults
from support import seeds

COPIED = (
    "grb_tile",
    "kernels",
    "algorithms",
    "tests",
    "examples",
    "docs",
    "pyproject.toml",
    "README.md",
)
NOT_CPP = "does not compile"  # what the CPU emulation says of a change that is no C++
LIMIT = 600.0  # seconds for the tests of one fault
MEMORY = 8 << 30  # bytes of address space: a fault can make a result of any size


@dataclasses.dataclass
class Outcome:
    fault: Fault
    noticed: bool
    by: str  # the first test that failed, or why the run ended
    seconds: float

    @property
    def as_expected(self) -> bool:
        return self.noticed != bool(self.fault.survives)


def copy_of_checkout(folder: pathlib.Path) -> pathlib.Path:
    """A copy of what the tests need, in `folder`."""
    ignored = shutil.ignore_patterns("__pycache__", "cache", "_build", ".hypothesis")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        elif source.exists():
            shutil.copy2(source, folder / name)
    return folder


def _bound_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def environment_of(folder: pathlib.Path) -> dict[str, str]:
    """The environment of a run of tests in the copy at `folder`."""
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", GRB_TILE_NO_BYTECODE="1")
    paths = (str(folder), str(folder / "tests"), os.environ.get("PYTHONPATH"))
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environment["GRB_TILE_CACHE"] = str(folder / ".kernels")
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    return environment


def tests_of(fault: Fault, folder: pathlib.Path, limit: float) -> tuple[bool, str]:
    """(did a test fail?, which one or why) in the copy of the checkout at `folder`."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
    command += ["-p", "no:randomly", *fault.tests]
    environment = environment_of(folder)
    if fault.chosen:
        command += ["-p", "mutation.lines"]
        environment[lines.CHOSEN] = str(folder / "chosen")
        (folder / "chosen").write_text("\n".join(fault.chosen))
    process = subprocess.Popen(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, preexec_fn=_bound_memory,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True, f"no end in {limit:.0f} s"
    if process.returncode == 0:
        return False, ""
    if process.returncode == 5 and fault.chosen:
        return True, "its tests are no longer there"
    if process.returncode == 5:
        raise SystemExit(f"{fault.name}: no tests in {' '.join(fault.tests)}")
    if fault.path.endswith(".cuh") and NOT_CPP in output:
        return True, NOT_CPP
    failures = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if process.returncode in (1, 2) and failures:
        return True, failures[0].partition(" - ")[0].split(" ", 1)[1]
    if process.returncode < 0 or process.returncode > 128:
        return True, f"pytest ended by signal {abs(process.returncode)}"
    if "MemoryError" in output:
        return True, f"more than {MEMORY >> 30} GiB of memory"
    raise SystemExit(f"{fault.name}: pytest could not run (exit code {process.returncode}):\n{output[-2000:]}")


def plant(fault: Fault, folder: pathlib.Path, limit: float = LIMIT) -> Outcome:
    """Plant the fault in the copy, run its tests, restore the copy."""
    path = folder / fault.path
    text = path.read_text()
    started = time.monotonic()
    path.write_text(fault.planted(text))
    try:
        noticed, by = tests_of(fault, folder, limit)
    finally:
        path.write_text(text)
    return Outcome(fault, noticed, by, time.monotonic() - started)


def run(
    faults: list[Fault], jobs: int, limit: float = LIMIT, report=print, kernels: pathlib.Path | None = None
) -> list[Outcome]:
    """The outcomes of all faults, in their order; `report` gets a line for each as it ends.

    kernels: compiled before, for programs without a fault; their keys are digests of what they are made of.
    """
    with tempfile.TemporaryDirectory(prefix="grb-tile-mutation-", ignore_cleanup_errors=True) as temporary:
        folders: queue.Queue = queue.Queue()
        for job in range(min(jobs, len(faults))):
            folder = copy_of_checkout(pathlib.Path(temporary) / str(job))
            if kernels is not None:
                _give_kernels(kernels, folder)
            folders.put(folder)

        def one(fault: Fault) -> Outcome:
            folder = folders.get()
            try:
                outcome = plant(fault, folder, limit)
            finally:
                folders.put(folder)
            state = "noticed" if outcome.noticed else "survives" if fault.survives else "NOT NOTICED"
            report(f"{state:11} {outcome.seconds:6.1f} s  {fault.name}  {outcome.by}")
            return outcome

        with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
            return list(pool.map(one, faults))


def _kept_record(layer: str, cases: int | None) -> pathlib.Path:
    """Where the record of the lines of a layer's tests is kept: a place that depends on all that could change it."""
    text = hashlib.sha256(f"{seeds.SEED} {sys.version}".encode())
    folders = ["grb_tile", "algorithms", "tests/support"]
    paths = [path for name in folders for path in (ROOT / name).rglob("*.py")]
    paths += [path for name in generated.LAYERS[layer][1] for start in ROOT.glob(name) for path in _files(start)]
    for path in sorted(paths):
        text.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    few = f"-{cases}" if cases else ""
    name = f"{recorded_as(layer)}{few}-{text.hexdigest()[:16]}.json"
    return pathlib.Path(tempfile.gettempdir()) / "grb-tile-lines" / name


def _kernels_of(layer: str) -> pathlib.Path:
    """Where what the layer's tests compiled is kept."""
    return pathlib.Path(tempfile.gettempdir()) / "grb-tile-lines" / f"{recorded_as(layer)}-kernels"


def recorded_as(layer: str) -> str:
    """The first layer with the same tests: one record serves both."""
    return next(name for name, (_, tests) in generated.LAYERS.items() if tests == generated.LAYERS[layer][1])


def _give_kernels(kernels: pathlib.Path, folder: pathlib.Path) -> None:
    if kernels.exists():
        shutil.copytree(kernels, folder / ".kernels")


def _files(start: pathlib.Path) -> list[pathlib.Path]:
    return list(start.rglob("*.py")) if start.is_dir() else [start]


def record_of(layer: str, report=print, cases: int | None = None) -> lines.Record:
    """Which quick tests of the layer execute which lines; cases: of each test, all if left out."""
    kept = _kept_record(layer, cases)
    if not kept.exists():
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="grb-tile-mutation-", ignore_cleanup_errors=True) as temporary:
            folder = copy_of_checkout(pathlib.Path(temporary))
            _give_kernels(_kernels_of(layer), folder)
            (folder / "sitecustomize.py").write_text(lines.SITE)
            (folder / "record").mkdir()
            command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
            command += ["-p", "no:randomly", "-p", "mutation.lines", *generated.tests_of(layer)]
            environment = environment_of(folder) | {lines.RECORD: str(folder / "record"), lines.CASES: str(cases or 0)}
            made = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True)
            written = folder / "record" / "lines.json"
            if made.returncode not in (0, 1) or not written.exists():
                raise SystemExit(f"the tests of {layer} could not run:\n{made.stdout[-2000:]}{made.stderr[-2000:]}")
            kept.parent.mkdir(exist_ok=True)
            shutil.copy2(written, kept)
            if (folder / ".kernels").exists():
                shutil.rmtree(_kernels_of(layer), ignore_errors=True)
                shutil.copytree(folder / ".kernels", _kernels_of(layer))
        report(f"the lines of the tests of {layer} took {time.monotonic() - started:.0f} s")
    record = lines.Record(json.loads(kept.read_text()))
    if record.failed:
        report(f"left out, because they fail without a mutant: {', '.join(record.failed)}")
    return record


def generated_faults(
    layer: str, count: int, seed: int, report=print, cases: int | None = None, kinds: list[str] | None = None
) -> tuple[list[Fault], list[Fault]]:
    """(mutants with the tests that execute their line, mutants whose line no test executes), `count` in all."""
    record = record_of(layer, report, cases)
    mutants = itertools.islice(generated.drawn(layer, seed, kinds or ()), count)
    drawn = [generated.with_tests(mutant, record) for mutant in mutants]
    return [mutant for mutant in drawn if mutant.chosen], [mutant for mutant in drawn if not mutant.chosen]


def run_generated(
    layers: list[str], count: int, seed: int, jobs: int, limit: float, report=print, cases: int | None = None,
    kinds: list[str] | None = None,
) -> str:  # fmt: skip
    """Plants mutants of each layer; the result as Markdown."""
    rows = ["| layer | mutants | noticed | not executed | executed, not noticed |", "|---|---|---|---|---|"]
    for layer in layers:
        executed, others = generated_faults(layer, count, seed, report, cases, kinds)
        for mutant in others:
            report(f"NOT EXECUTED         {mutant.name}")
        outcomes = run(executed, jobs, limit, report, _kernels_of(layer)) if executed else []
        outcomes = [outcome for outcome in outcomes if outcome.by != NOT_CPP]
        noticed = sum(outcome.noticed for outcome in outcomes)
        rows.append(
            f"| {layer} | {len(outcomes) + len(others)} | {noticed} | {len(others)} | {len(outcomes) - noticed} |"
        )
    return "\n".join(rows) + "\n"


def table(outcomes: list[Outcome]) -> str:
    """The result as Markdown: a line an area, then every fault that was not noticed with its reason."""
    lines = ["| file | faults | noticed |", "|---|---|---|"]
    paths = sorted({outcome.fault.path for outcome in outcomes})
    for path in paths:
        of_path = [outcome for outcome in outcomes if outcome.fault.path == path]
        lines.append(f"| {path} | {len(of_path)} | {sum(outcome.noticed for outcome in of_path)} |")
    noticed = sum(outcome.noticed for outcome in outcomes)
    lines.append(f"| all | {len(outcomes)} | {noticed} ({100 * noticed / max(1, len(outcomes)):.0f} %) |")
    missed = [outcome for outcome in outcomes if not outcome.noticed]
    if missed:
        lines += ["", "| not noticed | reason |", "|---|---|"]
        lines += [f"| {outcome.fault.name} | {outcome.fault.survives or 'NO TEST NOTICES IT'} |" for outcome in missed]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="faults whose name contains this text")
    parser.add_argument("--sample", type=int, help="how many of them, chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for the tests of one fault")
    parser.add_argument("--list", action="store_true", help="list the faults and end")
    parser.add_argument("--output", type=pathlib.Path, help="file for the table")
    parser.add_argument("--generated", type=int, metavar="N", help="plant N mutants drawn by --seed in each --layer")
    parser.add_argument("--cases", type=int, metavar="N", help="the first N cases of each test only, which takes less")
    parser.add_argument("--kind", action="append", help="mutants of this kind alone, such as `barrier removed`")
    parser.add_argument("--layer", action="append", choices=sorted(generated.LAYERS), help="all if left out")
    given = parser.parse_args(arguments)
    if given.generated is not None:
        print(f"seed {given.seed}")
        layers = given.layer or list(generated.LAYERS)
        text = run_generated(
            layers, given.generated, given.seed, given.jobs, given.limit, _print, given.cases, given.kind
        )
        return _end(text, given.output)
    faults = [fault for fault in all_faults() if not given.only or any(text in fault.name for text in given.only)]
    if given.sample is not None and given.sample < len(faults):
        faults = random.Random(given.seed).sample(faults, given.sample)
    if given.list:
        for fault in faults:
            print(fault.name)
        return 0
    outcomes = run(faults, given.jobs, given.limit, report=_print)
    _end(table(outcomes), given.output)
    return int(not all(outcome.as_expected for outcome in outcomes))


def _print(line: str) -> None:
    print(line, flush=True)


def _end(text: str, output: pathlib.Path | None) -> int:
    print(text)
    if output:
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
