"""Relations between own numbers: one that is a multiple of another in all groups, or differs from it by the same amount, is not own.

So `k1*x + k2` becomes `k1*x + 1.3*k1`, which is `k1*(x + 1.3)`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.groups.fit import JointFit, fit_jointly
from spl.groups.formula import GroupedFormula, own_token
from spl.groups.rows import GroupedRows
from spl.groups.sharing import MIN_GAIN_NATS, length_of
from spl.kernels.programs import tokens as tk


def relate_own_numbers(fit: JointFit, rows: GroupedRows, must_stop: Callable[[], bool]) -> JointFit:
    """Return the fit with own numbers in terms of others, as long as that makes its description shorter."""
    while not must_stop():
        tried = (fit_jointly(each, rows) for each in related(fit.formula) if not must_stop())
        best = min((each for each in tried if each is not None), key=lambda each: length_of(each, rows), default=fit)
        if not length_of(best, rows) < length_of(fit, rows) - MIN_GAIN_NATS:
            return fit
        fit = best
    return fit


def related(formula: GroupedFormula) -> Iterator[GroupedFormula]:
    """Yield the formula with each own number as a multiple of, or as a sum with, each other one of the same grouping.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("k1*x + k2", Vocabulary(("x", "k1", "k2")))
        >>> line = GroupedFormula(program, (0, 0), (np.array([1.0, 2.0]), np.array([2.0, 4.0])), 1)
        >>> [to_text(each.program) for each in related(line)]
        ['k1*x + 2*k1', 'k1*x + (k1 + 1.5)', '0.5*k1*x + k1', '(k1 - 1.5)*x + k1']
    """
    for kept, scope in enumerate(formula.scopes):
        for replaced, other in enumerate(formula.scopes):
            if kept == replaced or scope != other:
                continue
            with np.errstate(all="ignore"):
                ratio = float(np.median(formula.values[replaced] / formula.values[kept]))
                difference = float(np.median(formula.values[replaced] - formula.values[kept]))
            if np.isfinite(ratio):
                yield _replace(formula, replaced, (tk.MUL, CONSTANT_TOKEN), kept, ratio)
            yield _replace(formula, replaced, (tk.ADD,), kept, difference)


def _replace(
    formula: GroupedFormula, replaced: int, before: tuple[int, ...], kept: int, constant: float
) -> GroupedFormula:
    """Return the formula with an operation of another own number and a constant in place of an own number."""
    program = formula.program
    old, new = own_token(formula.n_columns, replaced), own_token(formula.n_columns, kept)
    after = (CONSTANT_TOKEN,) if CONSTANT_TOKEN not in before else ()
    tokens: list[int] = []
    constants: list[float] = []
    given = iter(program.constants)
    for token in program.tokens:
        if token == old:
            tokens += [*before, new, *after]
            constants.append(constant)
            continue
        tokens.append(token)
        if token == CONSTANT_TOKEN:
            constants.append(next(given))
    related = Program(tuple(tokens), program.vocabulary, tuple(constants))
    return replace(formula, program=related).without_unused()


def unfold_exponents(formula: GroupedFormula) -> Iterator[GroupedFormula]:
    """Yield the formula with an own number that is added in an exponent as a factor of the exponential function.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("exp(k1 - x)", Vocabulary(("x", "k1")))
        >>> [unfolded] = unfold_exponents(GroupedFormula(program, (0,), (np.array([0.0, 1.0]),), 1))
        >>> to_text(unfolded.program), unfolded.values[0].round(3).tolist()
        ('k1*exp(-x)', [1.0, 2.718])
    """
    program = formula.program
    for position in range(len(program) - 1):
        sign = program.tokens[position + 1]
        if program.tokens[position] != tk.EXP or sign not in (tk.ADD, tk.SUB):
            continue
        left, right = program.arguments_of(position + 1)
        for side, rest in ((left, right), (right, left)):
            place = (program.tokens[side] & tk.PAYLOAD_MASK) - formula.n_columns
            is_own = program.tokens[side] >> tk.KIND_SHIFT == tk.VARIABLE and place >= 0
            if not is_own or program.tokens.count(program.tokens[side]) > 1:
                continue
            is_subtracted = sign == tk.SUB and side == right
            minus = (tk.NEG,) if sign == tk.SUB and side == left else ()
            part = program.part(rest)
            tokens = (tk.MUL, program.tokens[side], tk.EXP, *minus, *part.tokens)
            with np.errstate(over="ignore"):
                values = np.exp(-formula.values[place] if is_subtracted else formula.values[place])
            unfolded = program.with_part(position, Program(tokens, program.vocabulary, part.constants))
            moved = (*formula.values[:place], values, *formula.values[place + 1 :])
            yield replace(formula, program=unfolded, values=moved)
