"""NetworkX knows the backend, with or without an install, and says nothing about its cache."""

import networkx as nx
import pytest

from . import installed

installed.register()


@pytest.fixture(autouse=True)
def quiet_cache():
    nx.config.warnings_to_ignore.add("cache")
    yield
    nx.config.warnings_to_ignore.discard("cache")
