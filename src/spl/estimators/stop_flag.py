"""A fit that goes on in one thread, ended from another.

The flag lives while the fit does: a fitted estimator can be pickled and copied as ever.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NAME = "_stop_flag"  # on the estimator, while it is fitted


@contextmanager
def stop_flag(estimator: Any) -> Iterator[threading.Event]:
    """Give an estimator a flag for as long as it is fitted."""
    flag = threading.Event()
    setattr(estimator, _NAME, flag)
    try:
        yield flag
    finally:
        vars(estimator).pop(_NAME, None)


def request_stop_of(estimator: Any) -> None:
    """End the fit that goes on; if there is none, nothing happens."""
    flag = vars(estimator).get(_NAME)
    if flag is not None:
        flag.set()
