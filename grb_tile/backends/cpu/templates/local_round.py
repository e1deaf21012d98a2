"""A round of local moves between communities: the vote of the active vertices, who moves, the sums of the modularity.

s(i, c) = [+_j A(i, j) over x(j) = c] - u(i) K(c) + [c = x(i)] u(i) k(i),   K(c) = [+_i k(i) over x(i) = c]

The same as best_label with MASK "pattern", move_half of backends/graph.py, and the product that finds the vertices to
look at in the next round, without a call for each.
Paper: Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community detection" (Parallel Computing 47,
2015), section 4.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64, Z


def vote(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    x: INT64,
    u: Z,
    k: Z,
    K: Z,
    active: INT64,
    bounds: INT64,
    own: Z,
    best: INT64,
    first: int,
    last: int,
    total: Z,
    touched: INT64,
):
    """The votes of the active vertices active[bounds[first]:bounds[last]]; threads share the others.

    best[i]: the label of greatest score, x[i] first among equals, then the least; -1 where it is x[i].
    own[i]: the sum of the entries to x[i].  total: zeros, one for each label; touched: as long as the longest row.
    """
    for a in range(bounds[first], bounds[last]):
        i = active[a]
        mine = x[i]
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            c = x[indices[e]]
            before = total[c]
            if before == 0.0:  # a label whose weights sum to 0 may be listed twice, which changes nothing
                touched[count] = c
                count += 1
            total[c] = before + values[e]
        score_of_own = total[mine] + u[i] * k[i] - u[i] * K[mine]
        own[i] = score_of_own + u[i] * (K[mine] - k[i])
        most = score_of_own
        chosen = mine
        for t in range(count):
            c = touched[t]
            if c != mine:
                score = total[c] - u[i] * K[c]
                if score > most or (score == most and chosen != mine and c < chosen):
                    most = score
                    chosen = c
        for t in range(count):
            total[touched[t]] = 0.0
        best[i] = chosen if most - score_of_own > 0.0 else -1
    return 0


def run(
    indptr: INT64,
    indices: INDEX,
    K: Z,
    own: Z,
    active: INT64,
    stays: INT64,
    best: INT64,
    after: INT64,
    near: INT64,
    sums: Z,
):
    """Moves the active vertices active[a] that want to and have stays[a] = 0; returns how many.

    after[i]: x[i] before, the label of i after the round.  near: zeros before; 1 where i wants to move, or a
    neighbour moves.  sums: [the weight of the entries to the own label, of K^2, how many want to move].
    """
    moving = 0
    wanting = 0
    for a in range(active.shape[0]):
        i = active[a]
        if best[i] >= 0:
            wanting += 1
            near[i] = 1
            if stays[a] == 0:
                moving += 1
                after[i] = best[i]
                for e in range(indptr[i], indptr[i + 1]):
                    near[indices[e]] = 1
    within = 0.0
    squares = 0.0
    for i in range(own.shape[0]):
        within += own[i]
        squares += K[i] * K[i]
    sums[0] = within
    sums[1] = squares
    sums[2] = wanting
    return moving
