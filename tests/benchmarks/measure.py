"""How a benchmark is described and timed: races against a peer, gauges of one figure.

A Race is prepared once (conversions are timed apart), run once on both sides and verified, then timed in turns: ours,
peer, peer, ours, ...  so that whatever slows the machine slows both.  Its figure is the ratio of the two medians.
A Gauge returns samples of one figure (seconds, bytes over bytes, ...) that stands against a fixed target.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from grb_tile.cli.timing import timed, warm_up

REGISTRY = {}
PEER = "python-graphblas"
WARM_CALLS, WARM_SECONDS = 3, 1.0  # outside the clock, so that a compiler that waits for repeated work had its chance
PAUSE = 0.01  # after a timed call: lets a thread pool that spins at a barrier go to sleep


@dataclass(frozen=True)
class Prepared:
    """Two callables that compute the same thing, and verify(ours, theirs), which raises when they did not."""

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    verify: Callable[[Any, Any], None]
    conversion: dict = field(default_factory=dict)  # seconds spent turning the graph into objects, per side
    inner: int = 1  # calls per sample, for calls too short for the clock


@dataclass(frozen=True)
class Race:
    """prepare() -> Prepared; the figure is median(ours) / median(peer), met when at most `target`."""

    name: str
    title: str
    prepare: Callable[[], Prepared]
    target: float
    aim: float | None = None
    suite: str = "core"
    peer: str = PEER
    unit: str = "s"
    absolute: bool = False  # the target concerns our own time in `unit`, the peer is shown beside it
    seconds: float = 20.0  # about how long to repeat
    least: int = 5  # samples a side, whatever they cost


@dataclass(frozen=True)
class Gauge:
    """measure() -> dict with `samples` and anything else worth keeping; met when the median is at most `target`."""

    name: str
    title: str
    measure: Callable[[], dict]
    target: float
    unit: str
    aim: float | None = None
    suite: str = "core"


def register(case):
    """Make a case known to the driver."""
    if case.name in REGISTRY:
        raise ValueError(f"two benchmarks are called {case.name!r}")
    REGISTRY[case.name] = case
    return case


def race(name, title, target, **options):
    """Decorator for the prepare function of a Race."""
    return lambda prepare: register(Race(name, title, prepare, target, **options)).prepare


def gauge(name, title, target, unit, **options):
    """Decorator for the measure function of a Gauge."""
    return lambda measure: register(Gauge(name, title, measure, target, unit, **options)).measure


def sample(function, inner):
    """Seconds per call, over `inner` calls."""
    _, seconds = timed(function, inner)
    time.sleep(PAUSE)
    return seconds


def run_race(case):
    """The record of one Race: verified first, timed in turns after."""
    prepared = case.prepare()
    ours, first_ours = timed(prepared.ours)
    theirs, first_peer = timed(prepared.peer)
    prepared.verify(ours, theirs)
    del ours, theirs
    sides = {"ours": prepared.ours, "peer": prepared.peer}
    samples = {"ours": [], "peer": []}
    for function in sides.values():
        warm_up(partial(sample, function, prepared.inner), WARM_CALLS, WARM_SECONDS)
    stop = time.perf_counter() + case.seconds
    order = ["ours", "peer"]
    while len(samples["ours"]) < case.least or (time.perf_counter() < stop and len(samples["ours"]) < 31):
        for side in order:
            samples[side].append(sample(sides[side], prepared.inner))
        order.reverse()
    medians = {side: statistics.median(values) for side, values in samples.items()}
    scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[case.unit]
    ratio = medians["ours"] / medians["peer"]
    value = medians["ours"] * scale if case.absolute else ratio
    return {
        "case": case.name,
        "title": case.title,
        "suite": case.suite,
        "kind": "race",
        "peer": case.peer,
        "value": value,
        "unit": case.unit if case.absolute else "x",
        "target": case.target,
        "aim": case.aim,
        "met": value <= case.target,
        "verified": True,
        "ratio": ratio,
        "median_ours": medians["ours"],
        "median_peer": medians["peer"],
        "samples_ours": samples["ours"],
        "samples_peer": samples["peer"],
        "first_ours": first_ours,
        "first_peer": first_peer,
        "conversion": prepared.conversion,
    }


def run_gauge(case):
    """The record of one Gauge."""
    found = case.measure()
    value = statistics.median(found["samples"])
    return {
        "case": case.name,
        "title": case.title,
        "suite": case.suite,
        "kind": "gauge",
        "peer": found.pop("peer_name", None),
        "value": value,
        "unit": case.unit,
        "target": case.target,
        "aim": case.aim,
        "met": value <= case.target,
        "verified": True,
        **found,
    }


def run(case):
    """The record of a case, whichever kind it is."""
    return run_race(case) if isinstance(case, Race) else run_gauge(case)
