"""NetworkX's own tests against the backend.

    python tests/nx/suite.py                                   # all of them, strict mode
    python tests/nx/suite.py --fallback                        # NetworkX serves what the backend does not have
    python tests/nx/suite.py networkx.algorithms.components    # some modules; further arguments go to pytest
    python tests/nx/suite.py --record                          # both modes, each module on its own, into record.json

In NetworkX's test mode every graph is converted and every call dispatched.  In strict mode a test ends as expected
failure (xfail) at the first function that the backend does not have; in fallback mode NetworkX runs that function.
Since a test that never reaches the backend passes, too, recorder.py counts those that do.  record.json has the counts
of the modules that it lists, each run on its own.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import installed


def run(arguments, *, fallback=False, record=None, **options):
    """NetworkX's tests in a process of their own; `arguments` are modules, and options of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(__file__).resolve().parent
        variables = installed.environment(folder)
        variables["PYTHONPATH"] += os.pathsep + str(here)
        variables |= {"NETWORKX_TEST_BACKEND": "grb_tile", "NETWORKX_WARNINGS_TO_IGNORE": "cache"}
        if fallback:
            variables["NETWORKX_FALLBACK_TO_NX"] = "True"
        if record is not None:
            variables["GRB_TILE_NX_RECORD"] = str(record)
        settings = pathlib.Path(folder) / "pytest.ini"  # else pytest takes those of a checkout above the environment
        settings.write_text("[pytest]\n")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "recorder",
            "-c",
            str(settings),
        ]
        return subprocess.run([*command, "--pyargs", *arguments], env=variables, cwd=folder, **options)


RECORD = pathlib.Path(__file__).resolve().parent / "record.json"
# what the tests of this project run, a sample of the record
SUBSET = [
    "networkx.algorithms.components",
    "networkx.algorithms.link_analysis",
    "networkx.algorithms.shortest_paths",
    "networkx.algorithms.traversal.tests.test_bfs",
    *(f"networkx.algorithms.centrality.tests.test_{name}_centrality" for name in ("closeness", "degree", "harmonic")),
    *(f"networkx.algorithms.tests.test_{name}" for name in ("cluster", "core", "dag", "link_prediction")),
    "networkx.linalg.tests.test_laplacian",
    "networkx.tests.test_convert_scipy",
]


def counts(modules, fallback):
    """(what recorder.py counts, the exit status) of one run."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "record.json"
        done = run(modules, fallback=fallback, record=file)
        return json.loads(file.read_text(encoding="utf-8")), done.returncode


def record():
    """Run the modules of record.json in both modes and write the counts there; the exit status: did any test fail?"""
    import networkx as nx

    made, failed = json.loads(RECORD.read_text(encoding="utf-8")), 0
    made["networkx"] = nx.__version__
    for mode in ("strict", "fallback"):
        total, functions = collections.Counter(), set()
        for module in made[mode]["modules"]:
            print(f"{mode}: {module}", flush=True)
            found, status = counts([f"networkx.{module}"], mode == "fallback")
            functions.update(found.pop("functions"))
            total.update(found)
            failed |= status
        names = [name for name in made[mode] if name in found]
        made[mode] = {"modules": made[mode]["modules"], **{name: total[name] for name in names}}
        made[mode]["functions called in passing tests"] = len(functions)
    found, status = counts(SUBSET, False)
    made["subset"] = {name: found[name] for name in made["subset"]}
    RECORD.write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
    return failed | status


if __name__ == "__main__":
    if "--record" in sys.argv:
        sys.exit(record())
    chosen = [argument for argument in sys.argv[1:] if argument != "--fallback"]
    if not any(argument.startswith("networkx") for argument in chosen):
        chosen.insert(0, "networkx")
    sys.exit(run(chosen, fallback="--fallback" in sys.argv, record=os.environ.get("GRB_TILE_NX_RECORD")).returncode)
