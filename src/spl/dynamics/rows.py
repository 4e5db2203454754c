"""From trajectories to rows: states and inputs with the derivatives as targets, far enough apart to be independent.

Derivatives are measured, estimated by a named method, taken from a model of the flow if samples are far apart, or means against
test functions (the weak form). Rows of a map are pairs of neighbours. Smoothed states and the noise are kept with the rows, because
refinement needs them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories, Trajectory
from spl.dynamics.derivatives import DERIVATIVES, estimate_difference_error, estimate_noise, smooth_and_differentiate
from spl.dynamics.flow_model import LEAST_STEPS, FlowModel, fit_flow
from spl.dynamics.signals import relative_steps
from spl.dynamics.spline import MIN_SPLINE_SAMPLES
from spl.dynamics.weak_fit import WeakForm
from spl.dynamics.weak_form import make_weak_rows
from spl.errors import DataError, SettingError, show_value, suggest_name
from spl.formulas.system import NO_RATES_OF_MAP, rate_names

Numbers = NDArray[np.float64]
Method = str | Callable[[Numbers, Numbers], ArrayLike]

WEAK_METHOD = "weak"
FLOW_METHOD = "flow"
MEASURED_METHOD = "measured"
AUTO_RATES = "auto"  # the data decides whether the equations have rates on both sides
MAP_METHOD = "map"
MAX_SYSTEM_ROWS = 2000  # of all runs together: more only slow the searches down, and the trajectories decide in the end
FEWEST_ROWS = 100  # rather than fewer rows, rows that overlap are kept
ERROR_ROOM = 4.0  # times the estimated error of finite differences: the estimate was up to 4 times too small
FLOW_ROOM = 20.0  # times the error of a step: where slopes are steep, their errors are up to 17 times as large
NO_BETTER = 1e-8  # of the spread of a derivative: simulated and tabulated data is rarely more precise
GOOD_DIFFERENCES = (
    1e-3  # of the spread of a derivative: finite differences with a smaller error need no model of the flow
)
UNPREDICTABLE = 0.85  # of the estimated noise: no model predicts samples better than this if the noise is real
FAR_STEP = 0.5  # spreads of the states from one sample to the next: more mean about 12 samples per oscillation or fewer
NOISE_OF_STEP = 2.0  # times the noise of a sample: how far a right model misses the next, since both samples have noise
LEAST_EXPLAINED = 0.5  # of the spread: a model that misses samples by more explains little
CLEAN_STEP = 1e-3  # of the spread of a state: a model that predicts samples better was fitted to data without noise
EDGE_SHARE = 0.25  # of a run, at most, is left out at each end, where estimates are worst


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How trajectories become rows."""

    method: Method = "auto"  # "auto", one of DERIVATIVES, "flow", "weak", or a function (t, x) -> x_dot
    order: int = 1  # 2: find accelerations; velocities are estimated
    is_discrete: bool = False  # rows are x[k] and x[k + 1]
    is_implicit: bool = False  # the rates of other states may appear in an equation

    def __post_init__(self) -> None:
        if self.is_discrete and self.is_implicit:
            raise SettingError(NO_RATES_OF_MAP)
        if self.is_implicit and isinstance(self.method, str) and self.method == WEAK_METHOD:
            raise SettingError(
                "The weak form has no derivatives, which equations with rates on both sides need. "
                "Use another method of derivatives, or leave out `implicit`."
            )
        if not isinstance(self.order, Integral) or self.order not in (1, 2):
            raise SettingError(f"`order` must be 1 or 2; got {show_value(self.order)}.")
        if self.is_discrete and self.order == 2:
            raise SettingError("A map has order 1. Leave out `order=2`, or give past values as further states.")
        known = ("auto", *DERIVATIVES, FLOW_METHOD, WEAK_METHOD)
        if not callable(self.method) and (not isinstance(self.method, str) or self.method not in known):
            remedy = suggest_name(str(self.method), known)
            what = show_value(self.method)
            raise SettingError(f"There is no derivative method {what}.{remedy} Known: {', '.join(known)}.")
        if self.method == FLOW_METHOD and (self.order == 2 or self.is_discrete):
            what = "a map" if self.is_discrete else "`order=2`, where velocities are not measured"
            raise SettingError(f"The derivative method 'flow' is not for {what}. Use 'auto'.")


def allows_rates(implicit: object, method: Method, *, is_discrete: bool) -> bool:
    """Return whether equations may have rates on both sides; raise a clear error unless `implicit` is True, False or "auto".

    With "auto" they may wherever there are rates: a map and the weak form have none.

    Examples:
        >>> [allows_rates("auto", "auto", is_discrete=is_map) for is_map in (False, True)]
        [True, False]
        >>> allows_rates("yes", "auto", is_discrete=False)
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: `implicit` must be True, False or "auto"; got 'yes'.
    """
    if isinstance(implicit, str) and implicit == AUTO_RATES:
        return not is_discrete and (not isinstance(method, str) or method != WEAK_METHOD)
    if not isinstance(implicit, bool | np.bool_):
        raise SettingError(f'`implicit` must be True, False or "{AUTO_RATES}"; got {show_value(implicit)}.')
    return bool(implicit)


@dataclass(frozen=True, slots=True, eq=False)
class SystemRows:
    """The rows of all runs, and what was learnt about the runs while making them."""

    names: tuple[str, ...]  # of the columns: states, velocities for order 2, inputs
    table: Numbers  # [M, columns]
    targets: Numbers  # [M, D]
    starts: tuple[Numbers, ...]  # smoothed states of the first-order form [N, S], one array per run
    noise: Numbers  # [D], standard deviation of the noise of each state
    method: str  # the one that was used
    weak: tuple[WeakForm, ...]  # one per run, if the method is "weak"
    target_errors: Numbers  # [D], estimated errors of the targets of clean data; 0 if unknown
    rates: tuple[str, ...] = ()  # names of the targets, if they may appear in the equations of other states
    unused_rates: tuple[frozenset[str], ...] = ()  # per state, those that its equation may not have

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of what an equation may contain: the columns, and rates."""
        return self.names + self.rates

    @property
    def is_clean(self) -> bool:
        """Whether the samples have hardly any noise."""
        return self.method == "finite_difference" or (self.method == FLOW_METHOD and bool(self.target_errors.any()))

    def dataset(self, state: int) -> Dataset:
        """Return the rows with the derivative of one state as the target; with rates, all of these are columns too.

        Columns of rates that the equation may not have are 0: nobody can take them for columns that explain the target.
        """
        if not self.rates:
            return Dataset.from_arrays(self.table, self.targets[:, state], names=self.names)
        unused = self.unused_rates[state] if self.unused_rates else {self.rates[state]}
        rates = np.where([name in unused for name in self.rates], 0.0, self.targets)
        return Dataset.from_arrays(np.hstack([self.table, rates]), self.targets[:, state], names=self.variables)


@dataclass(frozen=True, slots=True, eq=False)
class _RunRows:
    """The rows of one run."""

    table: Numbers  # [M, columns]
    targets: Numbers  # [M, D]
    starts: Numbers  # [N, S]
    method: str
    weak: WeakForm | None = None


def make_rows(data: Trajectories, plan: Plan) -> SystemRows:
    """Return the rows from which each equation of a system can be found.

    Examples:
        >>> t = np.linspace(0, 5, 200)
        >>> data = Trajectories.from_arrays(np.exp(-t), t, names=["x"])
        >>> rows = make_rows(data, Plan())
        >>> rows.names, rows.method, bool(np.allclose(rows.targets, -rows.table, atol=1e-6))
        (('x',), 'finite_difference', True)
    """
    method = _common_method(data, plan)
    flow = _find_flow(data, plan, method)
    if flow is not None:
        runs = [_flow_rows(*pair, flow) for pair in zip(data.runs, _drop_steady_inputs(data.runs), strict=True)]
    else:
        make = _map_rows if plan.is_discrete else _weak_rows if plan.method == WEAK_METHOD else _slope_rows
        runs = [make(run, plan, method) for run in data.runs]
    every = max(1, sum(len(run.table) for run in runs) // MAX_SYSTEM_ROWS)
    return SystemRows(
        names=data.columns(plan.order),
        table=np.concatenate([run.table for run in runs])[::every],
        targets=np.concatenate([run.targets for run in runs])[::every],
        starts=tuple(run.starts for run in runs),
        noise=_mean_noise(data, flow),
        method=runs[0].method,
        weak=tuple(run.weak for run in runs if run.weak is not None),
        target_errors=_target_errors(data, plan, runs, flow),
        rates=rate_names(data.states, plan.order) if plan.is_implicit else (),
    )


def _target_errors(data: Trajectories, plan: Plan, runs: Sequence[_RunRows], flow: FlowModel | None) -> Numbers:
    """Return the errors of the derivatives over all runs, with a margin, and at least the usual precision of data; 0 if unknown."""
    spread = np.concatenate([run.targets for run in runs]).std(axis=0)
    if flow is not None and flow.relative_error < CLEAN_STEP:
        errors = FLOW_ROOM * flow.step_error / flow.time_unit
    elif runs[0].method == "finite_difference":
        errors = ERROR_ROOM * _difference_errors(data, plan.order)
    else:
        return np.zeros(len(data.states))
    return np.asarray(np.maximum(errors, NO_BETTER * spread))


def _difference_errors(data: Trajectories, order: int) -> Numbers:
    """Return the estimated errors of finite differences over all runs [D]."""
    errors = [estimate_difference_error(run.t, run.x, order=order) for run in data.runs]
    return np.asarray(np.sqrt(np.mean(np.square(errors), axis=0)))


def _find_flow(data: Trajectories, plan: Plan, method: Method) -> FlowModel | None:
    """Return a model of the flow if it is asked for, or if it describes the samples better than what is known of their noise."""
    is_asked = plan.method == FLOW_METHOD
    is_measured = data.runs[0].x_dot is not None
    if is_measured or plan.order == 2 or plan.is_discrete or (plan.method != "auto" and not is_asked):
        return None
    allowed = np.inf if is_asked else _error_without_flow(data, method)
    flow = fit_flow(_drop_steady_inputs(data.runs)) if allowed > 0 else None
    if flow is None and is_asked:
        raise DataError(
            f"The derivative method 'flow' needs {LEAST_STEPS + 1} samples; there are {data.n_samples}. Use 'auto'."
        )
    return flow if flow is not None and flow.relative_error < allowed else None


def _error_without_flow(data: Trajectories, method: Method) -> float:
    """Return how well a model of the flow must predict a sample from the one before, as a share of the spread; 0: it is not needed.

    Noise that the samples really have cannot be predicted. If samples are far apart, it is enough that nothing but noise is left. The
    error of a finite difference adds up over one step.
    """
    columns = np.concatenate([run.x for run in data.runs])
    spread = np.where(columns.std(axis=0) > 0, columns.std(axis=0), 1.0)
    if method == "spline":
        noise = float(np.sqrt(np.mean((_mean_noise(data) / spread) ** 2)))
        steps = relative_steps([run.x for run in data.runs])
        is_coarse = float(np.sqrt(np.mean(steps**2))) > FAR_STEP
        return min(NOISE_OF_STEP * noise, LEAST_EXPLAINED) if is_coarse else UNPREDICTABLE * noise
    slopes = np.concatenate([np.gradient(run.x, run.t, axis=0) for run in data.runs]).std(axis=0)
    errors = _difference_errors(data, order=1)
    if np.all(errors <= GOOD_DIFFERENCES * slopes):
        return 0.0
    step = float(np.median(np.concatenate([np.diff(run.t) for run in data.runs])))
    return float(np.sqrt(np.mean((errors * step / spread) ** 2)))


def _common_method(data: Trajectories, plan: Plan) -> Method:
    """Return the method for all runs: the noisiest of them decides what "auto" means."""
    if plan.is_discrete or plan.method not in ("auto", FLOW_METHOD):
        return plan.method
    smoothed = [smooth_and_differentiate(run.t, run.x).method for run in data.runs]
    return "spline" if "spline" in smoothed else smoothed[0]


def _mean_noise(data: Trajectories, flow: FlowModel | None = None) -> Numbers:
    """Return the noise of each state over all runs; each sample has the same weight.

    Both samples of a step have noise, so a model of the flow misses the second one by at least that of two.
    """
    squares = [run.n_samples * estimate_noise(run.t, run.x) ** 2 for run in data.runs]
    noise = np.asarray(np.sqrt(np.sum(squares, axis=0) / data.n_samples))
    return noise if flow is None else np.minimum(noise, flow.step_error / np.sqrt(2.0))


def _slope_rows(run: Trajectory, plan: Plan, method: Method) -> _RunRows:
    """Return rows of smoothed states and derivatives, far enough apart to be about independent, without the ends."""
    found = smooth_and_differentiate(run.t, run.x, _fitting(method, run), order=plan.order)
    states, targets, name, span = found.values, found.slopes, found.method, found.span
    if plan.order == 2:
        assert found.second is not None
        slopes = found.slopes if run.x_dot is None else run.x_dot
        states, targets = np.hstack([found.values, slopes]), found.second
    elif run.x_dot is not None:
        targets, name = run.x_dot, MEASURED_METHOD
    places = _independent_places(run.n_samples, span)
    return _RunRows(np.hstack([states, run.u])[places], targets[places], states, name)


def _flow_rows(run: Trajectory, moving: Trajectory, flow: FlowModel) -> _RunRows:
    """Return all samples, with derivatives from a model of the flow, which knows only inputs that change."""
    return _RunRows(np.hstack([run.x, run.u]), flow.slopes(moving), run.x, FLOW_METHOD)


def _drop_steady_inputs(runs: Sequence[Trajectory]) -> list[Trajectory]:
    """Return runs without the inputs that never change: they say nothing about the flow."""
    is_moving = np.ptp(np.concatenate([run.u for run in runs]), axis=0) > 0
    return [replace(run, u=np.ascontiguousarray(run.u[:, is_moving])) for run in runs]


def _fitting(method: Method, run: Trajectory) -> Method:
    """Return the method, or finite differences for a run that is too short for a spline."""
    return "finite_difference" if method == "spline" and run.n_samples < MIN_SPLINE_SAMPLES else method


def _independent_places(n_samples: int, span: float) -> slice:
    edge = min(int(span), int(EDGE_SHARE * n_samples)) if span > 1 else 0
    stride = max(1, min(int(span / 2), (n_samples - 2 * edge) // FEWEST_ROWS))
    return slice(edge, n_samples - edge, stride)


def _weak_rows(run: Trajectory, plan: Plan, _: Method) -> _RunRows:
    """Return a row for each window: means of the states and inputs, and of the derivatives."""
    found = make_weak_rows(run.t, run.x, run.u if run.u.shape[1] else None, order=plan.order)
    smoothed = smooth_and_differentiate(run.t, run.x, _fitting("spline", run), order=plan.order)
    starts, means = smoothed.values, found.states
    if plan.order == 2:
        assert found.velocities is not None
        starts, means = np.hstack([starts, smoothed.slopes]), np.hstack([means, found.velocities])
    columns = np.ascontiguousarray(np.hstack([starts, run.u]).T)
    form = WeakForm(columns, found.operator, found.goals, max(1, int(found.n_rows / found.span)))
    return _RunRows(np.hstack([means, found.inputs]), found.goals, starts, WEAK_METHOD, form)


def _map_rows(run: Trajectory, _: Plan, __: Method) -> _RunRows:
    """Return the pairs of neighbours that are one step apart."""
    steps = np.diff(run.t)
    is_pair = steps <= 1.5 * np.median(steps)
    if not is_pair.any():
        raise DataError("No two samples follow each other. Give a map samples that are one step apart.")
    table = np.hstack([run.x, run.u])[:-1][is_pair]
    return _RunRows(table, run.x[1:][is_pair], run.x, MAP_METHOD)
