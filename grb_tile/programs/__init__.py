"""Programs: a user's loop of GraphBLAS calls runs on the device, turn after turn, without Python between them.

@gb.program
def bfs(A, source):
    level = gb.Vector(int, A.nrows)
    f = gb.Vector.from_coo([source], [True], size=A.nrows)
    depth = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
    return level

rewrite.py   the function's syntax tree: its loops become a body and a condition; jumps.py: `break`, `return`
program.py   `program` and `loop`: signatures, explain()
running.py   one loop: turn by turn from Python, or traced, captured and launched (backends/cuda/programs)
captured.py  what the names of a captured loop are from turn to turn; branches.py: `if`; inner.py: loops within
"""

from .program import Program, loop, program
from .running import Loop, on_device

__all__ = ["Loop", "Program", "loop", "on_device", "program"]
