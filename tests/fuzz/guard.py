"""What keeps a hostile case from hanging or from eating the memory, and how many cases there are.

`SPL_FUZZ=20` makes twenty times as many cases, drawn anew each time; `make fuzz` does so.
"""

import os
import resource
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings

MORE = float(os.environ.get("SPL_FUZZ", "1"))  # how many times the cases of `make test`
SECONDS = 60  # after which a case hangs
MEMORY = 2 << 30  # bytes that a case may take on top of what the process has
N_CASES: Counter[str] = Counter()  # run in this process, by subject


def cases(number: int) -> Callable[[Any], Any]:
    """Return the settings of a test with this many cases; some tests shrink for minutes without end, so failures are shown as drawn."""
    return settings(
        max_examples=max(round(number * MORE), 1),
        derandomize=MORE == 1,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def guarded(subject: str) -> Iterator[None]:
    """Count a case; let it fail if it takes too long or too much memory."""
    N_CASES[subject] += 1
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else None
    handler = signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(SECONDS)
    if pages is not None:
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, before[1]))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


def _give_up(*_: object) -> None:
    raise AssertionError(f"the case took more than {SECONDS} seconds")
