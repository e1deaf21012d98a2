"""`grb-tile bfs` and `grb-tile sssp`."""

import numpy as np

from grb_tile.cli import inputs, output

PATH_ENDS = 10  # nodes of a path that are printed from each end


def add_arguments(parser, name):
    """Arguments of the commands `bfs` and `sssp`."""
    inputs.add_arguments(parser)
    parser.add_argument(
        "--source",
        help="where to start, a label or a number (from 0, or as --base says); default: the node with most edges",
    )
    if name == "bfs":
        parser.add_argument(
            "--parents", action="store_true", help="find, and write, a node before each node instead of levels"
        )
        parser.add_argument("--max-level", type=int, metavar="N", help="stop after N levels")
        parser.add_argument("--target", help="stop once this node is reached")
    else:
        parser.add_argument("--target", help="print the distance of this node and a shortest path to it")
        parser.add_argument("--method", choices=("auto", "delta", "bellman_ford"), default="auto")
        parser.add_argument(
            "--delta", type=float, help="width of a bucket of delta-stepping; default: from the weights"
        )


def run(args):
    """Read the graph, find the source, search."""
    loaded, G = inputs.graph(args)
    source = loaded.node(args.source) if args.source is not None else _highest_degree(G)
    _ = G.AT  # cached with the graph, not timed
    (_bfs if args.command == "bfs" else _sssp)(args, loaded, G, source)


def _highest_degree(G):
    """The first node of highest out-degree; node 0 when there are no edges."""
    nodes, degrees = G.out_degree.to_coo()
    return int(nodes[int(np.argmax(degrees))]) if len(nodes) else 0


def _traversed_edges(G, reached):
    """The number of edges that leave the reached nodes."""
    degree = G.out_degree.to_dense(0)
    return int(degree[reached].sum())


def _bfs(args, loaded, G, source):
    from grb_tile.algorithms import bfs

    target = None if args.target is None else loaded.node(args.target, "--target")
    found, times = output.timed(
        lambda: bfs(G.numbered, source, levels=True, parents=args.parents, max_level=args.max_level, target=target),
        args.repeat,
    )
    nodes, levels = found.levels.to_coo()
    per_level = np.bincount(levels)
    facts = {
        "command": "bfs",
        "graph": output.graph_facts(loaded, G),
        "source": loaded.label(source),
        "depth": int(levels.max()),
        "reached": len(nodes),
        "nodes_per_level": per_level,
        **output.time_facts(times, _traversed_edges(G, nodes)),
    }
    steps = output.rounds(found.report)
    directions = [step["direction"] for step in steps if step.get("direction") is not None]
    if directions:
        facts["directions"] = {name: directions.count(name) for name in sorted(set(directions))}
    if args.explain:
        facts["rounds"] = steps
    if target is not None:
        at = found.levels.get(target)
        facts["target"], facts["target_level"] = loaded.label(target), at
    lines = [
        output.graph_line(facts["graph"]),
        f"source     {facts['source']}",
        f"levels     {facts['depth']} ({len(per_level)} with the source), widest {int(per_level.max()):,} nodes",
        f"reached    {len(nodes):,} of {G.n:,} nodes ({100 * len(nodes) / G.n:.1f} %)",
    ]
    if directions:
        lines.append("direction  " + ", ".join(f"{count} x {name}" for name, count in facts["directions"].items()))
    if target is not None:
        lines.append(f"target     {facts['target']}: " + (f"level {at}" if at is not None else "not reached"))
    lines.append(output.time_line(facts))
    if args.explain:
        lines += ["", *output.table(steps)]
    _finish(args, loaded, found.parents if args.parents else found.levels, facts, lines)
    if args.plot:
        from grb_tile.cli.plots import levels as draw

        draw(args.plot, per_level, f"{G.name}: breadth-first search from {facts['source']}")


def _sssp(args, loaded, G, source):
    from grb_tile.algorithms import sssp

    target = None if args.target is None else loaded.node(args.target, "--target")
    with output.Watch(args, "sssp") as watch:
        found, times = output.timed(
            lambda: sssp(
                G.numbered,
                source,
                method=args.method,
                delta=args.delta,
                predecessors=target is not None,
                callback=watch,
            ),
            args.repeat,
        )
    nodes, distances = found.distances.to_coo()
    facts = {
        "command": "sssp",
        "graph": output.graph_facts(loaded, G),
        "source": loaded.label(source),
        "method": found.report.algorithm,
        "reached": len(nodes),
        "farthest": loaded.label(nodes[int(np.argmax(distances))]),
        "longest": distances.max(),
        "iterations": found.report.iterations,
        **output.time_facts(times, _traversed_edges(G, nodes)),
    }
    steps = output.rounds(found.report)
    if args.explain:
        facts["rounds"] = steps
    if target is not None:
        facts |= _way(loaded, found, target)
    lines = [
        output.graph_line(facts["graph"]),
        f"source     {facts['source']}",
        f"reached    {len(nodes):,} of {G.n:,} nodes ({100 * len(nodes) / G.n:.1f} %)",
        f"farthest   {facts['farthest']} at distance {facts['longest']:,}",
        f"method     {facts['method']}" + (f", {facts['iterations']} relaxations" if facts["iterations"] else ""),
        output.time_line(facts),
    ]
    if target is not None:
        lines[-1:-1] = _way_lines(facts)
    if args.explain:
        lines += ["", *output.table(steps)]
    _finish(args, loaded, found.distances, facts, lines)
    if args.plot:
        from grb_tile.cli.plots import distances as draw

        draw(args.plot, distances, f"{G.name}: shortest paths from {facts['source']}")


def _way(loaded, found, target):
    """The facts of a shortest path to the node `target`; None where it was not reached."""
    from grb_tile.algorithms.paths import path_to

    distance = found.distances.get(target)
    path = None if distance is None else [loaded.label(v) for v in path_to(target, found.predecessors)]
    return {"target": loaded.label(target), "target_distance": distance, "path": path}


def _way_lines(facts):
    """The lines for the facts of _way; a long path is cut in the middle (--json has all of it)."""
    if facts["path"] is None:
        return [f"target     {facts['target']}: not reached"]
    path = list(map(str, facts["path"]))
    shown = path if len(path) <= 2 * PATH_ENDS else [*path[:PATH_ENDS], "...", *path[-PATH_ENDS:]]
    return [
        f"target     {facts['target']} at distance {facts['target_distance']:,}",
        f"path       {' -> '.join(shown)} ({len(path) - 1:,} edges)",
    ]


def _finish(args, loaded, vector, facts, lines):
    if args.output:
        output.write_vector(args.output, vector, loaded)
        facts["output"] = args.output
        lines.append(f"written    {args.output}")
    output.show(args, facts, lines)
