"""Asynchronous label propagation: vertices take turns, and each takes the label that most of its neighbours have.

Paper: Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in large-scale networks"
(Phys. Rev. E 76, 2007), section III; ties by the greatest label: Cordasco and Gargano, "Community detection via
semi-synchronous label propagation algorithms" (BASNA 2010), rule Prec-Max.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64


def run(indptr: INT64, indices: INDEX, order: INT64, label: INT64, count: INT64, state: INT64):
    """One turn for each vertex in the given order.  Returns how many took another label.

    A vertex whose label is among the most frequent ones keeps it.  state: of the random numbers that choose among
    equally frequent labels (xorshift64, Marsaglia 2003), 0: the greatest label.  count: zeros, one for each label.
    """
    changed = 0
    for k in range(order.shape[0]):
        v = order[k]
        own = label[v]
        most = 0
        for e in range(indptr[v], indptr[v + 1]):
            c = label[indices[e]]
            count[c] += 1
            most = max(most, count[c])
        if count[own] < most:
            chosen = 0
            ties = 0
            for e in range(indptr[v], indptr[v + 1]):
                c = label[indices[e]]
                if count[c] == most:
                    count[c] = 0  # so that a label is met once
                    ties += 1
                    take = ties == 1 or c > chosen
                    if state[0] != 0 and ties > 1:
                        x = state[0]
                        x ^= x << 13
                        x ^= (x >> 7) & 0x1FFFFFFFFFFFFFF
                        x ^= x << 17
                        state[0] = x
                        take = ((x >> 20) & 0x7FFFFFFF) % ties == 0
                    if take:
                        chosen = c
            for e in range(indptr[v], indptr[v + 1]):
                count[label[indices[e]]] = 0
            label[v] = chosen
            changed += 1
        else:
            for e in range(indptr[v], indptr[v + 1]):
                count[label[indices[e]]] = 0
    return changed
