"""All storage forms of a matrix agree: sparse, bitmap and full, row-major and column-major, each beside each."""

import contextlib
import itertools

import pytest

from support.forms import FORMS, compare
from support.library import LIBRARY, engine
from support.seeds import generator

if LIBRARY == "graphblas":
    pytest.skip("the forms are this library's", allow_module_level=True)

PAIRS = list(itertools.product(FORMS, FORMS))


@pytest.mark.parametrize("number", range(len(PAIRS)), ids=["-".join(pair) for pair in PAIRS])
def test_forms_agree(number):
    rng = generator("forms", number)
    mask = FORMS[number % 5]
    compare(rng, (*PAIRS[number], mask), contextlib.nullcontext)
    compare(rng, (*PAIRS[number], mask), lambda: engine(("numpy", "reference", "dense")[number % 3]))
