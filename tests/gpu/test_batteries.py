"""The suite's batteries on the device: conformance against SuiteSparse, laws, algorithms, and the tests of the kernels.

What passes on the CPU and what passes here are the same lines of test: each test here runs one part of one file in a
process of its own (batteries.py).  Run them side by side with -n 8; compiled kernels are kept on disk and shared.
"""

import re

import pytest

from gpu.batteries import PARTS, TESTS, batteries, counts

NEED_ORACLE = {"conformance", "laws"}


def test_every_battery_is_there():
    assert all((TESTS / name).exists() for name in PARTS), "a file of PARTS in batteries.py has moved"
    assert len({battery.folder for battery in batteries()}) == 4, "a folder has moved: name it in batteries.py"


@pytest.mark.parametrize("battery", batteries(), ids=str)
def test_battery(battery, record_property):
    if battery.folder in NEED_ORACLE:
        try:
            import graphblas  # noqa: F401
        except ImportError:
            pytest.fail("the batteries compare with SuiteSparse: install python-graphblas (pip install -e '.[test]')")
    status, output, seconds = battery.run()
    found = counts(output)
    host = [found for found in re.findall(r"primitives computed on the host: (.*)", output) if found != "none"]
    record_property("battery", battery.folder)
    record_property("counts", found or {"failed": 1})
    record_property("seconds", seconds)
    record_property("host", f"{battery.file} {host[-1]}" if host else "none")
    assert status == 0 and found, f"{battery}: {found or 'no counts'}\n{output[-12000:]}"
