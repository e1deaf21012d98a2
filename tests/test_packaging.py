"""pyproject.toml lists the packages of the tree; the source distribution and the wheel built from it are complete."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAPPED = {"kernels": "grb_tile.kernels", "algorithms": "grb_tile.algorithms"}
# installed a second time outside grb_tile, so that they are imported without it
TWICE = {"grb_tile/cli/start": "_grb_tile_cli", "grb_tile/nx/info": "_grb_tile_nx"}
PROJECT_FILES = (
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml",
    "setup.py",
)  # fmt: skip
TOP = ("grb_tile", *MAPPED)
PROJECT_FOLDERS = (*TOP, "docs", "examples", "tests", ".ci")
PACKAGE_FILES = {".py", ".cuh", ".cu", ".typed", ".json", ".xz"}


def packages_in_the_tree():
    found = set(TWICE.values())
    for top in TOP:
        for init in (ROOT / top).rglob("__init__.py"):
            parts = init.parent.relative_to(ROOT).parts
            found.add(".".join((MAPPED[top], *parts[1:]) if top in MAPPED else parts))
    return found


def installed_paths(path):
    """Where a source file is installed."""
    parts = path.relative_to(ROOT).parts
    yield "/".join(("grb_tile", *parts) if parts[0] in MAPPED else parts)
    for folder, name in TWICE.items():
        if path.is_relative_to(ROOT / folder):
            yield f"{name}/{path.relative_to(ROOT / folder).as_posix()}"


def source_files():
    for top in TOP:
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and path.suffix in PACKAGE_FILES:
                yield path


def test_the_package_list_is_the_tree():
    assert set(PYPROJECT["tool"]["setuptools"]["packages"]) == packages_in_the_tree()


def test_every_python_file_lies_in_a_package():
    outside = [
        str(p.relative_to(ROOT))
        for p in source_files()
        if p.suffix == ".py" and not (p.parent / "__init__.py").exists()
    ]
    assert not outside, f"no __init__.py beside {outside}: a wheel would drop them"


def test_the_version_is_said_once():
    import grb_tile

    assert grb_tile.__version__ == PYPROJECT["project"]["version"]


def test_the_version_is_the_same_elsewhere():
    version = PYPROJECT["project"]["version"]
    assert f'version: "{version}"' in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_workflow_runs_every_python_that_is_promised():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    start = "Programming Language :: Python :: 3."
    promised = [c.rpartition(" ")[2] for c in PYPROJECT["project"]["classifiers"] if c.startswith(start)]
    assert f"python: [{', '.join(map(repr, promised))}]".replace("'", '"') in workflow
    assert f"for version in {' '.join(promised)};" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_command_exists():
    import importlib

    module, function = PYPROJECT["project"]["scripts"]["grb-tile"].split(":")
    module = next(folder for folder, name in TWICE.items() if name == module).replace("/", ".")
    assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("name", sorted(MAPPED))
def test_mapped_folders_refuse_a_second_import(name):
    """`import kernels` in a checkout would make a second copy of every module beside grb_tile.kernels."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {name}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/")
    assert run.returncode != 0
    assert "ImportError" in run.stderr and MAPPED[name] in run.stderr


@pytest.fixture(scope="module")
def source_distribution(tmp_path_factory):
    """The sdist, built from a copy of the checkout so that the checkout gains no build/ folder."""
    copy = tmp_path_factory.mktemp("sources")
    for name in PROJECT_FILES:
        shutil.copy(ROOT / name, copy / name)
    for name in PROJECT_FOLDERS:
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "_build", "cache"))
    target = tmp_path_factory.mktemp("sdist")
    program = f"from setuptools import build_meta; build_meta.build_sdist({str(target)!r})"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=copy)
    assert run.returncode == 0, run.stdout + run.stderr
    (path,) = target.glob("*.tar.gz")
    return path


@pytest.fixture(scope="module")
def wheel(source_distribution, tmp_path_factory):
    """The wheel, built from the sdist, without kernels compiled ahead of time."""
    target = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "-q", "-w", str(target)]
    command = [sys.executable, "-m", "pip", "wheel", *options, str(source_distribution)]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "GRB_TILE_PREBUILD": "0"})
    assert run.returncode == 0, run.stdout + run.stderr
    (path,) = target.glob("*.whl")
    return path


def test_the_source_distribution_holds_the_checkout(source_distribution):
    with tarfile.open(source_distribution) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    missing = {str(path.relative_to(ROOT)) for path in source_files()} - inside
    assert not missing
    assert set(PROJECT_FILES) <= inside
    for folder in ("docs", "examples", "tests"):
        files = {str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob("*") if p.suffix in (".py", ".md", ".h", ".e")}
        assert {name for name in files if "/_build/" not in name and "/cache/" not in name} <= inside


def test_the_wheel_holds_every_source_file(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == {place for path in source_files() for place in installed_paths(path)}
    assert "grb_tile/py.typed" in inside


def test_the_wheel_names_its_command_and_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        entry_points = archive.read(next(n for n in names if n.endswith("entry_points.txt"))).decode()
        metadata = archive.read(next(n for n in names if n.endswith("METADATA"))).decode()
    assert "grb-tile = _grb_tile_cli:main" in entry_points
    assert "[networkx.backends]\ngrb_tile = grb_tile.nx.interface:backend" in entry_points
    assert "[networkx.backend_info]\ngrb_tile = _grb_tile_nx:get_info" in entry_points
    assert "Requires-Python: >=3.11" in metadata
    assert "License-Expression: Apache-2.0" in metadata
    assert any(name.endswith("licenses/LICENSE") for name in names)
    for requirement in PYPROJECT["project"]["dependencies"]:
        assert f"Requires-Dist: {requirement}" in metadata
