"""Progress and Ctrl-C during long calls of the library."""

from __future__ import annotations

import ctypes
import signal
import threading
from contextlib import AbstractContextManager, nullcontext
from types import FrameType, TracebackType
from typing import Any, Callable, Union

from ._bar import Bar
from ._lib import call, lib

#: What long functions take as ``progress``.
Progress = Union[bool, Callable[[int, int], Any], None]

_Callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


class Watch:
    """Watches over calls of the library that make up one long task; a context manager around them.

    An exception cannot leave a callback: Python would print and drop it. So what the user's function raises,
    and what the handler of SIGINT raises (usually KeyboardInterrupt), is kept, cancels the call, and is
    raised by `check` or at the end of the block.
    """

    def __init__(self, progress: Progress, total: int | None = None) -> None:
        """Take the number of all steps; None: the library tells."""
        self._bar = Bar("B" if total is None else "files") if progress is True else None
        self._report = self._bar or (None if isinstance(progress, bool) else progress)
        self._total = total
        self._reported = -1
        self._error: BaseException | None = None
        self._outer: Any = None  # the handler of SIGINT outside
        self._function = _Callback(self._called)
        #: Address of the callback, for the library.
        self.callback = ctypes.cast(self._function, ctypes.c_void_p).value
        #: Steps that were done before the call that runs.
        self.done = 0
        #: What the thread that calls next does while the library works in others, or else after the call.
        self.meanwhile: Callable[[], Any] | None = None

    def __enter__(self) -> Watch:
        outer = signal.getsignal(signal.SIGINT)
        if callable(outer) and threading.current_thread() is threading.main_thread():
            self._outer = outer
            try:
                signal.signal(signal.SIGINT, self._interrupt)
            except ValueError:  # the main thread of a subinterpreter, to which signals do not come
                self._outer = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._outer is not None:
            signal.signal(signal.SIGINT, self._outer)
        del self._function  # which refers to this object
        self.meanwhile = None
        if self._bar is not None:
            self._bar.close()
        self.check()

    def check(self) -> None:
        """After a call: do what has not been done meanwhile, raise what has been kept."""
        self._work()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def report(self, done: int) -> None:
        """Tell of steps that were done here, not in a call of the library."""
        self._called(0, done, self._total or 0)
        self.check()

    @property
    def canceled(self) -> bool:
        """Something has been kept, and the call is to end."""
        return self._error is not None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        try:
            self._outer(number, frame)
        except BaseException as e:
            self._error = e

    def _work(self) -> None:
        work, self.meanwhile = self.meanwhile, None
        if work is not None and self._error is None:
            work()

    def _called(self, _user: int, done: int, total: int) -> int:
        try:
            if done:  # others have begun
                self._work()
            done += self.done
            if self._report is not None and self._error is None and done > self._reported:
                self._reported = done
                self._report(done, total if self._total is None else self._total)
        except BaseException as e:
            self._error = e
        return self.canceled


#: Bytes from which on a call is interruptible: less takes some milliseconds.
LONG = 4 << 20


class Interruptible(Watch):
    """Has Ctrl-C end calls that read or reduce; a context manager around them.

    Away from the main thread, to which signals do not come, it does nothing.
    """

    def __init__(self) -> None:
        super().__init__(None)

    def __enter__(self) -> Interruptible:
        super().__enter__()
        if self._outer is not None:
            call(None, lib.ndf_set_interrupt, self.callback, None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self._outer is not None:
            call(None, lib.ndf_set_interrupt, None, None)
        super().__exit__(kind, error, tb)


def interruptible(size: int) -> AbstractContextManager[Any]:
    """Give what to put around a call that reads or reduces so many bytes."""
    return Interruptible() if size >= LONG else nullcontext()
