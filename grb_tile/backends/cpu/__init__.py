"""The CPU backend: NumPy for every operator and type, Numba walks where they pay (compiled/dispatch.py)."""
