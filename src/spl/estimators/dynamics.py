"""`SPLDynamics`: the estimator for trajectories, with pysindy's names. Checks what people give, starts the run, shows the result."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spl.data.trajectories import Trajectories
from spl.display.notebook import FittedRepr
from spl.display.systems import SOLVED_HEADING, aligned_latex, left_side, solved_equations, system_html, unit_lines
from spl.dynamics.discover import SystemDiscovery, discover_system
from spl.dynamics.own_names import OwnNames
from spl.dynamics.own_system import with_own_columns
from spl.dynamics.quality import measure_r2
from spl.dynamics.request import SystemRequest, add_known_inputs
from spl.dynamics.rows import AUTO_RATES, Method, Plan, allows_rates, make_rows
from spl.dynamics.system_packing import evaluate_slopes
from spl.errors import (
    DataError,
    DoubtfulResult,
    KernelsNotKept,
    RunFileError,
    SearchInterrupted,
    SettingError,
    UndefinedError,
    UndefinedValues,
    show_value,
)
from spl.estimators.fitted_front import EQUATION_DIGITS
from spl.estimators.fitted_system import MAX_DRAWS, FittedSystem
from spl.estimators.inputs import warn_of_repairs
from spl.estimators.parameters import check_run_file, count_jobs
from spl.estimators.stop_flag import request_stop_of, stop_flag
from spl.estimators.system_inputs import (
    GrammarLike,
    as_rows,
    check_not_in_grammar,
    find_run_label,
    make_grammars,
    read_columns,
    read_trajectories,
    with_known_inputs,
)
from spl.estimators.system_tables import tabulate_fronts, tabulate_numbers, tabulate_r2
from spl.estimators.system_units import parameters_of_system_units, read_given_units
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS
from spl.formulas.json_codec import check_no_stand_ins
from spl.formulas.operators import Operator
from spl.formulas.own_numbers import write_own_table
from spl.formulas.rates import explicit_system
from spl.formulas.system import System
from spl.formulas.text import to_text
from spl.kernels.runtime import store
from spl.notation.export import export_system
from spl.notation.latex import to_latex
from spl.notation.terms import linear_terms
from spl.notation.to_sympy import to_sympy
from spl.regression.domain import explain_undefined_system
from spl.runs.dynamics import discover_system_in_file, load_system, stored_plan
from spl.runs.reader import read_run
from spl.settings import TIMEOUT, Limits, SearchConfig, check_count, check_switch, check_verbose
from spl.units.system_units import fill_known

if TYPE_CHECKING:
    import sympy
    from matplotlib.figure import Figure

    from spl.display.progress import SystemDisplay

MAX_PRECISION = 17  # digits that a number has


class SPLDynamics(FittedSystem, FittedRepr, BaseEstimator):
    """Find the governing equations of a system from measured trajectories.

    Args:
        operators: names (`"+"`, `"sin"`, ...) and `Operator` objects that the equations may contain.
        constants: whether they may contain fitted numbers. With units, these are pure numbers; "any" lets them have units.
        grammar: all possible right-hand sides, as a `Grammar`, its text or the path of a file; or one per state, as a list or by name.
            Overrides `operators` and `constants`. Use it to state what is known about an equation.
        derivative: how derivatives are estimated: "auto", "finite_difference", "savgol", "spline", "flow" (a model that leads from
            each sample to the next, for samples far apart), "weak" (integrals against test functions, no derivatives at all), or a
            function from times [N] and states [N, D] to derivatives [N, D].
        order: 2 to find accelerations from positions; velocities are then named after their positions, `dx`.
        discrete: whether the system is a map, x[k + 1] = f(x[k]).
        implicit: whether the rates of other states may appear in an equation, as `x'` (for order 2 `x''`), also in grammars. The
            equations must be linear in the rates; they are solved for them together. With "auto" they may if simple equations
            explain the data with rates and not without; `notes_` says so.
        timeout: total time limit in seconds; None for no limit. Ctrl-C ends a search with the best so far.
        max_evaluations: the most distinct formulas to try, for all states together; None for no limit. Fits along the trajectories are
            then counted too, so that a run can be repeated.
        search: how the search works, as a `SearchConfig`. The default works for most data.
        n_jobs: trees searched at once; -1 uses all processors. With `max_evaluations`, the result does not depend on it.
        random_state: the random seed. A run repeats to the last digit if its length is counted too:
            `random_state=0, max_evaluations=50_000, timeout=None`. A time limit stops it at a different point each time.
        verbose: 1 shows each improvement: in a table on a terminal or in a notebook, as lines elsewhere.
        run_file: the path of a file that keeps the run: `spl show`, `watch` and `report` read it, also during the search, and a search
            that was killed continues from it. None keeps nothing.
        units: the unit of each state and input by its name, such as `{"theta": "rad", "omega": "rad/s"}`; "" is that of a pure number.
            "header" takes them from the names: `theta (rad)`. Then each equation has the unit of its state per time, for order 2 per
            time squared, and adds and compares only what has the same unit.
        time_unit: the unit of the times, such as "s", if there are units.
        known: named constants that the equations may contain, with their units: `{"g": "9.80665 m/s**2"}`. Names of scipy.constants
            need no number.

    Attributes:
        equations_: the fronts, one DataFrame per state: cost, loss, score, equation.
        best_index_: the row of each front that the equation came from.
        constants_: the numbers of the equations as they are printed, one per row: state, value, standard error, kind, and the term it
            is part of, with the number in square brackets. Kinds are "fitted", "rounded" (to a simple number that the data does not
            distinguish from it; the standard error is that before rounding) and "exact" (given by the grammar, no error). If
            trajectories have own numbers, each has a row too, of the kind "own", and two more columns say its name and its run. With
            units, the last column is the unit of each, "1" for pure numbers.
        noise_: the estimated standard deviation of the noise of each state.
        derivative_: the method that was used for derivatives.
        units_: the units of states, inputs, named constants and right-hand sides; None without units.
        r2_: R2 of the derivative of each state, of its next value for a map: a Series.
        notes_: what was repaired or left out, and reasons to doubt the equations, about which `fit` also warns (`DoubtfulResult`).
        identifiability_: whether the trajectories determine the equations, in words, and rival systems that fit as well; computed
            when it is first asked for.

    Examples:
        >>> t = np.linspace(0, 10, 400)
        >>> x = np.column_stack([np.sin(2 * t), np.cos(2 * t)])
        >>> model = SPLDynamics(operators=("+", "*"), timeout=4, random_state=0).fit(x, t)
        >>> model.sympy()
        [2*x1, -2*x0]
    """

    def __init__(
        self,
        operators: Sequence[str | Operator] = DEFAULT_OPERATORS,
        constants: bool | str = True,
        grammar: GrammarLike | Sequence[GrammarLike] | Mapping[str, GrammarLike] | None = None,
        derivative: Method = "auto",
        order: int = 1,
        discrete: bool = False,
        implicit: bool | str = False,
        timeout: float | None = TIMEOUT,
        max_evaluations: int | None = None,
        search: SearchConfig | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        run_file: str | Path | None = None,
        units: Mapping[str, str] | str | None = None,
        time_unit: str | None = None,
        known: Mapping[str, Any] | None = None,
    ) -> None:
        self.operators = operators
        self.constants = constants
        self.grammar = grammar
        self.derivative = derivative
        self.order = order
        self.discrete = discrete
        self.implicit = implicit
        self.timeout = timeout
        self.max_evaluations = max_evaluations
        self.search = search
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.run_file = run_file
        self.units = units
        self.time_unit = time_unit
        self.known = known

    def fit(
        self,
        x: Any,
        t: Any,
        x_dot: Any = None,
        u: Any = None,
        feature_names: Sequence[str] | None = None,
        own: str | Sequence[str] | None = None,
        run_names: Sequence[Any] | None = None,
    ) -> "SPLDynamics":
        """Search for the equations behind one trajectory or several.

        Args:
            x: states [N, D], an array or a DataFrame, or a list of these. Rows with missing values are left out, with a warning.
            t: the step between samples, the times [N], or a list of times; they need not be evenly spaced. Dates become seconds.
            x_dot: measured derivatives, if there are any, in the shape of `x`.
            u: inputs [N, U], or a list of these.
            feature_names: names of the states, or of the states and the inputs.
            own: which numbers of the equations may differ between trajectories, such as a mass or a dose. With "auto", the data
                decides how many there are, and they are named k1, k2, ...; names such as ("mass",) are given to as many of them at
                most. None: all trajectories share all numbers.
            run_names: what the trajectories are called, for their own numbers; by default they are numbered from 0.
        """
        check_switch("discrete", self.discrete)
        check_verbose(self.verbose)
        check_run_file(self.run_file)
        request = self._make_request(x, t, x_dot, u, feature_names, own, run_names)
        search: Callable[..., SystemDiscovery] = discover_system
        if self.run_file is not None:
            search = partial(discover_system_in_file, self.run_file, is_any_seed=self.random_state is None)
        display = self._make_display(request.data.states) if self.verbose else nullcontext()
        with stop_flag(self) as flag, display as watch:
            found = search(request, watch=watch, must_stop=flag.is_set)
        if found.is_interrupted:
            warnings.warn("The search was interrupted; this is the best so far.", SearchInterrupted, stacklevel=2)
        self._keep(found, request.data, request.grammars)
        for doubt in found.doubts:
            warnings.warn(doubt, DoubtfulResult, stacklevel=2)
        for trouble in store.troubles:
            warnings.warn(trouble, KernelsNotKept, stacklevel=2)
        return self

    @classmethod
    def from_run(
        cls, path: str | Path, operators: Sequence[Operator] = (), derivative: Method | None = None
    ) -> "SPLDynamics":
        """Return the fitted estimator of a run file; `fit` with the same data continues it.

        Args:
            path: the file that `run_file` or `spl dynamics --run` named.
            operators: your own operators that the run uses: a file cannot hold functions.
            derivative: your function that estimates derivatives, if the run used one.
        """
        run = read_run(path, operators)
        if not isinstance(run.data, Trajectories):
            raise RunFileError(f"The run in '{path}' is of a table, not of a system: see SPLRegressor.from_run.")
        for search in run.searches:
            check_no_stand_ins(search.grammar)
        plan = stored_plan(run, derivative)
        model = cls(
            grammar=[search.grammar for search in run.searches],
            derivative=plan.method,
            order=plan.order,
            discrete=plan.is_discrete,
            implicit=plan.is_implicit,
            timeout=run.settings["limits"]["timeout"],
            max_evaluations=run.settings["limits"].get("max_evaluations"),
            search=run.config,
            run_file=path,
            **parameters_of_system_units(run.system_units),
        )
        model._keep(load_system(run, plan), run.data, [search.grammar for search in run.searches])
        return model

    def stop(self) -> None:
        """Stop a `fit` that is running in another thread; it returns the best so far within about a second."""
        request_stop_of(self)

    # ---- results ---------------------------------------------------------------------------------

    def predict(self, x: Any, u: Any = None, run: Any = None) -> NDArray[np.float64]:
        """Return the derivatives at states [N, D]; for a map the next states.

        Where an equation has no value, the result is NaN, and a warning says why.

        Args:
            x: states [N, D]; for order 2 positions and velocities.
            u: inputs [N, U], if the system has any.
            run: the label of the run whose own numbers the equations have; needed if runs have own numbers.
        """
        system = self._system()
        system = system.of_run(find_run_label(system, run))
        u = with_known_inputs(u, self.units_, len(as_rows(x, "`x`")))
        columns = read_columns(x, u, system.columns)
        slopes = evaluate_slopes(system, columns).T
        if not np.isfinite(slopes).all():
            warnings.warn(explain_undefined_system(system, columns), UndefinedValues, stacklevel=2)
        return np.where(np.isfinite(slopes), slopes, np.nan)

    def score(self, x: Any, t: Any, x_dot: Any = None, u: Any = None, run: Any = None) -> float:
        """Return R2 of the derivatives on other trajectories, averaged over the states; derivatives are estimated as in `fit`.

        If an equation has no value somewhere, there is no score: an error says where, and why.

        Args:
            x: states, as in `fit`.
            t: times, as in `fit`.
            x_dot: measured derivatives, if there are any.
            u: inputs, if the system has any.
            run: the label of the run whose own numbers the equations have; needed if runs have own numbers.
        """
        whole, fitted = self._system(), self.trajectories_
        system = whole.of_run(find_run_label(whole, run))
        n_known = 0 if self.units_ is None else len(self.units_.known)
        inputs = system.inputs[: len(system.inputs) - n_known]
        data = add_known_inputs(read_trajectories(x, t, x_dot, u, fitted.states + inputs), self.units_)
        warn_of_repairs(data.notes, stacklevel=3)
        if len(data.states) != len(fitted.states) or len(data.inputs) != len(system.inputs):
            raise DataError(
                f"There are {len(data.states)} states and {len(data.inputs)} inputs; "
                f"the model has {len(fitted.states)} and {len(system.inputs)}."
            )
        rows = make_rows(data, self._plan())
        tables = [form.columns for form in rows.weak] or [rows.table.T]
        why = explain_undefined_system(system, np.hstack(tables), has_places=False)
        if why:
            raise UndefinedError(f"There is no score on these trajectories. {why}")
        return float(np.mean(measure_r2(system, rows)))

    def equations(self, precision: int = 4, *, solved: bool = False) -> list[str]:
        """Return the right-hand sides as text.

        Args:
            precision: digits of the numbers.
            solved: whether equations with rates on both sides are solved for the rates.
        """
        check_count("precision", precision, at_least=1, at_most=MAX_PRECISION)
        return self._system(solved=solved).equations(precision)

    def print(self, precision: int = 4) -> None:
        """Print the equations, one per line; those with rates on both sides are also printed solved for the rates. Units come last.

        Args:
            precision: digits of the numbers.
        """
        sides = dict(zip(self._system().states, self._left_sides(), strict=True))
        lines = [f"{left} = {right}" for left, right in zip(sides.values(), self.equations(precision), strict=True)]
        solved = [f"{sides[state]} = {to_text(each, precision)}" for state, each in solved_equations(self._system())]
        solved = ["", SOLVED_HEADING, *solved] if solved else []
        notes = [*write_own_table(self._system().own, precision), *unit_lines(self.units_)]
        print("\n".join([*lines, *solved, *notes]))  # noqa: T201

    def coefficients(self) -> pd.DataFrame:
        """Return the coefficient of each term after expansion: one row per state, one column per term; 0 where a term is missing.

        An equation with numbers inside its terms, such as x / (x + 0.3), has no such coefficients and raises an error.
        """
        system = self._system()
        terms = {name: linear_terms(program) for name, program in zip(system.states, system.programs, strict=True)}
        return pd.DataFrame.from_dict(terms, orient="index").fillna(0.0)

    def sympy(self, *, solved: bool = False) -> "list[sympy.Expr]":
        """Return the right-hand sides as sympy expressions.

        Args:
            solved: whether equations with rates on both sides are solved for the rates.
        """
        return [to_sympy(program) for program in self._system(solved=solved).programs]

    def latex(self, *, solved: bool = False) -> list[str]:
        """Return the right-hand sides as LaTeX.

        Args:
            solved: whether equations with rates on both sides are solved for the rates.
        """
        return [to_latex(program) for program in self._system(solved=solved).programs]

    def export(self, format: str) -> str:
        """Return the equations in another format, as text.

        Code is a function `derivatives` of the state, and of the inputs if there are any; for order 2, the state is positions and
        velocities. For a map, the function is `next_state`. Equations with rates on both sides are solved for the rates. Named
        constants are replaced by their values.

        Args:
            format: "sympy" (a list), "latex" (aligned equations), "python", "c", "julia", "matlab", "torch" or "jax".
        """
        return export_system(fill_known(self._system(), self.units_), format)

    def plot(self, n_draws: int | None = None) -> "Figure":
        """Return a figure of data and simulation over time, derivatives and phase portrait. Needs matplotlib, the extra `plot`.

        Args:
            n_draws: how many simulations with other numbers that the data allows make a 95 % band; None for no band.
        """
        from spl.plots.systems import plot_system

        check_is_fitted(self)
        data, rows, band = self.trajectories_, self.discovery_.rows, None
        if n_draws is not None:
            check_count("n_draws", n_draws, at_least=2, at_most=MAX_DRAWS)
            run = data.runs[0]
            system = self.discovery_.system
            label = system.run_labels[run.experiment] if system.own else ""
            inputs = run.u[:, : len(system.driving_inputs)] if system.driving_inputs else None
            band = self._draw(rows.starts[0][0], run.t, inputs, n_draws, run=label)
        return plot_system(self.discovery_.system, data, rows, band)

    def plot_tree(self, state: str) -> "Figure":
        """Return a drawing of the expression tree of one equation. Needs matplotlib, the extra `plot`.

        Args:
            state: the name of the state of the equation.
        """
        from spl.plots.trees import plot_tree

        system = self._system()
        if state not in system.states:
            raise SettingError(f"There is no state {state!r}. The states are: {', '.join(system.states)}.")
        return plot_tree(system.programs[system.states.index(state)])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "discovery_")

    def _fitted_html(self) -> str:
        return system_html(self.discovery_)

    def _fitted_latex(self) -> str:
        return f"$\\displaystyle {aligned_latex(self.discovery_.system)}$"

    # ---- inside ----------------------------------------------------------------------------------

    def _system(self, *, solved: bool = False) -> System:
        check_is_fitted(self)
        check_switch("solved", solved)
        return explicit_system(self.discovery_.system) if solved else self.discovery_.system

    def _left_sides(self) -> list[str]:
        if self.discrete:
            return [f"({name})[k+1]" for name in self._system().states]
        return [f"({name})" + "'" * self.order for name in self._system().states]

    def _make_request(
        self,
        x: Any,
        t: Any,
        x_dot: Any,
        u: Any,
        feature_names: Sequence[str] | None,
        own: str | Sequence[str] | None,
        run_names: Sequence[Any] | None,
    ) -> SystemRequest:
        """Check the settings and the trajectories."""
        plan = self._plan()
        names = None if own is None else OwnNames.read(own)
        check_not_in_grammar(() if names is None else names.names, self.grammar)
        limits = Limits(timeout=self.timeout, max_evaluations=self.max_evaluations)
        if self.search is not None and not isinstance(self.search, SearchConfig):
            raise SettingError(f"`search` must be a SearchConfig or None; got {show_value(self.search)}.")
        data = read_trajectories(x, t, x_dot, u, feature_names, run_names)
        warn_of_repairs(data.notes, stacklevel=4)
        units = read_given_units(self.units, self.time_unit, self.known, self.constants, data, plan)
        data = add_known_inputs(data, units)
        return SystemRequest(
            data=data,
            grammars=make_grammars(self.grammar, self.operators, self.constants, data, plan),
            plan=plan,
            config=self.search or SearchConfig(),
            limits=limits,
            n_jobs=count_jobs(self.n_jobs),
            seed=int(check_random_state(self.random_state).randint(2**31)),
            may_drop_rates=plan.is_implicit and self.implicit == AUTO_RATES,
            own=names,
            units=units,
        )

    def _plan(self) -> Plan:
        is_implicit = allows_rates(self.implicit, self.derivative, is_discrete=self.discrete)
        return Plan(method=self.derivative, order=self.order, is_discrete=self.discrete, is_implicit=is_implicit)

    def _make_display(self, states: Sequence[str]) -> "SystemDisplay":
        """Return a display that shows each improvement of each equation."""
        from rich.console import Console

        from spl.display.compilation import compile_visibly
        from spl.display.progress import SystemDisplay

        compile_visibly(Console())
        left_sides = {state: left_side(state, self.order, self.discrete) for state in states}
        return SystemDisplay(Console(), left_sides, timeout=self.timeout)

    def _keep(self, found: SystemDiscovery, data: Trajectories, grammars: Sequence[Grammar]) -> None:
        self.discovery_ = found
        self.trajectories_ = with_own_columns(data, found.system)
        self.units_ = found.units
        measured = data.names if found.units is None else tuple(found.units.measured)
        self.feature_names_in_ = np.array(measured, dtype=object)
        self.n_features_in_ = len(measured)
        self.equations_ = tabulate_fronts(found, EQUATION_DIGITS)
        self.best_index_ = list(found.chosen)
        self.noise_ = found.rows.noise
        self.derivative_ = found.rows.method
        self.notes_ = list(found.notes)
        self.r2_ = tabulate_r2(found)
        self.constants_ = tabulate_numbers(found)
        self._keep_evidence(grammars)
