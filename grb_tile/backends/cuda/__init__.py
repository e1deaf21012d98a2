"""The CUDA backend: CuPy arrays, kernels of kernels/*.cuh compiled at run time.  Importing it imports no CuPy."""
