"""Rounds of local moves between communities, until the modularity stays.

s(i, c) = [+_j A(i, j) over x(j) = c] - u(i) K(c) + [c = x(i)] u(i) k(i),   K(c) = [+_i k(i) over x(i) = c]

A round is graph.best_move for the active vertices, move_half of backends/graph.py, and Progress of
community_rounds.py.  It costs what the active vertices have of edges, the first one a pass over all.
Paper: Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community detection" (Parallel Computing 47,
2015), section 4.
"""

import numpy as np

from grb_tile.backends.cpu.templates.best_label import add_to_label, best_other
from grb_tile.backends.cpu.templates.placeholders import INDEX, INT32, INT64, Z


def vote(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    u: Z,
    k: Z,
    x: INT32,
    K: Z,
    active: INT32,
    best: INT32,
    slack: Z,
    used: Z,
    within: Z,
    alone: int,
    first: int,
    last: int,
    total: Z,
    touched: INT32,
):
    """The votes of the vertices active[first:last]; threads share the others.

    best[i]: the label of greatest score; -1 where it is x[i], which goes first among equals, then the least.
    slack[i]: by how much the score of x[i] exceeds that of the best other label, used[i] = 0.
    within[0]: the sum of the entries to own labels.  alone: 1 where x[i] = i for all i, so that an entry is a label.
    total: zeros, one for each label; touched: workspace, of n.
    """
    inside = 0.0
    for a in range(first, last):
        i = active[a]
        mine = x[i]
        chosen = -1
        most = -np.inf
        score_of_own = u[i] * k[i] - u[i] * K[mine]
        if alone != 0:
            for e in range(indptr[i], indptr[i + 1]):
                c = indices[e]
                score = values[e] - u[i] * K[c]
                if score > most or (score == most and c < chosen):
                    most = score
                    chosen = c
        else:
            count = 0
            for e in range(indptr[i], indptr[i + 1]):
                count = add_to_label(x[indices[e]], values[e], total, touched, count)
            inside += total[mine]
            score_of_own = total[mine] + u[i] * k[i] - u[i] * K[mine]
            chosen, most = best_other(mine, u[i], K, total, touched, count)
        slack[i] = score_of_own - most
        used[i] = 0.0
        best[i] = chosen if most > score_of_own else -1
    within[0] = inside
    return 0


def quality_of(sums):
    """The modularity of the labels of sums: [entries within, sum of K^2, loops, sum of k, gamma]."""
    return (sums[0] + sums[2]) / sums[3] - sums[4] * sums[1] / (sums[3] * sums[3])


def move(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    k: Z,
    x: INT32,
    K: Z,
    active: INT32,
    best: INT32,
    slack: Z,
    used: Z,
    looked_at: INT32,
    following: INT32,
    kept: INT32,
    hashing: INT64,
    state: INT64,
    sums: Z,
    quality: Z,
    moved: INT64,
    at: int,
):
    """The moves of a round after its votes: 0, or 1 where no round follows.

    hashing: the key of the round before, what the next one has more, the constants of hashing.mixed_by, and a place
    where products wrap.  state: [active vertices, rounds, rounds without a clear gain, rounds since kept = x].
    sums: of quality_of, and [best, first quality; the least clear gain, share of the gain that is a clear one,
    rounding, rounds without a clear gain that end it].  quality[at], moved[at]: the record of this round.
    """
    count = state[0]
    rounds = state[1] + 1
    if state[1] == 0:
        start = quality_of(sums)
        sums[5] = start
        sums[6] = start
    hashing[0] += hashing[1]
    moving = 0
    after = 0
    for a in range(count):
        i = active[a]
        if best[i] >= 0:
            hashing[5] = i * hashing[2] + hashing[0]
            h = hashing[5]
            hashing[5] = (h ^ ((h >> 30) & 0x3FFFFFFFF)) * hashing[3]
            h = hashing[5]
            hashing[5] = (h ^ ((h >> 27) & 0x1FFFFFFFFF)) * hashing[4]
            if (hashing[5] >> 61) & 7 == 7:  # one in eight waits
                looked_at[i] = rounds
                following[after] = i
                after += 1
            else:
                looked_at[i] = -rounds
                active[moving] = i
                moving += 1
    if moving + after == 0:
        return 1
    state[1] = rounds
    for a in range(moving):
        i = active[a]
        old = x[i]
        new = best[i]
        x[i] = new
        best[i] = old
        slack[i] = 0.0
        sums[1] -= K[old] * K[old] + K[new] * K[new]
        K[old] -= k[i]
        K[new] += k[i]
        sums[1] += K[old] * K[old] + K[new] * K[new]
    change = 0.0
    for a in range(moving):
        i = active[a]
        new = x[i]
        old = best[i]
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            c = x[j]
            w = values[e]
            if looked_at[j] == -rounds:  # moves, too, and sees this entry from its side
                if c == new:
                    change += w
                if best[j] == old:
                    change -= w
            elif c == new:
                change += w + w
            else:
                if c == old:
                    change -= w + w
                    used[j] += w + w
                else:
                    used[j] += w
                if looked_at[j] != rounds and used[j] > slack[j]:
                    looked_at[j] = rounds
                    following[after] = j
                    after += 1
    sums[0] += change
    now = quality_of(sums)
    clear = max(sums[7], sums[8] * (sums[5] - sums[6]))
    state[2] = 0 if now > sums[5] + clear else state[2] + 1
    if now > sums[5] + sums[9]:
        sums[5] = now
        if state[3] == 0:
            for a in range(moving):
                kept[active[a]] = x[active[a]]
        else:
            for i in range(x.shape[0]):
                kept[i] = x[i]
        state[3] = 0
    else:
        state[3] += 1
    quality[at] = sums[5]
    moved[at] = moving
    for a in range(after):
        active[a] = following[a]
    state[0] = after
    return 1 if state[2] >= sums[10] or after == 0 else 0


def run(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    u: Z,
    k: Z,
    x: INT32,
    K: Z,
    active: INT32,
    best: INT32,
    slack: Z,
    used: Z,
    looked_at: INT32,
    following: INT32,
    kept: INT32,
    hashing: INT64,
    state: INT64,
    sums: Z,
    within: Z,
    total: Z,
    touched: INT32,
    quality: Z,
    moved: INT64,
    alone: int,
):
    """At most as many rounds as `quality` has places; returns how many, and -1 less that where no round follows."""
    n = quality.shape[0]
    for at in range(n):
        vote(
            indptr, indices, values, u, k, x, K, active, best, slack, used, within,
            alone if state[1] == 0 else 0, 0, state[0], total, touched,
        )  # fmt: skip
        if state[1] == 0:
            sums[0] = within[0]
        before = state[1]
        ends = move(
            indptr, indices, values, k, x, K, active, best, slack, used, looked_at, following, kept, hashing, state,
            sums, quality, moved, at,
        )  # fmt: skip
        if ends != 0:
            return -1 - (at + state[1] - before)
    return n
