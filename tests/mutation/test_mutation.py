"""The planted faults fit the code, and a sample of them is noticed (run.py plants all)."""

import ast
import random

import pytest

from mutation import run
from mutation.faults import ROOT, Fault, all_faults
from support import seeds

FAULTS = all_faults()
SAMPLE = 6  # faults of the slow run: about four minutes on one core


@pytest.mark.parametrize("path", sorted({fault.path for fault in FAULTS}))
def test_the_text_of_a_fault_occurs_once(path):
    text = (ROOT / path).read_text()
    for fault in FAULTS:
        if fault.path == path:
            planted = fault.planted(text)
            if path.endswith(".py"):
                ast.parse(planted)
            for name in fault.tests:
                assert (ROOT / name).exists(), f"{fault.name}: {name}"


def test_names_differ():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_at_least_92_percent_can_be_noticed():
    assert sum(not fault.survives for fault in FAULTS) >= 0.92 * len(FAULTS)


def test_a_fault_that_no_test_notices_is_reported(tmp_path):
    """The run itself: a change that changes nothing survives, a syntax error is noticed."""
    path = "grb_tile/storage/sorting.py"
    line = "MAX_KEY = 2**63 - 1\n"
    faults = [
        Fault(path, "nothing changes", line, line.replace("2**63", "2 ** 63"), ("tests/storage/test_sorting.py",)),
        Fault(path, "no longer Python", line, "MAX_KEY = = 1\n", ("tests/storage/test_sorting.py",)),
    ]
    lines = []
    outcomes = run.run(faults, 1, report=lines.append)
    assert [outcome.noticed for outcome in outcomes] == [False, True]
    assert "NOT NOTICED" in lines[0] and lines[1].startswith("noticed")
    assert "NO TEST NOTICES IT" in run.table(outcomes)


@pytest.mark.slow
def test_a_sample_of_faults_is_noticed():
    chosen = random.Random(seeds.SEED).sample([fault for fault in FAULTS if not fault.survives], SAMPLE)
    missed = [outcome.fault.name for outcome in run.run(chosen, 1) if not outcome.noticed]
    assert not missed, f"no test notices: {missed} (GRB_TILE_SEED={seeds.SEED})"
