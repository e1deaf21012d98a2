"""Steps of one kernel: which must wait for which, where arrays get what they start with, and when one kernel pays."""

import numpy as np
import pytest

from cuda_emulation.backend import shim
from grb_tile.backends.cuda.programs.fused import Group
from grb_tile.backends.cuda.programs.numbers import OwnNumbers
from grb_tile.backends.cuda.programs.slots import copy_arrays
from grb_tile.backends.cuda.programs.steps import (
    ALL,
    EVERY,
    OWN,
    Recorder,
    Start,
    Step,
    bytes_of,
    chains_of,
    levels,
    order,
    places_of,
    starts_of,
    step_of,
    wraps,
)
from grb_tile.backends.cuda.programs.touched import Touched, parameters_of
from grb_tile.backends.cuda.programs.turn_products import without_next
from grb_tile.planner.choose_lowering import one_kernel_pays, product_fits
from grb_tile.planner.device_profile import H200
from support.seeds import generator


def step(name, *touched, blocks=ALL, words=(), chunk=5):
    """touched: (start, stop, "r" or "w", bytes that belong to 64 positions)"""
    found = tuple(Touched(start, stop, how == "w", unit) for start, stop, how, unit in touched)
    return Step(name, ("", name, "", ()), words, blocks, found or None, chunk if blocks == ALL else 0)


END = step("end_turn", (900, 940, "w", 0), blocks=1)


def names(ordered):
    return [[s.name for s in level] for level in ordered]


def test_a_step_waits_for_what_another_block_wrote():
    first = step("first", (0, 80, "w", 8))
    assert names(levels([first, step("same chunk", (0, 80, "r", 8))])) == [["first", "same chunk"]]
    for other in (
        step("any position", (0, 80, "r", 0)),
        step("another unit", (0, 80, "r", 4)),
        step("another place", (8, 88, "r", 8)),
        step("other chunks", (0, 80, "r", 8), chunk=6),
        step("one block", (0, 80, "r", 8), blocks=1),
        step("every block", (0, 80, "r", 8), blocks=EVERY),
        step("not known"),
    ):
        assert names(levels([first, other])) == [["first"], [other.name]]
    one = step("one", (0, 80, "w", 8), blocks=1)
    assert names(levels([one, step("every block", (0, 80, "r", 8), blocks=EVERY)])) == [["one"], ["every block"]]


def test_readers_and_writers():
    read, write = step("read", (0, 80, "r", 0)), step("write", (0, 80, "w", 8))
    assert names(levels([read, step("read too", (40, 80, "r", 0)), END])) == [["read", "read too", "end_turn"]]
    assert names(levels([read, write])) == [["read"], ["write"]]
    assert names(levels([write, step("beside", (80, 160, "w", 0))])) == [["write", "beside"]]


def test_one_block_needs_no_grid():
    chain = [step(str(k), (8 * k, 8 * k + 16, "w", 0), blocks=1) for k in range(4)]
    assert names(levels(chain)) == [["0", "1", "2", "3"]]
    unknown = Step("unknown", ("", "", "", ()), (), 1, None)
    assert names(levels([chain[0], unknown])) == [["0", "unknown"]]


def test_a_blocks_own_numbers_need_no_grid():
    write = step("write", (OWN, OWN + 8, "w", 0), blocks=EVERY)
    assert names(levels([write, step("read", (OWN, OWN + 8, "r", 0), (0, 80, "w", 8)), step("not known")])) == [
        ["write", "read"], ["not known"],
    ]  # fmt: skip


@pytest.mark.parametrize("case", range(8))
def test_warps_of_their_own(case):
    """Steps that need each other are in one list, in their order, or the later one is in the rest."""
    rng, level = generator("warps of their own", case), []
    for k in range(12):
        kind = ["sum_counts", "reduce_parts", "combine", "end_turn"][rng.integers(0, 4)]
        areas = [
            (OWN + int(8 * x), OWN + int(8 * x) + 8, "rw"[rng.integers(0, 2)], 0) for x in rng.integers(0, 9, 1 + k % 2)
        ]
        level.append(step(kind, *areas, blocks=EVERY, words=(k,)))
    chains, rest = chains_of(level)
    every = [[s.words[0] for s in chain] for chain in (*chains, rest)]
    assert sorted(k for some in every for k in some) == list(range(12)) and len(chains) != 1
    where = {k: (place, at) for place, some in enumerate(every) for at, k in enumerate(some)}
    for b, later in enumerate(level):
        for a, earlier in enumerate(level[:b]):
            if order(earlier, later):
                same = where[a][0] == where[b][0] and where[a][1] < where[b][1]
                assert same or where[b][0] == len(chains) > where[a][0], (a, b, every)
    assert all(s.name not in ("combine", "end_turn") for chain in chains for s in chain)


def test_sums_of_different_numbers_have_a_warp_each():
    one, two = (step("sum_counts", (OWN + 8 * k, OWN + 8 * k + 8, "w", 0), blocks=EVERY) for k in range(2))
    end = step("end_turn", (OWN, OWN + 16, "r", 0), blocks=EVERY)
    assert chains_of([one, two, end]) == ([[one], [two]], [end])
    assert chains_of([one, one, end]) == ([], [one, one, end])


def test_a_step_comes_before_those_that_need_not_wait_for_it():
    product, test = step("product", (0, 80, "w", 0)), step("test", (0, 80, "r", 8), (100, 108, "w", 0))
    copy = step("copy", (0, 80, "r", 8), (200, 280, "w", 8))
    number = step("number", (100, 108, "r", 0), (108, 116, "w", 0), blocks=1)
    assert names(levels([product, test, number, copy])) == [["product"], ["test", "copy"], ["number"]]


def test_turns_follow_each_other():
    """A barrier ends the turn where a block may write what another one still reads, or has not written yet."""
    read, write = step("read", (0, 80, "r", 0)), step("write", (0, 80, "w", 8))
    assert wraps([write], [read]) and wraps([read], [write]) and not wraps([read], [read])
    assert not wraps([write], [write])


def test_where_arrays_get_what_they_start_with():
    fill = step("fill_start", (0, 80, "w", 8))
    use, aligned = step("use", (0, 80, "w", 0)), step("aligned", (0, 80, "r", 8))
    later = step("later", (0, 8, "r", 0))
    starts, rest = starts_of([fill, use, later, END], [(300, 8)])
    assert starts == [Start(0, 80, fill), Start(300, 8, None)] and rest == [use, later, END]
    item = starts[:1]
    assert places_of([[use], [later], [END], [END]], item) == ({2: item}, {}, item, False)
    assert places_of([[END], [END], [use], [later]], item) == ({1: item}, {}, [], False)
    assert places_of([[END], [use], [END]], item) == ({0: item}, {}, [], False)
    assert places_of([[use], [later], [END]], item) == ({2: item}, {}, item, True)  # beside the next turn's first use
    assert places_of([[use], [aligned], [END]], item) == ({}, {1: item}, item, False)  # each block after its own reads
    assert places_of([[END], [use], [aligned]], item) == ({}, {2: item}, item, False)
    assert places_of([[use], [aligned]], item) == ({-1: item}, {}, [], True)  # the first level uses what the last does
    own = [Start(OWN, 8, None)]
    assert places_of([[step("number", (OWN, OWN + 8, "w", 0))], [END]], own).within == {0: own}
    assert not places_of([[END], [END], [END]], item).barrier  # nothing uses it
    by_address = Step("not known", ("", "", "", ()), (40,), ALL, None)
    assert places_of([[by_address], [END], [END]], item).within == {1: item}


def test_zeros_are_written_in_chunks_where_a_bitmap_is():
    assert step_of(Start(0, 80, None)).chunk == 10 and step_of(Start(0, 80, None)).touched[0].unit == 8
    assert step_of(Start(0, 24, None))[3:] == (1, (Touched(0, 24, True),), 0, False)


@pytest.mark.parametrize("count", [255, 256, 257])
def test_as_many_numbers_as_a_block_has_room_for(count):
    starts = [Start(10_000 + 16 * k, 8, None) for k in range(count)]
    writers = [
        Step("equals_number", ("programs/numbers.cuh", "equals_number", "", ()), (0, 3, each.start), 1,
             (Touched(0, 8, False), Touched(each.start, each.start + 8, True)))
        for each in starts
    ]  # fmt: skip
    own = OwnNumbers([writers], starts)
    assert sum(own.has(each.start) for each in starts) == min(count, 256)
    assert all(place - OWN <= 8 * 255 for _, place, _ in own.table)


def test_numbers_that_every_block_has():
    """Those that steps of one block alone write; what several write is fetched, in the level after them."""
    header = "programs/numbers.cuh"

    def number(read, write):
        found = Touched(read, read + 8, False), Touched(write, write + 8, True)
        return Step("equals_number", (header, "equals_number", "", ()), (read, 3, write), 1, found)

    count = step("count", (0, 1600, "w", 512), (2000, 2008, "w", 0), chunk=25)
    first, second = number(2000, 2100), number(2100, 2200)
    shared = step("shared", (2300, 2308, "w", 0), (2100, 2108, "r", 0))
    third = number(2200, 2300)
    own = OwnNumbers([[count, first, second, shared, third]], [Start(2100, 16, None)])
    assert [own.has(k) for k in (2000, 2100, 2104, 2200, 2300, 0)] == [False, True, True, True, False, False]
    assert [place for _, place, _ in own.table] == [OWN, OWN + 16] and own.place(2104) == OWN + 4
    found = own.rewritten([count, first, second, shared, third])
    assert [s.name for s in found] == [
        "count",
        "copy_arrays",
        "equals_number",
        "equals_number",
        "shared",
        "equals_number",
    ]
    assert [s.blocks for s in found] == [ALL, EVERY, EVERY, EVERY, ALL, 1]
    assert found[2].words == (OWN + 24, 3, OWN) and found[3].words == (OWN, 3, OWN + 16)
    assert names(levels(found)) == [
        ["count"], ["copy_arrays", "equals_number", "equals_number", "shared"], ["equals_number"],
    ]  # fmt: skip


def test_what_a_launch_touches():
    """Parameters that are `const` are read; positions belong to arrays of that many elements or bits."""
    assert [p.constant for p in parameters_of("elementwise/apply.cuh", "apply_values")] == [True, True, False, False]
    assert [p.words for p in parameters_of("elementwise/apply.cuh", "apply_values")] == [False, True, False, False]
    assert parameters_of("programs/copy.cuh", "nothing") is None
    device = shim().device
    n = 1000
    x, out, recorder = device.zeros(n, np.float64), device.zeros(n, np.float64), Recorder(device.launcher, 3)
    words, count = device.zeros(16, np.uint64), device.zeros(4, np.uint64)
    kernel = device.launcher.kernel("structure/convert.cuh", "cast_values", "", ("double", "double"))
    join = device.launcher.kernel("elementwise/restrict.cuh", "join_words", "", ("void",))
    with recorder:
        kernel.over(n, (x, n, out))
        join.over(16, (words, None, 16, n, 0, words, count))
        device.zeros(4, np.uint64)
        kernel(2, 32, (x, n, out))
    assert recorder.reason == "cast_values has a grid of its own"
    (noted, joined, summed), start = recorder.steps, int(x.data.ptr)
    assert noted.touched[0] == Touched(start, start + 8 * n, False, 512) and noted.touched[1].written
    assert noted.words[1] == n and noted.blocks == ALL and [size for _, size in recorder.clears] == [32]
    assert noted.chunk == joined.chunk == 16 and joined.touched[0].unit == 8 and joined.apart and not noted.apart
    assert summed.name == "sum_counts" and summed.words == (joined.words[-1], int(count.data.ptr))
    assert bytes_of([noted]) == 16 * n
    assert out.tolist() == [0.0] * n


def test_neighbouring_steps_are_one_pass():
    """Of the same positions; what one writes and the next reads has one word among the arguments."""

    def cast(source, to, n=1000, chunk=16):
        instance = "structure/convert.cuh", "cast_values", "", ("double", "double")
        return Step("cast_values", instance, (source, n, to), ALL, (), chunk)

    found = Group.of([cast(80, 160), cast(160, 240), step("another", (0, 80, "r", 8))])
    assert found is not None and found.steps == 2 and found.positions == 1000
    assert found.words == (80, 1000, 160, 1000, 240) and [item.words for item in found.items] == [(0, 1, 2), (2, 3, 4)]
    assert Group.of([cast(80, 160), cast(160, 240, 1010)]) is None  # as many words, and more positions
    assert Group.of([cast(80, 160), cast(160, 240, chunk=17)]) is None
    assert Group.of([cast(80, 160), step("another", (0, 80, "r", 8)), cast(160, 240)]) is None


def test_a_product_clears_no_accumulator_that_nothing_takes():
    words = (*range(100, 115), 200, 300, 400, 0, 0, 0)
    product = step("merge_columns", (114, 120, "w", 0), words=words)
    assert without_next([product])[0].words == (*words[:15], 0, 0, 0, 0, 0, 0)
    taken = step("merge_columns", (300, 380, "w", 0), words=words)
    assert without_next([product, taken])[0].words == words


def test_copies_are_divided_as_the_steps_of_their_arrays_are():
    device, recorder = shim().device, Recorder(shim().device.launcher, 3)
    words, others = device.zeros(10, np.uint64), device.zeros(10, np.uint64)
    values, more = device.zeros(640, np.float64), device.zeros(640, np.float64)
    number, other = device.zeros(1, np.int64), device.zeros(1, np.int64)
    with recorder:
        copy_arrays(device, [(words, others), (values, more), (number, other)])
        copy_arrays(device, [(values, more), (more, values)])
    found = recorder.steps
    assert [(s.chunk, s.touched[0].unit, s.blocks) for s in found] == [
        (10, 8, ALL), (10, 512, ALL), (0, 0, 1), (10, 512, ALL),
    ]  # fmt: skip
    assert [s.instance[3] for s in found] == [("1", "1"), ("1", "64"), ("1",), ("2", "64")]


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
