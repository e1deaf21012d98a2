"""What a report says of weights is what the algorithm did: results change with the weights where it says weighted."""

import dataclasses
import inspect

import numpy as np
import pytest
from every_algorithm import EVERY, alike, plain

import grb_tile as gb
from grb_tile import algorithms as alg

OPTIONS = {"katz": {"alpha": 0.01}, "mcl": {}}
NEEDED = {"labels": [0, 1] * 6, "personalization": [0, 1], "starts": [0, 1, 2, 3], "length": 4, "k": 3}


def graphs(seed):
    """Two graphs of the same edges, which go both ways, with other weights."""
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(np.triu(rng.random((12, 12)) < 0.4, 1))
    for _ in range(2):
        x = rng.choice([0.5, 1, 4, 7.5], i.size)
        yield alg.Graph(gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.r_[x, x], nrows=12, ncols=12))


def with_reports():
    """{name: (call, whether it is weighted)} of every algorithm whose result has a report."""
    G = next(graphs(0))
    for name, call in EVERY.items():
        try:
            found = call(G)
        except alg.CycleError:
            continue
        if hasattr(found, "report"):
            yield name, call
    for name, function in vars(alg).items():
        if inspect.isfunction(function) and name in alg.__all__:
            parameters = inspect.signature(function).parameters
            needed = {p.name: NEEDED.get(p.name, 0) for p in parameters.values() if p.default is p.empty}
            needed.pop("G", None)
            more = {"seed": 1} if "seed" in parameters else {}
            more |= {"strict": False} if "strict" in parameters else {}
            for flag in (True, False) if "weighted" in parameters else ():
                options = needed | more | OPTIONS.get(name, {}) | {"weighted": flag}
                if name not in ("shortest_path", "modularity", "diameter", "radius", "average_clustering"):
                    yield f"{name} weighted={flag}", lambda G, f=function, o=options: f(G, **o)


def values(found):
    """The result as plain Python, without what is chosen among several that are right."""
    parts = {f.name: getattr(found, f.name) for f in dataclasses.fields(found) if f.name != "report"}
    return {name: plain(part) for name, part in parts.items() if name not in ("parents", "predecessors")}


CALLS = dict(with_reports())


def test_the_calls_are_found():
    assert len(CALLS) > 60 and sum("weighted=True" in name for name in CALLS) > 14


@pytest.mark.parametrize("name", CALLS)
def test_the_report_says_whether_weights_counted(name):
    changed = False
    for seed in range(6):
        one, other = graphs(seed)
        a, b = CALLS[name](one), CALLS[name](other)
        assert a.report.weighted is b.report.weighted
        changed |= not alike(values(a), values(b))
    assert changed is a.report.weighted
    assert (", weighted," if a.report.weighted else ", unweighted,") in repr(a.report)
    if "weighted=" in name:
        assert a.report.weighted is name.endswith("True")
