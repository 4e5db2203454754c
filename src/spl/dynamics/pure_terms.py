"""Simple terms of pure numbers: proposals for an equation whose fitted numbers have no units.

Products of columns rarely have the unit of a right-hand side. So terms are made of dimensionless groups (`units/groups`), where all of
them fit, and written in the columns again: sin(theta) becomes sin(theta)*g/l.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.dynamics.simple_terms import Term, evaluate_term
from spl.dynamics.term_library import TermLibrary
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.units.group_grammar import make_group_grammar, treats_columns_alike
from spl.units.groups import Groups, choose_groups
from spl.units.rewriting import to_columns
from spl.units.table_units import TableUnits


@dataclass(frozen=True, slots=True, eq=False)
class PureTable:
    """The rows of an equation as dimensionless groups, and the grammar of formulas of these."""

    groups: Groups
    grammar: Grammar  # of the groups
    data: Dataset  # of the groups
    vocabulary: Vocabulary  # of the columns

    @classmethod
    def of(cls, grammar: Grammar, data: Dataset, units: TableUnits) -> "PureTable | None":
        """Return the groups of a table; None if numbers may have units, or the rules hold units by themselves."""
        if units.are_numbers_free or not treats_columns_alike(grammar):
            return None
        groups = choose_groups(units, data.columns)
        return cls(groups, make_group_grammar(grammar, groups), groups.measure(data), grammar.vocabulary)

    def write(self, program: Program) -> Program | None:
        """Return a formula of groups as one of the columns; None if it cannot be written."""
        return to_columns(program, self.groups, self.vocabulary)

    def write_library(self, library: TermLibrary, data: Dataset) -> TermLibrary:
        """Return a library of groups as one of the columns, with its values on their rows."""
        terms: list[Term] = []
        values: list[NDArray[np.float64]] = []
        n_polynomial = 0
        for place, term in enumerate(library.terms):
            written = self.write_term(term)
            column = None if written is None else evaluate_term(written, self.vocabulary, data)
            if written is not None and column is not None and np.isfinite(column).all():
                terms.append(written)
                values.append(column)
                n_polynomial += place < library.n_polynomial
        table = np.column_stack(values) if values else np.empty((data.n_rows, 0))
        return replace(library, vocabulary=self.vocabulary, terms=tuple(terms), values=table, n_polynomial=n_polynomial)

    def write_term(self, term: Term) -> Term | None:
        """Return a term of groups as one of the columns; None if it needs a number, such as 1/tau, since terms have no numbers."""
        words = self.grammar.vocabulary
        program = self.write(Program(term, words) if term else Program((words.literal_token(1.0),), words))
        if program is None:
            return None
        tokens = program.tokens
        if tokens[:2] == (tk.MUL, CONSTANT_TOKEN):  # converts units
            tokens = tokens[2:]
        is_number = any(token >> tk.KIND_SHIFT in (tk.CONSTANT, tk.LITERAL) for token in tokens)
        return None if is_number else tokens
