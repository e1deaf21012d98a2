"""gb.config and the variables of the environment: what is refused, what overrides what, when it is read."""

import os
import subprocess
import sys

import pytest

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.config import Config

FORGET = {"GRB_TILE_BACKEND", "GRB_TILE_DEVICE", "GRAPHBLAS_AUTOCOMPUTE", "GRAPHBLAS_MAPNUMPY"}


def python(statements, **variables):
    """(output, the last line of the errors) of a Python with these variables of the environment."""
    environment = {name: value for name, value in os.environ.items() if name not in FORGET} | variables
    program = f"import grb_tile as gb\n{statements}"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    return run.stdout.split(), (run.stderr.splitlines() or [""])[-1]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"backned": "cuda"}, r"no option 'backned'; the options are .*; did you mean 'backend'\?$"),
        ({"zzz": 1}, "no option 'zzz'; the options are autocompute, backend"),
        ({"backend": "cdua"}, "'cdua' is not known; choose one of auto, cuda, cpu"),
        ({"backend": None}, "backend=None"),
        ({"device": None}, "device=None"),
        ({"device": "x"}, "'x' is no number of a device"),
        ({"autocompute": "yes"}, "autocompute='yes'; choose among True, False"),
        ({"mapnumpy": 2}, "mapnumpy=2; choose among True, False"),
        ({"matmul_precision": "fp8"}, "choose among exact, tf32"),
        ({"autocompute": False, "backned": 1}, "no option 'backned'"),
    ],
)
def test_what_is_no_option_and_no_value_is_refused(options, message):
    before = gb.config.to_dict()
    for change in (lambda: gb.config.set(**options), lambda: gb.config.set(options), lambda: gb.config.update(options)):
        with pytest.raises(gb.exceptions.InvalidValue, match=message):
            change()
        assert gb.config.to_dict() == before
    with pytest.raises(gb.exceptions.InvalidValue, match=message), gb.config.set(**options):
        pass
    name, value = list(options.items())[-1]
    with pytest.raises(gb.exceptions.InvalidValue, match=message):
        gb.config[name] = value
    assert gb.config.to_dict() == before


def test_a_program_adds_options_of_its_own():
    gb.config.update_defaults({"of_mine": 3})
    try:
        with gb.config.set(of_mine=4):
            assert gb.config["of_mine"] == 4
        assert gb.config["of_mine"] == 3
    finally:
        del gb.config.defaults[-1]
        gb.config.refresh()


SELECT = "from grb_tile.backends import select\n"
COMPUTE = SELECT + "print(select.current().name, gb.Vector.from_coo([0], [1.0]).nvals)"


@pytest.mark.parametrize("name, used", [("reference", "reference"), ("numpy", "numpy"), ("cpu", "cpu"), ("", "cpu")])
def test_the_variable_chooses_the_backend(name, used):
    assert python(COMPUTE, GRB_TILE_BACKEND=name) == ([used, "1"], "")


@pytest.mark.parametrize("name", ["bogus", "CPU", "cuda:x", "cpu:1"])
def test_a_variable_that_names_no_backend(name):
    found, error = python(f"print('imported')\n{COMPUTE}", GRB_TILE_BACKEND=name)
    assert found == ["imported"]
    assert f"InvalidValue: GRB_TILE_BACKEND={name}: " in error and "choose one of auto, cuda, cpu" in error


@pytest.mark.parametrize(
    "variable, value, message",
    [
        ("GRB_TILE_DEVICE", "x", "expected the number of a GPU"),
        ("GRB_TILE_DEVICE", "-1", "expected the number of a GPU"),
        ("GRAPHBLAS_AUTOCOMPUTE", "no", "choose among True, False"),
        ("GRAPHBLAS_MAPNUMPY", "[]", "choose among True, False"),
    ],
)
def test_a_variable_with_no_value_of_its_option(variable, value, message):
    found, error = python(f"print('imported')\n{COMPUTE}", **{variable: value})
    assert found == ["imported"] and f"InvalidValue: {variable}={value}: {message}" in error


def test_the_error_of_a_backend_that_cannot_run_names_the_variable():
    without = "import sys\nsys.modules['cupy'] = None\n"
    for statement in (COMPUTE, "import grb_tile.algorithms as alg\nalg.bfs(gb.Matrix(bool, 2, 2), 0)"):
        _, error = python(without + statement, GRB_TILE_BACKEND="cuda")
        assert 'GRB_TILE_BACKEND=cuda: backend "cuda" needs CuPy' in error and "pip install" in error
        assert "without GRB_TILE_BACKEND in the environment the CPU computes" in error
    _, error = python(without + "gb.config.set(backend='cuda')", GRB_TILE_BACKEND="cpu")
    assert "needs CuPy" in error and "GRB_TILE_BACKEND" not in error  # the program asked for it


def test_a_program_overrides_the_variable_and_a_block_gives_it_back():
    """Also where what the variable asks for cannot run: it is looked at when it is needed."""
    block = SELECT + "with gb.config.set(backend='numpy'): print(select.current().name)\n"
    after = "print(gb.config.get('backend'), gb.config.variable('backend'))\n"
    assert python(block + after + COMPUTE, GRB_TILE_BACKEND="reference") == (
        ["numpy", "reference", "GRB_TILE_BACKEND", "reference", "1"],
        "",
    )
    hidden = "import sys\nsys.modules['cupy'] = None\n"
    assert python(hidden + block + after, GRB_TILE_BACKEND="cuda") == (["numpy", "cuda", "GRB_TILE_BACKEND"], "")
    assert python("gb.config.set(backend='numpy')\n" + after + COMPUTE, GRB_TILE_BACKEND="reference")[0] == [
        "numpy", "None", "numpy", "1",
    ]  # fmt: skip
    cleared = "gb.config.clear()\n" + after + COMPUTE + "\ngb.config.refresh()\n" + after + COMPUTE
    assert python(cleared, GRB_TILE_BACKEND="reference")[0] == [
        "cpu", "None", "cpu", "1", "reference", "GRB_TILE_BACKEND", "reference", "1",
    ]  # fmt: skip


REFUSED_CHANGES = (
    "gb.config.set(backend='cdua')", "gb.config['backend'] = 'cdua'", "gb.config.update({'backend': 'cdua'})",
    "gb.config.set(mapnumpy=False, backend='cdua')", "gb.config.set(backend=None)",
    "with gb.config.set(backend='numpy', mapnumpy=3): pass",
    "with gb.config.set(backend='numpy', mapnumpy=False): gb.config.set(backend='cdua')",
)  # fmt: skip


def test_after_a_refusal_the_value_is_that_of_the_variable():
    show = "print(gb.config.get('backend'), gb.config.variable('backend'), gb.config.get('mapnumpy'))\n"
    tried = "".join(f"try: exec({change!r})\nexcept gb.exceptions.InvalidValue: {show}" for change in REFUSED_CHANGES)
    wanted = ["reference", "GRB_TILE_BACKEND", "True"] * len(REFUSED_CHANGES)
    assert python(tried, GRB_TILE_BACKEND="reference") == (wanted, "")


def test_the_number_of_the_device():
    """It is that of "cuda" until gb.config or gb.device names another."""
    show = SELECT + "print(gb.config.get('device'), select._kind_and_number('cuda'), select._kind_and_number('cuda:1'))"
    assert "".join(python(show, GRB_TILE_DEVICE="3")[0]) == "3('cuda',3)('cuda',1)"
    assert "".join(python("gb.config.set(device=2)\n" + show, GRB_TILE_DEVICE="3")[0]) == "2('cuda',2)('cuda',1)"


def test_the_environment_is_read_once():
    assert python(f"import os\n{COMPUTE}\nos.environ['GRB_TILE_BACKEND'] = 'numpy'\n{COMPUTE}")[0] == ["cpu", "1"] * 2
    late = f"import os\nos.environ['GRB_TILE_BACKEND'] = 'numpy'\n{COMPUTE}"  # after the import, before the first use
    assert python(late)[0] == ["numpy", "1"]


def test_expanded_variables_are_checked(monkeypatch):
    monkeypatch.setenv("MINE", "bf16")
    options = Config({"matmul_precision": "$MINE", "note": "$MINE!"})
    options.expand_environment_variables()
    assert options.to_dict() == {"matmul_precision": "bf16", "note": "bf16!"}
    options = Config({"matmul_precision": "$MINE", "note": "$MINE!"})
    monkeypatch.setenv("MINE", "fp8")
    with pytest.raises(gb.exceptions.InvalidValue, match="matmul_precision='fp8'"):
        options.expand_environment_variables()


def test_the_backends_of_the_message_are_those_there_are():
    with pytest.raises(gb.exceptions.InvalidValue) as caught:
        select.named("bogus")
    assert all(name in str(caught.value) for name in select.AVAILABLE)
