"""What every test and every docstring example starts from."""

import os
import re
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")  # no window, wherever the tests run
signal.signal(
    signal.SIGINT, signal.default_int_handler
)  # tests of Ctrl-C: what runs in the background is started without it

_DATA_BESIDE_CHECKOUT = Path(__file__).parent.parent / "shared" / "data"
if _DATA_BESIDE_CHECKOUT.is_dir():
    os.environ.setdefault("SPL_DATA", str(_DATA_BESIDE_CHECKOUT))

COST_MARKS = ("search", "process", "slow")
COSTLY_FILE = re.compile(rf"^pytestmark = pytest\.mark\.({'|'.join(COST_MARKS)})\b", re.MULTILINE)

# No deadline: the first example of a test may have to compile a kernel.
settings.register_profile("spl", deadline=None, derandomize=True)
settings.load_profile("spl")


@pytest.fixture(autouse=True)
def _names_in_doctests(doctest_namespace: dict[str, Any]) -> None:
    """Let docstring examples use `np` without importing it."""
    doctest_namespace["np"] = np


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make quick`."""
    parser.addoption("--quick", action="store_true", help="leave out tests that are marked search, process or slow")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import test files that are marked as a whole."""
    if not config.getoption("quick") or collection_path.suffix != ".py":
        return None
    return True if COSTLY_FILE.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out single tests that are marked."""
    if config.getoption("quick"):
        items[:] = [item for item in items if not any(map(item.get_closest_marker, COST_MARKS))]
