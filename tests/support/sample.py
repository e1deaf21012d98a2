"""The cases of a test that the quick run executes: one in n, at least two, and each value of the short parameters."""

import collections
import zlib

from . import seeds

MOST_VALUES = 4  # a parameter with more (a list of names, types, seeds) may lose some of them


def _values(item):
    """The pairs (parameter, value) of a case; values other than texts and numbers by their identity."""
    simple = str, bytes, int, float, complex, tuple, type(None)
    return {
        (name, repr(value) if isinstance(value, simple) else id(value)) for name, value in item.callspec.params.items()
    }


def chosen(items, n):
    """The cases, all of one test, that run by default; GRB_TILE_SEED and their names decide, the same in each worker.

    The first of a random order; then, until no value of a parameter with at most MOST_VALUES is missing, the case with
    the most missing ones.
    """
    order = sorted(items, key=lambda item: zlib.crc32(f"{seeds.SEED}/{item.name}".encode()))
    share = max(-(-len(order) // n), 2)
    values = {item: _values(item) for item in order}
    count = collections.Counter(name for name, _ in set().union(*values.values()))
    short = {item: {pair for pair in values[item] if count[pair[0]] <= MOST_VALUES} for item in order}
    kept, rest = order[:share], order[share:]
    missing = set().union(*map(short.get, rest)).difference(*map(short.get, kept))
    while missing:
        best = max(rest, key=lambda item: len(short[item] & missing))
        missing -= short[best]
        rest.remove(best)
        kept.append(best)
    return kept
