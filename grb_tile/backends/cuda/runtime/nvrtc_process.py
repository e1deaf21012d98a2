"""One compilation after the other by NVRTC in a process of its own: this file is what the process runs.

    python -I -S nvrtc_process.py LIBNVRTC

    request   source, file name, C++ expression (empty: none), options parted by newlines
    reply     NVRTC's result in decimal (0: success), the expression's lowered name, and the cubin (PTX for an
              architecture compute_*) or, where the result is another, the log

Each part is its length in 8 bytes, least significant first, and its bytes.  The process imports nothing but ctypes,
starts in 0.1 s, and ends when its input ends.  The other side: nvrtc_workers.py.
"""

import ctypes
import sys


def _text(call, program):
    """What nvrtcGet... gives, without its last byte, a NUL, as CuPy returns it; nothing where NVRTC has none."""
    size = ctypes.c_size_t()
    getattr(_LIBRARY, f"{call}Size")(program, ctypes.byref(size))
    found = ctypes.create_string_buffer(size.value)
    if size.value:
        getattr(_LIBRARY, call)(program, found)
    return found.raw[:-1]


def _compile(source, file, expression, options):
    program = ctypes.c_void_p()
    result = _LIBRARY.nvrtcCreateProgram(ctypes.byref(program), source, file, 0, None, None)
    if result:
        return result, b"", b"the program cannot be created"
    try:
        if expression:
            _LIBRARY.nvrtcAddNameExpression(program, expression)
        result = _LIBRARY.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        if result:
            return result, b"", _text("nvrtcGetProgramLog", program)
        name = ctypes.c_char_p()
        if expression:
            _LIBRARY.nvrtcGetLoweredName(program, expression, ctypes.byref(name))
        return 0, name.value or b"", _text("nvrtcGetCUBIN", program) or _text("nvrtcGetPTX", program)
    finally:
        _LIBRARY.nvrtcDestroyProgram(ctypes.byref(program))


def main():
    """Serve until the input ends."""
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    while True:
        parts = []
        for _ in range(4):
            head = requests.read(8)
            if len(head) < 8:
                return
            parts.append(requests.read(int.from_bytes(head, "little")))
        source, file, expression, options = parts
        result, name, code = _compile(source, file, expression, options.split(b"\n") if options else [])
        for part in (b"%d" % result, name, code):
            replies.write(len(part).to_bytes(8, "little") + part)
        replies.flush()


if __name__ == "__main__":
    _LIBRARY = ctypes.CDLL(sys.argv[1])
    main()
