def matvec(device, A, x, semiring, allow, format):
    return NotImplemented
