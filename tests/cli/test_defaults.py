"""What options of the command mean that are left out, and which commands have which options."""

import argparse

import pytest

from grb_tile.cli import gap, info, vertex_values
from grb_tile.cli.main import BAD_INPUT, COMMANDS, parser

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


READING = tuple(name for name in COMMANDS if name not in ("compile", "ldbc", "run"))
FORMATS, RULES = ("mtx", "edges", "metis", "npz", "grb"), ("min", "max", "plus", "first", "error")
# option: (commands, attribute, {text: value}, texts that are refused)
OPTIONS = {
    "--format": (READING, "format", dict(zip(FORMATS, FORMATS)), ("pdf", "MTX")),
    "--base": (READING, "base", {"0": 0, "1": 1}, ("2", "-1", "x", "0.0")),
    "--weights": (READING, "weights", {"file": "file", "unit": "unit"}, ("none",)),
    "--duplicates": (READING, "duplicates", dict(zip(RULES, RULES)), ("sum", "last")),
    "--backend": ((*READING, "compile", "ldbc"), "backend", {"cpu": "cpu", "auto": "auto"}, ("reference", "gpu")),
    "--repeat": (("bfs", "pagerank", "cores", "bench", "ldbc"), "repeat", {"7": 7}, ("x", "1.5")),
    "--max-level": (("bfs",), "max_level", {"3": 3}, ("x", "1.5")),
    "--method": (("sssp",), "method", {"delta": "delta", "bellman_ford": "bellman_ford", "auto": "auto"}, ("x",)),
    "--delta": (("sssp", "gap"), "delta", {"2": 2.0, "0.5": 0.5}, ("x",)),
    "--alpha": (("pagerank",), "alpha", {"0.5": 0.5}, ("x",)),
    "--tol": (("pagerank",), "tol", {"1e-9": 1e-9}, ("x",)),
    "--max-iter": (("pagerank", "eigenvector", "katz", "labels"), "max_iter", {"9": 9}, ("x", "1.5")),
    "--top": (("pagerank", "components", "betweenness", "leiden"), "top", {"3": 3}, ("x", "1.5")),
    "--samples": (("betweenness",), "samples", {"3": 3}, ("x", "1.5")),
    "--seed": (("betweenness", "communities", "leiden", "bench", "gap"), "seed", {"3": 3}, ("x", "1.5")),
    "--resolution": (("communities", "leiden"), "resolution", {"0.5": 0.5}, ("x",)),
    "--trials": (("gap",), "trials", {"3": 3}, ("x", "1.5")),
    "--sources": (("bench",), "sources", {"3": 3}, ("x", "1.5")),
    "--columns": (("bench",), "columns", {"3,5": (3, 5)}, ("x", "1.5")),
    "--densities": (("bench",), "densities", {"0.1,1": (0.1, 1.0)}, ("x",)),
}  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_what_an_option_takes(option, capsys):
    """Each of its values as it is meant, in each command that has it; others are refused with the option's name."""
    commands, attribute, values, refused = OPTIONS[option]
    parse = parser().parse_args
    for command in commands:
        given = [command, *ARGUMENTS.get(command, ["f"])]
        for text, value in values.items():
            found = getattr(parse([*given, option, text]), attribute)
            assert found == value and type(found) is type(value), (command, text)
        for text in refused:
            with pytest.raises(SystemExit) as ended:
                parse([*given, f"{option}={text}"])
            assert ended.value.code == BAD_INPUT and option in capsys.readouterr().err


GROUPED = {"communities", "leiden", "labels", "strong-components"}


@pytest.mark.parametrize("command", vertex_values.KINDS)
def test_values_of_nodes_or_of_groups(command):
    assert vertex_values.KINDS[command].grouped == (command in GROUPED)
    (top,) = (action for action in _options(command) if "--top" in action.option_strings)
    assert ("groups" if command in GROUPED else "nodes") in top.help


def _options(command):
    (commands,) = (action for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    return commands.choices[command]._actions


def test_the_trials_of_the_benchmark():
    """As its paper has them (Beamer et al., arXiv 1508.03619, section 4)."""
    assert {name: trials for name, (trials, _) in gap.KERNELS.items()} == {
        "bfs": 64, "sssp": 64, "pr": 16, "cc": 16, "bc": 16, "tc": 3,
    }  # fmt: skip
    assert (gap.ROOTS, gap.HIGHEST) == (4, 255)


@pytest.mark.parametrize("available, said", [(None, ""), (3_000_000_000, "; 3 GB are free")])
def test_free_memory_is_named_where_it_is_known(available, said):
    line = info._memory_line("now", {"matrix": 1_050_000, "loading": 2_000, "bfs": 3_000_000, "available": available})
    assert line == (f"memory     now: matrix 1.05 MB, peak while loading 2 kB, breadth-first search 3 MB{said}")
