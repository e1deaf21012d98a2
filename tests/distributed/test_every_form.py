"""Forms of calls on ranks: what they give, or refuse in the same words, as on one host."""

import pytest
from core import forms, test_every_form, test_every_tool

import grb_tile as gb
from support.ranks import on_ranks

FAMILIES = test_every_form.PROGRAMS | test_every_tool.PROGRAMS
FAMILIES.pop("texts")  # an object of several ranks says where it is
COUNT = 40  # programs of a family that the quick run has


def over_ranks(function):
    return on_ranks("ranks3", function)


@pytest.mark.parametrize("count", [COUNT, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.sampled(1)
def test_as_on_one_host(family, count):
    with gb.config.set(autocompute=False):
        forms.agree_with_numpy(f"ranks {family}", FAMILIES[family], over_ranks, count, shown=False)
