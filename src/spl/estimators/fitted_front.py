"""What a fitted `SPLRegressor` has found: the front, the choice among its formulas, and their forms in other notations.

The estimator itself is in `regressor`. What needs the kernels is imported inside methods, because they are slow to import.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from spl.data.dataset import Dataset
from spl.display.noise import find_places
from spl.display.notebook import FittedRepr, front_html, model_html
from spl.errors import SettingError, show_value
from spl.estimators.fitted_units import FittedUnits
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.notation.export import export_program
from spl.notation.grouped_export import export_grouped
from spl.notation.latex import latex_name, latex_table, to_latex
from spl.notation.mathml import mathml_name, to_mathml
from spl.notation.to_sympy import to_sympy
from spl.units.si import name_in_si

if TYPE_CHECKING:
    import sympy
    from matplotlib.figure import Figure

    from spl.regression.discover import Discovery

EQUATION_DIGITS = 8  # of the constants in `equations_`
MAX_KEPT_ROWS = 4000  # rows of the fit that are kept for `plot` and `relevance_`


class FittedFront(FittedUnits, FittedRepr):
    """The part of an estimator that holds a front and shows its formulas; `_keep` fills it.

    Subclasses have the parameter `selection`.

    Examples:
        >>> from spl import SPLRegressor
        >>> X = np.linspace(1, 3, 40).reshape(-1, 1)
        >>> model = SPLRegressor(operators=("+", "*"), random_state=0).fit(X, 3 * X[:, 0] ** 2 + 1)
        >>> model.get_best()["equation"], model.latex()
        ('3*x0**2 + 1', '3 x_{0}^{2} + 1')
    """

    selection: str

    def _keep(self, discovery: "Discovery", data: Dataset, target: str) -> None:
        """Keep what was found, and where the outliers are in what the user gave."""
        self.discovery_ = discovery
        self.notes_ = list(discovery.notes)
        self.noise_ = discovery.noise
        self.outliers_ = np.array(find_places(discovery.outliers, data), np.intp)
        self.sample_ = data.sample(MAX_KEPT_ROWS, np.random.default_rng(0))
        self.target_name_ = target
        self._equations: pd.DataFrame | None = None  # made when it is first asked for

    @property
    def equations_(self) -> pd.DataFrame:
        """The front as a DataFrame: cost, loss, score, losses on other rows, equation."""
        check_is_fitted(self)
        if self._equations is None:
            front = self.discovery_.front
            columns = {
                "cost": [candidate.cost for candidate in front],
                "loss": [candidate.loss for candidate in front],
                "score": front.scores(self.discovery_.floor),
                **self._losses_on_other_rows(),
                "equation": [to_text(candidate.program, EQUATION_DIGITS) for candidate in front],
            }
            self._equations = pd.DataFrame(columns)
        return self._equations

    def _losses_on_other_rows(self) -> dict[str, Sequence[float]]:
        """Return columns of `equations_`: losses on rows that the formulas were not fitted to."""
        verdict = self.discovery_.held_out
        return {} if verdict is None else {"validation_loss": verdict.losses}

    def get_best(self) -> "pd.Series[Any]":
        """Return the row of `equations_` that the selection rule prefers."""
        check_is_fitted(self)
        return self.equations_.iloc[self.best_index_]

    def sympy(self, index: int | None = None, units: str | None = None) -> "sympy.Expr":
        """Return an equation as a sympy expression.

        Args:
            index: a row of `equations_`; by default, the chosen equation.
            units: "SI" for the equation whose columns and value are in SI units; by default, they are in those of the fit.
        """
        return to_sympy(self._in_units(self._program(index), units))

    def latex(self, index: int | None = None, units: str | None = None) -> str:
        """Return an equation as LaTeX.

        Args:
            index: a row of `equations_`; by default, the chosen equation.
            units: "SI" for the equation in SI units, as in `sympy`.
        """
        return to_latex(self._in_units(self._program(index), units))

    def latex_table(self) -> str:
        """Return the front as a LaTeX table (package booktabs)."""
        check_is_fitted(self)
        return latex_table([(c.cost, c.loss, c.program) for c in self.discovery_.front])

    def plot_tree(self, index: int | None = None) -> "Figure":
        """Return a drawing of the expression tree of an equation. Needs matplotlib, the extra `plot`.

        Args:
            index: a row of `equations_`; by default, the chosen equation.
        """
        from spl.plots.trees import plot_tree

        return plot_tree(self._program(index))

    def export(self, format: str, index: int | None = None, units: str | None = None) -> str:
        """Return an equation as text in another format.

        Code defines a function `predict` of all columns in order; their names become identifiers of the language. If the equation has
        numbers of groups, the function also takes the group of each row, and the text holds the table of numbers.

        Args:
            format: "sympy", "latex", "python", "c", "julia", "matlab", "torch" or "jax".
            index: a row of `equations_`; by default, the chosen equation.
            units: "SI" for the equation in SI units, as in `sympy`.
        """
        program, target, own = (
            self._fill_known(self._in_units(self._program(index), units), units),
            self._target_in(units),
            self._own_numbers(index),
        )
        if own:
            return export_grouped(program, own, format, target=target)
        return export_program(program, format, target=target)

    @property
    def best_index_(self) -> int:
        """The row of `equations_` that the current selection rule prefers."""
        check_is_fitted(self)
        return self.discovery_.choose(self.selection)

    @property
    def relevance_(self) -> "pd.Series[float]":
        """What each column brings to the chosen equation: the share of its variance that comes from it, alone or with others."""
        from spl.regression.relevance import measure_relevance

        check_is_fitted(self)
        program = self._program(None)
        sample = getattr(self, "sample_", None)
        if sample is None:
            raise SettingError("There are no rows to measure `relevance_` on: the model has no data.")
        sample = self._with_groups(sample)
        shares = measure_relevance(program, sample)
        relevance = pd.Series(shares, index=list(program.vocabulary.variables), name="relevance")
        return relevance[self._without_known(program.vocabulary.variables)]

    def _own_numbers(self, index: int | None) -> tuple[OwnNumber, ...]:
        """Return the numbers that each group has for itself in an equation."""
        own: tuple[OwnNumber, ...] = getattr(self.discovery_.front[self._place(index)], "own", ())
        return own

    def _with_groups(self, sample: Dataset) -> Dataset:
        """Return rows with the numbers of their groups as further columns, if there are groups."""
        return sample

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "discovery_")

    def _fitted_html(self) -> str:
        from spl.display.results import front_rows

        found, chosen = self.discovery_, self.best_index_
        equation = to_mathml(self._program(None), left=mathml_name(self._target()))
        table = front_html(front_rows(found.front, chosen, found.floor), title="front")
        summary = f"SPLRegressor, fitted; equation chosen by {self.selection}"
        if found.noise.name != "normal":
            summary += f"; noise: {found.noise.name}"
        return model_html(summary, [equation], [table])

    def _fitted_latex(self) -> str:
        return rf"$\displaystyle {latex_name(self._target())} = {self.latex()}$"

    def _target_in(self, units: str | None) -> str:
        """Return the name of the target, for a formula in these units."""
        return (
            self._target() if units is None or self.units_ is None else name_in_si(self._target(), self.units_.target)
        )

    def _target(self) -> str:
        name: str = getattr(self, "target_name_", "y")
        return name

    def _program(self, index: int | None) -> Program:
        place = self._place(index)
        return self.discovery_.front[place].program

    def _place(self, index: int | None) -> int:
        """Return the row of `equations_` for an index."""
        check_is_fitted(self)
        front = self.discovery_.front
        if index is None:
            return self.best_index_
        if isinstance(index, bool) or not isinstance(index, int | np.integer) or not -len(front) <= index < len(front):
            raise SettingError(f"`index` must be a row of equations_, 0 to {len(front) - 1}; got {show_value(index)}.")
        return int(index) % len(front)
