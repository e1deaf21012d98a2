"""Matrices and vectors over several processes: each rank has a part, all ranks make the same calls."""
