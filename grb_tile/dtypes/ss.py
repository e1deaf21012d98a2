"""User-defined types by a C definition, as in SuiteSparse; here `register_new` uses the NumPy dtype only."""

from .types import lookup_dtype, register_new as _register_new


def register_new(name, jit_c_definition, *, np_type=None):
    """Register a user-defined type; the C text is accepted for compatibility, `np_type` is required.

    Raises: ValueError without `np_type`, because the C definition is not parsed.
    """
    if np_type is None:
        raise ValueError("dtypes.ss.register_new: give np_type=<a NumPy dtype>; C definitions are not parsed")
    return _register_new(name, np_type)


__all__ = ["lookup_dtype", "register_new"]
