"""Interruption of a search: by Ctrl-C, or because the caller wants it to stop."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread


class Interruption:
    """Whether a search is to stop now. Once it is, it stays so.

    Args:
        must_stop: asks the caller, who may be called several times a second, from any thread.
    """

    def __init__(self, must_stop: Callable[[], bool] = lambda: False) -> None:
        self._must_stop = must_stop
        self._is_requested = False

    @property
    def is_requested(self) -> bool:
        """Whether the search was interrupted, as far as is known without asking the caller."""
        return self._is_requested

    def request(self) -> None:
        """Interrupt the search."""
        self._is_requested = True

    def check(self) -> bool:
        """Return whether the search was interrupted; asks the caller."""
        if not self._is_requested and self._must_stop():
            self.request()
        return self._is_requested

    @contextmanager
    def catch_ctrl_c(self) -> Iterator[None]:
        """Let a first Ctrl-C interrupt the search, which the trees notice within a second; a second one raises as usual.

        An exception in the middle of a kernel call could be lost. Signal handlers other than Python's default stay in place.
        """
        is_ours = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler

        def interrupt(*_: object) -> None:
            self.request()
            signal.signal(signal.SIGINT, signal.default_int_handler)

        if is_ours:
            signal.signal(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            if is_ours:
                signal.signal(signal.SIGINT, signal.default_int_handler)
