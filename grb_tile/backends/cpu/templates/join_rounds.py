"""Rounds in which vertices that are alone join a part of their community, until none wants to.

s(i, c) = [+_j A(i, j) over y(j) = c, x(j) = x(i)] - u(i) K(c) + [c = y(i)] u(i) k(i),  K(c) = [+_i k(i) over y(i) = c]

x: the communities, y: their parts, at first each vertex by itself.  A round is graph.best_move on the entries within
communities, join_half of backends/graph.py, and the product that finds the vertices to look at in the next round.  It
costs what these vertices have of edges: the sums of parts are kept up as vertices join.
Paper: Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2, MergeNodesSubset.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64, Z


def run(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    x: INT64,
    u: Z,
    k: Z,
    within: Z,
    whole: Z,
    joined: INT64,
    scale: float,
    hashing: INT64,
    y: INT64,
    active: INT64,
    following: INT64,
    best: INT64,
    touched: INT64,
    size: INT64,
    asks: INT64,
    looked_at: INT64,
    own: Z,
    total: Z,
    K: Z,
    cut: Z,
):
    """within[i]: the sum of the entries from i to its community, whole[i]: the sum of k over that; joined[i]: may i
    join a part?  hashing: the key of round 0, what the next one has more, the constants of
    hashing.mixed_by, and a place where products wrap.

    y[i]: the part of i, named by its first vertex.  y, active: 0 .. n - 1; size: ones; K: k, cut: within; asks,
    looked_at, own, total: zeros; following, best, touched: workspace.  Returns the number of rounds.
    """
    count = x.shape[0]
    rounds = 0
    while True:
        rounds += 1
        # the vote of the active vertices, and cut[c], the weight between part c and the rest of its community
        for a in range(count):
            i = active[a]
            mine = y[i]
            best[i] = -1
            listed = 0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if x[j] == x[i]:
                    c = y[j]
                    before = total[c]
                    if before == 0.0:  # a part whose weights sum to 0 may be listed twice, which changes nothing
                        touched[listed] = c
                        listed += 1
                    total[c] = before + values[e]
            cut[mine] -= total[mine] - own[i]
            own[i] = total[mine]
            if joined[i] != 0 and size[mine] == 1:
                score_of_own = total[mine] + u[i] * k[i] - u[i] * K[mine]
                most = score_of_own
                chosen = mine
                for t in range(listed):
                    c = touched[t]
                    if c != mine:
                        score = total[c] - u[i] * K[c]
                        if score > most or (score == most and chosen != mine and c < chosen):
                            most = score
                            chosen = c
                if most - score_of_own > 0.0:
                    best[i] = chosen
            for t in range(listed):
                total[touched[t]] = 0.0
        # who wants to join an open part, and asks to in this round: the first bit of its hash is 0
        after = 0
        for a in range(count):
            i = active[a]
            c = best[i]
            if c >= 0 and cut[c] >= scale * K[c] * (whole[c] - K[c]):
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
        if after == 0:
            return rounds
        # it joins where the vertex after which the part is named does not ask
        for a in range(count):
            i = active[a]
            c = best[i]
            if asks[i] != 0 and asks[c] == 0:
                y[i] = c
                size[c] += 1
                K[c] += k[i]
                cut[c] += within[i] - own[i]
                size[i] = 0
                K[i] = 0.0
                cut[i] = 0.0
                for e in range(indptr[i], indptr[i + 1]):
                    j = indices[e]
                    if x[j] == x[i] and looked_at[j] != rounds:
                        looked_at[j] = rounds
                        following[after] = j
                        after += 1
        for a in range(count):
            asks[active[a]] = 0
        for a in range(after):
            active[a] = following[a]
        count = after
