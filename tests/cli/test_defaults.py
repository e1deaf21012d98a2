"""What options of the command mean that are left out, and which commands have which options."""

import pytest

from grb_tile.cli.main import COMMANDS, parser

GRAPH = {"file": "f", "weights": "file"}
RUN = GRAPH | {"repeat": 1}
RANKED = RUN | {"top": 10}
DEFAULTS = {
    "bfs": RUN, "sssp": RUN | {"method": "auto"}, "triangles": RUN, "components": RANKED,
    "pagerank": RANKED | {"alpha": 0.85, "max_iter": 100, "method": "standard"},
    **dict.fromkeys(
        "closeness harmonic eigenvector katz cores clustering labels strong-components".split(), RANKED
    ),
    "betweenness": RANKED | {"seed": 0},
    **dict.fromkeys(("communities", "leiden"), RANKED | {"seed": 0, "resolution": 1.0}),
    "info": GRAPH, "convert": GRAPH | {"target_file": "o"}, "compile": {},
    "run": {"ranks": 2, "over": "auto", "script": "s.py", "arguments": []},
    "bench": GRAPH | {
        "parts": "bfs,spmv,spmspv", "sources": 16, "semiring": ("plus_times",), "types": "FP32,FP64",
        "densities": (0.1, 0.01, 0.001, 0.0001), "columns": (16, 64), "repeat": 5, "seed": 1, "verify": True,
    },
    "gap": GRAPH | {"kernels": "bfs,sssp,pr,cc,bc,tc", "seed": 1, "verify": True},
    "ldbc": {"data": ["f"], "algorithms": "bfs,pr,wcc,cdlp,lcc,sssp", "repeat": 3, "verify": True},
}  # fmt: skip
ARGUMENTS = {"convert": ["f", "o"], "compile": [], "run": ["-n", "2", "s.py"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_options_that_are_left_out(command):
    """All others are None or False."""
    found = vars(parser().parse_args([command, *ARGUMENTS.get(command, ["f"])]))
    set_ = {name: value for name, value in found.items() if value is not None and value is not False}
    assert set_ == {"command": command} | DEFAULTS[command]
