"""Mutants drawn from the syntax tree of a file: single small changes of the kinds that people make.

    python tests/mutation/run.py --generated 60 --layer core --seed 1

Lines are drawn evenly among those with something to change, then a change of the line, so that mutants are spread as
the code is. Docstrings, messages, annotations, decorators, imports and `__slots__` stay as they are.
"""

from __future__ import annotations

import ast
import collections
import copy
import dataclasses
import functools
import pathlib
import random
import re
from collections.abc import Collection, Iterator

from . import generated_kernels
from .faults import ROOT, Fault
from .lines import Record

COMPILED = "tests/algorithms/test_options_with_compiled_code.py"
ON_A_DEVICE = "tests/algorithms/test_options_on_a_device.py"
ON_RANKS = "tests/algorithms/test_options_on_ranks.py"
# of each layer, its code and the tests that should notice a mistake in it
LAYERS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "algorithms": (("algorithms", "grb_tile/graph"), ("tests/algorithms",)),
    "backends": (("grb_tile/backends/*.py",), ("tests/backends/cpu", "tests/backends/test_*.py", COMPILED)),
    "cli": (("grb_tile/cli",), ("tests/cli",)),
    "core": (("grb_tile/core", "grb_tile/config.py", "grb_tile/viz.py"), ("tests/core",)),
    "cpu": (("grb_tile/backends/cpu",), ("tests/backends/cpu", "tests/backends/test_*.py", COMPILED)),
    "cuda": (("grb_tile/backends/cuda",), ("tests/backends/cuda", ON_A_DEVICE)),
    "dist": (("grb_tile/dist",), ("tests/distributed", ON_RANKS)),
    "distributed": (("grb_tile/backends/distributed", "grb_tile/dist"), ("tests/distributed", ON_RANKS)),
    "generators": (("grb_tile/generators.py",), ("tests/generators",)),
    "graph": (("grb_tile/graph",), ("tests/algorithms",)),
    "grb": (("grb_tile/grb",), ("tests/grb",)),
    "io": (("grb_tile/io",), ("tests/io",)),
    "kernels": (("kernels",), ("tests/backends/cuda", ON_A_DEVICE)),
    "nx": (("grb_tile/nx",), ("tests/nx",)),
    "operations": (("grb_tile/operations",), ("tests/operations",)),
    "operators": (("grb_tile/operators", "grb_tile/dtypes"), ("tests/operators",)),
    "planner": (("grb_tile/planner",), ("tests/planner",)),
    "programs": (("grb_tile/programs",), ("tests/programs", "tests/backends/cuda/test_program*.py")),
    "storage": (("grb_tile/storage",), ("tests/storage",)),
}

KERNELS = "kernels"
TEMPLATES = "grb_tile/backends/cpu/templates/"

COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
EXCHANGED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}
KEPT = re.compile("cache|kept|known|memo|seen|compiled|_of$|^_?[A-Z_]+$")  # what may be asked by a key
MESSAGES = {"warn", "print", "error", "format"}  # calls whose arguments are texts for people


@dataclasses.dataclass(frozen=True)
class Mutant(Fault):
    """`before` stands at byte `start` of the file; the statement it belongs to is on `lines`."""

    start: int = 0
    line: int = 0
    lines: tuple[int, ...] = ()
    kind: str = ""
    at_import: bool = False  # outside of every function

    def planted(self, text: str) -> str:
        encoded, before = text.encode(), self.before.encode()
        if encoded[self.start : self.start + len(before)] != before:
            raise ValueError(f"{self.name}: {self.path} is not the file that it was drawn from")
        return (encoded[: self.start] + self.after.encode() + encoded[self.start + len(before) :]).decode()


class _Finder:
    """Collects the mutants of a file."""

    def __init__(self, path: str, text: str):
        self.path = path
        self.encoded = text.encode()
        self.starts = [0]
        for line in self.encoded.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutant] = []
        self.lines: tuple[int, ...] = ()
        self.functions: list[ast.AST] = []
        self.statements(ast.parse(text).body)

    def add(self, kind: str, node: ast.AST, after: str):
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        before = self.encoded[start:end].decode()
        short = [" ".join(part.split()) for part in (before, after)]
        short = [part if len(part) <= 90 else part[:60] + " ... " + part[-25:] for part in short]
        what = f"line {node.lineno}, {kind}: {short[0]}  ->  {short[1]}"
        self.found.append(
            Mutant(self.path, what, before, after, (), "", (), start, node.lineno, self.lines, kind, not self.functions)
        )

    def change(self, kind: str, node: ast.expr, **fields):
        """The expression with other fields."""
        new = copy.copy(node)
        for name, value in fields.items():
            setattr(new, name, value)
        self.add(kind, node, f"({ast.unparse(new)})")

    # statements

    def statements(self, body: list[ast.stmt]):
        for place, node in enumerate(body):
            text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not text and not isinstance(node, ast.Import | ast.ImportFrom | ast.Pass | ast.Global | ast.Nonlocal):
                self.statement(node, last=place == len(body) - 1)

    def statement(self, node: ast.stmt, last: bool):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if any("overload" in ast.unparse(decorator) for decorator in node.decorator_list):
                    return
                self.at(node, node.body[0])
                for default in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
                    self.expression(default)
                self.functions.append(node)
                self.statements(node.body)
                self.functions.pop()
            case ast.ClassDef():
                self.statements(node.body)
            case ast.If() | ast.While():
                if "TYPE_CHECKING" in ast.unparse(node.test):
                    return
                self.at(node, node.test)
                self.condition(node.test)
                if isinstance(node, ast.If):
                    self.add("condition dropped", node.test, "True")
                    if not node.orelse and isinstance(node.body[-1], ast.Return) and self.functions:
                        self.lines = tuple(range(node.body[-1].lineno, node.body[-1].end_lineno + 1))
                        self.add("early return removed", node.body[-1], "pass")
                self.statements(node.body)
                self.statements(node.orelse)
            case ast.For() | ast.AsyncFor():
                self.at(node, node.iter)
                self.expression(node.iter)
                self.statements(node.body)
                self.statements(node.orelse)
            case ast.With() | ast.AsyncWith():
                self.at(node, node.items[-1].context_expr)
                for item in node.items:
                    self.expression(item.context_expr)
                self.statements(node.body)
            case ast.Try() | ast.TryStar():
                self.statements(node.body)
                for handler in node.handlers:
                    self.statements(handler.body)
                self.statements(node.orelse)
                self.statements(node.finalbody)
            case ast.Match():
                self.at(node, node.subject)
                self.expression(node.subject)
                for case in node.cases:
                    if case.guard is not None:
                        self.lines = tuple(range(case.guard.lineno, case.guard.end_lineno + 1))
                        self.condition(case.guard)
                    self.statements(case.body)
            case _:
                self.lines = tuple(range(node.lineno, node.end_lineno + 1))
                self.simple(node, last)

    def at(self, node: ast.stmt, end: ast.AST):
        """The lines of the head of a compound statement."""
        self.lines = tuple(range(node.lineno, max(node.lineno, end.end_lineno) + 1))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self.lines = tuple(range(node.lineno, max(node.lineno + 1, end.lineno)))

    def simple(self, node: ast.stmt, last: bool):
        inside = bool(self.functions)
        match node:
            case ast.Raise():
                if inside:
                    self.add("refusal removed", node, "pass")
            case ast.Expr(value=ast.Call(func=called)):
                if inside:
                    self.add("statement removed", node, "pass")
                if ast.unparse(called).rpartition(".")[2] not in MESSAGES:
                    self.expression(node.value)
            case ast.AugAssign():
                if inside:
                    self.add("statement removed", node, "pass")
                other = {ast.Add: "-", ast.Sub: "+"}.get(type(node.op))
                if other and not _is_text(node.value):
                    target, value = ast.unparse(node.target), ast.unparse(node.value)
                    self.add("+ and -", node, f"{target} {other}= {value}")
                self.expression(node.value)
            case ast.Assign():
                names = [ast.unparse(target) for target in node.targets]
                if {"__slots__", "__all__"} & set(names):
                    return
                if inside and (self._assigned_before(node, names) or not isinstance(node.targets[0], ast.Name)):
                    if not isinstance(node.targets[0], ast.Tuple):
                        self.add("statement removed", node, "pass")
                if any("key" in name for name in names):
                    self.key(node.value)
                self.expression(node.value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.expression(node.value)
            case ast.Delete():
                if inside:
                    self.add("statement removed", node, "pass")
            case ast.Return():
                if node.value is not None:
                    if any("key" in getattr(function, "name", "") for function in self.functions[-1:]):
                        self.key(node.value)
                    self.expression(node.value)
            case ast.Break() | ast.Continue():
                if not last or isinstance(node, ast.Break):
                    self.add("statement removed", node, "pass")
            case ast.Assert():
                pass
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.expression(child)

    def _assigned_before(self, node: ast.Assign, names: list[str]) -> bool:
        """Does the function give the name a value in an earlier line, or as an argument?"""
        for other in ast.walk(self.functions[-1]):
            if isinstance(other, ast.arg) and other.arg in names:
                return True
            if isinstance(other, ast.Name) and isinstance(other.ctx, ast.Store):
                if other.id in names and other.lineno < node.lineno:
                    return True
        return False

    # expressions

    def condition(self, node: ast.expr):
        self.add("condition negated", node, f"(not ({ast.unparse(node)}))")
        self.expression(node)

    def key(self, node: ast.expr):
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            for place in range(len(node.elts)):
                rest = ast.Tuple([*node.elts[:place], *node.elts[place + 1 :]], ast.Load())
                self.add("element of a key left out", node, f"({ast.unparse(rest)})")

    def expression(self, node: ast.expr):
        match node:
            case ast.JoinedStr():
                return  # messages; and Python 3.11 has no positions in them
            case ast.Compare(ops=[operator]):
                self.change("comparison", node, ops=[COMPARED[type(operator)]()])
            case ast.Compare():
                for place, operator in enumerate(node.ops):
                    operators = [*node.ops[:place], COMPARED[type(operator)](), *node.ops[place + 1 :]]
                    self.change("comparison", node, ops=operators)
            case ast.BoolOp():
                self.change("and, or", node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
                for place in range(len(node.values)):
                    values = [*node.values[:place], *node.values[place + 1 :]]
                    if len(values) == 1:
                        self.add("condition dropped", node, f"({ast.unparse(values[0])})")
                    else:
                        self.change("condition dropped", node, values=values)
            case ast.UnaryOp(op=ast.Not()):
                self.add("condition negated", node, f"({ast.unparse(node.operand)})")
            case ast.IfExp():
                self.add("condition negated", node.test, f"(not ({ast.unparse(node.test)}))")
            case ast.BinOp(op=ast.Add() | ast.Sub()) if not _is_text(node.left) and not _is_text(node.right):
                self.change("+ and -", node, op=ast.Sub() if isinstance(node.op, ast.Add) else ast.Add())
            case ast.Subscript():
                self.subscript(node)
                return
            case ast.Call():
                self.call(node)
                return
            case ast.Constant():
                self.constant(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for generator in node.generators:
                    self.expression(generator.iter)
                    for test in generator.ifs:
                        self.add("condition dropped", test, "True")
                        self.condition(test)
                for name in ("elt", "key", "value"):
                    if hasattr(node, name):
                        self.expression(getattr(node, name))
                return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.expression(child)

    def constant(self, node: ast.Constant):
        value = node.value
        if isinstance(value, bool):
            self.add("constant", node, str(not value))
        elif isinstance(value, int):
            self.add("constant", node, f"({value + 1})")
        elif isinstance(value, float) and value:
            self.add("constant", node, repr(value * 2))

    def off_by_one(self, node: ast.expr):
        if not isinstance(node, ast.Constant):
            self.add("off by one", node, f"(({ast.unparse(node)}) + 1)")
            self.add("off by one", node, f"(({ast.unparse(node)}) - 1)")

    def subscript(self, node: ast.Subscript):
        if isinstance(node.slice, ast.Slice):
            for bound in filter(None, (node.slice.lower, node.slice.upper)):
                self.off_by_one(bound)
                self.expression(bound)
        else:
            if KEPT.search(ast.unparse(node.value)):
                self.key(node.slice)
            if not isinstance(node.slice, ast.Tuple):
                self.expression(node.slice)
        self.expression(node.value)

    def call(self, node: ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in MESSAGES or name.endswith(("Error", "Warning")):
            return
        if name in EXCHANGED:
            other = copy.copy(node.func)
            setattr(other, "id" if isinstance(other, ast.Name) else "attr", EXCHANGED[name])
            self.change("min and max, any and all", node, func=other)
        elif name == "range":
            for argument in node.args:
                self.off_by_one(argument)
        elif name not in {"isinstance", "issubclass", "getattr", "hasattr", "cast"}:
            for place in range(len(node.args) - 1):
                first, second = node.args[place : place + 2]
                texts = isinstance(first, ast.Constant) and isinstance(first.value, str)
                if type(first) is type(second) and not isinstance(first, ast.Starred) and not texts:
                    arguments = [*node.args[:place], second, first, *node.args[place + 2 :]]
                    self.change("arguments swapped", node, args=arguments)
        if name in {"get", "setdefault", "pop"} and node.args and KEPT.search(ast.unparse(node.func)):
            self.key(node.args[0])
        for place, keyword in enumerate(node.keywords):
            if keyword.arg is not None:
                rest = [*node.keywords[:place], *node.keywords[place + 1 :]]
                self.change("keyword left out", node, keywords=rest)
        self.expression(node.func)
        for argument in node.args:
            self.expression(argument)
        for keyword in node.keywords:
            self.expression(keyword.value)


def _is_text(node: ast.expr) -> bool:
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str | bytes))
        for part in ast.walk(node)
    )


def mutants_of(path: str, text: str) -> list[Mutant]:
    """All mutants of a file."""
    if path.endswith(".cuh"):
        return generated_kernels.mutants_of(path, text)
    return _Finder(path, text).found


def changes(mutant: Mutant, text: str) -> bool:
    """Is the file still Python, and not the same program? (Of C++ the compiler says.)"""
    if mutant.path.endswith(".cuh"):
        return True
    try:
        return ast.dump(ast.parse(mutant.planted(text))) != ast.dump(ast.parse(text))
    except SyntaxError:
        return False


def files_of(layer: str) -> list[str]:
    paths: list[str] = []
    for name in LAYERS[layer][0]:
        for path in sorted(ROOT.glob(name)):
            kinds = "*.cuh" if name == KERNELS else "*.py"
            paths += map(str, sorted(path.rglob(kinds)) if path.is_dir() else [path])
    return [path.removeprefix(f"{ROOT}/") for path in paths]


def tests_of(layer: str) -> list[str]:
    """What pytest is given to run the layer's tests."""
    return [str(path.relative_to(ROOT)) for pattern in LAYERS[layer][1] for path in sorted(ROOT.glob(pattern))]


def drawn(layer: str, seed: int, only: Collection[str] = ()) -> Iterator[Mutant]:
    """Mutants of the layer in the order of `seed`, one of each line; only: of these kinds."""
    chance = random.Random(f"{layer}/{seed}")
    texts = {path: (ROOT / path).read_text() for path in files_of(layer)}
    lines: dict[tuple[str, int], list[Mutant]] = collections.defaultdict(list)
    for path, text in texts.items():
        for mutant in mutants_of(path, text):
            if not only or mutant.kind in only:
                lines[path, mutant.line].append(mutant)
    places = list(lines)
    chance.shuffle(places)
    for place in places:
        kinds: dict[str, list[Mutant]] = collections.defaultdict(list)
        for mutant in lines[place]:
            kinds[mutant.kind].append(mutant)
        mutant = chance.choice(kinds[chance.choice(sorted(kinds))])
        if changes(mutant, texts[mutant.path]):
            yield mutant


@functools.cache
def uses_of(template: str) -> list[tuple[str, range]]:
    """(path, lines) of the functions of the CPU backend that name the template, or one that imports it."""
    found = []
    for path in files_of("cpu"):
        text = (ROOT / path).read_text()
        if path.startswith(TEMPLATES) and f".{template} import" in text:
            found += uses_of(pathlib.PurePath(path).stem)
        if f'"{template}"' in text:
            for node in ast.walk(ast.parse(text)):
                constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
                if isinstance(node, ast.FunctionDef) and template in constants:
                    found.append((path, range(node.body[0].lineno, node.end_lineno + 1)))
    return found


def with_tests(mutant: Mutant, record: Record) -> Mutant:
    """The mutant with the tests of its layer that execute its line."""
    if mutant.path.endswith(".cuh"):
        names = generated_kernels.tests_of(mutant.path, mutant.line, record)
    elif mutant.path.startswith(TEMPLATES):  # Numba compiles it: no line is traced
        uses = uses_of(pathlib.PurePath(mutant.path).stem)
        names = record.in_order(list({name for path, lines in uses for name in record.tests_of(path, lines)}))
    else:
        names = record.tests_of(mutant.path, mutant.lines, mutant.at_import)
    files = dict.fromkeys(name.partition("::")[0] for name in names)
    return dataclasses.replace(mutant, tests=tuple(files), chosen=tuple(names))
