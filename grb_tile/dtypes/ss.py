"""User-defined types with a C definition are SuiteSparse's; here `register_new` keeps the NumPy dtype only."""

from .types import lookup_dtype, register_new as _register_new


def register_new(name, jit_c_definition, *, np_type=None):
    """Register a user-defined type; the C text is accepted for compatibility, and needs `np_type` beside it.

    Raises: ValueError without `np_type`, since no C compiler is asked for the layout.
    """
    if np_type is None:
        raise ValueError("dtypes.ss.register_new: give np_type=<a NumPy dtype>; C definitions are not parsed")
    return _register_new(name, np_type)


__all__ = ["lookup_dtype", "register_new"]
