"""What the tests share: operands, the bridge to the oracle (SuiteSparse through python-graphblas), batteries,
coverage."""
