"""Rounds in which vertices that are alone join a part of their community, until few want to.

s(i, c) = [+_j A(i, j) over y(j) = c, x(j) = x(i)] - u(i) K(c) + [c = y(i)] u(i) k(i),  K(c) = [+_i k(i) over y(i) = c]

x: the communities, y: their parts, at first each vertex by itself.  A round is graph.best_move on the entries within
communities, and join_half of backends/graph.py.  It costs what the vertices that it looks at have of edges: the sums of
parts are kept up as vertices join.
Paper: Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2, MergeNodesSubset.
"""

import numpy as np

from grb_tile.backends.cpu.templates.best_label import add_to_label, best_other
from grb_tile.backends.cpu.templates.placeholders import INDEX, INT32, INT64, Z


def run(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    x: INT32,
    u: Z,
    k: Z,
    whole: Z,
    scale: float,
    few: float,
    hashing: INT64,
    y: INT32,
    active: INT32,
    following: INT32,
    best: INT32,
    touched: INT32,
    size: INT64,
    asks: INT64,
    looked_at: INT64,
    total: Z,
    within: Z,
    K: Z,
    cut: Z,
):
    """whole[c]: the sum of k over community c.  hashing: the key of round 0, what the next one has more, the constants
    of hashing.mixed_by, and a place where products wrap.  few: the share of the first round's vertices that is few.

    y[i]: the part of i, named by its first vertex.  y, active: 0 .. n - 1; size: ones; K: k; asks, looked_at, total:
    zeros; within, cut, following, best, touched: workspace.  Returns the number of rounds.
    """
    count = x.shape[0]
    bound = 0.0
    rounds = 0
    while True:
        rounds += 1
        # the vote of vertices that are alone; cut[c]: the weight between part c and the rest of its community
        wanting = 0
        for a in range(count):
            i = active[a]
            if y[i] != i or size[i] != 1:
                continue
            mine = x[i]
            chosen = -1
            most = -np.inf
            if rounds == 1:  # all are: an entry is a part
                inside = 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    j = indices[e]
                    if x[j] == mine:
                        inside += values[e]
                        score = values[e] - u[i] * k[j]
                        if score > most or (score == most and j < chosen):
                            most = score
                            chosen = j
                within[i] = inside
                cut[i] = inside
            else:
                listed = 0
                for e in range(indptr[i], indptr[i + 1]):
                    j = indices[e]
                    if x[j] == mine:
                        listed = add_to_label(y[j], values[e], total, touched, listed)
                chosen, most = best_other(i, u[i], K, total, touched, listed)
            joins = within[i] >= scale * k[i] * (whole[mine] - k[i])
            if joins and most > u[i] * k[i] - u[i] * K[i]:
                best[i] = chosen
                active[wanting] = i
                wanting += 1
        # who wants to join an open part, and asks to in this round: the first bit of its hash is 0
        after = 0
        for a in range(wanting):
            i = active[a]
            c = best[i]
            if cut[c] >= scale * K[c] * (whole[x[c]] - K[c]):
                hashing[5] = i * hashing[2] + hashing[0] + rounds * hashing[1]
                h = hashing[5]
                hashing[5] = (h ^ ((h >> 30) & 0x3FFFFFFFF)) * hashing[3]
                h = hashing[5]
                hashing[5] = (h ^ ((h >> 27) & 0x1FFFFFFFFF)) * hashing[4]
                if hashing[5] >= 0:
                    asks[i] = 1
                looked_at[i] = rounds
                following[after] = i
                after += 1
        if rounds == 1:
            bound = few * after
        if after <= bound:
            return rounds
        # it joins where the vertex after which the part is named does not ask
        wanting = after
        for a in range(wanting):
            i = following[a]
            c = best[i]
            if asks[i] != 0 and asks[c] == 0:
                y[i] = c
                inside = 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    j = indices[e]
                    if x[j] == x[i]:
                        if y[j] == c:
                            inside += values[e]
                        if looked_at[j] != rounds and y[j] == j and size[j] == 1:
                            looked_at[j] = rounds
                            following[after] = j
                            after += 1
                size[c] += 1
                size[i] = 0
                K[c] += k[i]
                K[i] = 0.0
                cut[c] += within[i] - 2.0 * inside
                cut[i] = 0.0
        for a in range(after):
            active[a] = following[a]
            asks[following[a]] = 0
        count = after
