"""What the holes of a form became: the parts of a found formula, read out by matching it with the form.

A found formula is often spelled differently from its form: `T/exp(p)` has the form `a(T)*exp(-b(p))`. So terms and factors are matched
in any order, signs and inverses are moved, and what is left over goes to the holes that may have it. A reading counts only if the form
with these parts has the values of the formula. Where several are right, such as for a factor that two holes may have, one is taken.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from itertools import islice
from typing import Final

import numpy as np

from spl.formulas.forms import Form
from spl.formulas.operators import ODD_FUNCTIONS
from spl.formulas.program import Program, Vocabulary, join_programs
from spl.formulas.text import exponent_of
from spl.formulas.tidying.tidy import tidy
from spl.kernels.programs import tokens as tk

MAX_READINGS = 100  # that are compared with the formula
MAX_TERMS = 12  # of a sum or product that is matched in any order
_SYMMETRIC: Final = (tk.MIN, tk.MAX)

Agree = Callable[[Program, Program], bool]  # whether two formulas have the same values on the data
Filling = Mapping[int, Program]  # the part at each unknown place of the template


def find_parts(form: Form, program: Program, agree: Agree) -> dict[str, Program] | None:
    """Return what each hole of a form became in a formula, by its name; None if the formula cannot be read so.

    Args:
        form: the form.
        program: a formula of this form, in any spelling. Its variables are the columns, perhaps followed by numbers of groups.
        agree: whether two formulas have the same values.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> form = Form.from_text("a(T) * exp(-b(p)) + C", ["p", "T"])
        >>> found = parse_expression("3 + 2*T**2/exp(p/4)", Vocabulary(("p", "T")))
        >>> parts = find_parts(form, found, lambda one, other: True)
        >>> {name: to_text(part) for name, part in parts.items()}
        {'a': '2*T**2', 'b': 'p/4'}
    """
    filling = find_filling(form, program, agree)
    if filling is None:
        return None
    places = {token: place for place, token in enumerate(form.template.tokens)}
    pairs = zip(form.holes, form.hole_tokens, strict=True)
    return {hole.name: filling[places[token]] for hole, token in pairs}


def find_filling(form: Form, program: Program, agree: Agree) -> Filling | None:
    """Return what each hole and number of a form became in a formula, by its place in the template; None as in `find_parts`."""
    for filling in islice(_Matcher(form, program.vocabulary).match(0, program), MAX_READINGS):
        if agree(program, fill_form(form, filling, program.vocabulary)):
            tidied = {place: tidy(part) for place, part in filling.items()}
            return tidied if agree(program, fill_form(form, tidied, program.vocabulary)) else filling
    return None


def fill_form(form: Form, filling: Filling, words: Vocabulary) -> Program:
    """Return the form with parts in its unknown places, as a formula over a vocabulary with the same columns."""
    tokens: list[int] = []
    constants: list[float] = []
    own = form.template.vocabulary.literals
    for place, token in enumerate(form.template.tokens):
        if place in filling:
            part = filling[place]
            words = _join_words(words, part.vocabulary)
            tokens += [_translate(each, part.vocabulary, words) for each in part.tokens]
            constants += part.constants
        elif token >> tk.KIND_SHIFT == tk.LITERAL:
            words = words.with_literal(own[token & tk.PAYLOAD_MASK])
            tokens.append(words.literal_token(own[token & tk.PAYLOAD_MASK]))
        else:
            tokens.append(token)
    return Program(tuple(tokens), words, tuple(constants))


def _join_words(words: Vocabulary, other: Vocabulary) -> Vocabulary:
    for number in other.literals:
        words = words.with_literal(number)
    return words


def _translate(token: int, words: Vocabulary, other: Vocabulary) -> int:
    if token >> tk.KIND_SHIFT != tk.LITERAL:
        return token
    return other.literal_token(words.literals[token & tk.PAYLOAD_MASK])


class _Matcher:
    """Matches the template of a form with formulas over a vocabulary."""

    def __init__(self, form: Form, words: Vocabulary) -> None:
        self._template = form.template
        names = form.template.vocabulary.variables
        self._columns = tuple(name for name in names[: len(names) - len(form.holes)] if name in words.variables)
        self._numbers = frozenset(words.variables[len(self._columns) :])  # of groups
        self._allowed = {
            token: frozenset(hole.columns) | self._numbers
            for token, hole in zip(form.hole_tokens, form.holes, strict=True)
        }
        self._own_tokens = {
            tk.VARIABLE << tk.KIND_SHIFT | place for place, name in enumerate(names) if name not in self._columns
        } - self._allowed.keys()
        self._words = words

    def match(self, at: int, found: Program) -> Iterator[Filling]:
        """Yield the ways in which a formula has the form that begins at a place of the template."""
        token = self._template.tokens[at]
        allowed = self._allowed_at(at)
        if allowed is not None:
            if _names_in(found) <= allowed:
                yield {at: found}
        elif self._is_known(at):
            if _names_in(found) == _names_in(self._template.part(at)):
                yield {}
        elif token in (tk.ADD, tk.SUB, tk.NEG):
            yield from self._match_sum(at, found)
        elif token in (tk.MUL, tk.DIV, tk.INV):
            yield from self._match_product(at, found)
        else:
            yield from self._match_function(at, found)

    def _allowed_at(self, at: int) -> frozenset[str] | None:
        """Return the names that a hole or a number may have; None for any other place."""
        token = self._template.tokens[at]
        if token >> tk.KIND_SHIFT == tk.CONSTANT or token in self._own_tokens:
            return self._numbers
        return self._allowed.get(token)

    def _is_known(self, at: int) -> bool:
        """Return whether nothing is unknown in the part of the template at a place."""
        return all(self._allowed_at(place) is None for place in range(at, self._template.end_of(at)))

    def _known_part(self, at: int) -> Program:
        """Return a known part of the template as a formula over the vocabulary."""
        part = self._template.part(at)
        words = _join_words(self._words, part.vocabulary)
        return Program(tuple(_translate(token, part.vocabulary, words) for token in part.tokens), words)

    # ---- sums ----------------------------------------------------------------------------------------

    def _match_sum(self, at: int, found: Program) -> Iterator[Filling]:
        terms = [*_terms(self._template, at)]
        summands = [_signed(found.part(place), is_negative) for place, is_negative in _terms(found, 0)]
        if len(summands) > MAX_TERMS:
            return
        rigid = [term for term in terms if self._allowed_at(term[0]) is None]
        loose = [term for term in terms if self._allowed_at(term[0]) is not None]
        for filling, left in self._take_terms(rigid, summands):
            shared = self._share(left, [(place, is_negative) for place, is_negative in loose], _add, _negate, 0.0)
            if shared is not None:
                yield {**filling, **shared}

    def _take_terms(
        self, rigid: list[tuple[int, bool]], summands: list[Program]
    ) -> Iterator[tuple[Filling, list[Program]]]:
        """Yield the ways to give each term that is no hole one of the summands, with those that are left.

        A known term may also have been joined with others: then what is left lacks it.
        """
        if not rigid:
            yield {}, summands
            return
        place, is_negative = rigid[0]
        for k, summand in enumerate(summands):
            rest = [*summands[:k], *summands[k + 1 :]]
            for filling in self.match(place, _signed(summand, is_negative)):
                for more, left in self._take_terms(rigid[1:], rest):
                    yield {**filling, **more}, left
        if self._is_known(place):
            lacking = _signed(self._known_part(place), not is_negative)
            yield from self._take_terms(rigid[1:], [*summands, lacking])

    # ---- products ------------------------------------------------------------------------------------

    def _match_product(self, at: int, found: Program) -> Iterator[Filling]:
        wanted, factors = [*_factors(self._template, at)], [*_factors(found, 0)]
        if len(factors) > MAX_TERMS:
            return
        has_other_sign = _has_minus(self._template, at) != _has_minus(found, 0)
        given = [_inverted(found.part(place), is_below) for place, is_below in factors]
        if has_other_sign:
            given.append(_number(-1.0, self._words))
        rigid = [factor for factor in wanted if self._allowed_at(factor[0]) is None]
        loose = [factor for factor in wanted if self._allowed_at(factor[0]) is not None]
        for filling, left in self._take_factors(rigid, given):
            shared = self._share(left, loose, _multiply, _invert, 1.0)
            if shared is not None:
                yield {**filling, **shared}

    def _take_factors(
        self, rigid: list[tuple[int, bool]], given: list[Program]
    ) -> Iterator[tuple[Filling, list[Program]]]:
        """Yield the ways to give each factor that is no hole one of the given ones, or 1, with those that are left.

        A known factor may also have been joined with others: then what is left lacks it.
        """
        if not rigid:
            yield {}, given
            return
        place, is_below = rigid[0]
        choices = [(factor, [*given[:k], *given[k + 1 :]]) for k, factor in enumerate(given)]
        choices.sort(key=lambda choice: not _names_in(choice[0]))
        n_named = sum(bool(_names_in(factor)) for factor in given)
        choices.insert(n_named, (_number(1.0, self._words), given))
        for factor, rest in choices:
            for filling in self.match(place, _inverted(factor, is_below)):
                for more, left in self._take_factors(rigid[1:], rest):
                    yield {**filling, **more}, left
        if self._is_known(place):
            lacking = _inverted(self._known_part(place), not is_below)
            yield from self._take_factors(rigid[1:], [*given, lacking])

    def _share(
        self,
        left: list[Program],
        loose: list[tuple[int, bool]],
        join: Callable[[Program, Program], Program],
        turn: Callable[[Program], Program],
        nothing: float,
    ) -> Filling | None:
        """Return what is left over in the holes and numbers that may have it, first of all the numbers; None if nothing may."""
        given: dict[int, list[Program]] = {place: [] for place, _ in loose}
        by_room = sorted(loose, key=lambda item: self._template.tokens[item[0]] in self._allowed)
        for part in left:
            names = _names_in(part)
            taker = next((place for place, _ in by_room if names <= (self._allowed_at(place) or frozenset())), None)
            if taker is None:
                return None
            given[taker].append(part)
        filling: dict[int, Program] = {}
        for place, is_turned in loose:
            whole = reduce(join, given[place]) if given[place] else _number(nothing, self._words)
            filling[place] = turn(whole) if is_turned else whole
        return filling

    # ---- functions -----------------------------------------------------------------------------------

    def _match_function(self, at: int, found: Program) -> Iterator[Filling]:
        token = self._template.tokens[at]
        inner = self._template.arguments_of(at)
        if len(inner) == 2:
            yield from self._match_pair(at, found)
            return
        if found.tokens[0] == token:
            yield from self.match(inner[0], found.part(1))
            return
        if token in ODD_FUNCTIONS and found.tokens[0] == tk.NEG and found.tokens[1] == token:
            yield from self.match(inner[0], _negate(found.part(2)))
        argument = _logarithm(found, self._words) if token == tk.EXP else None
        if argument is not None:
            yield from self.match(inner[0], argument)

    def _match_pair(self, at: int, found: Program) -> Iterator[Filling]:
        token = self._template.tokens[at]
        left, right = self._template.arguments_of(at)
        exponent = exponent_of(found.tokens[0])
        if token == tk.POW and exponent is not None:
            pairs = [(found.part(1), _number(exponent, self._words))]
        elif found.tokens[0] == token:
            one, other = (found.part(place) for place in found.arguments_of(0))
            pairs = [(one, other), (other, one)] if token in _SYMMETRIC else [(one, other)]
        elif token == tk.POW:
            pairs = [(found, _number(1.0, self._words))]
        else:
            pairs = []
        for one, other in pairs:
            for filling in self.match(left, one):
                for more in self.match(right, other):
                    yield {**filling, **more}


# ---- formulas ----------------------------------------------------------------------------------------


def _names_in(program: Program) -> frozenset[str]:
    words = program.vocabulary
    return frozenset(
        words.variables[token & tk.PAYLOAD_MASK] for token in program.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE
    )


def _terms(program: Program, at: int, is_negative: bool = False) -> Iterator[tuple[int, bool]]:
    """Yield the place of each summand, and whether it is subtracted."""
    token = program.tokens[at]
    if token not in (tk.ADD, tk.SUB, tk.NEG):
        yield at, is_negative
        return
    for side, place in enumerate(program.arguments_of(at)):
        is_turned = token == tk.NEG or (token == tk.SUB and side == 1)
        yield from _terms(program, place, is_negative != is_turned)


def _factors(program: Program, at: int, is_below: bool = False) -> Iterator[tuple[int, bool]]:
    """Yield the place of each factor, and whether it divides. Minus signs are left out: see `_has_minus`."""
    token = program.tokens[at]
    if token not in (tk.MUL, tk.DIV, tk.INV, tk.NEG):
        yield at, is_below
        return
    for side, place in enumerate(program.arguments_of(at)):
        is_turned = token == tk.INV or (token == tk.DIV and side == 1)
        yield from _factors(program, place, is_below != is_turned)


def _has_minus(program: Program, at: int) -> bool:
    """Return whether the product of the factors has the opposite sign of the formula."""
    token = program.tokens[at]
    if token not in (tk.MUL, tk.DIV, tk.INV, tk.NEG):
        return False
    is_odd = token == tk.NEG
    for place in program.arguments_of(at):
        is_odd ^= _has_minus(program, place)
    return is_odd


def _number(value: float, words: Vocabulary) -> Program:
    words = words.with_literal(value)
    return Program((words.literal_token(value),), words)


def _value(program: Program) -> float | None:
    """Return the value of a single number; None for any other formula."""
    if len(program) != 1:
        return None
    token = program.tokens[0]
    if token >> tk.KIND_SHIFT == tk.CONSTANT:
        return program.constants[0]
    return program.vocabulary.literals[token & tk.PAYLOAD_MASK] if token >> tk.KIND_SHIFT == tk.LITERAL else None


def _with_value(program: Program, value: float) -> Program:
    """Return a single number with another value: a constant stays one."""
    return program.with_constants(np.array([value])) if program.constants else _number(value, program.vocabulary)


def _signed(program: Program, is_negative: bool) -> Program:
    return _negate(program) if is_negative else program


def _negate(program: Program) -> Program:
    value = _value(program)
    if value:
        return _with_value(program, -value)
    if program.tokens[0] == tk.NEG:
        return program.part(1)
    return Program((tk.NEG, *program.tokens), program.vocabulary, program.constants)


def _inverted(program: Program, is_below: bool) -> Program:
    return _invert(program) if is_below else program


def _invert(program: Program) -> Program:
    value = _value(program)
    if value in (1.0, -1.0):
        return program
    if program.tokens[0] == tk.INV:
        return program.part(1)
    if program.tokens[0] == tk.DIV and _value(program.part(1)) == 1.0:
        return program.part(2)
    return _join(tk.DIV, _number(1.0, program.vocabulary), program)


def _add(one: Program, other: Program) -> Program:
    return _join(tk.ADD, one, other)


def _multiply(one: Program, other: Program) -> Program:
    return _join(tk.MUL, one, other)


def _join(token: int, one: Program, other: Program) -> Program:
    words = _join_words(one.vocabulary, other.vocabulary)
    tokens = tuple(_translate(each, other.vocabulary, words) for each in other.tokens)
    one = Program(one.tokens, words, one.constants)
    return join_programs(token, one, Program(tokens, words, other.constants))


def _logarithm(program: Program, words: Vocabulary) -> Program | None:
    """Return the logarithm of a product of exponentials and positive numbers; None for any other formula."""
    terms: list[Program] = []
    if _has_minus(program, 0):
        return None
    for place, is_below in _factors(program, 0):
        factor = program.part(place)
        value = _value(factor)
        if value is not None:
            if not value > 0:
                return None
            terms.append(_signed(_with_value(factor, math.log(value)), is_below))
        elif factor.tokens[0] == tk.EXP:
            terms.append(_signed(factor.part(1), is_below))
        else:
            return None
    return reduce(_add, terms)
