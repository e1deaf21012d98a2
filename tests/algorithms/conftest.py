"""Makes checkers.py and samples.py of this folder importable by name; random graphs follow the suite's one seed."""

import os
import sys

import pytest

from support import seeds

sys.path.insert(0, os.path.dirname(__file__))


@pytest.fixture
def base_seed():
    """The seed of the run (printed in the header of the report); test number k uses 1000 * base_seed + k."""
    return seeds.SEED
