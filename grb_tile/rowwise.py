"""Deprecated: the operations are in grb_tile.graph."""

from .deprecated import names_of

__getattr__ = names_of("rowwise", {})
