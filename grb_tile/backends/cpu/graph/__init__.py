"""Whole loops over a graph on the CPU: compiled; BFS in NumPy as well."""
