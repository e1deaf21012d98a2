"""The rules of docs/ARCHITECTURE.md that a machine can hold: imports go downwards, files stay short, names say
something.

Imports are read with ast, those inside functions too: hiding an upward import in a function does not make it downward.
"""

import ast
import functools
import pathlib
import re
from typing import NamedTuple

import networkx
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE_FOLDERS = ("grb_tile", "kernels", "algorithms")
LINE_LIMIT = 500
WIDTH_LIMIT = 120

# Lowest first; a module may import its own layer and those below it.
LAYERS = (
    ("exceptions", "config", "dtypes", "terminal", "hashing", "spelling", "community_rounds"),
    ("kernels",),
    ("operators",),
    ("unary", "binary", "indexunary", "select", "monoid", "semiring", "op"),
    ("storage",),
    ("planner",),
    ("backends",),
    ("operations",),
    ("core", "graph", "programs", "memory", "deprecated", "rowwise", "sequential"),
    ("io", "grb", "viz", "ss", "agg", "generators", "edge_draws", "algorithms", "fused", "dist"),
    ("nx", "cli", "__main__", "run"),
    ("grb_tile",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ABOVE_CORE = RANK["io"]

# Upward imports that are meant, each with its reason: (importing module, imported layer) -> why.
UPWARD = {
    ("grb_tile.core.ss.serialize", "io"): "`A.ss.serialize()` writes the file format of io, as python-graphblas's does",
}

# Modules that name Numba and friends at module level, each with its reason: path prefix -> why.
HEAVY = {"numba", "cupy", "cupyx", "cupy_backends", "scipy", "pandas", "matplotlib", "networkx", "mpi4py"}
HEAVY_AT_MODULE_LEVEL = {
    "grb_tile/backends/cpu/jit/compile.py": "only the compiler process imports it",
    "grb_tile/backends/distributed/mpi.py": "only `connect` imports it, where MPI has started several ranks",
    "grb_tile/nx/": "only NetworkX imports it",
}


EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
# The exception: path -> why.
NAMED_BY_OTHERS = {"grb_tile/core/utils.py": "programs written for python-graphblas import `core.utils`"}


def python_files(*folders):
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


SOURCES = python_files(*SOURCE_FOLDERS)
KERNELS = sorted((ROOT / "kernels").rglob("*.cu*"))
EMULATION = sorted(path for path in (ROOT / "tests" / "cuda_emulation").iterdir() if path.suffix in (".h", ".cpp"))
SHORT_FILES = SOURCES + python_files("tests") + KERNELS
WIDTH_LIMITED = SHORT_FILES + EMULATION


def name_of(path):
    return str(path.relative_to(ROOT))


def module_of(path):
    """Dotted name a source file is imported under: kernels/ and algorithms/ live inside grb_tile."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    if parts[0] != "grb_tile":
        parts.insert(0, "grb_tile")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in SOURCES}


@functools.cache
def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


class Import(NamedTuple):
    """An import of a module of grb_tile, at any depth of a file."""

    target: str
    line: int
    in_function: bool
    for_types: bool  # under `if TYPE_CHECKING:`


def for_type_checkers(node):
    return isinstance(node, ast.If) and ast.unparse(node.test).removeprefix("typing.").strip("_") == "TYPE_CHECKING"


def imports_in(node, package, in_function=False, for_types=False):
    """The imports of a syntax tree whose file is in the package; `import_module` with a literal name is one."""
    found = []
    if isinstance(node, ast.Import):
        found = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = package[: len(package) - node.level + 1] if node.level else []
        origin = ".".join([*base, *([node.module] if node.module else [])])
        found = [full if (full := f"{origin}.{alias.name}") in MODULES else origin for alias in node.names]
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
        if node.args and isinstance(node.args[0], ast.Constant):
            name = node.args[0].value
            above = len(name) - len(name.lstrip("."))
            found = [".".join([*(package[: len(package) - above + 1] if above else []), name.lstrip(".")])]
    yield from (Import(x, node.lineno, in_function, for_types) for x in found if x.split(".")[0] == "grb_tile")
    in_function = in_function or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    types_alone = node.body if for_type_checkers(node) else []
    for child in ast.iter_child_nodes(node):
        yield from imports_in(child, package, in_function, for_types or child in types_alone)


@functools.cache
def imports_of(path, tree=None):
    """The imports of a file of grb_tile, those of `tree` in its place."""
    package = module_of(path).split(".")
    return list(imports_in(tree or parse(path), package if path.name == "__init__.py" else package[:-1]))


def layer_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "grb_tile"


def test_every_module_belongs_to_a_layer():
    unknown = sorted({layer_of(module) for module in MODULES} - set(RANK))
    assert not unknown, f"no layer in tests/test_architecture.py for {unknown}"


def test_imports_go_downwards():
    upward = []
    for module, path in MODULES.items():
        layer = layer_of(module)
        for found in imports_of(path):
            above = layer_of(found.target)
            if above == "grb_tile" and RANK[layer] >= ABOVE_CORE:
                continue  # what lies above core may use the public names
            if RANK.get(above, 0) > RANK[layer] and (module, above) not in UPWARD:
                upward.append(f"{name_of(path)}:{found.line} imports {found.target} ({above} lies above {layer})")
    assert not upward, "\n".join(upward)


def test_allowed_upward_imports_are_still_needed():
    used = set()
    for path in SOURCES:
        module = module_of(path)
        used |= {(module, layer_of(found.target)) for found in imports_of(path)}
    assert not set(UPWARD) - used, "remove these from UPWARD"


# ---------------------------------------------------------------- no circles


def circles(graph):
    """The strongly connected components of more than one node.  graph: {node: nodes that it imports}."""
    made = networkx.DiGraph((node, target) for node, targets in graph.items() for target in targets)
    return [circle for circle in networkx.strongly_connected_components(made) if len(circle) > 1]


# Imports that close a circle and are meant, each with its reason: (importing module, imported one) -> why.
CIRCULAR = {
    (
        "grb_tile.core.ss.serialize",
        "grb_tile.io.serialize",
    ): "`A.ss.serialize()` writes the file format of io, which makes Matrix and Vector; loaded by the first call",
    ("grb_tile.core.ss.serialize", "grb_tile.io.suitesparse_blob"): "the same, for the blobs of SuiteSparse",
}


# Layers whose modules may import each other under TYPE_CHECKING: layer -> why.
CIRCULAR_TYPES = {
    "core": "signatures name each other's classes: a Vector makes matrices, a Matrix vectors, both make expressions"
}


def import_graph(circular_types=False):
    """{module: modules that it imports}, at module level, inside functions and for type checkers alone.

    The package's __init__ is left out: it imports config, and its __getattr__ the module that a public name is in.
    """
    graph = {"grb_tile": {"grb_tile.config"}}
    for module, path in MODULES.items() - {("grb_tile", MODULES["grb_tile"])}:
        layer, graph[module] = layer_of(module), set()
        for found in imports_of(path):
            meant = found.for_types and layer in CIRCULAR_TYPES and layer == layer_of(found.target)
            if found.target in MODULES and found.target not in ("grb_tile", module) and (circular_types or not meant):
                graph[module].add(found.target)
    return graph


def test_imports_make_no_circle():
    """Each module can be read, and tested, before those that import it."""
    graph = import_graph()
    for module, target in CIRCULAR:
        graph[module].remove(target)
    assert not circles(graph), [sorted(circle) for circle in circles(graph)]
    for module, target in CIRCULAR:
        assert circles(graph | {module: graph[module] | {target}}), f"remove {module}, {target} from CIRCULAR"


def test_circles_of_annotations_are_still_there():
    graph = import_graph(circular_types=True)
    for module, target in CIRCULAR:
        graph[module].remove(target)
    found = [{layer_of(module) for module in circle} for circle in circles(graph)]
    assert found == [{layer} for layer in CIRCULAR_TYPES], "one circle for each layer of CIRCULAR_TYPES"


# Imports inside functions of core and operators, each with its reason: (importing module, imported one) -> why.
INSIDE_FUNCTIONS = {
    (
        "grb_tile.core.base",
        "grb_tile.core.ss",
    ): "start-up: `.ss` is loaded by the first use of it (12 ms with its formats)",
    ("grb_tile.core.calls", "grb_tile.core.aggregate"): "start-up: aggregators are made by the first use of one",
    ("grb_tile.core.collection", "grb_tile.core.aggregate"): "start-up: aggregators are made by the first use of one",
    ("grb_tile.core.stored", "grb_tile.storage.report"): "start-up: the report loads the tile forms (8 ms)",
    ("grb_tile.core.ss.serialize", "grb_tile.io.serialize"): "see CIRCULAR",
    ("grb_tile.core.ss.serialize", "grb_tile.io.suitesparse_blob"): "see CIRCULAR",
}


def test_core_and_operators_import_at_the_top():
    """An import inside a function is for start-up: heavy packages (HEAVY), and what INSIDE_FUNCTIONS lists."""
    found = {
        (module, found.target)
        for module, path in MODULES.items()
        if layer_of(module) in ("core", "operators")
        for found in imports_of(path)
        if found.in_function and found.target in MODULES
    }
    assert found == set(INSIDE_FUNCTIONS), found ^ set(INSIDE_FUNCTIONS)


def test_the_checker_sees_a_circle():
    text = """
from typing import TYPE_CHECKING
from . import recorder
if TYPE_CHECKING:
    from .vector import Vector
else:
    from .mask import Mask
def f():
    from .matrix import Matrix
    return import_module("..io.serialize", __name__), import_module("grb_tile.ss")
"""
    found = imports_in(ast.parse(text), ["grb_tile", "core"])
    assert [(target, *where) for target, _, *where in found if target in MODULES] == [
        ("grb_tile.core.recorder", False, False),
        ("grb_tile.core.vector", False, True),
        ("grb_tile.core.mask", False, False),
        ("grb_tile.core.matrix", True, False),
        ("grb_tile.io.serialize", True, False),
        ("grb_tile.ss", True, False),
    ]
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b", "e"}, "e": set()}) == [set("bcd")]
    assert not circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})


def module_level(tree):
    """Statements that run at import: those of the module, and of its if, try and with blocks."""
    waiting = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            waiting += [n for n in ast.iter_child_nodes(node) if isinstance(n, (ast.stmt, ast.ExceptHandler))]
        elif isinstance(node, ast.ExceptHandler):
            waiting += node.body
        else:
            yield node


def test_heavy_packages_are_imported_inside_functions():
    found = []
    for path in SOURCES:
        if name_of(path).startswith(tuple(HEAVY_AT_MODULE_LEVEL)):
            continue
        for node in module_level(parse(path)):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            else:
                continue
            found += [f"{name_of(path)}:{node.lineno} imports {n}" for n in names if n.split(".")[0] in HEAVY]
    assert not found, "\n".join(found)


def test_algorithms_speak_graphblas_only():
    """An algorithm calls GraphBLAS; storage, backends and plans are decided below it."""
    hidden = {"storage", "backends", "planner", "kernels"}
    found = [
        f"{name_of(path)}:{found.line} imports {found.target}"
        for path in python_files("algorithms")
        for found in imports_of(path)
        if layer_of(found.target) in hidden
    ]
    assert not found, "\n".join(found)


# What lies above backends/ may import: the choice of a backend, and the protocol.
NEUTRAL = {f"grb_tile.backends{name}" for name in ("", ".select", ".protocol", ".outcome")}
# which ranks a launcher has started: above backends, the command that starts them asks
NEUTRAL |= {f"grb_tile.backends.distributed.{name}" for name in ("connect", "environment", "loopback")}
ABOVE_BACKENDS = [path for path in SOURCES if RANK[layer_of(module_of(path))] > RANK["backends"]]


def imported_backends(path, tree):
    """Imports of a concrete backend, with the line."""
    for found in imports_of(path, tree):
        if layer_of(found.target) == "backends" and found.target not in NEUTRAL:
            yield found.line, f"imports {found.target}"


def is_backend(node):
    """Is it an expression for a backend, as this project writes them: `backend`, current(), select.named(...)?"""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        return name in ("current", "named")
    return isinstance(node, ast.Name) and node.id == "backend"


def questions_to_backends(tree):
    """Where code reads whether a backend is on a device, which device, or compares its name, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            if node.attr == "on_device" and not (isinstance(node.value, ast.Name) and node.value.id == "select"):
                yield node.lineno, "reads on_device"
            if node.attr in ("device", "detours") and is_backend(node.value):
                yield node.lineno, f"reads a backend's {node.attr}"
        elif isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Attribute) and side.attr == "name" and is_backend(side.value):
                    yield node.lineno, "compares a backend's name"


def test_what_lies_above_backends_knows_none_of_them():
    """The protocol is enough: a backend may be added, or left out, without a change above backends/."""
    found = [
        f"{name_of(path)}:{line} {what}"
        for path in ABOVE_BACKENDS
        for line, what in (*imported_backends(path, parse(path)), *questions_to_backends(parse(path)))
    ]
    assert not found, "\n".join(found)


def test_the_checker_sees_a_backend_named():
    fake = ROOT / "grb_tile" / "operations" / "write.py"
    text = """
def f():
    from ..backends.cuda.structure import entries
    from grb_tile.backends import select, guard
    from ..backends.reference import entries
    import grb_tile.backends.cpu.backend
    backend.device.read(x)
    if current().on_device or select.named("cuda").name == "cuda" or select.on_device():
        pass
"""
    tree = ast.parse(text)
    assert [line for line, _ in imported_backends(fake, tree)] == [3, 4, 5, 6]
    assert sorted(line for line, _ in questions_to_backends(tree)) == [7, 8, 8]


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_files_are_short():
    long = {name_of(path): count for path in SHORT_FILES if (count := len(lines_of(path))) >= LINE_LIMIT}
    assert not long, f"files of {LINE_LIMIT} lines or more: {long}"


def test_lines_fit_a_screen():
    wide = [
        f"{name_of(path)}:{number}"
        for path in WIDTH_LIMITED
        for number, line in enumerate(lines_of(path), 1)
        if len(line) > WIDTH_LIMIT
    ]
    assert not wide, f"lines wider than {WIDTH_LIMIT}: {wide}"


def test_module_names_say_something():
    names = {name_of(path): path.relative_to(ROOT).with_suffix("").parts for path in SOURCES + python_files("tests")}
    empty = {name for name, parts in names.items() if EMPTY_NAMES & set(parts)}
    assert empty <= NAMED_BY_OTHERS.keys(), empty


def is_setter(function):
    return any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter") for d in function.decorator_list)


def public_definitions(tree, with_methods):
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or node.name.startswith("_"):
            continue
        yield node.name, node
        if with_methods and isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and not member.name.startswith("_") and not is_setter(member):
                    yield f"{node.name}.{member.name}", member


# What users call explains itself, each method too, unless it is a property or a line or two.  Below that, longer
# functions do; what implements a primitive is documented once, in backends/protocol.py.
USER_FACING = {"core", "fused", "io", "algorithms", "generators", "grb", "planner"}
SHORT = {True: 4, False: 14}


@functools.cache
def primitives():
    tree = parse(ROOT / "grb_tile" / "backends" / "protocol.py")
    return {name.split(".")[1] for name, _ in public_definitions(tree, with_methods=True) if "." in name}


def needs_docstring(name, node, user_facing, documented_elsewhere):
    if name.split(".")[-1] in documented_elsewhere:
        return False
    if isinstance(node, ast.ClassDef):
        return len(node.body) > 1
    is_property = any(isinstance(d, ast.Name) and "property" in d.id for d in node.decorator_list)
    return node.end_lineno - node.lineno >= SHORT[user_facing and not is_property]


def without_docstring(path):
    tree = parse(path)
    missing = [] if ast.get_docstring(tree) or not tree.body else ["the module"]
    user_facing = layer_of(module_of(path)) in USER_FACING
    elsewhere = primitives() if layer_of(module_of(path)) == "backends" else {"compute", "operands", "notation"}
    missing += [
        name
        for name, node in public_definitions(tree, with_methods=user_facing)
        if needs_docstring(name, node, user_facing, elsewhere) and not ast.get_docstring(node)
    ]
    return missing


def test_public_names_have_docstrings():
    missing = [f"{name_of(path)}: {', '.join(names)}" for path in SOURCES if (names := without_docstring(path))]
    assert not missing, "no docstring:\n" + "\n".join(missing)


def text_files():
    kinds = {".py", ".md", ".toml", ".cuh", ".cu", ".txt", ".sh"}
    yield ROOT / ".ci" / "run"
    for folder in ("grb_tile", "kernels", "algorithms", "tests", "docs", "examples"):
        yield from (path for path in (ROOT / folder).rglob("*") if path.suffix in kinds)
    yield from (path for path in ROOT.glob("*") if path.suffix in kinds)


def test_no_absolute_paths_of_one_machine():
    """Nothing here may depend on where somebody's checkout, environment or home folder happened to lie."""
    private = re.compile(r"(?<![\w.])/(?:work|home|root|Users)/")
    found = [
        f"{name_of(path)}:{number}: {line.strip()[:100]}"
        for path in text_files()
        if path != pathlib.Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if private.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_checker_sees_an_upward_import(tmp_path, monkeypatch):
    """The rules above must be able to fail: an upward import hidden in a function is found."""
    fake = ROOT / "grb_tile" / "storage" / "store.py"
    tree = ast.parse("def f():\n    from ..core import matrix\n    from grb_tile.planner.plan import Plan\n")
    layers = {layer_of(found.target) for found in imports_of(fake, tree)}
    assert layers == {"core", "planner"}
    assert all(RANK[layer] > RANK["storage"] for layer in layers)
    at_import = ast.parse("try:\n    import numba\nexcept ImportError:\n    import cupy\ndef g():\n    import scipy\n")
    names = {alias.name for node in module_level(at_import) if isinstance(node, ast.Import) for alias in node.names}
    assert names == {"numba", "cupy"}


def test_every_folder_of_tests_is_described():
    text = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("*.py")} - {pathlib.Path()}
    absent = [str(folder) for folder in folders if f"`{folder.as_posix()}/`" not in text and folder.name != "gpu"]
    assert not absent, f"tests/README.md does not say what these hold: {absent}"


@pytest.mark.parametrize("template", sorted(p.stem for p in (ROOT / "grb_tile/backends/cpu/templates").glob("*.py")))
def test_templates_declare_their_types(template):
    """Kernels are compiled before they are called, so their types are written beside their parameters."""
    from grb_tile.backends.cpu.jit.signatures import parameter_types

    if template not in ("__init__", "placeholders"):
        assert parameter_types(template)
