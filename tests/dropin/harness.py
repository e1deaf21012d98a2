"""Run python-graphblas's own installed tests against grb_tile and compare with the list of known differences.

    python tests/dropin/harness.py                        everything
    python tests/dropin/harness.py test_matrix.py -k mxm  a file, an expression; other arguments go to pytest
    python tests/dropin/harness.py --library graphblas    the control: the tests against python-graphblas itself

The tests are copied from the installed wheel into a temporary folder and run in a subprocess where `graphblas` names
grb_tile (alias_plugin.py), with their_conftest.py in the place of the original conftest.
"""

import argparse
import fnmatch
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KNOWN = HERE / "known_differences.txt"
FOLDER = "pgb_tests"


def installed_tests():
    """The folder of the installed test-suite, found without importing the package."""
    spec = importlib.util.find_spec("graphblas")
    if spec is None or spec.origin is None:
        raise RuntimeError(
            "python-graphblas is not installed: the drop-in check needs its test-suite "
            "(pip install python-graphblas[default])"
        )
    tests = Path(spec.origin).parent / "tests"
    if not tests.is_dir():
        raise RuntimeError(f"the installed python-graphblas has no tests folder at {tests}")
    return tests


def read_known(path=KNOWN):
    """{pattern: reason}; a line is `test id  # reason`, a reason is required."""
    known = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        pattern, mark, reason = line.partition("  # ")
        if not mark or not reason.strip():
            raise ValueError(f"{path.name}:{number}: no reason given; write `test id  # reason`")
        if pattern.strip() in known:
            raise ValueError(f"{path.name}:{number}: {pattern.strip()} is listed twice")
        known[pattern.strip()] = reason.strip()
    return known


def run(library="grb_tile", arguments=(), timeout=1800, limit=120, python=sys.executable, quiet=False):
    """Run python-graphblas's tests; return (outcomes {id: (outcome, text)}, return code, output)."""
    source = installed_tests()
    with tempfile.TemporaryDirectory(prefix="grb-dropin-") as folder:
        folder = Path(folder)
        shutil.copytree(source, folder / FOLDER, ignore=shutil.ignore_patterns("__pycache__", "conftest.py"))
        shutil.copy(HERE / "their_conftest.py", folder / FOLDER / "conftest.py")
        arguments = [f"{FOLDER}/{argument}" if argument.startswith("test_") else argument for argument in arguments]
        if not any(argument.startswith(FOLDER) for argument in arguments):
            arguments.append(FOLDER)
        return run_pytest(library, folder, arguments, timeout, limit, python, quiet)


def run_pytest(library, folder, arguments, timeout, limit=120, python=sys.executable, quiet=True, variables=None):
    """Run pytest in `folder` where `graphblas` names `library`; return (outcomes, return code, output)."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes long\n", encoding="utf-8")
    report = folder / "report.json"
    environment = dict(os.environ, **(variables or {}))
    environment.update(GRB_DROPIN_LIBRARY=library, GRB_DROPIN_REPORT=str(report), GRB_DROPIN_TIMEOUT=str(limit))
    paths = [str(HERE), *([] if library == "graphblas" else [str(ROOT)])]
    environment["PYTHONPATH"] = os.pathsep.join([*paths, environment.get("PYTHONPATH", "")])
    plugins = [("-p", name) for name in ("alias_plugin", "no:cacheprovider", "no:xdist", "no:randomly")]
    command = [python, "-m", "pytest", "-q", *(word for pair in plugins for word in pair), "--tb=short"]
    command += ["-W", "ignore::pytest.PytestUnknownMarkWarning", *arguments]
    output = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        timeout=timeout,
        check=False,
        text=True,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.STDOUT if quiet else None,
    )
    outcomes = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    return outcomes, output.returncode, output.stdout or ""


def compare(outcomes, known):
    """(unlisted failures, listed tests that passed, listed patterns that match nothing)."""

    def listed(name):
        return name in known or any(fnmatch.fnmatchcase(name, p) for p in known if "*" in p)

    failures = {name: text for name, (outcome, text) in outcomes.items() if outcome == "failed" and not listed(name)}
    passing = [name for name, (outcome, _) in outcomes.items() if outcome == "passed" and listed(name)]
    absent = [p for p in known if not any(name == p or fnmatch.fnmatchcase(name, p) for name in outcomes)]
    return failures, sorted(passing), sorted(absent)


def counts(outcomes):
    tally = {"passed": 0, "failed": 0, "skipped": 0}
    for outcome, _ in outcomes.values():
        tally[outcome] += 1
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="grb_tile")
    parser.add_argument("--json", help="write the outcome of each test to this file")
    parser.add_argument("--limit", type=int, default=120, help="seconds a test may take")
    chosen, arguments = parser.parse_known_args()
    outcomes, code, _ = run(chosen.library, arguments, limit=chosen.limit)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(outcomes, indent=1, sort_keys=True), encoding="utf-8")
    if not outcomes:
        print(f"the tests did not start (pytest ended with {code})")
        return 2
    tally = counts(outcomes)
    known = read_known()
    failures, passing, absent = compare(outcomes, known)
    print(
        f"\ndrop-in: {tally['passed']} passed, {tally['failed']} failed, {tally['skipped']} skipped; "
        f"{len(failures)} failures are not listed in {KNOWN.name}"
    )
    for name in passing:
        print(f"  listed but passes: {name}")
    if not arguments:
        for name in absent:
            print(f"  listed but not found: {name}")
    return 1 if failures or passing else 0


if __name__ == "__main__":
    sys.exit(main())
