"""Steps of one kernel: which must wait for which, where arrays get what they start with, and when one kernel pays."""

import numpy as np
import pytest

from cuda_emulation.backend import shim
from grb_tile.backends.cuda.programs.steps import (
    ALL,
    Recorder,
    Start,
    Step,
    Touched,
    bytes_of,
    constant_parameters,
    levels,
    places_of,
    starts_of,
)
from grb_tile.planner.choose_lowering import one_kernel_pays, product_fits
from grb_tile.planner.device_profile import H200


def step(name, *touched, blocks=ALL, words=()):
    """touched: (start, stop, "r" or "w", stride)"""
    found = tuple(Touched(start, stop, how == "w", stride) for start, stop, how, stride in touched)
    return Step(name, ("", name, "", ()), words, blocks, found or None)


END = step("end_turn", (900, 940, "w", 0), blocks=1)


def names(ordered):
    return [[s.name for s in level] for level in ordered]


def test_a_step_waits_for_what_another_block_wrote():
    first = step("first", (0, 80, "w", 8))
    assert names(levels([first, step("same position", (0, 80, "r", 8)), END])) == [
        ["first", "same position"],
        ["end_turn"],
    ]
    for other in (
        step("any position", (0, 80, "r", 0)),
        step("another stride", (0, 80, "r", 4)),
        step("another place", (8, 88, "r", 8)),
        step("one block", (0, 80, "r", 8), blocks=1),
        step("not known"),
    ):
        assert names(levels([first, other, END]))[:2] == [
            ["first"],
            [other.name, "end_turn"] if other.touched else [other.name],
        ]


def test_readers_and_writers():
    read, write = step("read", (0, 80, "r", 0)), step("write", (0, 80, "w", 8))
    assert names(levels([read, step("read too", (40, 80, "r", 0)), END]))[0] == ["read", "read too"]
    assert names(levels([read, write, END])) == [["read"], ["write", "end_turn"]]
    assert names(levels([write, step("beside", (80, 160, "w", 0)), END]))[0] == ["write", "beside"]


def test_one_block_needs_no_grid():
    chain = [step(str(k), (8 * k, 8 * k + 16, "w", 0), blocks=1) for k in range(4)]
    assert names(levels([*chain, END])) == [["0", "1", "2", "3"], ["end_turn"]]
    unknown = Step("unknown", ("", "", "", ()), (), 1, None)
    assert names(levels([chain[0], unknown, END])) == [["0", "unknown"], ["end_turn"]]


def test_a_step_comes_before_those_that_need_not_wait_for_it():
    product, test = step("product", (0, 80, "w", 0)), step("test", (0, 80, "r", 0), (100, 108, "w", 0))
    copy = step("copy", (0, 80, "r", 8), (200, 280, "w", 8))
    number = step("number", (100, 108, "r", 0), (108, 116, "w", 0), blocks=1)
    assert names(levels([product, test, number, copy, END])) == [["product"], ["test", "copy", "end_turn"], ["number"]]


def test_a_reduction_ends_with_the_barrier_of_its_level():
    """Its result is the first block's: a step of one block may read it then, others a level later."""
    read, result = Touched(0, 80, False, 8), Touched(100, 124, True, 0, True)
    reduction = Step("reduce_values", ("", "reduce_values", "", ()), (), ALL, (read, result))
    write, number = step("write", (0, 80, "w", 8)), step("number", (100, 108, "r", 0), (200, 208, "w", 0), blocks=1)
    beside, spread = step("beside", (300, 380, "w", 0)), step("spread", (100, 108, "r", 0), (400, 480, "w", 8))
    found = levels([write, reduction, beside, number, spread, step("copy", (0, 80, "w", 8)), END])
    assert names(found) == [
        ["write", "beside", "reduce_values"], ["number", "copy", "end_turn"], ["spread"],
    ]  # fmt: skip
    alone = reduction._replace(blocks=1)
    assert names(levels([alone, number, END])) == [["reduce_values", "number"], ["end_turn"]]


def test_the_end_of_a_turn_is_not_in_its_first_level():
    assert names(levels([END])) == [[], ["end_turn"]]


def test_where_arrays_get_what_they_start_with():
    fill = step("fill_start", (0, 80, "w", 0))
    uses = [
        step("use", (0, 80, "w", 0)),
        step("last use", (0, 80, "r", 0)),
        step("later", (80, 160, "r", 0), (0, 8, "r", 0)),
    ]
    starts, rest = starts_of([fill, *uses, END], [(300, 8)])
    assert starts == [Start(0, 80, fill), Start(300, 8, None)] and rest == [*uses, END]
    ordered = [[uses[0]], [uses[1]], [END]]
    early, within, before = places_of(ordered, starts)
    assert early == [starts[0]] and within == {2: [starts[0]], 0: [starts[1]]} and not before
    assert places_of([[], [uses[0]], [END]], starts)[1] == {0: starts}  # nothing uses them yet
    assert places_of([[uses[0]], [uses[1]]], starts[:1])[2] == starts[:1]  # nothing is left after the last use
    by_address = Step("not known", ("", "", "", ()), (40,), ALL, None)
    assert places_of([[by_address], [END]], starts[:1])[1] == {1: starts[:1]}


def test_what_a_launch_touches():
    """Parameters that are `const` are read; a stride belongs to arrays of as many elements as the loop has."""
    assert constant_parameters("elementwise/apply.cuh", "apply_values") == (True, True, False, False)
    assert constant_parameters("elementwise/reduce.cuh", "reduce_values") == (True, True, False, False, False, False)
    assert constant_parameters("programs/copy.cuh", "nothing") is None
    device = shim().device
    x, out, recorder = device.zeros(100, np.float64), device.zeros(100, np.float64), Recorder(device.launcher, 3)
    kernel = device.launcher.kernel("structure/convert.cuh", "cast_values", "", ("double", "double"))
    with recorder:
        kernel.over(100, (x, 100, out))
        device.zeros(4, np.uint64)
        kernel(2, 32, (x, 100, out))
    assert recorder.reason == "cast_values has a grid of its own"
    (noted,), start = recorder.steps, int(x.data.ptr)
    assert noted.touched[0] == Touched(start, start + 800, False, 8) and noted.touched[1].written
    assert noted.words[1] == 100 and noted.blocks == ALL and [size for _, size in recorder.clears] == [32]
    assert bytes_of([noted]) == 1600
    assert out.tolist() == [0.0] * 100


@pytest.mark.parametrize("name", ["GPU_NODE_NS", "GPU_BARRIER_NS", "GPU_STEP_PRODUCT_NS"])
def test_each_cost_counts(name, monkeypatch):
    from grb_tile.planner import tuning

    def found():
        return [one_kernel_pays(1 << k, 10, 5, H200)[0] for k in range(20, 36)] + [
            product_fits(1 << k, 12, H200) for k in range(14, 34)
        ]

    before = found()
    assert True in before and False in before
    monkeypatch.setattr(tuning, name, getattr(tuning, name) * 4)
    assert found() != before
