"""The maximal independent set that comes first in a given order: a vertex is in it unless an earlier member is near.

Luby's parallel algorithm with the same order as its priorities, kept for all rounds, gives the same set.
Paper: Blelloch, Fineman, Shun, "Greedy sequential maximal independent set and matching are parallel on average" (SPAA
2012), algorithm 1.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT32, INT64


def run(indptr: INT64, indices: INDEX, order: INT64, state: INT32):
    """state: 0 undecided, 1 in the set, 2 not.  Returns the size of the set."""
    count = 0
    for k in range(order.shape[0]):
        v = order[k]
        if state[v] == 0:
            for e in range(indptr[v], indptr[v + 1]):
                state[indices[e]] = 2
            state[v] = 1
            count += 1
    return count
