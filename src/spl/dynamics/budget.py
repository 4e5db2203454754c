"""How much work may go into choosing the equations of a system: seconds by the clock, or a count of fits, which repeats exactly."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

MOVE_SHARE = 0.75  # of the time after the searches may go into trying other formulas
TRIAL_SHARE = 0.1  # of the time that is left may go into one trial
EVALUATIONS_PER_FIT = 300  # of the limit: searches and fits then take about the same time
FEWEST_FITS = 30


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment at which work must end.

    Examples:
        >>> Deadline.after(None).is_over, Deadline.after(-1.0).is_over
        (False, True)
    """

    at: float = math.inf  # on the clock `time.monotonic`

    @classmethod
    def after(cls, seconds: float | None) -> "Deadline":
        """Return the deadline in this many seconds from now; None is never."""
        return NEVER if seconds is None else cls(time.monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        """The seconds until then; below 0 afterwards."""
        return self.at - time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.seconds_left < 0


NEVER = Deadline()


class SystemBudget:
    """What is left for trying formulas and for fitting the one that is chosen.

    With `max_fits`, fits are counted, and the clock only ends what runs past the deadline.

    Examples:
        >>> budget = SystemBudget(NEVER, max_fits=1)
        >>> budget.may_try()
        True
        >>> budget.begin_fit()
        inf
        >>> budget.may_try()
        False
    """

    def __init__(
        self, deadline: Deadline, max_fits: int | None = None, must_stop: Callable[[], bool] = lambda: False
    ) -> None:
        self._began = time.monotonic()
        self._deadline, self._max_fits, self._must_stop = deadline, max_fits, must_stop
        self._n_fits = 0

    @property
    def deadline(self) -> Deadline:
        """When trying formulas must end."""
        return Deadline(self._began + MOVE_SHARE * (self._deadline.at - self._began))

    @property
    def may_be_cut_off(self) -> bool:
        """Whether the clock may have ended something by now."""
        return not self._must_stop() and self.seconds_left(MOVE_SHARE) <= 0

    def may_try(self, share: float = 1.0) -> bool:
        """Return whether another formula may be tried, with this share of the budget for trying formulas."""
        is_counted_out = self._max_fits is not None and self._n_fits >= share * self._max_fits
        return not is_counted_out and self.seconds_left(share * MOVE_SHARE) > 0

    def begin_fit(self) -> float:
        """Count a trial and return how many seconds it may take."""
        self._n_fits += 1
        share = TRIAL_SHARE if self._max_fits is None else 1.0
        return max(share * self.seconds_left(MOVE_SHARE), 0.0)

    def seconds_left(self, share: float = 1.0) -> float:
        """Return the seconds until this share of the time after the searches is used up; 0 if the run must stop."""
        if self._must_stop():
            return 0.0
        return self._began + share * (self._deadline.at - self._began) - time.monotonic()


def count_fits(max_evaluations: int | None) -> int | None:
    """Return how many fits a limit of evaluations allows.

    Examples:
        >>> count_fits(60_000), count_fits(10), count_fits(None)
        (200, 30, None)
    """
    return None if max_evaluations is None else max(FEWEST_FITS, max_evaluations // EVALUATIONS_PER_FIT)
