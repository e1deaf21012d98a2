"""Which cases of a test the quick run executes (support/sample.py)."""

import itertools
from types import SimpleNamespace

import pytest

from support import sample


class Case:
    """What pytest knows of a case, as far as it is read."""

    def __init__(self, number, params):
        self.name, self.callspec = f"test[{number}]", SimpleNamespace(params=params)


def cases(**parameters):
    """One for each combination of the parameters' values."""
    combinations = itertools.product(*parameters.values())
    return [Case(number, dict(zip(parameters, values, strict=True))) for number, values in enumerate(combinations)]


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_a_share_of_the_cases_with_each_value_of_the_short_parameters(n):
    sets = [object(), object()]
    items = cases(engine=["numpy", "cuda", None, "cpu"], flag=[False, True], given=sets, seed=range(25))
    kept = sample.chosen(items, n)
    share = max(-(-len(items) // n), 2)
    assert share <= len(kept) <= share + 4
    assert {case.callspec.params["engine"] for case in kept} == {"numpy", "cuda", None, "cpu"}
    assert {case.callspec.params["flag"] for case in kept} == {False, True}
    assert {id(case.callspec.params["given"]) for case in kept} == set(map(id, sets))
    assert sorted(map(id, sample.chosen(items[::-1], n))) == sorted(map(id, kept))  # in whichever order they are listed


def test_long_parameters_may_lose_values_and_two_cases_stay():
    assert len(sample.chosen(cases(seed=range(50)), 1000)) == 2
    assert len(sample.chosen(cases(seed=range(1)), 1000)) == 1
    assert len(sample.chosen(cases(name=[str(k) for k in range(sample.MOST_VALUES)]), 1000)) == sample.MOST_VALUES
    assert len(sample.chosen(cases(name=[str(k) for k in range(sample.MOST_VALUES + 1)]), 1000)) == 2
