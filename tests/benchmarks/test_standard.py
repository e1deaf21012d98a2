"""The standard figures: what is listed as slower, the table, the file of recorded figures, a dry run on tiny graphs."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import pytest

GPU = pathlib.Path(__file__).resolve().parent / "gpu"
SPECIFICATION = importlib.util.spec_from_file_location("standard_figures", GPU / "standard.py")
standard = sys.modules["standard_figures"] = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(standard)
Figure = standard.Figure


@pytest.fixture
def recorded():
    return {name: {"ms": ms, "commit": "abc1234"} for name, ms in {"long": 10.0, "short": 0.02, "gone": 1.0}.items()}


@pytest.mark.parametrize(
    "ms, before, late",
    [
        (10.71, 10.0, True), (10.69, 10.0, False), (9.0, 10.0, False),  # 7 %
        (0.0229, 0.02, False), (0.0231, 0.02, True), (0.0225, 0.02, False),  # 3 us, which is more than 7 %
        (0.0459, 0.0428, True), (0.0457, 0.0428, False),  # where both are 3 us
    ],
)  # fmt: skip
def test_slower_by_7_percent_or_3_microseconds_whichever_is_more(ms, before, late):
    assert standard.slower(ms, before) is late


def test_a_planted_slower_figure_is_listed_and_others_are_not(recorded):
    figures = [Figure("long", 10.8), Figure("short", 0.0225), Figure("new", 5.0), Figure("broken", None, failed="no")]
    late, failed, new, missing = standard.compare(figures, recorded)
    assert late == ["long: 10.8 ms, recorded 10 at abc1234"]
    assert (failed, new, missing) == (["broken: no"], ["new"], ["gone"])
    assert standard.compare([Figure(name, known["ms"]) for name, known in recorded.items()], recorded) == (
        [],
        [],
        [],
        [],
    )


def test_the_table_has_a_row_for_each_figure(recorded):
    rows = standard.table([Figure("long", 11.0, 3.0, "every edge"), Figure("new", 5.0)], recorded).splitlines()
    assert rows[2] == "| long | 11 | 10 | 1.10x | abc1234 | 3 | every edge |"
    assert rows[3] == "| new | 5 | not recorded |  |  |  |  |"
    assert {row.count("|") for row in rows} == {standard.HEAD.count("|")}


def test_recording_keeps_other_figures_and_other_devices(tmp_path, recorded):
    path = tmp_path / "standard.json"
    path.write_text(json.dumps({"GPU A": recorded, "GPU B": recorded}))
    standard.record("GPU A", [Figure("long", 9.0), Figure("broken", None)], "def5678", path)
    assert standard.recorded_of("GPU A", path) == recorded | {"long": {"ms": 9.0, "commit": "def5678"}}
    assert standard.recorded_of("GPU B", path) == recorded and standard.recorded_of("GPU C", path) == {}
    assert standard.recorded_of("GPU A", tmp_path / "none.json") == {}


def test_a_part_that_fails_is_a_figure_that_says_so(monkeypatch):
    def stop(tiny):
        yield Figure("one", 1.0)
        raise SystemExit("WRONG: source 3")

    monkeypatch.setitem(standard.PARTS, "algorithms", stop)
    figures = list(standard.run(["algorithms"], True))
    assert [each.name for each in figures] == ["one", "algorithms"] and "WRONG: source 3" in figures[1].failed


def test_recorded_figures_have_a_time_and_a_commit():
    for device, figures in json.loads(standard.RECORDED.read_text()).items():
        assert device.startswith("NVIDIA")
        for name, each in figures.items():
            case = name.partition(",")[0]
            of_a_part = re.match(r"(bfs|bfs_multi|components|sssp|spmv|A A|triangles|k_truss\(4\))( |$)", case)
            assert of_a_part or case in standard.ALGORITHMS, f"{name}: no part gives it"
            assert each["ms"] > 0 and re.fullmatch("[0-9a-f]{7}", each["commit"]), name


def test_a_dry_run_goes_the_whole_way():
    command = [
        sys.executable,
        str(GPU / "standard.py"),
        "--dry-run",
        "--backend",
        "cpu",
        "--only",
        "algorithms",
        "paths",
    ]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr
    rows = [line for line in found.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(standard.ALGORITHMS)
    assert "no GPU: paths left out" in found.stdout and "failed: 0" in found.stdout
    assert all(float(row.split("|")[2]) > 0 for row in rows[1:])


def test_a_dry_run_records_nothing(capsys):
    with pytest.raises(SystemExit):
        standard.main(["--dry-run", "--record"])
    assert "a dry run has no figures to record" in capsys.readouterr().err
