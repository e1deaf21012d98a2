"""Object code of a specialisation: Numba's code for each function, with an entry that CPython calls directly.

The entry of a function is a METH_FASTCALL function: it checks the type of each argument, reads the data pointer and the
length of an array from its object (NumPy's fixed layout of PyArrayObject), releases the GIL and calls the code that
Numba made.  It finds what it needs of CPython in a table of addresses (TABLE), the data of the array that is its
`self`, so the object code has no reference to Python, NumPy or Numba.  Only the compiler process imports this module.
"""

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import compiler, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np import arrayobj

from .layout import BYTE_ORDER, CONTIGUOUS, DATA, DESCR, FLAGS, KIND_CHAR, NDIM, SHAPE, TABLE, TYPE

NUMBA_TYPES = {
    "?": types.boolean, "b": types.int8, "h": types.int16, "i": types.int32, "l": types.int64, "q": types.int64,
    "B": types.uint8, "H": types.uint16, "I": types.uint32, "L": types.uint64, "Q": types.uint64,
    "f": types.float32, "d": types.float64, "F": types.complex64, "D": types.complex128,
}  # fmt: skip
SAME = {"l": "lq", "q": "lq", "L": "LQ", "Q": "LQ"}  # characters of one type on a 64-bit system
I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
POINTER = I8.as_pointer()


def numba_type(char, dimensions):
    element = NUMBA_TYPES[char]
    return element if dimensions == 0 else types.Array(element, dimensions, "C", aligned=True)


@global_compiler_lock
def object_code(text, functions, cpu_name="host"):
    """ELF (or Mach-O, COFF) object code of the specialised `text`; functions: {name: [(parameter, type, dimensions)]}.

    The entry of function f is the symbol `grb_f`.  Raises: Numba's errors for a text that does not compile.
    """
    space = {}
    exec(compile(text, "<specialisation>", "exec"), space)  # noqa: S102 - the text is made by jit/operators.py
    typing, target = cpu_target.typing_context, cpu_target.target_context
    typing.refresh()
    target.refresh()
    context = target.with_aot_codegen("grb_tile", cpu_name=cpu_name)
    library = context.codegen().create_library("grb_tile")
    module = library.create_ir_module("grb_tile.entries")
    for name, parameters in functions.items():
        signature = [(char, dimensions) for _, char, dimensions in parameters]
        result = compiler.compile_extra(
            typing, context, space[name].py_func, tuple(numba_type(*kind) for kind in signature), None, _flags(), {}
        )
        _entry(context, module, name, [parameter for parameter, *_ in parameters], signature, result)
        library.add_linking_library(result.library)
    _no_owner(module)
    library.add_ir_module(module)
    library.finalize()
    return library.emit_native_object()


def _no_owner(module):
    """What Numba calls when the last reference of an array's owner goes: never, because no array here has an owner.

    A function that allocates an array needs more of Numba's run-time library, which the linker refuses.
    """
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [POINTER]), "NRT_MemInfo_call_dtor")
    ir.IRBuilder(function.append_basic_block("entry")).ret_void()


def _flags():
    flags = compiler.Flags()
    flags.nrt = True
    flags.no_compile = True
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.boundscheck = False
    flags.error_model = "numpy"
    return flags


class _Entry:
    """The IR of one entry: PyObject *grb_f(PyObject *self, PyObject *const *args, Py_ssize_t nargs)."""

    def __init__(self, module, name):
        function_type = ir.FunctionType(POINTER, [POINTER, POINTER.as_pointer(), I64])
        self.module, self.name, self.texts = module, name, {}
        self.function = ir.Function(module, function_type, f"grb_{name}")
        self.itself, self.args, self.count = self.function.args
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.table = self.load(I64.as_pointer(), self.itself, DATA)

    def load(self, kind, base, offset):
        """The value of type `kind` at `offset` bytes from the pointer `base`."""
        at = self.builder.gep(self.builder.bitcast(base, POINTER), [ir.Constant(I64, offset)])
        return self.builder.load(self.builder.bitcast(at, kind.as_pointer()))

    def slot(self, name):
        """The address under `name` in the table."""
        at = self.builder.gep(self.table, [ir.Constant(I64, TABLE.index(name))])
        return self.builder.load(at)

    def call(self, name, result, arguments):
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        return self.builder.call(self.builder.inttoptr(self.slot(name), kind.as_pointer()), arguments)

    def require(self, condition, message, exception="KernelError"):
        """Return with an exception unless `condition` holds."""
        with self.builder.if_then(self.builder.not_(condition), likely=False):
            constant = self.text(message)
            which = self.builder.inttoptr(self.slot(exception), POINTER)
            self.call("PyErr_SetString", ir.VoidType(), [which, self.builder.bitcast(constant, POINTER)])
            self.builder.ret(ir.Constant(POINTER, None))

    def text(self, message):
        """The constant of a message, one for each."""
        if message not in self.texts:
            data = bytearray(message.encode() + b"\0")
            kind = ir.ArrayType(I8, len(data))
            constant = ir.GlobalVariable(self.module, kind, f"text.{self.name}.{len(self.texts)}")
            constant.linkage, constant.global_constant, constant.initializer = "internal", True, ir.Constant(kind, data)
            self.texts[message] = constant
        return self.texts[message]

    def all_of(self, conditions):
        joined = conditions[0]
        for condition in conditions[1:]:
            joined = self.builder.and_(joined, condition)
        return joined

    def array(self, argument, char, dimensions, message):
        """(data, lengths) of an argument that must be a C-contiguous array of the type."""
        b = self.builder
        kind = self.load(I64, argument, TYPE)
        is_array = b.icmp_unsigned("==", kind, self.slot("ndarray"))
        found = b.alloca(ir.IntType(1))
        b.store(is_array, found)
        with b.if_then(b.not_(is_array), likely=False):
            subtype = self.call("PyType_IsSubtype", I32, [kind, self.slot("ndarray")])
            b.store(b.icmp_signed("!=", subtype, ir.Constant(I32, 0)), found)
        self.require(b.load(found), message)
        descr = self.load(POINTER, argument, DESCR)
        code = self.load(I8, descr, KIND_CHAR)
        codes = [b.icmp_unsigned("==", code, ir.Constant(I8, ord(c))) for c in SAME.get(char, char)]
        right = codes[0] if len(codes) == 1 else b.or_(*codes)
        flags = b.and_(self.load(I32, argument, FLAGS), ir.Constant(I32, CONTIGUOUS))
        swapped = b.icmp_unsigned("==", self.load(I8, descr, BYTE_ORDER), ir.Constant(I8, ord(">")))
        ndim = self.load(I32, argument, NDIM)
        self.require(
            self.all_of(
                [
                    right,
                    b.icmp_unsigned("==", flags, ir.Constant(I32, CONTIGUOUS)),
                    b.icmp_unsigned("==", ndim, ir.Constant(I32, dimensions)),
                    b.not_(swapped),
                ]
            ),
            message,
        )
        shape = self.load(I64.as_pointer(), argument, SHAPE)
        lengths = [b.load(b.gep(shape, [ir.Constant(I64, k)])) for k in range(dimensions)]
        return self.load(POINTER, argument, DATA), lengths

    def number(self, argument, char):
        """An argument as int64, uint64 or float64; an exception of the conversion is passed on."""
        b = self.builder
        if char == "d":
            value = self.call("PyFloat_AsDouble", ir.DoubleType(), [argument])
            suspect = b.fcmp_ordered("==", value, ir.Constant(ir.DoubleType(), -1.0))
        else:
            value = self.call("PyLong_AsUnsignedLongLongMask", I64, [argument])
            suspect = b.icmp_unsigned("==", value, ir.Constant(I64, -1))
        with b.if_then(suspect, likely=False):
            error = self.call("PyErr_Occurred", I64, [])
            with b.if_then(b.icmp_unsigned("!=", error, ir.Constant(I64, 0))):
                b.ret(ir.Constant(POINTER, None))
        return value


def _entry(context, module, name, names, signature, result):
    """The entry of a compiled function."""
    entry = _Entry(module, name)
    b = entry.builder
    entry.require(
        b.icmp_signed("==", entry.count, ir.Constant(I64, len(signature))), f"{name}: {len(signature)} arguments"
    )
    raw = []
    for number, (parameter, (char, dimensions)) in enumerate(zip(names, signature, strict=True)):
        argument = b.load(b.gep(entry.args, [ir.Constant(I64, number)]))
        if dimensions:
            wanted = f"{name}: argument {parameter} must be a contiguous {dimensions}-D array of type {char!r}"
            raw.append(entry.array(argument, char, dimensions, wanted))
        else:
            raw.append(entry.number(argument, char))
    arguments = []
    for kind, value in zip(result.signature.args, raw, strict=True):
        arguments.append(_array_struct(context, b, kind, *value) if isinstance(kind, types.Array) else value)
    function_type = context.call_conv.get_function_type(result.signature.return_type, result.signature.args)
    function = ir.Function(module, function_type, result.fndesc.llvm_func_name)
    state = entry.call("PyEval_SaveThread", POINTER, [])
    status, value = context.call_conv.call_function(
        b, function, result.signature.return_type, result.signature.args, arguments
    )
    entry.call("PyEval_RestoreThread", ir.VoidType(), [state])
    entry.require(b.not_(status.is_error), f"{name}: the compiled function raised an exception")
    if isinstance(result.signature.return_type, types.Integer):
        bits = result.signature.return_type.bitwidth
        value = b.sext(value, I64) if bits < 64 else value
    else:
        value = ir.Constant(I64, 0)
    b.ret(entry.call("PyLong_FromLongLong", POINTER, [value]))


def _array_struct(context, builder, kind, data, lengths):
    """Numba's record of an array, without an owner: the caller keeps the array."""
    made = arrayobj.make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = []
    step = ir.Constant(I64, size)
    for length in reversed(lengths):
        strides.insert(0, step)
        step = builder.mul(step, length)
    arrayobj.populate_array(
        made,
        data=builder.bitcast(data, context.get_data_type(kind.dtype).as_pointer()),
        shape=lengths,
        strides=strides,
        itemsize=ir.Constant(I64, size),
        meminfo=None,
    )
    return made._getvalue()


def versions():
    """The compilers that made the code."""
    return {"numba": numba.__version__, "llvm": ".".join(map(str, llvm.llvm_version_info))}
