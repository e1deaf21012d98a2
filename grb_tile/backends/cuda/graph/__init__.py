"""Whole-loop operations on the device: BFS, multi-source BFS, SSSP, connected components."""
