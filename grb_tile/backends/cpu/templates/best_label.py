"""The label of greatest score in each row: scores of a row's labels in a dense accumulator, cleared after the row.

s(i, c) = sum over k with labels(k) = c of A(i, k), or of 1     counted, or with X_ISO False weighed
best[i] = the least c of greatest s(i, c)                        MASK "none"
best[i] = argmax of s(i, c) - u[i] v[c] + [c = labels(i)] u[i] w[i], labels(i) before others     MASK "pattern"
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT32, INT64, MASK, VALUE, X_ISO, Z


def add_to_label(c, weight, total, touched, count):
    """total[c] += weight; how many labels are listed in `touched`, c among them."""
    before = total[c]
    touched[count] = c
    total[c] = before + weight
    return count + (1 if before == 0.0 else 0)  # one whose weights sum to 0 may be listed twice, which changes nothing


def best_other(own, u, v, total, touched, count):
    """(the label of the greatest score, that score) of the labels c listed but `own`; -1 and -inf where there is none.

    The score is total[c] - u v[c]; the least of equal ones.  total[c] = 0 of the labels listed, afterwards.
    """
    chosen = -1
    most = -np.inf
    for k in range(count):
        c = touched[k]
        score = total[c] - u * v[c]
        total[c] = 0.0
        if c != own and (score > most or (score == most and c < chosen)):
            most = score
            chosen = c
    return chosen, most


def run(
    indptr: INT64,
    indices: INDEX,
    values: VALUE,
    labels: INT32,
    rows: INT64,
    u: Z,
    v: Z,
    w: Z,
    best: INT64,
    gain: Z,
    kept: Z,
    total: Z,
    touched: INT64,
    first: int,
    last: int,
):
    """The rows listed in rows[first:last].  labels: -1 for a vertex without one.

    total: zeros, one for each label; touched: as long as the longest row.  best[i] = -1 for a row without a label.
    kept[i]: the score of labels(i); gain[i]: by how much that of the best other label exceeds it.
    """
    for at in range(first, last):
        i = rows[at]
        count = 0
        for e in range(indptr[i], indptr[i + 1]):
            c = labels[indices[e]]
            if c >= 0:
                count = add_to_label(c, 1.0 if X_ISO else values[e], total, touched, count)
        if MASK == "pattern":
            own = labels[i]
            score_of_own = total[own] + u[i] * w[i] - u[i] * v[own]
            chosen, most = best_other(own, u[i], v, total, touched, count)
            gain[i] = most - score_of_own
            kept[i] = score_of_own
            best[i] = chosen if most > score_of_own else own
        else:
            chosen = -1
            most = 0.0
            for k in range(count):
                c = touched[k]
                if chosen < 0 or total[c] > most or (total[c] == most and c < chosen):
                    most = total[c]
                    chosen = c
            for k in range(count):
                total[touched[k]] = 0.0
            best[i] = chosen
