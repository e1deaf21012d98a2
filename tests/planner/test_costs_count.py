"""Every measured cost of a product counts: made 1000 times as high, it changes the times of its scenes."""

import itertools
import pathlib
import re

import numpy as np
import pytest

from grb_tile.dtypes import FP64
from grb_tile.planner import matvec_work, tuning
from grb_tile.planner.matvec_work import Work, column_wise_ns, row_wise_ns
from grb_tile.storage.store import StoredMask
from support import stores
from support.seeds import generator

WORK = Work(1000, 20_000.0, 5_000.0, 3_000.0, 0.3, 0.4)
COSTS = [
    "CPU_BRANCH_NS", "CPU_COLUMN_NS", "CPU_ENTRY_NS", "CPU_LIST_NS", "CPU_LOOKED_ROW_NS", "CPU_LOOK_UP_NS",
    "CPU_PAGE_NS", "CPU_PROBE_NS", "CPU_ROW_NS", "CPU_SCATTER_NS", "CPU_SET_BIT_NS", "CPU_SPREAD_ENTRY_NS",
    "CPU_SPREAD_NS", "CPU_SUM_NS", "NUMPY_CALL_NS", "NUMPY_ENTRY_NS", "NUMPY_HIT_NS", "NUMPY_MASK_NS",
    "NUMPY_SCATTER_NS",
]  # fmt: skip


def vectors():
    rng = generator("costs")
    return [stores.vector(rng, 5000, count, FP64, form) for form, count in (
        ("sparse", 300), ("bitmap", 3000), ("full", 5000))]  # fmt: skip


def times():
    """{scene: ns} of both products in every scene that tells one cost from another."""
    mask = StoredMask(stores.vector(generator("costs mask"), 5000, 1000, FP64, "sparse"))
    found = {}
    for k, u in enumerate(vectors()):
        for early, compiled in itertools.product((False, True), repeat=2):
            found["rows", k, early, compiled] = row_wise_ns(WORK, u, early, compiled)
        for allow, compiled, iso, dense in itertools.product((None, mask), *[(False, True)] * 3):
            found["columns", k, allow is None, compiled, iso, dense] = column_wise_ns(
                WORK, u, allow, compiled, iso, dense
            )
    return found


WANTED = {  # in how many of the 60 scenes a cost counts
    "CPU_BRANCH_NS": 5,
    "CPU_COLUMN_NS": 12,
    "CPU_ENTRY_NS": 1,
    "CPU_LIST_NS": 4,
    "CPU_LOOKED_ROW_NS": 4,
    "CPU_LOOK_UP_NS": 2,
    "CPU_PAGE_NS": 2,
    "CPU_PROBE_NS": 2,
    "CPU_ROW_NS": 14,
    "CPU_SCATTER_NS": 6,
    "CPU_SET_BIT_NS": 6,
    "CPU_SPREAD_ENTRY_NS": 2,
    "CPU_SPREAD_NS": 2,
    "CPU_SUM_NS": 12,
    "NUMPY_CALL_NS": 30,
    "NUMPY_ENTRY_NS": 6,
    "NUMPY_HIT_NS": 4,
    "NUMPY_MASK_NS": 12,
    "NUMPY_SCATTER_NS": 24,
}


@pytest.mark.parametrize("name", COSTS)
def test_a_cost_counts_in_its_scenes(name, monkeypatch):
    before = times()
    monkeypatch.setattr(tuning, name, getattr(tuning, name) * 1000)
    after = times()
    changed = sum(before[scene] != after[scene] for scene in before)
    assert changed == WANTED[name], f"{name} counts in {changed} of {len(before)} scenes, and did in {WANTED[name]}"


def test_every_cost_of_the_files_is_listed():
    text = pathlib.Path(matvec_work.__file__).read_text()
    assert set(re.findall(r"tuning\.([A-Z0-9_]+)", text)) == set(COSTS)


def test_times_are_finite():
    assert all(np.isfinite(x) and x > 0 for x in times().values())
