"""A model of the flow: polynomial slopes, fitted so that they lead from each sample to the next.

Derivatives by interpolation fail where samples are far apart, although the data still fixes the law: from every sample, the slopes
must lead to the next one. So polynomials are fitted to that, not to derivatives: the model is integrated from sample to sample, and
its factors are improved by Gauss-Newton steps. Steps that are not fitted show how good the model is. White noise cannot be predicted,
so a model that predicts samples better than their estimated noise allows shows that this "noise" is a signal between the samples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectory
from spl.dynamics.damped_least_squares import Damping, lower_squares
from spl.kernels.programs.polynomial_flow import FlowWork, Polynomials, Strides, follow_polynomials

Numbers = NDArray[np.float64]

MAX_DEGREE = 5
SURE_DEGREE = 3  # lower degrees are tried in any case: a cubic law may look no better with 2 than with 1
MAX_UNKNOWNS = 180  # factors of all states: more take too long
MAX_TERMS_PER_STEP = 0.5  # terms of a polynomial, at most, for each step that they are fitted to
MAX_STEPS = 400  # that a model is fitted to: half of them spread over the data, half where the states change most (spikes are rare)
HELD_OUT = 4  # of these, every fourth is held out
LEAST_STEPS = 12  # with fewer, there is no model
GOOD_DEGREE = 1e-4  # of the spread: a model that predicts samples this well needs no higher degree
GOOD_STEP = 1e-6  # of the spread: a model that predicts samples this well needs no finer integration
BETTER = (
    0.5  # times the error of the degree two below, or less: then the next one is tried (sines have odd powers only)
)
USEFUL = 0.2  # of the spread: a model with a smaller error is where the next degree starts from
FINER = 0.8  # times the error, or less: then the integration is made finer again
FIRST_SUBSTEPS, MAX_SUBSTEPS = 8, 64  # of the integration from one sample to the next
MAX_SLOPE_SUBSTEPS = 16  # for the derivatives by the factors; with fewer, spikes lead steps astray
CAP = 1.0  # spreads: a step that ends farther off than this hardly counts, so that a few lost ones do not spoil the fit
FAR_OFF = 3.0  # spreads: a step counts as at most this far off when a model is judged
LOST = 1e3  # spreads: beyond, a step is lost
QUADRATURE = 6  # points between two samples for the first guess
GUESS_RIDGE = 1e-4  # of the first guess, relative to the size of its columns
FIRST_DAMPING = Damping(first=1e-2, most=1e8, max_iterations=10)
DAMPING = Damping(first=1e-4, most=1e8, max_iterations=40)
SMALL_GAIN = 1e-3  # of the error: a step that gains less is the last one


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """Pairs of neighbouring samples, in units of their spread and of the typical step."""

    strides: Strides  # from the first sample of each pair
    end: Numbers  # [M, D], the second sample
    between: Sequence[Numbers]  # first guesses of states and inputs in between, each [M, QUADRATURE, D + U]

    def __len__(self) -> int:
        return len(self.end)

    def take(self, places: NDArray[np.intp]) -> "_Steps":
        """Return some of the steps."""
        strides = Strides(*(np.ascontiguousarray(field[places]) for field in self.strides))
        return _Steps(strides, self.end[places], [path[places] for path in self.between])


@dataclass(frozen=True, slots=True, eq=False)
class FlowModel:
    """Slopes as polynomials of states and inputs that lead from sample to sample."""

    polynomials: Polynomials  # P terms, factors [P, D]
    centre: Numbers  # [D + U]
    spread: Numbers  # [D + U]
    time_unit: float
    n_substeps: int
    step_error: Numbers  # [D], root mean square error of predictions of samples that the model was not fitted to

    @property
    def relative_error(self) -> float:
        """The error of predictions as a share of the spread of the states."""
        return _size(self.step_error / self.spread[: self.step_error.size])

    def slopes(self, run: Trajectory) -> Numbers:
        """Return the slopes at the samples of a run [N, D], corrected by how far the model misses the neighbouring samples.

        What the model lacks is alike for neighbouring steps and is added. Noise is not: a sample that is too high raises the error of
        the step before and lowers that of the step after.
        """
        n_states = run.x.shape[1]
        columns = (np.hstack([run.x, run.u]) - self.centre) / self.spread
        found = _terms(columns, self.polynomials) @ self.polynomials.factors
        steps = _cut_steps([run], self.centre, self.spread, self.time_unit, has_paths=False)
        with np.errstate(all="ignore"):
            missed = (steps.end - _follow(self, steps)) / steps.strides.duration[:, np.newaxis]
        missed = np.where(np.isfinite(missed) & (np.abs(missed) <= CAP), missed, 0.0)
        if np.sum(missed[:-1] * missed[1:]) > 0:
            both = np.vstack([missed[:1], missed, missed[-1:]])
            found = found + 0.5 * (both[:-1] + both[1:])
        return np.asarray(found * self.spread[:n_states] / self.time_unit)


def fit_flow(runs: Sequence[Trajectory]) -> FlowModel | None:
    """Return the polynomial model that predicts held-out samples of the runs best from the sample before; None without enough steps.

    Examples:
        >>> t = np.arange(60) * 1.2  # five samples per turn
        >>> circle = Trajectory(t, np.column_stack([np.sin(t), np.cos(t)]), np.empty((60, 0)), None)
        >>> model = fit_flow([circle])
        >>> bool(np.allclose(model.slopes(circle), np.column_stack([np.cos(t), -np.sin(t)]), atol=1e-4))
        True
    """
    columns = np.vstack([np.hstack([run.x, run.u]) for run in runs])
    centre, spread = columns.mean(axis=0), columns.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    time_unit = float(np.median(np.concatenate([np.diff(run.t) for run in runs])))
    n_states = runs[0].x.shape[1]
    steps = _cut_steps(runs, centre, spread, time_unit, has_paths=True)
    if len(steps) < LEAST_STEPS:
        return None
    steps = steps.take(_choose_steps(steps))
    with np.errstate(all="ignore"):  # trajectories may be lost
        models: list[FlowModel] = []
        for degree in range(1, MAX_DEGREE + 1):
            polynomials = _list_terms(columns.shape[1], degree, n_states)
            if not _is_small_enough(polynomials, len(steps)):
                break
            start = FlowModel(polynomials, centre, spread, time_unit, FIRST_SUBSTEPS, np.empty(0))
            models.append(_fit_degree(start, models[-1] if models else None, steps))
            error = models[-1].relative_error
            is_no_better = degree >= SURE_DEGREE and error > BETTER * models[-3].relative_error
            if error <= GOOD_DEGREE or is_no_better:
                break
    return min(models, key=lambda model: model.relative_error, default=None)


def _fit_degree(start: FlowModel, lower: FlowModel | None, steps: _Steps) -> FlowModel:
    """Return the model with polynomials of one degree, fitted to all steps, with its error where three steps of four are fitted."""
    places = np.arange(len(steps))
    is_held = places % HELD_OUT == HELD_OUT - 1
    fitted, held = steps.take(places[~is_held]), steps.take(places[is_held])
    guesses = []
    if lower is not None:
        guesses.append(_embed(lower, len(start.polynomials.parents)))
        start = replace(start, n_substeps=lower.n_substeps)
    if lower is None or lower.relative_error > USEFUL:
        guesses += [_guess(start.polynomials, path, fitted) for path in fitted.between]
    tried = [_improve(_with_factors(start, guess), fitted, FIRST_DAMPING) for guess in guesses]
    model = _measure(_improve(min(tried, key=lambda pair: pair[1])[0], fitted, DAMPING)[0], held)
    while model.relative_error > GOOD_STEP and model.n_substeps < MAX_SUBSTEPS:
        finer = replace(model, n_substeps=2 * model.n_substeps)
        finer = _measure(_improve(finer, fitted, DAMPING)[0], held)
        is_better = finer.relative_error < FINER * model.relative_error
        model = finer if finer.relative_error < model.relative_error else model
        if not is_better:
            break
    return replace(_improve(model, steps, FIRST_DAMPING)[0], step_error=model.step_error)


def _measure(model: FlowModel, held: _Steps) -> FlowModel:
    """Return the model with its error on held-out steps."""
    missed = _clip(held.end - _follow(model, held))
    return replace(model, step_error=np.sqrt(np.mean(missed**2, axis=0)) * model.spread[: missed.shape[1]])


def _is_small_enough(polynomials: Polynomials, n_steps: int) -> bool:
    return polynomials.factors.size <= MAX_UNKNOWNS and len(polynomials.parents) <= MAX_TERMS_PER_STEP * n_steps


def _with_factors(model: FlowModel, factors: Numbers) -> FlowModel:
    return replace(model, polynomials=model.polynomials._replace(factors=factors))


def _size(values: Numbers) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(values**2)))


def _clip(missed: Numbers) -> Numbers:
    """Return how far steps are off; those that are lost count as far off, but not more."""
    return np.clip(np.nan_to_num(missed, nan=FAR_OFF, posinf=FAR_OFF, neginf=-FAR_OFF), -FAR_OFF, FAR_OFF)


# ---- steps ---------------------------------------------------------------------------------------


def _cut_steps(
    runs: Sequence[Trajectory], centre: Numbers, spread: Numbers, time_unit: float, *, has_paths: bool
) -> _Steps:
    """Return all pairs of neighbouring samples, if wanted with paths between them."""
    n_states = runs[0].x.shape[1]
    tables = [(np.hstack([run.x, run.u]) - centre) / spread for run in runs]
    times = [run.t / time_unit for run in runs]
    first, last = (np.vstack([table[cut] for table in tables]) for cut in (slice(None, -1), slice(1, None)))
    states, inputs = (np.ascontiguousarray(part) for part in np.hsplit(first, [n_states]))
    change = np.ascontiguousarray(last[:, n_states:] - inputs)
    strides = Strides(states, inputs, change, np.concatenate([np.diff(t) for t in times]))
    return _Steps(strides, last[:, :n_states], _guess_paths(times, tables) if has_paths else [])


def _choose_steps(steps: _Steps) -> NDArray[np.intp]:
    """Return which steps to fit to, in order of time."""
    n_steps = len(steps)
    if n_steps <= MAX_STEPS:
        return np.arange(n_steps)
    spread = np.linspace(0, n_steps - 1, MAX_STEPS // 2).round().astype(np.intp)
    change = np.abs(steps.end - steps.strides.start).max(axis=1)
    change[spread] = -1.0
    largest = np.argsort(-change, kind="stable")[: MAX_STEPS - spread.size]
    return np.sort(np.concatenate([spread, largest]))


def _guess_paths(times: Sequence[Numbers], tables: Sequence[Numbers]) -> list[Numbers]:
    """Return states between the samples, once by a spline and once without overshoot: spikes need the latter."""
    from scipy.interpolate import CubicSpline, PchipInterpolator  # slow to import

    places = 0.5 * (np.polynomial.legendre.leggauss(QUADRATURE)[0] + 1.0)
    paths = []
    for interpolate in (CubicSpline, PchipInterpolator):
        parts = []
        for t, table in zip(times, tables, strict=True):
            at = t[:-1, np.newaxis] + np.diff(t)[:, np.newaxis] * places
            parts.append(interpolate(t, table)(at))
        paths.append(np.vstack(parts))
    return paths


# ---- polynomials ---------------------------------------------------------------------------------


def _list_terms(n_columns: int, degree: int, n_states: int) -> Polynomials:
    """Return all products of up to `degree` columns, those of lower degrees first, with factors of 0."""
    chosen = [c for size in range(degree + 1) for c in combinations_with_replacement(range(n_columns), size)]
    places = {each: place for place, each in enumerate(chosen)}
    parents = np.array([places[each[:-1]] for each in chosen], dtype=np.int64)
    columns = np.array([each[-1] if each else 0 for each in chosen], dtype=np.int64)
    return Polynomials(parents, columns, np.zeros((len(chosen), n_states)))


def _terms(columns: Numbers, polynomials: Polynomials) -> Numbers:
    """Return the values of all terms [M, P]."""
    terms = np.ones((len(columns), len(polynomials.parents)))
    for p, (parent, column) in enumerate(zip(polynomials.parents, polynomials.columns, strict=True)):
        if p > 0:
            terms[:, p] = terms[:, parent] * columns[:, column]
    return terms


def _guess(polynomials: Polynomials, path: Numbers, steps: _Steps) -> Numbers:
    """Return factors [P, D] for which the integrals of the slopes along a path are close to the changes of the states."""
    weights = 0.5 * np.polynomial.legendre.leggauss(QUADRATURE)[1]
    terms = _terms(path.reshape(-1, path.shape[2]), polynomials).reshape(*path.shape[:2], -1)
    table = np.einsum("q,mqp->mp", weights, terms) * steps.strides.duration[:, np.newaxis]
    size = np.linalg.norm(table, axis=0)
    size = np.where(size > 0, size, 1.0)
    change = np.vstack([steps.end - steps.strides.start, np.zeros_like(polynomials.factors)])
    ridge = GUESS_RIDGE * np.eye(len(polynomials.parents))
    return np.asarray(np.linalg.lstsq(np.vstack([table / size, ridge]), change, rcond=None)[0] / size[:, np.newaxis])


def _embed(lower: FlowModel, n_terms: int) -> Numbers:
    """Return the factors of a model of lower degree among those of more terms."""
    known = lower.polynomials.factors
    return np.vstack([known, np.zeros((n_terms - len(known), known.shape[1]))])


# ---- following the model -------------------------------------------------------------------------


def _follow(model: FlowModel, steps: _Steps) -> Numbers:
    """Return where the model leads from the start of each step [M, D]."""
    return _run_kernel(model.polynomials, steps, model.n_substeps, width=1)[:, :, 0]


def _derivatives(model: FlowModel, steps: _Steps) -> Numbers:
    """Return the derivatives of where the model leads by its factors [M, D, D * P]; those of the first state's slope come first."""
    polynomials = model.polynomials
    n_substeps = min(model.n_substeps, MAX_SLOPE_SUBSTEPS)
    return _run_kernel(polynomials, steps, n_substeps, width=1 + polynomials.factors.size)[:, :, 1:]


def _run_kernel(polynomials: Polynomials, steps: _Steps, n_substeps: int, width: int) -> Numbers:
    n_terms, n_states = polynomials.factors.shape
    n_columns = n_states + steps.strides.inputs.shape[1]
    work = FlowWork(
        np.empty(n_columns),
        np.empty(n_terms),
        np.empty((n_terms, n_states)),
        np.empty((n_states, n_states)),
        *np.empty((4, n_states, width)),
    )
    ends = np.empty((len(steps), n_states, width))
    follow_polynomials(polynomials, steps.strides, n_substeps, ends, work)
    return ends


def _improve(model: FlowModel, steps: _Steps, damping: Damping) -> tuple[FlowModel, float]:
    """Return the model with factors that lead closer to the ends of the steps, and the squared error that is left."""
    n_states = steps.end.shape[1]

    def missed(factors: Numbers) -> Numbers:
        off = steps.end - _follow(_with_factors(model, factors), steps)
        return np.clip(np.nan_to_num(off, nan=LOST, posinf=LOST, neginf=-LOST), -LOST, LOST)

    def squares(factors: Numbers) -> float:
        total = np.sum(missed(factors) ** 2, axis=1)
        return float(np.sum(CAP**2 * total / (CAP**2 + total)))

    def linearise(factors: Numbers) -> Callable[[float], Numbers] | None:
        derivatives = _derivatives(_with_factors(model, factors), steps)
        off = missed(factors)
        is_known = (np.abs(derivatives) < LOST**2).all(axis=(1, 2)) & (np.abs(off) < LOST).all(axis=1)
        if not is_known.any():
            return None
        weights = CAP**2 / (CAP**2 + np.sum(off[is_known] ** 2, axis=1))
        table = (derivatives[is_known] * weights[:, np.newaxis, np.newaxis]).reshape(-1, factors.size)
        gram, goal = table.T @ table, table.T @ (off[is_known] * weights[:, np.newaxis]).ravel()
        size = np.diag(gram) + np.finfo(float).eps * np.trace(gram) + np.finfo(float).tiny

        def take_step(amount: float) -> Numbers:
            step = np.linalg.solve(gram + np.diag((amount + np.finfo(float).eps) * size), goal)
            return np.ascontiguousarray(factors + step.reshape(n_states, -1).T)

        return take_step

    def is_last(_: Numbers, error: float, gain: float, __: float) -> bool:
        return gain < SMALL_GAIN * (error + gain)

    factors, error = lower_squares(model.polynomials.factors, squares, linearise, is_last, damping)
    return _with_factors(model, factors), error
