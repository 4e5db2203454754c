"""The time limit of a search: when it has to end so that the last fits are done in time, on this machine as busy as it is."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Of the limit, this is kept for the last fits: a share, at least and at most so long, more for each row
FINISH_SHARE, FINISH_SECONDS, FINISH_MOST_SECONDS, FINISH_SECONDS_A_ROW = 0.05, 0.5, 30.0, 2e-6
FINISH_WORK = 0.3  # seconds on an idle processor; 0.1 to 0.4 in most searches
MOST_KEPT = 0.5  # of the limit, however slow the machine is
MOST_LOADING = 0.5  # of the limit that is spent before the search begins, as far as it counts: there is to be an answer
MOST_SLOWNESS = 8.0  # as many times as long as on an idle processor everything is expected to take

Clock = Callable[[], float]


class TimeLimit:
    """How much time there is, and how much of it the end of a search takes.

    Fixed numbers of seconds do not hold on a machine that others use too. So each look at the results is measured: one more comes
    after the search, and the time that it takes beside the work of the processor tells how slow everything else will be.

    Args:
        seconds: the limit; None if there is none.
        n_rows: rows that the last fits are made to.
        began: when the time began, on the clock.
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
        self._next_look = 0.0  # seconds that it may take
        self._look_seconds = self._look_work = 0.0

    @property
    def seconds(self) -> float:
        """How long it took so far."""
        return self._clock() - self._began

    @property
    def seconds_left(self) -> float:
        """How long it may take from now on; less than 0 if it is late already."""
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
        """How many times as long as on an idle processor everything takes."""
        if self._look_work <= 0.0:
            return 1.0
        return min(max(self._look_seconds / self._look_work, 1.0), MOST_SLOWNESS)

    def is_time_to_finish(self) -> bool:
        """Tell whether what is left is just enough for one more look and the last fits."""
        if self._limit is None:
            return False
        fits = min(max(FINISH_SHARE * self._limit, FINISH_SECONDS), FINISH_MOST_SECONDS)
        fits = max(fits, FINISH_WORK * self.slowness) + FINISH_SECONDS_A_ROW * self._n_rows * self.slowness
        return self.seconds_left <= min(self._next_look + fits, MOST_KEPT * self._limit)
