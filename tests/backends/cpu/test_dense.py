"""Dense matrices: every form, row-major and column-major, gives what CSR gives."""

from contextlib import nullcontext

import pytest

from support.forms import FORMS, compare, indexing_calls
from support.seeds import generator

TRIPLES = [(a, FORMS[(k + shift) % 6], FORMS[(2 * k + shift) % 6]) for k, a in enumerate(FORMS) for shift in (0, 1, 3)]


@pytest.mark.parametrize("number", range(len(TRIPLES)))
@pytest.mark.sampled(1)
def test_forms_agree(number):
    compare(generator("forms", number), TRIPLES[number], nullcontext)


@pytest.mark.parametrize("number", range(len(TRIPLES)))
@pytest.mark.sampled(1)
def test_parts_of_forms_agree(number):
    compare(generator("parts of forms", number), TRIPLES[number], nullcontext, indexing_calls)
