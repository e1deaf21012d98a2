"""The CPU backend's primitives through kernels that Numba compiles; each may decline with NotImplemented."""
