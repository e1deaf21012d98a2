"""Cells on a GPU, without one: a dry run, what counts as a failure, bytes that a call must touch, the written table."""

import json
import pathlib
import re
import subprocess
import sys
import types

import cells_on_device
import device_cells
import numpy as np
import pytest
from calls.table import ROWS
from device_cells import Cell
from device_operands import Operands

from grb_tile.backends import select

HERE = pathlib.Path(__file__).resolve().parent
DOZEN = (  # of each sort of cell, a few
    r"^(Vector\.(apply|reduce) .*full FP64|Matrix\.(mxv|select) .*csr full FP32|A\[NumPy, :\] \|.*bitmap|v\[CuPy\] \|.*"
    r"|v\[list\] << u \|.*list|del v\[step\]|Matrix\.from_csr|Scalar\.__add__|io\.serialize)"
)
WITHOUT = "import sys, runpy; sys.modules['graphblas'] = None; runpy.run_path(sys.argv.pop(1), run_name='__main__')"


@pytest.mark.parametrize("backend", ["cpu", pytest.param("emulation", marks=pytest.mark.slow)])
def test_a_dozen_cells_run_dry_without_python_graphblas(backend, tmp_path):
    rows = tmp_path / "rows.jsonl"
    command = [
        sys.executable,
        "-c",
        WITHOUT,
        HERE / "bench_cells.py",
        "--backend",
        backend,
        "--dry-run",
        "--only",
        DOZEN,
    ]
    made = subprocess.run([*map(str, command), "--rows", rows], capture_output=True, text=True, timeout=240)
    assert made.returncode == 0, made.stdout + made.stderr
    found, about = cells_on_device.read_rows([rows])
    assert len(found) >= 12 and all(row["ms"] > 0 and row["floor_ms"] >= 0.03 for row in found)
    assert f"{len(found)} cells, median" in made.stdout and set(about) == {"device", "commit", "date"}


def test_each_public_member_that_computes_has_a_cell_or_a_reason():
    cells = device_cells.cells()
    assert 400 <= len(cells) <= 750 and len({cell.label for cell in cells}) == len(cells)
    with_cell = {re.split(r" \[| \|", cell.label)[0] for cell in cells}
    members = {member for member, kinds in ROWS.items() if not all(cell.refused for cell in kinds.values())}
    assert not sorted(members - with_cell - device_cells.LEFT_OUT.keys())
    assert device_cells.LEFT_OUT.keys() <= members and not device_cells.LEFT_OUT.keys() & with_cell


def rows_of(*cells):
    args = types.SimpleNamespace(total=60, dry_run=True, no_check=False, seconds=0)
    with select.using("cpu") as backend:
        return list(cells_on_device.run(cells, args, backend, "reference"))


def test_a_cell_that_fails_and_one_whose_results_differ_are_reported_and_the_others_run():
    rows = rows_of(
        Cell("raises", lambda lib, o: o.v[o.columns].new()),
        Cell("differs", lambda lib, o: o.v.nvals + (select.current().name == "cpu")),
        Cell("writes otherwise", lambda lib, o: o.v[0] << len(select.current().name), changes=("v",)),
        Cell("runs", lambda lib, o: o.v.dup()),
    )
    assert [row.get("failed", "").partition(":")[0] for row in rows] == ["IndexError", *["AssertionError"] * 2, ""]
    found = cells_on_device.summary(rows)
    assert found[0].startswith("1 cells") and sum("FAILED" in line for line in found) == 3


@pytest.mark.parametrize(
    "call, touches, changes, wanted",
    [
        (lambda lib, o: o.v.apply(lib.unary.ainv).new(), "all", (), lambda n: 16 * n),
        (lambda lib, o: o.v.ewise_add(o.u, "plus").new(), "all", (), lambda n: 24 * n),
        (lambda lib, o: o.v[: o.columns // 2].new(), "part", (), lambda n: 8 * n),
        (lambda lib, o: o.v[device_cells.index(o, "step", o.columns)] << 1, "region", ("v",), lambda n: 8 * -(-n // 3)),
        (lambda lib, o: o.v.nvals, "nothing", (), lambda n: 0),
        (lambda lib, o: o.v << o.u, "all", ("v",), lambda n: 8 * n),  # which then share their arrays
        (lambda lib, o: o.v(lib.binary.plus) << o.u, "all", ("v",), lambda n: 24 * n),
    ],
)
def test_bytes_that_a_call_must_touch(call, touches, changes, wanted):
    o = Operands("csr", "full", "FP64", "tiny")
    cell = Cell("", call, touches=touches, changes=changes)
    result, seen, _ = cells_on_device.once(cell, o)
    assert cells_on_device.needs(cell, seen, result) == (wanted(o.columns), 0, 1)


def test_writes_are_made_to_a_copy_and_the_operand_stays():
    o = Operands("bitmap", "bitmap", "INT64", "tiny")
    before = [o.A.dup(), o.v.dup()]
    cell = Cell("", lambda lib, x: (x.A.clear(), x.v(x.m.S) << 9), changes=("A", "v"))
    _, seen, _ = cells_on_device.once(cell, o)
    assert seen.A.nvals == 0 and before[0].isequal(o.A) and before[1].isequal(o.v) and not seen.v.isequal(o.v)


def test_copies_by_cupy_are_counted(monkeypatch):
    """A module in CuPy's place: arrays, asarray, and memcpyAsync of its runtime."""

    class ndarray:  # noqa: N801
        nbytes = 24

        def get(self):
            return np.zeros(3)

    runtime = types.SimpleNamespace(memcpyAsync=lambda *arguments: None)
    fake = types.SimpleNamespace(
        ndarray=ndarray, asarray=lambda a: a if isinstance(a, ndarray) else ndarray(), cuda=types.SimpleNamespace()
    )
    fake.cuda.runtime = runtime
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.delitem(sys.modules, "cuda_emulation.arrays", raising=False)
    monkeypatch.setattr(cells_on_device.Traffic, "to_device", 0)
    monkeypatch.setattr(cells_on_device.Traffic, "to_host", 0)
    cells_on_device.Traffic.count_cupy()
    for kind in (1, 2, 4):
        runtime.memcpyAsync(0, 0, 10 * kind, kind, 0)
    fake.asarray(fake.asarray(np.zeros(3))).get()
    assert cells_on_device.Traffic.read() == (10 + 24, 20 + 24)


def test_the_table_keeps_the_reasons_that_stand_in_it(tmp_path):
    path = tmp_path / "cells_gpu.md"
    about = {"device": "a GPU", "commit": "abc1234", "date": "2026-01-01"}
    row = {"cell": "v | csr full FP64", "ms": 0.6, "multiple": 12.0, "to_device": 0, "to_host": 8, "ran": ""}
    cells_on_device.write_table([row], about, path)
    text = path.read_text()
    assert "1 cells, median 12.00 of the floor, 1 above 3, 1 above 5, 1 above 10, 0 above 100" in text
    assert "| v | csr full FP64 | 0.6 | 12.00 | 0 | 8 |" in text and "a GPU, commit abc1234, 2026-01-01." in text
    begin, end = cells_on_device.MARKS
    path.write_text(text.replace(begin + "\n" + end, f"{begin}\nslow because of x\n{end}"))
    cells_on_device.write_table([row | {"ms": 0.5}], about, path)
    assert path.read_text().count("slow because of x") == 1 and "| 0.5 |" in path.read_text()


def test_rows_are_read_again_the_last_of_a_cell_counts(tmp_path):
    path = tmp_path / "rows.jsonl"
    lines = [{"about": {"device": "d"}}, {"cell": "a", "ms": 1}, {"cell": "b", "ms": 2}, {"cell": "a", "ms": 3}]
    path.write_text("\n".join(map(json.dumps, lines)))
    rows, about = cells_on_device.read_rows([path])
    assert [row["ms"] for row in rows] == [3, 2] and about == {"device": "d"}
