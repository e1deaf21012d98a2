"""A round in which vertices that are alone join a part of their community: votes, which parts are open, who moves.

s(i, c) = [+_j A(i, j) over y(j) = c, x(j) = x(i)] - u(i) K(c) + [c = y(i)] u(i) k(i),  K(c) = [+_i k(i) over y(i) = c]

x: the communities, y: their parts.  The same as best_label with MASK "pattern" on the entries within communities,
join_half of backends/graph.py, and the product that finds the active vertices of the next round.
Paper: Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2, MergeNodesSubset.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64, Z


def run(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    x: INT64,
    y: INT64,
    u: Z,
    k: Z,
    within: Z,
    whole: Z,
    joined: INT64,
    scale: float,
    stays: INT64,
    active: INT64,
    own: Z,
    after: INT64,
    near: INT64,
    asks: INT64,
    size: INT64,
    K: Z,
    cut: Z,
    total: Z,
    best: INT64,
    touched: INT64,
):
    """stays, active, own, near, total, touched: as local_round.  asks, size, K, cut: zeros; best: workspace.

    within[i]: the sum of the entries from i to its community, whole[i]: the sum of k over that; joined[i]: may i join
    a part?  after[i]: the part of i, named by its first vertex.  Returns how many want to move.
    """
    n = x.shape[0]
    for i in range(n):
        K[y[i]] += k[i]
        size[y[i]] += 1
    for i in range(n):
        mine = y[i]
        after[i] = mine
        best[i] = -1
        if active[i] != 0:
            count = 0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                if x[j] == x[i]:
                    c = y[j]
                    before = total[c]
                    if before == 0.0:  # a part whose weights sum to 0 may be listed twice, which changes nothing
                        touched[count] = c
                        count += 1
                    total[c] = before + values[e]
            score_of_own = total[mine] + u[i] * k[i] - u[i] * K[mine]
            own[i] = score_of_own + u[i] * (K[mine] - k[i])
            if joined[i] != 0 and size[mine] == 1:
                most = score_of_own
                chosen = mine
                for t in range(count):
                    c = touched[t]
                    if c != mine:
                        score = total[c] - u[i] * K[c]
                        if score > most or (score == most and chosen != mine and c < chosen):
                            most = score
                            chosen = c
                if most - score_of_own > 0.0:
                    best[i] = chosen
            for t in range(count):
                total[touched[t]] = 0.0
        cut[mine] += within[i] - own[i]
    wanting = 0
    for i in range(n):
        c = best[i]
        if c >= 0:
            if cut[c] >= scale * K[c] * (whole[c] - K[c]):
                wanting += 1
                near[i] = 1
                if stays[i] == 0:
                    asks[i] = 1
    for i in range(n):
        if asks[i] != 0 and asks[best[i]] == 0:
            after[i] = best[i]
            for e in range(indptr[i], indptr[i + 1]):
                if x[indices[e]] == x[i]:
                    near[indices[e]] = 1
    return wanting
