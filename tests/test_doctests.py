"""Every example in a docstring, in the README and in docs/ runs.

Docstrings take `import grb_tile as gb` for granted. Modules are imported by
name, as users do: collecting files would import kernels/ and algorithms/ a second time.
"""

import doctest
import importlib
import pathlib
import re

import pytest
from nx import installed

import grb_tile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def module_names():
    for folder in ("grb_tile", "algorithms", "kernels"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = list(path.relative_to(ROOT).with_suffix("").parts)
            if parts[0] != "grb_tile":
                parts.insert(0, "grb_tile")
            if parts[-1] == "__init__":
                parts.pop()
            if re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.M):
                yield ".".join(parts)


def documents():
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [path for path in found if ">>>" in path.read_text(encoding="utf-8")]


def run(tests):
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    report = []
    for test in tests:
        runner.run(test, out=report.append)
    failed, attempted = runner.failures, runner.tries
    assert not failed, "".join(report)
    return attempted


@pytest.mark.parametrize("name", list(module_names()))
def test_docstring_examples(name):
    module = importlib.import_module(name)
    found = doctest.DocTestFinder(exclude_empty=True).find(module, name, extraglobs={"gb": grb_tile})
    attempted = run(found)
    assert attempted, f"{name} has '>>>' in it, but no example was found: is it in a docstring?"


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_document_examples(path, tmp_path, monkeypatch):
    if path.name in ("RECIPES.md", "TUTORIAL.md"):  # they write files
        monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    # a fence right after an expected output would be read as part of it
    text = "\n".join("" if line.startswith("```") else line for line in text.splitlines())
    if path.name == "NETWORKX.md":
        installed.register()  # a checkout that is not installed has no entry points
    assert run([doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)])


def test_a_wrong_example_fails():
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, 0)
    with pytest.raises(AssertionError):
        run([wrong])
