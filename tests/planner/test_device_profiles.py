"""The planner with the costs of other cards: what their multiprocessors and bandwidth make of each decision.

Multiprocessors, DRAM bandwidth (GB/s) and shared memory a block (KiB) as NVIDIA's data sheets give them.
"""

import dataclasses

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.planner import tuning
from grb_tile.planner.choose_kernel import stays_bitmap
from grb_tile.planner.choose_matvec_gpu import choose_on_gpu
from grb_tile.planner.device_profile import H200, H200_LOOPS, profile_from, profile_of
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import Compressed, SparseVector
from support import seeds

CARDS = {
    "Tesla T4": (40, 320, 64), "A100": (108, 1555, 163), "RTX 3090": (82, 936, 99), "RTX 4060": (24, 272, 99),
    "RTX 4090": (128, 1008, 99), "L40S": (142, 864, 99), "B200": (148, 8000, 227), "RTX 5090": (170, 1792, 99),
}  # fmt: skip
N, ENTRIES = 1 << 17, 1 << 21


@pytest.fixture(scope="module", params=CARDS)
def profile(request):
    processors, bandwidth, shared = CARDS[request.param]
    return profile_of(request.param, processors, float(bandwidth), shared << 10)


@pytest.fixture(scope="module")
def matrix():
    """Rows of 16 entries at random columns, with its transpose."""
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    indices = np.sort(rng.integers(0, N, (N, ENTRIES // N)), axis=1).astype(np.int32).ravel()
    indptr = np.arange(0, ENTRIES + 1, ENTRIES // N)
    A = Compressed(N, N, gb.dtypes.FP32, indptr, indices, np.ones(1, np.float32), True)
    transpose_of(A)
    return A


class Counting:
    """A backend of that profile; counts the edges of a vector as the device does."""

    def __init__(self, profile):
        self.profile = profile

    def edges_of(self, A, u, at_most=False):
        return int(np.diff(A.indptr)[u.indices].sum())


def vector(count):
    at = np.arange(0, N, N // count)[:count].astype(np.int32)
    return SparseVector(N, gb.dtypes.FP32, at, np.ones(1, np.float32), True)


def choice(A, count, profile, early):
    for name in ("last_method", "last_plan"):
        A.forms.pop(name, None)
    return choose_on_gpu(A, False, vector(count), None, early, Counting(profile))


@pytest.mark.parametrize("early", [False, True])
def test_few_entries_go_by_columns_and_all_by_rows(matrix, profile, early):
    methods = [choice(matrix, 1 << k, profile, early).method for k in range(18)]
    switch = methods.index("rows")
    assert methods[0] == "cols" and methods[switch:] == ["rows"] * (18 - switch), "one switch, on every card"


def test_the_cheaper_method_is_chosen_and_the_plan_says_whose_costs_these_are(matrix, profile):
    for count in (1, 1 << 8, 1 << 16):
        plan = choice(matrix, count, profile, False)
        rows, columns = plan.figures[:2]
        assert (plan.method == "rows") == (rows < columns)
        assert profile.name in plan.note and f"latency x{profile.latency:.2f}" in plan.note


def test_costs_grow_as_multiprocessors_become_fewer(matrix):
    rows = [choice(matrix, 1 << 12, profile_of(f"GPU of {k}", k, 1000.0), False).figures[0] for k in (24, 48, 96)]
    assert rows[0] > rows[1] > rows[2] > choice(matrix, 1 << 12, H200, False).figures[0]


def test_a_bitmap_is_kept_as_long_as_its_bytes_cost_less_than_a_list(profile):
    most = int(tuning.LIST_NS * profile.dram_bytes_ns / 4.125)
    assert stays_bitmap(most, 4, profile) and not stays_bitmap(most + 2, 4, profile)


FOLLOWS = {  # measured on the device: the costs that change with it, and by which factor where it is twice as slow
    "gather_ns": {"gather_ns": 2, "latency": 2}, "atomic_ns": {"atomic_ns": 2, "atomics": 2},
    "dram_bytes_ns": {"dram_bytes_ns": 0.5, "bandwidth": 2}, "launch_ns": {"launch_ns": 2},
    "barrier_ns": {"barrier_ns": 2}, "read_back_ns": {"read_back_ns": 2},
}  # fmt: skip


@pytest.mark.parametrize("measured", FOLLOWS)
def test_each_cost_of_a_measured_device_follows_its_own_measurement(measured):
    slower = getattr(H200_LOOPS, measured) * (0.5 if measured == "dram_bytes_ns" else 2)
    loops = dataclasses.replace(H200_LOOPS, **{measured: slower})
    plain, found = (dataclasses.asdict(profile_from("other", 132, 1 << 17, each)) for each in (H200_LOOPS, loops))
    changed = {name: found[name] / plain[name] for name in found if found[name] != plain[name]}
    assert changed == pytest.approx(FOLLOWS[measured])
    assert all(plain[name] == getattr(H200, name) for name in ("gather_ns", "atomic_ns", "dram_bytes_ns"))
