"""Round constants: whole numbers, simple fractions, multiples of pi or short decimals where the data allows them.

Each constant in turn is set to a round number near it and the others are fitted again. The change stays if the error grows by no
more than one standard error of a parameter would make it grow, or stays at rounding error; and if the data distinguishes the number
from its neighbours: near a constant known to one digit there is always some fraction, and it means nothing. Zero comes first: it
removes a term that does not help.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from spl.formulas.nice_numbers import MAX_DENOMINATOR, find_nice_number
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate

MAX_CHANGE = 0.05  # relative: a round number farther away from the constant is not tried
MAX_WHOLE = 1_000_000
PI_EVIDENCE = 0.05  # a multiple of pi is a bolder claim than a fraction: its neighbours are ten times nearer
MAX_DECIMAL_DIGITS = 4  # of a decimal such as 0.48
CHANCE_SHARE = 0.25  # of the distance between simple numbers: closer to one of them is no coincidence

Refit = Callable[[Program], Candidate]


def round_constants(candidate: Candidate, n_rows: int, floor: float, refit: Refit) -> Candidate:
    """Return the candidate with as many round constants as the data allows. `refit` fits the constants that remain.

    An error up to `floor` is rounding error.
    """
    position = 0
    n_rounded = 0
    best = candidate
    while position < len(best.program):
        if best.program.tokens[position] >> tk.KIND_SHIFT == tk.CONSTANT:
            # Twice the rows times the logarithm of the error ratio is chi-squared: 1 is one standard error, for each rounded constant
            limit = max(candidate.loss * math.exp((n_rounded + 1) / (2 * n_rows)), floor)
            rounded = _round_one(best, position, limit, refit)
            if rounded is not None:
                best = rounded
                n_rounded += 1
        position += 1
    return best


def _round_one(candidate: Candidate, position: int, limit: float, refit: Refit) -> Candidate | None:
    """Return the candidate with the simplest number at a position that keeps its loss within the limit, or None."""
    place = candidate.program.count_constants(position)
    dropped = refit(fix_constant(candidate.program, position, place, 0.0))
    if dropped.loss <= limit:
        return replace(dropped, reward=candidate.reward)
    for number, spacing in simple_numbers_near(candidate.program.constants[place]):
        fixed = refit(fix_constant(candidate.program, position, place, number))
        neighbours = (fix_constant(candidate.program, position, place, number + sign * spacing) for sign in (-1, 1))
        if fixed.loss <= limit and all(refit(neighbour).loss > limit for neighbour in neighbours):
            return replace(fixed, reward=candidate.reward)
    return None


def simple_numbers_near(value: float) -> Iterator[tuple[float, float]]:
    """Yield round numbers near a value: whole ones, fractions, multiples of pi, short decimals. Each comes with half its spacing.

    Examples:
        >>> next(simple_numbers_near(0.5001)), next(simple_numbers_near(2.01))
        ((0.5, 0.125), (2.0, 0.5))
    """
    if value == 0 or not math.isfinite(value):
        return
    tried = set()
    for unit in (1.0, math.pi):
        for denominator in range(1, MAX_DENOMINATOR + 1):
            numerator = round(value / unit * denominator)
            number = numerator * unit / denominator
            is_near = abs(number - value) <= MAX_CHANGE * abs(value)
            if numerator and abs(number) <= MAX_WHOLE and is_near and number not in tried and find_nice_number(number):
                tried.add(number)
                yield number, (0.5 if unit == 1 else PI_EVIDENCE) * unit / denominator**2
    for digits in range(2, MAX_DECIMAL_DIGITS + 1):
        number = float(f"{value:.{digits}g}")
        if number not in tried:
            tried.add(number)
            yield number, 0.5 * 10.0 ** (math.floor(math.log10(abs(number))) - digits + 1)


def simple_number_within(value: float, limit: float) -> float | None:
    """Return a simple number within the limit of a value; None if there is none, or if it could be a coincidence.

    Examples:
        >>> simple_number_within(0.6670, 0.001), simple_number_within(0.6670, 0.0001), simple_number_within(0.6670, 0.1)
        (0.6666666666666666, 0.667, None)
    """
    near = (n for n, gap in simple_numbers_near(value) if abs(n - value) <= limit and limit <= CHANCE_SHARE * gap)
    return next(near, None)


def fix_constant(program: Program, position: int, place: int, number: float) -> Program:
    """Return the program with a literal number in place of one of its constants.

    Args:
        program: a formula.
        position: of the token of the constant.
        place: of the constant among all constants.
        number: that takes its place.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> from spl.formulas.program import Vocabulary
        >>> to_text(fix_constant(parse_expression("C*x", Vocabulary(("x",))), 1, 0, 2.5))
        '2.5*x'
    """
    vocabulary = program.vocabulary.with_literal(number)
    tokens = (*program.tokens[:position], vocabulary.literal_token(number), *program.tokens[position + 1 :])
    return Program(tokens, vocabulary, program.constants[:place] + program.constants[place + 1 :])
