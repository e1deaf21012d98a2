"""The CPU backend: NumPy for every operator and type, Numba kernels once they break even (compiled/dispatch.py)."""
