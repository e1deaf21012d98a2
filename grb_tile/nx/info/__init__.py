"""What NetworkX reads at `import networkx`: the backend's name and its functions.  Imports nothing, grb_tile least."""

from .names import FUNCTIONS

# Adjacencies below which should_run sends a call back to NetworkX.  A dispatched call costs 0.3 to 1 ms on a CPU before
# it looks at an edge, and a traversal of NetworkX 0.3 to 1 us for each adjacency, so the two meet near 1000.
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
