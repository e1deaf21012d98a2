"""`read` gives each option to the reader of the format: as the reader alone, and not as without the option."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import io

MTX = "%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 2 5\n1 2 7\n3 1 2\n2 2 9\n"
METIS = "3 3 001\n2 5 2 7\n1 5 1 7 3 4\n2 4\n"  # an edge twice
EDGES = "0 1 5\n0 1 7\n2 0 3\n"
TEXTS = {"mtx": MTX, "metis": METIS, "edges": EDGES}
READERS = {
    "mtx": lambda path, **options: io.mmread(path, **options),
    "metis": lambda path, **options: io.read_metis(path, **options),
    "npz": lambda path, **options: io.load_npz(path, **options),
    "edges": lambda path, **options: io.read_edge_list(path, **options),
}


@pytest.fixture
def path(tmp_path):
    def of(format):
        place = tmp_path / f"given.{format}"
        if format == "npz":
            arrays = {"row": [0, 0, 2], "col": [1, 1, 0], "data": [5, 7, 3], "shape": [3, 3]}
            np.savez(place, format=np.array(b"coo"), **{name: np.array(found) for name, found in arrays.items()})
        else:
            place.write_text(TEXTS[format])
        return place

    return of


def outcome(call):
    """The entries and the type, or the error."""
    try:
        found = call()
    except Exception as error:
        return type(error).__name__, str(error)
    labels = getattr(found, "labels", None)
    A = found if hasattr(found, "to_coo") else getattr(found, "matrix", None)
    A = found.obj if A is None else A
    parts = [part.tolist() for part in A.to_coo()]
    return parts, A.dtype.name, A.shape, None if labels is None else list(labels)


@pytest.mark.parametrize(
    ("format", "rule"), list(itertools.product(READERS, ("first", "second", "plus", "min", "max", "times", None)))
)
def test_what_repeated_entries_become(format, rule, path):
    dup_op = rule and getattr(gb.binary, rule)
    found = outcome(lambda: io.read(path(format), format=format, dup_op=dup_op))
    assert found == outcome(lambda: READERS[format](path(format), dup_op=dup_op))
    if rule is not None:
        combined = {"first": 5, "second": 7, "plus": 12, "min": 5, "max": 7, "times": 35}[rule]
        assert found[0][2][found[0][1].index(1)] == combined, found


OF_EDGES = {
    "weights": (True, False, None), "labels": (True, False), "base": (0, 1), "directed": (True, False),
    "delimiter": (" ", ","), "header": (True, False), "size": (3, 9),
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in OF_EDGES for value in OF_EDGES[name]])
def test_options_of_edge_lists(name, value, path):
    given = {name: value, "dup_op": gb.binary.plus}
    found = outcome(lambda: io.read(path("edges"), format="edges", **given))
    assert found == outcome(lambda: READERS["edges"](path("edges"), **given))


@pytest.mark.parametrize("name", OF_EDGES)
def test_each_option_of_edge_lists_says_something(name, path):
    found = [
        outcome(lambda value=value: io.read(path("edges"), format="edges", dup_op=gb.binary.plus, **{name: value}))
        for value in OF_EDGES[name]
    ]
    assert any(other != found[0] for other in found[1:]), found[0]


@pytest.mark.parametrize("format", [*READERS, "grb"])
def test_progress_is_a_flag(format, path, tmp_path):
    place = tmp_path / "given.grb"
    if format == "grb":
        io.save(place, gb.Matrix.from_coo([0], [1], [5]))
    place = place if format == "grb" else path(format)
    with pytest.raises(TypeError, match="progress"):
        io.read(place, format=format, progress="yes")
