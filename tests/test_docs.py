"""The docs site: every public name has a place in the API reference, and docstrings become valid reStructuredText.

The site itself is built in .ci/run, where a warning of Sphinx is an error.
"""

import importlib
import pathlib
import re
import sys

import pytest

import grb_tile

ROOT = pathlib.Path(__file__).resolve().parent.parent
API = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "api").glob("*.md"))}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Names of grb_tile without a page of their own: the layers below the public objects, and what a page names in passing.
NO_PAGE = {"MAX_SIZE", "backend", "core", "init", "kernels", "operations", "replace", "ss", "storage"}


def test_every_page_is_in_the_table_of_contents():
    listed = set(re.findall(r"^(\w+)$", API["index"].split("```{toctree}")[1], re.M))
    assert listed == set(API) - {"index"}


def test_every_public_name_has_a_place():
    text = "\n".join(API.values())
    names = set(grb_tile.__all__) | set(grb_tile._MODULES) | set(grb_tile._FUNCTIONS)
    absent = {name for name in names - NO_PAGE if not re.search(rf"grb_tile\.{name}\b|-(table|names)}} {name}\b", text)}
    assert not absent, f"no place in docs/api for {sorted(absent)}"


def test_documented_objects_exist():
    for name in re.findall(r"auto(?:class|function|module):: (\S+)", "\n".join(API.values())):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            module, _, attribute = name.rpartition(".")
            assert hasattr(importlib.import_module(module), attribute), name


@pytest.mark.parametrize("page", ["algorithms", "io"])
def test_exceptions_come_last_on_their_page(page):
    """autodoc alone puts them before the functions."""
    module = importlib.import_module(f"grb_tile.{page}")
    members = {name: getattr(module, name) for name in module.__all__}
    raised = {name for name, x in members.items() if isinstance(x, type) and issubclass(x, Exception)}
    above, _, below = API[page].partition("## Exceptions")
    assert set(re.search(r":exclude-members: (.+)", above)[1].split(", ")) == raised
    assert set(re.findall(rf"autoexception:: grb_tile\.{page}\.(\w+)", below)) == raised


def test_long_lines_of_code_are_wrapped():
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    (name,) = re.search(r'html_css_files = \["(.+)"\]', conf).groups()
    assert "white-space: pre-wrap" in (ROOT / "docs" / "_static" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_name_files_that_exist(path):
    """A file that `grb-tile` is given on a page comes with the project, or the page writes it."""
    text = path.read_text(encoding="utf-8")
    for line in re.findall(r"^(?:.* )?(?:\S*/)?grb-tile [a-z].*$", text, re.M):
        for name in re.findall(r"\S+\.(?:mtx|csv|tsv|txt|grb|npz)(?:\.gz)?\b", line.partition("#")[0]):
            assert (ROOT / name).exists() or f'write("{name}"' in text, f"{path.name}: {line}"


@pytest.fixture
def to_rst(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "extensions"))
    yield lambda text: "\n".join(importlib.import_module("plain_docstrings").to_rst(text.splitlines()))
    sys.modules.pop("plain_docstrings", None)


def test_formulas_are_escaped(to_rst):
    assert to_rst("C<M> = A * B | x_") == "C\\<M\\> = A \\* B \\| x\\_\n"


def test_code_stays_code(to_rst):
    assert to_rst("see `A | B` there") == "see \\ ``A | B``\\  there\n"


def test_indented_lines_are_literal(to_rst):
    assert to_rst("so:\n    w = A*x\n") == "so:\n\n::\n\n    w = A*x\n"


def test_examples_stay(to_rst):
    assert to_rst("sum\n\n>>> 1 + 1\n2\n\nend") == "sum\n\n>>> 1 + 1\n2\n\nend\n"


def test_labels_and_parameters_begin_paragraphs(to_rst):
    assert to_rst("One.\nRaises: it does.\nCost: none.") == "One.\n\n**Raises:** it does.\n\n**Cost:** none.\n"
    assert to_rst("One.\ndup_op: combines.\nand so on: two") == "One.\n\ndup\\_op: combines.\nand so on: two\n"


def test_lists_become_lists(to_rst):
    assert to_rst("- one\n  more\n- two") == "- one more\n\n- two\n"
