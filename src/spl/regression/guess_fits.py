"""Guesses as candidates: fitted to the rows of a search, and varied a little for the trees to begin with."""

from collections.abc import Iterator, Sequence

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_spelling import spell_in_grammar
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.fit import FitEffort
from spl.regression.candidate import Candidate
from spl.regression.fit import REFIT_EFFORT, fit

# Numbers of a guess are starting values; where they lead nowhere, others are tried. A guess may also have numbers without a value
THOROUGH_EFFORT = FitEffort(n_starts=12, n_scans=96, max_iterations=40, tolerance=1e-9)


def fit_guesses(programs: Sequence[Program], rows: Dataset) -> Iterator[Candidate]:
    """Yield guesses with their numbers fitted: from the values they have, and from others if these lead further.

    Those that leave their domain on the rows are left out.
    """
    for program in programs:
        fitted = [fit(program, rows, effort=REFIT_EFFORT)] if np.all(np.isfinite(program.constants)) else []
        if program.constants and not any(each.loss <= rows.floor for each in fitted):
            fitted.append(fit(program, rows, effort=THOROUGH_EFFORT))
        fitted = fitted or [fit(program, rows)]
        best = min(fitted, key=lambda each: each.loss)
        if np.isfinite(best.loss):
            yield best


def vary_guesses(programs: Sequence[Program], grammar: Grammar) -> Iterator[Program]:
    """Yield guesses alone, with a factor, and with a factor and an offset, as far as a grammar, perhaps of fewer columns, has them.

    Examples:
        >>> from spl.formulas.guesses import read_guess
        >>> from spl.formulas.text import to_text
        >>> grammar = Grammar.from_text("f -> f + f | C*f | x | sin(f) | C")
        >>> [to_text(each) for each in vary_guesses([read_guess("sin(x)", grammar)], grammar)]
        ['sin(x)', '1*sin(x)', '1*sin(x) + 0']
    """
    for program in programs:
        scaled = Program((tk.MUL, CONSTANT_TOKEN, *program.tokens), program.vocabulary, (1.0, *program.constants))
        shifted = Program((tk.ADD, *scaled.tokens, CONSTANT_TOKEN), program.vocabulary, (*scaled.constants, 0.0))
        for variant in (program, scaled, shifted):
            spelled = spell_in_grammar(variant, grammar)
            if spelled is not None and _has_room(spelled):
                yield spelled


def _has_room(program: Program) -> bool:
    return len(program) <= tk.MAX_PROGRAM_LENGTH and program.n_constants <= tk.MAX_CONSTANTS
