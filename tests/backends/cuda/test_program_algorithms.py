"""Iterations of the library that run on the device from the second call on a graph on: the results and reports of the
loop from Python, which a callback brings about.
"""

import numpy as np
import pytest
from backends.cuda.test_programs import on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.algorithms import iteration
from grb_tile.exceptions import CaptureError

N = 50


def graph_of(seed, scale=1.0):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, N, 4 * N), rng.integers(0, N - 3, 4 * N)
    weights = rng.integers(1, 9, 4 * N) * scale / 8
    return alg.Graph(gb.Matrix.from_coo(rows, cols, weights, nrows=N, ncols=N, dup_op="first"))


def values_of(found):
    return (found.hubs, found.authorities) if isinstance(found, alg.HitsResult) else (found.values,)


def same(found, wanted):
    """Are results and reports those of another run?"""
    a, b = found.report, wanted.report
    residuals = [[row.get("residual", 0.0) for row in report.rounds] for report in (a, b)]
    return (
        (a.iterations, a.converged, a.stopped_by) == (b.iterations, b.converged, b.stopped_by)
        and np.allclose(*residuals, rtol=1e-6, atol=1e-13, equal_nan=True)  # sums in another order
        and [row["iteration"] for row in a.rounds] == list(range(1, a.iterations + 1))
        and all(
            x.isclose(y, rel_tol=1e-9, abs_tol=1e-14) for x, y in zip(values_of(found), values_of(wanted), strict=True)
        )
    )


CALLS = {
    "pagerank": ("pagerank", {}),
    "pagerank with weights": ("pagerank", {"weighted": True, "alpha": 0.7}),
    "pagerank of a start": ("pagerank", {"personalization": {0: 1.0, 4: 2.0}}),
    "gap": ("pagerank", {"method": "gap"}),
    "ldbc": ("pagerank", {"method": "ldbc", "max_iter": 7}),
    "pagerank by count": ("pagerank", {"tol": 0, "max_iter": 1}),
    "pagerank too short": ("pagerank", {"max_iter": 5, "strict": False}),
    "finer than rounding": ("pagerank", {"tol": 1e-22}),
    "hits": ("hits", {}),
    "hits with weights": ("hits", {"weighted": True, "normalized": False}),
    "katz": ("katz", {"alpha": 0.03}),
    "katz of vertices": ("katz", {"alpha": 0.05, "beta": np.arange(N) / 7, "weighted": True}),
    "katz that diverges": ("katz", {"alpha": 9.5, "strict": False}),
    "katz that oscillates": ("katz", {"alpha": -0.24, "strict": False, "max_iter": 60}),
    "eigenvector": ("eigenvector", {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_from_python(name):
    algorithm, options = CALLS[name]
    run, G = getattr(alg, algorithm), graph_of(len(name))
    wanted = run(G, callback=lambda record: None, **options)
    turns = iteration.turns_of(G, algorithm, options.get("weighted", False))
    assert turns.calls == 0
    for k in range(4):
        assert same(run(G, **options), wanted), f"call {k}"
        assert (turns.loop is None) == (k == 0)
    assert turns.calls == 4
    if name not in ("katz that diverges", "katz that oscillates", "pagerank by count"):
        assert turns.loop.reason is None and turns.loop.turns == wanted.report.iterations


def test_an_iteration_that_overflows():
    """The change rises from the first step on, and the last one is infinite, in the first launch or long after it."""
    G = graph_of(5)
    for alpha in (9.5, 1e308):
        wanted = alg.katz(G, alpha=alpha, strict=False, callback=lambda record: None)
        assert wanted.report.stopped_by == "diverged" and wanted.report.residual == np.inf
        for _ in range(3):
            assert same(alg.katz(G, alpha=alpha, strict=False), wanted)


def test_what_changes_between_calls():
    """The tolerance, the start, the limit, alpha; and the matrix."""
    G = graph_of(1)
    for options in ({}, {}, {"tol": 1e-12}, {"alpha": 0.5}, {"nstart": {3: 1.0}}, {"max_iter": 90}, {"dtype": "FP32"}):
        found, wanted = alg.pagerank(G, **options), alg.pagerank(G, callback=lambda record: None, **options)
        if "dtype" in options:
            assert found.values.isclose(wanted.values, rel_tol=1e-4)
        else:
            assert same(found, wanted), options
    G.A << G.A.T
    G.forget()
    for _ in range(3):
        assert same(alg.pagerank(G), alg.pagerank(G, callback=lambda record: None))


def test_errors_and_reports():
    G = graph_of(2)
    for _ in range(3):
        with pytest.raises(alg.ConvergenceFailure, match="after max_iter=3 iterations") as caught:
            alg.katz(G, alpha=0.05, max_iter=3)
        assert caught.value.iterations == 3
        with pytest.raises(alg.ConvergenceFailure, match="the iteration diverges"):
            alg.katz(G, alpha=9.5)


def test_more_steps_than_a_launch_notes(monkeypatch):
    monkeypatch.setattr(iteration, "HISTORY", 5)
    G = graph_of(3)
    wanted = alg.hits(G, callback=lambda record: None)
    assert wanted.report.iterations > 12
    for _ in range(3):
        assert same(alg.hits(G), wanted)


def test_what_the_device_refuses_runs_from_python(monkeypatch):
    G = graph_of(4)
    alg.pagerank(G)
    turns = iteration.turns_of(G, "pagerank", False)
    alg.pagerank(G)

    def refused(*arguments):
        raise CaptureError("no")

    monkeypatch.setattr(turns.loop, "run", refused)
    assert same(alg.pagerank(G), alg.pagerank(G, callback=lambda record: None))
    assert turns.loop is None
    assert iteration.turns_of(G, "other").work == N + G.A.nvals
    assert iteration.Turns(iteration.MOST_WORK).begins(alg.Report("x")) is False  # the first call
    turns = iteration.Turns(iteration.MOST_WORK + 1)
    assert not any(turns.begins(alg.Report("x")) for _ in range(3))
