"""Arguments of generators, each of every function: bounds, defaults, flags, what is told, weights given afterwards."""

import inspect

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import generators
from grb_tile.exceptions import DimensionMismatch
from support import seeds

WEIGHTED = {"weights": None, "dtype": None, "seed": 0}
RMAT = {"edge_factor": 16, "a": 0.57, "b": 0.19, "c": 0.19, "directed": True, "shuffle": False, **WEIGHTED}
CALLS = {  # the arguments that have no default, then all defaults as the documentation has them
    "rmat": ({"scale": 6}, {**RMAT, "progress": None}),
    "kronecker": ({"scale": 6}, {"edge_factor": 16, "directed": False, **WEIGHTED, "progress": None}),
    "uniform_random": ({"n": 50, "nedges": 100}, {"directed": False, **WEIGHTED, "progress": None}),
    "grid": ({}, {"diagonals": False, **WEIGHTED}),
    "brick_mesh": ({"side": 3}, {"unknowns": 3}),
    "random_points": ({"n": 120}, {"dimension": 2, "seed": 0}),
    "random_geometric": (
        {"n": 120, "radius": 0.1},
        {"dimension": 2, "distances": False, "seed": 0, "progress": None},
    ),
    "with_weights": ({"A": None, "low": 1, "high": 9}, {"dtype": None, "seed": 0}),
}
WORD = (1 << 64) - 1
BOUNDS = {  # of each function that has the argument
    "scale": (1, 30),
    "edge_factor": (1, 1024),
    "n": (1, 1 << 31),
    "nedges": (0, 1 << 40),
    "side": (1, 500),
    "unknowns": (1, 16),
    "dimension": (1, 3),
    "seed": (0, WORD),
}
LARGE = {"scale", "edge_factor", "n", "nedges", "side", "unknowns"}  # their upper bound makes a graph too large here
ARGUMENTS = [(name, argument) for name, parts in CALLS.items() for part in parts for argument in part]


def made(name, **arguments):
    required, _ = CALLS[name]
    arguments = {**required, **arguments}
    if "A" in arguments:
        arguments["A"] = generators.grid(3, 4)
    first = (3, 4) if name == "grid" else ()
    return getattr(generators, name)(*first, **arguments)


def same(first, second):
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second)
    return first.isequal(second, check_dtype=True) and first.ss.is_iso == second.ss.is_iso


def test_the_table_has_every_function_and_argument():
    assert set(CALLS) == set(generators.__all__)
    for name, (required, defaults) in CALLS.items():
        there = [p for p in inspect.signature(getattr(generators, name)).parameters if p != "sides"]
        assert there == [*required, *defaults], name


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_that_is_left_out_has_its_default(name):
    wanted = made(name, **CALLS[name][1])
    assert same(made(name), wanted)
    for argument in CALLS[name][1]:
        rest = {key: value for key, value in CALLS[name][1].items() if key != argument}
        assert same(made(name, **rest), wanted), argument


@pytest.mark.parametrize(("name", "argument"), [pair for pair in ARGUMENTS if pair[1] in BOUNDS])
def test_a_number_at_its_bounds_and_beyond(name, argument):
    low, high = BOUNDS[argument]
    for value in (low,) if argument in LARGE else (low, high):
        made(name, **{argument: value})
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"^{argument}: expected {low} to {high}, got {value}$"):
            made(name, **{argument: value})
    for value in (True, np.True_, 2.0, "2", None):
        with pytest.raises(TypeError, match=f"^{argument}: expected a whole number, got "):
            made(name, **{argument: value})
    for few in {low, min(high, 12), CALLS[name][0].get(argument, low)}:
        assert same(made(name, **{argument: np.int8(few)}), made(name, **{argument: few})), (
            "NumPy's number wraps around"
        )


def test_sides_of_a_grid_at_their_bounds():
    assert generators.grid(1, 1).shape == (1, 1)
    assert generators.grid(np.int8(30), np.int8(20)).isequal(generators.grid(30, 20))
    for sides in ((0,), (3, 0), ((1 << 31) + 1,)):
        with pytest.raises(ValueError, match=f"^sides: expected 1 to {1 << 31}, got {sides[-1]}$"):
            generators.grid(*sides)
    with pytest.raises(ValueError, match=r"^sides: \(65536, 32769\) make 2147549184 vertices, at most 2\^31"):
        generators.grid(1 << 16, (1 << 15) + 1)
    with pytest.raises(TypeError, match="^sides: expected a whole number, got 2.0"):
        generators.grid(3, 2.0)


@pytest.mark.parametrize(
    ("name", "argument"), [pair for pair in ARGUMENTS if type(dict(CALLS[pair[0]][1]).get(pair[1])) is bool]
)
@pytest.mark.parametrize("value", [1, 0, None, "yes"])
def test_a_flag_is_true_or_false(name, argument, value):
    with pytest.raises(TypeError, match=argument):
        made(name, **{argument: value})


@pytest.mark.parametrize("argument", ["a", "b", "c"])
def test_probabilities_of_quadrants(argument):
    others = dict.fromkeys({"a", "b", "c"} - {argument}, 0)
    for value in (0, 1):
        made("rmat", **others, **{argument: value})
    for value in (-0.01, 1.01, float("nan")):
        with pytest.raises(ValueError, match=f"^{argument}: expected a probability from 0 to 1, got {value}"):
            made("rmat", **others, **{argument: value})
    made("rmat", a=0.5, b=0.25, c=0.25)
    with pytest.raises(ValueError, match=r"^a \+ b \+ c: expected at most 1, got 1.01"):
        made("rmat", a=0.5, b=0.25, c=0.26)


@pytest.mark.parametrize("quadrant", ["a", "b", "c", "the rest"])
def test_edges_of_one_quadrant(quadrant):
    """Of a matrix whose draws all fall in one quadrant at each level one entry is left: a corner."""
    shares = {name: float(name == quadrant) for name in "abc"}
    rows, columns, _ = generators.rmat(3, **shares).to_coo(values=False)
    corner = {"a": [], "b": [(0, 7)], "c": [(7, 0)], "the rest": []}[quadrant]  # loops are left out
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == corner


def test_what_a_maker_tells():
    def told(name, **arguments):
        said = []
        made(name, progress=said.append, **arguments)
        return said

    edges = ["making edges: 100 %"]
    assert told("rmat") == told("kronecker") == [*edges, "sorting edges"]
    assert told("uniform_random") == edges
    assert told("random_geometric", dimension=1) == [f"joining points: {share} %" for share in (33, 66, 100)]


@pytest.mark.parametrize("name", [name for name, (_, defaults) in CALLS.items() if "weights" in defaults])
@pytest.mark.parametrize("dtype", [None, "UINT8", "FP32"])
def test_weights_given_afterwards_are_those_given_at_once(name, dtype):
    directed = {"directed": False} if "directed" in CALLS[name][1] else {}
    pattern = made(name, seed=seeds.SEED, **directed)
    kept = pattern.dup()
    weighted = generators.with_weights(pattern, 2, 6, dtype=dtype, seed=seeds.SEED)
    assert same(weighted, made(name, weights=(2, 6), dtype=dtype, seed=seeds.SEED, **directed))
    assert same(pattern, kept) and weighted.dtype == (dtype or "INT64")
    other = generators.with_weights(pattern, 2, 6, dtype=dtype, seed=seeds.SEED + 1)
    assert not weighted.isequal(other), "the seed draws the weights, too"
    assert set(generators.with_weights(pattern, 3, 3).to_coo()[2].tolist()) == {3}


def test_matrices_that_take_no_weights():
    with pytest.raises(DimensionMismatch, match="^A: expected a square matrix, got 2 x 3$"):
        generators.with_weights(gb.Matrix(int, 2, 3), 1, 2)
    with pytest.raises(ValueError, match=f"^A.nrows: expected 0 to {1 << 31}, got {1 << 40}$"):
        generators.with_weights(gb.Matrix(int, 1 << 40, 1 << 40), 1, 2)
    assert generators.with_weights(gb.Matrix(int, 0, 0), 1, 2).shape == (0, 0)
    full = gb.Matrix.from_dense([[5.0, 6.0], [7.0, 8.0]])
    drawn = generators.with_weights(full, 1, 9)
    assert drawn.isequal(drawn.T.new()) and drawn.nvals == 4


@pytest.mark.parametrize("radius", [0, -1, float("inf"), float("nan")])
def test_a_radius_is_positive_and_finite(radius):
    with pytest.raises(ValueError, match=f"^radius: expected a positive number, got {radius}$"):
        generators.random_geometric(5, radius)
