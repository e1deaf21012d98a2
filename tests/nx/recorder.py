"""A pytest plugin for NetworkX's own tests: which functions of the backend each test called, and how it ended.

    NETWORKX_TEST_BACKEND=grb_tile python -m pytest -p recorder --pyargs networkx

With GRB_TILE_NX_RECORD=FILE the counts are written as JSON.  Calls through NetworkX's dispatch count while the
test itself runs: from the test, or from a function of NetworkX that it calls.  Calls in fixtures do not count.
"""

import collections
import functools
import json
import os

import pytest

CALLED = []
STATE = {"test": False}


def recording(name, function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if STATE["test"]:
            CALLED.append(name)
        return function(*args, **kwargs)

    return call


def pytest_collection_modifyitems():
    from grb_tile.nx.interface import backend
    from grb_tile.nx.registry import FUNCTIONS

    for name in FUNCTIONS:
        setattr(backend, name, recording(name, getattr(backend, name)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    CALLED.clear()
    STATE["test"] = True
    yield
    STATE["test"] = False
    item.user_properties.append(("grb_tile", sorted(set(CALLED))))


class Totals:
    def __init__(self):
        self.outcomes = collections.Counter()
        self.any = self.algorithm = 0
        self.functions = collections.Counter()

    def add(self, report, kinds):
        if report.when == "call":
            self.outcomes["xfailed" if hasattr(report, "wasxfail") and report.skipped else report.outcome] += 1
            called = dict(report.user_properties).get("grb_tile", [])
            if report.passed:
                self.any += bool(called)
                self.algorithm += any(kinds[name] == "algorithm" for name in called)
                self.functions.update(called)
        elif report.failed:
            self.outcomes["error"] += 1
        elif report.skipped:
            self.outcomes["skipped" if not hasattr(report, "wasxfail") else "xfailed"] += 1

    def record(self):
        return {
            **{name: self.outcomes[name] for name in ("passed", "failed", "error", "xfailed", "skipped")},
            "passed and called the backend": self.any,
            "passed and called an algorithm": self.algorithm,
            "functions": dict(sorted(self.functions.items())),
        }


def pytest_configure(config):
    config.stash[TOTALS] = Totals()
    config.pluginmanager.register(Reporter(config), "grb_tile_reporter")


TOTALS = pytest.StashKey()


class Reporter:
    def __init__(self, config):
        self.config = config

    def pytest_runtest_logreport(self, report):
        from grb_tile.nx.registry import FUNCTIONS

        kinds = {name: implementation.kind for name, implementation in FUNCTIONS.items()}
        self.config.stash[TOTALS].add(report, kinds)

    def pytest_terminal_summary(self, terminalreporter):
        record = self.config.stash[TOTALS].record()
        line = ", ".join(f"{value} {name}" for name, value in record.items() if name != "functions")
        terminalreporter.write_line(f"grb_tile: {line}; {len(record['functions'])} functions")
        if path := os.environ.get("GRB_TILE_NX_RECORD"):
            with open(path, "w", encoding="utf-8") as file:
                json.dump(record, file, indent=1)
