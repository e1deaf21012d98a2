"""Citations of the GraphBLAS C API 2.1 name sections and tables that the specification has, for what they are cited."""

import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
GRB = ROOT / "grb_tile" / "grb"
SOURCES = sorted((ROOT / "grb_tile").rglob("*.py")) + sorted((ROOT / "algorithms").rglob("*.py"))

# The table of contents of version 2.1.0 (2023-12-22), chapters 2 to 4.
SECTIONS = {
    "2.1": "Glossary", "2.2": "Notation", "2.3": "Mathematical foundations", "2.4": "GraphBLAS opaque objects",
    "2.5": "Execution model", "2.6": "Error model",
    "3.1": "Enumerations for init() and wait()", "3.2": "Indices, index arrays, and scalar arrays",
    "3.3": "Types (domains)", "3.4": "Algebraic objects, operators and associated functions", "3.4.1": "Operators",
    "3.4.2": "Monoids", "3.4.3": "Semirings", "3.5": "Collections", "3.5.1": "Scalars", "3.5.2": "Vectors",
    "3.5.3": "Matrices", "3.5.4": "Masks", "3.6": "Descriptors", "3.7": "Fields", "3.8": "GrB_Info return values",
    "4.1": "Context methods", "4.1.1": "init", "4.1.2": "finalize", "4.1.3": "getVersion", "4.2": "Object methods",
    "4.2.1": "Get and Set methods", "4.2.1.1": "get", "4.2.1.2": "set", "4.2.2": "Algebra methods",
    "4.2.3": "Scalar methods", "4.2.4": "Vector methods", "4.2.5": "Matrix methods", "4.2.5.3": "Matrix_diag",
    "4.2.5.4": "Matrix_resize", "4.2.5.16": "Matrix_export", "4.2.5.17": "Matrix_import",
    "4.2.5.19": "Matrix_serialize", "4.2.5.20": "Matrix_deserialize", "4.2.6": "Descriptor methods",
    "4.2.6.1": "Descriptor_new", "4.2.6.2": "Descriptor_set", "4.2.7": "free", "4.2.8": "wait", "4.2.9": "error",
    "4.3": "GraphBLAS operations (each with its mask and accumulators)", "4.3.1": "mxm", "4.3.2": "vxm", "4.3.3": "mxv",
    "4.3.4": "eWiseMult", "4.3.5": "eWiseAdd", "4.3.6": "extract", "4.3.6.1": "extract: Standard vector variant",
    "4.3.6.2": "extract: Standard matrix variant", "4.3.6.3": "extract: Column (and row) variant", "4.3.7": "assign",
    "4.3.7.1": "assign: Standard vector variant", "4.3.7.2": "assign: Standard matrix variant",
    "4.3.7.3": "assign: Column variant", "4.3.7.4": "assign: Row variant",
    "4.3.7.5": "assign: Constant vector variant", "4.3.7.6": "assign: Constant matrix variant", "4.3.8": "apply",
    "4.3.8.1": "apply: Vector variant", "4.3.8.2": "apply: Matrix variant",
    "4.3.8.3": "apply: Vector-BinaryOp variants", "4.3.8.4": "apply: Matrix-BinaryOp variants",
    "4.3.8.5": "apply: Vector index unary operator variant",
    "4.3.8.6": "apply: Matrix index unary operator variant", "4.3.9": "select", "4.3.10": "reduce",
    "4.3.11": "transpose", "4.3.12": "kronecker",
}  # fmt: skip
TABLES = {
    "3.1": "Enumeration literals", "3.2": "types", "3.3": "Operator input", "3.4": "Properties of algebraic objects",
    "3.5": "unary and binary operators", "3.6": "index unary operators", "3.7": "monoids", "3.8": "semirings",
    "3.9": "other semirings", "3.10": "GrB_Format", "3.11": "Descriptor fields and values",
    "3.12": "predefined descriptors", "3.13": "Field values", "3.14": "field descriptions",
    "3.15": "Field value enumerations", "3.16": "GrB_Info",
}  # fmt: skip

NUMBER = r"\d+(?:\.\d+)+(?: \([^)]*\))?"
CITED = re.compile(rf"(section|table)s? ({NUMBER}(?:(?:, | and | to |; \w+ | \w+ ){NUMBER})*)")
OTHERS = re.compile(r"(user guide|manual|NISTIR|icpp|ppopp)[^;.]*$")  # ... section 11.6: that of another document


def citations(text, of_the_specification=False):
    """(kind, number, subject in parentheses or "") of what a text cites of the specification."""
    text = " ".join(text.split())
    for match in CITED.finditer(text):
        before = text[max(0, match.start() - 120) : match.start()]
        if OTHERS.search(before) or not (of_the_specification or "C API 2.1" in before):
            continue
        for number, subject in re.findall(r"(\d+(?:\.\d+)+)(?: \(([^)]*)\))?", match[2]):
            yield match[1], number, subject


def docstrings(path):
    """(name, docstring) of the module, classes and functions of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    return [(getattr(n, "name", ""), ast.get_docstring(n) or "") for n in ast.walk(tree) if isinstance(n, kinds)]


def wrong(kind, number, subject):
    """Why the citation is wrong, or None: the number exists, and a word of the subject is in its title."""
    title = (SECTIONS if kind == "section" else TABLES).get(number)
    if title is None:
        return f"the specification has no {kind} {number}"
    words = [word for word in re.findall(r"\w+", subject.lower()) if word not in ("their", "the", "and", "of")]
    if words and not any(word.rstrip("s") in title.lower() for word in words):
        return f"{kind} {number} is {title!r}, not {subject!r}"
    return None


def test_cited_sections_exist():
    cited = [
        (path, name, citation)
        for path in SOURCES
        for name, text in docstrings(path)
        for citation in citations(text, path.parent == GRB)
    ]
    found = [
        f"{path.relative_to(ROOT)} {name}: {reason}"
        for path, name, citation in cited
        if (reason := wrong(*citation)) is not None
    ]
    assert not found, "\n".join(found)
    assert len(cited) > 90  # the citations are seen


VARIANTS = (("Row_", "Row"), ("Col_", "Column"), ("BinaryOp", "BinaryOp"), ("IndexOp", "index unary"))


# class of grb_tile.operators, with or without Typed -> the section of its objects
CLASSES = {
    "UnaryOp": "3.4.1", "BinaryOp": "3.4.1", "IndexUnaryOp": "3.4.1", "SelectOp": "4.3.9", "Monoid": "3.4.2",
    "Semiring": "3.4.3",
}  # fmt: skip


def test_each_class_of_operators_cites_its_own_section():
    found = {}
    for path in sorted((ROOT / "grb_tile" / "operators").glob("*.py")):
        for name, text in docstrings(path):
            for kind, number, _ in citations(text):
                if name and kind == "section":
                    found[name] = number
    assert found == CLASSES | {f"Typed{name}": number for name, number in CLASSES.items()}


def test_each_call_of_the_c_api_cites_its_own_section():
    """`grb.Row_assign` cites the section of the Row variant of assign."""
    found, cited = [], 0
    for path in sorted(GRB.glob("*.py")):
        for name, text in docstrings(path):
            operation = re.sub(r"^(Row|Col)_|_(BinaryOp1st|BinaryOp2nd|IndexOp)$", "", name)
            if operation not in SECTIONS.values():
                continue
            expected = [operation, *(title for mark, title in VARIANTS if mark in name)]
            for kind, number, _ in citations(text, True):
                cited += kind == "section"
                title = SECTIONS.get(number, "none") if kind == "section" else operation
                found += [f"{name}: section {number} is {title!r}"] * (not all(part in title for part in expected))
    assert not found, "\n".join(found)
    assert cited > 30  # the calls of docstrings are seen


def test_the_checker_sees_a_wrong_citation():
    text = "Spec: GraphBLAS C API 2.1, sections 3.5.6 and\n4.3.11 (kronecker); SuiteSparse user guide, section 9.9."
    assert [wrong(*citation) for citation in citations(text)] == [
        "the specification has no section 3.5.6",
        "section 4.3.11 is 'transpose', not 'kronecker'",
    ]
    assert list(citations("TILES, section 3.4")) == []
    assert list(citations("GraphBLAS C API 2.1, tables 3.2 (types) and 3.5 to 3.9")) == [
        ("table", "3.2", "types"), ("table", "3.5", ""), ("table", "3.9", ""),
    ]  # fmt: skip
