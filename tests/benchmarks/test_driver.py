"""The benchmark machinery itself: wrong results are not timed, generators make what they say, the table tells the
truth."""

import json

import driver
import graphs
import measure
import numpy as np
import objects
import pytest

from grb_tile import generators


def race_of(ours, peer, verify, **options):
    return measure.Race(
        "case", "title", lambda: measure.Prepared(ours, peer, verify), 1.0, seconds=0.0, least=3, **options
    )


def equal(a, b):
    assert a == b


def test_a_wrong_result_is_never_timed():
    with pytest.raises(AssertionError):
        measure.run(race_of(lambda: 1, lambda: 2, equal))


def test_a_race_compares_medians(monkeypatch):
    clock = iter(range(10**6))
    monkeypatch.setattr(measure, "PAUSE", 0)
    monkeypatch.setattr(measure, "warm_up", lambda call, least, seconds: None)
    monkeypatch.setattr(measure.time, "perf_counter", lambda: next(clock))
    record = measure.run(race_of(lambda: 1, lambda: 1, equal))
    assert record["ratio"] == 1.0 and record["met"] and record["verified"]
    assert len(record["samples_ours"]) == len(record["samples_peer"]) >= 3


def test_a_gauge_is_met_at_its_target_and_not_above():
    gauges = [measure.Gauge("g", "t", lambda value=value: {"samples": [value]}, 2.0, "x") for value in (1.0, 2.0, 2.1)]
    assert [measure.run(gauge)["met"] for gauge in gauges] == [True, True, False]


def test_every_benchmark_has_a_name_of_its_own():
    cases = driver.load_cases()
    assert {"bfs-levels-kron20", "tiny-mxv", "mmread-peak", "import"} <= set(cases)
    with pytest.raises(ValueError, match="two benchmarks"):
        measure.register(cases["import"])


def test_summary_says_met_not_met_failed_and_not_measured(tmp_path, monkeypatch):
    about = {
        "when": "2026-01-01T00:00:00+00:00",
        "cpu": "a cpu",
        "cores": 2,
        "python": "3.11",
        "load": 0.1,
        "versions": {"suitesparse-graphblas": "9"},
    }
    good, bad, broken, unseen = (measure.Gauge(n, n, dict, 1.0, "x") for n in ("good", "bad", "broken", "unseen"))
    monkeypatch.setattr(measure, "REGISTRY", {case.name: case for case in (good, bad, broken, unseen)})
    older = {"case": "good", "value": 9.0, "unit": "x", "environment": {**about, "when": "2025-01-01T00:00:00+00:00"}}
    lines = [
        {"case": "good", "value": 0.5, "unit": "x", "environment": about},
        older,
        {"case": "bad", "value": 2.0, "unit": "x", "environment": about},
        {"case": "broken", "error": "it broke", "environment": about},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    table = {row.split("|")[1].strip(): row for row in driver.summary(tmp_path).splitlines() if row.startswith("|")}
    assert "0.5x" in table["good"] and "| met |" in table["good"]
    assert "not met" in table["bad"] and "failed" in table["broken"] and "not measured" in table["unseen"]


def test_the_readme_shows_the_kept_results():
    driver.load_cases()
    _, table, _ = driver.readme_table()
    assert table == driver.summary(driver.RESULTS), "run tests/benchmarks/driver.py --update-readme"


def test_kron_is_an_undirected_simple_graph():
    g = graphs.kron(9, seed=5)
    matrix = g.scipy()
    assert (matrix != matrix.T).nnz == 0 and not matrix.diagonal().any()
    assert matrix.has_canonical_format or (np.diff(g.indices)[np.diff(g.rows()) == 0] > 0).all()
    # .57 against .05: a few vertices own most edges
    assert np.sort(g.degrees)[-g.n // 10 :].sum() > 0.4 * g.nvals


def test_weights_are_symmetric():
    g = graphs.kron(8)
    w = graphs.weights(g, np.float32)
    assert (g.scipy(w) != g.scipy(w).T).nnz == 0
    assert w.min() >= 1 and w.max() <= 255 and len(np.unique(w)) > 200


def test_levels_of_a_grid():
    g = graphs.of_matrix("grid", generators.grid(30, 30))
    i = np.arange(30)
    assert (objects.levels_by_scipy(g, 0).reshape(30, 30) == i[:, None] + i).all()


class Pairs:
    """The part of a vector that the checkers look at."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def to_coo(self):
        return np.flatnonzero(self.values >= 0), self.values[self.values >= 0]


def test_checkers_refuse_wrong_searches():
    g = graphs.of_matrix("grid", generators.grid(3, 3))
    levels = objects.levels_by_scipy(g, 0)
    objects.check_levels(g, 0, Pairs(levels))
    parents = np.array([0, 0, 1, 0, 1, 2, 3, 4, 5])
    objects.check_parents(g, 0, Pairs(parents))
    for place, value in ((8, 3), (4, 0), (7, 8), (5, -1)):  # wrong level, no edge, from a later level, missing
        wrong = parents.copy()
        wrong[place] = value
        with pytest.raises(AssertionError):
            objects.check_parents(g, 0, Pairs(wrong))
    wrong = levels.copy()
    wrong[8] += 1
    with pytest.raises(AssertionError):
        objects.check_levels(g, 0, Pairs(wrong))
