"""The primitives that are one function of a module of this package: a table, and the method made from each line.

    {module: {primitive: names of its operands that are copied to the device}}

The function has the primitive's name and is called as `f(device, ...)`, with all parameters of the primitive in the
protocol's order.  `mask` among the operands is a mask, the others are stores or None.
"""

from inspect import Signature, signature

from ..protocol import Backend
from .runtime.errors import reporting

PRIMITIVES = {  # where a function returns NotImplemented, the host computes
    "structure.build": {"build_vector": "", "build_matrix": ""},
    "structure.formats": {"convert": "store", "transpose": "A", "cast": "store"},
    "structure.gather": {
        "gather_vector": "u", "gather_matrix": "A", "expand_vector": "u", "expand_matrix": "A",
    },
    "structure.index_lists": {"positions_in": "", "bounds_of": "", "last_of_each": "", "region_positions": ""},
    "elementwise.elementwise": {"union": "x y mask", "intersect": "x y mask", "restrict": "x mask"},
    "elementwise.mapping": {"select": "x mask", "apply": "x mask", "reduce": "x"},
    "elementwise.compare": {"is_equal": "x y"},
    "elementwise.scan": {"scan": "x"},
    "elementwise.first_of_rows": {"first_of_rows": "x"},
    "elementwise.broadcast": {"broadcast": "u pattern", "kronecker": "A B mask"},
    "products.matmul": {"matmul": "A B mask BT"},
    "products.inner": {"inner": "u v"},
    "products.columns": {"edges_of": ""},  # read back, and kept with u
    "products.tiles": {"tile_facts": ""},  # read back, and kept with A
}  # fmt: skip
DECLINING = {  # where a function returns NotImplemented, so does the primitive
    "structure.outside": {"outside": "A"},
    "structure.grid": {"split_matrix": "A"},
    "structure.reshape": {"reshape_matrix": "A"},
    "elementwise.ranked_rows": {"ranked_rows": "x"},
    "structure.gather": {"gather_region": "u"},
    "products.matmul": {"reduce_matmul": "A B mask BT"},
    "products.inner_windows": {"matmul_inner": "A B"},
    "products.dense": {"dense_matmul": ""},
    "products.spmm": {"spmm": "A"},
    "products.sddmm": {"sddmm": "pattern"},
    "communities.quotient": {"quotient": "A", "entries_inside": "A"},
    "communities.row_labels": {"sum_by_label": "", "first_by_label": ""},
    "communities.local_moves": {"move_rounds": "B", "join_rounds": "B", "settle": "B"},
}


def method(name, module, operands, declines):
    """The primitive `name` as a method of CudaBackend, made as text: a loop over operands costs 0.2 us more a call."""
    parameters = [p.replace(annotation=p.empty) for p in signature(getattr(Backend, name)).parameters.values()]
    lines = [f"def {name}{Signature(parameters)}:", " device = self.device"]
    for operand in operands.split():
        to_device = "device.mask_to_device" if operand == "mask" else "self.store_to_device"
        lines.append(f" if {operand} is not None: {operand} = {to_device}({operand})")
    given = ", ".join(p.name for p in parameters[1:])
    lines += [
        f" function = self._functions.get({(module, name)}) or self._find({module!r}, {name!r})",
        f" result = NotImplemented if function is None else function(device, {given})",
        " return result" if declines else
        f" return self.through_host({name!r}, ({given},)) if result is NotImplemented else result",
    ]  # fmt: skip
    scope = {}
    exec(compile("\n".join(lines), f"<primitive {name} of {module}>", "exec"), scope)
    return reporting(scope[name])


class TabledPrimitives:
    """Methods of CudaBackend, which has `device`, `store_to_device`, `_functions`, `_find` and `through_host`."""


for _table in (PRIMITIVES, DECLINING):
    for _module, _rows in _table.items():
        for _name, _operands in _rows.items():
            setattr(TabledPrimitives, _name, method(_name, _module, _operands, _table is DECLINING))
