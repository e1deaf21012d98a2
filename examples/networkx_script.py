"""A NetworkX script, with no word about grb_tile: the road network of New York, with the time of each call.

    python examples/networkx_script.py
    NETWORKX_BACKEND_PRIORITY=grb_tile NETWORKX_WARNINGS_TO_IGNORE=cache python examples/networkx_script.py

Times are of the processor (both cores where two work), the least of three calls; `first` is the first of the three,
which converts the graph.
"""

import pathlib
import time

import networkx as nx
import scipy.io

file = pathlib.Path(__file__).parent / "data" / "USA-road-NY.mtx.gz"
G = nx.from_scipy_sparse_array(scipy.io.mmread(file).tocsr())
print(f"{G.number_of_nodes():,} nodes, {G.number_of_edges():,} edges")
print(f"{'':36} {'first':>8} {'least':>8} s")


def show(name, call):
    seconds = []
    for _ in range(3):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    print(f"{name:36} {seconds[0]:8.3f} {min(seconds):8.3f}")


show("pagerank", lambda: nx.pagerank(G))
show("connected_components", lambda: list(nx.connected_components(G)))
show("single_source_shortest_path_length", lambda: nx.single_source_shortest_path_length(G, 0))
show("single_source_dijkstra_path_length", lambda: nx.single_source_dijkstra_path_length(G, 0))
show("core_number", lambda: nx.core_number(G))
show("triangles", lambda: nx.triangles(G))
show("clustering", lambda: nx.clustering(G))
show("betweenness_centrality, k=2", lambda: nx.betweenness_centrality(G, k=2, seed=1))
show("number_connected_components", lambda: nx.number_connected_components(G))
