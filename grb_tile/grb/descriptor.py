"""Descriptors: how an operation treats its output, mask and inputs.

Spec: GraphBLAS C API 2.1, section 3.6, tables 3.11 (fields and values) and 3.12 (the predefined ones,
DESC_[R][S][C][T0][T1]).
"""

from ..exceptions import InvalidValue

OUTP, MASK, INP0, INP1 = "OUTP", "MASK", "INP0", "INP1"
DEFAULT, REPLACE, COMP, STRUCTURE, COMP_STRUCTURE, TRAN = (
    "DEFAULT",
    "REPLACE",
    "COMP",
    "STRUCTURE",
    "COMP_STRUCTURE",
    "TRAN",
)
_VALUES = {
    OUTP: (DEFAULT, REPLACE),
    MASK: (DEFAULT, COMP, STRUCTURE, COMP_STRUCTURE),
    INP0: (DEFAULT, TRAN),
    INP1: (DEFAULT, TRAN),
}


class Descriptor:
    """Flags `replace`, `complement`, `structure`, `t0`, `t1`, all False by default, and a `name`.

    A `frozen` one is predefined and cannot be changed.  Spec: section 3.6.

    >>> from grb_tile import grb
    >>> grb.DESC_RSC
    Descriptor(replace, structure, complement)
    """

    __slots__ = ("complement", "frozen", "name", "replace", "structure", "t0", "t1")

    def __init__(self, replace=False, structure=False, complement=False, t0=False, t1=False, frozen=False, name=""):
        self.name = name
        self.replace, self.structure, self.complement = replace, structure, complement
        self.t0, self.t1, self.frozen = t0, t1, frozen

    def __repr__(self):
        on = [name for name in ("replace", "structure", "complement", "t0", "t1") if getattr(self, name)]
        return f"Descriptor({', '.join(on)})"


_DEFAULT = Descriptor(frozen=True)


def Descriptor_new():
    """A new descriptor with default settings (GrB_Descriptor_new, section 4.2.6.1)."""
    return Descriptor()


def Descriptor_set(desc, field, value):
    """Set one field, OUTP, MASK, INP0 or INP1, of a descriptor (GrB_Descriptor_set, section 4.2.6.2).

    Raises: InvalidValue for an unknown field or value, or for a predefined descriptor; TypeError for another object.
    """
    if not isinstance(desc, Descriptor):
        raise TypeError(f"desc must be a Descriptor (grb.Descriptor_new()), got {type(desc).__name__}")
    if field not in _VALUES:
        raise InvalidValue(f"field is {field!r}; expected one of OUTP, MASK, INP0, INP1")
    if value not in _VALUES[field]:
        raise InvalidValue(f"value is {value!r}; field {field} takes {', '.join(_VALUES[field])}")
    if desc.frozen:
        raise InvalidValue(f"desc is predefined ({desc!r}) and cannot be changed; make one with grb.Descriptor_new()")
    if field == OUTP:
        desc.replace = value == REPLACE
    elif field == MASK:
        desc.complement = value in (COMP, COMP_STRUCTURE)
        desc.structure = value in (STRUCTURE, COMP_STRUCTURE)
    elif field == INP0:
        desc.t0 = value == TRAN
    else:
        desc.t1 = value == TRAN


def predefined_descriptor(suffix):
    """DESC_<suffix>, the suffix made of R, S, C, T0, T1 in this order; None for any other suffix."""
    flags, rest = {}, suffix
    for text, name in (("R", "replace"), ("S", "structure"), ("C", "complement"), ("T0", "t0"), ("T1", "t1")):
        if rest.startswith(text):
            flags[name] = True
            rest = rest[len(text) :]
    return None if rest or not flags else Descriptor(**flags, frozen=True, name=f"GrB_DESC_{suffix}")


def flags_of(desc):
    """The descriptor, or the default one for None."""
    if desc is None:
        return _DEFAULT
    if not isinstance(desc, Descriptor):
        raise TypeError(f"desc is {desc!r}; expected None or a Descriptor such as grb.DESC_RSC or grb.Descriptor_new()")
    return desc
