"""Dense matrices on the device: every form gives what CSR gives on the host, and nothing is computed on the host."""

import pytest

from cuda_emulation.backend import shim, using_shim
from support.forms import FORMS, compare
from support.seeds import generator

PAIRS = [(a, FORMS[(k + shift) % 6], FORMS[(2 * k + shift) % 6]) for k, a in enumerate(FORMS) for shift in (0, 1, 3)]


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_forms_agree(number):
    before = sum(shim().detours.values())
    compare(generator("forms on the device", number), PAIRS[number], using_shim)
    assert sum(shim().detours.values()) == before
