"""Every option of every algorithm on a device: traversals, scores, communities, and what is composed of calls."""

import pytest
from test_options import DRAWS, OPTIONS, run

from cuda_emulation.backend import using_shim


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    """Of FP64, so that few kernels are compiled."""
    with using_shim():
        run(name, DRAWS or 3, dtype="FP64")
