"""Forms of calls on the device: what they give, or refuse in the same words, as over NumPy."""

import pytest
from core import forms, test_every_form, test_every_tool

from cuda_emulation.backend import using_shim

FAMILIES = test_every_form.PROGRAMS | test_every_tool.PROGRAMS
COUNT = 50  # programs of a family that the quick run has


def on_the_device(function):
    with using_shim():
        yield function()


@pytest.mark.parametrize("count", [COUNT, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.sampled(1)
def test_as_over_numpy(family, count):
    forms.agree_with_numpy(f"device {family}", FAMILIES[family], on_the_device, count)
