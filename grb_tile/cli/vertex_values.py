"""`grb-tile betweenness`, `cores`, `communities` and others: a value, or a group, for each vertex."""

from typing import NamedTuple

import numpy as np

from grb_tile.cli import inputs, output
from grb_tile.cli.main import UsageError

TOL = 1e-6  # of the iterations, which end at a change of n times that
SAMPLES = 1000  # a number of sources that is named where all take long


class Kind(NamedTuple):
    """A command: its function of grb_tile.algorithms, the name of its values, and whether equal values form a group."""

    function: str
    what: str
    grouped: bool = False
    options: tuple = ()


KINDS = {
    "betweenness": Kind("betweenness", "betweenness", options=("samples", "seed")),
    "closeness": Kind("closeness", "closeness"),
    "harmonic": Kind("harmonic", "harmonic centrality"),
    "eigenvector": Kind("eigenvector", "eigenvector centrality", options=("max_iter", "weighted")),
    "katz": Kind("katz", "Katz centrality", options=("max_iter", "weighted")),
    "cores": Kind("core_number", "core number"),
    "clustering": Kind("clustering", "clustering coefficient", options=("weighted",)),
    "communities": Kind("louvain", "community", True, ("seed", "resolution")),
    "leiden": Kind("leiden", "community", True, ("seed", "resolution")),
    "labels": Kind("label_propagation", "label", True, ("max_iter",)),
    "strong-components": Kind("strongly_connected_components", "component", True),
}


def add_arguments(parser, name):
    """The options of the command's function."""
    inputs.add_arguments(parser)
    kind = KINDS[name]
    parser.add_argument(
        "--top",
        type=int,
        default=10,
        metavar="N",
        help=f"how many {'groups' if kind.grouped else 'nodes'} to list (default 10)",
    )
    if "samples" in kind.options:
        parser.add_argument("--samples", type=int, metavar="N", help="estimate from N sources (default: all, exact)")
    if "seed" in kind.options:
        parser.add_argument("--seed", type=int, default=0, help="of what is random (default 0)")
    if "resolution" in kind.options:
        parser.add_argument(
            "--resolution",
            type=float,
            default=1.0,
            metavar="X",
            help="above 1: more and smaller communities (default 1)",
        )
    if "max_iter" in kind.options:
        parser.add_argument("--max-iter", type=int, help="limit of iterations")
    if "weighted" in kind.options:
        parser.add_argument("--weighted", action="store_true", help="edges count by their weights")


def run(args):
    """Read the graph, run the algorithm, print the greatest values or the largest groups."""
    from grb_tile import algorithms

    kind = KINDS[args.command]
    loaded, G = inputs.graph(args)
    _ = G.AT, G.out_degree, G.is_symmetric_structure  # cached with the graph, not timed
    limit = G.n * TOL if "max_iter" in kind.options else None
    exact = "samples" in kind.options and args.samples is None
    remedy = f"--samples {min(SAMPLES, G.n)} estimates it from so many sources" if exact else None
    with output.Watch(args, args.command, limit=limit, remedy=remedy) as watch:
        options = _options(args, kind, watch, G.n)
        found, times = output.timed(lambda: getattr(algorithms, kind.function)(G, **options), args.repeat)
    nodes, values = found.values.to_coo()
    facts = {
        "command": args.command,
        "graph": output.graph_facts(loaded, G),
        **output.time_facts(times, G.A.nvals),
    }
    lines = [output.graph_line(facts["graph"]), output.time_line(facts)]
    if kind.grouped:
        sizes = _groups(args, loaded, kind, nodes, values, facts, lines)
    else:
        _ranking(args, loaded, kind, nodes, values, facts, lines)
    if hasattr(found, "modularity"):
        facts["modularity"] = found.modularity
        lines.append(f"modularity {found.modularity:.6g}")
    output.finish_run(args, loaded, found.values, getattr(found, "report", None), facts, lines)
    if args.plot:
        from grb_tile.cli import plots

        if kind.grouped:
            plots.sizes(args.plot, sizes, f"{G.name}: {len(sizes):,} groups")
        else:
            plots.ranks(args.plot, values, f"{G.name}: {kind.what}", kind.what)


def _options(args, kind, watch, n):
    options = {"seed": args.seed} if "seed" in kind.options else {}
    if "samples" in kind.options:
        if args.samples is not None and not 1 <= args.samples <= n:
            raise UsageError(f"--samples {args.samples}: expected 1 to {n}, the number of nodes")
        options["k"] = args.samples
    if "resolution" in kind.options:
        options["resolution"] = args.resolution
    if "weighted" in kind.options:
        options["weighted"] = args.weighted
    if "max_iter" in kind.options and args.max_iter is not None:
        options["max_iter"] = args.max_iter
    if kind.function != "clustering":  # one product, no iterations
        options["callback"] = watch
    return options


def _ranking(args, loaded, kind, nodes, values, facts, lines):
    best = np.argsort(-values, kind="stable")[: max(args.top, 0)]
    facts["top"] = [{"node": loaded.label(nodes[k]), "value": values[k].item()} for k in best]
    facts["mean"] = float(values.mean()) if len(values) else None
    lines += [
        f"{'highest' if k == 0 else '':10} {item['value']:.6g}  node {item['node']}"
        for k, item in enumerate(facts["top"])
    ]


def _groups(args, loaded, kind, nodes, values, facts, lines):
    """The sizes of the groups; adds their number and the largest ones to `facts` and `lines`."""
    _, first, sizes = np.unique(values, return_index=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")[: max(args.top, 0)]
    facts["groups"], facts["largest"] = len(sizes), int(sizes.max())
    facts["top"] = [{"smallest_node": loaded.label(nodes[first[k]]), "size": int(sizes[k])} for k in order]
    lines.append(f"groups     {len(sizes):,}, of them {int((sizes == 1).sum()):,} single nodes")
    lines += [
        f"{'sizes' if k == 0 else '':10} {item['size']:,} with node {item['smallest_node']}"
        for k, item in enumerate(facts["top"])
    ]
    return sizes
