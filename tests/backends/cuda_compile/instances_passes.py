"""Instances of passes of several element-wise operations."""

from grb_tile.operations.one_pass import Program


def _many(a, b, c, d, e, f, s, t):
    x = (a * s + b / t).max(-abs(c)).min(d.sqrt())
    return x, x * e, -f, x.sum(), (x * x).max(), abs(f - a).sum(), e.max()


def instances():
    """(header, name, functors, template) of each."""
    for function, kinds in ((_many, "xxxxxxss"), (lambda x, y: x + y, "xx"), (lambda x: x.sum(), "x")):
        for text in ("float", "double"):
            yield "elementwise/one_pass.cuh", "one_pass", Program(function, kinds).cuda_text, (text, "Pass")
