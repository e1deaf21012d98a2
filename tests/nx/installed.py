"""The entry points of pyproject.toml for a checkout that is not installed: the metadata that an install makes."""

import importlib.metadata
import os
import pathlib
import shutil
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def write_metadata(folder):
    """What goes on PYTHONPATH: a .dist-info with the entry points for NetworkX, and the package that one names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = pathlib.Path(folder) / f"grb_tile-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    shutil.copytree(ROOT / "grb_tile" / "nx" / "info", pathlib.Path(folder) / "_grb_tile_nx")


def environment(folder, **more):
    """Environment variables with which a Python finds the checkout and its entry points."""
    write_metadata(folder)
    path = [str(folder), str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NETWORKX_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(path), **more}


def register():
    """Make the backend known to NetworkX in this process, where no install has done so."""
    import networkx as nx
    from networkx.utils import backends

    if "grb_tile" in backends.backends:
        return
    from grb_tile.nx.info import get_info

    value = "grb_tile.nx.interface:backend"
    info = get_info()
    backends.backends["grb_tile"] = importlib.metadata.EntryPoint("grb_tile", value, "networkx.backends")
    backends.backend_info["grb_tile"] = info
    settings = nx.utils.Config(**info["default_config"])
    nx.config.backends = nx.utils.Config(grb_tile=settings, **nx.config.backends)
