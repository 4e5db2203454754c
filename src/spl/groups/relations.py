"""Relations between own numbers: one that follows from another in all groups is not own.

So `k1*x + k2` becomes `k1*x + 1.3*k1`, which is `k1*(x + 1.3)`. A number follows from another one if it is a multiple of it or of its
square, root, inverse, exponential or logarithm, possibly with an offset; what the grammar lacks is not used.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.groups.fit import JointFit, fit_jointly
from spl.groups.formula import GroupedFormula, own_token
from spl.groups.rows import GroupedRows
from spl.groups.sharing import MIN_GAIN_NATS, length_of
from spl.kernels.programs import tokens as tk

Array = NDArray[np.float64]

MAX_UNEXPLAINED = 0.5  # share of the variance of a number that a relation may leave unexplained and still be fitted
MIN_GROUPS = {1: 3, 2: 5}  # by the numbers of a relation: fewer values follow almost any relation


@dataclass(frozen=True, slots=True)
class Shape:
    """A function of an own number in a relation."""

    function: Callable[[Array], Array]
    needs: tuple[int, ...]  # opcodes that the grammar must have
    before: tuple[int, ...]  # tokens before the own number
    is_linear: bool = False


SHAPES = (
    Shape(lambda k: k, (), (tk.MUL, CONSTANT_TOKEN), is_linear=True),
    Shape(np.square, (tk.MUL,), (tk.MUL, CONSTANT_TOKEN, tk.SQUARE)),
    Shape(lambda k: 1 / k, (tk.DIV,), (tk.DIV, CONSTANT_TOKEN)),
    Shape(np.sqrt, (tk.SQRT,), (tk.MUL, CONSTANT_TOKEN, tk.SQRT)),
    Shape(np.exp, (tk.EXP,), (tk.MUL, CONSTANT_TOKEN, tk.EXP)),
    Shape(np.log, (tk.LOG,), (tk.MUL, CONSTANT_TOKEN, tk.LOG)),
)


def relate_own_numbers(
    fit: JointFit, rows: GroupedRows, has_operator: Callable[[int], bool], must_stop: Callable[[], bool]
) -> JointFit:
    """Return the fit with own numbers in terms of others, as long as that makes its description shorter."""
    while not must_stop():
        tried = (fit_jointly(each, rows) for each in related(fit.formula, has_operator) if not must_stop())
        best = min((each for each in tried if each is not None), key=lambda each: length_of(each, rows), default=fit)
        if not length_of(best, rows) < length_of(fit, rows) - MIN_GAIN_NATS:
            return fit
        fit = best
    return fit


def related(formula: GroupedFormula, has_operator: Callable[[int], bool]) -> Iterator[GroupedFormula]:
    """Yield the formula with each own number in terms of each other one of the same grouping, where such a relation roughly holds.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> program = parse_expression("k1*x + k2", Vocabulary(("x", "k1", "k2")))
        >>> slopes = np.array([1.0, 2.0, 4.0])
        >>> line = GroupedFormula(program, (0, 0), (slopes, 2 * slopes), 1)
        >>> [to_text(each.program) for each in related(line, lambda opcode: False)][:2]
        ['k1*x + 2*k1', 'k1*x + (k1 + 2)']
    """
    for kept, scope in enumerate(formula.scopes):
        for replaced, other in enumerate(formula.scopes):
            if kept == replaced or scope != other:
                continue
            own = own_token(formula.n_columns, kept)
            for tokens, constants in _find_relations(formula.values[kept], formula.values[replaced], own, has_operator):
                yield _replace(formula, replaced, tokens, constants)


def _find_relations(
    kept: Array, replaced: Array, own: int, has_operator: Callable[[int], bool]
) -> Iterator[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Yield the tokens and numbers of relations that roughly hold between the values of two own numbers."""
    known = np.isfinite(kept) & np.isfinite(replaced)
    if np.count_nonzero(known) < min(MIN_GROUPS.values()):
        return
    for shape in SHAPES:
        if all(map(has_operator, shape.needs)):
            yield from _find_relations_of_shape(shape, kept[known], replaced[known], own)


def _find_relations_of_shape(
    shape: Shape, kept: Array, replaced: Array, own: int
) -> list[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Return the relations of one shape that roughly hold; functions outside their domain or range hold nowhere."""
    with np.errstate(all="ignore"):
        values = shape.function(kept)
        ratio, difference = float(np.median(replaced / values)), float(np.median(replaced - values))
        slope, offset = _fit_line(values, replaced)
        part = (*shape.before, own)
        candidates: list[tuple[tuple[int, ...], tuple[float, ...], Array]] = [
            (part, (ratio,), ratio * values),
            ((tk.ADD, *part, CONSTANT_TOKEN), (slope, offset), slope * values + offset),
        ]
        if shape.is_linear:
            candidates.insert(1, ((tk.ADD, own, CONSTANT_TOKEN), (difference,), values + difference))
        most = MAX_UNEXPLAINED * float(np.var(replaced))
        return [
            (tokens, constants)
            for tokens, constants, predicted in candidates
            if kept.size >= MIN_GROUPS[len(constants)] and float(np.mean((replaced - predicted) ** 2)) <= most
        ]


def _fit_line(x: Array, y: Array) -> tuple[float, float]:
    """Return slope and offset of a line by least squares; NaN if there is none."""
    centred = x - x.mean()
    square = float(centred @ centred)
    slope = float(centred @ y) / square if square > 0 else np.nan
    return slope, float(y.mean() - slope * x.mean())


def _replace(
    formula: GroupedFormula, replaced: int, relation: tuple[int, ...], numbers: tuple[float, ...]
) -> GroupedFormula:
    """Return the formula with a relation in place of an own number."""
    program = formula.program
    old = own_token(formula.n_columns, replaced)
    tokens: list[int] = []
    constants: list[float] = []
    given = iter(program.constants)
    for token in program.tokens:
        if token == old:
            tokens += relation
            constants += numbers
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
