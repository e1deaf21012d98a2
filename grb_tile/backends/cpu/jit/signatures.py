"""Types of the functions of a template, from the annotations of their parameters (templates/placeholders.py).

A function is called from Python when its parameters are annotated, and is internal to its template when none is.
"""

import ast

from .recipe import TEMPLATES

ARRAYS = {"INT32": ("i", 1), "INT64": ("l", 1), "INT64_2D": ("l", 2), "WORD": ("L", 1)}
NUMBERS = {"int": "l", "float": "d", "np.uint64": "L"}


def parameter_types(template):
    """{function: [(parameter, annotation as text)]} of the functions of a template that Python calls.

    Raises: TypeError for a function with a parameter that has no annotation, unless none has and the template calls it.
    """
    tree = ast.parse((TEMPLATES / f"{template}.py").read_text(encoding="utf-8"))
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    found = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        types = [(a.arg, None if a.annotation is None else ast.unparse(a.annotation)) for a in node.args.args]
        lacking = [name for name, annotation in types if annotation is None]
        if len(lacking) < len(types):
            if lacking:
                raise TypeError(f"templates/{template}.py, {node.name}: no type for {', '.join(lacking)}")
            found.setdefault(node.name, {})[tuple(types)] = None
        elif node.name not in called:
            raise TypeError(
                f"templates/{template}.py, {node.name}: Python calls it, so its parameters need types, as those of "
                "the other templates have"
            )
    return {name: [list(types) for types in forms] for name, forms in found.items()}


def types_of(function):
    """[(parameter, NumPy type character, dimensions: 0 for a number)] of a function whose constants are folded."""
    found = []
    for argument in function.args.args:
        annotation = argument.annotation
        if isinstance(annotation, ast.Constant):
            found.append((argument.arg, annotation.value, 1))
        else:
            name = ast.unparse(annotation)
            found.append((argument.arg, *(ARRAYS.get(name) or (NUMBERS[name], 0))))
    return found
