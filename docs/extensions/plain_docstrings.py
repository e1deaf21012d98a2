"""Docstrings of this project are plain text with `code`, examples and indented formulas; here they become
reStructuredText.

A formula such as `w<m> = A min.plus x` may hold `*`, `|` and `_`, which mean something else in reStructuredText. So a
docstring is divided into blocks: an example stays as it is, an indented block becomes literal, a list becomes a list,
a line that describes a parameter begins a paragraph, and in paragraphs everything but `code` is escaped.
"""

import re
import textwrap

LABELS = r"(?:Types|Shapes|Raises|Cost|Contract|Reference|References|Spec|Returns|Precondition|Determinism)"
PARAMETER = re.compile(r"[A-Za-z]\w*(, [A-Za-z]\w*)*:\s")
SPECIAL = re.compile(r"([\\*_|`<>])")


def paragraph(text):
    """One paragraph: `code` and ``code`` become literals, a label such as `Raises:` bold, the rest escaped."""
    label = re.match(LABELS + r":(?=\s)", text)
    head, text = (f"**{label.group()}** ", text[label.end() :].lstrip()) if label else ("", text)
    parts = re.split(r"``(.+?)``|`([^`]+)`", text, flags=re.S)
    made = []
    for plain, double, single in zip(parts[0::3], [*parts[1::3], None], [*parts[2::3], None], strict=True):
        made.append(SPECIAL.sub(r"\\\1", plain))
        code = double or single
        if code is not None:
            made.append(f"\\ ``{' '.join(code.split()).strip()}``\\ ")
    return head + "".join(made)


def blocks(lines):
    """(kind, lines) for each run of lines: "example", "literal", "item" or "text"."""
    kind, held = None, []
    for line in lines:
        indented = line.startswith(" ")
        if not line.strip():
            if kind == "literal":
                held.append(line)
            else:
                if held:
                    yield kind, held
                kind, held = None, []
            continue
        if line.startswith(">>>") and kind != "example":
            new = "example"
        elif kind == "example" or (kind == "item" and indented):
            new = kind
        elif indented:
            new = "literal"
        elif re.match(r"[-*] ", line):
            new = "item start"
        elif re.match(LABELS + r":\s", line) or (
            PARAMETER.match(line) and (not held or held[-1].rstrip().endswith("."))
        ):
            new = "text start"
        else:
            new = "text"
        if new != kind or new.endswith("start"):
            if held:
                yield kind, held
            held = []
        kind = new.removesuffix(" start")
        held.append(line)
    if held:
        yield kind, held


def to_rst(lines):
    """The lines of a docstring as reStructuredText."""
    out = []
    for kind, held in blocks(textwrap.dedent("\n".join(lines)).splitlines()):
        if kind == "example":
            out += held
        elif kind == "literal":
            body = textwrap.dedent("\n".join(held)).rstrip().splitlines()
            out += ["::", "", *(f"    {line}" for line in body)]
        elif kind == "item":
            out += ["- " + paragraph(" ".join(line.strip() for line in held)[2:])]
        else:
            out += paragraph("\n".join(held)).splitlines()
        out += [""]
    return out


def process(app, what, name, obj, options, lines):
    """Sphinx's event autodoc-process-docstring: `lines` is changed in place."""
    lines[:] = to_rst(lines)


def setup(app):
    """Sphinx's entry point."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True}
