"""Fixtures that several test files share."""

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that gives every test the same numbers."""
    return np.random.default_rng(0)


@pytest.fixture
def real_data() -> Path:
    """The folder of measured data; the test is left out where there is none."""
    folder = os.environ.get("SPL_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SPL_DATA names no folder of measured data")
    return Path(folder)
