"""The front: the best candidate of each cost, and the rules by which one of them is chosen."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spl.errors import SettingError, show_value
from spl.kernels.programs.prices import EQUAL_LOSS_SHARE
from spl.regression.candidate import Candidate
from spl.regression.description_length import TINY_LOSS, bayes_criterion, description_length

SELECTIONS = ("mdl", "bic", "accurate", "knee")
VALIDATION = "validation"  # the rule that needs held-out rows; see `Discovery.choose`
MIN_IMPROVEMENT = 1e-3  # relative: a costlier candidate of the front lowers the loss by at least this much


@dataclass(frozen=True, slots=True)
class Front:
    """Candidates in order of cost, each with a lower loss than all before it.

    Examples:
        >>> len(Front.from_candidates([]))
        0
    """

    candidates: tuple[Candidate, ...]

    @classmethod
    def from_candidates(cls, candidates: Iterable[Candidate], floor: float = 0.0, n_rows: int = 1) -> "Front":
        """Return the front of the candidates. Losses below the floor count as equal: the cheaper one stays.

        Of two that cannot both be in a front, the one with the shorter description of `n_rows` rows stays, so that a formula is not
        replaced by one that fits slightly better with more numbers. With a single row, numbers cost nothing.
        """

        def length(candidate: Candidate) -> tuple[float, int, float]:
            return description_length(candidate, n_rows, floor), candidate.cost, candidate.loss

        cheapest: list[Candidate] = []
        for candidate in sorted((c for c in candidates if math.isfinite(c.loss)), key=lambda c: (c.cost, c.loss)):
            if not any(_are_same_function(candidate, other, floor) for other in cheapest):
                cheapest.append(candidate)
        kept: list[Candidate] = []
        for candidate in sorted(cheapest, key=length):
            if all(_can_coexist(candidate, other, floor) or _can_coexist(other, candidate, floor) for other in kept):
                kept.append(candidate)
        return cls(tuple(sorted(kept, key=lambda c: c.cost)))

    def __repr__(self) -> str:
        costs = f", cost {self.candidates[0].cost} to {self.candidates[-1].cost}" if self.candidates else ""
        return f"<Front of {len(self)} formulas{costs}>"

    def __len__(self) -> int:
        return len(self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __getitem__(self, index: int) -> Candidate:
        return self.candidates[index]

    def scores(self, floor: float = 0.0) -> list[float]:
        """Return for each candidate the drop in the logarithm of the loss per unit of cost since the one before; 0 for the first."""
        scores = [0.0]
        for before, after in zip(self.candidates, self.candidates[1:], strict=False):
            drop = math.log(max(before.loss, floor, TINY_LOSS)) - math.log(max(after.loss, floor, TINY_LOSS))
            scores.append(drop / (after.cost - before.cost))
        return scores[: len(self)]

    def choose(self, selection: str, n_rows: int, floor: float) -> int:
        """Return the index of the candidate that a rule prefers; the cheaper of equals. The front must not be empty.

        mdl: shortest description of formula, constants and residuals; bic: Bayesian information criterion; accurate: lowest
        loss; knee: steepest fall of the loss against cost before it levels off.
        """
        _check_rule(selection, SELECTIONS)
        if selection == "accurate":
            return len(self) - 1
        if selection == "knee":
            return self._knee(floor)
        measure = description_length if selection == "mdl" else bayes_criterion
        values = [measure(candidate, n_rows, floor) for candidate in self.candidates]
        return values.index(min(values))

    def _knee(self, floor: float) -> int:
        """Return the candidate farthest below the line from the first to the last, in cost and logarithm of the loss.

        If none is below it, the loss falls faster and faster, and the last is returned.
        """
        if len(self) < 3:
            return len(self) - 1
        points = [(c.cost, math.log(max(c.loss, floor, TINY_LOSS))) for c in self.candidates]
        (x0, y0), (x1, y1) = points[0], points[-1]
        below = [y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y for x, y in points[1:-1]]
        return 1 + below.index(max(below)) if max(below) > 0 else len(self) - 1


def _are_same_function(a: Candidate, b: Candidate, floor: float) -> bool:
    """Return whether two candidates are probably the same function."""
    return math.isclose(max(a.loss, floor), max(b.loss, floor), rel_tol=EQUAL_LOSS_SHARE)


def _can_coexist(cheap: Candidate, costly: Candidate, floor: float) -> bool:
    """Return whether both can be in a front: the costlier one has a loss that is enough lower."""
    return cheap.cost < costly.cost and max(costly.loss, floor) < (1 - MIN_IMPROVEMENT) * max(cheap.loss, floor)


def check_selection(selection: str) -> None:
    """Raise an error unless there is such a rule."""
    _check_rule(selection, (*SELECTIONS, VALIDATION))


def check_has_held_out(selection: str, has_held_out: bool) -> None:
    """Raise an error if a rule needs held-out rows and there are none."""
    if selection == VALIDATION and not has_held_out:
        raise SettingError(
            "`selection` is 'validation', but no rows were held out. Pass `validation` to `fit`, a share or other rows, or choose "
            f"another rule: {', '.join(SELECTIONS)}."
        )


def rule_while_running(selection: str) -> str:
    """Return the rule for the front of a search that is running: held-out rows are asked at its end."""
    return "mdl" if selection == VALIDATION else selection


def _check_rule(selection: str, known: tuple[str, ...]) -> None:
    if not isinstance(selection, str) or selection not in known:
        raise SettingError(f"`selection` must be one of {', '.join(known)}; got {show_value(selection)}.")
