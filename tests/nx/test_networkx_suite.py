"""NetworkX's own tests of what the backend serves: none fails, and as many as recorded really run on the backend."""

import json
import pathlib
import tempfile

import networkx as nx
import pytest

from . import suite

RECORD = json.loads((pathlib.Path(__file__).parent / "record.json").read_text(encoding="utf-8"))


def counts(fallback):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "record.json"
        done = suite.run(suite.SUBSET, fallback=fallback, record=file, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_strict_mode():
    found = counts(fallback=False)
    assert found["failed"] == found["error"] == 0
    if nx.__version__ == RECORD["networkx"]:
        for name in ("passed and called the backend", "passed and called an algorithm"):
            assert found[name] >= RECORD["subset"][name], name


@pytest.mark.slow
def test_fallback_mode():
    found = counts(fallback=True)
    assert found["failed"] == found["error"] == found["xfailed"] == 0


def test_the_record_holds_the_target():
    """At least 500 of NetworkX's tests run on the backend alone, from end to end."""
    assert RECORD["strict"]["passed and called the backend"] >= 500
    for mode in ("strict", "fallback"):
        assert RECORD[mode]["failed"] == RECORD[mode]["error"] == 0
