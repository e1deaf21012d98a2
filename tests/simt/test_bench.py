"""`grb-tile bench` with the CUDA backend over the CPU shim: the same graphs as on the CPU, verified on the device's arrays."""
import json

import numpy as np
import pytest

from grb_tile.cli import generate
from grb_tile.cli.main import OK, main
from grb_tile.storage import place
from simt.backend import shim, using_shim


@pytest.mark.parametrize("text", ["kron:7:4", "grid:6", "fem:3"])
def test_graphs_and_values_are_those_of_the_cpu(text):
    here = generate.store(text, 3)
    with using_shim():
        there = generate.store(text, 3)
        values = generate.uniform(100, 3, np.float32)
    assert isinstance(there.indices, shim().device.array_class) and there.iso
    there = place.host(there)
    assert all(np.array_equal(getattr(here, part), getattr(there, part)) for part in ("indptr", "indices", "values"))
    assert np.array_equal(place.host_array(values), generate.uniform(100, 3, np.float32))


def test_figures_of_a_device(capsys, monkeypatch):
    monkeypatch.setattr("grb_tile.cli.bench_measure.WARM_SECONDS", 0)
    shim()
    code = main(["bench", "--generate", "kron:6:4", "--backend", "cuda", "--parents", "--types", "FP32", "--densities", "0.1",
                 "--repeat", "1", "--sources", "2", "--json", "-", "--quiet"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert code == OK and [line["figure"] for line in lines] == [
        "bfs levels", "bfs levels and parents", "spmv plus_times FP32", "spmspv 0.1 plus_times FP32"]
    for line in lines:
        assert line["backend"] == line["plan"]["engine"] == "cuda" and line["verified"] and line["queued_ms"] > 0
