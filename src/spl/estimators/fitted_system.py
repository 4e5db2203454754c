"""How sure a fitted `SPLDynamics` is: intervals and correlations of its numbers, rival systems, and what to measure next."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from spl.data.trajectories import Trajectories
from spl.dynamics.discover import SystemDiscovery
from spl.dynamics.followed_system import FollowedSystem
from spl.dynamics.identifiability import Identifiability, judge_identifiability
from spl.dynamics.next_starts import find_box, suggest_starts
from spl.dynamics.system_uncertainty import NumberInterval, SystemCurvature, correlate_constants, find_intervals
from spl.errors import SettingError, show_value
from spl.estimators.fitted_front import EQUATION_DIGITS
from spl.estimators.fitted_uncertainty import check_choice, check_level
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.settings import check_count

JUDGE_SECONDS = 60.0  # that may go into rivals: they usually take less than a second
N_DRAWS_AS_RIVALS = 16  # systems with other numbers, where there are no rivals with other terms
MAX_SUGGESTED = 100


class FittedSystem:
    """The part of an estimator that says how sure its system is. What is asked for is computed once.

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

    discovery_: SystemDiscovery
    trajectories_: Trajectories
    _grammars: Sequence[Grammar]
    _followed: FollowedSystem | None
    _identifiability: Identifiability | None

    def intervals(self, level: float = 0.95, method: str = "curvature") -> pd.DataFrame:
        """Return the interval of each number of the equations: state, value, lower, upper, term.

        Args:
            level: the chance that an interval holds the number.
            method: "curvature": from that of the squared error along the trajectories.
        """
        check_level(level)
        check_choice("method", method, ("curvature",))
        found = find_intervals(self._follow(), level)
        return pd.DataFrame(found, columns=[field.name for field in fields(NumberInterval)])

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
        columns = list(followed.system.columns)
        _check_bounds(bounds, columns)
        rng = np.random.default_rng(random_state)
        others = [rival.system for rival in self.identifiability_.rivals]
        if not others:
            free = followed.with_free_numbers(has_factors=True)
            draws = SystemCurvature.of(followed, free).draw(N_DRAWS_AS_RIVALS, rng)
            others = [free.with_constants(values) for values in draws]
        found = suggest_starts(followed, others, find_box(followed, bounds), n_starts=n, rng=rng)
        rows = [(*start.values, start.difference, start.n_told_apart) for start in found]
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
