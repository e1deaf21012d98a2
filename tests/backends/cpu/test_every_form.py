"""Forms of calls over compiled kernels: what they give, or refuse in the same words, as over NumPy."""

import pytest
from core import forms, test_every_form, test_every_tool

import grb_tile as gb

FAMILIES = test_every_form.PROGRAMS | test_every_tool.PROGRAMS
COUNT = 40  # programs of a family that the quick run has


def compiled(function):
    with gb.plan(force="numba"):
        yield function()


@pytest.mark.parametrize("count", [COUNT, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.sampled(1)
def test_as_over_numpy(family, count):
    forms.agree_with_numpy(f"compiled {family}", FAMILIES[family], compiled, count)
