"""operations/write.py is the only file that knows what an accumulator and replace mean: others hand a Descriptor on."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = [
    path
    for folder in ("operations", "core")
    for path in sorted((ROOT / "grb_tile" / folder).rglob("*.py"))
    if path.name != "write.py"
]
# Entrances, which make a Descriptor of arguments or a text of a Descriptor: file -> functions.
ENTRANCES = {
    "grb_tile/core/updater.py": {"__init__", "kwargs", "_assign", "make_updater", "_refuse_masks", "_to_expression"},
    "grb_tile/core/scalar.py": {"_update"},
    "grb_tile/core/recorder.py": {"texts_of"},
    "grb_tile/core/assign.py": {"_note"},
    "grb_tile/core/matrix.py": {"setdiag"},
    "grb_tile/core/recipes.py": {"setdiag"},
    "grb_tile/core/stored.py": {"_accumulate_element"},
    "grb_tile/core/elements.py": {"folded", "accumulate", "_fold_accumulations"},  # pending sums of single elements
}


def readers_of(path):
    """Functions that name `accum` or `replace` as a parameter, a variable or an attribute; methods of text apart."""
    functions = [
        n
        for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    for function in functions:
        called = {id(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
        for node in ast.walk(function):
            name = getattr(node, "arg", getattr(node, "id", getattr(node, "attr", None)))
            if name in ("accum", "replace") and not isinstance(node, ast.keyword) and id(node) not in called:
                yield function.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_the_write_step_knows_accumulator_and_replace(path):
    readers = set(readers_of(path)) - {"notation"}  # texts of calls
    assert readers == ENTRANCES.get(path.relative_to(ROOT).as_posix(), set())


def test_the_check_sees_a_reader(tmp_path):
    path = tmp_path / "some.py"
    path.write_text(
        "def f(desc, text):\n    text.replace('a', 'b')\n    return desc.accum\ndef g(x): return h(accum=x)\n"
    )
    assert set(readers_of(path)) == {"f"}
