"""What a `SPLRegressor` is told about its formula beforehand, a form or guesses, and what became of the unknown parts of the form.

What needs the kernels is imported inside methods, because they are slow to import.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sklearn.utils.validation import check_is_fitted

from spl.errors import SettingError, explain_unknown, show_value
from spl.estimators.fitted_front import EQUATION_DIGITS
from spl.estimators.fitted_groups import FittedGroups
from spl.estimators.parameters import check_operators, make_grammar
from spl.formulas.forms import EXAMPLE_FORM, Form
from spl.formulas.grammar import Grammar
from spl.formulas.operators import Operator
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.notation.to_sympy import to_sympy

if TYPE_CHECKING:
    import sympy


class KnownParts(FittedGroups):
    """The part of an estimator that holds a form; without one, nothing changes.

    Subclasses have the parameters `operators`, `constants`, `grammar` and `form`.

    Examples:
        >>> import numpy as np
        >>> from spl import SPLRegressor
        >>> X = np.random.default_rng(0).uniform(0.5, 3.0, (60, 2))
        >>> y = 2 * X[:, 0] * np.sin(X[:, 1]) + X[:, 1] ** 2
        >>> model = SPLRegressor(form="a(x0) * sin(x1) + b(x1)", operators=("+", "*"), random_state=0).fit(X, y)
        >>> model.parts_
        {'a': '2*x0', 'b': 'x1**2'}
        >>> model.part("a")
        2*x0
    """

    operators: Sequence[str | Operator]
    constants: bool | str
    grammar: Grammar | str | Path | None
    form: str | None

    @property
    def parts_(self) -> dict[str, str | None]:
        """What each hole of the form became in the chosen equation, by its name.

        Factors and terms that several holes may have are in one of them: in `a(T)*b(p)`, a number may be in either. None stands
        for a part that cannot be told from the others. Without a form, or without holes in it, there are no parts.
        """
        return {
            name: None if part is None else to_text(part, EQUATION_DIGITS) for name, part in self._parts(None).items()
        }

    def part(self, name: str, index: int | None = None) -> "sympy.Expr":
        """Return what a hole of the form became, as a sympy expression.

        Args:
            name: the name of the hole.
            index: a row of `equations_`; by default, the chosen equation.
        """
        parts = self._parts(index)
        if name not in parts:
            if not parts:
                raise SettingError(f"There is no part {show_value(name)}: the model has no form with holes.")
            raise SettingError(explain_unknown("part", str(name), list(parts)))
        part = parts[name]
        if part is None:
            raise SettingError(
                f"The part '{name}' cannot be told from the others in {to_text(self._program(index), EQUATION_DIGITS)}."
            )
        return to_sympy(part)

    def _parts(self, index: int | None) -> dict[str, Program | None]:
        """Return the part of each hole; None if the parts cannot be told apart."""
        check_is_fitted(self)
        form: Form | None = getattr(self, "_form", None)
        if form is None or not form.holes:
            return {}
        from spl.regression.form_reading import FormReader

        parts = FormReader(form, self._with_groups(self.sample_)).parts(self._program(index))
        return {hole.name: None if parts is None else parts[hole.name] for hole in form.holes}

    def _make_grammar(self, names: Sequence[str]) -> tuple[Grammar, Form | None]:
        """Return the formulas that are possible, and the form that they have, if one is given."""
        if self.form is None:
            return make_grammar(self.grammar, self.operators, self.constants, names), None
        if not isinstance(self.form, str):
            raise SettingError(f"`form` must be text, such as {EXAMPLE_FORM}; got {show_value(self.form)}.")
        check_operators(self.operators, self.constants)
        if isinstance(self.grammar, Grammar):  # of a run with this form
            form = Form.from_text(self.form, names, self.grammar.vocabulary.own)
            if form.is_start_of(self.grammar):
                return self.grammar, form
        if self.grammar is not None:
            raise SettingError(
                "`form` cannot be combined with `grammar`: both say which formulas are possible. Leave one out, or write the form as "
                "the first rule of the grammar."
            )
        own = tuple(operator for operator in self.operators if isinstance(operator, Operator) and operator.opcode < 0)
        form = Form.from_text(self.form, names, own)
        return form.grammar(self.operators, constants=bool(self.constants)), form
