"""Builds a grammar from a list of operators and what is known about the formula.

The constraints are those of the SPL paper (appendix B): what may be inside trigonometric functions, logarithms and roots,
whether these may be nested, and which whole numbers are leaves.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from spl.errors import GrammarError, shorten
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_text import read_grammar
from spl.formulas.operators import BUILT_IN, POWER_NAME, SPELLINGS, Binding, Operator, find_operator
from spl.formulas.text import MAX_POWER, quote_name
from spl.kernels.programs import tokens as tk

DEFAULT_OPERATORS = ("+", "-", "*", "/", "sqrt", "exp", "log", "sin", "cos")  # unless the user names others

TRIGONOMETRIC = tuple(row.name for row in BUILT_IN.values() if row.traits.family == "trigonometric")
LOGARITHMS_AND_ROOTS = ("log", "sqrt", "cbrt")
INSIDES = ("anything", "variables", "polynomials")
MAX_MONOMIALS = 1_000
_START_NAMES = ("f", "formula", "start")
_ARGUMENT_NAMES = ("arg", "argument", "inner")
_UNNESTED_NAMES = ("g", "plain", "simple")


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraints:
    """What is known about the formula before the search, apart from its operators and the data."""

    constants: bool = True
    inside: str = "anything"  # of trigonometric functions; "polynomials" also holds for logarithms and roots
    max_power: int = 3  # total degree of those polynomials
    nesting: bool = True  # whether trigonometric functions, logarithms and roots may be nested
    integers: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.inside not in INSIDES:
            raise GrammarError(f"`inside` must be 'anything', 'variables' or 'polynomials'; got {self.inside!r}.")
        if not _is_whole(self.max_power) or not 1 <= self.max_power <= MAX_POWER:
            raise GrammarError(f"`max_power` must be a whole number from 1 to {MAX_POWER}; got {self.max_power!r}.")
        for number in self.integers:
            if not _is_whole(number) or abs(number) > 2**53:
                raise GrammarError(f"`integers` must be whole numbers that fit a float; one of them is {number!r}.")


def build_grammar(operators: Sequence[str | Operator], variables: Sequence[str], constraints: Constraints) -> Grammar:
    """Return the grammar of all formulas that use the operators and obey the constraints. See `Grammar.from_operators`."""
    if isinstance(operators, str | Operator) or not operators:
        raise GrammarError(
            f"`operators` must be a list with at least one operator, such as ['+', '*', 'sin']; got {operators!r}."
        )
    _check_variables(variables)
    own = tuple(dict.fromkeys(item for item in operators if isinstance(item, Operator) and item.opcode < 0))
    templates = list(dict.fromkeys(_find_template(item, own) for item in operators))
    return read_grammar(_Builder(templates, variables, own, constraints).write(), own, tuple(variables))


def write_symbol(
    symbol: str, operators: Sequence[str | Operator], variables: Sequence[str], *, has_constants: bool = True
) -> str:
    """Return the rules of a symbol for all formulas of the operators over the variables, as one line of text.

    Examples:
        >>> write_symbol("a", ["+", "sin"], ["T"])
        'a -> a + a | sin(a) | C*a | T | C'
    """
    own = tuple(dict.fromkeys(item for item in operators if isinstance(item, Operator) and item.opcode < 0))
    templates = list(dict.fromkeys(_find_template(item, own) for item in operators))
    return _Builder(templates, variables, own, Constraints(constants=has_constants), start=symbol).write()


@dataclass(frozen=True, slots=True)
class _Template:
    """An operator's name and its text, with `{}` for each argument."""

    name: str
    text: str

    def of(self, symbol: str) -> str:
        """Return the text with the symbol for each argument."""
        return self.text.replace("{}", symbol)


def _find_template(item: str | Operator, own: tuple[Operator, ...]) -> _Template:
    power = POWER_NAME.fullmatch(item) if isinstance(item, str) else None
    if power and 2 <= int(power[1]) <= MAX_POWER:
        return _Template(f"**{int(power[1])}", f"{{}}**{power[1]}")
    if not isinstance(item, str | Operator):
        raise GrammarError(f"An operator must be a name, a sign or an `Operator`; got {item!r}.")
    operator = find_operator(item, own) if isinstance(item, str) else item
    traits = operator.traits
    if operator.infix:
        gap = " " if traits.binding == Binding.SUM else ""
        return _Template(operator.name, f"{{}}{gap}{operator.infix}{gap}{{}}")
    if operator.opcode == tk.NEG:
        return _Template("neg", "-{}")
    if operator.opcode in (tk.SQUARE, tk.CUBE):
        return _Template(f"**{traits.degree:g}", f"{{}}**{traits.degree:g}")
    return _Template(operator.name, f"{operator.name}({', '.join(['{}'] * operator.arity)})")


class _Builder:
    """Writes the rules as text, with more than one symbol only if a constraint needs it."""

    def __init__(
        self,
        templates: Sequence[_Template],
        variables: Sequence[str],
        own: tuple[Operator, ...],
        constraints: Constraints,
        start: str | None = None,
    ) -> None:
        self._templates = templates
        self._variables = variables
        self._constraints = constraints
        taken = {*variables, *(operator.name for operator in own), *BUILT_IN, *SPELLINGS}
        self._start = start or _free_name(_START_NAMES, taken)
        self._argument = _free_name(_ARGUMENT_NAMES, taken | {self._start})
        self._unnested = _free_name(_UNNESTED_NAMES, taken | {self._start, self._argument})

    def write(self) -> str:
        """Return the text of the grammar."""
        lines = [
            self._write_line(self._start, [template.of(self._inside_of(template)) for template in self._templates])
        ]
        used = {self._inside_of(template) for template in self._templates}
        if self._unnested in used:
            operations = [
                t.of(self._unnested) for t in self._templates if t.name not in (*TRIGONOMETRIC, *LOGARITHMS_AND_ROOTS)
            ]
            lines.append(self._write_line(self._unnested, operations))
        if self._argument in used:
            lines.append(f"{self._argument} -> {' | '.join(self._write_argument())}")
        return "\n".join(lines)

    def _inside_of(self, template: _Template) -> str:
        """Return the symbol inside an operator of the start symbol."""
        inside = self._constraints.inside
        is_trigonometric = template.name in TRIGONOMETRIC
        if not is_trigonometric and template.name not in LOGARITHMS_AND_ROOTS:
            return self._start
        if inside == "polynomials" or (inside == "variables" and is_trigonometric):
            return self._argument
        return self._start if self._constraints.nesting else self._unnested

    def _write_line(self, symbol: str, operations: list[str]) -> str:
        constants = self._constraints.constants
        products = [f"C*{symbol}"] if constants else []
        leaves = [*map(quote_name, self._variables), *self._integers(), *(["C"] if constants else [])]
        return f"{quote_name(symbol)} -> {' | '.join([*operations, *products, *leaves])}"

    def _write_argument(self) -> Iterator[str]:
        """Yield the alternatives of an argument: variables or sums of monomials, with factors if constants are allowed."""
        name = self._argument
        is_polynomial = self._constraints.inside == "polynomials"
        if is_polynomial:
            yield f"{name} + {name}"
            yield f"{name} - {name}"
        if self._constraints.constants:
            yield f"C*{name}"
        if is_polynomial:
            yield from dict.fromkeys(["1", *self._integers()])
            yield from _write_monomials(self._variables, self._constraints.max_power)
        else:
            yield from map(quote_name, self._variables)
            yield from self._integers()

    def _integers(self) -> list[str]:
        return [str(number) for number in dict.fromkeys(map(int, self._constraints.integers))]


def _write_monomials(variables: Sequence[str], max_power: int) -> Iterator[str]:
    """Yield all products of the variables up to a degree."""
    n_monomials = math.comb(len(variables) + max_power, max_power) - 1
    if n_monomials > MAX_MONOMIALS:
        raise GrammarError(
            f"Polynomials of degree {max_power} in {len(variables)} variables have {n_monomials} terms; at most "
            f"{MAX_MONOMIALS} are possible. Lower `max_power`, or leave out variables."
        )
    for degree in range(1, max_power + 1):
        for factors in combinations_with_replacement(variables, degree):
            powers = {name: factors.count(name) for name in factors}
            yield "*".join(quote_name(name) + (f"**{power}" if power > 1 else "") for name, power in powers.items())


def _check_variables(variables: Sequence[str]) -> None:
    if isinstance(variables, str) or not variables:
        raise GrammarError(f"`variables` must be a list with at least one column; got {variables!r}.")
    seen: set[str] = set()
    for name in variables:
        if not isinstance(name, str):
            raise GrammarError(f"The name of a column must be text; got {name!r}.")
        if name in seen:
            raise GrammarError(f"There are two columns '{shorten(name)}'. Give each its own name.")
        seen.add(name)


def _free_name(names: tuple[str, ...], taken: set[str]) -> str:
    """Return the first unused name, or a numbered one."""
    numbered = (f"{names[0]}{number}" for number in range(1, len(taken) + 2))
    return next(name for name in (*names, *numbered) if name not in taken)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
