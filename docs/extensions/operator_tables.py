"""The directive `operator-table`: the names, types and definitions of a namespace, read from the operators themselves.

```{operator-table} binary
```
"""

import importlib

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

ORDER = (
    "BOOL",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "FP32",
    "FP64",
    "FC32",
    "FC64",
)
GROUPS = (
    ("all types", ORDER),
    ("real types", ORDER[:11]),
    ("integer types", ORDER[1:9]),
    ("floating and complex types", ORDER[9:]),
    ("FP32, FP64", ORDER[9:11]),
    ("complex types", ORDER[11:]),
)


def operators_of(path):
    """{name: operator} of the namespace grb_tile.<path>."""
    namespace = importlib.import_module(f"grb_tile.{path}")
    of_ss = set(dir(namespace.ss)) if hasattr(namespace, "ss") and path == "agg" else set()  # deprecated without ss.
    found = {name: getattr(namespace, name) for name in dir(namespace) if name[0] != "_" and name not in of_ss}
    return {name: op for name, op in found.items() if hasattr(op, "types") and not isinstance(op, type)}


def types_text(op):
    """The input types in words."""
    names = {t.name for t in op.types}
    for text, group in GROUPS:
        if names == set(group):
            return text
    return ", ".join(name for name in ORDER if name in names)


def definition_text(op):
    """The table's text (operators/table.py): one, or one per kind of type."""
    text = getattr(op, "_text", None)
    if isinstance(text, dict):
        kinds = {"b": "BOOL", "i": "signed", "u": "unsigned", "f": "floating", "c": "complex", "*": "others"}
        return "; ".join(f"``{value}`` ({kinds[kind]})" for kind, value in text.items())
    return f"``{text}``" if text else ""


class OperatorTable(SphinxDirective):
    """A row per operator: name, definition, input types."""

    required_arguments = 1
    has_content = False

    def run(self):
        operators = operators_of(self.arguments[0])
        defined = any(definition_text(op) for op in operators.values())
        lines = [".. list-table::", "   :header-rows: 1", "", "   * - name"]
        lines += ["     - definition"] * defined + ["     - types"]
        for name, op in sorted(operators.items(), key=lambda item: item[0].lower()):
            lines.append(f"   * - ``{name}``")
            if defined:
                lines.append(f"     - {definition_text(op)}")
            lines.append(f"     - {types_text(op)}")
        return self.parsed(lines)

    def parsed(self, lines):
        """The nodes of `lines`, which are reStructuredText whatever the page is written in."""
        from docutils.frontend import get_default_settings
        from docutils.parsers.rst import Parser
        from docutils.utils import new_document

        document = new_document("operators", get_default_settings(Parser))
        Parser().parse("\n".join(StringList(lines)), document)
        return document.children


class OperatorNames(SphinxDirective):
    """All names of a namespace in one paragraph, for namespaces that are products of two others."""

    required_arguments = 1

    def run(self):
        paragraph = nodes.paragraph()
        for name in sorted(operators_of(self.arguments[0])):
            paragraph += [nodes.literal(text=name), nodes.Text(" ")]
        return [paragraph]


def setup(app):
    """Sphinx's entry point."""
    app.add_directive("operator-table", OperatorTable)
    app.add_directive("operator-names", OperatorNames)
    return {"parallel_read_safe": True}
