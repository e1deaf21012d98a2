"""Each flag of each algorithm: what is neither True nor False is refused by its name."""

import inspect

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import algorithms

A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [1.0, 2.0, 2.0, 3.0], nrows=3, ncols=3)
NEEDED = {
    "source": 0, "target": 1, "sources": [0], "pairs": [(0, 1)], "starts": [0], "length": 2, "k": 1, "u": 0, "v": 1,
    "labels": [0, 0, 1], "personalization": [{0: 1.0}],
}  # fmt: skip
# None means there that the library finds out
FOUND_OUT = {"directed", "symmetric", "progress", "strict"}


def flags_of(module):
    for name in sorted(set(module.__all__)):
        function = getattr(module, name)
        if inspect.isfunction(function):
            for key, parameter in inspect.signature(function).parameters.items():
                if isinstance(parameter.default, bool) and key != "normalized":  # which may be "sum"
                    yield f"{module.__name__.rpartition('.')[2]}.{name}", key


def arguments_of(function):
    """Fitting values of what has no default; None where there is none."""
    given = []
    for number, (key, parameter) in enumerate(inspect.signature(function).parameters.items()):
        if parameter.default is inspect.Parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            if number and key not in NEEDED:
                return None
            given.append(A if not number else NEEDED[key])
    return given


@pytest.mark.parametrize(("function", "flag"), list(flags_of(algorithms)))
def test_what_is_no_flag(function, flag):
    call = getattr(algorithms, function.partition(".")[2])
    given = arguments_of(call)
    assert given is not None, f"add what {function} needs to NEEDED"
    for wrong in ("no", 1, 0, 1.0, [], *([] if flag in FOUND_OUT else [None])):
        with pytest.raises(TypeError, match=flag):
            call(*given, **{flag: wrong})
    for right in (np.True_, np.False_):
        try:
            call(*given, **{flag: right})
        except (ValueError, NotImplementedError, algorithms.ConvergenceFailure) as error:
            assert "expected True or False" not in str(error)
