"""What all tests of kernels need: numpy as quiet as compiled code, so that they mean the same with the compiler off."""

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _as_quiet_as_compiled_code() -> Iterator[None]:
    """Let unsigned numbers wrap and formulas leave their domain without a warning, as compiled code does."""
    with np.errstate(all="ignore"):
        yield
