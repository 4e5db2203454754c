"""Collecting rivals at the end of a search: the formulas that its trees met, fitted to all rows and priced like the front.

A tree keeps programs by rough prices; see `kernels/tree/rival_pool`. Here they are fitted, priced, tidied, and told apart by their
values. The work is bounded by counts and never by the clock, so that a run can be repeated.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import overload

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate
from spl.regression.description_length import plain_length
from spl.regression.fit import LAST_EFFORT, evaluate, fit
from spl.regression.front import Front
from spl.regression.known_fit import KnownFit
from spl.regression.prune import respect_all
from spl.regression.tidy_front import tidy_within
from spl.regression.view import Yardstick
from spl.regression.views import Views

Tokens = tuple[int, ...]

MAX_FITS_WITHIN = 20  # of rivals that break what is known
KEPT_NATS = 12.0  # by which the description of a rival may be longer than that of the chosen formula
MAX_KEPT = 200  # rivals
# Formulas that are fitted: fewer on many rows, which leave few rivals. It takes about a tenth of a second.
MIN_FITS, MAX_FITS, MAX_ROW_FITS = 50, 256, 25_000
N_BOX_POINTS = 200  # random points in the box of the data at which formulas are compared
MAX_COMPARED_ROWS = 200
SAME_SHARE = 1e-3  # of the noise: formulas that differ by less everywhere are the same function
SAME_VALUE_SHARE = 1e-9  # of the value


class CollectedRivals(Sequence[Candidate]):
    """Distinct formulas whose descriptions are short, the shortest first; those of the polished front are among them.

    They are fitted, priced and compared when they are first asked for: for an easy law, that takes a tenth of the time of the search.
    """

    def __init__(self, rough: tuple[Candidate, ...], yardstick: Yardstick, front: Front, known: KnownFit) -> None:
        self._rough, self._yardstick, self._front, self._known = rough, yardstick, front, known

    @cached_property
    def _collected(self) -> tuple[Candidate, ...]:
        return tuple(_fit_and_compare(self._rough, self._yardstick, self._front, self._known))

    @overload
    def __getitem__(self, place: int) -> Candidate: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Candidate, ...]: ...
    def __getitem__(self, place: int | slice) -> Candidate | tuple[Candidate, ...]:
        return self._collected[place]

    def __len__(self) -> int:
        return len(self._collected)

    def __reduce__(self) -> tuple[type, tuple[tuple[Candidate, ...]]]:
        return tuple, (self._collected,)  # copies and pickles do not need the rows


def collect_rivals(views: Views, yardstick: Yardstick, front: Front) -> CollectedRivals:
    """Return the rivals of a polished front: those that the trees of all views keep, and its own formulas."""
    n_fits = min(max(MAX_ROW_FITS // yardstick.check.n_rows, MIN_FITS), MAX_FITS)
    return CollectedRivals(tuple(islice(_find(views, front), n_fits)), yardstick, front, views.setup.known)


def _fit_and_compare(
    rough: Iterable[Candidate], yardstick: Yardstick, front: Front, known: KnownFit
) -> list[Candidate]:
    n_rows, floor = yardstick.data.n_rows, yardstick.floor

    def length(candidate: Candidate) -> float:
        return plain_length(candidate, n_rows, floor)

    most = length(front[front.choose("mdl", n_rows, floor)]) + KEPT_NATS
    known.allow(MAX_FITS_WITHIN)
    fitted = (known.fit(each.program, yardstick.check, reward=each.reward) for each in rough)
    near = [each for each in fitted if length(each) <= most]
    if yardstick.check is not yardstick.data:
        near = [known.fit(each.program, yardstick.data, effort=LAST_EFFORT, reward=each.reward) for each in near]
    tidied = [tidy_within(each, yardstick.check, respect_all, known.keeps) for each in near]
    close = [each for each in (*front, *tidied) if length(each) <= most]
    return keep_distinct(sorted(close, key=length), yardstick.check, floor)[:MAX_KEPT]


def _find(views: Views, front: Front) -> Iterator[Candidate]:
    """Yield what the trees of all views keep, then what former trees kept, each once. What is in the front was polished."""
    vocabulary = views.setup.request.grammar.vocabulary
    order = [views.lead, *(view for view in views.opened if view is not views.lead)]
    known = {each.program.tokens for each in front}
    for each in chain(*(view.rough_rivals(vocabulary) for view in order), *(view.rivals for view in order)):
        if each.program.tokens not in known:
            known.add(each.program.tokens)
            yield each


# ---- telling formulas apart ------------------------------------------------------------------------


def keep_distinct(candidates: Iterable[Candidate], data: Dataset, floor: float) -> list[Candidate]:
    """Return the candidates without those that are an earlier one in another spelling, or with numbers rounded in another way.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[1.0], [2.0], [4.0]], [2.1, 4.0, 7.9], names=["x"])
        >>> texts = ("2*x", "x + x", "1.9*x", "x**2")
        >>> found = [Candidate(parse_expression(text, Vocabulary(("x",))), 0.1) for text in texts]
        >>> len(keep_distinct(found, data, 0.0))
        2
    """
    points = points_to_compare(data)
    kept: dict[Tokens, Candidate] = {}
    known: list[ComparedValues] = []
    for candidate in candidates:
        structure, values = structure_of(candidate.program), compare_by(candidate, data, points)
        noise = max(candidate.loss, floor)
        if structure not in kept and not any(values.are_those_of(each, noise) for each in known):
            kept[structure] = candidate
            known.append(values)
    return list(kept.values())


@dataclass(frozen=True, slots=True, eq=False)
class ComparedValues:
    """The values of a formula [M], as it is and with its rounded numbers fitted again."""

    as_is: NDArray[np.float64]
    fitted: NDArray[np.float64]

    def are_those_of(self, other: "ComparedValues", noise: float) -> bool:
        """Return whether two formulas are the same function in one of these ways."""
        return have_same_values(self.as_is, other.as_is, noise) or have_same_values(self.fitted, other.fitted, noise)


def structure_of(program: Program) -> Tokens:
    """Return the tokens of a formula, whatever its numbers."""
    has_literals = any(token >> tk.KIND_SHIFT == tk.LITERAL for token in program.tokens)
    return literals_to_constants(program).tokens if has_literals else program.tokens


def compare_by(candidate: Candidate, data: Dataset, points: NDArray[np.float64]) -> ComparedValues:
    """Return the values by which a formula is told from others: at these columns [D, M]."""
    program, free = candidate.program, literals_to_constants(candidate.program)
    as_is = evaluate(program, points)
    if structure_of(program) == program.tokens or free.n_constants > tk.MAX_CONSTANTS:
        return ComparedValues(as_is, as_is)
    fitted = fit(free, data)
    return ComparedValues(as_is, evaluate(fitted.program, points) if fitted.loss < np.inf else as_is)


def points_to_compare(data: Dataset) -> NDArray[np.float64]:
    """Return columns [D, M]: rows of the data, and random points in their box."""
    random = np.random.default_rng(0)
    rows = data.columns[:, data.weights > 0]
    lows, highs = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
    inside = lows + (highs - lows) * random.uniform(size=(len(lows), N_BOX_POINTS))
    if rows.shape[1] > MAX_COMPARED_ROWS:
        rows = rows[:, random.choice(rows.shape[1], MAX_COMPARED_ROWS, replace=False)]
    return np.ascontiguousarray(np.hstack([rows, inside]))


def have_same_values(values: NDArray[np.float64], others: NDArray[np.float64], noise: float) -> bool:
    """Return whether two formulas have the same values [M], up to a thousandth of the noise; or none at the same points."""
    with np.errstate(all="ignore"):
        is_same = np.abs(others - values) <= SAME_SHARE * noise + SAME_VALUE_SHARE * np.abs(values)
    return bool(np.all(is_same | ~(np.isfinite(others) | np.isfinite(values))))
