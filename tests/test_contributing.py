"""The examples of CONTRIBUTING.md: each section is applied to a copy of the checkout and run there; its paths exist.

A caption says what the code block below it is:

    In `path`, below `text`:      the block is inserted below (or above) the one line of the file that begins with text
    New file `path`:              the block is that file
    This runs:                    the block is an example for doctest
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COPIED = ("grb_tile", "kernels", "algorithms", "tests/backends", "tests/cuda_emulation", "tests/support")
BLOCK = re.compile(r"^(?P<caption>(?:In|New file|This runs)\b[^\n]*):\n\n```\w+\n(?P<code>.*?)^```$", re.M | re.S)
INSERTED = re.compile(r"In `(?P<path>[^`]+)`, (?P<side>below|above) `(?P<line>[^`]+)`")
CREATED = re.compile(r"New file `(?P<path>[^`]+)`")
RUN = """
import doctest, sys
text = open(sys.argv[1], encoding="utf-8").read()
test = doctest.DocTestParser().get_doctest(text, {}, "CONTRIBUTING.md", "CONTRIBUTING.md", 0)
runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
runner.run(test)
sys.exit(runner.failures or not runner.tries)
"""


def sections():
    """{title: text} of the sections that hold an example."""
    parts = re.split(r"^## (.+)\n", TEXT, flags=re.M)
    return {title: text for title, text in zip(parts[1::2], parts[2::2], strict=True) if BLOCK.search(text)}


def insert(path, side, beginning, code):
    """Put `code` below or above the one line that begins with `beginning`, indentation apart."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    found = [k for k, line in enumerate(lines) if line.strip().startswith(beginning)]
    assert len(found) == 1, f"{path}: {len(found)} lines begin with {beginning!r}"
    lines.insert(found[0] + (side == "below"), code)
    path.write_text("".join(lines), encoding="utf-8")


def apply(caption, code, copy):
    """Do what the caption says; the code itself for "This runs", else None."""
    inserted, created = INSERTED.fullmatch(caption), CREATED.fullmatch(caption)
    if inserted:
        insert(copy / inserted["path"], inserted["side"], inserted["line"], code)
    elif created:
        path = copy / created["path"]
        assert not (ROOT / created["path"]).exists(), f"{created['path']} exists: the example needs another name"
        path.parent.mkdir(exist_ok=True)
        path.write_text(code, encoding="utf-8")
    else:
        assert caption == "This runs", caption
        return code
    return None


def needs(code):
    """Skip what this machine cannot run."""
    if "EmulatedLauncher" in code and shutil.which("g++") is None:
        pytest.skip("the CPU emulation needs g++")
    if "compile_cubin" in code and find_spec("cupy") is None:
        pytest.skip("NVRTC comes with CuPy")


@pytest.mark.parametrize("title", list(sections()))
def test_example(title, tmp_path):
    copy = tmp_path / "checkout"
    for folder in COPIED:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    ran = 0
    for block in BLOCK.finditer(sections()[title]):
        code = apply(block["caption"], block["code"], copy)
        if code is None:
            continue
        needs(code)
        example = tmp_path / "example.txt"
        example.write_text(code, encoding="utf-8")
        environment = dict(os.environ, PYTHONPATH=f"{copy}{os.pathsep}{copy / 'tests'}")
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(example)], capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, done.stdout + done.stderr
        ran += 1
    assert ran


def test_each_kind_has_an_example():
    kinds = ("an operator", "an algorithm", "a primitive", "a kernel", "a storage form", "a backend")
    assert set(sections()) == {f"Add {kind}" for kind in kinds}


def test_paths_exist():
    """Every path in code font that begins with a folder of the checkout, unless an example makes it."""
    made = {block["path"] for block in CREATED.finditer(TEXT)} | {"tests/algorithms/test_neighbour_degree.py"}
    folders = "grb_tile|kernels|algorithms|tests|docs|examples|.ci"
    named = set(re.findall(rf"`((?:{folders})/[\w./]*|[\w-]+\.(?:md|toml))`", TEXT))
    named |= {target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", TEXT)} - {""}
    missing = sorted(name for name in named - made if not (ROOT / name).exists())
    assert len(named) > 20
    assert not missing, f"CONTRIBUTING.md names what does not exist: {missing}"


def test_links_within_the_page():
    titles = re.findall(r"^#+ (.+)$", TEXT, re.M)
    headings = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    assert set(re.findall(r"\]\(#([^)]+)\)", TEXT)) <= headings
