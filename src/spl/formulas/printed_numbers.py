"""The numbers of a formula as they are printed: each with its sign, its kind and the term it is part of."""

import math
import re
from dataclasses import dataclass, replace

from spl.formulas.program import Program
from spl.formulas.text import write_tokens
from spl.kernels.programs import tokens as tk

_NUMBERS = (tk.CONSTANT, tk.LITERAL)
_FACTOR_PARENTS = (tk.MUL, tk.DIV, tk.NEG)
FITTED_KIND, ROUNDED_KIND, EXACT_KIND = "fitted", "rounded", "exact"  # kinds of numbers
OWN_KIND = "own"  # the kind of numbers that each group or run has for itself


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number of a printed formula."""

    value: float  # with its printed sign
    term: str  # the product, sum or function it is part of, with the number in square brackets
    is_fitted: bool  # False if it is exact: given by the grammar, or rounded to a simple number

    def kind(self, standard_error: float) -> str:
        """Return the kind of the number: exact numbers have no standard error, rounded ones that from before they were rounded."""
        if self.is_fitted:
            return FITTED_KIND
        return EXACT_KIND if math.isnan(standard_error) else ROUNDED_KIND


def number_positions(program: Program) -> list[int]:
    """Return the positions of all numbers, fitted or exact. Exponents such as the 2 of `x**2` belong to the operator.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> number_positions(parse_expression("3*x**2 + C", Vocabulary(("x",))))
        [2, 5]
    """
    return [at for at, token in enumerate(program.tokens) if token >> tk.KIND_SHIFT in _NUMBERS]


def printed_numbers(program: Program, digits: int) -> list[PrintedNumber]:
    """Return the numbers of a formula in the order of `to_text`.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> words = Vocabulary(("x", "y"))
        >>> for number in printed_numbers(parse_expression("x*(0.55 - 0.028*y)", words), 6):
        ...     print(number.value, "in", number.term)
        0.55 in [0.55] - 0.028*y
        -0.028 in [-0.028]*y
    """
    return [_read_number(program, position, digits) for position in number_positions(program)]


def _read_number(program: Program, position: int, digits: int) -> PrintedNumber:
    token = program.tokens[position]
    is_fitted = token >> tk.KIND_SHIFT == tk.CONSTANT
    place = program.count_constants(position)
    value = program.constants[place] if is_fitted else program.vocabulary.literals[token & tk.PAYLOAD_MASK]
    name = _unused_name(program)
    start = _term_around(program, position)
    whole, term = (_write_with_name(program, at, position, value, name, digits) for at in (0, start))
    printed = abs(value) * (-1 if re.search(rf"- ?{name}", whole) else 1)
    return PrintedNumber(printed, _mark(term, name, f"[{printed:.{digits}g}]"), is_fitted)


def _unused_name(program: Program) -> str:
    name = "number"
    while any(name in variable for variable in program.vocabulary.variables):
        name += "_"
    return name


def _term_around(program: Program, position: int) -> int:
    """Return the position of the product around a number; if it is not a factor, of the sum or function it is an argument of."""
    parents = program.parents()
    at = position
    while parents[at] >= 0 and program.tokens[parents[at]] in _FACTOR_PARENTS:
        at = parents[at]
    return parents[at] if at == position and parents[at] >= 0 else at


def _write_with_name(program: Program, start: int, position: int, value: float, name: str, digits: int) -> str:
    """Return the text of the part at `start`, with a name for the digits of the number at a position."""
    words = replace(program.vocabulary, variables=(*program.vocabulary.variables, name))
    named = (words.variable_token(name),) if value >= 0 else (tk.NEG, words.variable_token(name))
    end = program.end_of(start)
    tokens = (*program.tokens[start:position], *named, *program.tokens[position + 1 : end])
    places = [program.count_constants(at) for at in (start, position, position + 1, end)]
    constants = (*program.constants[places[0] : places[1]], *program.constants[places[2] : places[3]])
    return write_tokens(tokens, words, constants, digits)


def _mark(term: str, name: str, marked: str) -> str:
    """Return the text of a term with its name replaced by the marked number, whose sign is inside the mark."""
    for before, after in ((f" - {name}", f" + {marked}"), (f"-{name}", marked), (name, marked)):
        if before in term:
            return term.replace(before, after)
    return term
