"""A round of local moves between communities: the vote of the active vertices, who moves, the sums of the modularity.

s(i, c) = [+_j A(i, j) over x(j) = c] - u(i) K(c) + [c = x(i)] u(i) k(i),   K(c) = [+_i k(i) over x(i) = c]

The same as best_label with MASK "pattern", move_half of backends/graph.py, and the product that finds the vertices to
look at in the next round, without a call for each.
Paper: Lu, Halappanavar, Kalyanaraman, "Parallel heuristics for scalable community detection" (Parallel Computing 47,
2015), section 4.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64, Z


def run(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    x: INT64,
    u: Z,
    k: Z,
    stays: INT64,
    active: INT64,
    own: Z,
    after: INT64,
    near: INT64,
    K: Z,
    total: Z,
    touched: INT64,
    sums: Z,
):
    """stays[i]: 0 where i may move.  active[i]: 0 where i is not looked at.  K, total, near: zeros, one for each label.

    touched: as long as the longest row.  own[i]: the sum of the entries to x[i], renewed for active vertices.
    after[i]: the label of greatest score, x[i] first among equals, then the least, or x[i] where i does not move.
    near[i]: 1 where i wants to move, or a neighbour moves.
    sums: [the weight of the entries to the own label, of K^2, how many want to move].  Returns how many move.
    """
    n = x.shape[0]
    for i in range(n):
        K[x[i]] += k[i]
    moving = 0
    wanting = 0
    within = 0.0
    squares = 0.0
    for i in range(n):
        squares += K[i] * K[i]
        mine = x[i]
        after[i] = mine
        if active[i] != 0:
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
            if most - score_of_own > 0.0:
                wanting += 1
                near[i] = 1
                if stays[i] == 0:
                    moving += 1
                    after[i] = chosen
                    for e in range(indptr[i], indptr[i + 1]):
                        near[indices[e]] = 1
        within += own[i]
    sums[0] = within
    sums[1] = squares
    sums[2] = wanting
    return moving
