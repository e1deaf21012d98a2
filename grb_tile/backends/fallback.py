"""The warning of a whole loop that a device backend hands to the host."""

from __future__ import annotations

import sys
import warnings

from ..exceptions import HostFallbackWarning

_PACKAGE = __name__.partition(".")[0]


def warn_of_host(operation: str, reason: str) -> None:
    """Issue a HostFallbackWarning that names the caller's line; Python's filters show it once for each such line."""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(
        f"{operation}: {reason}: the host computes it, from copies of the operands. Use gb.config.set(backend='cpu') "
        "where that is meant, or warnings.simplefilter('ignore', gb.exceptions.HostFallbackWarning)",
        HostFallbackWarning,
        stacklevel=level,
    )
