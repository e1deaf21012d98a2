"""The loop of iterations to a fixed point, with changes that come late as on a device, and at once as on a host."""

import pytest

import grb_tile as gb
from grb_tile.algorithms import Graph, Report
from grb_tile.algorithms.iteration import given_vector, until


class Change:
    """A change that notes when it is read; late: it is not there before that."""

    def __init__(self, value, log, late):
        self._value, self._log, self._late = value, log, late

    def send(self):
        return self

    @property
    def is_ready(self):
        return not self._late

    @property
    def value(self):
        self._log.append(f"read {self._value:g}")
        return self._value


def ran(changes, limit, max_iter=20, late=True, callback=None):
    """(state, report, log) of a loop whose k-th step has changes[k] and the state k + 1."""
    log = []

    def step(k):
        log.append(f"step {k + 1}")
        return k + 1, Change(changes[k], log, late)

    with Report("test", callback) as report:
        return until(step, (0,), limit, max_iter, report)[0], report, log


def test_a_late_change_is_read_after_the_next_step():
    state, report, log = ran([1000, 900, 800, 1, 0], 2)
    assert (state, report.converged, report.residual, report.iterations) == (4, True, 1, 4)
    assert log == [
        "step 1", "step 2", "read 1000", "step 3", "read 900", "step 4", "read 800", "step 5", "read 1",
    ]  # fmt: skip


def test_near_the_limit_each_change_is_waited_for():
    state, _, log = ran([1000, 20, 10, 1, 0], 2)
    assert state == 4
    assert log[:4] == ["step 1", "step 2", "read 1000", "step 3"] and log[4:] == [
        "read 20", "step 4", "read 10", "read 1",
    ]  # fmt: skip


@pytest.mark.parametrize("late", [True, False])
def test_the_last_step_is_read(late):
    state, report, _ = ran([9, 8, 7, 6], 0, 3, late)
    assert (state, report.stopped_by, report.residual, report.iterations) == (3, "max_iter", 7, 3)
    assert ran([], 0, 0, late)[0] == 0


@pytest.mark.parametrize("late", [True, False])
def test_a_callback_gets_each_change_before_the_next_step(late):
    state, report, log = ran([9, 8, 7, 6], 0, late=late, callback=lambda record: record["residual"] == 8)
    assert (state, report.stopped_by, log) == (2, "callback", ["step 1", "read 9", "step 2", "read 8"])


@pytest.mark.parametrize("late", [True, False])
def test_an_infinite_change_ends_the_loop(late):
    state, report, _ = ran([9e9, float("inf"), 1, 1, 1], 1, late=late)
    assert (state, report.stopped_by, report.converged) == (2, "diverged", False)


@pytest.mark.parametrize("values", [["1", "2", "3"], [1j, 2, 3], [[1, 2], [3]], [[1, 2, 3]], 5, object(), b"abc"])
def test_values_of_vertices_that_are_no_numbers(values):
    G = Graph(gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], 1.0))
    with pytest.raises(TypeError, match=r"mine: expected a Vector, a dict \{node: number\} or a sequence of numbers"):
        given_vector(values, "mine", G, gb.dtypes.FP64)
