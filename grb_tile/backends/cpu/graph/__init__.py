"""Whole loops over a graph on the CPU: compiled, but for the BFS that NumPy has, too."""
