"""Simulations of a fitted `SPLDynamics`, and how sure it is: errors of its numbers, rival systems, and what to measure next."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spl.data.trajectories import Trajectories
from spl.dynamics.discover import SystemDiscovery
from spl.dynamics.followed_system import FollowedSystem
from spl.dynamics.identifiability import Identifiability, judge_identifiability
from spl.dynamics.next_starts import find_box, suggest_starts
from spl.dynamics.simulate import check_times, simulate
from spl.dynamics.system_uncertainty import NumberInterval, SystemCurvature, correlate_constants, find_intervals
from spl.dynamics.trajectory_draws import SimulationDraws, draw_trajectories
from spl.errors import SettingError, SimulationEnded, show_value
from spl.estimators.fitted_front import EQUATION_DIGITS
from spl.estimators.fitted_uncertainty import check_choice, check_level
from spl.estimators.system_inputs import find_run_label, with_known_inputs
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.settings import check_count
from spl.units.system_units import SystemUnits

JUDGE_SECONDS = 60.0  # that may go into rivals: they usually take less than a second
N_DRAWS_AS_RIVALS = 16  # systems with other numbers, where there are no rivals with other terms
MAX_SUGGESTED = 100
MAX_DRAWS = 100_000  # simulations of a band


class FittedSystem:
    """The part of an estimator that simulates its system and says how sure it is. What is asked for is computed once.

    Examples:
        >>> from spl import SPLDynamics
        >>> t = np.linspace(0, 10, 200)
        >>> x = np.column_stack([np.sin(2 * t), np.cos(2 * t)])  # one circle, on which x0**2 + x1**2 is 1
        >>> model = SPLDynamics(operators=("+", "*"), timeout=4, random_state=0).fit(x, t)
        >>> model.identifiability_.is_unique, len(model.rivals()) > 0, model.suggest(2).columns.tolist()
        (False, True, ['x0', 'x1', 'difference', 'told_apart'])
        >>> model.simulate(x[0], t, n_draws=20).draws.shape
        (20, 200, 2)
    """

    random_state: int | np.random.RandomState | None
    discovery_: SystemDiscovery
    trajectories_: Trajectories
    units_: SystemUnits | None = None  # of states, inputs and named constants
    _grammars: Sequence[Grammar]
    _followed: FollowedSystem | None
    _identifiability: Identifiability | None

    @overload
    def simulate(
        self,
        x0: ArrayLike,
        t: ArrayLike,
        u: ArrayLike | Callable[[float], ArrayLike] | None = None,
        n_draws: None = None,
        random_state: int | None = None,
        run: Any = None,
    ) -> NDArray[np.float64]: ...

    @overload
    def simulate(
        self,
        x0: ArrayLike,
        t: ArrayLike,
        u: ArrayLike | Callable[[float], ArrayLike] | None = None,
        *,
        n_draws: int,
        random_state: int | None = None,
        run: Any = None,
    ) -> SimulationDraws: ...

    def simulate(
        self,
        x0: ArrayLike,
        t: ArrayLike,
        u: ArrayLike | Callable[[float], ArrayLike] | None = None,
        n_draws: int | None = None,
        random_state: int | None = None,
        run: Any = None,
    ) -> NDArray[np.float64] | SimulationDraws:
        """Return the states [N, D] at given times; for order 2 positions and velocities.

        If the solution diverges or leaves the domain of an equation, the rest is NaN, and a warning says why.

        With `n_draws`, the system is simulated again and again with other numbers that the data allows. What comes back then has
        `states` [N, D], all `draws` [n_draws, N, D], their `median()` and `interval(level)`, and `n_ended`, how many of them end
        early. The start counts as exact. In a chaotic system, draws soon spread over the whole attractor: nobody can tell where it
        will be.

        Args:
            x0: the states at `t[0]`; for order 2 positions and velocities.
            t: the times [N].
            u: inputs [N, U] at these times, or a function of time.
            n_draws: how many draws; None for one simulation with the numbers as they are.
            random_state: the random seed of the draws; by default that of the model.
            run: the label of the run whose own numbers the system has; needed if runs have own numbers.
        """
        check_is_fitted(self)
        label = find_run_label(self.discovery_.system, run)
        u = with_known_inputs(u, self.units_, check_times(t).size)
        if n_draws is None:
            found = simulate(self.discovery_.system.of_run(label), x0, t, u)
            if found.ended is not None:
                warnings.warn(
                    f"The simulation ended at t = {found.ended:g}: {found.reason}.", SimulationEnded, stacklevel=2
                )
            return found.states
        check_count("n_draws", n_draws, at_least=2, at_most=MAX_DRAWS)
        band = self._draw(x0, t, u, n_draws, random_state, label)
        if band.n_ended:
            warnings.warn(
                f"{band.n_ended} of {n_draws} draws end before t = {band.t[-1]:g}: they diverge or leave the domain of an equation.",
                SimulationEnded,
                stacklevel=2,
            )
        return band

    def _draw(
        self,
        x0: ArrayLike,
        t: ArrayLike,
        u: ArrayLike | Callable[[float], ArrayLike] | None,
        n_draws: int,
        random_state: int | None = None,
        run: str = "",
    ) -> SimulationDraws:
        seed = self.random_state if random_state is None else random_state
        rng = np.random.default_rng(check_random_state(seed).randint(2**31))
        return draw_trajectories(self._follow(), x0, t, u, n_draws=n_draws, rng=rng, run=run)

    def intervals(self, level: float = 0.95, method: str = "curvature") -> pd.DataFrame:
        """Return the interval of each number of the equations: state, value, lower, upper, term; with own numbers also run.

        Args:
            level: the chance that an interval holds the number.
            method: "curvature": from that of the squared error along the trajectories.
        """
        check_level(level)
        check_choice("method", method, ("curvature",))
        found = find_intervals(self._follow(), level)
        table = pd.DataFrame(found, columns=[field.name for field in fields(NumberInterval)])
        return table if self.discovery_.system.own else table.drop(columns="run")

    def correlations(self) -> pd.DataFrame:
        """Return how the errors of the fitted numbers are correlated: a square DataFrame, labelled by their states and terms.

        Near 1 or -1, the data determines a combination of two numbers far better than each of them.
        """
        labels, correlations = correlate_constants(self._follow())
        return pd.DataFrame(correlations, index=labels, columns=labels)

    @property
    def identifiability_(self) -> Identifiability:
        """Whether the trajectories determine the equations, computed when first asked for.

        It has `is_unique`, `reasons` in words with what would help, and `rivals`, systems that fit as well.
        """
        followed = self._follow()
        if self._identifiability is None:
            self._identifiability = judge_identifiability(followed, JUDGE_SECONDS)
        return self._identifiability

    def rivals(self) -> pd.DataFrame:
        """Return systems that the trajectories cannot tell from the one that was found, each with another equation for one state.

        The columns are `state`, `equation`, `misfit` (nats by which it fits worse), `nats` (by which its description is longer), and
        `difference` between both equations in the box of the data, compared with the size of the present one. There are no rows if
        the trajectories determine the equations.
        """
        rows = [
            (rival.state, to_text(rival.program, EQUATION_DIGITS), rival.misfit, rival.nats, rival.difference)
            for rival in self.identifiability_.rivals
        ]
        return pd.DataFrame(rows, columns=["state", "equation", "misfit", "nats", "difference"])

    def suggest(
        self, n: int = 5, bounds: Mapping[str, tuple[float, float]] | None = None, random_state: int | None = 0
    ) -> pd.DataFrame:
        """Return initial conditions from which runs would tell most rivals apart, the best first.

        The columns are the states, for order 2 also their velocities, and the inputs, which are to be held constant; then
        `difference`, how far rivals move away, as a root mean square in units of the noise, and `told_apart`, how many of the rivals
        the run would exclude. Without rivals, other numbers that the data allows take their place. Runs are as long as those of the
        data on average.

        Args:
            n: how many.
            bounds: the lowest and highest value by name; for others half of the range of the data is added on both sides.
            random_state: the random seed of the starts that are compared.
        """
        check_count("n", n, at_least=1, at_most=MAX_SUGGESTED)
        followed = self._follow()
        if self.discovery_.system.own:
            raise SettingError(
                "There are no suggestions for systems whose runs have own numbers. Fit one run by itself."
            )
        columns = [name for name in followed.system.columns if name not in followed.known_names]
        _check_bounds(bounds, columns)
        rng = np.random.default_rng(random_state)
        others = [rival.system for rival in self.identifiability_.rivals]
        if not others:
            free = followed.with_free_numbers(has_factors=True)
            draws = SystemCurvature.of(followed, free).draw(N_DRAWS_AS_RIVALS, rng)
            others = [free.with_constants(values) for values in draws]
        found = suggest_starts(followed, others, find_box(followed, bounds), n_starts=n, rng=rng)
        rows = [(*start.values[: len(columns)], start.difference, start.n_told_apart) for start in found]
        return pd.DataFrame(rows, columns=[*columns, "difference", "told_apart"])

    def _keep_evidence(self, grammars: Sequence[Grammar]) -> None:
        """Keep what the equations may contain; forget what was computed for other ones."""
        self._grammars, self._followed, self._identifiability = grammars, None, None

    def _follow(self) -> FollowedSystem:
        """Return the equations along the trajectories."""
        check_is_fitted(self)
        if self._followed is None:
            self._followed = FollowedSystem.of(self.discovery_, self.trajectories_, self._grammars)
        return self._followed


def _check_bounds(bounds: Mapping[str, tuple[float, float]] | None, columns: Sequence[str]) -> None:
    """Raise a clear error unless bounds are pairs of numbers for known columns."""
    if bounds is None:
        return
    if not isinstance(bounds, Mapping):
        raise SettingError(f"`bounds` must be a dictionary of pairs by name; got {show_value(bounds)}.")
    for name, pair in bounds.items():
        if name not in columns:
            raise SettingError(f"`bounds` has no use for {name!r}. The columns are: {', '.join(columns)}.")
        ends = np.asarray(pair, dtype=np.float64) if isinstance(pair, Sequence | np.ndarray) else np.empty(0)
        if ends.shape != (2,) or not np.isfinite(ends).all() or ends[0] >= ends[1]:
            raise SettingError(f"`bounds` must give the lowest and the highest {name}; got {show_value(pair)}.")
