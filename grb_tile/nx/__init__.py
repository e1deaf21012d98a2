"""A backend of NetworkX: its functions on grb_tile's matrices, called through NetworkX itself.

    import networkx as nx

    nx.pagerank(G, backend="grb_tile")             # one call
    nx.config.backend_priority = ["grb_tile"]      # all calls of a script that is otherwise unchanged

NetworkX finds the backend through the entry points of pyproject.toml and loads it at the first call that needs it.
docs/NETWORKX.md lists the functions and has the rules of conversion and caching.
"""
