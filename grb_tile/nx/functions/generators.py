"""Generators and readers: NetworkX makes the graph, which becomes a backend graph (see adopt)."""

from __future__ import annotations

import networkx as nx

from ..graphs import DiGraph, Graph, MultiDiGraph, MultiGraph
from ..registry import implements
from .graphs import adopting

CLASSIC = (
    "balanced_tree", "barbell_graph", "binomial_tree", "circulant_graph", "circular_ladder_graph",
    "complete_bipartite_graph", "complete_graph", "complete_multipartite_graph", "cycle_graph",
    "dorogovtsev_goltsev_mendes_graph", "empty_graph", "full_rary_tree", "grid_2d_graph", "grid_graph",
    "hexagonal_lattice_graph", "hypercube_graph", "kneser_graph", "ladder_graph", "lollipop_graph", "null_graph",
    "path_graph", "star_graph", "tadpole_graph", "triangular_lattice_graph", "trivial_graph", "turan_graph",
    "wheel_graph",
)  # fmt: skip
SMALL = (
    "bull_graph", "chvatal_graph", "cubical_graph", "davis_southern_women_graph", "desargues_graph", "diamond_graph",
    "dodecahedral_graph", "florentine_families_graph", "frucht_graph", "heawood_graph", "hoffman_singleton_graph",
    "house_graph", "house_x_graph", "icosahedral_graph", "karate_club_graph", "krackhardt_kite_graph",
    "les_miserables_graph", "moebius_kantor_graph", "octahedral_graph", "pappus_graph", "petersen_graph",
    "sedgewick_maze_graph", "tetrahedral_graph", "truncated_cube_graph", "truncated_tetrahedron_graph", "tutte_graph",
)  # fmt: skip
RANDOM = (
    "barabasi_albert_graph", "caveman_graph", "connected_caveman_graph", "fast_gnp_random_graph",
    "gnm_random_graph", "gnp_random_graph", "newman_watts_strogatz_graph", "planted_partition_graph",
    "powerlaw_cluster_graph", "random_regular_graph", "stochastic_block_model", "watts_strogatz_graph",
)  # fmt: skip
READERS = (
    "from_dict_of_dicts", "from_dict_of_lists", "from_edgelist", "from_numpy_array", "from_pandas_adjacency",
    "from_pandas_edgelist", "from_scipy_sparse_array",
)  # fmt: skip

for _name in (*CLASSIC, *SMALL, *RANDOM, *READERS):
    implements(_name, kind="graph")(adopting(_name))


def _instances(name: str, ours: type, theirs: type) -> None:
    """`nx.Graph(data, backend="grb_tile")` and the other classes; subclasses of NetworkX's classes keep their class."""

    @implements(name, kind="graph")
    def new(cls, *args, **kwargs):
        return object.__new__(ours if cls is theirs else cls)


_instances("graph__new__", Graph, nx.Graph)
_instances("digraph__new__", DiGraph, nx.DiGraph)
_instances("multigraph__new__", MultiGraph, nx.MultiGraph)
_instances("multidigraph__new__", MultiDiGraph, nx.MultiDiGraph)
