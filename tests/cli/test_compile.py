"""`grb-tile compile`: the kernels of a list, once; what fails is named."""

import json

import pytest

from grb_tile.backends.cpu.jit import cache as jit, prebuild
from grb_tile.backends.cpu.jit.recipe import Recipe
from grb_tile.cli.main import main


@pytest.fixture
def release(tmp_path, monkeypatch):
    """A list of two kernels and of one that does not compile, and an empty cache."""
    recipes = [Recipe("vectors", {"X_ISO": True, "VALUE": char, "INDEX": "i"}) for char in "di"]
    broken = Recipe("vectors", {"X_ISO": True, "VALUE": "d", "INDEX": "i"}, {}, ["nonsense("])
    text = {"install": [recipes[0].data()], "release": [recipes[1].data(), broken.data()]}
    (tmp_path / "list.json").write_text(json.dumps(text))
    monkeypatch.setattr(prebuild, "LIST", tmp_path / "list.json")
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(jit, "_mode", "auto")
    jit.forget()
    yield tmp_path / "cache" / "cpu"
    jit.forget()


def test_kernels_are_compiled_once_and_failures_named(release, capsys):
    assert main(["compile", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["compiled"] == 2 == len(list(release.iterdir())) and facts["backend"] == "cpu"
    assert len(facts["failed"]) == 1 and "SyntaxError" in next(iter(facts["failed"].values()))
    assert main(["compile"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("0 kernels compiled for cpu") and "failed     vectors-" in out
    prebuild.LIST.write_text(json.dumps({"install": [], "release": json.loads(prebuild.LIST.read_text())["install"]}))
    jit.forget()
    assert main(["compile"]) == 0
    assert "are compiled already" in capsys.readouterr().out
