"""What communities, ranks and similarities must give: formulas over arrays; see option_oracles.py."""

import math

import numpy as np
from option_expectations import Check, Refusal, weights_of

# ---------------------------------------------------------------------- communities


def quality(d, communities, resolution, weighted):
    """Newman's modularity of A + A' where A differs from A', of A else: a loop once in its row, twice in a degree."""
    W = weights_of(d, weighted).astype(float)
    if d.directed:
        out, into, m = W.sum(axis=1), W.sum(axis=0), W.sum()
        same = np.equal.outer(communities, communities)
        return ((W - resolution * np.outer(out, into) / m) * same).sum() / m
    degree = W.sum(axis=1) + np.diag(W)
    B = W + np.diag(np.diag(W))
    same = np.equal.outer(communities, communities)
    return ((B - resolution * np.outer(degree, degree) / degree.sum()) * same).sum() / degree.sum()


def communities(d, resolution, seed, max_level, tol, weighted):
    if weighted and (d.weights[d.present] < 0).any():
        return Refusal(ValueError)

    def check(found):
        labels = found.to_numpy()
        assert labels.shape == (d.n,)
        assert sorted(set(labels.tolist())) == list(range(found.count))
        W = weights_of(d, weighted).astype(float)
        if not W.sum():
            return
        if d.directed:  # communities of a directed graph are those of A + A'
            W = W + W.T
        S = W + (0 if d.directed else np.diag(np.diag(W)))
        k = S.sum(axis=1)

        def of(x):
            same = np.equal.outer(x, x)
            return ((S - resolution * np.outer(k, k) / k.sum()) * same).sum() / k.sum()

        assert of(labels) >= of(np.arange(d.n)) - 1e-9, "worse than each vertex by itself"
        assert math.isclose(found.modularity, of(labels), abs_tol=1e-9), (found.modularity, of(labels))

    return Check(check)


louvain = leiden = communities


def modularity(d, labels, resolution, weighted):
    if not weights_of(d, weighted).any() or (weighted and (d.weights[d.present] < 0).any()):
        return None
    return quality(d, np.asarray(labels), resolution, weighted)


def label_propagation(d, max_iter):
    """LDBC's: each vertex takes the least most frequent label of its neighbours, edges both ways count twice."""
    label = list(range(d.n))
    votes = d.present.astype(int) + (d.present.T if d.directed and not d.symmetric_structure else 0)
    for _ in range(max_iter):
        after = list(label)
        for i in range(d.n):
            count = {}
            for j in np.nonzero(votes[i])[0]:
                count[label[j]] = count.get(label[j], 0) + votes[i, j]
            if count:
                after[i] = min(count, key=lambda c: (-count[c], c))
        if after == label:
            break
        label = after
    return dict(enumerate(label))


# ---------------------------------------------------------------------- ranks


def pagerank(d, alpha, personalization, dangling, weighted, method):
    if weighted and (d.weights[d.present] < 0).any():
        return Refusal(ValueError)
    if not d.n or method != "standard":
        return None
    p = np.full(d.n, 1 / d.n)
    if personalization is not None:
        p = np.array([personalization.get(i, 0) for i in range(d.n)], float)
        p /= p.sum()
    q = p
    if dangling is not None:
        q = np.array([dangling.get(i, 0) for i in range(d.n)], float)
        q /= q.sum()
    W = weights_of(d, weighted).astype(float)
    out = W.sum(axis=1)
    M = np.where(out[:, None] > 0, W / np.where(out > 0, out, 1)[:, None], q[None, :])
    r = np.linalg.solve(np.eye(d.n) - alpha * M.T, (1 - alpha) * p)
    return dict(enumerate((r / r.sum()).tolist()))


def similarity(measure):
    def of(d, pairs, topk):
        if topk is not None or pairs is None:
            return None
        near = [set(np.nonzero(row)[0].tolist()) for row in d.present]
        return {(u, v): measure(len((near[u] & near[v]) - {u, v}), near[u], near[v]) for u, v in pairs}

    return of


common_neighbors = similarity(lambda both, a, b: both)
jaccard = similarity(lambda both, a, b: both / len(a | b) if both else 0)
cosine = similarity(lambda both, a, b: both / math.sqrt(len(a) * len(b)) if both else 0)
overlap = similarity(lambda both, a, b: both / min(len(a), len(b)) if both else 0)
sorensen = similarity(lambda both, a, b: 2 * both / (len(a) + len(b)) if both else 0)
