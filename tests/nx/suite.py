"""NetworkX's own tests against the backend.

    python tests/nx/suite.py                                   # all of them, strict mode
    python tests/nx/suite.py --fallback                        # NetworkX serves what the backend does not have
    python tests/nx/suite.py networkx.algorithms.components    # some modules; further arguments go to pytest

In NetworkX's test mode every graph is converted and every call dispatched.  In strict mode a test ends as expected
failure (xfail) at the first function that the backend does not have; in fallback mode NetworkX runs that function.
Since a test that never reaches the backend passes, too, recorder.py counts those that do.  record.json has the counts
of the modules that it lists, each run on its own.
"""

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


if __name__ == "__main__":
    chosen = [argument for argument in sys.argv[1:] if argument != "--fallback"]
    if not any(argument.startswith("networkx") for argument in chosen):
        chosen.insert(0, "networkx")
    sys.exit(run(chosen, fallback="--fallback" in sys.argv, record=os.environ.get("GRB_TILE_NX_RECORD")).returncode)
