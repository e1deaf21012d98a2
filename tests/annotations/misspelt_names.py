"""What a type checker finds in a user's program: .ci/run checks it with mypy --strict and with pyright, which report
each comment that ignores nothing.  It is not run.
"""

from typing import Any, assert_type

import grb_tile as gb
from grb_tile import algorithms


def misspelt(A: gb.Matrix, v: gb.Vector, s: gb.Scalar) -> None:
    A.mxvv(v)  # type: ignore[attr-defined]
    A.nvasl  # type: ignore[attr-defined]
    A.T.mmx(A)  # type: ignore[attr-defined]
    v.reducee()  # type: ignore[attr-defined]
    v.sizee  # type: ignore[attr-defined]
    s.valeu  # type: ignore[attr-defined]
    A.mxv(v).new().to_numppy()  # type: ignore[attr-defined]
    algorithms.pagerankk(A)  # type: ignore[attr-defined]
    algorithms.louvain(A).lables  # type: ignore[attr-defined]
    algorithms.connected_components(A).labels.to_coo_()  # type: ignore[attr-defined]
    algorithms.bfs(A, 0).levels.to_nunpy()  # type: ignore[attr-defined]
    algorithms.pagerank(A).ranks.reducee()  # type: ignore[attr-defined]
    algorithms.triangles(A).values.sizee  # type: ignore[attr-defined]
    (A @ v).new().to_densee()  # type: ignore[attr-defined]
    gb.semiring.min_plus(A @ A.T).new().nvasl  # type: ignore[attr-defined]
    (2 * A + 1).new().nrosw  # type: ignore[attr-defined]
    A.ss.selectkk("first", 1)  # type: ignore[attr-defined]
    algorithms.Graph(A).A.nvasl  # type: ignore[attr-defined]


def results(A: gb.Matrix, v: gb.Vector) -> None:
    assert_type(A.mxv(v).new(mask=v.S), gb.Vector)
    assert_type(A.mxm(A).new(mask=A.S), gb.Matrix)
    assert_type(A.reduce_rowwise().new(), gb.Vector)
    assert_type(A.reduce_scalar().new(), gb.Scalar)
    assert_type(v.reduce().new(), gb.Scalar)
    assert_type(A[0, 1].new(), gb.Scalar)
    assert_type(A[0, :].new(), gb.Vector)
    assert_type(A[[0, 1], 2].new(mask=v.S), gb.Vector)
    assert_type(A[:, [1, 2]].new(mask=A.S), gb.Matrix)
    assert_type(A.T[0, :].new(), gb.Vector)
    assert_type(v[0].new(), gb.Scalar)
    assert_type(v[[0, 1]].new(mask=v.S), gb.Vector)
    assert_type(A.ss.selectk("first", 1), gb.Matrix)


def operators(A: gb.Matrix, v: gb.Vector, s: gb.Scalar) -> None:
    """Each operator of Python, and operators that are called."""
    assert_type((A @ A).new(), gb.Matrix)
    assert_type((A.T @ A).new(mask=A.S), gb.Matrix)
    assert_type((A @ v).new(), gb.Vector)
    assert_type((v @ A).new(), gb.Vector)
    assert_type((v @ v).new(), gb.Scalar)
    assert_type(float(v @ v), float)
    assert_type((A + A).new(), gb.Matrix)
    assert_type((A - A.T).new(), gb.Matrix)
    assert_type((2 * A).new(), gb.Matrix)
    assert_type((1 - v).new(), gb.Vector)
    assert_type((v / 2).new(), gb.Vector)
    assert_type((v**2 % 3 // 2).new(), gb.Vector)
    assert_type((v + A).new(), gb.Matrix)
    assert_type((A * v).new(), gb.Matrix)
    assert_type((s + 1).new(), gb.Scalar)
    assert_type((s * A).new(), gb.Matrix)
    assert_type((-A).new(), gb.Matrix)
    assert_type(abs(v).new(), gb.Vector)
    assert_type((A > 3).new(), gb.Matrix)
    assert_type((v == 3).new(), gb.Vector)
    assert_type((A | A.T).new(), gb.Matrix)
    assert_type((v & v).new(), gb.Vector)
    assert_type(gb.binary.plus(A | A.T).new(), gb.Matrix)
    assert_type(gb.monoid.min(v & v).new(), gb.Vector)
    assert_type(gb.semiring.plus_times(A @ v).new(mask=v.S), gb.Vector)
    assert_type(gb.semiring.plus_times(v @ v).new(), gb.Scalar)
    assert_type(gb.unary.sqrt(A).new(), gb.Matrix)
    assert_type(gb.select.tril(A).new(), gb.Matrix)
    assert_type(gb.select.value(v > 3).new(), gb.Vector)
    assert_type(gb.indexunary.rowindex(A).new(), gb.Matrix)
    assert_type(A.apply(gb.unary.sqrt).new(), gb.Matrix)
    assert_type(v.select("tril").new(), gb.Vector)
    assert_type(A.ewise_mult(A, gb.binary.times).new(), gb.Matrix)
    assert_type(v.ewise_add(v).new(), gb.Vector)
    assert_type((A @ A)[0, :].new(), gb.Vector)
    A += A
    v @= A
    assert_type(A, gb.Matrix)
    assert_type(v, gb.Vector)


def algorithms_of(A: gb.Matrix, G: algorithms.Graph) -> None:
    """What each algorithm gives: values by vertex, by source and vertex, by edge, numbers, vertices."""
    assert_type(algorithms.bfs(A, 0).levels, gb.Vector)
    assert_type(algorithms.bfs(A, 0).parents, gb.Vector)
    assert_type(algorithms.bfs_multi(A, [0]).levels, gb.Matrix)
    assert_type(algorithms.sssp(A, 0).distances, gb.Vector)
    assert_type(algorithms.sssp(A, 0).predecessors, gb.Vector)
    assert_type(algorithms.apsp(A).values, gb.Matrix)
    assert_type(algorithms.pagerank(A).ranks, gb.Vector)
    assert_type(algorithms.pagerank(A).values, gb.Vector)
    assert_type(algorithms.pagerank_multi(A, [0]).ranks, gb.Matrix)
    assert_type(algorithms.hits(A).hubs, gb.Vector)
    assert_type(algorithms.connected_components(A).labels, gb.Vector)
    assert_type(algorithms.strongly_connected_components(A).labels, gb.Vector)
    assert_type(algorithms.louvain(A).labels, gb.Vector)
    assert_type(algorithms.leiden(A).modularity, float)
    assert_type(algorithms.label_propagation(A).values, gb.Vector)
    assert_type(algorithms.mcl(A).values, gb.Vector)
    assert_type(algorithms.modularity(A, [0]), float)
    assert_type(algorithms.minimum_spanning_forest(A).edges, gb.Matrix)
    assert_type(algorithms.minimum_spanning_forest(A).labels, gb.Vector)
    assert_type(algorithms.maximal_independent_set(A).members, gb.Vector)
    assert_type(algorithms.coloring(A).colours, gb.Vector)
    assert_type(algorithms.condensation(A).graph, gb.Matrix)
    assert_type(algorithms.bipartite_matching(A).mate_row, gb.Vector)
    assert_type(algorithms.rcm(A).positions, gb.Vector)
    assert_type(algorithms.jaccard(A).values, gb.Matrix)
    assert_type(algorithms.edge_betweenness(A).values, gb.Matrix)
    assert_type(algorithms.k_truss(A, 3).values, gb.Matrix)
    assert_type(algorithms.k_core(A), gb.Matrix)
    assert_type(algorithms.random_walks(A, [0], 3).paths(), list[list[Any]])
    assert_type(algorithms.random_walks(A, [0], 3).values, gb.Vector)
    assert_type(algorithms.shortest_path(A, 0, 1), list[Any])
    assert_type(algorithms.descendants(A, 0).values, gb.Vector)
    assert_type(algorithms.topological_sort(A).values, gb.Vector)
    assert_type(algorithms.is_dag(A), bool)
    assert_type(algorithms.diameter(A), int | float)
    assert_type(algorithms.shortest_path_length(A, 0, 1), int | float)
    assert_type(G.A, gb.Matrix)
    for one in (
        algorithms.degree(A),
        algorithms.out_degree(A),
        algorithms.degree_centrality(A),
        algorithms.reciprocity(A),
        algorithms.isolates(A),
        algorithms.betweenness(A),
        algorithms.closeness(A),
        algorithms.harmonic(A),
        algorithms.eigenvector(A),
        algorithms.katz(A),
        algorithms.clustering(A),
        algorithms.square_clustering(A),
        algorithms.triangles(A),
        algorithms.core_number(A),
        algorithms.eccentricity(A),
        algorithms.shortest_path_length(A, 0),
    ):
        assert_type(one.values, gb.Vector)
    assert_type(algorithms.density(A), float)
    assert_type(algorithms.transitivity(A), float)
    assert_type(algorithms.triangle_count(A), int)
