"""The form of a law whose parts are partly known: a formula with holes, `a(T)*exp(-b(p, T)) + C`.

A hole is a name with the columns that the part may use. A form becomes a grammar: its start symbol has one rule, the form itself, and
each hole is a symbol for all formulas of the operators over its columns. `form_parts` reads the parts out of a found formula.
"""

import difflib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from spl.errors import GrammarError, explain_unknown, shorten
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_rules import DEFAULT_OPERATORS, write_symbol
from spl.formulas.grammar_text import read_grammar
from spl.formulas.operators import BUILT_IN, SPELLINGS, Operator
from spl.formulas.own_numbers import OWN_NAME
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import (
    CONSTANT_TOKEN,
    Names,
    ReadingError,
    make_token,
    number_literals,
    point_at,
    quote_name,
    read_tokens,
    to_text,
)
from spl.kernels.programs import tokens as tk

MAX_HOLES = 8
EXAMPLE_FORM = "`a(T) * exp(-b(p, T)) + C`"
_START_NAMES = ("law", "formula", "start", "f")
_NEARLY_OPERATOR = 0.8  # similarity from which a name looks like an operator that was misspelled
_SHORTEST_SLIP = 3  # letters of a name that may be a misspelled operator


@dataclass(frozen=True, slots=True)
class Hole:
    """An unknown part of a form, and the columns that it may use.

    Examples:
        >>> Hole("b", ("p", "T")).text
        'b(p, T)'
    """

    name: str
    columns: tuple[str, ...]

    @property
    def text(self) -> str:
        """The hole as a form writes it."""
        return f"{quote_name(self.name)}({', '.join(map(quote_name, self.columns))})"


@dataclass(frozen=True, slots=True)
class Form:
    """A formula with holes. In `template`, each hole is a variable after those of the data.

    Examples:
        >>> form = Form.from_text("a(T) * exp(-b(p, T)) + C", ["p", "T"])
        >>> [hole.text for hole in form.holes]
        ['a(T)', 'b(p, T)']
        >>> print(form.grammar(["+", "*"]))
        law -> a*exp(-b) + C
        a   -> a + a | a*a | C*a | T | C
        b   -> b + b | b*b | C*b | p | T | C
    """

    text: str
    template: Program
    holes: tuple[Hole, ...]

    @classmethod
    def from_text(cls, text: str, columns: Sequence[str], own: Iterable[Operator] = ()) -> "Form":
        """Return the form in a text. `C` is a number to be fitted, `K` one that each group has for itself.

        Args:
            text: the form, such as `a(T) * exp(-b(p, T)) + C`; without holes, a formula of which only the numbers are unknown.
            columns: the columns of the data.
            own: operators of your own, such as a known part that is a Python function.

        Examples:
            >>> Form.from_text("a(T)*x", ["TT", "x"])
            Traceback (most recent call last):
            ...
            spl.errors.GrammarError: Column 1: Hole 'a' uses a column 'T' that does not exist. Did you mean 'TT'?
                a(T)*x
                ^
        """
        if not isinstance(text, str):
            raise GrammarError(f"A form must be text, such as {EXAMPLE_FORM}; got {type(text).__name__}.")
        return _FormReader(text, tuple(columns), tuple(own)).read()

    @property
    def hole_tokens(self) -> tuple[int, ...]:
        """The token of each hole in the template."""
        variables = self.template.vocabulary.variables
        first = len(variables) - len(self.holes)
        return tuple(make_token(tk.VARIABLE, first + place) for place in range(len(self.holes)))

    def is_start_of(self, grammar: Grammar) -> bool:
        """Return whether a grammar was made of this form, with whatever operators in the holes."""
        rules = [rule for rule in grammar.rules if rule.symbol == 0]
        names = [hole.name for hole in self.holes]
        return list(grammar.symbols[1:]) == names and [rule.text for rule in rules] == [to_text(self.template)]

    def grammar(self, operators: Sequence[str | Operator], *, constants: bool = True) -> Grammar:
        """Return the grammar of all formulas that have this form.

        Args:
            operators: those that holes may use. Your own ones that the form names are known parts: holes do not use them.
            constants: whether holes may have numbers to be fitted.
        """
        words = self.template.vocabulary
        columns = words.variables[: len(words.variables) - len(self.holes)]
        named = {words.operator_of(token) for token in self.template.tokens if _is_own(token)}
        usable = [operator for operator in operators if operator not in named] or list(DEFAULT_OPERATORS)
        taken = {*words.variables, *BUILT_IN, *SPELLINGS, *(operator.name for operator in words.own)}
        start = next(name for name in (*_START_NAMES, *(f"law{k}" for k in range(len(taken) + 1))) if name not in taken)
        lines = [f"{start} -> {to_text(self.template)}"]
        lines += [write_symbol(hole.name, usable, hole.columns, has_constants=constants) for hole in self.holes]
        return read_grammar("\n".join(lines), words.own, tuple(name for name in columns if name != OWN_NAME))


def find_columns(text: str, own: Iterable[Operator] = ()) -> tuple[str, ...]:
    """Return the names in a form that are neither holes nor operators, in the order in which they are read.

    Examples:
        >>> find_columns("a(T) * exp(-b(p, T)/x) + C")
        ('T', 'p', 'x')
    """
    if not isinstance(text, str):
        raise GrammarError(f"A form must be text, such as {EXAMPLE_FORM}; got {type(text).__name__}.")
    return _FormReader(text, (), tuple(own)).find_columns()


def _is_own(token: int) -> bool:
    return token >> tk.KIND_SHIFT == tk.OPERATOR and token >= tk.USER_UNARY


class _FormReader:
    """Reads one form; the holes are numbered in the order of the text."""

    def __init__(self, text: str, columns: tuple[str, ...], own: tuple[Operator, ...]) -> None:
        self._text, self._columns, self._own = text, columns, own
        self._holes: dict[str, Hole] = {}
        self._has_own_number = False

    def read(self) -> Form:
        """Return the form; raise a clear error at its first mistake."""
        literals: list[float] = []
        names = Names(self._leaf, number_literals(literals), self._columns, self._own, self._hole)
        try:
            _check_signs(self._text)
            tokens = read_tokens(self._text, names)
            self._check_sizes(tokens)
        except ReadingError as error:
            raise GrammarError(
                f"Column {error.column + 1}: {error.what}\n{point_at(self._text, error.column)}",
                line=1,
                column=error.column + 1,
            ) from None
        holes = tuple(self._holes.values())
        n_variables = len(self._columns)
        own_number = (OWN_NAME,) * self._has_own_number
        shift = n_variables + len(own_number)
        numbered = {_stand_in(place): make_token(tk.VARIABLE, shift + place) for place in range(len(holes))}
        variables = (*self._columns, *own_number, *self._holes)
        vocabulary = Vocabulary(variables, tuple(literals), self._own)
        tokens = tuple(numbered.get(token, token) for token in tokens)
        constants = (float("nan"),) * tokens.count(CONSTANT_TOKEN)
        return Form(self._text.strip(), Program(tokens, vocabulary, constants), holes)

    def find_columns(self) -> tuple[str, ...]:
        """Return the columns in the order in which they are read; a mistake is left to `read`."""
        found: dict[str, None] = {}

        def leaf(name: str, quoted: bool) -> int | None:
            is_operator = not quoted and (name in BUILT_IN or name in SPELLINGS)
            if is_operator or (name == OWN_NAME and not quoted):
                return None if is_operator else _stand_in(0)
            found.setdefault(name)
            return _stand_in(0)

        def hole(name: str, given: tuple[str | None, ...]) -> int:
            found.update(dict.fromkeys(column for column in given if column is not None))
            return _stand_in(0)

        with suppress(ReadingError):
            read_tokens(self._text, Names(leaf, number_literals([]), (), self._own, hole))
        return tuple(found)

    def _leaf(self, name: str, quoted: bool) -> int | None:
        if name in self._columns:
            return make_token(tk.VARIABLE, self._columns.index(name))
        if name == OWN_NAME and not quoted:
            self._has_own_number = True
            return make_token(tk.VARIABLE, len(self._columns))
        if not quoted and name.isidentifier() and name not in BUILT_IN and name not in SPELLINGS:
            hint = explain_unknown("column", name, [quote_name(column) for column in self._columns[:20]])
            example = quote_name(self._columns[0]) if self._columns else "x"
            raise ReadingError(f"{hint} For a number to be fitted write `C`, for an unknown part `{name}({example})`.")
        return None

    def _hole(self, name: str, given: tuple[str | None, ...]) -> int:
        """Return a stand-in for a hole, which gets its place among the variables when all names are known."""
        if name in ("C", OWN_NAME):
            raise ReadingError(
                f"'{name}' is a number to be fitted, so it cannot be a hole. Give the hole another name."
            )
        near = _nearest_operator(name, [*BUILT_IN, *SPELLINGS, *(operator.name for operator in self._own)])
        if near:
            raise ReadingError(
                f"There is no operator '{shorten(name)}'. Did you mean '{near}'? If it is an unknown part, give it another name."
            )
        if not name.isidentifier():
            raise ReadingError(f"A hole cannot be called '{shorten(name)}'. Use letters, digits and underscores only.")
        example = ", ".join(map(quote_name, self._columns[:2])) or "x"
        if not given:
            raise ReadingError(
                f"Hole '{shorten(name)}' has no columns. Name those that it may use, as in `{name}({example})`; for a number "
                "to be fitted, write `C`."
            )
        for column in given:
            self._check_column(name, column, example)
        if len(set(given)) < len(given):
            raise ReadingError(f"Hole '{shorten(name)}' names a column twice. Name each column once.")
        if name in self._holes:
            raise ReadingError(
                f"Hole '{shorten(name)}' appears twice, but each hole is found by itself, so the two might become different "
                "functions. Write it once, for example by factoring it out, or give the second one another name."
            )
        if len(self._holes) == MAX_HOLES:
            raise ReadingError(f"The form has more than {MAX_HOLES} holes. Use fewer.")
        self._holes[name] = Hole(name, tuple(column for column in given if column is not None))
        return _stand_in(len(self._holes) - 1)

    def _check_column(self, hole: str, column: str | None, example: str) -> None:
        if column is None:
            raise ReadingError(
                f"Hole '{shorten(hole)}' must be given names of columns, as in `{hole}({example})`, not an expression: the search "
                "finds that, too."
            )
        if column not in self._columns:
            near = explain_unknown("column", column, [quote_name(name) for name in self._columns[:20]])
            raise ReadingError(
                f"Hole '{shorten(hole)}' uses a column '{shorten(column)}' that does not exist.{near.partition('.')[2]}"
            )

    def _check_sizes(self, tokens: tuple[int, ...]) -> None:
        n_constants = tokens.count(CONSTANT_TOKEN)
        if n_constants > tk.MAX_CONSTANTS:
            raise ReadingError(f"A form may have at most {tk.MAX_CONSTANTS} constants; this one has {n_constants}.")
        if len(tokens) > tk.MAX_PROGRAM_LENGTH:
            raise ReadingError(
                f"The form has {len(tokens)} numbers, names and operators; at most {tk.MAX_PROGRAM_LENGTH} are possible."
            )


def _stand_in(place: int) -> int:
    """Return the token of a hole while the text is read."""
    return make_token(tk.SYMBOL, place)


def _check_signs(text: str) -> None:
    """Raise an error about signs that belong to rules or equations."""
    if "->" in text or "→" in text:
        raise ReadingError("A form is one formula, not rules. Pass rules as a grammar.", _find_first(text, ("->", "→")))
    bare = text.replace("==", "  ")
    if "=" in bare and not any(quote in text for quote in "'\""):
        raise ReadingError("A form is the right-hand side alone. Leave out what is before the '='.", bare.index("="))
    if "#" in text and not any(quote in text for quote in "'\""):
        raise ReadingError("A form has no comments. Delete the '#' and what follows.", text.index("#"))


def _find_first(text: str, signs: tuple[str, ...]) -> int:
    return min(text.index(sign) for sign in signs if sign in text)


def _nearest_operator(name: str, known: Sequence[str]) -> str:
    """Return the operator that a name misspells; empty if it is a name of its own."""
    words = [word for word in known if word.isidentifier()]
    for word in words:
        if word == name.lower():
            return word
    if len(name) < _SHORTEST_SLIP:
        return ""
    near = difflib.get_close_matches(name.lower(), words, n=1, cutoff=_NEARLY_OPERATOR)
    return near[0] if near else ""
