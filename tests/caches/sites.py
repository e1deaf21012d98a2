"""Where the source keeps something for the next call: found in the syntax trees, so that a new place is noticed.

A site is a function that reads or writes forms kept with a store (`forms_of`), keeps an object with the device
(`kept`), as a property of a matrix (`keep`, `cached`), or is cached (`lru_cache`, `cache`), and a module's `memo()`,
`Bound()` or dictionary of kernels.
"""

import ast
import functools
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEEPING = {"forms_of", "memo", "Bound", "kept", "keep", "cached", "WeakValueDictionary", "WeakKeyDictionary"}
CACHED = {"cache", "lru_cache"}


def name_of(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def sites_of(text):
    """Qualified names of the sites of a module's text; "" for the module itself."""
    found = set()

    def walk(node, names):
        for child in ast.iter_child_nodes(node):
            inside = names
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                inside = [*names, child.name]
                calls = [d.func if isinstance(d, ast.Call) else d for d in child.decorator_list]
                if CACHED & set(map(name_of, calls)):
                    found.add(".".join(inside))
            if isinstance(child, ast.Call) and name_of(child.func) in KEEPING:
                found.add(".".join(inside))
            if not names and isinstance(child, (ast.Assign, ast.AnnAssign)) and isinstance(child.value, ast.Dict):
                target = child.targets[0] if isinstance(child, ast.Assign) else child.target
                if not child.value.keys and name_of(target).startswith("_"):
                    found.add(f"{name_of(target)} = {{}}")  # an empty dictionary of the module, filled by calls
            walk(child, inside)

    walk(ast.parse(text), [])
    return found


@functools.cache
def all_sites():
    """{"backends/cuda/products/spmm.py: long_rows", ...} of grb_tile, and of algorithms."""
    found = set()
    for folder in (ROOT / "grb_tile", ROOT / "algorithms"):
        for path in folder.rglob("*.py"):
            name = path.relative_to(ROOT).as_posix().removeprefix("grb_tile/")
            found |= {f"{name}: {site}".removesuffix(": ") for site in sites_of(path.read_text())}
    return found
