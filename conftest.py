"""What every test and every docstring example starts from."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

os.environ["SPL_CALLABLE_KERNELS"] = "1"  # tests call single kernels
os.environ.setdefault("MPLBACKEND", "Agg")  # no window, wherever the tests run
signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # tests of Ctrl-C: what runs in the background is started without it

_DATA_BESIDE_CHECKOUT = Path(__file__).parent.parent / "shared" / "data"
if _DATA_BESIDE_CHECKOUT.is_dir():
    os.environ.setdefault("SPL_DATA", str(_DATA_BESIDE_CHECKOUT))

# No deadline: the first example of a test may have to compile a kernel.
settings.register_profile("spl", deadline=None, derandomize=True)
settings.load_profile("spl")


@pytest.fixture(autouse=True)
def _names_in_doctests(doctest_namespace: dict[str, Any]) -> None:
    """Let docstring examples use `np` without importing it."""
    doctest_namespace["np"] = np
