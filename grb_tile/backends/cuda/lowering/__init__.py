"""From typed operators and semirings to CUDA C++."""
