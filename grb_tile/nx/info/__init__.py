"""What NetworkX reads at `import networkx`: the backend's name and functions.  It must not import grb_tile."""

from .names import FUNCTIONS

# Adjacencies below which should_run leaves a call to NetworkX.  The overhead of a dispatched call is 0.3 to 1 ms on a
# CPU, and a traversal of NetworkX takes 0.3 to 1 us for each adjacency, so the break-even point is near 1000.
MIN_EDGES = 1000


def get_info():
    """The record of the entry point networkx.backend_info (networkx.utils.backends, `_get_backends`)."""
    return {
        "backend_name": "grb_tile",
        "project": "grb-tile",
        "package": "grb_tile",
        "short_summary": "GraphBLAS on CPU and NVIDIA GPU.",
        "default_config": {"min_edges": MIN_EDGES},
        "functions": {name: {} for name in FUNCTIONS},
    }
