"""Seeds in the header, hypothesis's profile, the sample of the quick run, the end of the coverage account.

The account of what the conformance suite executed is support/coverage.py's.
"""

import collections
import gc
import os
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest

from support import coverage, sample, seeds

TESTS = Path(__file__).resolve().parent
CONFORMANCE = TESTS / "conformance"

hypothesis.settings.register_profile(
    "grb_tile",
    deadline=None,
    max_examples=20,
    database=None,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.data_too_large],
)
hypothesis.settings.load_profile("grb_tile")


# Tests start hundreds of Python programs, which read byte code where there is some.  Where the environment allows none
# beside the sources, it is kept in the temporary directory; the mutants of tests/mutation are compiled each time.
if sys.dont_write_bytecode and "GRB_TILE_NO_BYTECODE" not in os.environ:
    folder = Path(tempfile.gettempdir(), f"grb-tile-bytecode-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid == os.getuid():
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(folder)
        sys.dont_write_bytecode = False
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected (26,000 cases) stays until the end: no collection of garbage looks at it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config):
    os.environ["GRB_TILE_TEST_QUICK"] = "1" if config.option.markexpr == "not slow" else "0"


def pytest_report_header(config):
    return f"GRB_TILE_SEED={seeds.SEED}"


# Of each test in these folders and files about one case in n runs by default, the others are slow.
SAMPLED = {
    "algorithms/test_forced_plans.py": 3,
    "algorithms/test_pagerank_multi.py": 2,
    "backends/cpu": 4,
    "backends/cuda": 10,
    "backends/test_agree_with_reference.py": 2,
    "backends/test_composed_primitives.py": 2,
    "conformance": 8,
    "laws": 6,
    "planner/test_matvec_work.py": 2,
    "operators/test_types.py": 3,
}


def share(item):
    """n, where one in n of the cases of this item's test runs by default."""
    mark = item.get_closest_marker("sampled")
    if mark is not None:
        return mark.args[0]
    path = item.path.relative_to(TESTS).as_posix() if item.path.is_relative_to(TESTS) else ""
    return SAMPLED.get(path) or SAMPLED.get(path.rpartition("/")[0], 1)


@pytest.hookimpl(tryfirst=True, specname="pytest_collection_modifyitems")
def pytest_mark_what_is_not_sampled(items):
    """Give the cases that the quick run leaves out the mark `slow`, before -m selects.

    Which ones those are depends on GRB_TILE_SEED alone, the same in each worker (support/sample.py).
    """
    cases = collections.defaultdict(list)
    for item in items:
        if getattr(item, "callspec", None) is not None and item.get_closest_marker("slow") is None:
            cases[item.path, item.originalname].append(item)
    for found in cases.values():
        kept = set(sample.chosen(found, share(found[0])))
        for item in found:
            if item not in kept:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(session, config, items):
    """Remember whether all of tests/conformance is going to run; random tests get the one seed."""
    items.sort(key=lambda item: not item.nodeid.endswith(LONG))
    files = {item.path for item in items if item.path.parent == CONFORMANCE}
    named = any("::" in str(argument) for argument in config.args)
    session.stash[WHOLE] = (
        bool(files)
        and files == set(CONFORMANCE.glob("test_*.py"))
        and not named
        and not session.stash.get(DESELECTED, False)
    )
    for item in items:
        test = getattr(item, "obj", None)
        if test is not None and getattr(test, "is_hypothesis_test", False):
            hypothesis.seed(seeds.SEED)(test)


def pytest_runtest_setup(item):
    if "cuda_emulation.schedule" in sys.modules:
        sys.modules["cuda_emulation.schedule"].begin(item.nodeid)


def pytest_runtest_teardown(item):
    if "cuda_emulation.memory" in sys.modules:
        sys.modules["cuda_emulation.memory"].check()


# Begun first: what a process takes up last keeps the others waiting.
LONG = (
    "mutation/test_mutation.py::test_a_sample_of_faults_is_noticed",
    "dropin/test_graphblas_algorithms.py::test_networkx_tests_through_it",
    "dropin/test_graphblas_algorithms.py::test_a_program_on_a_large_graph",
)


WHOLE = pytest.StashKey()
DESELECTED = pytest.StashKey()
MISSING = pytest.StashKey()


def pytest_deselected(items):
    for item in items:
        if item.path.parent == CONFORMANCE:
            item.session.stash[DESELECTED] = True
            item.session.stash[WHOLE] = False


@pytest.fixture(scope="session")
def whole_conformance(request):
    """Skips when only a part of tests/conformance was selected: then nothing can be said about its coverage."""
    if not request.session.stash.get(WHOLE, False):
        pytest.skip("only a part of tests/conformance was selected")


def pytest_sessionfinish(session):
    config = session.config
    if hasattr(config, "workeroutput"):  # a worker of pytest-xdist: the controller adds up
        config.workeroutput["coverage_owed"] = [[*cell, *engines] for cell, engines in coverage.OWED.items()]
        config.workeroutput["coverage_ran"] = [[*cell, *sorted(engines)] for cell, engines in coverage.RAN.items()]
        config.workeroutput["coverage_whole"] = session.stash.get(WHOLE, False)
        return
    if config.stash.get(WORKERS_WHOLE, session.stash.get(WHOLE, False)) and not session.config.option.collectonly:
        config.stash[MISSING] = coverage.missing()
        if config.stash[MISSING]:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


WORKERS_WHOLE = pytest.StashKey()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error):
    output = getattr(node, "workeroutput", {})
    for cell in output.get("coverage_owed", ()):
        coverage.OWED[tuple(cell[:3])] = tuple(cell[3:])
    for cell in output.get("coverage_ran", ()):
        coverage.RAN[tuple(cell[:3])].update(cell[3:])
    node.config.stash[WORKERS_WHOLE] = bool(output.get("coverage_whole", False))


def pytest_terminal_summary(terminalreporter, config):
    if MISSING in config.stash:
        missing = config.stash[MISSING]
        runs = sum(map(len, coverage.OWED.values()))
        terminalreporter.write_line(
            f"conformance: {len(coverage.OWED)} cells, {runs - len(missing)} of {runs} cells x engines ran"
        )
        for cell, engine in missing[:40]:
            terminalreporter.write_line(f"  NOT EXECUTED: {' / '.join(cell)} by {engine}", red=True)
        if len(missing) > 40:
            terminalreporter.write_line(f"  ... and {len(missing) - 40} more", red=True)
