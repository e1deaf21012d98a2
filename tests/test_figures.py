"""One definition of a figure: costs and thresholds of choices stand in grb_tile/planner/tuning, and each is read."""

import ast
import pathlib
import re

from grb_tile.planner import tuning

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = [path for folder in ("grb_tile", "algorithms") for path in sorted((ROOT / folder).rglob("*.py"))]
COST = re.compile(r"(^|_)(SECONDS|NS|US|COST|PRICE|MINIMUM|PARALLEL|SAVED)(_|$)")

_WAIT = "no choice: how long a rank waits, and how often it looks"
# Figures outside the planner, each with its reason: (path, name) -> why.
ELSEWHERE = {
    ("grb_tile/backends/cpu/jit/lost_time.py", "LEAST_SECONDS"): "no choice: shorter times are not written to the file",
    ("grb_tile/backends/cpu/jit/lost_time.py", "NOTICE_SECONDS"): "no choice: when a line on standard error says why",
    ("grb_tile/backends/cpu/jit/worker.py", "FINISH_SECONDS"): "no choice: the longest life of a process without input",
    ("grb_tile/backends/kernel_cache.py", "ABANDONED_SECONDS"): "no choice: the age of files that are left over",
    ("grb_tile/backends/cuda/runtime/nvrtc_workers.py", "MOST_SECONDS"): "no choice: when a process is taken to hang",
    ("grb_tile/cli/bench_measure.py", "WARM_SECONDS"): "no choice: how a measurement is made",
    (
        "grb_tile/backends/distributed/loopback.py",
        "SECONDS_TO_END",
    ): _WAIT,
    (
        "grb_tile/backends/distributed/mpi.py",
        "SECONDS_BEFORE_HERE",
    ): _WAIT,
    (
        "grb_tile/backends/distributed/mpi.py",
        "SECONDS_TO_LEAVE",
    ): _WAIT,
    (
        "grb_tile/backends/distributed/mpi.py",
        "SECONDS_TO_RELAY",
    ): _WAIT,
    (
        "grb_tile/backends/distributed/nccl.py",
        "SECONDS_BETWEEN_LOOKS",
    ): _WAIT,
    (
        "grb_tile/backends/distributed/nccl.py",
        "SECONDS_WITHOUT",
    ): _WAIT,
    (
        "grb_tile/backends/distributed/nccl.py",
        "SECONDS_TO_CLOSE",
    ): _WAIT,
    (
        "grb_tile/backends/distributed/pipes.py",
        "SECONDS_BETWEEN_TRIES",
    ): _WAIT,
    (
        "grb_tile/backends/distributed/pipes.py",
        "SECONDS_OF_LOOKS",
    ): _WAIT,
    ("grb_tile/cli/run.py", "SECONDS_BETWEEN_LOOKS"): _WAIT,
    ("grb_tile/cli/run.py", "SECONDS_TO_END"): _WAIT,
    ("grb_tile/cli/run.py", "SECONDS_TO_TERMINATE"): _WAIT,
    ("grb_tile/storage/place.py", "COPY_NS"): "storage lies below the planner",
    ("grb_tile/storage/place.py", "ELEMENT_NS"): "storage lies below the planner",
}


def is_number(node):
    """Is it made of numbers alone: 60e-9, 1 << 14, (0.5, 2)?"""
    whole = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)
    parts = list(ast.walk(node))
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    return all(isinstance(part, whole) for part in parts) and all(type(x) in (int, float) for x in constants)


def figures_of(tree):
    """Names of costs and thresholds that the statements of a module or a class define by numbers."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and is_number(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and name.id.isupper() and COST.search(name.id):
                        yield name.id


def test_figures_stand_in_the_planner():
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in SOURCES
        if "planner" not in path.parts
        for name in figures_of(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set(ELSEWHERE), found ^ set(ELSEWHERE)


def test_every_figure_is_read():
    package = pathlib.Path(tuning.__file__).parent
    others = [path for path in SOURCES if package not in path.parents]
    words = {word for path in others for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    unread = sorted(set(tuning.THRESHOLDS) - words)
    assert not unread, f"no module reads {unread}"


def test_the_checker_sees_a_figure():
    text = """
ENTRY_SECONDS_NUMPY = 18e-9
EDGE_NS, _CALL_NS = 3, -2.5
class A:
    PARALLEL_WORK: int = 1 << 18
UNARY_NS = Namespace("unary")
seconds = 3.0
CHUNK = 1 << 16
"""
    assert list(figures_of(ast.parse(text))) == ["ENTRY_SECONDS_NUMPY", "EDGE_NS", "_CALL_NS", "PARALLEL_WORK"]
