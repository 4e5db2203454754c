"""Fits of formulas of which something is known: one that breaks a statement is fitted again within it, or has an infinite loss.

Points, limits and symmetries that fix constants thereby go into the fit, and so do signs and slopes where the data alone would break
them. Without knowledge, a fit is plain `fit`.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.edits import drop_zeros
from spl.formulas.program import Program
from spl.kernels.programs.fit import FitEffort
from spl.knowledge.checks import Check
from spl.knowledge.knowledge import Judge
from spl.knowledge.limits import ROUNDED_BREACH
from spl.noise.models import IMPOSSIBLE
from spl.regression.candidate import Candidate
from spl.regression.description_length import description_length
from spl.regression.fit import (
    REFIT_EFFORT,
    evaluate,
    find_scatter,
    fit,
    is_stable,
    price_numbers,
    root_mean_square_error,
    weigh,
)

Numbers = NDArray[np.float64]

MAX_DATA_ROWS = 1_000  # to which a formula is fitted within its statements
N_EVEN, N_WORST = 20, 6  # points of each check that a fit sees: spread evenly, and those of the worst breaches
N_TRIES = 2  # each with the worst breaches that the fit before has left
MAX_SLOPES_PER_TRY = 10  # evaluations of the slopes in one try
STRICTNESS = 1e5  # how much a breach counts against errors of the data
INSIDE_SHARE = 1e-7  # of the size of f: how far inside of a sign or a slope a fit aims
COLLAPSED_SHARE = 1e-4  # a number that becomes this much smaller only removes its term
N_PROJECTIONS = 3  # Newton steps onto the equalities at the end
HOPELESS_SHARE = 1e-2  # of the size of f: with a larger breach after a fit, the structure cannot keep the statements
LARGEST_BREACH = 1e3  # of the size of f; where a formula is undefined as well
SAME_LOSS_SHARE = 1e-6  # a structure whose loss without the statements falls by more is fitted within them again
N_REMEMBERED = 8  # of the formulas that were left out, those with the shortest descriptions


class KnownFit:
    """Fits formulas, and counts those that knowledge excludes.

    Examples:
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> from spl.knowledge.knowledge import Knowledge
        >>> x = np.linspace(0.0, 4.0, 9)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 2 * x + 0.1 + 0.1 * np.cos(9 * x), names=["x"])
        >>> known = KnownFit(Judge(Knowledge.read(["f(x=0) = 0"], data.names), data))
        >>> known.allow(1)
        >>> found = known.fit(parse_expression("C*x + C", Vocabulary(("x",))), data)
        >>> from spl.formulas.text import to_text
        >>> to_text(found.program, 3)
        '2.04*x'
    """

    def __init__(self, judge: Judge | None = None) -> None:
        self.judge = judge
        self.n_judged = 0
        self.n_excluded: Counter[int] = Counter()  # by statement
        self._excluded: dict[
            tuple[int, ...], Candidate
        ] = {}  # those with the shortest descriptions, as the data alone fits them
        self._known: set[tuple[int, ...]] = set()
        self._within: dict[
            tuple[tuple[int, ...], int], tuple[float, Candidate | None]
        ] = {}  # fits within the statements
        self._n_left = 0  # of them, that may be made now

    def keeps(self, program: Program) -> bool:
        """Return whether a formula keeps all statements at the points where it is tried."""
        return self.judge is None or self.judge.find_broken(program) is None

    def fit(
        self,
        program: Program,
        dataset: Dataset,
        *,
        effort: FitEffort = REFIT_EFFORT,
        reward: float = 0.0,
        worth: float = np.inf,
    ) -> Candidate:
        """Fit the constants of a program, within what is known; the loss is infinite if that is impossible.

        A formula whose loss is `worth` or more even without the statements is not fitted within them.
        """
        found = fit(program, dataset, effort=effort, reward=reward)
        if self.judge is None or not np.isfinite(found.loss):
            return found
        is_kept = self.keeps(found.program)
        self._count(found, dataset, is_kept)
        if is_kept:
            return found
        within = self._find_within(found, dataset) if found.program.constants and found.loss < worth else None
        return replace(found, loss=np.inf) if within is None else within

    def allow(self, n_fits: int) -> None:
        """Allow this many fits within the statements; they take much longer than others, so the next formulas are left out."""
        self._n_left = n_fits

    def _find_within(self, found: Candidate, dataset: Dataset) -> Candidate | None:
        """Return a formula fitted within the statements; one that was fitted before with the same structure is remembered."""
        name = found.program.tokens, dataset.n_rows
        loss, known = self._within.get(name, (-np.inf, None))
        if found.loss >= (1 - SAME_LOSS_SHARE) * loss > 0:
            return known
        if self._n_left <= 0:
            return None
        self._n_left -= 1
        within = self._fit_within(found, dataset)
        self._within[name] = found.loss, within
        return within

    # ---- what was excluded -----------------------------------------------------------------------

    def _count(self, found: Candidate, dataset: Dataset, is_kept: bool) -> None:
        tokens = found.program.tokens
        if tokens in self._known:
            return
        self._known.add(tokens)
        self.n_judged += 1
        if is_kept:
            return
        assert self.judge is not None
        first = self.judge.find_broken(found.program)
        self.n_excluded.update({*self.judge.list_broken(found.program), *(() if first is None else (first,))})
        self._excluded[tokens] = found
        if len(self._excluded) > 2 * N_REMEMBERED:
            by_length = sorted(
                self._excluded.items(), key=lambda pair: description_length(pair[1], dataset.n_rows, 0.0)
            )
            self._excluded = dict(by_length[:N_REMEMBERED])

    @property
    def excluded(self) -> tuple[Candidate, ...]:
        """The formulas that were left out and describe the data most briefly, with numbers that the data alone gives them."""
        return tuple(self._excluded.values())

    # ---- fits within the statements ----------------------------------------------------------------

    def _fit_within(self, candidate: Candidate, dataset: Dataset) -> Candidate | None:
        """Return the candidate fitted within the statements; None if that is impossible."""
        assert self.judge is not None
        program = candidate.program
        checks = [check for some in self.judge.checks for check in some]
        places = [_first_places(check) for check in checks]
        rows = _some_rows(dataset)
        for _ in range(N_TRIES):
            for k, check in enumerate(checks):
                places[k] = np.union1d(places[k], _worst_places(check, program))
            problem = _Problem(program, rows, checks, places, self.judge.size, candidate.loss)
            moved = problem.solve()
            if moved is None:
                return None
            if self.keeps(moved):
                shorter = _drop_collapsed(moved, candidate.program)
                is_sound = shorter is not None and self.keeps(shorter)
                return _assess(replace(candidate, program=shorter), dataset) if is_sound and shorter else None
            program = moved
        return None


def _drop_collapsed(program: Program, before: Program) -> Program | None:
    """Return a program without the terms that the statements have reduced to nothing; None if it is nothing else."""
    numbers, sizes = np.array(program.constants), np.abs(before.constants)
    return drop_zeros(program.with_constants(np.where(np.abs(numbers) <= COLLAPSED_SHARE * sizes, 0.0, numbers)))


def _first_places(check: Check) -> NDArray[np.intp]:
    n_points = check.points.shape[1]
    n_seen = min(N_EVEN, max(n_points // 4, 1))
    return np.unique(np.linspace(0, n_points - 1, n_seen).astype(np.intp))


def _worst_places(check: Check, program: Program) -> NDArray[np.intp]:
    """Return the points of a check where a formula is farthest beyond a statement."""
    margins = np.nan_to_num(check.margins(program), nan=np.inf if check.skips_gaps else -np.inf)
    return np.argsort(margins, kind="stable")[:N_WORST]


def _some_rows(dataset: Dataset) -> Dataset:
    usable = np.flatnonzero(dataset.weights > 0)
    if usable.size > MAX_DATA_ROWS:
        usable = usable[np.linspace(0, usable.size - 1, MAX_DATA_ROWS).astype(np.intp)]
    return dataset.take(usable)


def _assess(candidate: Candidate, dataset: Dataset) -> Candidate | None:
    """Return the candidate with its loss on the data; None if it has none."""
    if dataset.noise is not None:
        priced = price_numbers(candidate, dataset)
        return priced if np.isfinite(priced.loss) else None
    loss = root_mean_square_error(candidate.program, dataset)
    if not np.isfinite(loss) or not is_stable(candidate.program, dataset):
        return None
    return price_numbers(replace(candidate, loss=loss), dataset)


class _Problem:
    """Least squares of the data, with breaches of statements as further, heavy errors."""

    def __init__(
        self,
        program: Program,
        rows: Dataset,
        checks: list[Check],
        places: list[NDArray[np.intp]],
        size: float,
        loss: float,
    ) -> None:
        self._program, self._rows = program, rows
        self._parts = [
            (check, np.ascontiguousarray(check.points[:, some])) for check, some in zip(checks, places, strict=True)
        ]
        self._size = size
        scatter = find_scatter(program, rows) if rows.noise is not None else IMPOSSIBLE
        weighted = rows if scatter is IMPOSSIBLE else weigh(rows, scatter.precisions)
        self._roots = np.sqrt(weighted.weights / rows.n_rows) / max(loss, ROUNDED_BREACH * size)
        numbers = np.array(program.constants)
        self._scale = np.where(numbers != 0, np.abs(numbers), 1.0)

    def solve(self) -> Program | None:
        """Return the program with the numbers that fit best within the statements; None if none were found."""
        from scipy.optimize import least_squares

        start = np.array(self._program.constants) / self._scale
        if not np.isfinite(self._errors(start)).all():
            return None
        found = least_squares(
            self._errors,
            start,
            method="trf",
            x_scale=1.0,
            max_nfev=MAX_SLOPES_PER_TRY,
            xtol=1e-12,
            ftol=1e-12,
            gtol=1e-12,
        )
        left = np.abs(self._breaches(self._move(found.x)))
        if not left.max(initial=0.0) < HOPELESS_SHARE:
            return None
        numbers = self._project(found.x)
        return self._move(numbers) if np.isfinite(numbers).all() else None

    def _move(self, numbers: Numbers) -> Program:
        return self._program.with_constants(numbers * self._scale)

    def _errors(self, numbers: Numbers) -> Numbers:
        """Return the errors of the data, and breaches as multiples of what counts as rounding."""
        program = self._move(numbers)
        with np.errstate(all="ignore"):
            of_data = self._roots * (self._rows.target - evaluate(program, self._rows.columns))
            of_data = np.clip(np.nan_to_num(of_data, nan=LARGEST_BREACH), -1e9, 1e9)
            return np.concatenate([of_data, STRICTNESS * self._breaches(program)])

    def _breaches(self, program: Program) -> Numbers:
        """Return by how much a program breaks the statements, as shares of its size; 0 where it keeps them."""
        parts = []
        for check, points in self._parts:
            measured = check.measure(program, points) / (check.tolerance / ROUNDED_BREACH or self._size)
            gap = 0.0 if check.skips_gaps else LARGEST_BREACH
            if check.is_equality:
                parts.append(np.nan_to_num(measured, nan=gap, posinf=LARGEST_BREACH, neginf=-LARGEST_BREACH))
            else:
                short = np.minimum(measured - INSIDE_SHARE, 0.0)
                parts.append(np.nan_to_num(short, nan=-gap, neginf=-LARGEST_BREACH))
        return np.clip(np.concatenate(parts), -LARGEST_BREACH, LARGEST_BREACH)

    def _project(self, numbers: Numbers) -> Numbers:
        """Return the nearest numbers without breaches: least squares leaves small ones, in favour of the data."""
        step = 1e-7
        for _ in range(N_PROJECTIONS):
            breaches = self._breaches(self._move(numbers))
            is_active = np.abs(breaches) > 0
            if not is_active.any():
                break
            moved = [self._breaches(self._move(numbers + step * row)) for row in np.eye(numbers.size)]
            slopes = (np.array(moved) - breaches).T[is_active] / step
            if not np.isfinite(slopes).all():
                break
            numbers = numbers - np.linalg.lstsq(slopes, breaches[is_active], rcond=1e-9)[0]
        return numbers
