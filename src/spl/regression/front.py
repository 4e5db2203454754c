"""The front: the best candidate of each cost, and the choice among them.

The rule of choice can be changed after a fit. All rules look at the same two numbers of each candidate, cost and loss.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spl.errors import SettingError, show_value
from spl.kernels.programs.prices import EQUAL_LOSS_SHARE
from spl.regression.candidate import Candidate
from spl.regression.description_length import description_length, misfit

SELECTIONS = ("mdl", "bic", "accurate", "knee")
WORTH = 1e-3  # a costlier candidate must lower the loss by at least this share to stand in the front


@dataclass(frozen=True, slots=True)
class Front:
    """Candidates in the order of their cost, each with a lower loss than all before it.

    Examples:
        >>> len(Front.from_candidates([]))
        0
    """

    candidates: tuple[Candidate, ...]

    @classmethod
    def from_candidates(cls, candidates: Iterable[Candidate], floor: float = 0.0, n_rows: int = 1) -> "Front":
        """Keep the candidates that no other dominates. Losses below the floor count as equal: the cheaper one stays.

        Of two that cannot both stand in a front, the one with the shorter description of that many rows stays: a formula is not driven
        out by one that comes a little nearer with more numbers. For a single row, numbers count for nothing.
        """

        def length(candidate: Candidate) -> tuple[float, int, float]:
            return description_length(candidate, n_rows, floor), candidate.cost, candidate.loss

        cheapest: list[Candidate] = []
        for candidate in sorted((c for c in candidates if math.isfinite(c.loss)), key=lambda c: (c.cost, c.loss)):
            if not any(_are_equal(candidate, other, floor) for other in cheapest):
                cheapest.append(candidate)
        kept: list[Candidate] = []
        for candidate in sorted(cheapest, key=length):
            if all(_agree(candidate, other, floor) or _agree(other, candidate, floor) for other in kept):
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
        """Return for each candidate how fast the logarithm of the loss fell per unit of cost since the one before; 0 for the first."""
        scores = [0.0]
        for before, after in zip(self.candidates, self.candidates[1:], strict=False):
            drop = math.log(max(before.loss, floor, 1e-300)) - math.log(max(after.loss, floor, 1e-300))
            scores.append(drop / (after.cost - before.cost))
        return scores[: len(self)]

    def choose(self, selection: str, n_rows: int, floor: float) -> int:
        """Return the index of the candidate that the rule prefers: the cheaper of equals. The front must not be empty.

        mdl: shortest description of formula, constants and residuals; bic: Bayesian information criterion; accurate: lowest
        loss; knee: steepest fall of the loss against cost before it levels off.
        """
        check_selection(selection)
        if selection == "accurate":
            return len(self) - 1
        if selection == "knee":
            return self._knee(floor)
        measure = description_length if selection == "mdl" else _bayes_criterion
        values = [measure(candidate, n_rows, floor) for candidate in self.candidates]
        return values.index(min(values))

    def _knee(self, floor: float) -> int:
        """Return the candidate farthest below the line from the first to the last, in cost and logarithm of the loss.

        If none is below it, the loss falls ever faster: the last.
        """
        if len(self) < 3:
            return len(self) - 1
        points = [(c.cost, math.log(max(c.loss, floor, 1e-300))) for c in self.candidates]
        (x0, y0), (x1, y1) = points[0], points[-1]
        below = [y0 + (y1 - y0) * (x - x0) / (x1 - x0) - y for x, y in points[1:-1]]
        return 1 + below.index(max(below)) if max(below) > 0 else len(self) - 1


def _are_equal(a: Candidate, b: Candidate, floor: float) -> bool:
    """Tell whether two candidates are most likely one function in two spellings."""
    return math.isclose(max(a.loss, floor), max(b.loss, floor), rel_tol=EQUAL_LOSS_SHARE)


def _agree(cheap: Candidate, costly: Candidate, floor: float) -> bool:
    """Tell whether both can stand in a front: the costlier one has a lower loss that is worth it."""
    return cheap.cost < costly.cost and max(costly.loss, floor) < (1 - WORTH) * max(cheap.loss, floor)


def check_selection(selection: str) -> None:
    """Raise a clear error unless there is such a rule."""
    if not isinstance(selection, str) or selection not in SELECTIONS:
        raise SettingError(f"`selection` must be one of {', '.join(SELECTIONS)}; it is {show_value(selection)}.")


def _bayes_criterion(candidate: Candidate, n_rows: int, floor: float) -> float:
    n_parameters = candidate.program.cost + candidate.program.n_constants
    return misfit(candidate, n_rows, floor) + 0.5 * n_parameters * math.log(n_rows)
