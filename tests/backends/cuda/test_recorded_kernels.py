"""common_kernels.json is what programs ask for: each program runs on the CPU emulation, as if no kernel were known."""

import sys
from pathlib import Path

import pytest

from cuda_emulation.backend import EMULATED
from grb_tile.backends.cuda.runtime.kernel_groups import recorded

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks" / "gpu"))
from record_kernels import DEVICE, asked_for
from recorded_programs import programs

HEADERS = Path(__file__).resolve().parents[3] / "kernels"
AGAIN = "run tests/benchmarks/gpu/record_kernels.py"


@pytest.mark.skipif(not EMULATED, reason="the record is made on the CPU emulation")
@pytest.mark.sampled(20)
@pytest.mark.parametrize("name", programs())
def test_a_program_asks_for_the_recorded_kernels(name):
    listed, asked = set(recorded().programs[name]), set(asked_for(name))
    missing, stale = ([f"{i[1]}<{', '.join(i[3])}>" for i in found] for found in (asked - listed, listed - asked))
    assert not missing and not stale, f"{AGAIN} {name!r}: not recorded {missing}, recorded in vain {stale}"


def test_each_program_is_recorded():
    listed = {name for name in recorded().programs if DEVICE not in name}
    assert listed == set(programs()), f"{AGAIN}: {sorted(listed ^ set(programs()))}"


def test_the_record_holds_together():
    groups = recorded()
    assert len(groups.programs) > 50 and len(groups.instances) > 200
    assert len(set(groups.instances)) == len(groups.instances)
    assert {i for asked in groups.programs.values() for i in asked} == set(groups.instances)
    costs = [groups.cost(i) for i in groups.by_cost()]
    assert costs == sorted(costs, reverse=True) and costs[-1] >= 1


def test_each_recorded_kernel_is_in_its_header():
    """Those that were recorded on a device, too, which a run on the emulation leaves as they are."""
    kernels = {(header, name) for asked in recorded().programs.values() for header, name, *_ in asked}
    gone = [f"{header}: {name}" for header, name in kernels if f" {name}(" not in (HEADERS / header).read_text()
            and f"\n{name}(" not in (HEADERS / header).read_text()]  # fmt: skip
    assert kernels and not gone, f"{sorted(gone)}: {AGAIN}, or rename them in common_kernels.json"
