"""What an algorithm raises beyond TypeError, ValueError and IndexError for its arguments."""


class AlgorithmError(Exception):
    """Base of the errors that an algorithm finds in the course of its work."""


class NegativeCycleError(AlgorithmError):
    """No shortest path exists: a cycle of negative total weight can be reached.

    `node` is one whose distance keeps falling.
    """

    def __init__(self, message, node):
        super().__init__(message)
        self.node = node


class ConvergenceFailure(AlgorithmError):
    """The iteration limit came before the tolerance.  `iterations`, `residual`, and what was reached in `result`."""

    def __init__(self, message, iterations, residual, result):
        super().__init__(message)
        self.iterations = iterations
        self.residual = residual
        self.result = result
