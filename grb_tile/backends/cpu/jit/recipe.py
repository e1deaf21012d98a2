"""Recipes of specialisations: template, constants and operators, from which text and key follow.

A key is a digest of the recipe, of the template's file and of the modules that make code of them, of the compilers'
versions and of the processor.  It is made without the text, which takes milliseconds.
"""

import functools
import hashlib
import importlib.util
import json
import pathlib
import platform
import re

from .layout import HEADER

TEMPLATES = pathlib.Path(__file__).resolve().parents[1] / "templates"
_PACKAGE = pathlib.Path(__file__).resolve().parents[3]
_MAKERS = tuple(
    [f"backends/cpu/jit/{name}.py" for name in ("compile", "layout", "link", "recipe", "signatures", "specialise")]
    + ["operators/scalar.py", "operators/scalar_complex.py"]
)


class Recipe:
    """One specialisation of a template; plain data, so that it can be sent to another process and kept in a file.

    constants   the template's flags, and types as characters of NumPy
    calls       the expression of {x}, {y}, {i}, {k}, {j} that a call of ADD, MUL or RESULT becomes
    facts       assignments of IDENTITY and TERMINAL
    preamble    import lines of the sources
    sources     texts of functions that the expressions call
    """

    __slots__ = ("calls", "constants", "facts", "preamble", "sources", "template")

    def __init__(self, template, constants, calls=None, facts=(), preamble=(), sources=()):
        self.template = template
        self.constants = {k: v.item() if hasattr(v, "item") else v for k, v in constants.items()}  # no NumPy scalars
        self.calls = calls or {}
        self.facts, self.preamble, self.sources = list(facts), list(preamble), list(sources)

    def data(self):
        return {name: getattr(self, name) for name in self.__slots__}

    def key(self, target):
        """Name of the entry of this specialisation for `target`, the processor and compilers (or a baseline)."""
        found = hashlib.sha256()
        for part in (json.dumps(self.data(), sort_keys=True), _file_digest(self.template), _makers_digest(), target):
            found.update(part.encode() + b"\0")
        return f"{self.template}-{found.hexdigest()[:32]}"


def imported_template(module):
    """The template that a module's name stands for where a template imports functions from another, else None."""
    folder, _, name = module.rpartition(".")
    return name if folder.endswith(".templates") and name != "placeholders" else None


@functools.cache
def _file_digest(template):
    """Of the template's file, and of those whose functions it imports."""
    text = (TEMPLATES / f"{template}.py").read_text(encoding="utf-8")
    imports = re.findall(r"^from (\S+) import", text, re.MULTILINE)
    texts = [text, *(_file_digest(name) for name in map(imported_template, imports) if name)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


@functools.cache
def _makers_digest():
    found = hashlib.sha256(f"{HEADER} {platform.machine()} {platform.system()}".encode())
    for name in _MAKERS:
        found.update((_PACKAGE / name).read_bytes())
    return found.hexdigest()


@functools.cache
def host():
    """The target of code that is compiled here: this processor, and the compilers' versions."""
    return f"{_processor()} {_compiler_version()}"


def _processor():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            lines = file.read(8192).split("\n\n")[0].splitlines()
        wanted = ("model name", "flags", "CPU part", "CPU implementer", "Features")
        return "; ".join(line for line in lines if line.startswith(wanted))
    except OSError:
        return platform.processor()


def _compiler_version():
    """Numba's version file, read without importing Numba (half a second)."""
    found = importlib.util.find_spec("numba")
    if found is None or found.origin is None:
        return "none"
    try:
        return pathlib.Path(found.origin).with_name("_version.py").read_text(encoding="utf-8")
    except OSError:
        return str(pathlib.Path(found.origin).stat().st_mtime_ns)


def features():
    """The names of the processor's features, as Linux lists them."""
    return frozenset(_processor().rpartition("flags")[2].partition(";")[0].split())
