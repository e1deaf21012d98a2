"""The CPU backend: NumPy for every operator and type, Numba kernels after the break-even point (compiled/dispatch.py)."""
