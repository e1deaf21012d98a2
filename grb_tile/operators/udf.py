"""Users' functions: their return types, their lowering, and the fallbacks for functions that cannot be lowered.

    the source can be lowered         a typed expression for NumPy, Numba and CUDA
    else Numba can compile it         a loop over the entries, compiled by Numba; CPU only
    else it returns a number          a Python loop over the entries; CPU only
    else                              UdfParseError, also for a wrong number of arguments, async and yield

Return types follow python-graphblas: a result of the operand's family (integer, real, complex) has the operand's type,
an integer result of BOOL operands is INT8, other results keep their type.
"""

import inspect
import logging
import warnings
import weakref

import numpy as np

from ..dtypes import BOOL, BUILTIN, FP64, INT8, INT64, UINT64, lookup_dtype
from ..exceptions import UdfParseError
from .from_python import NoMeaning, TooLong, expression_from_tree
from .ir import cast, narrowed
from .source import function_tree
from .to_numpy import numpy_function

# INT8 before BOOL and INT64 before UINT64, because their return types decide those of the later ones.
_ORDER = sorted(BUILTIN, key=lambda t: (t is BOOL, t.rank))
_LOGGER = logging.getLogger("grb_tile")
_named = weakref.WeakSet()  # code of the functions of which the log says that they run in Python
_SAMPLES = {"b": True, "i": 1, "u": 1, "f": 0.5, "c": 0.5j}


class UserFunction:
    """A Python function that defines an operator: its syntax tree, its types and its compiled form.

    refusal   the UdfParseError that explains why it cannot be lowered, or None
    """

    def __init__(self, function, cuda=None):
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            kind = "async" if inspect.iscoroutinefunction(function) else "a generator"
            raise UdfParseError(f"{function.__qualname__} is {kind}: an operator's function returns a number; use def")
        self.function = function
        self.cuda = cuda
        self.refusal = None
        self._tree = self._resolve = self._compiled = None
        try:
            self._tree, self._resolve = function_tree(function)
        except UdfParseError as error:
            self.refusal = error

    def natural_expression(self, types):
        """The expression for these argument types; None when it cannot be lowered.  Raises: NoMeaning."""
        self._check_arity(len(types))
        if self._tree is None:
            return None
        try:
            return expression_from_tree(self._tree, self._resolve, self.function.__name__, types)
        except UdfParseError as error:
            if isinstance(error, TooLong):
                raise
            self.refusal = error
            self._tree = None
            return None
        except RecursionError:
            raise self._too_deep() from None

    def _too_deep(self):
        return TooLong(f"{self.function.__name__}: its operations are nested too deeply; compute it in several steps")

    def _check_arity(self, count):
        """Raises: UdfParseError where the function cannot be called with `count` arguments."""
        try:
            inspect.signature(self.function).bind(*range(count))
        except TypeError as error:
            name = getattr(self.function, "__name__", repr(self.function))
            raise UdfParseError(f"{name}: an operator here takes {count} arguments; the function: {error}") from None
        except ValueError:  # a function of C without a signature
            pass

    def natural_type(self, types):
        """The function's result type for these argument types, None where it is not defined for them."""
        self._check_arity(len(types))
        if self._tree is not None:
            try:
                expression = self.natural_expression(types)
            except NoMeaning:
                return None
            if expression is not None:
                return expression.type
        return self._type_by_trial(types)

    def _type_by_trial(self, types):
        compiled = self.compiled()
        if compiled is not None:
            signature = tuple(t.numba_type for t in types)
            try:
                _compile(compiled, signature)
                return lookup_dtype(compiled.overloads[signature].signature.return_type)
            except Exception as error:  # Numba's errors, and TypeError for a wrong number of arguments
                self.trial_error = error
        samples = [_sample(t) for t in types]
        try:
            with np.errstate(all="ignore"):
                value = self.function(*samples)
            if value is None or not np.isscalar(value) or isinstance(value, str):
                return None
            return lookup_dtype(np.asarray(value).dtype)
        except Exception as error:
            self.trial_error = error
            return None

    trial_error = None

    def compiled(self):
        """The function under Numba's njit, or None without Numba."""
        if self._compiled is None:
            try:
                import numba
            except ImportError:
                return None
            self._compiled = numba.njit(boundscheck=True)(self.function)  # an argument may be used as an index
        return self._compiled

    def install(self, typed, types, result, argument_types=None):
        """Set the fields of `typed` for argument types `types`: expression and numpy, or a loop as numpy."""
        typed.cuda_text = self.cuda
        typed.python_function = self.function
        expression = self.natural_expression(types) if self._tree is not None else None
        if expression is not None:
            try:
                typed.expression = narrowed(cast(expression, result))
                typed.numpy = numpy_function(typed.expression, len(types))
            except RecursionError:
                raise self._too_deep() from None
            return
        typed.refusal = self.refusal
        typed.numpy = entry_by_entry(self, types, result)


def _sample(type_):
    if type_._is_udt:
        return np.zeros(1, type_.np_type)[0]
    return type_.np_type.type(_SAMPLES[type_.np_type.kind])


def settled_type(natural, operand, known):
    """The return type by python-graphblas's rule; `known`: {operand type: return type} of the types before."""
    if natural is operand:
        return natural
    for family in ("INT", "FP", "FC"):
        if family in natural.name and family in operand.name:
            return operand
    if operand is UINT64 and natural is FP64 and known.get(INT64) is INT64:
        return operand
    if operand is BOOL and natural is INT64 and known.get(INT8) is INT8:
        return INT8
    return natural


def infer_rule(user, types_of):
    """{type: (type, type, return type)} for all built-in types for which the function is defined.

    `types_of(dtype)`: the types of the function's arguments.  Raises: UdfParseError when there is no such type.
    """
    rule, known = {}, {}
    for dtype in _ORDER:
        natural = user.natural_type(types_of(dtype))
        if natural is None or natural._is_udt:
            continue
        known[dtype] = settled_type(natural, dtype, known)
        rule[dtype] = (dtype, dtype, known[dtype])
    if not rule:
        reason = user.refusal or user.trial_error or "it has no meaning for any built-in type"
        raise UdfParseError(
            f"Unable to parse function using Numba, nor by lowering its source: {reason}.  An operator's function "
            "takes numbers, may use arithmetic, comparisons, if, local variables and math functions, and returns a "
            "number."
        )
    return rule


def entry_by_entry(user, types, result):
    """A function of arrays that calls the user's function for each element, compiled by Numba where possible."""
    state = {}
    dtype = result.np_type

    def plainly(arrays, out):
        function = user.function
        with np.errstate(all="ignore"):
            for k, operands in enumerate(zip(*arrays)):
                out[k] = function(*operands)

    def choose():
        compiled = user.compiled()
        try:
            if compiled is not None:
                _compile(compiled, tuple(t.numba_type for t in types))
        except Exception:
            compiled = None
        if compiled is None:
            _say_that_it_is_slow(user)
            return plainly
        loop = _numba_loop(compiled, len(types))
        return lambda arrays, out: loop(*arrays, out)

    def apply(*arrays):
        if "run" not in state:
            state["run"] = choose()
        spread = np.broadcast_arrays(*arrays)
        shape = spread[0].shape
        flat = [np.ascontiguousarray(a).reshape(-1) for a in spread]
        out = np.empty(flat[0].shape[0], dtype)
        state["run"](flat, out)
        return out.reshape(shape)

    return apply


def _compile(compiled, signature):
    """Compile for the types of `signature`, without Numba's warnings: they advise on decorators that no user wrote."""
    import numba

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.core.errors.NumbaWarning)
        compiled.compile(signature)


def _say_that_it_is_slow(user):
    """Log one line for each function that runs in Python, entry by entry."""
    code = getattr(user.function, "__code__", None)
    if code is None or code in _named:
        return
    _named.add(code)
    name = f"{user.function.__qualname__} ({code.co_filename}, line {code.co_firstlineno})"
    _LOGGER.warning(
        "the function %s runs in Python, entry by entry, because it cannot be compiled: %s. "
        "logging.getLogger('grb_tile').setLevel('ERROR') hides this line",
        name,
        str(user.refusal).splitlines()[0].removesuffix("."),
    )


def _numba_loop(f, count):
    import numba

    def unary(x, out):
        for k in range(out.shape[0]):
            out[k] = f(x[k])

    def binary(x, y, out):
        for k in range(out.shape[0]):
            out[k] = f(x[k], y[k])

    def indexunary(x, i, j, thunk, out):
        for k in range(out.shape[0]):
            out[k] = f(x[k], i[k], j[k], thunk[k])

    return numba.njit(nogil=True)({1: unary, 2: binary}.get(count, indexunary))
