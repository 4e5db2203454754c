"""Stopping a fit from another thread.

The flag exists only during the fit, so that a fitted estimator can be pickled and copied.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NAME = "_stop_flag"  # of the attribute of the estimator


@contextmanager
def stop_flag(estimator: Any) -> Iterator[threading.Event]:
    """Attach a flag to an estimator during its fit."""
    flag = threading.Event()
    setattr(estimator, _NAME, flag)
    try:
        yield flag
    finally:
        vars(estimator).pop(_NAME, None)


def request_stop_of(estimator: Any) -> None:
    """Stop the fit under way, if there is one."""
    flag = vars(estimator).get(_NAME)
    if flag is not None:
        flag.set()
