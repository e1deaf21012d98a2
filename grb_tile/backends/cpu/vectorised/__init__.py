"""The CPU backend's primitives in NumPy: every operator, every type."""
