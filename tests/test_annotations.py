"""Public functions have annotations: of the protocol, core, algorithms and io.  mypy checks them in .ci/run."""

import ast
import pathlib
import runpy

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Of core, the modules whose methods users call.
CORE = """
aggregate base collection expression indexed mask matrix matrix_build matrix_export matrix_operations recorder scalar
stored transposed updater vector
""".split()
FILES = [ROOT / "grb_tile" / name for name in ("backends/protocol.py", "config.py", "backends/graph.py")]
FILES += [ROOT / "grb_tile" / "core" / f"{name}.py" for name in CORE]
FILES += [path for folder in ("grb_tile/io", "algorithms") for path in sorted((ROOT / folder).rglob("*.py"))]
CALLED = {"__init__", "__call__"}  # with the names without an underscore, what users call
CONSTRUCTED = {"Matrix", "Vector", "Scalar", "Recorder"}  # the classes of core that users call
INTERNAL = {"ScalarRecord", "TypedAggregator", "Aggregate"}  # classes of core that users do not meet


def public_functions(tree):
    """(name, node) of the public functions, and of the public methods of public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and (method.name in CALLED or not method.name.startswith("_")):
                    yield f"{node.name}.{method.name}", method


def concerns_users(name, path):
    """Is it more than core's own?  Functions of core and constructors of expressions are called by core alone."""
    if path.parent.name != "core":
        return True
    owner, _, method = name.partition(".")
    return bool(method) and owner not in INTERNAL and (method != "__init__" or owner in CONSTRUCTED)


def is_annotated(function, is_method):
    """Are the result and all parameters annotated?  A method's first parameter needs nothing."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args]
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    if is_method and not static:
        named = named[1:]
    named += [*arguments.kwonlyargs, *(a for a in (arguments.vararg, arguments.kwarg) if a is not None)]
    return function.returns is not None and all(a.annotation is not None for a in named)


def lacking(text):
    """Names of the public functions in a source text that are not annotated."""
    return [name for name, node in public_functions(ast.parse(text)) if not is_annotated(node, "." in name)]


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_public_functions_are_annotated(path):
    found = [name for name in lacking(path.read_text(encoding="utf-8")) if concerns_users(name, path)]
    assert not found, f"annotate parameters and results of {', '.join(found)}"


def test_what_counts_as_annotated():
    assert lacking("def f(x: int) -> int: ...") == []
    assert lacking("def f(x) -> int: ...\ndef g(x: int): ...\ndef _h(x): ...") == ["f", "g"]
    method = "class C:\n    def m(self, *, k=1) -> int: ...\n    def __init__(self): ..."
    assert lacking(method) == ["C.m", "C.__init__"]


def test_the_program_of_a_user_runs(capsys):
    runpy.run_path(str(ROOT / "tests" / "annotations" / "user_program.py"))
    assert "matvec" in capsys.readouterr().out


def test_type_checkers_are_told_of_the_annotations():
    assert (ROOT / "grb_tile" / "py.typed").exists()
