"""How stable the formula of a fitted `SPLRegressor` is: whether it would be found again in new measurements of the same rows.

What needs the kernels is imported inside methods, because they are slow to import.
"""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from spl.errors import SearchInterrupted
from spl.estimators.fitted_uncertainty import FittedUncertainty
from spl.estimators.parameters import check_search, count_jobs
from spl.formulas.forms import Form
from spl.formulas.grammar import Grammar
from spl.formulas.operators import Operator
from spl.knowledge.knowledge import Judge
from spl.noise.models import check_noise
from spl.regression.request import RegressionRequest
from spl.settings import SearchConfig

if TYPE_CHECKING:
    from spl.regression.stability import Stability


class FittedStability(FittedUncertainty):
    """The part of an estimator that searches redrawn targets. Subclasses have the parameters of a search."""

    operators: Sequence[str | Operator]
    constants: bool | str
    grammar: Grammar | str | Path | None
    search: SearchConfig | None
    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    verbose: int

    if TYPE_CHECKING:

        def _make_grammar(self, names: Sequence[str]) -> tuple[Grammar, Form | None]: ...

    def stability(self, n: int = 20, max_evaluations: int = 1_000, index: int | None = None) -> "Stability":
        """Search again with redrawn targets, and return how often the equation, its terms and its columns come back.

        The targets are drawn from the equation and its noise: residuals of random rows, or new counts and shares. Each search may try
        `max_evaluations` formulas, and the equations of the front compete with what it finds. Ctrl-C ends it with a warning and
        returns the searches that are done. `n_jobs` searches run at once, or as many as the chosen joblib backend has workers for; the
        answer does not depend on it.

        Args:
            n: number of searches.
            max_evaluations: formulas that each search may try.
            index: a row of `equations_`; by default, the chosen equation.

        Examples:
            >>> from spl import SPLRegressor
            >>> x = np.linspace(1, 3, 40)
            >>> y = 3.3 * x**2 + 0.1 * np.cos(50 * x)
            >>> model = SPLRegressor(operators=("+", "*"), random_state=0).fit(x.reshape(-1, 1), y)
            >>> found = model.stability(n=3, max_evaluations=100)
            >>> found.structure, found.terms.share.tolist()
            (1.0, [1.0])
        """
        from spl.regression.stability import StabilityPlan, measure_stability

        self._refuse_groups("`stability`")
        place, evidence = self._place(index), self._check_evidence()
        judge: Judge | None = getattr(self, "_judge", None)
        grammar, form = self._make_grammar(evidence.data.names)
        request = RegressionRequest(
            evidence.data,
            grammar,
            form=form,
            units=self.units_,
            config=check_search(self.search),
            noise=check_noise(evidence.noise),
            knowledge=None if judge is None else judge.knowledge,
        )
        plan = StabilityPlan.make(
            request,
            self.discovery_,
            place,
            selection=self.selection,
            max_evaluations=max_evaluations,
            seed=int(check_random_state(self.random_state).randint(2**31)),
        )
        with self._open_count() as watch:
            found = measure_stability(plan, n, n_jobs=count_jobs(self.n_jobs), watch=watch)
        if found.n_done < found.n_asked:
            words = f"Interrupted: {found.n_done} of {found.n_asked} searches are done."
            warnings.warn(words, SearchInterrupted, stacklevel=2)
        return found

    def _open_count(self) -> Any:
        """Return the display of how many searches are done."""
        if not self.verbose:
            return nullcontext(lambda done, asked: None)
        from rich.console import Console

        from spl.display.searches import open_count

        return open_count(Console())
