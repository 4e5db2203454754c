"""Description lengths: what a formula, its numbers and what it leaves over take to write down, in nats. The shortest is chosen.

A formula is written token by token, in a code in which no formula is the beginning of another. So its price accounts for how many
formulas were tried: of all that the code can spell, few describe noise more briefly than a constant does, however long the search.
Each number is written to the precision that the data gives it; see `kernels/precision`.
"""

import math

from spl.formulas.operators import is_function
from spl.formulas.program import Program, token_cost
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate

# Half of the tokens of a formula are leaves, since a tree of binary operators has one leaf more than operators. Of the others, one in
# four is a function. Measured on 73 tables of noise, 60 random formulas with noise of 1 and 10 %, and 22 runs of the noise grid, among
# all formulas that their searches met: prices within half a nat of these differ in at most one table and one formula. The prices were
# designed on these searches.
LEAF_SHARE, ARITHMETIC_SHARE, FUNCTION_SHARE = 1 / 2, 3 / 8, 1 / 8
N_ARITHMETIC, N_FUNCTIONS = 4, 5  # to choose from, as by default
FEWEST_LEFT = 0.5  # rows that count as left over by a formula with as many numbers as there are rows


def description_length(candidate: Candidate, n_rows: int, floor: float) -> float:
    """Return the nats of a formula with its numbers, and of what it leaves over at the noise level fitted.

    Numbers that came out clean count like others: they were fitted all the same. The formula is the dearer, the fewer rows its numbers
    leave over, as in the corrected criterion of Akaike: eight numbers fit eight rows whatever the law.
    """
    program = candidate.program
    n_numbers = count_numbers(program)
    numbers = candidate.number_nats
    if numbers is None:
        numbers = 0.5 * n_numbers * math.log(n_rows)
    n_left = max(n_rows - n_numbers - 2, FEWEST_LEFT)
    return misfit(candidate, n_rows, floor) + (formula_nats(program) + numbers) * n_rows / n_left


def misfit(candidate: Candidate, n_rows: int, floor: float) -> float:
    """Return the nats of what a formula leaves over, up to a constant that is the same for all formulas."""
    return n_rows * math.log(max(candidate.loss, floor, 1e-300))


def formula_nats(program: Program) -> float:
    """Return the nats of a formula without the values of its numbers.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> few, many = Vocabulary(("x", "y")), Vocabulary(tuple("abcdefgwxyz"))
        >>> [round(formula_nats(parse_expression("x*y", words)), 1) for words in (few, many)]
        [5.3, 8.0]
        >>> round(formula_nats(parse_expression("sin(x)", few)), 1)
        5.5
    """
    return sum(token_cost(token, program.vocabulary) * _token_nats(token, program) for token in program.tokens)


def _token_nats(token: int, program: Program) -> float:
    kind = token >> tk.KIND_SHIFT
    if kind not in (tk.OPERATOR, tk.POWER):
        return math.log((len(program.vocabulary.variables) + 1) / LEAF_SHARE)
    if is_function(token):
        return math.log(N_FUNCTIONS / FUNCTION_SHARE)
    n_spellings = 2 if token in (tk.ADD, tk.MUL) else 1  # a + b is b + a
    return math.log(N_ARITHMETIC / ARITHMETIC_SHARE / n_spellings)


def count_numbers(program: Program) -> int:
    """Return how many numbers stand in a formula, fitted or clean."""
    return sum(token >> tk.KIND_SHIFT in (tk.CONSTANT, tk.LITERAL) for token in program.tokens)
