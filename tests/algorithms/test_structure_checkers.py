"""The checkers of structure_checkers.py catch wrong answers."""

import pytest
from samples import edges
from structure_checkers import check_colouring, check_forest, check_independent_set, check_matching

# 0 - 1 - 2 - 3, and 4 apart
PATH = edges([(0, 1), (1, 2), (2, 3)], 5, [1, 2, 3], both=True)
CYCLE = edges([(0, 1), (1, 2), (2, 0)], 3, [1, 2, 3], both=True)


def test_right_answers_pass():
    check_independent_set(PATH, [0, 2, 4])
    check_independent_set(PATH, [1, 3], ignore=[4])
    check_colouring(PATH, [0, 1, 0, 1, 0])
    check_matching(PATH, {0: 1, 1: 0, 2: 3, 3: 2}, {1: 0, 0: 1, 3: 2, 2: 3}, 4)
    check_forest(CYCLE, [(0, 1, 1), (1, 2, 2)], 3, [0, 0, 0])
    check_forest(CYCLE, [(0, 2, 3), (1, 2, 2)], 5, [0, 0, 0], maximum=True)


@pytest.mark.parametrize(
    "check, answer, words",
    [
        (check_independent_set, (PATH, [0, 1, 3, 4]), "joined"),
        (check_independent_set, (PATH, [0, 4]), "could be added"),
        (check_independent_set, (PATH, [0, 2, 4], [4]), "left out"),
        (check_colouring, (PATH, [0, 1, 1, 0, 0]), "has the colour of"),
        (check_colouring, (PATH, [0, 1, 0, 1, 1]), "of 0 neighbours has colour 1"),
        (check_colouring, (PATH, [0, 1, 0, 1]), "4 colours for 5 nodes"),
        (check_matching, (PATH, {0: 1}, {1: 0}, 4), "1 pairs, 4 are possible"),
        (check_matching, (PATH, {0: 2}, {2: 0}, 1), "are no entries"),
        (check_matching, (PATH, {0: 1, 2: 1}, {1: 0}, 2), "differ"),
        (check_forest, (CYCLE, [(0, 1, 1), (0, 2, 3)], 4, [0, 0, 0]), "least weight is 3"),
        (check_forest, (CYCLE, [(0, 1, 1)], 1, [0, 0, 2]), "does not span"),
        (check_forest, (CYCLE, [(0, 1, 1), (1, 2, 2), (0, 2, 3)], 6, [0, 0, 0]), "a cycle"),
        (check_forest, (CYCLE, [(0, 1, 1), (1, 2, 3)], 3, [0, 0, 0]), "is no edge"),
        (check_forest, (CYCLE, [(0, 1, 1), (1, 2, 2)], 4, [0, 0, 0]), "not 4"),
        (check_forest, (CYCLE, [(0, 1, 1), (1, 2, 2)], 3, [0, 1, 0]), "least node of its tree"),
    ],
)
def test_wrong_answers_are_found(check, answer, words):
    with pytest.raises(AssertionError, match=words):
        check(*answer)
