"""Rounds in which vertices of different communities move to different ones, until none gains more than a bound.

A vertex goes to the community of the greatest gain, or to one of its own.  Of those that leave or join a community only
the first moves in a round, so that gains add up.  The last round looks at all vertices.  The same as
settle of grb_tile/graph/local_moves.py, where the scores are; sums of communities are kept up as vertices move.
"""

from grb_tile.backends.cpu.templates.best_label import add_to_label, best_other
from grb_tile.backends.cpu.templates.placeholders import INDEX, INT32, INT64, Z


def run(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    u: Z,
    k: Z,
    x: INT32,
    K: Z,
    size: INT64,
    active: INT32,
    following: INT32,
    target: INT32,
    first: INT32,
    looked_at: INT32,
    gain: Z,
    total: Z,
    touched: INT32,
    state: INT64,
    sums: Z,
    quality: Z,
    moved: INT64,
):
    """At most as many rounds as `quality` has places; how many, and -1 less that where no round follows, -2^40 less
    that where gains are wrong.

    state: [active vertices, are they all?, rounds, a label up to which all have vertices]; sums: [the bound, loops, sum
    of k, gamma, the greatest quality, quality].  first: n for each label; size: vertices by label.
    """
    n = x.shape[0]
    at = 0
    while True:
        count = state[0]
        wanting = 0
        within = 0.0
        for a in range(count):
            i = active[a]
            mine = x[i]
            listed = 0
            for e in range(indptr[i], indptr[i + 1]):
                listed = add_to_label(x[indices[e]], values[e], total, touched, listed)
            within += total[mine]
            score_of_own = total[mine] + u[i] * k[i] - u[i] * K[mine]
            chosen, most = best_other(mine, u[i], K, total, touched, listed)
            gained = most - score_of_own
            if gained < -score_of_own:  # the score of a community of its own is 0
                gained = -score_of_own
                chosen = -1
            if gained > sums[0]:
                following[wanting] = i
                target[i] = chosen
                gain[i] = gained
                wanting += 1
        if state[1] != 0:
            squares = 0.0
            for c in range(n):
                squares += K[c] * K[c]
            now = (within + sums[1]) / sums[2] - sums[3] * squares / (sums[2] * sums[2])
            if state[2] != 0 and abs(now - sums[5]) >= 1e-6:
                return -(1 << 40) - at
            sums[5] = now
        if sums[5] > sums[4]:
            return -(1 << 40) - at
        if wanting == 0:
            if state[1] != 0:
                return -1 - at
            state[1] = 1  # sums of communities have changed, for vertices that are no neighbours, too
            state[0] = n
            for i in range(n):
                active[i] = i
            continue
        if at == quality.shape[0]:
            return at
        for a in range(wanting):
            i = following[a]
            first[x[i]] = min(first[x[i]], i)
            if target[i] >= 0:
                first[target[i]] = min(first[target[i]], i)
        moving = 0
        for a in range(wanting):
            i = following[a]
            if first[x[i]] == i and (target[i] < 0 or first[target[i]] == i):
                active[moving] = i
                moving += 1
        for a in range(wanting):
            i = following[a]
            first[x[i]] = n
            if target[i] >= 0:
                first[target[i]] = n
        state[2] += 1
        rounds = state[2]
        for a in range(wanting):
            looked_at[following[a]] = rounds
        free = state[3]
        for a in range(moving):
            i = active[a]
            if target[i] < 0:
                while free < n and size[free] > 0:
                    free += 1
                target[i] = free if free < n else x[i]  # there is one, unless A is not symmetric
                free = min(free + 1, n)
        state[3] = free
        after = wanting
        for a in range(moving):
            i = active[a]
            old = x[i]
            new = target[i]
            sums[5] += 2.0 * gain[i] / sums[2]
            x[i] = new
            size[old] -= 1
            size[new] += 1
            K[old] -= k[i]
            K[new] += k[i]
            if size[old] == 0:
                state[3] = min(state[3], old)
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if looked_at[j] != rounds:
                    looked_at[j] = rounds
                    following[after] = j
                    after += 1
        quality[at] = sums[5]
        moved[at] = moving
        at += 1
        for a in range(after):
            active[a] = following[a]
        state[0] = after
        state[1] = 0
