"""Combinations of options in which each value of an option meets each value of every other one, in few rows."""

import itertools

from . import seeds


def combinations(name, **options):
    """Rows {option: value}: for any two options and a value of each, some row has both.

    A greedy choice in an order that the seed and `name` decide: about as many rows as the two longest have pairs.
    """
    rng = seeds.generator("pairwise", name)
    names = list(options)
    values = [list(options[each]) for each in names]
    missing = {
        (i, a, j, b)
        for (i, first), (j, second) in itertools.combinations(list(enumerate(values)), 2)
        for a in range(len(first))
        for b in range(len(second))
    }
    order = sorted(missing)
    rng.shuffle(order)
    rows = []
    for i, a, j, b in map(tuple, order):
        if (i, a, j, b) not in missing:
            continue
        row = {i: a, j: b}
        for k in map(int, rng.permutation(len(names))):
            if k not in row:
                row[k] = max(
                    map(int, rng.permutation(len(values[k]))),
                    key=lambda c, k=k, row=row: sum(_pair(k, c, *each) in missing for each in row.items()),
                )
        missing -= {_pair(*one, *other) for one, other in itertools.combinations(row.items(), 2)}
        rows.append({names[k]: values[k][row[k]] for k in range(len(names))})
    return rows


def _pair(i, a, j, b):
    return (i, a, j, b) if i < j else (j, b, i, a)
