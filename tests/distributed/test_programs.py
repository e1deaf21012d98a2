"""A whole program in processes that a launcher starts: over sockets, over MPI, and alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from test_launchers import MPIEXEC, environment, run, with_mpi

PROGRAM = str(Path(__file__).with_name("dist_program.py"))


def ranks_of(done):
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))


@pytest.mark.parametrize("ranks", (3,))
def test_over_sockets(ranks, tmp_path):
    done = run(ranks, "--over", "pipes", PROGRAM, str(tmp_path / "parts"))
    assert ranks_of(done) == [f"rank {r} of {ranks}: ok" for r in range(ranks)]


@with_mpi
@pytest.mark.slow
def test_over_mpi(tmp_path):
    command = [MPIEXEC, "-n", "4", sys.executable, PROGRAM, str(tmp_path / "parts")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment())
    assert ranks_of(done) == [f"rank {r} of 4: ok" for r in range(4)]


def test_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, PROGRAM, str(tmp_path / "parts")], capture_output=True, text=True, timeout=60,
        env=environment(),
    )  # fmt: skip
    assert ranks_of(done) == ["rank 0 of 1: ok"]


def test_the_gap_suite_on_ranks():
    command = [sys.executable, "-m", "grb_tile", "gap", "--generate", "kron:7:4", "--trials", "1", "-n", "2", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment())
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)  # of one rank
    assert facts["ranks"] == 2 and all(row["verified"] for row in facts["kernels"]) and len(facts["kernels"]) == 6
