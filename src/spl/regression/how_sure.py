"""How sure a formula is, all in one: its numbers, its rivals, checks of its residuals, and rows that were held out."""

from dataclasses import dataclass

from spl.regression.discover import Discovery
from spl.regression.fit_rows import FitRows
from spl.regression.held_out import HeldOutVerdict
from spl.regression.residual_checks import ResidualCheck, check_residuals, why_unchecked
from spl.regression.rivals import Rival, find_rivals
from spl.regression.uncertainty import KnownNumber, know_numbers


@dataclass(frozen=True, slots=True, eq=False)
class HowSure:
    """What the data says about a formula of a front."""

    numbers: tuple[KnownNumber, ...]
    rivals: tuple[Rival, ...] | None  # None if the search kept none
    checks: tuple[ResidualCheck, ...]
    unchecked: str  # why there are no checks, in words; else empty
    held_out: HeldOutVerdict | None
    loss_on_held_out: float | None  # of this formula

    @property
    def weight(self) -> float:
        """The weight of the formula itself: those of its rivals and this one add up to 1."""
        return 1.0 - sum(rival.weight for rival in self.rivals or ())

    @property
    def doubtful(self) -> tuple[ResidualCheck, ...]:
        """The checks that speak against the formula or the noise model."""
        return tuple(check for check in self.checks if check.is_doubtful)


def judge_formula(found: Discovery, chosen: int, fit: FitRows) -> HowSure:
    """Return how sure a formula is.

    Args:
        found: what a search found.
        chosen: the place of the formula in the front.
        fit: what the front was fitted to.
    """
    program, verdict = found.front[chosen].program, found.held_out
    return HowSure(
        numbers=tuple(know_numbers(program, fit.rows, fit.given, units=fit.units)),
        rivals=tuple(find_rivals(found, chosen, fit.rows)) if found.rivals else None,
        checks=check_residuals(program, fit.rows),
        unchecked=why_unchecked(program, fit.rows),
        held_out=verdict,
        loss_on_held_out=None if verdict is None else verdict.losses[chosen],
    )
