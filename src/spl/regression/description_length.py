"""Description lengths: the nats it takes to write down a formula, its numbers and its errors. The shortest description is chosen.

Every price is here, except two that the kernels need: that of a number to the precision the data gives it
(`kernels/programs/number_precision`), and the rough prices by which a tree search picks formulas to improve.

A formula is written token by token, in a code in which no formula is the beginning of another. So its price accounts for the number
of formulas tried: of all that the code can spell, few describe noise more briefly than a constant does, however long the search.
"""

import math

from spl.formulas.operators import is_function
from spl.formulas.program import Program, token_cost
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate

# Half of the tokens of a formula are leaves, because a tree of binary operators has one leaf more than operators. Of the others, one
# in four is a function. The prices were designed on 73 tables of noise, 60 random formulas with noise of 1 and 10 %, and 22 runs of
# the noise grid, with all formulas that the searches met: prices within half a nat of these change at most one table and one formula.
LEAF_SHARE, ARITHMETIC_SHARE, FUNCTION_SHARE = 1 / 2, 3 / 8, 1 / 8
N_ARITHMETIC, N_FUNCTIONS = 4, 5  # operators to choose from by default
MIN_ROWS_LEFT = 0.5  # for formulas with as many numbers as there are rows
# An equation of a system is priced by its cost. A function costs extra: without that, functions replaced terms that they hardly differ
# from on the data, such as 21.6*sin(0.09*y) for 2*y. The size was set by judgement, not tuned.
EQUATION_TOKEN_NATS, EQUATION_FUNCTION_NATS = 0.75, 2.5
TINY_LOSS = 1e-300  # a smaller one has no logarithm


def description_length(candidate: Candidate, n_rows: int, floor: float) -> float:
    """Return the nats of a formula with its numbers, and of its errors at the noise level fitted.

    Round numbers count like others, because they were fitted too. The fewer rows its numbers leave over, the more a formula costs, as
    in Akaike's corrected criterion: eight numbers fit eight rows whatever the law.
    """
    return misfit(candidate, n_rows, floor) + formula_price(candidate, n_rows)


def plain_length(candidate: Candidate, n_rows: int, floor: float) -> float:
    """Return the nats of a formula with its numbers, and of its errors, however few rows its numbers leave over.

    The difference of two formulas says how much likelier the data makes one of them. To choose a formula, `description_length` is more
    careful. As odds, it would be far too sure: of 40 tables with 15 rows, it gave the true law odds below 1 to 400 in 7.
    """
    return misfit(candidate, n_rows, floor) + _plain_price(candidate, n_rows)


def formula_price(candidate: Candidate, n_rows: int) -> float:
    """Return the nats of a formula with its numbers, more if they leave few rows over."""
    n_left = max(n_rows - count_numbers(candidate.program) - 2, MIN_ROWS_LEFT)
    return _plain_price(candidate, n_rows) * n_rows / n_left


def _plain_price(candidate: Candidate, n_rows: int) -> float:
    numbers = candidate.number_nats
    if numbers is None:
        numbers = typical_number_nats(count_numbers(candidate.program), n_rows)
    return formula_nats(candidate.program) + numbers


def bayes_criterion(candidate: Candidate, n_rows: int, floor: float) -> float:
    """Return half the Bayesian information criterion, with each unit of cost and each constant as a parameter."""
    n_parameters = candidate.program.cost + candidate.program.n_constants
    return misfit(candidate, n_rows, floor) + typical_number_nats(n_parameters, n_rows)


def equation_nats(program: Program, n_observations: int) -> float:
    """Return the nats of an equation of a system with its numbers.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> [equation_nats(parse_expression(text, Vocabulary(("x",))), 1) for text in ("x*x", "sin(x)")]
        [2.25, 4.0]
    """
    numbers = typical_number_nats(program.n_constants, n_observations)
    return EQUATION_TOKEN_NATS * program.cost + EQUATION_FUNCTION_NATS * count_functions(program) + numbers


def misfit(candidate: Candidate, n_rows: int, floor: float) -> float:
    """Return the nats of the errors of a formula, up to a constant that is the same for all formulas."""
    return n_rows * math.log(max(candidate.loss, floor, TINY_LOSS))


def typical_number_nats(n_numbers: int, n_rows: int) -> float:
    """Return the nats of numbers whose standard errors shrink with the square root of the rows, as they usually do."""
    return 0.5 * n_numbers * math.log(n_rows)


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
    """Return how many numbers appear in a formula, fitted or round."""
    return sum(token >> tk.KIND_SHIFT in (tk.CONSTANT, tk.LITERAL) for token in program.tokens)


def count_functions(program: Program) -> int:
    """Return how many functions appear in a formula; powers with a fitted exponent are functions, signs and whole powers are not.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> count_functions(parse_expression("sin(x) - x**0.3/x**2", Vocabulary(("x",))))
        2
    """
    return sum(map(is_function, program.tokens))
