"""The clock of the commands and benchmarks: what lies inside of it, by a clock that counts its readings."""

import itertools
import types

import pytest

from grb_tile.backends import select
from grb_tile.cli import timing


@pytest.fixture
def log(monkeypatch):
    """What happens, in order: "wait" for the device, "read" the clock, "call"."""
    seen, ticks = [], itertools.count()
    monkeypatch.setattr(select, "current", lambda: types.SimpleNamespace(synchronize=lambda: seen.append("wait")))
    monkeypatch.setattr(timing.time, "perf_counter", lambda: (seen.append("read"), float(next(ticks)))[1])
    return seen


def test_the_device_is_idle_before_and_done_after(log):
    assert timing.timed(lambda: log.append("call") or 7) == (7, 1.0)
    assert log == ["wait", "read", "call", "wait", "read"]


def test_queued_calls_are_waited_for_at_the_end_alone(log):
    results = iter("abcd")
    result, seconds = timing.timed(lambda: log.append("call") or next(results), 4)
    assert (result, seconds) == ("d", 0.25)
    assert log == ["wait", "read", *["call"] * 4, "wait", "read"]


def test_another_clock_may_be_given(log):
    readings = iter((3.0, 8.0))
    assert timing.timed(lambda: None, clock=lambda: next(readings)) == (None, 5.0)
    assert "read" not in log


def test_repeated_calls_are_timed_one_by_one(log):
    results = iter("abc")
    assert timing.repeated(lambda: next(results), 3) == ("c", [1.0] * 3)


def test_warm_up_lasts_for_calls_and_for_seconds(log):
    timing.warm_up(lambda: log.append("call"), 3, 0.0)
    assert log.count("call") == 3
    log.clear()
    timing.warm_up(lambda: log.append("call"), 1, 10.0)
    assert 3 < log.count("call") <= 5  # each reads the clock twice, and the loop once
