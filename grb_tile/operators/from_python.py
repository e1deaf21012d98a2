"""Typed expressions from Python text (rows of the operator table) and from users' functions.

There are two typing rules.
- strict (the table): operands of a primitive have one type; literals take the type of the other operand.
- promoting (users' functions): as Numba types scalars, which programs for python-graphblas rely on.  Arithmetic on
  integers is done in 64 bits (INT64 if any operand or literal is signed, else UINT64), on BOOL in INT64; `/` returns
  floats; FP32 with a float literal is FP64; min, max and `if` unify their operands without widening.
Syntax that cannot be lowered raises UdfParseError with line, column and reason; an operation that is not defined for a
type raises NoMeaning.
"""

import ast
import math
from typing import Any

import numpy as np

from ..dtypes import BOOL, FC64, FP32, FP64, INT8, INT64, UINT64, lookup_dtype
from ..exceptions import UdfParseError
from .ir import Node, argument, cast, constant, where
from .primitives import PRIMITIVES
from .source import function_tree, parsed

_LIMIT = 2000  # nodes of one function: an `if` without return duplicates the statements that follow it


class NoMeaning(TypeError):
    """The expression is well formed but not defined for these types, such as an order of complex numbers."""


class TooLong(UdfParseError):
    """The function has more operations than one kernel should have; it is not compiled in another way, either."""


class Literal:
    """A number whose type its context determines."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "cdiv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "wpow",
    ast.BitAnd: "band",
    ast.BitOr: "bor",
    ast.BitXor: "bxor",
    ast.LShift: "shl",
    ast.RShift: "shr",
}
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_LOGIC = {"band": "land", "bor": "lor", "bxor": "lxor"}
_NUMPY_LOGIC = {"nmax": "lor", "nmin": "land", "fmax": "lor", "fmin": "land", "add": "lor", "mul": "land"}
# Functions that a user's function may call, by their own name or as attributes of math and numpy.
_FUNCTIONS = {
    name: name
    for name in (
        "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh ceil "
        "floor "
        "trunc cbrt erf erfc lgamma isnan isinf isfinite atan2 hypot copysign nextafter logaddexp logaddexp2 gcd lcm "
        "signbit conj"
    ).split()
}
_FUNCTIONS.update({
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "arctan2": "atan2", "gamma": "tgamma", "fabs": "abs", "absolute": "abs", "rint": "rint", "conjugate": "conj",
    "maximum": "nmax", "minimum": "nmin", "fmax": "fmax", "fmin": "fmin", "fmod": "fmod", "remainder": "mod",
    "mod": "mod", "add": "add", "subtract": "sub", "multiply": "mul", "divide": "cdiv", "true_divide": "cdiv",
    "power": "wpow", "pow": "wpow", "floor_divide": "floordiv", "ldexp": "ldexp", "spacing": "spacing", "sign": "sign",
    "square": "square", "negative": "neg",
})  # fmt: skip
_FLOAT_ONLY = {
    name for name, row in PRIMITIVES.items() if type(row.numpy) is dict and not (row.numpy.keys() & {"i", "b"})
} | {"cbrt"}
_MODULES = {math: "math", np: "np"}
_CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "tau": math.tau}


class Builder:
    """Makes nodes by one of the typing rules: promoting if `promote`, else strict."""

    def __init__(self, promote):
        self.promote = promote
        self.made = 0

    def typed(self, operand, other=None):
        """The node of a Literal: strict, of the type `other`; promoting, of its value's type.  Nodes as they are."""
        if type(operand) is not Literal:
            return operand
        value = operand.value
        if isinstance(value, (bool, np.bool_)):
            return constant(bool(value), BOOL if self.promote or other is None else other)
        if other is not None and not self.promote:
            return constant(value, other)
        if isinstance(value, (int, np.integer)):
            value = int(value)
            if other is UINT64 and value >= 0 or value > 2**63 - 1:
                return constant(value, UINT64)
            return constant(value, INT64)
        if isinstance(value, (float, np.floating)):
            return constant(float(value), FP32 if isinstance(value, np.float32) else FP64)
        return constant(complex(value), FC64)

    def joined(self, *operands, mode="arithmetic"):
        """The operands as nodes of one type; mode "arithmetic" widens integers to 64 bits."""
        known = [o.type for o in operands if type(o) is not Literal]
        first = known[0] if known else None
        nodes = [self.typed(o, first) for o in operands]
        types = {n.type for n in nodes}
        if not self.promote:
            if len(types) > 1:
                raise NoMeaning(f"operands of types {sorted(t.name for t in types)}")
            return nodes
        if mode == "arithmetic":
            kinds = {t.np_type.kind for t in types}
            if not kinds & {"f", "c"}:
                types = {UINT64 if kinds == {"u"} else INT64}
        target = self.unified(types)
        return [cast(n, target) for n in nodes]

    @staticmethod
    def unified(types):
        joined = None
        for t in types:
            joined = t.np_type if joined is None else np.promote_types(joined, t.np_type)
        return lookup_dtype(joined)

    def call(self, name, *operands, mode="arithmetic"):
        """The node of primitive `name` on the operands, cast to one type."""
        self.made += 1
        if self.made > _LIMIT:
            raise TooLong(f"the function becomes more than {_LIMIT} operations; write it with fewer terms and branches")
        signed_result = False
        if not self.promote:
            nodes = self.joined(*operands)
        elif name in ("shl", "shr"):
            left, right = (self.typed(o) for o in operands)
            kinds = {left.type.np_type.kind, right.type.np_type.kind}
            if kinds - {"b", "i", "u"}:
                raise NoMeaning(f"{name} is for integers")
            wide = UINT64 if left.type.np_type.kind == "u" else INT64
            nodes = [cast(left, wide), cast(right, wide)]
        else:
            nodes = self.joined(
                *operands, mode="unify" if name in ("pmin", "pmax", "abs", *_COMPARE.values()) else mode
            )
            # Numba makes UINT64 with a literal INT64: the same bits, but // and % of large x are right only unsigned
            signed_result = (
                mode == "arithmetic" and nodes[0].type is UINT64 and any(type(o) is Literal for o in operands)
            )
        kind = nodes[0].type.np_type.kind
        if self.promote and kind in "iub" and name in _FLOAT_ONLY:
            narrow = mode == "numpy" and nodes[0].type.np_type.itemsize <= 2
            nodes = [cast(n, FP32 if narrow else FP64) for n in nodes]
            kind = "f"
        if kind == "b":
            name = _LOGIC.get(name, name)
            if mode == "numpy":
                name = _NUMPY_LOGIC.get(name, name)
            if name == "abs":
                nodes, kind = [cast(n, INT8) for n in nodes], "i"
        row = PRIMITIVES[name]
        if type(row.numpy) is dict and kind not in row.numpy:
            raise NoMeaning(f"{name} has no meaning for {nodes[0].type}")
        result = Node(name, row.result_type(nodes[0].type), tuple(nodes))
        return cast(result, INT64) if signed_result and result.type is UINT64 else result

    def truth(self, operand):
        node = self.typed(operand)
        return node if node.type is BOOL else Node("ne", BOOL, (node, constant(0, node.type)))

    def choose(self, condition, yes, no):
        yes, no = self.joined(yes, no, mode="unify")
        return where(self.truth(condition), yes, no)


class Reader(ast.NodeVisitor):
    """Builds the node of a function from its syntax tree, statement by statement."""

    def __init__(self, builder, names, source_name, resolve, depth=0):
        self.b = builder
        self.names = names
        self.where = source_name
        self.resolve = resolve
        self.depth = depth
        self.last = None

    def refuse(self, node, why):
        raise UdfParseError(
            f"{self.where}, line {getattr(node, 'lineno', '?')}, column {getattr(node, 'col_offset', -1) + 1}: "
            f"{why}: {ast.unparse(node) if isinstance(node, ast.AST) else node}"
        )

    def generic_visit(self, node):
        self.refuse(node, f"{type(node).__name__} cannot be lowered to an operator")

    # statements
    def block(self, body):
        """The value that `body` returns."""
        for k, statement in enumerate(body):
            if isinstance(statement, ast.Return):
                if statement.value is None:
                    self.refuse(statement, "return without a value")
                return self.visit(statement.value)
            if isinstance(statement, ast.If):
                rest = body[k + 1 :]
                self.last = statement
                test = self.visit(statement.test)
                kept = dict(self.names)
                yes = self.block(statement.body + rest)
                self.names = kept
                no = self.block(statement.orelse + rest)
                return self.b.choose(test, yes, no)
            self.statement(statement)
        self.refuse(body[-1] if body else self.last, "a path of the function returns nothing")

    def statement(self, node):
        if isinstance(node, ast.Pass) or isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Name):
                self.names[target.id] = self.visit(value)
                return
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
                values = [self.visit(v) for v in value.elts]
                for t, v in zip(target.elts, values):
                    if not isinstance(t, ast.Name):
                        self.refuse(t, "only plain names can be assigned")
                    self.names[t.id] = v
                return
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self.names[node.target.id] = self.visit(node.value)
            return
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self.names[node.target.id] = self.binary(node, node.op, self.visit(node.target), self.visit(node.value))
            return
        self.generic_visit(node)

    # expressions
    def visit_Name(self, node):
        if node.id in self.names:
            return self.names[node.id]
        found = self.resolve(node.id)
        if isinstance(found, (bool, int, float, complex, np.generic)):
            return Literal(found)
        self.refuse(node, "neither an argument, a local variable nor a captured number")

    def visit_Constant(self, node):
        if isinstance(node.value, (bool, int, float, complex)):
            return Literal(node.value)
        self.refuse(node, "only numbers can be constants of an operator")

    def visit_Attribute(self, node):
        base = node.value.id if isinstance(node.value, ast.Name) and node.value.id not in self.names else None
        module = None if base is None else self.resolve(base)
        if module is math or module is np:
            if node.attr in _CONSTANTS:
                return Literal(_CONSTANTS[node.attr])
        elif node.attr in ("real", "imag"):
            value = self.b.typed(self.visit(node.value))
            if value.type.np_type.kind == "c":
                return self.b.call("creal" if node.attr == "real" else "cimag", value)
            return value if node.attr == "real" else constant(0, value.type)
        self.refuse(node, "unknown attribute")

    def visit_BinOp(self, node):
        return self.binary(node, node.op, self.visit(node.left), self.visit(node.right))

    def binary(self, node, operator, left, right):
        name = _BINARY.get(type(operator))
        if name is None:
            self.refuse(node, f"{type(operator).__name__} cannot be lowered to an operator")
        if type(left) is Literal and type(right) is Literal:
            return self.folded(node, operator, left.value, right.value)
        if name == "cdiv" and self.b.promote:
            left, right = self.b.joined(left, right, mode="unify")
            if left.type.np_type.kind in "iub":
                left, right = cast(left, FP64), cast(right, FP64)
        if name in _LOGIC and self.b.promote and all(type(o) is not Literal and o.type is BOOL for o in (left, right)):
            return self.b.call(name, left, right, mode="unify")
        return self.b.call(name, left, right)

    def folded(self, node, operator, left, right):
        try:
            expression = ast.Expression(ast.BinOp(ast.Constant(left), operator, ast.Constant(right)))
            return Literal(eval(compile(ast.fix_missing_locations(expression), "<constant>", "eval"), {}))
        except ArithmeticError as error:
            self.refuse(node, str(error))

    def visit_UnaryOp(self, node):
        value = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return self.b.call("lnot", self.b.truth(value), mode="unify")
        if isinstance(node.op, ast.UAdd):
            return value if type(value) is Literal or value.type is not BOOL else cast(value, INT64)
        if type(value) is Literal:
            return Literal(-value.value if isinstance(node.op, ast.USub) else ~value.value)
        if isinstance(node.op, ast.Invert) and value.type is BOOL:
            return self.b.call("lnot", value, mode="unify")
        return self.b.call("neg" if isinstance(node.op, ast.USub) else "bnot", value)

    def visit_Compare(self, node):
        left, result = self.visit(node.left), None
        for operator, comparator in zip(node.ops, node.comparators):
            name = _COMPARE.get(type(operator))
            if name is None:
                self.refuse(node, f"{type(operator).__name__} cannot be lowered to an operator")
            right = self.visit(comparator)
            part = self.b.call(name, left, right)
            result = part if result is None else self.b.call("land", result, part, mode="unify")
            left = right
        return result

    def visit_BoolOp(self, node):
        is_and = isinstance(node.op, ast.And)
        result = self.visit(node.values[-1])
        for value in reversed(node.values[:-1]):
            left = self.b.typed(self.visit(value))
            right = self.b.typed(result, left.type)
            if left.type is BOOL and right.type is BOOL:
                result = self.b.call("land" if is_and else "lor", left, right, mode="unify")
            else:
                result = self.b.choose(left, right, left) if is_and else self.b.choose(left, left, right)
        return result

    def visit_IfExp(self, node):
        return self.b.choose(self.visit(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_Call(self, node):
        if node.keywords:
            self.refuse(node, "keyword arguments cannot be lowered")
        function, name = node.func, None
        found = None
        if isinstance(function, ast.Name):
            found, name = self.resolve(function.id), function.id
        elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            module = self.resolve(function.value.id)
            if module is math or module is np:
                name, found = function.attr, getattr(module, function.attr, None)
        if not self.b.promote and name in PRIMITIVES:
            operands = [self.visit(a) for a in node.args]
            return self.b.call(name, *operands)
        if not self.b.promote and name == "where":
            return self.b.choose(*[self.visit(a) for a in node.args])
        operands = [self.visit(a) for a in node.args]
        if found is not None and hasattr(found, "__code__") and self.depth < 8:
            return self.inlined(node, found, operands)
        result = self.known_call(name, found, operands) if found is not None else None
        if result is None:
            self.refuse(node, "call of a function that cannot be lowered")
        return result

    def known_call(self, name, found, operands):
        b = self.b
        if found in (min, max):
            result = operands[0]
            for operand in operands[1:]:
                result = b.call("pmin" if found is min else "pmax", result, operand)
            return result
        if found is abs or found is np.abs or found is np.absolute:
            return b.call("abs", b.typed(operands[0]))
        if found is pow:
            return b.call("wpow", *operands)
        if found is round and len(operands) == 1:
            value = b.call("rint", b.typed(operands[0]))
            return cast(value, INT64)
        casts = {bool: BOOL, int: INT64, float: FP64, complex: FC64}
        if isinstance(found, type) and len(operands) == 1:
            target = casts.get(found)
            if target is None and issubclass(found, np.generic):
                target = lookup_dtype(found)
            if target is not None:
                value = b.typed(operands[0])
                if value.type.np_type.kind == "c" and target.np_type.kind not in "bc":
                    raise NoMeaning(f"{name}() of a complex number")
                return cast(value, target)
        if found is complex and len(operands) == 2:
            return b.call("cmplx", *[cast(b.typed(o), FP64) for o in operands])
        primitive = _FUNCTIONS.get(name)
        if primitive is None or not (getattr(math, name, None) is found or getattr(np, name, None) is found):
            return None
        operands = [b.typed(o) for o in operands]
        from_numpy = getattr(np, name, None) is found
        kinds = {o.type.np_type.kind for o in operands}
        if not from_numpy and "c" in kinds:
            raise NoMeaning(f"math.{name} is for real numbers")
        mode = "numpy" if from_numpy else "unify"
        if primitive == "square":
            return b.call("mul", operands[0], operands[0], mode=mode)
        if primitive == "abs" and kinds <= {"i", "u", "b"}:
            return b.call("abs", cast(operands[0], FP64))  # fabs
        if primitive == "sign":
            if kinds & {"f", "c"}:
                return b.call("signum", *operands)
            zero, x = Literal(0), operands[0]
            return b.choose(b.call("gt", x, zero), Literal(1), b.choose(b.call("lt", x, zero), Literal(-1), zero))
        if primitive == "cdiv":
            operands = b.joined(*operands, mode="unify")
            if kinds <= {"i", "u", "b"}:
                operands = [cast(o, FP64) for o in operands]
        if found is math.floor or found is math.ceil or found is math.trunc:
            return cast(b.call(primitive, *operands, mode=mode), INT64)
        if primitive in ("gcd", "lcm") and not kinds <= {"i", "u", "b"}:
            raise NoMeaning(f"{primitive} is for integers")
        return b.call(primitive, *operands, mode=mode)

    def inlined(self, node, function, operands):
        tree, resolve = function_tree(function)
        names = [a.arg for a in tree.args.args]
        if len(names) != len(operands):
            self.refuse(node, f"{function.__name__} takes {len(names)} arguments")
        inner = Reader(self.b, dict(zip(names, operands)), function.__name__, resolve, self.depth + 1)
        return inner.function(tree)

    def function(self, tree):
        return self.visit(tree.body) if isinstance(tree, ast.Lambda) else self.block(tree.body)


_PARSED: dict[Any, Any] = {}


def expression_from_text(text, arguments, return_type):
    """The node of a table row's text, cast to return_type; arguments: {name: DataType} in order."""
    tree = _PARSED.get(text)
    if tree is None:
        tree = _PARSED[text] = parsed(text, "eval").body
    builder = Builder(promote=False)
    names = {name: argument(k, type_) for k, (name, type_) in enumerate(arguments.items())}
    reader = Reader(builder, names, "operator table", lambda name: None)
    node = reader.visit(tree)
    if type(node) is Literal:
        node = constant(node.value, return_type)
    return cast(node, return_type)


def expression_from_tree(tree, resolve, name, types):
    """The node of a user's function for argument types `types`, of the type that the promoting rule infers.

    Raises: UdfParseError (line, column, reason) where it cannot be lowered, NoMeaning where it is not defined for them.
    """
    a = tree.args
    names = [x.arg for x in (*a.posonlyargs, *a.args)]
    if len(names) != len(types) or a.vararg or a.kwarg or a.kwonlyargs:
        raise UdfParseError(f"{name}: takes {len(types)} arguments here, but is written with ({ast.unparse(a)})")
    reader = Reader(
        Builder(promote=True), {n: argument(k, t) for k, (n, t) in enumerate(zip(names, types))}, name, resolve
    )
    return reader.b.typed(reader.function(tree))


__all__ = ["NoMeaning", "TooLong", "expression_from_text", "expression_from_tree"]
