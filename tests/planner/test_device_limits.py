"""The table of architectures' limits, and restricting a device to less than it has."""

from dataclasses import replace

import pytest

from grb_tile.planner.device_limits import KIB, LIMITS, STATIC_SHARE, STATIC_SHARED, limits_of, restricted


def test_the_table_is_in_order_and_plausible():
    assert list(LIMITS) == [75, 80, 86, 89, 90, 100, 120]
    for limits in LIMITS.values():
        assert STATIC_SHARED < limits.shared_per_block <= limits.shared_per_processor
        assert limits.shared_per_block + limits.block_reserve == limits.shared_per_processor
        assert limits.reduce_sync == (limits.arch >= 80)


@pytest.mark.parametrize(("arch", "listed"), [(75, 75), (87, 86), (90, 90), (103, 100), (110, 100), (121, 120)])
def test_an_architecture_that_is_not_listed(arch, listed):
    assert limits_of(arch).arch == listed


def test_one_that_is_too_old():
    with pytest.raises(ValueError, match=r"7\.0 is not supported: 7\.5 or newer"):
        limits_of(70)


@pytest.mark.parametrize(
    ("arch", "threads", "shared", "registers", "blocks"),
    [(90, 1024, 0, 0, 2), (90, 1024, 0, 64, 1), (90, 256, 32 * KIB, 0, 6), (75, 1024, 0, 0, 1), (75, 32, 0, 0, 16),
     (86, 512, 0, 0, 3), (120, 128, 99 * KIB, 0, 1), (120, 128, 128 * KIB, 0, 0), (80, 2048, 0, 0, 0)],
)  # fmt: skip
def test_resident_blocks(arch, threads, shared, registers, blocks):
    """By hand from the programming guide's table; the driver says the same of an H200 (tests/gpu)."""
    assert limits_of(arch).resident_blocks(threads, shared, registers) == blocks


@pytest.mark.parametrize("arch", LIMITS)
@pytest.mark.parametrize("each", [12, 40, 96, 160])
def test_items_and_threads_leave_what_a_block_has_as_static_shared_memory(arch, each):
    limits = limits_of(arch)
    assert limits.dynamic_shared == limits.shared_per_block - STATIC_SHARE
    for most in (1 << 20, limits.shared_per_block // each, 1):
        most = 1 << (most.bit_length() - 1)
        found = limits.power_of_two_with(most, each)
        assert found * each <= limits.dynamic_shared
        assert found == most or 2 * found * each > limits.dynamic_shared
    exact = replace(limits, shared_per_block=STATIC_SHARE + 1024 * each)
    assert exact.power_of_two_with(4096, each) == exact.threads_with(4096, each) == 1024
    less = replace(exact, shared_per_block=exact.shared_per_block - 1)
    assert less.power_of_two_with(4096, each) == less.threads_with(4096, each) == 512


def test_a_restriction_only_lowers():
    h200 = limits_of(90)
    assert restricted(h200, "") is h200
    assert restricted(h200, "shared=500 reduce_sync=1") == h200
    found = restricted(h200, "shared=48, processors=24 reduce_sync=0 threads=1024")
    assert (found.shared_per_block, found.processors, found.reduce_sync) == (48 * KIB, 24, False)
    assert found.threads_per_processor == 1024 and found.restricted.startswith("shared=48 processors=24")
    as_a100 = restricted(h200, "arch=80")
    assert as_a100.shared_per_block == 163 * KIB and as_a100.reduce_sync
    assert as_a100.arch == 90, "code is compiled for the device that runs it"


@pytest.mark.parametrize("text", ["shared", "shared=", "shared=-1", "sms=4", "processors=no"])
def test_a_restriction_that_is_none(text):
    with pytest.raises(ValueError, match="GRB_TILE_DEVICE_LIMITS"):
        restricted(limits_of(90), text)
