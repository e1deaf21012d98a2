"""NetworkX's functions on grb_tile, a module for each group; importing this package registers them all."""

from . import (  # noqa: F401
    breadth_first,
    centrality,
    clusters,
    communities,
    components,
    composed,
    degrees,
    generators,
    graphs,
    link_analysis,
    link_prediction,
    matrices,
    shortest_paths,
    structure,
    weighted_paths,
)
