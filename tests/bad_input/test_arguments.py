"""What no argument of an algorithm may be: flags that are no Booleans, vertices that are, names that are no choice.

Arguments are found by their annotations and names, so a new algorithm is held to the same rules.
"""

import inspect
import math

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import algorithms as alg

UNDIRECTED = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], [1.0, 1, 2, 2, 3, 3], nrows=3, ncols=3)
ACYCLIC = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [1.0, 2, 3], nrows=3, ncols=3)
GIVEN = {"source": 0, "target": 2, "sources": [0], "starts": [0], "length": 2, "pairs": [(0, 1)], "labels": [0, 0, 1],
         "k": 2, "personalization": [{0: 1.0}]}  # fmt: skip
CHOICES = {"method": "bogus", "mode": "bogus", "normalized": "yes", "presort": "yes"}
VERTICES = {"source", "target"}
LISTS = {"sources", "starts", "nodes", "order", "ignore"}
SCORES = {"common_neighbors", "jaccard", "cosine", "overlap", "sorensen", "adamic_adar", "resource_allocation"}


def functions():
    return [(name, each) for name, each in vars(alg).items() if inspect.isfunction(each) and name in alg.__all__]


def cases(wanted):
    """(function, name of an argument that `wanted` is true of, the arguments that have no default), each."""
    found = []
    for name, function in functions():
        parameters = inspect.signature(function).parameters
        needed = {p.name: GIVEN[p.name] for p in parameters.values() if p.default is p.empty and p.name in GIVEN}
        for parameter in parameters.values():
            if wanted(parameter):
                found.append(pytest.param(function, parameter.name, needed, id=f"{name}-{parameter.name}"))
    return found


def call(function, **arguments):
    A = ACYCLIC if function is alg.topological_generations else UNDIRECTED
    return function(A, **arguments)


def refused(function, name, needed, wrong, error):
    before = UNDIRECTED.dup()
    with pytest.raises(error, match=name):
        call(function, **{**needed, name: wrong})
    assert UNDIRECTED.isequal(before)


def test_the_arguments_are_found():
    """A rule that finds nothing would hold for everything."""
    assert len(cases(lambda p: p.annotation == "bool")) > 40
    assert len(cases(lambda p: p.name in VERTICES)) > 6 and len(cases(lambda p: p.name in LISTS)) > 8
    assert len(cases(lambda p: p.name in CHOICES)) > 8


@pytest.mark.parametrize("function, name, needed", cases(lambda p: p.annotation == "bool"))
def test_a_flag_is_true_or_false(function, name, needed):
    for wrong in ("no", "", 1, 0, 1.0, None, [], np.array([True, False]), gb.Scalar.from_value(True)):
        refused(function, name, needed, wrong, TypeError)
    needed = {**needed, "parents": True} if name == "levels" else needed  # one of the two
    for right in (np.True_, np.False_, True, False):
        call(function, **{**needed, name: right})


@pytest.mark.parametrize("function, name, needed", cases(lambda p: p.name in VERTICES))
def test_a_vertex_is_an_int(function, name, needed):
    for wrong in (True, np.False_, 1.0, "1", math.nan, [0], b"0"):
        refused(function, name, needed, wrong, TypeError)
    for wrong in (3, -1, 2**70):
        refused(function, name, needed, wrong, IndexError)


@pytest.mark.parametrize("function, name, needed", cases(lambda p: p.name in LISTS))
def test_vertices_are_a_sequence_of_ints(function, name, needed):
    for wrong in ([True], [0, True], [0.5], [1.0], ["0"], "0", 1, True, np.array([True]), np.array([1.0]), [None]):
        refused(function, name, needed, wrong, TypeError)
    for wrong in ([3], [-1]):
        refused(function, name, needed, wrong, (IndexError, ValueError))


@pytest.mark.parametrize("function, name, needed", cases(lambda p: p.name in CHOICES))
def test_a_name_is_one_of_the_choices(function, name, needed):
    for wrong in (CHOICES[name], "", 5, 1.5, b"auto", ["auto"]):
        refused(function, name, needed, wrong, (ValueError, TypeError))


@pytest.mark.parametrize("score", sorted(SCORES))
def test_pairs_are_of_vertices(score):
    function = getattr(alg, score)
    for wrong in ([(0, True)], [(False, 1)], [[0, np.True_]], [(0, 0.5)], [(0, "1")], np.array([[True, False]])):
        with pytest.raises(TypeError, match="pairs, [uv]"):
            function(UNDIRECTED, wrong)
    for wrong in (3, "01", [(0, 1, 2)], [(0, 1), (0,)], [0, 1], True):
        with pytest.raises(TypeError, match="pairs"):
            function(UNDIRECTED, wrong)
    assert function(UNDIRECTED, [(0, 1)]).values.nvals == function(UNDIRECTED, np.array([[0, 1]])).values.nvals == 1


@pytest.mark.parametrize("function, name, needed", cases(lambda p: p.annotation == "float"))
def test_a_number_is_no_text_and_no_boolean(function, name, needed):
    for wrong in ("1", True, np.True_, [1.0, 2.0], b"1"):
        refused(function, name, needed, wrong, TypeError)


@pytest.mark.parametrize("function, name, needed", cases(lambda p: "Sequence[float]" in str(p.annotation)
                                                         or str(p.annotation).startswith("Values")))  # fmt: skip
def test_numbers_of_the_vertices(function, name, needed):
    for wrong in ("012", 1, True, [[0.5, 0.5, 0.5]], ["1", "2", "3"], [None, 1, 2], object()):
        refused(function, name, needed, wrong, (TypeError, ValueError))
    for wrong in ({True: 1.0}, {"0": 1.0}, {0.5: 1.0}, {0: "1"}):
        refused(function, name, needed, wrong, TypeError)
    refused(function, name, needed, {7: 1.0}, IndexError)
    refused(function, name, needed, [1.0], ValueError)


def test_flags_of_results():
    for found in (alg.pagerank(UNDIRECTED), alg.jaccard(UNDIRECTED), alg.minimum_spanning_forest(UNDIRECTED)):
        with pytest.raises(TypeError, match="smallest"):
            found.top(1, smallest="no")


@pytest.mark.parametrize("seed", [True, "1", 1.5, -1])
def test_seeds(seed):
    for function, name, needed in (case.values for case in cases(lambda p: p.name == "seed")):
        refused(function, name, needed, seed, (TypeError, ValueError))


def flags_of(module, wanted):
    """(name, function, its flags) of the public functions of a module."""
    for name, each in sorted(vars(module).items()):
        if inspect.isfunction(each) and name[0] != "_" and each.__module__.startswith(module.__name__):
            found = [p.name for p in inspect.signature(each).parameters.values() if p.annotation in wanted]
            if found:
                yield name, each, found


NEEDED = {
    "rmat": (2, 2), "kronecker": (2, 2), "uniform_random": (4, 4), "grid": (2, 2), "random_geometric": (4, 0.5),
    "bfs": (UNDIRECTED, 0), "bfs_multi": (UNDIRECTED, [0]), "sssp": (UNDIRECTED, 0), "components": (UNDIRECTED,),
    "strong_components": (UNDIRECTED,), "spanning_forest": (UNDIRECTED,), "dependencies": (UNDIRECTED, [0]),
    "distances": (UNDIRECTED, [0]), "mode": (UNDIRECTED, gb.Vector.from_dense([0, 0])),
    "random_walks": (UNDIRECTED, [0], 2, 1), "mmread": ("no such file",), "read": ("no such file",),
    "read_edge_list": ("no such file",), "mmwrite": ("/no/such/folder/a.mtx", UNDIRECTED),
    "write_edge_list": ("/no/such/folder/a.txt", UNDIRECTED), "save_npz": ("/no/such/folder/a.npz", UNDIRECTED),
    "from_pandas_edgelist": (None,), "from_dataframe": (None,),
}  # fmt: skip


@pytest.mark.parametrize("module", [gb.generators, gb.graph, gb.io])
def test_flags_of_the_other_layers(module):
    """Refused before anything is read, computed or written."""
    tried = 0
    for name, function, found in flags_of(module, {"bool", "bool | None"}):
        assert name in NEEDED, f"{name} has the flags {found}: give its arguments here"
        for flag in found:
            for wrong in ("no", 1, 0.0, []):
                with pytest.raises(TypeError, match=f"{flag}: expected True or False"):
                    function(*NEEDED[name], **{flag: wrong})
                tried += 1
    assert tried > 20


def test_texts_that_name_a_choice():
    A = UNDIRECTED
    for call in (
        lambda wrong: A.to_dicts(order=wrong),
        lambda wrong: gb.Matrix.from_dicts({0: {0: 1}}, order=wrong),
        lambda wrong: A.wait(wrong),
        lambda wrong: A.ss.reshape(9, 1, order=wrong),
    ):
        with pytest.raises(TypeError, match="must be a text"):
            call(5)
        with pytest.raises(ValueError):
            call("bogus")
    for wrong in (True, False, "1", 2):
        with pytest.raises(ValueError, match="base must be 0 or 1"):
            gb.io.read_edge_list("no such file", base=wrong)
