"""CudaBackend: every primitive on the device.  Meanings: backends/protocol.py.

A primitive's operands are copied to the device first (`device.to_device`: once, and kept with the host store); its
result stays there.  The modules in the folders here hold a function per primitive, `f(device, ...)` with device stores
only; primitives.py lists those that are called in this way.

A function returns NotImplemented for operands without a device form (user-defined types that are no numbers): the
primitive is then computed on the host and its result moved, and `detours` counts it under the primitive's name.  A
whole loop over a graph returns NotImplemented where it has no kernel: the algorithm's own loop of primitives runs.
A user's operator without C++ text is not among them: it raises UdfParseError.
"""

from collections import Counter
from functools import wraps
from importlib import import_module

import numpy as np

from ...exceptions import GraphblasException, OutOfMemory
from ...planner.device_limits import LEAST_ARCH
from ...storage import place
from ...storage.host_memory import check_memory
from ...storage.store import BitmapVector, Compressed, Dense, SparseVector, StoredMask, same_structure
from .. import plain
from ..dense import DenseForms
from ..guard import guarded
from ..indices import IndexArrays
from ..protocol import Backend
from ..rearranged import ranked_rows, reshape_matrix, split_matrix
from .elementwise.element import element
from .graph.methods import WholeLoops
from .primitives import TabledPrimitives
from .runtime import errors
from .runtime.device import Device
from .runtime.errors import HostOnly, reporting
from .runtime.moves import copy_from_device

STORES = (SparseVector, BitmapVector, Compressed)
RECEIVED_FROM = 1 << 20  # bytes; of fewer, which may never be wanted here, the host's copy takes less than 0.2 ms
NUMBERS = frozenset("?bhilqBHILQfdFD")  # NumPy's types with a device form
_HERE = __package__


def real_launcher(number=0):
    """The launcher for the device of that number.

    Raises: GraphblasException that names the remedy when there is none.
    """
    try:
        import cupy
    except ImportError as error:
        raise GraphblasException(
            f"backend \"cuda\" needs CuPy, which cannot be imported ({error}): pip install '.[cuda13]' (or cuda12) in "
            "a checkout of grb_tile"
        ) from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise GraphblasException(
            f'backend "cuda" found no usable NVIDIA driver ({error}): install a driver that fits CUDA, or use '
            'gb.config.set(backend="cpu")'
        ) from error
    if count == 0:
        raise GraphblasException('backend "cuda" found no NVIDIA device; use gb.config.set(backend="cpu")')
    if number >= count:
        raise GraphblasException(
            f"device: there is no device {number}; this machine has {count}, of numbers 0 to {count - 1}: choose one "
            "with gb.config.set(device=...), gb.device(...), GRB_TILE_DEVICE or CUDA_VISIBLE_DEVICES"
        )
    capability = int(cupy.cuda.Device(number).compute_capability)
    if capability < LEAST_ARCH:
        raise GraphblasException(
            f'backend "cuda" needs a device of compute capability {LEAST_ARCH / 10} or more (Turing, 2018); '
            f"device {number} has {capability / 10}: choose another with gb.config.set(device=...) or "
            'CUDA_VISIBLE_DEVICES, or use gb.config.set(backend="cpu")'
        )
    from .runtime.compile import compiler
    from .runtime.launch import Launcher

    compiler()
    return Launcher(number)


def is_available():
    """Are CuPy and a device there?  Does not import CuPy when it is not installed."""
    from importlib.util import find_spec

    if find_spec("cupy") is None:
        return False
    try:
        import cupy

        return bool(cupy.cuda.is_available())
    except Exception:  # noqa: BLE001  # a broken driver may raise anything; "auto" then means the CPU
        return False


def count_devices():
    """0 where there is no CuPy, or no driver: making the backend says what is missing."""
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount()
    except (ImportError, RuntimeError):
        return 0


def where_it_resides(primitive):
    """Wrap a primitive of one store whose result is the host's: the device computes where the store resides.

    This device's lock is not held meanwhile, because a thread of the other device may wait for it.
    """
    name = primitive.__name__

    @wraps(primitive)
    def call(backend, store):
        if backend._is_elsewhere(store):
            return getattr(place.backend_of(store), name)(store)
        return primitive(backend, store)

    return call


class CudaPrimitives(WholeLoops, TabledPrimitives, Backend):
    """Every primitive on the device of that number, or of `launcher`, which tests bring."""

    name = "cuda"
    on_device = True
    asynchronous = True

    @classmethod
    def is_available(cls):
        return is_available()

    @classmethod
    def count_devices(cls):
        """Those that this process sees, of CUDA_VISIBLE_DEVICES; 0 where they cannot be asked for."""
        return count_devices()

    def __init__(self, number=0, launcher=None):
        launcher = launcher or real_launcher(number)
        with launcher.bound():
            self.device = Device(launcher)
        self.store_to_device = self.device.to_device
        self.profile = self.device.profile
        self.detours = Counter()
        self._host = None
        self._functions = {}
        self._put = self._find("elementwise.overwrite", "put")
        self.device_name = f"cuda:{self.device.number}"
        place.register(self.device.array_class, self.device.number, self)

    def check_memory(self, wanted, what, remedy):
        check_memory(wanted, what, remedy, self.device.total_memory)

    # ------------------------------------------------------------------ structure

    @where_it_resides
    @reporting
    def tuples_vector(self, u):
        """(indices, values) as NumPy arrays."""
        return tuple(map(self.device.host, self._call("structure.build", "tuples_vector", self.store_to_device(u))))

    @where_it_resides
    @reporting
    def tuples_matrix(self, A):
        """(rows, cols, values) as NumPy arrays."""
        return tuple(map(self.device.host, self._call("structure.build", "tuples_matrix", self.store_to_device(A))))

    def cast(self, store, dtype):
        if store.dtype is dtype:
            return store  # on the device or not
        if store.iso and store.format == "bitmap":
            device = self.device
            if type(store.values) is device.array_class:
                values = device.cast_constants.get((device.address(store.values), dtype))
                if values is not None:  # the one value was cast before: nothing to do for the device
                    store.shared = True
                    result = store.with_values(dtype, values, True)
                    result.shared = True
                    return result
        return super().cast(store, dtype)

    def outside(self, A, I, J):
        result = super().outside(A, I, J)
        return plain.outside(self, A, I, J) if result is NotImplemented else result

    def gather_region(self, u, I, J, width):
        result = super().gather_region(u, I, J, width)
        return IndexArrays.gather_region(self, u, I, J, width) if result is NotImplemented else result

    @reporting
    def concat_matrices(self, tiles, dtype):
        tiles = [list(map(self.store_to_device, row)) for row in tiles]
        return self._call("structure.grid", "concat_matrices", tiles, dtype)

    def split_matrix(self, A, heights, widths):
        result = NotImplemented if type(A) is Dense else super().split_matrix(A, heights, widths)
        return split_matrix(self, A, heights, widths) if result is NotImplemented else result

    def reshape_matrix(self, A, nrows, ncols):
        result = super().reshape_matrix(A, nrows, ncols)
        return reshape_matrix(self, A, nrows, ncols) if result is NotImplemented else result

    def ranked_rows(self, x, order, ncols, values, columns, seed=0):
        result = super().ranked_rows(x, order, ncols, values, columns, seed)
        return ranked_rows(self, x, order, ncols, values, columns, seed) if result is NotImplemented else result

    def sorts_products(self, A, u, semiring):
        return self._call("products.matvec", "lacks_atomic", A, u, semiring)

    # ------------------------------------------------------------------ placement

    def _is_elsewhere(self, store):
        """Does the store reside on another device?"""
        device = self.device
        return device.several and not place.is_host(store) and place.number_of(store.values) != device.number

    def operands_to_device(self, A, u, mask):
        """(A, u, mask) on the device; all as they are where one has a user-defined type."""
        try:
            return self.device.operands_to_device(A, u, mask)
        except HostOnly:
            return A, u, mask

    def to_device(self, operand):
        try:
            return (
                self.device.mask_to_device(operand)
                if operand is None or type(operand) is StoredMask
                else self.store_to_device(operand)
            )
        except HostOnly:
            return operand

    def copy_here(self, store):
        if self._is_elsewhere(store):
            place.wait_for(store)
            return copy_from_device(self.device, store)
        return self.to_device(store)

    def synchronize(self):
        self.device.synchronize()

    def wait_stream(self):
        self.device.in_order()

    def constant(self, value):
        return self.device.constant(value)

    def iso_value(self, store):
        return self.device.iso_value(store)

    def element(self, store, key):
        return element(self.device, store, key)

    def host_array(self, array):
        return self.device.host(array)

    def bind(self):
        self.device.launcher.bind()

    def bound(self):
        return self.device.bound()

    def run_reported(self, function, name):
        return errors.run_reported(self.device, name, function)

    def device_report(self):
        from .device_report import report_of

        return report_of(self.device)

    def compile_ahead(self, progress=None):
        from .runtime.ahead import fill_cache

        return fill_cache(None, progress)

    def describe_device(self):
        return self.device.launcher.device_name()

    # ------------------------------------------------------------------ arrays

    @property
    def xp(self):
        return self.device.xp

    def array(self, data, dtype=None):
        device = self.device
        if isinstance(data, (np.ndarray, np.generic, list)) or isinstance(data, device.array_class):
            return device.array(data, dtype)
        if hasattr(data, "__cuda_array_interface__"):
            return device.array(device.xp.asarray(data), dtype)
        return device.array(device.xp.from_dlpack(data), dtype)

    def received(self, data):
        if data.nbytes < RECEIVED_FROM or data.dtype.char not in NUMBERS or not data.dtype.isnative:
            return None
        try:
            return self.run_reported(lambda: self.device.array(data), "a copy of a host array")
        except OutOfMemory:
            return None

    def positions(self, I):
        return self._find("structure.index_lists", "positions_of")(self.device, I)

    def is_array(self, x):
        return isinstance(x, self.device.array_class)

    def cast_array(self, values, have, want):
        return self._find("structure.arrays", "cast_array")(self.device, values, have, want)

    def line_numbers(self, indptr, names=None, count=None, dtype=np.int64):
        device = self.device
        names = None if names is None else device.array(names, np.int64)
        ranges = self._find("structure.arrays", "ranges")
        count = device.read(indptr[-1:])[0] if count is None else count
        return ranges(device, None, indptr[1:], count, names=names, segment_dtype=dtype, want_at=False)[0]

    def has_ascending_columns(self, A):
        rows = self._find("structure.arrays", "row_ids")(self.device, A)
        descents, repeats, *_ = self._find("structure.arrays", "order_facts")(self.device, rows, A.indices)
        return not (descents or repeats)

    @reporting
    def tuples(self, x):
        name = "tuples_matrix" if x.format in ("csr", "dcsr") else "tuples_vector"
        return self._call("structure.build", name, self.store_to_device(x))

    # ------------------------------------------------------------------ products

    @reporting
    def matvec_rows(self, A, x, semiring, mask=None, plan=None):
        A, x, mask = self.device.operands_to_device(A, x, mask)
        return self._call("products.matvec", "matvec_rows", A, x, semiring, mask, plan)

    @reporting
    def matvec_cols(self, AT, x, semiring, mask=None, plan=None):
        AT, x, mask = self.device.operands_to_device(AT, x, mask)
        return self._call("products.matvec", "matvec_cols", AT, x, semiring, mask, plan)

    def bind_mxv(self, A, transposed, u, semiring, mask):
        return self._find("products.bound_products", "bind")(self, A, transposed, u, semiring, mask)

    def reduce_matmul(self, A, B, semiring, monoid, axis=None, mask=None, plan=None, BT=None, keep=None):
        result = super().reduce_matmul(A, B, semiring, monoid, axis, mask, plan, BT, keep)
        if result is NotImplemented:
            result = plain.reduce_matmul(self, A, B, semiring, monoid, axis, mask, plan, BT, keep)
        return result

    # ------------------------------------------------------------------ element-wise

    def is_equal(self, x, y, op, tolerance=None):
        if place.is_host(x) and place.is_host(y):
            return plain.is_equal(self, x, y, op, tolerance)
        return super().is_equal(x, y, op, tolerance)

    @reporting
    def overwrite(self, c, t, mask):
        to_device = self.store_to_device
        try:
            found = self._find("elementwise.overwrite", "overwrite")(
                self.device, to_device(c), to_device(t), self.device.mask_to_device(mask)
            )
        except HostOnly:
            found = NotImplemented
        if found is not NotImplemented:
            return found
        if not mask.complement and same_structure(t, mask.pattern):
            return self.union(c, t, None)  # where both have an entry T's stands
        return self.union(t, self.restrict(c, ~mask), None)

    @reporting
    def put_region(self, c, t, I, J, width, accum):
        try:
            c, t = self.store_to_device(c), None if t is None else self.store_to_device(t)
        except HostOnly:
            return NotImplemented
        if c.format in ("csr", "dcsr"):
            of_rows = J is None and I is not None and accum is None
            return self._find("structure.rows", "put_rows")(self.device, c, t, I) if of_rows else NotImplemented
        return self._find("elementwise.overwrite", "put_region")(self.device, c, t, I, J, width, accum)

    @reporting
    def fill(self, c, value, pattern):
        to_device = self.store_to_device
        try:
            return self._put(self.device, to_device(c), to_device(pattern), self.device.constant(value), True)
        except HostOnly:
            return NotImplemented

    # ------------------------------------------------------------------ finding functions

    def _find(self, module, name):
        """The function `name` of a module of this package; None when there is none."""
        key = module, name
        if key not in self._functions:
            try:
                found = getattr(import_module(f"{_HERE}.{module}"), name, None)
            except ModuleNotFoundError as error:
                if error.name != f"{_HERE}.{module}":
                    raise
                found = None
            self._functions[key] = found
        return self._functions[key]

    def _call(self, module, name, *args):
        function = self._functions.get((module, name)) or self._find(module, name)
        if function is not None:
            result = function(self.device, *args)
            if result is not NotImplemented:
                return result
        return self.through_host(name, args)

    def through_host(self, name, args, kwargs=None):
        """The primitive computed by the CPU backend from host copies; a store it returns is moved to the device."""
        if self._host is None:
            from ..cpu.backend import CpuBackend

            self._host = guarded(CpuBackend())
        self.detours[name] += 1
        result = getattr(self._host, name)(*args, **(kwargs or {}))
        return self.store_to_device(result) if isinstance(result, STORES) and not result.dtype._is_udt else result


class CudaBackend(DenseForms, CudaPrimitives):
    """The primitives on a device, dense matrices included."""
