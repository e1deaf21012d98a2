"""`grb-tile bench` with the CUDA backend over the CPU emulation, verified on the device's arrays."""

import json
from pathlib import Path

import pytest

from cuda_emulation.backend import shim
from grb_tile.cli.main import OK, main


def test_figures_of_a_device(capsys, monkeypatch):
    monkeypatch.setattr("grb_tile.cli.bench_measure.WARM_SECONDS", 0)
    shim()
    code = main(
        [
            "bench",
            "--generate",
            "kron:6:4",
            "--backend",
            "cuda",
            "--parents",
            "--types",
            "FP32",
            "--densities",
            "0.1",
            "--repeat",
            "1",
            "--sources",
            "2",
            "--json",
            "-",
            "--quiet",
        ]
    )
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert code == OK and [line["figure"] for line in lines] == [
        "bfs levels",
        "bfs levels and parents",
        "spmv plus_times FP32",
        "spmspv 0.1 plus_times FP32",
    ]
    for line in lines:
        assert line["backend"] == line["plan"]["engine"] == shim().name and line["verified"] and line["queued_ms"] > 0


KARATE = str(Path(__file__).resolve().parents[3] / "examples" / "data" / "karate.txt")


@pytest.mark.parametrize(
    "command",
    [
        ["bfs", KARATE, "--source", "1", "--parents"],
        ["sssp", KARATE, "--source", "1"],
        ["pagerank", KARATE],
        ["components", KARATE],
        ["triangles", KARATE],
        ["info", KARATE],
        ["convert", KARATE, "k.mtx"],
    ],
    ids=lambda words: words[0],
)
def test_commands_say_the_same_on_a_device(capsys, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    shim()
    said = []
    for backend in ("cpu", "cuda"):
        assert main([*command, "--undirected", "--base", "1", "--json", "--backend", backend]) == OK
        found = json.loads(capsys.readouterr().out)
        said.append(
            {
                key: found[key]
                for key in (
                    "reached",
                    "depth",
                    "nodes_per_level",
                    "longest",
                    "components",
                    "largest",
                    "triangles",
                    "entries",
                    "degrees",
                    "symmetry",
                    "bytes",
                )
                if key in found
            }
        )
        if "top" in found:
            said[-1]["top"] = [{key: round(value, 6) for key, value in item.items()} for item in found["top"][:5]]
    assert said[0] == said[1] and len(said[0]) > 0
