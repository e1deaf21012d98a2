"""Masks: which positions of an output may be written.

    M.S    where M has an entry                ~M.S   where it has none
    M.V    where M's entry is true             ~M.V   where it is false or absent

    A & B  the intersection, a structural mask, complemented when both are
    A | B  the union, a structural mask, complemented when one of them is

Spec: GraphBLAS C API 2.1, section 3.5.4 (masks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dtypes import BOOL
from ..exceptions import DimensionMismatch
from . import kinds
from .arguments import check_options, output_type

if TYPE_CHECKING:
    from typing import Any

    from .annotations import DTypeLike, MaskLike
    from .matrix import Matrix
    from .vector import Vector


class Mask:
    """A pattern taken from `parent` (a Vector or a Matrix): its structure or its true values, or the complement."""

    __slots__ = ("parent", "__weakref__")
    complement = False
    structure = False
    value = False
    _prefix = _suffix = ""
    _inverse: type[Mask]  # the class of ~mask, set below the four classes

    def __init__(self, parent: Any) -> None:
        self.parent = parent

    def __invert__(self):
        return self._inverse(self.parent)

    def __eq__(self, other):
        raise TypeError(f"__eq__ not defined for objects of type {type(self)}.")

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self):
        raise TypeError(f"__bool__ not defined for objects of type {type(self)}.")

    def __repr__(self):
        return self.parent.__repr__(mask=self)

    def _repr_html_(self):
        return self.parent._repr_html_(mask=self)

    def __reduce__(self):
        return type(self), (self.parent,)

    @property
    def name(self) -> str:
        return f"{self._prefix}{self.parent.name}{self._suffix}"

    @property
    def _name_html(self):
        return f"{self._prefix}{self.parent._name_html}{self._suffix}"

    def new(
        self,
        dtype: DTypeLike | None = None,
        *,
        complement: bool = False,
        mask: MaskLike | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Vector | Matrix:
        """An object that is True where the mask (and `mask`, when given) allows writing, and empty elsewhere.

        complement: True where writing is not allowed, and empty elsewhere.
        The structure of the result, `result.S` (or `~result.S`), is the same mask again.
        """
        if opts:
            check_options(opts)
        val = type(self.parent)(BOOL if dtype is None else dtype, *self.parent.shape, name=name)
        if mask is not None:
            mask = check_mask(mask)
            _same_shape(self, mask)
        if not complement:
            val(self) << True
            if mask is not None:
                val(mask, replace=True) << val.dup()
        else:
            val(~self) << True
            if mask is not None:
                val(~mask) << True
        return val

    def __and__(self, other):
        other = check_mask(other)
        _same_shape(self, other)
        # never dense: of two complements keep the union of what they exclude, else start from the plain mask
        if self.complement and other.complement:
            return ComplementedStructuralMask(_union(~self, ~other))
        if self.complement:
            return StructuralMask(other.new(mask=self))
        return StructuralMask(self.new(mask=other))

    __rand__ = __and__

    def __or__(self, other):
        other = check_mask(other)
        _same_shape(self, other)
        if self.complement:
            return ComplementedStructuralMask((~self).new(mask=~other))
        if other.complement:
            return ComplementedStructuralMask((~other).new(mask=~self))
        return StructuralMask(_union(self, other))

    __ror__ = __or__


class StructuralMask(Mask):
    """Where `parent` has an entry."""

    __slots__ = ()
    structure = True
    _suffix = ".S"


class ValueMask(Mask):
    """Where the entry of `parent` is true."""

    __slots__ = ()
    value = True
    _suffix = ".V"


class ComplementedStructuralMask(Mask):
    """Where `parent` has no entry."""

    __slots__ = ()
    complement = True
    structure = True
    _prefix, _suffix = "~", ".S"


class ComplementedValueMask(Mask):
    """Where `parent` has no entry, or a false one."""

    __slots__ = ()
    complement = True
    value = True
    _prefix, _suffix = "~", ".V"


StructuralMask._inverse = ComplementedStructuralMask
ComplementedStructuralMask._inverse = StructuralMask
ValueMask._inverse = ComplementedValueMask
ComplementedValueMask._inverse = ValueMask


def _union(left, right):
    val = left.new()
    val(right) << True
    return val


def _same_shape(left, right):
    if left.parent.shape != right.parent.shape:
        raise DimensionMismatch(
            f"masks of different shapes cannot be combined: {left.name} has shape {left.parent.shape}, "
            f"{right.name} has shape {right.parent.shape}"
        )


def check_mask(mask: MaskLike, output: Any = None) -> Mask:
    """`mask` as a Mask: Boolean objects and expressions stand for their true values.

    output: what is to be written; a Vector does not take the mask of a Matrix.
    """
    if not isinstance(mask, Mask):
        if output_type(mask) not in (kinds.Vector, kinds.Matrix):
            raise TypeError(f"Invalid mask: {type(mask)}")
        if mask.dtype is not BOOL:
            raise TypeError(
                f"Mask must be boolean objects (got {mask.dtype}) or indicate values (M.V) or structure (M.S)"
            )
        mask = mask.V  # computes an expression, or says that autocompute is off
    if output is not None and output.ndim == 1 and mask.parent.ndim != 1:
        raise TypeError(f"Mask object must be type Vector; got {type(mask.parent)}")
    return mask
