"""pytest plugin: inside its process, `import graphblas` gives the library under test (grb_tile) under that name.

See graphblas_alias.py.  The plugin also writes the outcome of each test to the file named by GRB_DROPIN_REPORT
and ends a test that runs longer than GRB_DROPIN_TIMEOUT seconds.

Imported by `python -m pytest -p alias_plugin` in the subprocess that harness.py starts; never in the main process.
"""

import json
import os
import signal

import graphblas_alias
import pytest

LIBRARY = os.environ.get("GRB_DROPIN_LIBRARY", "grb_tile")


graphblas_alias.install(LIBRARY)


class Outcomes:
    def __init__(self, path):
        self.path = path
        self.outcomes = {}

    @staticmethod
    def short(nodeid):
        """Without the folder of the environment, or that of copied tests."""
        return nodeid.split("site-packages/")[-1].removeprefix("pgb_tests/")

    def note(self, nodeid, outcome, text):
        order = {"passed": 0, "skipped": 1, "failed": 2}
        old = self.outcomes.get(nodeid)
        if old is None or order[outcome] > order[old[0]]:
            self.outcomes[nodeid] = (outcome, text)

    def pytest_runtest_logreport(self, report):
        text = ""
        if report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            text = crash.message if crash is not None else str(report.longrepr)
            if isinstance(report.longrepr, tuple):
                text = report.longrepr[2]
        self.note(self.short(report.nodeid), report.outcome, text[:300])

    def pytest_collectreport(self, report):
        if report.outcome == "failed":
            self.note(self.short(report.nodeid) + "::collect", "failed", str(report.longrepr)[-600:])
        elif report.outcome == "skipped":
            self.note(self.short(report.nodeid) + "::collect", "skipped", str(report.longrepr[2])[:300])

    def pytest_sessionfinish(self, session):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.outcomes, file, indent=1, sort_keys=True)


def pytest_configure(config):
    path = os.environ.get("GRB_DROPIN_REPORT")
    if path:
        config.pluginmanager.register(Outcomes(path), "dropin-outcomes")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    limit = int(os.environ.get("GRB_DROPIN_TIMEOUT", "120"))

    def stop(signum, frame):
        raise TimeoutError(f"{item.nodeid} ran longer than {limit} s")

    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(limit)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
