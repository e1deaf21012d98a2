"""Sources of the Numba kernels: plain functions that jit/cache.py specialises and writes to the cache folder.

A template is readable (and, with the stand-ins of placeholders.py, runnable) Python.  ADD, MUL, IDENTITY, TERMINAL and
the flags in capitals are replaced, and `if FLAG:` is folded away, before Numba sees it.  Conventions: words hold
presence bits, 64 to a word; functions take a range of rows or words so that threads share a job; sizes come from the
arrays; indices may be int32 or int64.
"""
