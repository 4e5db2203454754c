"""The time limit of a search: when it must stop so that the final polish is done in time, on a machine as busy as this one."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Time kept for the final polish: a share of the limit with a least and a most, and more for each row
POLISH_SHARE, LEAST_POLISH_SECONDS, MOST_POLISH_SECONDS, POLISH_SECONDS_PER_ROW = 0.05, 0.5, 30.0, 2e-6
POLISH_WORK_SECONDS = 0.3  # on an idle processor; 0.1 to 0.4 in most searches
MOST_KEPT = 0.5  # share of the limit that is kept, however slow the machine is
MOST_LOADING = 0.5  # share of the limit that loading may use up: the rest is for the search
MOST_SLOWNESS = 8.0  # compared with an idle processor

Clock = Callable[[], float]


class TimeLimit:
    """How much time there is, and how much of it the end of a search needs.

    On a machine that others use too, fixed numbers of seconds are not enough. So each look at the results is measured: one more
    follows the search, and its time compared with its processor time shows how slow everything else will be.

    Args:
        seconds: the limit; None for no limit.
        n_rows: rows that the final formulas are fitted to.
        began: when the time started, on the clock.
        clock: the time in seconds.
        work_clock: the processor time of this thread in seconds.
    """

    def __init__(
        self,
        seconds: float | None,
        n_rows: int,
        began: float,
        clock: Clock = time.monotonic,
        work_clock: Clock = time.thread_time,
    ) -> None:
        self._limit, self._n_rows, self._clock, self._work_clock = seconds, n_rows, clock, work_clock
        self._began = began if seconds is None else max(began, clock() - MOST_LOADING * seconds)
        self._next_look = 0.0  # seconds it may take
        self._look_seconds = self._look_work = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the time started."""
        return self._clock() - self._began

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit; negative after it."""
        return float("inf") if self._limit is None else self._limit - self.seconds

    @contextmanager
    def look(self) -> Iterator[None]:
        """Measure a look at the results."""
        began, work = self._clock(), self._work_clock()
        try:
            yield
        finally:
            seconds = self._clock() - began
            self._next_look = max(seconds, self._next_look / 2)
            self._look_seconds += seconds
            self._look_work += self._work_clock() - work

    @property
    def slowness(self) -> float:
        """How many times longer everything takes than on an idle processor."""
        if self._look_work <= 0.0:
            return 1.0
        return min(max(self._look_seconds / self._look_work, 1.0), MOST_SLOWNESS)

    def is_time_to_finish(self) -> bool:
        """Return whether there is just enough time left for one more look and the final polish."""
        if self._limit is None:
            return False
        polish = min(max(POLISH_SHARE * self._limit, LEAST_POLISH_SECONDS), MOST_POLISH_SECONDS)
        polish = (
            max(polish, POLISH_WORK_SECONDS * self.slowness) + POLISH_SECONDS_PER_ROW * self._n_rows * self.slowness
        )
        return self.seconds_left <= min(self._next_look + polish, MOST_KEPT * self._limit)
