"""A program that ends in an error ends all ranks: others would wait for this one."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any

from .communicator import error_text

EndAll = Callable[[int, str], None]
installed: list[EndAll] = []  # of the communicators of this process


def install(rank: int, end_all: EndAll) -> Callable[[], None]:
    """Hooks that print an uncaught error with the rank's number, then call end_all(status, reason).

    Those of threads too.  Returns what removes them.  Ctrl-C has status 130, as in a shell.
    """
    hook, thread_hook = sys.excepthook, threading.excepthook

    def of_program(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _print(rank, traceback.format_exception(kind, error, trace) if hook is sys.__excepthook__ else ())
        if hook is not sys.__excepthook__:
            hook(kind, error, trace)
        end_all(130 if issubclass(kind, KeyboardInterrupt) else 1, error_text(error))

    def of_thread(args: Any) -> None:
        if args.exc_type is SystemExit:  # ends the thread alone
            return
        trace = traceback.format_exception(args.exc_type, args.exc_value, args.exc_traceback)
        if thread_hook is threading.__excepthook__:
            _print(rank, [f"Exception in thread {getattr(args.thread, 'name', None)}:\n", *trace])
        else:
            _print(rank, ())
            thread_hook(args)
        end_all(1, error_text(args.exc_value))

    def remove() -> None:
        if end_all in installed:
            installed.remove(end_all)
        if sys.excepthook is of_program:
            sys.excepthook = hook
        if threading.excepthook is of_thread:
            threading.excepthook = thread_hook

    installed.append(end_all)
    sys.excepthook, threading.excepthook = of_program, of_thread
    return remove


def _print(rank: int, lines: Iterable[str]) -> None:
    """Write the rank and the lines at once, so that those of several ranks do not mix."""
    if sys.stderr is not None:
        sys.stderr.write(f"[rank {rank}] {''.join(lines)}")
