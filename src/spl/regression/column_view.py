"""A view of some columns of a table: the table without the others, and formulas of these columns as formulas of the whole table."""

from dataclasses import dataclass, replace

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import SettingError
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import make_token
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate


@dataclass(frozen=True, slots=True)
class ColumnView:
    """Some of the columns of a table, in any order.

    Args:
        columns: the numbers of the columns kept.
        n_columns: how many columns the table has.

    Examples:
        >>> view = ColumnView((1, 3), 4)
        >>> view.take(Dataset.from_arrays([[1.0, 2.0, 3.0, 4.0]], [5.0])).names
        ('x1', 'x3')
    """

    columns: tuple[int, ...]
    n_columns: int

    def __post_init__(self) -> None:
        are_distinct = len(set(self.columns)) == len(self.columns)
        if not self.columns or not are_distinct or not all(0 <= column < self.n_columns for column in self.columns):
            raise SettingError(
                f"The columns of a view must be distinct numbers below {self.n_columns}; got {self.columns}."
            )

    @classmethod
    def whole(cls, n_columns: int) -> "ColumnView":
        """Return the view of all columns."""
        return cls(tuple(range(n_columns)), n_columns)

    @property
    def is_whole(self) -> bool:
        """Whether it has all columns, in the order of the table."""
        return self.columns == tuple(range(self.n_columns))

    def take(self, data: Dataset) -> Dataset:
        """Return the dataset without the other columns."""
        if self.is_whole:
            return data
        names = tuple(data.names[column] for column in self.columns)
        return replace(data, names=names, columns=np.ascontiguousarray(data.columns[list(self.columns)]))

    def express_program(self, program: Program, vocabulary: Vocabulary) -> Program:
        """Return a formula of these columns as a formula of the whole table.

        Args:
            program: its variables are the columns of the view.
            vocabulary: of the whole table; numbers that it does not have are added.

        Examples:
            >>> from spl.formulas.text import parse_expression
            >>> program = parse_expression("x3 + 2*x1", Vocabulary(("x1", "x3")))
            >>> ColumnView((1, 3), 4).express_program(program, Vocabulary(("x0", "x1", "x2", "x3")))
            Program('x3 + 2*x1')
        """
        if program.vocabulary == vocabulary:
            return program
        for number in program.vocabulary.literals:
            vocabulary = vocabulary.with_literal(number)
        tokens = tuple(self._express_token(token, program.vocabulary, vocabulary) for token in program.tokens)
        return Program(tokens, vocabulary, program.constants)

    def express(self, candidate: Candidate, vocabulary: Vocabulary) -> Candidate:
        """Return a candidate of these columns as one of the whole table, with the same fit."""
        return replace(candidate, program=self.express_program(candidate.program, vocabulary))

    def _express_token(self, token: int, own: Vocabulary, whole: Vocabulary) -> int:
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            return make_token(tk.VARIABLE, self.columns[payload])
        if kind == tk.LITERAL:
            return whole.literal_token(own.literals[payload])
        return whole.operator_token(own.operator_of(token)) if kind == tk.OPERATOR else token
