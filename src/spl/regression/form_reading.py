"""Formulas as readings of a form: which of them have it, and what its holes became, checked on the rows of the data."""

from dataclasses import dataclass, field

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.form_parts import find_filling, find_parts
from spl.formulas.forms import Form
from spl.formulas.program import Program
from spl.regression.fit import evaluate

SAME_VALUES = 1e-8  # values may differ by this share of the largest: numbers are rounded where parts are joined
MAX_ROWS = 1_000  # on which values are compared
MAX_REMEMBERED = 10_000  # formulas whose answer is remembered


@dataclass(slots=True, eq=False)
class FormReader:
    """Reads formulas as a form, on some rows.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], [1.0, 2.0, 3.0], names=["p", "T"])
        >>> reader = FormReader(Form.from_text("a(T)*exp(-b(p))", data.names), data)
        >>> reader.has_form(parse_expression("T/exp(p)", Vocabulary(data.names)))
        True
        >>> reader.has_form(parse_expression("T + exp(p)", Vocabulary(data.names)))
        False
    """

    form: Form
    rows: Dataset
    _known: dict[Program, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = self.rows.sample(MAX_ROWS, np.random.default_rng(0))

    def has_form(self, program: Program) -> bool:
        """Return whether the parts of a formula can be told."""
        if program not in self._known:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            self._known[program] = find_filling(self.form, program, self._agree) is not None
        return self._known[program]

    def parts(self, program: Program) -> dict[str, Program] | None:
        """Return what each hole became, by its name; None if they cannot be told apart."""
        return find_parts(self.form, program, self._agree)

    def _agree(self, one: Program, other: Program) -> bool:
        """Return whether two formulas have the same values on the rows."""
        with np.errstate(all="ignore"):
            values, others = evaluate(one, self.rows.columns), evaluate(other, self.rows.columns)
            largest = float(np.max(np.abs(values)))
            return bool(np.max(np.abs(values - others)) <= SAME_VALUES * largest)
