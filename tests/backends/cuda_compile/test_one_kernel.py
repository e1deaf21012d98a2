"""A loop of a program as one kernel compiles with NVRTC for each supported architecture, without a GPU."""

import pytest

from grb_tile.backends.cuda.programs.persistent import Recorded, Source
from grb_tile.backends.cuda.programs.steps import ALL, EVERY, OWN, Step
from grb_tile.backends.cuda.programs.touched import parameters_of
from grb_tile.backends.cuda.runtime import compile as jit
from grb_tile.backends.cuda.runtime.kernel_groups import recorded
from grb_tile.planner.device_limits import LIMITS
from support.seeds import SEED

NAMES = ("combine", "overwrite_words", "matvec_rows", "merge_columns", "agreeing", "cast_values", "reduce_values")


def steps():
    """The first recorded instance of each kernel, and those of the loop itself; all arguments are 0."""
    found = {}
    for instance in recorded().instances:
        if instance[1] in NAMES:
            found.setdefault(instance[1], instance)
    assert len(found) == len(NAMES)
    reduction = found["reduce_values"]
    own = [
        ("programs/copy.cuh", "copy_arrays", "", ("2",)), ("programs/copy.cuh", "copy_arrays", "", ("1", "8")),
        (reduction[0], "reduce_parts", *reduction[2:]), ("programs/numbers.cuh", "sum_counts", "", ()),
        ("programs/turns.cuh", "end_turn", "", ()),
    ]  # fmt: skip
    passed = [
        Step(name, found[name], (1000,) * len(parameters_of(found[name][0], name)), ALL, None, 16)
        for name in ("combine", "cast_values", "agreeing", "reduce_values")
    ]
    return passed + [
        Step(instance[1], instance, (0,) * 40, (ALL, EVERY)[k % 2], None, 5 * (1 - k % 2))
        for k, instance in enumerate((*found.values(), *own))
    ]


QUICK = sorted(LIMITS)[SEED % len(LIMITS)]  # each takes five seconds


@pytest.mark.parametrize(
    "arch", [arch if arch == QUICK else pytest.param(arch, marks=pytest.mark.slow) for arch in LIMITS]
)
def test_one_kernel(arch):
    try:
        jit.compiler()
    except Exception as error:  # noqa: BLE001  # whatever is missing
        pytest.skip(f"no NVRTC: {error}")
    source, body = Source([0, 0, 8]), steps()
    tell = Step("tell_host", ("programs/turns.cuh", "tell_host", "", ()), (0,) * 5, 1, None)
    bodies = {"cols": [body[:4], body[4:]], "rows": [body]}
    text = source.text(Recorded([body[-1:]], bodies, [tell], False, [(64, OWN, 8)], OWN))
    assert text.count("::at<") == 8  # of four steps in each body
    name, cubin = jit.compile_cubin(
        *jit.source_text(source.headers(), "run_turns", text), arch, jit.options_for(LIMITS[arch])
    )
    assert "run_turns" in name and len(cubin) > 1000
