"""Formulas of dimensionless groups as formulas of the columns, with as few factors as possible.

A part of such a formula is a tree times powers of the repeating columns. Products, powers and roots pass these powers on. The terms of
a sum must have the same ones: each takes what it has in excess. So `m*v**2*(g*h/v**2 + 1/2)` comes out as `m*(g*h + v**2/2)`.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from spl.formulas.operators import BY_OPCODE
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, exponent_of, make_token
from spl.formulas.tree import Tree, constant_tree
from spl.kernels.programs import tokens as tk
from spl.units.dimension import exact_fraction
from spl.units.groups import Group, Groups, Powers

NEAR_ONE = 1e-12  # a factor this close to 1 is rounding error
ONE = 2**4 * 3**2 * 5 * 7 * 11  # the power 1 in what follows: whole numbers are faster than fractions
HALF = ONE // 2
SUMS = (tk.ADD, tk.SUB, tk.MIN, tk.MAX)

WholePowers = tuple[int, ...]  # of the repeating columns, in units of 1/ONE
Merge = Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a formula: a tree times a number times powers of the sizes of the repeating columns."""

    tree: Tree | None  # None is 1
    powers: WholePowers
    factor: float = 1.0


def to_columns(program: Program, groups: Groups, vocabulary: Vocabulary) -> Program | None:
    """Return a formula of groups as one of the columns; None if it gets too long, or needs an absolute value to be right.

    Args:
        program: its variables are the groups.
        groups: what the groups are.
        vocabulary: of the columns; numbers that it does not have are added.

    Examples:
        >>> import numpy as np
        >>> from spl.formulas.text import parse_expression
        >>> from spl.units.groups import choose_groups
        >>> from spl.units.table_units import read_table_units
        >>> units = read_table_units({"m": "kg", "v": "m/s", "c": "m/s"}, "J", names=["m", "v", "c"])
        >>> groups = choose_groups(units, np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]))
        >>> found = parse_expression("C/sqrt(1 - 1/(c*c))", Vocabulary(groups.names, (1.0,))).with_constants([2.0])
        >>> to_columns(found, groups, Vocabulary(units.names))
        Program('2/sqrt(1/(v*v) - 1/(c*c))*(m*v)')
    """
    for number in program.vocabulary.literals:
        vocabulary = vocabulary.with_literal(number)
    has_terms = any(token in SUMS for token in program.tokens)
    writings = [
        _Writer(groups, program.vocabulary, vocabulary, merge).write(program)
        for merge in ((min, max) if has_terms else (min,))
    ]
    possible = [writing for writing in writings if writing is not None]
    return min(possible, key=lambda writing: writing.cost, default=None)


class _Writer:
    """Writes one formula; `merge` says which powers the terms of a sum leave in front of it."""

    def __init__(self, groups: Groups, own: Vocabulary, vocabulary: Vocabulary, merge: Merge) -> None:
        self._groups, self._own, self._vocabulary, self._merge = groups, own, vocabulary, merge
        self._none: WholePowers = (0,) * len(groups.repeating)

    def write(self, program: Program) -> Program | None:
        """Return the formula of the columns."""
        parts: list[Part] = []
        numbers = list(program.constants)
        try:
            for token in reversed(program.tokens):
                arguments = [parts.pop() for _ in range(self._own.arity_of(token))]
                parts.append(self._make_leaf(token, numbers) if not arguments else self._apply(token, arguments))
            whole = parts.pop()
            tree = self._finish(self._multiply(whole, self._write_divisor()))
        except _NotWritableError:
            return None
        tokens, constants = tree.tokens(), tree.numbers()
        is_short = len(tokens) <= tk.MAX_PROGRAM_LENGTH and len(constants) <= tk.MAX_CONSTANTS
        if not is_short or not all(map(math.isfinite, constants)):
            return None
        return Program(tokens, self._vocabulary, constants)

    def _write_divisor(self) -> Part:
        """Return what the target is divided by to become a pure number."""
        units, repeating = self._groups.units, self._groups.repeating
        factor = 1.0 / units.target.factor
        for column, power in zip(repeating, self._groups.target, strict=True):
            factor *= units.columns[column].factor ** float(power)
        return Part(None, _to_whole(self._groups.target), factor)

    def _make_leaf(self, token: int, numbers: list[float]) -> Part:
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.CONSTANT:
            return Part(constant_tree(numbers.pop()), self._none)
        if kind == tk.LITERAL:
            number = self._own.literals[payload]
            return Part(None if number == 1.0 else self._literal(number), self._none)
        if not self._groups.groups:
            return Part(None, self._none)  # the column of ones
        return self._write_group(self._groups.groups[payload])

    def _write_group(self, group: Group) -> Part:
        units, repeating = self._groups.units, self._groups.repeating
        factor = units.columns[group.column].factor
        for column, power in zip(repeating, group.powers, strict=True):
            factor /= units.columns[column].factor ** float(power)
        powers = tuple(-power for power in _to_whole(group.powers))
        return Part(Tree(make_token(tk.VARIABLE, group.column)), powers, factor)

    def _apply(self, token: int, arguments: list[Part]) -> Part:
        """Return an operator of parts, with the powers and numbers that can be taken out in front of it."""
        if token == tk.MUL:
            return self._multiply(*arguments)
        if token == tk.DIV:
            return self._divide(*arguments)
        if token in SUMS:
            return self._add(token, *arguments)
        degree = self._degree_of(token, arguments)
        if degree is not None:
            base = arguments[0]
            inner = Tree(token, (self._or_one(base.tree), *(self._or_one(part.tree) for part in arguments[1:])))
            return Part(inner, tuple(_times(power, degree) for power in base.powers), base.factor ** float(degree))
        own = token if token in BY_OPCODE or token >> tk.KIND_SHIFT else self._own_token(token)
        return Part(Tree(own, tuple(self._finish(part) for part in arguments)), self._none)

    def _own_token(self, token: int) -> int:
        return self._vocabulary.operator_token(self._own.operator_of(token))

    def _degree_of(self, token: int, arguments: list[Part]) -> Fraction | None:
        """Return d if the operator takes a positive factor f out of its first argument as f**d."""
        if token >> tk.KIND_SHIFT == tk.POWER:
            return exact_fraction(exponent_of(token) or 0.0)
        if token == tk.POW:
            exponent = arguments[1].tree
            if exponent is None or exponent.token >> tk.KIND_SHIFT != tk.LITERAL or arguments[1].factor != 1.0:
                return None
            return exact_fraction(self._vocabulary.literals[exponent.token & tk.PAYLOAD_MASK])
        degree = BY_OPCODE[token].traits.degree if token in BY_OPCODE else None
        return None if degree is None else exact_fraction(degree)

    def _multiply(self, left: Part, right: Part) -> Part:
        powers = tuple(a + b for a, b in zip(left.powers, right.powers, strict=True))
        factor = left.factor * right.factor
        if left.tree is None or right.tree is None:
            return Part(left.tree or right.tree, powers, factor)
        return Part(Tree(tk.MUL, (left.tree, right.tree)), powers, factor)

    def _divide(self, left: Part, right: Part) -> Part:
        powers = tuple(a - b for a, b in zip(left.powers, right.powers, strict=True))
        factor = left.factor / right.factor
        if right.tree is None:
            return Part(left.tree, powers, factor)
        return Part(Tree(tk.DIV, (self._or_one(left.tree), right.tree)), powers, factor)

    def _add(self, token: int, left: Part, right: Part) -> Part:
        """Return a sum, with the powers in front that both terms share; each keeps what it has in excess."""
        shared = tuple(self._merge(a, b) for a, b in zip(left.powers, right.powers, strict=True))
        trees = []
        for term in (left, right):
            factor = term.factor / left.factor
            excess = tuple(power - common for power, common in zip(term.powers, shared, strict=True))
            trees.append(self._finish(Part(term.tree, excess, 1.0 if abs(factor - 1.0) < NEAR_ONE else factor)))
        return Part(Tree(token, (trees[0], trees[1])), shared, left.factor)

    def _finish(self, part: Part) -> Tree:
        """Return a part as one tree, with its powers and its number written out."""
        factor = part.factor
        for sign, power in zip(self._groups.signs, part.powers, strict=True):
            if sign < 0 and power % (2 * ONE) == ONE:
                factor = -factor  # the size of a negative column is the column times -1
        tree = part.tree
        above = self._write_powers([max(power, 0) for power in part.powers])
        below = self._write_powers([max(-power, 0) for power in part.powers])
        if abs(factor - 1.0) >= NEAR_ONE:
            if tree is not None and tree.token == CONSTANT_TOKEN:
                tree = constant_tree(tree.number * factor)
            else:
                number = constant_tree(factor)
                tree = number if tree is None else Tree(tk.MUL, (number, tree))
        if above is not None:
            tree = above if tree is None else Tree(tk.MUL, (tree, above))
        if below is not None:
            tree = Tree(tk.DIV, (self._or_one(tree), below))
        return self._or_one(tree)

    def _write_powers(self, powers: Sequence[int]) -> Tree | None:
        """Return the product of powers of the repeating columns, all exponents 0 or more; None for 1."""
        factors: list[Tree] = []
        halves: list[Tree] = []
        for column, sign, power in zip(self._groups.repeating, self._groups.signs, powers, strict=True):
            if not power:
                continue
            base = Tree(make_token(tk.VARIABLE, column))
            whole, rest = divmod(power, ONE)
            if (sign == 0 and (rest or whole % 2 == 1)) or (sign < 0 and rest):
                raise _NotWritableError  # it would need the absolute value of a column
            factors += [base] * whole
            if rest == HALF:
                halves.append(base)
            elif rest:
                factors.append(Tree(tk.POW, (base, self._literal(rest / ONE))))
        if halves:
            factors.append(Tree(tk.SQRT, (_product(halves),)))
        return _product(factors) if factors else None

    def _or_one(self, tree: Tree | None) -> Tree:
        return self._literal(1.0) if tree is None else tree

    def _literal(self, number: float) -> Tree:
        self._vocabulary = self._vocabulary.with_literal(number)
        return Tree(self._vocabulary.literal_token(number))


class _NotWritableError(Exception):
    """A formula that needs what cannot be written."""


def _to_whole(powers: Powers) -> WholePowers:
    return tuple(_times(ONE, power) for power in powers)


def _times(power: int, degree: Fraction) -> int:
    whole, rest = divmod(power * degree.numerator, degree.denominator)
    if rest:
        raise _NotWritableError  # such as the sixty-fourth root of a column
    return whole


def _product(factors: Sequence[Tree]) -> Tree:
    product = factors[-1]
    for factor in reversed(factors[:-1]):
        product = Tree(tk.MUL, (factor, product))
    return product
