"""A record is one GraphBLAS operation, checked but not computed: operands, typed operator, shape and type.

Records read their operands when they compute, so they use later changes of an operand, as in python-graphblas.
`shape` is () for a scalar result.
"""


class Record:
    """Base of all records.

    name     the method's name in Python ("mxv")
    c_name   the function of the C API ("GrB_mxv")
    op       the typed operator or None
    dtype    type of the result before it is written
    """

    __slots__ = ("shape", "dtype", "op")
    name = ""
    c_name = ""

    def compute(self, mask=None):
        """The result T as a store (a NumPy scalar or None when `shape` is ()), without entries outside `mask`."""
        raise NotImplementedError

    def operands(self):
        """((object, transposed), ...) in the order of the C call."""
        return ()

    def names(self):
        """Texts of the operands in the C call, and of scalars that stand between them."""
        return [getattr(x, "name", None) or repr(x) for x, _ in self.operands()]

    def leading(self):
        """Texts of arguments of the C call that stand before the operands (a scalar that is bound on the left)."""
        return ()

    def extra(self):
        """Texts of further arguments of the C call (index lists, scalars), placed after the operator's operands."""
        return ()

    def notation(self, out="C", mask="NULL", accum="NULL", flags=""):
        """The call as GraphBLAS C notation, e.g. `GrB_mxv(w, m, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, A, u, NULL);`.

        flags: those of the descriptor that concern the output and the mask.
        """
        leading = self.leading()
        for position, (_, transposed) in enumerate(self.operands(), len(leading)):
            if transposed:
                flags += f"T{position}"
        parts = [out, mask, accum] if self.shape else [out, accum]  # a scalar has no mask
        if self.op is not None:
            parts.append(getattr(self.op, "gb_name", None) or repr(self.op))
        parts += [*leading, *self.names(), *self.extra()]
        parts.append(f"GrB_DESC_{flags}" if flags else "NULL")
        return f"{self.c_name}({', '.join(parts)});"
