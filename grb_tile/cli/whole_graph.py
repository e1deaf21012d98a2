"""`grb-tile pagerank`, `components` and `triangles`."""

import numpy as np

from grb_tile.cli import inputs, output


def add_arguments(parser, name):
    inputs.add_arguments(parser)
    if name == "pagerank":
        parser.add_argument("--alpha", type=float, default=0.85, help="damping factor (default 0.85)")
        parser.add_argument("--tol", type=float, help="tolerance; default: that of the method")
        parser.add_argument("--max-iter", type=int, default=100, help="limit of iterations (default 100)")
        parser.add_argument("--method", choices=("standard", "gap", "ldbc", "adaptive"), default="standard")
        parser.add_argument("--weighted", action="store_true", help="follow edges in proportion to their weights")
        parser.add_argument("--top", type=int, default=10, metavar="N", help="how many nodes to list (default 10)")
    if name == "components":
        parser.add_argument("--top", type=int, default=10, metavar="N", help="how many components to list (default 10)")


def run(args):
    """Read the graph and run the algorithm that the command names."""
    loaded, G = inputs.graph(args)
    {"pagerank": _pagerank, "components": _components, "triangles": _triangles}[args.command](args, loaded, G)


def _pagerank(args, loaded, G):
    from grb_tile.algorithms import pagerank

    _ = G.AT, G.out_degree  # cached with the graph, not timed
    with output.Watch(args, "pagerank", limit=1e-6 if args.tol is None else G.n * args.tol) as watch:
        found, times = output.timed(
            lambda: pagerank(
                G,
                alpha=args.alpha,
                tol=args.tol,
                max_iter=args.max_iter,
                method=args.method,
                weighted=args.weighted,
                callback=watch,
            ),
            args.repeat,
        )
    nodes, ranks = found.ranks.to_coo()
    best = np.argsort(-ranks, kind="stable")[: max(args.top, 0)]
    top = [{"node": loaded.label(nodes[k]), "rank": float(ranks[k])} for k in best]
    facts = {
        "command": "pagerank",
        "graph": output.graph_facts(loaded, G),
        "iterations": found.iterations,
        "converged": found.converged,
        "residual": found.residual,
        "sum": float(ranks.sum()),
        "top": top,
        **output.time_facts(times, G.A.nvals * found.iterations),
    }
    end = "converged" if found.converged else "not converged"
    lines = [
        output.graph_line(facts["graph"]),
        f"iterations {found.iterations}, residual {found.residual:.3g}, {end}",
        output.time_line(facts),
    ]
    lines += [f"{'highest' if k == 0 else '':10} {item['rank']:.6g}  node {item['node']}" for k, item in enumerate(top)]
    output.finish_run(args, loaded, found.ranks, found.report, facts, lines)
    if args.plot:
        from grb_tile.cli.plots import ranks as draw

        draw(args.plot, ranks, f"{G.name}: PageRank")


def _components(args, loaded, G):
    from grb_tile.algorithms import connected_components

    _ = G.is_symmetric_structure, G.AT  # cached with the graph, not timed
    with output.Watch(args, "components") as watch:
        found, times = output.timed(lambda: connected_components(G, callback=watch), args.repeat)
    labels = found.labels.to_coo(indices=False)[1]
    members, sizes = np.unique(labels, return_counts=True)
    order = np.argsort(-sizes, kind="stable")[: max(args.top, 0)]
    top = [{"smallest_node": loaded.label(members[k]), "size": int(sizes[k])} for k in order]
    facts = {
        "command": "components",
        "graph": output.graph_facts(loaded, G),
        "components": int(found.count),
        "largest": int(sizes.max()),
        "singletons": int((sizes == 1).sum()),
        "iterations": found.report.iterations,
        "top": top,
        **output.time_facts(times, G.A.nvals),
    }
    lines = [
        output.graph_line(facts["graph"]),
        f"components {facts['components']:,}, of them {facts['singletons']:,} single nodes",
        f"largest    {facts['largest']:,} nodes ({100 * facts['largest'] / G.n:.1f} %)",
        output.time_line(facts),
    ]
    lines += [
        f"{'sizes' if k == 0 else '':10} {item['size']:,} with node {item['smallest_node']}"
        for k, item in enumerate(top)
    ]
    output.finish_run(args, loaded, found.labels, found.report, facts, lines)
    if args.plot:
        from grb_tile.cli.plots import sizes as draw

        draw(args.plot, sizes, f"{G.name}: {facts['components']:,} components")


def _triangles(args, loaded, G):
    from grb_tile.algorithms import triangle_count, triangles

    count, times = output.timed(lambda: triangle_count(G), args.repeat)
    facts = {
        "command": "triangles",
        "graph": output.graph_facts(loaded, G),
        "triangles": int(count),
        **output.time_facts(times, G.nedges),
    }
    lines = [output.graph_line(facts["graph"]), f"triangles  {count:,}", output.time_line(facts)]
    per_node = triangles(G).values if args.output or args.plot else None
    output.finish_run(args, loaded, per_node, None, facts, lines)
    if args.plot:
        from grb_tile.cli.plots import counts as draw

        draw(args.plot, per_node.to_coo(indices=False)[1], f"{G.name}: {count:,} triangles", "triangles at a node")
