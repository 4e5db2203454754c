"""Levenberg-Marquardt: the loop of damped steps, for any point with a squared error. What a step is, the caller says."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from spl.dynamics.budget import NEVER, Deadline

P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Damping:
    """How far steps are damped, and how many are taken."""

    first: float
    most: float  # no step is tried with more
    max_iterations: int


def lower_squares(
    point: P,
    squares: Callable[[P], float],
    linearise: Callable[[P], Callable[[float], P] | None],
    is_last: Callable[[P, float, float, float], bool],
    damping: Damping,
    deadline: Deadline = NEVER,
) -> tuple[P, float]:
    """Take damped steps while they lower the squared error; return where they lead, and the squared error there.

    Args:
        point: where to start.
        squares: returns the squared error of a point.
        linearise: returns a function from the damping to the point after a step; None if no step can be found.
        is_last: returns whether to stop at a point, given its squared error, by how much the last step lowered that, and the damping.
        damping: its range, and how many steps are taken at most.
        deadline: no step is tried after it.

    Examples:
        >>> newton = lambda x: lambda damping: x - (x**2 - 2) * 2 * x / ((2 * x) ** 2 + damping)
        >>> settings = Damping(first=1.0, most=1e8, max_iterations=20)
        >>> root, _ = lower_squares(1.0, lambda x: (x**2 - 2) ** 2, newton, lambda *_: False, settings)
        >>> round(root, 6)
        1.414214
    """
    error, amount = squares(point), damping.first
    for _ in range(damping.max_iterations if math.isfinite(error) else 0):
        step = linearise(point)
        if step is None:
            break
        gain = 0.0
        while not gain > 0.0 and amount < damping.most and not deadline.is_over:
            trial = step(amount)
            gain = error - squares(trial)
            amount = 0.1 * amount if gain > 0.0 else 10.0 * amount
        if not gain > 0.0:
            break
        point = trial
        error -= gain
        if is_last(point, error, gain, amount):
            break
    return point, error
