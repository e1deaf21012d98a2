"""One checker per algorithm, independent of it: plain NumPy and loops over the edges.

Each raises AssertionError that names the first wrong node, and returns nothing.  tests/algorithms/test_checkers.py
feeds every one of them wrong answers.  Written after the verifiers of the GAP benchmark (sbeamer/gapbs, src/*.cc).
"""

from collections import deque

import numpy as np

ABSENT = -1


def edge_lists(A):
    """For each node of a gb.Matrix the list of (neighbour, weight)."""
    rows, cols, values = A.to_coo()
    lists = [[] for _ in range(A.nrows)]
    for i, j, w in zip(rows.tolist(), cols.tolist(), values.tolist(), strict=True):
        lists[i].append((j, w))
    return lists


def reference_levels(A, source):
    """Levels by a plain queue; ABSENT where not reached."""
    lists = edge_lists(A)
    level = [ABSENT] * A.nrows
    level[source] = 0
    queue = deque([source])
    while queue:
        i = queue.popleft()
        for j, _ in lists[i]:
            if level[j] == ABSENT:
                level[j] = level[i] + 1
                queue.append(j)
    return level


def _check_size(name, v, n):
    assert v.size == n, f"{name}: {v.size} places for {n} nodes"


def check_levels(A, source, levels, max_level=None):
    """Every node within max_level edges has its level, no other has one."""
    _check_size("levels", levels, A.nrows)
    found = levels.to_dict()
    for node, level in enumerate(reference_levels(A, source)):
        if max_level is not None and level > max_level:
            level = ABSENT
        got = found.get(node, ABSENT)
        assert got == level, f"node {node}: level {got}, expected {level} ({ABSENT} is unreached)"


def check_parents(A, source, parents, max_level=None):
    """GAP's BFSVerifier: the source is its own parent; else the edge parent -> node exists, the depth is one more."""
    _check_size("parents", parents, A.nrows)
    lists = edge_lists(A)
    level = reference_levels(A, source)
    found = parents.to_dict()
    for node in range(A.nrows):
        reached = level[node] != ABSENT and (max_level is None or level[node] <= max_level)
        has = "a" if node in found else "no"
        assert (node in found) == reached, f"node {node}: reached is {reached}, but it has {has} parent"
        if not reached:
            continue
        parent = found[node]
        if node == source:
            assert parent == source, f"source {source}: parent {parent}, expected itself"
            continue
        assert 0 <= parent < A.nrows, f"node {node}: parent {parent} is no node"
        assert any(j == node for j, _ in lists[parent]), f"node {node}: no edge from its parent {parent}"
        assert level[parent] == level[node] - 1, (
            f"node {node} at level {level[node]}: parent {parent} at level {level[parent]}"
        )


def check_distances(A, source, distances, rel=0.0):
    """Exact for rel=0: no edge shortens a distance, each is reached by a tight edge, the reached set is right.

    With weights above 0 these three facts admit shortest distances only; where 0 occurs the tight edges must
    moreover lead from the source.
    """
    _check_size("distances", distances, A.nrows)
    found = distances.to_dict()
    level = reference_levels(A, source)
    for node in range(A.nrows):
        assert (node in found) == (level[node] != ABSENT), f"node {node}: reached is {level[node] != ABSENT}"
    assert found[source] == 0, f"source {source}: distance {found[source]}"

    def close(a, b):
        return abs(a - b) <= rel * max(abs(a), abs(b))

    lists = edge_lists(A)
    tight = [[] for _ in range(A.nrows)]
    for i in found:
        for j, w in lists[i]:
            assert found[i] + w >= found[j] or close(found[i] + w, found[j]), (
                f"node {j}: distance {found[j]}, but {found[i] + w} by way of node {i}"
            )
            if close(found[i] + w, found[j]):
                tight[i].append(j)
    seen, queue = {source}, deque([source])
    while queue:
        for j in tight[queue.popleft()]:
            if j not in seen:
                seen.add(j)
                queue.append(j)
    for node in found:
        assert node in seen, f"node {node}: distance {found[node]} belongs to no path from {source}"


def check_predecessors(A, source, distances, predecessors, rel=0.0):
    """The predecessors form a tree from the source whose edges are tight."""
    _check_size("predecessors", predecessors, A.nrows)
    d, p = distances.to_dict(), predecessors.to_dict()
    assert set(d) == set(p), f"nodes with a distance or a predecessor only: {sorted(set(d) ^ set(p))}"
    weight = {(i, j): w for i, row in enumerate(edge_lists(A)) for j, w in row}
    assert p[source] == source, f"source {source}: predecessor {p[source]}, expected itself"
    for node in p:
        if node != source:
            assert (p[node], node) in weight, f"node {node}: no edge from its predecessor {p[node]}"
            length = d[p[node]] + weight[p[node], node]
            assert abs(length - d[node]) <= rel * abs(d[node]), (
                f"node {node}: {length} by its predecessor, distance {d[node]}"
            )
        at, steps = node, 0
        while at != source:
            at, steps = p[at], steps + 1
            assert steps <= A.nrows, f"node {node}: its predecessors run in a circle"


def check_ranks(A, ranks, tol, alpha=0.85, sinks=True, personalization=None):
    """One step of r = (1 - a) p + a (A' (r / d) + s p), a loop over the edges, moves r by less than tol (L1)."""
    n = A.nrows
    _check_size("ranks", ranks, n)
    assert ranks.nvals == n, f"ranks: {ranks.nvals} of {n} nodes have one"
    r = ranks.to_coo()[1]
    assert (r >= 0).all(), f"node {int(np.argmin(r))}: rank {r.min()}"
    p = np.full(n, 1 / max(n, 1)) if personalization is None else np.asarray(personalization)
    if sinks and n:
        assert abs(r.sum() - 1) < 1e-4, f"ranks: the sum is {r.sum()}"
    lists = edge_lists(A)
    t = (1 - alpha) * p
    for i, row in enumerate(lists):
        for j, _ in row:
            t[j] += alpha * r[i] / len(row)
        if not row and sinks:
            t = t + alpha * r[i] * p
    change = np.abs(t - r).sum()
    assert change < tol, f"ranks: one more iteration changes them by {change}, tolerance {tol}"


def check_components(A, labels):
    """GAP's CCVerifier: an edge never joins two labels, and one search per label visits everything that bears it."""
    n = A.nrows
    _check_size("labels", labels, n)
    assert labels.nvals == n, f"labels: {labels.nvals} of {n} nodes have one"
    label = labels.to_coo()[1].tolist()
    neighbours = [set() for _ in range(n)]
    for i, row in enumerate(edge_lists(A)):
        for j, _ in row:
            assert label[i] == label[j], f"edge {i} -> {j} joins the labels {label[i]} and {label[j]}"
            neighbours[i].add(j)
            neighbours[j].add(i)
    first = {}
    for node in range(n):
        first.setdefault(label[node], node)
    visited = set()
    for node in first.values():
        visited.add(node)
        queue = deque([node])
        while queue:
            for j in neighbours[queue.popleft()]:
                if j not in visited:
                    visited.add(j)
                    queue.append(j)
    for node in range(n):
        assert node in visited, f"node {node}: no path to node {first[label[node]]} of the same label {label[node]}"


def check_triangles(A, total=None, each=None):
    """Set intersections over edges i > j: the number of triangles in all, and at each node."""
    n = A.nrows
    neighbours = [{j for j, _ in row if j != i} for i, row in enumerate(edge_lists(A))]
    at = [0] * n
    for i in range(n):
        for j in neighbours[i]:
            if j < i:
                for k in neighbours[i] & neighbours[j]:
                    if k < j:
                        for node in (i, j, k):
                            at[node] += 1
    if total is not None:
        assert total == sum(at) // 3, f"{total} triangles, expected {sum(at) // 3}"
    if each is not None:
        _check_size("triangles", each, n)
        found = each.to_dict()
        for node in range(n):
            assert found.get(node) == at[node], f"node {node}: {found.get(node)} triangles, expected {at[node]}"


def check_equivalent(labels, expected):
    """LDBC's rule for WCC: a two-way mapping between the labels found and those expected."""
    there, back = {}, {}
    for node, (a, b) in enumerate(zip(labels, expected, strict=True)):
        assert there.setdefault(a, b) == b and back.setdefault(b, a) == a, (
            f"node {node}: label {a} for {b}, no two-way mapping"
        )


def check_close(found, expected, rel=1e-4):
    """LDBC's epsilon rule: |found - expected| <= rel |expected| for each node; infinite where expected is."""
    for node, (a, b) in enumerate(zip(found, expected, strict=True)):
        close = a == b or abs(b) < float("inf") and abs(a - b) <= rel * abs(b)
        assert close, f"node {node}: {a}, expected {b} to {rel}"
