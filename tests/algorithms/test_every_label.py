"""Whatever is asked for as a label, of graphs with labels of each kind: found by value and kind, or a KeyError."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.algorithms import Graph

A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], 1, nrows=4, ncols=4)
LABELS = {
    "none": None, "numbers": [0, 1, 2, 3], "a range": range(4), "a range from 5": range(5, 9), "others": [7, -1, 1, 30],
    "texts": ["a", "1", "", "b"], "mixed": [1, "1", (1,), 2.5],
}  # fmt: skip
ASKED = (0, 1, 3, 4, 5, 8, 9, -1, 7, 30, "a", "1", "", "c", 2.5, (1,), 1.0, True, False, None, np.int64(1), np.uint8(7),
         np.float64(1.0), np.True_, np.str_("a"), [1], {}, float("nan"))  # fmt: skip


def number_of(labels, asked):
    """By a loop: whole numbers are alike whatever their type, a flag or a float is no whole number."""
    if isinstance(asked, (bool, np.bool_)):
        return None
    for number, label in enumerate(range(4) if labels is None else labels):
        whole = isinstance(label, int), isinstance(asked, (int, np.integer))
        alike = [isinstance(asked, kind) == isinstance(label, kind) for kind in (str, tuple, float)]
        if whole[0] == whole[1] and all(alike) and label == asked:
            return number
    return None


@pytest.mark.parametrize("kind", LABELS)
def test_every_label(kind):
    for asked in ASKED:
        G, wanted = Graph(A, labels=LABELS[kind]), number_of(LABELS[kind], asked)
        assert G.number_of(asked) == wanted, (kind, asked)
        if wanted is None:
            with pytest.raises(KeyError):
                G.vertex(asked)
        else:
            found = G.vertex(asked)
            assert found == wanted and G.label(found) == (wanted if LABELS[kind] is None else LABELS[kind][wanted])


@pytest.mark.parametrize("kind", LABELS)
def test_labels_are_kept_by_what_is_made_of_a_graph(kind):
    labels = LABELS[kind]
    for first, second in itertools.combinations(range(4), 2):
        G = Graph(A, labels=labels)
        found = [G.label(k) for k in (first, second)]
        assert found == [k if labels is None else labels[k] for k in (first, second)]
