"""Every option of every algorithm on ranks whose ranges of rows are cut anywhere."""

import pytest
from test_options import DRAWS, OPTIONS, run

from support.ranks import on_ranks


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    on_ranks("ranks2", lambda: run(name, DRAWS or 3, dtype="FP64"), timeout=60)
