"""Backends: each offers the primitives of protocol.py; `select.current()` is the one in use."""
