"""Tests over the CPU emulation: arrays between guard zones; the slow run repeats them under other schedules."""

import math

import pytest

from cuda_emulation import memory
from cuda_emulation.backend import EMULATED

SCHEDULES = 3  # of a test's launches, over all of its cases, at least


@pytest.fixture(autouse=True)
def guarded_arrays():
    memory.guard(EMULATED)
    yield
    memory.guard(False)


@pytest.fixture(autouse=True)
def schedule():
    """Its number is part of the test's name, from which the emulation draws the orders of threads."""


def pytest_generate_tests(metafunc):
    cases = math.prod(len(mark.args[1]) for mark in metafunc.definition.iter_markers("parametrize"))
    repeated = range(1, -(-SCHEDULES // cases) if EMULATED and cases else 1)
    if repeated:
        more = [pytest.param(k, marks=pytest.mark.slow, id=f"schedule{k}") for k in repeated]
        metafunc.parametrize("schedule", [pytest.param(0, id="schedule0"), *more], indirect=True)
