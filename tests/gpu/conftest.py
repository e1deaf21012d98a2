"""Tests of this folder need a CUDA device: all carry the mark `gpu`.  Where there is none, and only there, one test of
each file is skipped and the others are left out.

What is there but cannot be used (CuPy without its libraries, no python-graphblas for the batteries) fails, with the
remedy.  A run of the whole folder writes RECORD.md's table of batteries.
"""

import collections
import time
from pathlib import Path

import pytest

from gpu import record
from gpu.batteries import batteries, devices, in_order

HERE = Path(__file__).resolve().parent
TOGETHER = (
    "test_wide.py",  # its matrix of 2^31 entries must not be there twice
    "test_ranks.py",  # kernels of ranks wait for one another: with several such tests on the devices they take turns
)
START = time.monotonic()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With -n, one test after another goes to the next free process; those of TOGETHER go to one, as one."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return next((file for file in TOGETHER if f"/{file}::" in nodeid), nodeid)

    return Scheduling(config, log)


def weight(item):
    """How long a test takes, roughly: parts of long files first, then other batteries, then the rest."""
    battery = getattr(getattr(item, "callspec", None), "params", {}).get("battery")
    return 0 if battery is None else battery.parts + 1


def pytest_collection_modifyitems(config, items):
    own = [item for item in items if item.path.is_relative_to(HERE)]
    if not own:
        return
    for item in own:
        item.add_marker(pytest.mark.gpu)
    if not devices():  # one test of each file is reported as skipped, the others are left out
        first = {item.path: item for item in reversed(own)}
        for item in first.values():
            item.add_marker(pytest.mark.skip(reason="no CUDA device (or no CuPy) on this machine"))
        others = {item: None for item in own if item is not first[item.path]}
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=list(others))
        return
    if len(own) == len(items):
        items[:] = in_order(items, getattr(config, "workerinput", {}).get("workercount", 1), weight)


def rows_of(stats):
    """{battery, or file of this folder: record.Row} of a terminal reporter's statistics; how many batteries ran."""
    rows, ran = collections.defaultdict(record.Row), 0
    for outcome in ("passed", "failed", "skipped", "error"):
        for report in stats.get(outcome, ()):
            found = dict(getattr(report, "user_properties", ()))
            file = report.nodeid.partition("::")[0].rpartition("/")[2]
            if "battery" in found:
                ran += 1
                rows[found["battery"]].add(**found["counts"], seconds=found["seconds"], host=found["host"])
            elif file != "test_batteries.py" or outcome in ("failed", "error"):
                what = "failed" if outcome == "error" else outcome
                rows[file].add(**{what: 1}, seconds=getattr(report, "duration", 0.0))
    return dict(sorted(rows.items(), key=lambda item: (item[0].startswith("test_"), item[0]))), ran


def pytest_terminal_summary(terminalreporter, config):
    """The table of batteries; a run of the whole folder leaves it in RECORD.md."""
    rows, ran = rows_of(terminalreporter.stats)
    if not ran:
        return
    processes = config.getoption("numprocesses", None) or 1
    text = record.table(rows, record.facts(), processes, time.monotonic() - START)
    terminalreporter.write_line(text)
    for report in sorted(terminalreporter.stats.get("passed", ()), key=lambda report: -report.duration)[:8]:
        terminalreporter.write_line(f"{report.duration:.0f} s {report.nodeid}")
    if ran == len(batteries()) and not config.option.keyword and not config.option.markexpr.replace("not slow", ""):
        record.write(text)
        terminalreporter.write_line(f"written to {record.RECORD}")
