"""From a recipe to the text of one specialisation of a template: constant folding, and operators inlined.

On the template's syntax tree, constants in capitals become literals, `if` statements on them are folded, and calls of
ADD and MUL become expressions, or calls of compiled functions, of the semiring (jit/operators.py).  It takes
milliseconds, so it is done where the text is compiled, in the compiler process.
"""

import ast
import platform

from .recipe import TEMPLATES, imported_template
from .signatures import types_of


class _Fold(ast.NodeTransformer):
    """Replaces constants, folds `if FLAG:` and inlines operator calls."""

    def __init__(self, constants, calls):
        self.constants = constants
        self.calls = calls

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in self.constants:
            return ast.copy_location(ast.Constant(self.constants[node.id]), node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.calls:
            return self.calls[node.func.id](node.args)
        return node

    def visit_Subscript(self, node):
        """a[i] as a[np.uint64(i)]: without Numba's code for negative indices, which takes a third of the time."""
        self.generic_visit(node)
        node.slice = self._unsigned(node.slice)
        return node

    def _unsigned(self, index):
        if isinstance(index, ast.Tuple):
            index.elts = [self._unsigned(part) for part in index.elts]
            return index
        if isinstance(index, (ast.Slice, ast.Constant)):
            return index
        unsigned = ast.Attribute(ast.Name("np", ast.Load()), "uint64", ast.Load())
        return ast.Call(unsigned, [index], [])

    def _decide(self, test):
        """True or False when the test is constant, None otherwise."""
        try:
            return bool(eval(compile(ast.Expression(test), "<flag>", "eval"), {"__builtins__": {}}))
        except (NameError, TypeError, ValueError, SyntaxError):
            return None

    @staticmethod
    def _constant(test):
        return not any(isinstance(n, (ast.Name, ast.Call, ast.Subscript, ast.Attribute)) for n in ast.walk(test))

    def visit_If(self, node):
        self.generic_visit(node)
        if self._constant(node.test):
            taken = node.body if self._decide(node.test) else node.orelse
            return taken
        if isinstance(node.test, ast.BoolOp):
            kept = []
            is_and = isinstance(node.test.op, ast.And)
            for value in node.test.values:
                if self._constant(value):
                    if self._decide(value) != is_and:
                        return node.orelse if is_and else node.body
                else:
                    kept.append(value)
            node.test = kept[0] if len(kept) == 1 else ast.BoolOp(node.test.op, kept)
        if not node.body:
            node.body = [ast.Pass()]
        return node

    def visit_IfExp(self, node):
        self.generic_visit(node)
        if self._constant(node.test):
            return node.body if self._decide(node.test) else node.orelse
        return node

    def visit_For(self, node):
        self.generic_visit(node)
        if not node.body:
            node.body = [ast.Pass()]
        return node

    visit_While = visit_For


def _expression(text):
    """A function that makes of a call's arguments the expression `text` of {x}, {y}, {i}, {k}, {j}."""

    def build(arguments):
        texts = [f"({ast.unparse(a)})" for a in arguments[:2]] + [ast.unparse(a) for a in arguments[2:]]
        names = dict(zip("xyikj", texts, strict=False))
        return ast.parse(text.format_map(names), mode="eval").body

    return build


def _imports_compiled(preamble):
    """The preamble, with a register_jitable line for every function that it imports from the package."""
    lines = []
    for text in preamble:
        lines.append(text)
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grb_tile."):
                for alias in node.names:
                    name = alias.asname or alias.name
                    lines.append(f"{name} = register_jitable({name})")
    return "\n".join(lines)


def text_of(recipe):
    """(text, {function: its types}) of the specialisation that a recipe describes."""
    calls = {name: _expression(text) for name, text in recipe.calls.items()}
    head = header(recipe.template)
    if any("least(" in text or "most(" in text for text in recipe.calls.values()):
        head += EXTREMES
    top = "\n".join([head, _imports_compiled(recipe.preamble), *recipe.facts, *recipe.sources])
    return specialise_text(recipe.template, recipe.constants, calls, top)


def _imported_functions(node):
    """The definitions of the functions that a template imports from another template."""
    imported = imported_template(node.module or "") if isinstance(node, ast.ImportFrom) else None
    if imported is None:
        return []
    names = {alias.name for alias in node.names}
    tree = ast.parse((TEMPLATES / f"{imported}.py").read_text())
    return [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name in names]


def specialise_text(template, constants, calls, header):
    """(text, types of the functions that Python calls) for a template with these flags and operators."""
    tree = ast.parse((TEMPLATES / f"{template}.py").read_text())
    body = []
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            body += _imported_functions(node)  # of placeholders the header has the definitions
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        body.append(node)
    tree.body = body
    tree = ast.fix_missing_locations(_Fold(constants, calls).visit(tree))
    for node in ast.walk(tree):
        if isinstance(getattr(node, "body", None), list):
            ends = [
                k
                for k, statement in enumerate(node.body)
                if isinstance(statement, (ast.Return, ast.Continue, ast.Break))
            ]
            if ends:
                del node.body[ends[0] + 1 :]  # unreachable statements
        if isinstance(node, ast.FunctionDef):
            if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
                node.body = node.body[1:]
            if not node.body:
                node.body = [ast.Pass()]
            node.decorator_list = [ast.Name("kernel", ast.Load())]
    called = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(a.annotation is not None for a in node.args.args):
            called[node.name] = types_of(node)
            for argument in node.args.args:
                argument.annotation = None
    return header + "\n" + ast.unparse(ast.fix_missing_locations(tree)) + "\n", called


HEADER = """
import numpy as np
from numba import njit
from numba.core import types
from numba.extending import intrinsic, register_jitable

kernel = njit(nogil=True, boundscheck=False, error_model="numpy")


@intrinsic
def trailing_zeros(context, word):
    def generate(context, builder, signature, arguments):
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 0))

    return types.int64(types.uint64), generate


@intrinsic
def ones(context, word):
    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def bit(context, position):
    def generate(context, builder, signature, arguments):
        one = context.get_constant(types.uint64, 1)
        low = builder.and_(arguments[0], context.get_constant(types.int64, 63))
        return builder.shl(one, low)

    return types.uint64(types.int64), generate


NONE = np.uint64(0)


@kernel
def first_at_least(indices, lo, hi, k):
    while lo < hi:
        middle = (lo + hi) >> 1
        if indices[np.uint64(middle)] < k:
            lo = middle + 1
        else:
            hi = middle
    return lo


@kernel
def sort_few(indices, first, last):
    for p in range(first + 1, last):
        j = indices[np.uint64(p)]
        q = p
        while q > first and indices[np.uint64(q - 1)] > j:
            indices[np.uint64(q)] = indices[np.uint64(q - 1)]
            q -= 1
        indices[np.uint64(q)] = j


@kernel
def take_bits(words, summary, indices, at, first, last):
    for s in range(first, last):
        some = summary[np.uint64(s)]
        summary[np.uint64(s)] = NONE
        while some != NONE:
            w = s * 64 + trailing_zeros(some)
            some &= some - np.uint64(1)
            rest = words[np.uint64(w)]
            words[np.uint64(w)] = NONE
            while rest != NONE:
                indices[np.uint64(at)] = w * 64 + trailing_zeros(rest)
                rest &= rest - np.uint64(1)
                at += 1
    return at
"""

CYCLES = """

@intrinsic
def cycles(context):
    def generate(context, builder, signature, arguments):
        import llvmlite.ir as ir
        function = builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(ir.IntType(64), ()))
        return builder.call(function, ())

    return types.int64(), generate
"""
NO_CYCLES = """

@kernel
def cycles():
    return 0
"""


EXTREMES = '''

def _extreme(name):
    @intrinsic
    def extreme(context, x, y):
        """The smaller or larger number, a NaN only when both are."""
        def generate(context, builder, signature, arguments):
            import llvmlite.ir as ir
            real = arguments[0].type
            wanted = "llvm." + name + (".f32" if real == ir.FloatType() else ".f64")
            function = builder.module.globals.get(wanted)
            if function is None:
                function = ir.Function(builder.module, ir.FunctionType(real, (real, real)), wanted)
            return builder.call(function, arguments)

        return x(x, x), generate

    return extreme


least = _extreme("minnum")
most = _extreme("maxnum")
'''


def header(template):
    """The start of every text: imports and intrinsics."""
    cycles = CYCLES if platform.machine() in ("x86_64", "AMD64") else NO_CYCLES
    return HEADER + (cycles if template == "bfs" else "")
