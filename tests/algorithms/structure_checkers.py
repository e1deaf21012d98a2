"""Checkers of independent sets, colourings, matchings and forests: what makes an answer right, by plain loops.

Each raises AssertionError that names what is wrong.  tests/algorithms/test_structure_checkers.py feeds them wrong
answers.
"""

import networkx as nx


def neighbours(A):
    """For each node of a gb.Matrix the set of the others next to it."""
    found = [set() for _ in range(A.nrows)]
    for i, j in zip(*(x.tolist() for x in A.to_coo(values=False)[:2]), strict=True):
        if i != j:
            found[i].add(j)
            found[j].add(i)
    return found


def check_independent_set(A, members, ignore=()):
    members, near = set(members), neighbours(A)
    assert not members & set(ignore), f"{members & set(ignore)} were to be left out"
    for node in range(A.nrows):
        beside = near[node] & members
        if node in members:
            assert not beside, f"node {node} and {beside} are in the set and joined"
        elif node not in ignore:
            assert beside, f"node {node} could be added"


def check_colouring(A, colours):
    near = neighbours(A)
    assert len(colours) == A.nrows, f"{len(colours)} colours for {A.nrows} nodes"
    for node, colour in enumerate(colours):
        same = [other for other in near[node] if colours[other] == colour]
        assert not same, f"node {node} has the colour of {same}"
        assert 0 <= colour <= len(near[node]), f"node {node} of {len(near[node])} neighbours has colour {colour}"


def check_matching(B, rows, cols, size):
    """rows, cols: {row: column} and {column: row}."""
    entries = set(zip(*(x.tolist() for x in B.to_coo(values=False)[:2]), strict=True))
    assert {j: i for i, j in rows.items()} == cols, "the mates of rows and columns differ"
    wrong = set(rows.items()) - entries
    assert not wrong, f"{wrong} are no entries"
    assert len(rows) == size, f"{len(rows)} pairs, {size} are possible"


def undirected(A, heavier=False):
    """A NetworkX graph without loops; of two weights of an edge the lesser (the greater)."""
    graph = nx.Graph()
    graph.add_nodes_from(range(A.nrows))
    for i, j, w in zip(*(x.tolist() for x in A.to_coo()), strict=True):
        if i != j:
            old = graph[i][j]["weight"] if graph.has_edge(i, j) else w
            graph.add_edge(i, j, weight=max(old, w) if heavier else min(old, w))
    return graph


def check_forest(A, edges, weight, labels, maximum=False):
    """edges: [(i, j, weight)]."""
    graph = undirected(A, maximum)
    best = nx.maximum_spanning_edges if maximum else nx.minimum_spanning_edges
    forest = nx.Graph()
    forest.add_nodes_from(graph)
    for i, j, w in edges:
        assert graph.has_edge(i, j) and graph[i][j]["weight"] == w, f"{i} - {j} of weight {w} is no edge"
        forest.add_edge(i, j)
    assert nx.number_of_edges(forest) == len(edges) and nx.is_forest(forest), "there is a cycle"
    least = {node: min(tree) for tree in nx.connected_components(graph) for node in tree}
    assert {node: min(tree) for tree in nx.connected_components(forest) for node in tree} == least, "it does not span"
    assert labels == [least[node] for node in range(A.nrows)], "a label is not the least node of its tree"
    total = sum(d["weight"] for *_, d in best(graph, data=True))
    assert abs(sum(w for *_, w in edges) - total) <= 1e-9 * abs(total), f"the least weight is {total}"
    assert abs(weight - total) <= 1e-9 * abs(total), f"its weight is {total}, not {weight}"
