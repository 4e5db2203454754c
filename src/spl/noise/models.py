"""Noise models: how the targets of a table scatter around a law. Each turns predictions into weights and a likelihood.

Least squares stays the engine of every fit. A model says how large the errors of each row are, given the values of a formula: the
inverse squares are the weights of the next fit, and the likelihood of the errors is what formulas and models are chosen by. All
likelihoods are those of the target itself, so they can be compared between models.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from spl.errors import DataError, SettingError, show_value
from spl.noise.loss_codec import check_no_stand_in, decode_loss, encode_loss
from spl.noise.own_loss import Loss

Array = NDArray[np.float64]
NameRow = Callable[[int], str]  # returns what messages call a row

DEGREES = (1.0, 2.0, 4.0)  # of freedom of a Student distribution: with 1, up to half of the rows may be outliers
FIRST_OUTLIERS, MOST_OUTLIERS = 0.1, 0.5  # share of the rows, to begin with and at most
TIED_SHARE = 0.25  # of the rows: if more have the same target, a formula that meets them need not be a law
TIED_SCALE = 0.01  # then errors are at least this share of the spread of the target
MAX_MIXING = 25  # steps of the fit of outliers among normal errors
LEAST_TRUST = 1e-6  # an outlier keeps this share of the weight that its own error would give it
N_RATIOS = 16  # of the even to the relative part of an error that are tried before the best is refined
N_GOLDEN = 20  # steps of a golden section: the last interval is 1e-4 of the first
MAX_NEWTON = 30  # steps of Newton's method
SMALLEST_RATE = 1e-9  # of counts, as a share of their mean: a smaller rate gets no more weight
GAUSS_NATS = 0.5 * math.log(2 * math.pi * math.e)  # of a row, if errors are normal with deviation 1
LEAST_VALUE_SHARE, LARGEST_VALUE_SHARE = (
    1e-20,
    1e20,
)  # of the target that values of a formula reach at least and at most
SMALLEST_SIZE, LARGEST_SIZE = (
    1e-50,
    1e50,
)  # of targets for which noise models are compared: products of squares stay finite
EXACT_BARS = 1e-6  # errors below this share of the error bars are as good as none
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredRows:
    """What is known of the rows before any law is."""

    target: Array  # [N]
    weights: Array  # [N], 0 or more, mean 1: variances are proportional to 1 / weights
    floor: float  # smaller errors are rounding errors
    mean_weight: float = 1.0  # of the weights as they were given: counts and shares were measured that often
    sigma: Array | None = None  # [N], error bars
    input_variance: Array | None = None  # [N], of the target, from the errors of the columns


@dataclass(frozen=True, slots=True, eq=False)
class Scatter:
    """How rows scatter around the values of a formula."""

    nats: float  # negative logarithm of the likelihood, with the numbers of the noise at their best
    precisions: Array  # [N], 1 / variance: the weights of the next fit
    numbers: Mapping[str, float] = field(default_factory=dict)  # of the noise, for people
    is_exact: bool = False  # whether what is left over is rounding error
    curvatures: Array | None = None  # [N], second derivatives of the nats by the values; None if the precisions are

    def equivalent_error(self, floor: float) -> float:
        """Return the deviation of even normal noise that would be as likely: the root mean square error, if noise is normal."""
        if self.is_exact:
            return floor
        return math.exp(min(self.nats / self.precisions.size - GAUSS_NATS, 700.0)) if self.nats < math.inf else math.inf


IMPOSSIBLE = Scatter(math.inf, np.ones(1))


def weighted_mean(target: Array, weights: Array) -> float:
    """Return the mean of targets with weights."""
    return float(np.average(target, weights=weights))


def _median(target: Array, weights: Array) -> float:
    return float(np.median(target))


@dataclass(frozen=True, slots=True)
class NoiseModel:
    """A noise model: one row of the table below."""

    name: str
    n_numbers: int  # that are fitted to describe the noise
    scatter: Callable[[MeasuredRows, Array], Scatter]  # from the values of a formula
    check: Callable[[Array, NameRow], str]  # what is wrong with targets, if this model cannot have produced them
    noun: str  # for people: what there is in the data
    words: str  # for people: what the errors are like
    centre: Callable[[Array, Array], float] = (
        weighted_mean  # of targets with weights: the fit of a constant begins here
    )
    loss: Loss | None = None  # of the user, if that is what it follows

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[object], "NoiseModel"], tuple[str | Loss]]:
        """Pickle by name, so that another process has the model of its own table."""
        return find_noise_model, (self.name if self.loss is None else self.loss,)


# ---- normal, relative, Student -------------------------------------------------------------------


def _scatter_normal(rows: MeasuredRows, values: Array) -> Scatter:
    squares = (rows.target - values) ** 2
    unit, extra = _unit_variances(rows), rows.input_variance
    low = 1.0 if rows.sigma is not None else rows.floor
    if extra is None:
        scale = max(math.sqrt(float(np.mean(squares / unit))), low)
        return _gauss(rows, squares, scale**2 * unit, scale, low)
    high = max(math.sqrt(float(np.mean(squares / unit))), 2 * low)
    scale = _minimize(lambda scale: _gauss_nats(squares, scale**2 * unit + extra), low, high)
    return _gauss(rows, squares, scale**2 * unit + extra, scale, low)


def _scatter_relative(rows: MeasuredRows, values: Array) -> Scatter:
    """Errors are a**2 + (b*f)**2: even ones far below the values' own size, relative ones far above."""
    squares = (rows.target - values) ** 2
    unit, extra = _unit_variances(rows), rows.input_variance
    sizes = np.abs(values)
    largest = float(sizes.max())
    if not largest > LEAST_VALUE_SHARE * (float(np.abs(rows.target).max()) or 1.0):
        return _scatter_normal(rows, values)  # next to the target, the formula is 0 everywhere
    smallest = max(float(sizes[sizes > 0].min()), 1e-12 * largest)
    added = 0.0 if extra is None else extra
    if rows.sigma is not None:  # the even part is known
        share = _minimize(lambda b: _gauss_nats(squares, unit + added + (b * values) ** 2), 1e-9, 10.0)
        variances = unit + added + (share * values) ** 2
        return _gauss(rows, squares, variances, 1.0, 1.0, {"relative error": share})

    def best_share(ratio: float) -> tuple[float, float]:
        shape = (ratio**2 + values**2) * unit
        share = math.sqrt(float(np.mean(squares / shape)))
        if extra is not None:
            share = _minimize(lambda b: _gauss_nats(squares, b * b * shape + extra), 1e-3 * share, 2 * share)
        share = max(share, rows.floor / math.sqrt(float(np.max(shape))))
        return _gauss_nats(squares, share * share * shape + added), share

    ratios = np.geomspace(0.1 * smallest, 10 * largest, N_RATIOS)
    shapes = (ratios[:, np.newaxis] ** 2 + values**2) * unit
    best = int(np.argmin(np.log(shapes).mean(axis=1) + np.log(np.mean(squares / shapes, axis=1))))
    ends = ratios[max(best - 1, 0)], ratios[min(best + 1, N_RATIOS - 1)]
    ratio = _minimize(lambda ratio: best_share(ratio)[0], *ends)
    share = best_share(ratio)[1]
    variances = share**2 * (ratio**2 + values**2) * unit + added
    floor_share = rows.floor / math.sqrt(float(np.max((ratio**2 + values**2) * unit)))
    numbers = {"relative error": float(share)}
    if ratio > smallest:  # below, the relative part is larger in every row
        numbers["even error"] = float(share * ratio)
    return _gauss(rows, squares, variances, share, floor_share, numbers)


def _scatter_student(rows: MeasuredRows, values: Array) -> Scatter:
    squares = (rows.target - values) ** 2
    unit, extra = _unit_variances(rows), rows.input_variance
    tied = tied_scale(rows.target)
    low = 1.0 if rows.sigma is not None else max(rows.floor, tied)
    start = max(math.sqrt(float(np.median(squares / unit))), low)
    nats, degrees, scale = min(_fit_student(squares, unit, extra, low, start, degrees) for degrees in DEGREES)
    variances = scale**2 * unit + (0.0 if extra is None else extra)
    precisions = (degrees + 1) / (degrees * variances + squares)
    curvatures = precisions * (degrees * variances - squares) / (degrees * variances + squares)
    is_exact = (
        tied == 0 and rows.sigma is None and extra is None and _are_mostly_exact(squares * rows.weights, rows.floor)
    )
    numbers = {"degrees of freedom": degrees, "scale": scale}
    student = Scatter(nats + _weight_nats(rows), precisions, numbers, is_exact, curvatures)
    if is_exact or extra is not None:
        return student
    mixed = _mix_outliers(rows, squares / unit, unit, low, start)
    return mixed if mixed.nats < student.nats else student


def _fit_student(
    squares: Array, unit: Array, extra: Array | None, low: float, start: float, degrees: float
) -> tuple[float, float, float]:
    """Return the nats of Student errors with some degrees of freedom and the best scale, these degrees, and that scale."""
    constant = math.lgamma(degrees / 2) - math.lgamma((degrees + 1) / 2) + 0.5 * math.log(degrees * math.pi)
    added = 0.0 if extra is None else extra

    def nats(scale: float) -> float:
        variances = scale**2 * unit + added
        tails = 0.5 * (degrees + 1) * np.log1p(squares / (degrees * variances))
        return float(np.sum(tails + 0.5 * np.log(variances))) + squares.size * constant

    if extra is None:
        scale = _solve_student(squares / unit, low, start, degrees)
    else:
        scale = _minimize(nats, max(1e-2 * start, low), max(30 * start, 2 * low))
    return float(nats(scale)), degrees, float(scale)


def _solve_student(squares: Array, low: float, scale: float, degrees: float) -> float:
    """Return the scale at which the likelihood of Student errors is highest, at least `low`, by Newton's method for its logarithm.

    There the sum of (degrees + 1)*q/(degrees + q) is the number of rows, where q = squares/scale**2; it falls as the scale grows.
    """
    for _ in range(MAX_NEWTON):
        ratios = squares / scale**2
        shares = ratios / (degrees + ratios)
        excess = (degrees + 1) * float(shares.sum()) - squares.size
        slope = 2 * (degrees + 1) * float(np.sum(shares * (1 - shares)))
        if slope <= 0.0:
            return low  # no errors beyond rounding
        step = min(max(excess / slope, -2.0), 2.0)
        scale = max(scale * math.exp(step), low)
        if abs(step) < 1e-6 or (scale == low and step < 0):
            break
    return scale


def _mix_outliers(rows: MeasuredRows, squares: Array, unit: Array, low: float, scale: float) -> Scatter:
    """Return the scatter of normal errors with a share of outliers, which are equally likely anywhere within the largest error.

    Where outliers are gross, this describes the other rows as well as normal noise does. It is fitted by expectation maximization.
    `squares` are those of the errors over the unit variances.
    """
    width = 2 * math.sqrt(max(float(squares.max()), low**2))
    share = FIRST_OUTLIERS
    for _ in range(MAX_MIXING):
        normal = (1 - share) * np.exp(-0.5 * squares / scale**2) / (scale * math.sqrt(2 * math.pi))
        likely = normal + share / width
        good = normal / likely
        n_good = max(float(good.sum()), 1.0)
        before, scale = scale, max(math.sqrt(float(good @ squares) / n_good), low)
        share = min(max(1 - n_good / squares.size, 1e-9), MOST_OUTLIERS)
        if abs(scale - before) <= 1e-4 * scale:
            break
    nats = -float(np.sum(np.log(likely))) + 0.5 * float(np.sum(np.log(unit))) + _weight_nats(rows)
    precisions = (good / scale**2 + LEAST_TRUST / (scale**2 + squares)) / unit
    curvatures = good / scale**2 * (1 - (1 - good) * squares / scale**2) / unit
    size = "standard deviation" if rows.sigma is None else "scale"  # of the error bars
    return Scatter(nats, precisions, {"share of outliers": share, size: scale}, curvatures=curvatures)


def tied_scale(target: Array) -> float:
    """Return the least scale of errors if many targets are equal, else 0.

    A constant meets all equal targets exactly, such as the zeros of a detector, without being a law of them.
    """
    _, counts = np.unique(target, return_counts=True)
    return TIED_SCALE * float(target.std()) if counts.max() > TIED_SHARE * target.size else 0.0


def _are_mostly_exact(squares: Array, floor: float) -> bool:
    """Return whether more than half of the rows have no error but rounding."""
    return bool(np.median(squares) <= floor**2)


def _unit_variances(rows: MeasuredRows) -> Array:
    """Return the variances of the rows up to a factor that the errors decide; rows of weight 0 are left out by the caller."""
    return 1.0 / rows.weights if rows.sigma is None else rows.sigma**2


def _weight_nats(rows: MeasuredRows) -> float:
    """Return the nats that weights add to a likelihood: only their ratios mean something, so they must not change it."""
    return 0.5 * float(np.sum(np.log(rows.weights))) if rows.sigma is None else 0.0


def _gauss_nats(squares: Array, variances: Array) -> float:
    return 0.5 * float(np.sum(np.log(2 * math.pi * variances) + squares / variances))


def _gauss(
    rows: MeasuredRows,
    squares: Array,
    variances: Array,
    scale: float,
    least_scale: float,
    numbers: Mapping[str, float] | None = None,
) -> Scatter:
    """Return the scatter of normal errors with these variances."""
    if rows.sigma is not None:
        is_exact = bool(np.mean(squares / variances) <= EXACT_BARS**2)
        numbers = {**(numbers or {}), **({"factor of the error bars": scale} if scale > 1 else {})}
    else:
        is_exact = scale <= least_scale
        numbers = numbers or {"standard deviation": scale}
    nats = _gauss_nats(squares, variances) + _weight_nats(rows)
    return Scatter(nats, 1.0 / variances, numbers, is_exact)


def _minimize(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function of a positive number is lowest between two limits, by golden section of the logarithm."""
    if not 0 < low < high:
        return low
    a, b = math.log(low), math.log(high)
    left, right = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    at_left, at_right = function(math.exp(left)), function(math.exp(right))
    for _ in range(N_GOLDEN):
        if at_left <= at_right:
            b, right, at_right = right, left, at_left
            left = b - _GOLDEN * (b - a)
            at_left = function(math.exp(left))
        else:
            a, left, at_left = left, right, at_right
            right = a + _GOLDEN * (b - a)
            at_right = function(math.exp(right))
    ends = (low, high, math.exp(0.5 * (a + b)))
    return min(ends, key=function)


# ---- counts and shares ---------------------------------------------------------------------------


def _scatter_poisson(rows: MeasuredRows, values: Array) -> Scatter:
    counts, times = rows.target, rows.mean_weight * rows.weights
    if np.any(values < 0) or np.any((values == 0) & (counts > 0)):
        return IMPOSSIBLE
    rates = np.maximum(values, SMALLEST_RATE * max(float(counts.mean()), 1.0))
    nats = float(np.sum(times * (rates - counts * np.log(rates) + gammaln(counts + 1))))
    return Scatter(nats, times / rates)


def _scatter_binomial(rows: MeasuredRows, values: Array) -> Scatter:
    shares, times = rows.target, rows.mean_weight * rows.weights
    if np.any((values < 0) | (values > 1)):
        return IMPOSSIBLE
    chances = np.clip(values, SMALLEST_RATE, 1 - SMALLEST_RATE)
    ways = gammaln(times + 1) - gammaln(times * shares + 1) - gammaln(times * (1 - shares) + 1)
    nats = float(np.sum(-ways - times * (shares * np.log(chances) + (1 - shares) * np.log1p(-chances))))
    return Scatter(nats, times / (chances * (1 - chances)))


def _accept(target: Array, name_row: NameRow) -> str:
    return ""


def _check_counts(target: Array, name_row: NameRow) -> str:
    bad = np.flatnonzero((target < 0) | (target != np.floor(target)))
    if not bad.size:
        return ""
    return (
        f"The target is not a count in {bad.size} of {target.size} rows: {target[bad[0]]:g} in {name_row(bad[0])}. Counts are whole "
        "numbers of 0 or more; for other targets, choose another noise model, such as 'relative'."
    )


def _check_shares(target: Array, name_row: NameRow) -> str:
    bad = np.flatnonzero((target < 0) | (target > 1))
    if not bad.size:
        return ""
    return (
        f"The target is not a share in {bad.size} of {target.size} rows: {target[bad[0]]:g} in {name_row(bad[0])}. Shares lie between "
        "0 and 1; for counts, choose the noise model 'poisson'."
    )


NORMAL = NoiseModel("normal", 1, _scatter_normal, _accept, "even noise", "errors of the same size everywhere")
RELATIVE = NoiseModel("relative", 2, _scatter_relative, _accept, "relative noise", "errors that grow with the value")
STUDENT = NoiseModel("student", 2, _scatter_student, _accept, "outliers", "small errors with some outliers", _median)
POISSON = NoiseModel("poisson", 0, _scatter_poisson, _check_counts, "Poisson noise", "counts of independent events")
BINOMIAL = NoiseModel("binomial", 0, _scatter_binomial, _check_shares, "binomial noise", "shares of independent trials")
NOISE_MODELS = {model.name: model for model in (NORMAL, RELATIVE, STUDENT, POISSON, BINOMIAL)}
AUTO = "auto"


def find_noise_model(given: object) -> NoiseModel:
    """Return the noise model of a name, or of a loss.

    Examples:
        >>> find_noise_model("relative").words
        'errors that grow with the value'
        >>> find_noise_model("gaussian")
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: `noise` must be one of auto, normal, relative, student, poisson, binomial, or a Loss; got 'gaussian'.
    """
    if isinstance(given, Loss):
        return _model_of(given)
    if not isinstance(given, str) or given not in NOISE_MODELS:
        names = ", ".join((AUTO, *NOISE_MODELS))
        raise SettingError(f"`noise` must be one of {names}, or a Loss; got {show_value(given)}.")
    return NOISE_MODELS[given]


def check_noise(given: object) -> NoiseModel | str:
    """Return the given noise model, or "auto".

    Examples:
        >>> check_noise("auto"), str(check_noise("student"))
        ('auto', 'student')
    """
    return AUTO if isinstance(given, str) and given == AUTO else find_noise_model(given)


def _model_of(loss: Loss) -> NoiseModel:
    """Return the noise model that follows a loss: errors are as likely as even normal ones with the same mean loss."""
    check_no_stand_in(loss)
    if loss.name in (AUTO, *NOISE_MODELS):
        raise SettingError(f"A loss cannot be called '{loss.name}': that is a noise model. Choose another name.")

    def scatter(rows: MeasuredRows, values: Array) -> Scatter:
        error = loss.equivalent_error(rows.target, values, rows.weights)
        precisions = rows.weights * loss.weights(rows.target, values)
        if not 0 < error < math.inf or not precisions.any():
            return Scatter(-math.inf if error == 0 else math.inf, rows.weights, is_exact=error == 0)
        nats = rows.target.size * (math.log(error) + GAUSS_NATS)
        curvatures = rows.weights * loss.curvatures(rows.target, values)
        return Scatter(nats, precisions, {"typical error": error}, error <= rows.floor, curvatures)

    def check(target: Array, name_row: NameRow) -> str:
        loss.check_target(target)
        return ""

    words = f"errors weighed by the loss {loss.name}"
    return NoiseModel(loss.name, 1, scatter, check, f"noise of the loss {loss.name}", words, loss=loss)


def check_targets(model: NoiseModel, target: Array, name_row: NameRow) -> None:
    """Raise a clear error if a noise model cannot have produced these targets; `name_row` says what to call a row."""
    problem = model.check(target, name_row)
    if problem:
        raise DataError(problem)
    if not has_ordinary_size(target):
        raise DataError(
            f"The target reaches {np.abs(target).max():.3g}; with noise models other than normal, it must be between "
            f"{SMALLEST_SIZE:g} and {LARGEST_SIZE:g}. Give it in another unit."
        )


def has_ordinary_size(target: Array) -> bool:
    """Return whether likelihoods of targets of this size can be computed."""
    size = float(np.abs(target).max())
    return size == 0.0 or SMALLEST_SIZE < size < LARGEST_SIZE


def encode_noise(noise: NoiseModel | str) -> object:
    """Return a noise model as a value for JSON."""
    if isinstance(noise, str):
        return noise
    return noise.name if noise.loss is None else encode_loss(noise.loss)


def decode_noise(stored: object, loss: Loss | None = None) -> str | Loss:
    """Return the name of a stored noise model, or its loss: the given one if it is the same."""
    return stored if isinstance(stored, str) else decode_loss(stored, loss)
