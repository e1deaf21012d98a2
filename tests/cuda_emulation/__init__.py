"""The kernels' own CUDA C++ source, compiled with g++ and run on the CPU: every GPU thread is a fiber."""
