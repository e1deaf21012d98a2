"""Sources of the Numba kernels: plain functions that jit/cache.py specialises and writes to the cache folder.

A template is readable Python, and runs as such with the stand-ins of placeholders.py.  Before compilation ADD, MUL,
IDENTITY, TERMINAL and the flags in capitals are replaced and `if FLAG:` is folded (constant folding).
Conventions: a word has 64 presence bits; a function takes a range of rows or words, so that threads share a job; sizes
come from the arrays; indices are int32 or int64.  A function that Python calls has its types in its annotations
(placeholders.py); an element type that depends on the operands is a constant of the specialisation, such as INDEX="i".
"""
