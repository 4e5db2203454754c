"""Equations with rates on both sides, solved for the rates: M(x) x' = r(x).

In mechanics, equations are linear in the accelerations. So each program splits into a rest and a factor for each rate, and the
equations are solved exactly, by Cramer's rule, into ordinary programs. Everything behind (integration, export, printing) then works
on an explicit system. A constant of one equation may appear several times in the solved ones: `constant_numbers` says which it is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from spl.errors import ExpressionError
from spl.formulas.program import Program, Vocabulary, join_programs
from spl.formulas.shared_vocabulary import merge_vocabularies, translate
from spl.formulas.system import System, rate_names
from spl.formulas.tidying.tidy import tidy
from spl.kernels.programs import tokens as tk

MAX_COUPLED = 4  # rates that depend on each other: the solved equations of more would be very long
_ONE = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class RateForm:
    """A program as a rest plus a sum of factors times rates, none of which contains a rate; None is 0."""

    rest: Program | None
    factors: Mapping[int, Program]  # by the number of the rate


@dataclass(frozen=True, slots=True, eq=False)
class SolvedRates:
    """The explicit form of a system, and which of its constants each constant of the explicit programs is."""

    system: System
    constant_numbers: tuple[NDArray[np.int64], ...]  # one array per program, in the order of its constants


def split_rates(program: Program, n_columns: int) -> RateForm | None:
    """Return a program as a linear function of the rates, the variables from `n_columns` on; None if it is not linear in them.

    Linear means by its structure: rates are added, and multiplied or divided by what contains no rate.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> words = Vocabulary(("x", "y'"))
        >>> form = split_rates(parse_expression("cos(x)*(x - 2*y')", words), 1)
        >>> to_text(form.rest), to_text(form.factors[0])
        ('cos(x)*x', '-(cos(x)*2)')
        >>> split_rates(parse_expression("sin(y')", words), 1) is None
        True
    """
    return _Splitter(program, n_columns).split(0)


def is_linear_in_rates(program: Program, n_columns: int) -> bool:
    """Return whether a program is linear in the rates, the variables from `n_columns` on."""
    return split_rates(program, n_columns) is not None


def solve_rates(system: System) -> SolvedRates:
    """Return an implicit system solved for its rates, with the values of its constants; an explicit one as it is.

    Raises an error if an equation is not linear in the rates, or too many rates depend on each other.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> names = ("x", "y", "x'", "y'")
        >>> programs = (parse_expression("x - C*y'", Vocabulary(names)), parse_expression("y + x'", Vocabulary(names)))
        >>> system = System(("x", "y"), (), programs, is_implicit=True).with_constants([0.5])
        >>> solved = solve_rates(system)
        >>> solved.system.equations()
        ['(x - 0.5*y)/(1 + 0.5)', '(y + x)/(1 + 0.5)']
        >>> [numbers.tolist() for numbers in solved.constant_numbers]
        [[0, 0], [0]]
    """
    if not system.is_implicit:
        ends = np.cumsum([0, *(program.n_constants for program in system.programs)])
        return SolvedRates(system, tuple(map(np.arange, ends[:-1], ends[1:])))
    numbered = _solve_numbered(system.with_constants(np.arange(system.n_constants)))
    numbers = tuple(np.array(program.constants, np.int64) for program in numbered)
    values = system.constants
    programs = (program.with_constants(values[k]) for program, k in zip(numbered, numbers, strict=True))
    return SolvedRates(replace(system, programs=tuple(programs), is_implicit=False), numbers)


def can_be_solved(system: System) -> bool:
    """Return whether a system is linear in its rates, and few enough of them depend on each other, to be solved for them.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> programs = [parse_expression(text, Vocabulary(("x", "y", "x'", "y'"))) for text in ("y'**2", "x", "x - y'")]
        >>> [can_be_solved(System(("x", "y"), (), (each, programs[1]), is_implicit=True)) for each in (programs[0], programs[2])]
        [False, True]
    """
    try:
        solve_rates(system)
    except ExpressionError:
        return False
    return True


def explicit_system(system: System) -> System:
    """Return the equations solved for the rates as people would write them; an explicit system as it is.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> names = ("x", "y", "x'", "y'")
        >>> programs = (parse_expression("x - 0.5*y'", Vocabulary(names)), parse_expression("y + x'", Vocabulary(names)))
        >>> explicit_system(System(("x", "y"), (), programs, is_implicit=True)).equations(3)
        ['(x - 0.5*y)/1.5', '(x + y)/1.5']
    """
    if not system.is_implicit:
        return system
    solved = solve_rates(system).system
    return replace(solved, programs=tuple(map(tidy, solved.programs)))


def rate_matrix(system: System) -> list[list[Program | None]]:
    """Return the factor of each rate in each equation, [D][D], over all variables of the system; None is 0."""
    forms = _split_all(system.programs, system)
    return [[form.factors.get(rate) for rate in range(len(forms))] for form in forms]


def name_coupled(system: System) -> list[tuple[str, ...]]:
    """Return the groups of states whose rates depend on each other.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> names = ("x", "y", "z", "x'", "y'", "z'")
        >>> programs = tuple(parse_expression(text, Vocabulary(names)) for text in ("x - y'", "y + x'", "x'"))
        >>> name_coupled(System(("x", "y", "z"), (), programs, is_implicit=True))
        [('x', 'y')]
    """
    groups = _order_groups(_split_all(system.programs, system))
    return [tuple(system.states[k] for k in group) for group in groups if len(group) > 1]


# ---- solving -------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _solve_numbered(system: System) -> tuple[Program, ...]:
    """Return the explicit programs of a system; constants are carried along, and may appear several times."""
    words = merge_vocabularies([program.vocabulary for program in system.programs]).with_literal(_ONE)
    forms = _split_all([translate(program, words) for program in system.programs], system)
    algebra = _Algebra(words)
    solved: dict[int, Program | None] = {}
    for group in _order_groups(forms):
        if len(group) > MAX_COUPLED:
            names = ", ".join(rate_names(tuple(system.states[k] for k in group), system.order))
            raise ExpressionError(
                f"{len(group)} rates depend on each other: {names}. At most {MAX_COUPLED} can be solved for. "
                "Leave some of them out of the grammars."
            )
        rests = [_substitute(forms[k], solved, group, algebra) for k in group]
        solved.update(zip(group, _solve_group(forms, group, rests, algebra), strict=True))
    explicit = replace(words, variables=system.columns)
    programs = (solved[k] or algebra.zero() for k in range(len(forms)))
    return tuple(
        replace(program, vocabulary=replace(program.vocabulary, variables=explicit.variables)) for program in programs
    )


def _split_all(programs: Sequence[Program], system: System) -> list[RateForm]:
    forms = []
    for state, (name, program) in enumerate(zip(system.states, programs, strict=True)):
        form = split_rates(program, len(system.columns))
        if form is None:
            raise ExpressionError(
                f"The equation of {name} is not linear in the rates, so it cannot be solved for them: {program!r}."
            )
        if state in form.factors:
            raise ExpressionError(f"The equation of {name} contains the rate that it gives: {program!r}.")
        forms.append(form)
    return forms


def _order_groups(forms: Sequence[RateForm]) -> list[tuple[int, ...]]:
    """Return the equations in groups that depend on each other, each group after those that it needs."""
    reached = [_reach(forms, k) for k in range(len(forms))]
    groups = {
        tuple(j for j in range(len(forms)) if j == k or (j in reached[k] and k in reached[j]))
        for k in range(len(forms))
    }
    return sorted(groups, key=lambda group: (len(reached[group[0]] | {*group}), group))


def _reach(forms: Sequence[RateForm], start: int) -> set[int]:
    """Return the rates that the equation of a state needs, directly or through others."""
    reached: set[int] = set()
    todo = [start]
    while todo:
        new = forms[todo.pop()].factors.keys() - reached
        reached |= new
        todo.extend(new)
    return reached


def _substitute(
    form: RateForm, solved: Mapping[int, Program | None], group: Sequence[int], algebra: "_Algebra"
) -> Program | None:
    """Return the rest of an equation with the rates outside its group put in."""
    rest = form.rest
    for rate, factor in form.factors.items():
        if rate not in group:
            rest = algebra.add(rest, algebra.multiply(factor, solved[rate]))
    return rest


def _solve_group(
    forms: Sequence[RateForm], group: Sequence[int], rests: Sequence[Program | None], algebra: "_Algebra"
) -> Iterator[Program | None]:
    """Yield the rates of a group by Cramer's rule: (I - B) x' = r."""
    matrix = [
        [algebra.one() if row == rate else algebra.negate(forms[row].factors.get(rate)) for rate in group]
        for row in group
    ]
    below = algebra.determinant(matrix)
    for place in range(len(group)):
        replaced = [[*row[:place], rest, *row[place + 1 :]] for row, rest in zip(matrix, rests, strict=True)]
        yield algebra.divide(algebra.determinant(replaced), below)


class _Algebra:
    """Sums and products of programs over one vocabulary, in which None is 0."""

    def __init__(self, words: Vocabulary) -> None:
        self._words = words
        self._one = Program((words.literal_token(_ONE),), words)

    def one(self) -> Program:
        return self._one

    def zero(self) -> Program:
        return join_programs(tk.SUB, self._one, self._one)

    def add(self, left: Program | None, right: Program | None) -> Program | None:
        if left is None or right is None:
            return left if right is None else right
        if right.tokens[0] == tk.NEG:
            return join_programs(tk.SUB, left, right.part(1))
        return join_programs(tk.ADD, left, right)

    def negate(self, program: Program | None) -> Program | None:
        if program is None:
            return None
        if program.tokens[0] == tk.NEG:
            return program.part(1)
        return Program((tk.NEG, *program.tokens), program.vocabulary, program.constants)

    def multiply(self, left: Program | None, right: Program | None) -> Program | None:
        if left is None or right is None:
            return None
        if left == self._one or right == self._one:
            return right if left == self._one else left
        if left.tokens[0] == tk.NEG:
            return self.negate(self.multiply(left.part(1), right))
        if right.tokens[0] == tk.NEG:
            return self.negate(self.multiply(left, right.part(1)))
        return join_programs(tk.MUL, left, right)

    def divide(self, above: Program | None, below: Program | None) -> Program | None:
        if below is None:
            raise ExpressionError("The equations cannot be solved for the rates: one of them repeats another.")
        return above if above is None or below == self._one else join_programs(tk.DIV, above, below)

    def determinant(self, matrix: Sequence[Sequence[Program | None]]) -> Program | None:
        """Expand along the first row."""
        if not matrix:
            return self._one
        total: Program | None = None
        for place, factor in enumerate(matrix[0]):
            if factor is not None:
                minor = self.determinant([[*row[:place], *row[place + 1 :]] for row in matrix[1:]])
                term = self.multiply(factor, minor)
                total = self.add(total, self.negate(term) if place % 2 else term)
        return total


# ---- splitting -----------------------------------------------------------------------------------


class _Splitter:
    """Splits one program."""

    def __init__(self, program: Program, n_columns: int) -> None:
        words = program.vocabulary.with_literal(_ONE)
        self._program = replace(program, vocabulary=words)
        self._n_columns = n_columns
        self._algebra = _Algebra(words)

    def split(self, at: int) -> RateForm | None:
        token = self._program.tokens[at]
        if self._is_rate(token):
            return RateForm(None, {(token & tk.PAYLOAD_MASK) - self._n_columns: self._algebra.one()})
        part = self._program.part(at)
        if not any(map(self._is_rate, part.tokens)):
            return RateForm(part, {})
        forms = [self.split(argument) for argument in self._program.arguments_of(at)]
        if any(form is None for form in forms):
            return None
        return self._join(token, [form for form in forms if form is not None])

    def _is_rate(self, token: int) -> bool:
        return token >> tk.KIND_SHIFT == tk.VARIABLE and token & tk.PAYLOAD_MASK >= self._n_columns

    def _join(self, token: int, forms: Sequence[RateForm]) -> RateForm | None:
        """Return an operator applied to forms of which at least one has a rate; None if the result is not linear."""
        algebra = self._algebra
        match token, forms:
            case tk.NEG, [form]:
                return _map_form(form, algebra.negate)
            case tk.ADD, [left, right]:
                return self._add(left, right)
            case tk.SUB, [left, right]:
                return self._add(left, _map_form(right, algebra.negate))
            case tk.MUL, [left, right] if not left.factors:
                return _map_form(right, lambda part: algebra.multiply(left.rest, part))
            case tk.MUL, [left, right] if not right.factors:
                return _map_form(left, lambda part: algebra.multiply(part, right.rest))
            case tk.DIV, [left, right] if not right.factors:
                return _map_form(left, lambda part: algebra.divide(part, right.rest))
        return None

    def _add(self, left: RateForm, right: RateForm) -> RateForm:
        rates = dict.fromkeys([*left.factors, *right.factors])
        factors = {rate: self._algebra.add(left.factors.get(rate), right.factors.get(rate)) for rate in rates}
        return RateForm(
            self._algebra.add(left.rest, right.rest), {rate: part for rate, part in factors.items() if part is not None}
        )


def _map_form(form: RateForm, change: Callable[[Program | None], Program | None]) -> RateForm:
    """Return a form with its rest and its factors changed."""
    factors = {rate: changed for rate, part in form.factors.items() if (changed := change(part)) is not None}
    return RateForm(change(form.rest), factors)
