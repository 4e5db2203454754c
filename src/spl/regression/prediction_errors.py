"""How sure predictions are: standard errors and intervals of the law, limits of new measurements, and rows outside of the data."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.errors import count_noun
from spl.formulas.program import Program
from spl.formulas.text import quote_name
from spl.kernels.programs import tokens as tk
from spl.noise.models import IMPOSSIBLE, NORMAL
from spl.noise.new_values import FittedNoise, clip_to_targets, deviations_of_new, limit_new_values
from spl.regression.constant_slopes import slopes_by_constants
from spl.regression.fit import evaluate
from spl.regression.uncertainty import LEVEL, Curvature, free_numbers, measure_curvature

Numbers = NDArray[np.float64]

MAX_NAMED_COLUMNS = 3  # columns in a warning


@dataclass(frozen=True, slots=True, eq=False)
class KnownLaw:
    """A fitted formula, and how well its rows determine it: made once, it gives the limits of any predictions."""

    curvature: Curvature  # with all its numbers as constants, rounded ones as well
    noise: FittedNoise

    @classmethod
    def of(cls, program: Program, data: Dataset, given: Collection[float] = ()) -> "KnownLaw":
        """Measure how well rows determine a formula that was fitted to them; `given` are exact numbers, from the grammar."""
        curvature = measure_curvature(free_numbers(program, given), data)
        with np.errstate(all="ignore"):
            return cls(curvature, _fitted_noise(curvature, data))

    def limits(self, columns: Numbers, level: float = LEVEL, *, is_new: bool = False) -> Numbers:
        """Return lower and upper limits [M, 2] of the law on columns [D, M], or of new measurements; NaN where it has no value."""
        errors, quantile = _errors_on(self.curvature, columns), self.curvature.quantile(level)
        with np.errstate(all="ignore"):
            values = evaluate(self.curvature.program, columns)
            if not is_new:
                ends = [clip_to_targets(self.noise.model, values + sign * quantile * errors) for sign in (-1, 1)]
            elif self.curvature.scatter is IMPOSSIBLE:
                ends = [np.full(values.size, -np.inf), np.full(values.size, np.inf)]
            else:
                ends = list(limit_new_values(self.noise, values, errors, level, quantile))
        return np.where(np.isfinite(values), ends, np.nan).T


def predict_errors(program: Program, data: Dataset, columns: Numbers, given: Collection[float] = ()) -> Numbers:
    """Return the standard errors of the values of a formula on columns [D, M]; NaN where it has no value.

    They come from the errors of all its numbers, rounded ones as well: these count as if they were fitted.

    Args:
        program: the formula, fitted.
        data: the rows that it was fitted to, with their noise model; all must count.
        columns: where to predict.
        given: numbers that come from the grammar: these are exact.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.regression.fit import fit
        >>> x = np.linspace(-1.0, 1.0, 50)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 2 * x + np.cos(50 * x), names=["x"])
        >>> line = fit(parse_expression("C*x", Vocabulary(("x",))), data).program
        >>> predict_errors(line, data, np.array([[0.0, 1.0, 2.0]])).round(2)
        array([0.  , 0.17, 0.35])
    """
    return _errors_on(measure_curvature(free_numbers(program, given), data), columns)


def predict_limits(
    program: Program,
    data: Dataset,
    columns: Numbers,
    given: Collection[float] = (),
    *,
    level: float = LEVEL,
    is_new: bool = False,
) -> Numbers:
    """Return lower and upper limits [M, 2] of the law on columns [D, M], or of new measurements; NaN where it has no value.

    Args:
        program: the formula, fitted.
        data: the rows that it was fitted to, with their noise model; all must count.
        columns: where to predict.
        given: numbers that come from the grammar: these are exact.
        level: the chance that the limits hold what they are about.
        is_new: whether they are about a new measurement, which scatters around the law.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.regression.fit import fit
        >>> x = np.linspace(-1.0, 1.0, 50)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 2 * x + np.cos(50 * x), names=["x"])
        >>> line = fit(parse_expression("C*x", Vocabulary(("x",))), data).program
        >>> predict_limits(line, data, np.array([[1.0]])).round(2)
        array([[1.65, 2.35]])
        >>> predict_limits(line, data, np.array([[1.0]]), is_new=True).round(2)
        array([[0.51, 3.49]])
    """
    return KnownLaw.of(program, data, given).limits(columns, level, is_new=is_new)


def predict_noise(program: Program, data: Dataset, columns: Numbers) -> Numbers:
    """Return how far new measurements scatter around a formula on columns [D, M], as standard deviations; at least rounding error.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> x = np.linspace(-1.0, 1.0, 50)
        >>> data = Dataset.from_arrays(x[:, np.newaxis], 2 * x + np.cos(50 * x), names=["x"])
        >>> predict_noise(parse_expression("2*x", Vocabulary(("x",))), data, np.array([[1.0]])).round(2)
        array([0.71])
    """
    curvature = measure_curvature(program, data)
    with np.errstate(all="ignore"):
        values = evaluate(program, columns)
        if curvature.scatter is IMPOSSIBLE:
            return np.full(values.size, data.spread)
        return np.maximum(deviations_of_new(_fitted_noise(curvature, data), values), data.floor)


def _fitted_noise(curvature: Curvature, data: Dataset) -> FittedNoise:
    fitted = evaluate(curvature.program, data.columns)
    return FittedNoise(data.noise or NORMAL, curvature.scatter, data.measured_rows(), fitted, curvature.degrees)


def _errors_on(curvature: Curvature, columns: Numbers) -> Numbers:
    slopes = slopes_by_constants(curvature.program, columns)
    with np.errstate(all="ignore"):
        has_value = np.isfinite(evaluate(curvature.program, columns)) & np.isfinite(slopes).all(axis=0)
        return np.where(has_value, curvature.value_errors(np.where(has_value, slopes, 0.0)), np.nan)


def explain_extrapolation(program: Program, columns: Numbers, data: Dataset) -> str:
    """Return which columns of a formula leave the data, and how far, in words; nothing if all rows lie inside.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[0.0], [10.0]], [0.0, 20.0], names=["x"])
        >>> explain_extrapolation(parse_expression("2*x", Vocabulary(("x",))), np.array([[5.0, 12.0]]), data)
        '1 of 2 rows lies outside of the data: x reaches 12, 0.2 times its range beyond 10. Intervals there hold ...'
    """
    used = _columns_of(program, data)
    lows, highs = data.columns[used].min(axis=1), data.columns[used].max(axis=1)
    new = columns[used]
    n_outside = int(is_outside(program, columns, data).sum())
    if not n_outside:
        return ""
    parts = [
        part
        for column, low, high, values in zip(used, lows, highs, new, strict=True)
        for part in _say_how_far(quote_name(data.names[column]), float(low), float(high), values)
    ]
    more = f", and {len(parts) - MAX_NAMED_COLUMNS} more" if len(parts) > MAX_NAMED_COLUMNS else ""
    return (
        f"{n_outside:,} of {count_noun(columns.shape[1], 'row')} {'lies' if n_outside == 1 else 'lie'} outside of the data: "
        f"{', '.join(parts[:MAX_NAMED_COLUMNS])}{more}. Intervals there hold only if the formula does."
    )


def is_outside(program: Program, columns: Numbers, data: Dataset) -> NDArray[np.bool_]:
    """Return which places [D, M] lie outside of the data [M], in a column that the formula depends on.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[0.0], [10.0]], [0.0, 20.0], names=["x"])
        >>> is_outside(parse_expression("2*x", Vocabulary(("x",))), np.array([[5.0, 12.0]]), data)
        array([False,  True])
    """
    used = _columns_of(program, data)
    lows, highs = (ends[:, np.newaxis] for ends in (data.columns[used].min(axis=1), data.columns[used].max(axis=1)))
    return np.asarray(((columns[used] < lows) | (columns[used] > highs)).any(axis=0))


def _columns_of(program: Program, data: Dataset) -> list[int]:
    """Return the columns that a formula depends on; variables after them are numbers of groups."""
    found = {token & tk.PAYLOAD_MASK for token in program.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE}
    return sorted(place for place in found if place < len(data.names))


def _say_how_far(name: str, low: float, high: float, values: Numbers) -> list[str]:
    """Return in words how far a column goes beyond its range, below and above."""
    known = values[~np.isnan(values)]
    least, most = float(known.min(initial=low)), float(known.max(initial=high))
    beyond = [*([(least, low)] if least < low else []), *([(most, high)] if most > high else [])]
    if high == low:
        return [f"{name} reaches {end:.4g}, the data has only {edge:.4g}" for end, edge in beyond]
    return [
        f"{name} reaches {end:.4g}, {abs(end - edge) / (high - low):.2g} times its range beyond {edge:.4g}"
        for end, edge in beyond
    ]
