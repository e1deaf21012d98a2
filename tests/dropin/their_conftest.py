"""Takes the place of python-graphblas's own tests/conftest.py: the same names, no random choice of backend or mode."""

import contextlib
import functools
import itertools
import os
import platform

import graphblas as gb
import pytest

orig_binaryops = set()
orig_semirings = set()
pypy = platform.python_implementation() == "PyPy"


def operator_names(module, kinds):
    deprecated = getattr(module, "_deprecated", {})
    found = set()
    for name in dir(module):
        if name != "ss" and not name.startswith("__"):
            value = deprecated[name] if name in deprecated else getattr(module, name)
            if isinstance(value, kinds):
                found.add(name)
    return found


def kinds_named(*names):
    return tuple(kind for kind in (getattr(gb.core.operator, name, None) for name in names) if isinstance(kind, type))


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long")
    config.runslow = not os.environ.get("GRB_DROPIN_FAST")
    gb.config.set(autocompute=False, mapnumpy=bool(os.environ.get("GRB_DROPIN_MAPNUMPY")))
    gb.init("suitesparse", blocking=False)
    orig_semirings.update(operator_names(gb.semiring, kinds_named("Semiring", "ParameterizedSemiring")))
    orig_binaryops.update(operator_names(gb.binary, kinds_named("BinaryOp", "ParameterizedBinaryOp")))
    for module in (gb.unary, gb.binary, gb.monoid, gb.semiring, gb.op):
        for name in list(getattr(module, "_delayed", ())):
            getattr(module, name)


def pytest_runtest_setup(item):
    if "slow" in item.keywords and not item.config.runslow:
        pytest.skip("slow, and GRB_DROPIN_FAST is set")


@pytest.fixture(autouse=True)
def _reset_name_counters():
    for kind in (gb.Matrix, gb.Vector, gb.Scalar):
        kind._name_counter = itertools.count()


@contextlib.contextmanager
def burble():
    previous = gb.ss.config["burble"]
    gb.ss.config["burble"] = True
    try:
        yield
    finally:
        gb.ss.config["burble"] = previous


@pytest.fixture(scope="session")
def burble_all():
    with burble():
        yield burble


def autocompute(func):
    @functools.wraps(func)
    def inner(*args, **kwargs):
        with gb.config.set(autocompute=True):
            return func(*args, **kwargs)

    return inner


def compute(x):
    return x


def shouldhave(module, name):
    return True
