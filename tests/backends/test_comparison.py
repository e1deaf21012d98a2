"""Comparison of stores on the host backends, against loops over dictionaries."""

import numpy as np
import pytest
from backends.comparison_cases import PAIRS, check

from grb_tile.backends import select
from support.seeds import SEED


@pytest.mark.parametrize("name", ["reference", "numpy", "cpu"])
def test_equal_and_close_stores(name):
    check(select.named(name), np.random.default_rng(SEED), 600, PAIRS)
