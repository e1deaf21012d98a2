"""What a threshold is, and where thresholds come from."""

from __future__ import annotations

from typing import NamedTuple


class Threshold(NamedTuple):
    """One threshold: value, unit, source (a paper's section or how it was found) and what it was measured on."""

    value: float
    unit: str
    source: str
    measured_on: str


DEFINED: list[Threshold] = []

RECORD = "tests/gpu/RECORD.md"
H200 = "H200: kron 20 and 21, rmat 22, fem 40 and 70, cnr-2000, ego-Twitter"
H200_BFS = "H200: kron 21, rmat 22, grid 2000, USA-road-NE, fem 70"
PLANS = "H200: tests/benchmarks/bench_plans.py on its own graphs, which are no longer held out for this figure"
CPU = "two cores (Xeon, 2 threads), kron 17 and a uniform graph of degree 16, Numba and NumPy"
CPU_BINS = "two cores (AMD EPYC, 32 MB of L3, other work on them): uniform 2^20 to 2^23, rmat 2^21, 2^22"
CPU_GRAPHS = "two cores: grid 100^3, knn 2^17, USA-road-NW, uniform, gowalla, kron 17; no longer held out for it"
NUMPY = "one core (Xeon), NumPy 2.4: kron 14 and 17, a uniform graph of degree 16; least thread time of a call"
PROGRAMS = "two cores: tests/benchmarks/bench_first_run.py"
PUSH_PULL = "push_pull_graphblas_icpp18"
TILES = "tilespmspv_tilebfs_icpp22"


def define(value: float, unit: str, source: str, measured_on: str) -> float:
    """The value, which DEFINED describes from now on."""
    DEFINED.append(Threshold(value, unit, source, measured_on))
    return value
