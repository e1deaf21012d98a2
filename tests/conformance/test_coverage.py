"""The table of what the conformance tests cover (COVERAGE.md) is the one that they declare, and it is large enough.

That each cell was executed is checked at the end of the session, in tests/conftest.py.
"""

import os
from pathlib import Path

from support import coverage
from support.battery import ACCUMS, MASKS
from support.library import ALL_ENGINES, ENGINES, TYPES

TABLE = Path(__file__).with_name("COVERAGE.md")


def test_table(whole_conformance):
    """whole_conformance: with a part of the modules imported only a part of the cells is known."""
    if os.environ.get("GRB_TILE_WRITE_COVERAGE"):
        TABLE.write_text(coverage.table(), encoding="utf-8")
    assert len(coverage.OWED) >= 400
    if ENGINES == ALL_ENGINES:
        assert TABLE.read_text(encoding="utf-8") == coverage.table(), (
            'make it again: GRB_TILE_WRITE_COVERAGE=1 pytest -m "" tests/conformance'
        )


def test_every_operation_has_every_write_option(whole_conformance):
    """Operations with a masked output have 45 write options: 5 masks, 5 accumulators, replace where there is a mask."""
    written = {}
    for operation, axis, _ in coverage.OWED:
        if axis == "write":
            written[operation] = written.get(operation, 0) + 1
    every = len(ACCUMS) * (1 + 2 * (len(MASKS) - 1))
    masked = [operation for operation, count in written.items() if count == every]
    assert set(written.values()) <= {every, len(ACCUMS)}
    assert len(masked) >= 35


def test_every_operation_has_its_types(whole_conformance):
    written = {operation for operation, axis, _ in coverage.OWED if axis == "write"}
    types = {}
    for operation, axis, value in coverage.OWED:
        if axis == "type" and operation in written:
            types.setdefault(operation, set()).add(value)
    assert all(found == set(TYPES) for found in types.values()), {
        op: set(TYPES) - found for op, found in types.items() if found != set(TYPES)
    }
