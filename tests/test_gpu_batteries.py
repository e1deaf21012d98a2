"""What tests/gpu does around its tests, none of which needs a device: parts, counts, the order, the table of
RECORD.md."""

import types

import pytest

from gpu import record
from gpu.batteries import LEFT_OUT, TESTS, Battery, batteries, counts, in_order


def test_every_file_of_a_battery_is_run_in_all_its_parts():
    found = batteries()
    assert len({str(battery) for battery in found}) == len(found)
    for folder in ("conformance", "laws", "algorithms", "backends/cuda"):
        files = {path.name for path in (TESTS / folder).glob("test_*.py")} - LEFT_OUT
        assert files == {battery.file for battery in found if battery.folder == folder}
    for battery in found:
        assert sum((other.folder, other.file) == (battery.folder, battery.file) for other in found) == battery.parts


@pytest.mark.parametrize("count", [0, 1, 5, 12])
def test_parts_of_a_file_are_all_of_it(count, monkeypatch):
    plugin = pytest.importorskip("gpu.on_device")
    config = types.SimpleNamespace(hook=types.SimpleNamespace(pytest_deselected=lambda items: None))
    ran = []
    for part in range(1, 4):
        monkeypatch.setenv("GRB_TILE_TEST_PART", f"{part}/3")
        items = list(range(count))
        plugin.pytest_collection_modifyitems(config, items)
        ran += items
    assert ran == list(range(count))


def test_the_environment_of_a_battery(monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    found = Battery("backends/cuda", "test_bfs.py", 2, 3).environment()
    assert "PYTEST_XDIST_WORKER" not in found and found["GRB_TILE_TEST_PART"] == "2/3"
    assert found["GRB_TILE_TEST_BACKEND"] == "cpu" and found["GRB_TILE_TEST_ENGINES"] == "cuda"
    assert Battery("laws", "test_plans.py").environment()["GRB_TILE_TEST_BACKEND"] == "cuda"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("91 passed in 3.02s", (91, 0, 0)),
        ("== 1 failed, 90 passed, 2 skipped, 1 error in 63.02s (0:01:03) ==", (90, 2, 2)),
        ("5 skipped, 12 deselected in 0.10s", (0, 0, 5)),
        ("2 errors in 0.10s", (0, 2, 0)),
    ],
)
def test_counts_of_a_run(line, wanted):
    found = counts(f"....\nsome line with 3 passed\n{line}\n")
    assert tuple(found.values()) == wanted


def test_no_counts_are_none():
    assert counts("Segmentation fault\n") is None


def test_the_longest_go_first_and_short_ones_wait_behind_them():
    weight = {"a": 1, "b": 9, "c": 2, "d": 8, "e": 7, "f": 3, "g": 6}
    assert in_order("abcdefg", 2, weight.get) == list("bdcaegf")
    assert sorted(in_order("abcdefg", 14, weight.get)) == list("abcdefg")


def test_the_record_has_a_place_for_its_table(tmp_path):
    path = tmp_path / "RECORD.md"
    path.write_text(record.RECORD.read_text(encoding="utf-8"), encoding="utf-8")
    row = record.Row()
    row.add(passed=3, skipped=1, seconds=2.4)
    row.add(failed=1, seconds=4.2, host="{'kronecker': 2}")
    record.write(record.table({"laws": row}, {"device": "D", "commit": "abc"}, 8, 99.6), path)
    text = path.read_text(encoding="utf-8")
    assert (
        "| laws | 3 | 1 | 1 | 7 (4) | {'kronecker': 2} |" in text and "| the whole run | 100 s, 8 processes |" in text
    )
    assert "## Figures" in text and text.count(record.FIRST) == text.count(record.LAST) == 1
    record.write(record.table({"laws": row}, {"device": "E"}, 8, 1), path)
    again = path.read_text(encoding="utf-8")
    assert "| device | E |" in again and "| device | D |" not in again
    (tmp_path / "none.md").write_text("nothing")
    with pytest.raises(ValueError, match="table: batteries"):
        record.write("", tmp_path / "none.md")
