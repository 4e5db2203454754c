"""One thread for linear algebra during a search.

The matrices of a search are small or take a small part of its time. Threads that wait for each other cost far more than they save on a
busy machine (measured: processor time of short searches halved), and sums in another order would change the last digits.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Limit:
    """The limit of this process: set by the first search that begins, lifted by the last one that ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_searches = 0
        self._before: Any = None  # what restores the threads of before

    def enter(self) -> None:
        from threadpoolctl import ThreadpoolController  # slow to import

        with self._lock:
            self._n_searches += 1
            if self._n_searches == 1:
                self._before = ThreadpoolController().limit(limits=1, user_api="blas")

    def leave(self) -> None:
        with self._lock:
            self._n_searches -= 1
            if self._n_searches == 0:
                self._before.restore_original_limits()


_LIMIT = _Limit()  # libraries keep the number of threads per process, so this is per process too


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let the libraries of linear algebra use one thread; afterwards, as many as before. Searches may overlap.

    Examples:
        >>> from threadpoolctl import threadpool_info
        >>> with one_blas_thread():
        ...     {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
        {1}
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
