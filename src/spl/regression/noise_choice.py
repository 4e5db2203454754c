"""Which noise model describes the data best: comparing models, and saying what was chosen and why."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from spl.data.dataset import Dataset
from spl.noise.models import NOISE_MODELS, NORMAL, POISSON, RELATIVE, STUDENT, NoiseModel, has_ordinary_size, tied_scale
from spl.regression.candidate import Candidate
from spl.regression.description_length import formula_price
from spl.regression.fit import find_scatter, fit

MARGIN_NATS = 3.0  # by which another model must describe the data more briefly than even normal noise
UNSURE_NATS = 6.0  # a smaller difference between two models is worth a note
FEW_MEASUREMENTS = 30  # with fewer rows, every choice of another model is worth a note
LEAST_RANGE = 1.5  # of the sizes of the target, upper to lower decile: below, relative errors look like even ones


@dataclass(frozen=True, slots=True)
class NoiseChoice:
    """The noise model of an answer.

    Examples:
        >>> str(NoiseChoice("relative", numbers={"relative error": 0.05}))
        'relative'
    """

    name: str
    numbers: Mapping[str, float] = field(default_factory=dict)  # fitted: how large the noise is
    others: Mapping[str, float] = field(default_factory=dict)  # models compared: how many nats more they need
    reason: str = ""  # in words

    def __str__(self) -> str:
        return self.name


PLAIN_NOISE = NoiseChoice("normal")


@dataclass(frozen=True, slots=True)
class Description:
    """A formula with a noise model, and how many nats it takes to describe the data with them."""

    candidate: Candidate
    noise: NoiseModel
    nats: float


def rival_models(data: Dataset) -> tuple[NoiseModel, ...]:
    """Return the noise models besides normal noise that may have produced the targets of a dataset.

    Examples:
        >>> [model.name for model in rival_models(Dataset.from_arrays([[0.0]] * 4, [0.0, 3.0, 1.0, 40.0]))]
        ['relative', 'student', 'poisson']
    """
    if not has_ordinary_size(data.target):
        return ()
    if data.sigma is not None:
        return (STUDENT,)
    sizes = np.quantile(np.abs(data.target), (0.1, 0.9))
    models = [RELATIVE] if sizes[1] > LEAST_RANGE * sizes[0] else []
    if not tied_scale(data.target):  # else all rows but the equal ones would be outliers
        models.append(STUDENT)
    if not POISSON.check(data.target, str) and data.target.max() > 1 and data.sigma_columns is None:
        models.append(POISSON)
    return tuple(models)


def describe(candidate: Candidate, noise: NoiseModel, rows: Dataset) -> Description:
    """Return the shortest description of the rows by a formula, fitted anew, and a noise model."""
    data = replace(rows, noise=noise)
    return price(fit(candidate.program, data, reward=candidate.reward), noise, rows)


def price(candidate: Candidate, noise: NoiseModel, rows: Dataset) -> Description:
    """Return the description of the rows by a formula as it is and a noise model."""
    scatter = find_scatter(candidate.program, replace(rows, noise=noise))
    nats = scatter.nats if not scatter.is_exact else -math.inf
    nats += formula_price(candidate, rows.n_rows) + 0.5 * noise.n_numbers * math.log(rows.n_rows)
    return Description(candidate, noise, nats)


def best_description(candidates: Iterable[Candidate], noise: NoiseModel, rows: Dataset) -> Description | None:
    """Return the shortest description by one of several formulas, each fitted anew; None without formulas."""
    found = (describe(candidate, noise, rows) for candidate in candidates)
    return min((each for each in found if math.isfinite(each.candidate.loss)), key=lambda each: each.nats, default=None)


def explain_choice(
    chosen: Candidate, noise: NoiseModel, rows: Dataset, compared: Iterable[Description], is_auto: bool
) -> NoiseChoice:
    """Return the noise model of an answer in words; `compared` are the best descriptions by other models."""
    scatter = find_scatter(chosen.program, replace(rows, noise=noise))
    if not is_auto:
        return NoiseChoice(noise.name, dict(scatter.numbers), reason="as asked for")
    if scatter.is_exact:
        if noise is STUDENT:
            reason = "the law is exact in most rows; the others are outliers"
            return NoiseChoice(noise.name, dict(scatter.numbers), reason=reason)
        return NoiseChoice(noise.name, reason="the law is exact: there is no noise")
    own = price(chosen, noise, rows).nats
    others = {each.noise.name: each.nats - own for each in compared if each.noise is not noise}
    reason = _reason(noise, others, has_bars=rows.sigma is not None)
    return NoiseChoice(noise.name, dict(scatter.numbers), others, reason)


def _reason(noise: NoiseModel, others: Mapping[str, float], *, has_bars: bool) -> str:
    own = _words(noise, has_bars)
    if not others:
        return f"{own}; no other model was compared"
    nearest = min(others, key=lambda name: others[name])
    words = _words(NOISE_MODELS[nearest], has_bars)
    if others[nearest] < 0:
        return f"{own}; {words} would describe the data only {-others[nearest]:.1f} nats more briefly"
    return f"{own}; {words} would take {others[nearest]:.1f} nats more to describe the data"


def _words(noise: NoiseModel, has_bars: bool) -> str:
    return "errors in proportion to the error bars" if noise is NORMAL and has_bars else noise.words


def note_of_error_bars(choice: NoiseChoice, n_rows: int) -> str:
    """Return a note if the errors are larger than error bars explain; "" otherwise.

    Examples:
        >>> note_of_error_bars(NoiseChoice("normal", {"factor of the error bars": 2.31}), 100)
        'The errors are 2.31 times as large as the error bars: either these are too small, or the formula misses part of the law.'
    """
    factor = choice.numbers.get("factor of the error bars", 1.0)
    if factor < 1.0 + 4.0 / math.sqrt(2 * n_rows):  # four standard errors of such a factor
        return ""
    return (
        f"The errors are {factor:.3g} times as large as the error bars: either these are too small, or the formula misses part of "
        "the law."
    )


def note_of_doubt(choice: NoiseChoice, n_rows: int, difference: float, plain_formula: str) -> str:
    """Return a note if the rows cannot tell the noise model, and with it the formula; "" otherwise.

    Args:
        choice: the noise model of the answer, another than even noise.
        n_rows: of the data.
        difference: how many nats more it takes to describe the data with even noise and its formula.
        plain_formula: the formula that even noise has led to so far; "" if it is the same.

    Examples:
        >>> note_of_doubt(NoiseChoice("student"), 20, 4.2, "2*x + 0.1*x**3")
        'The rows cannot tell the noise: with even noise instead of outliers, the formula would be 2*x + 0.1*x**3 (4.2 nats worse).'
    """
    is_sure = difference >= UNSURE_NATS or not plain_formula
    if is_sure and n_rows >= FEW_MEASUREMENTS:
        return ""
    own, even = NOISE_MODELS[choice.name].noun, NORMAL.noun
    if not plain_formula:
        return f"With {n_rows} rows, the data cannot tell {own} from {even} for sure; check the formula."
    worse = "far worse" if math.isinf(difference) else f"{difference:.1f} nats worse"
    return (
        f"The rows cannot tell the noise: with {even} instead of {own}, the formula would be {plain_formula} ({worse})."
    )
