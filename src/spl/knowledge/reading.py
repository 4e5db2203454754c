"""Reads statements about the shape of a law. They are parsed, never evaluated; an error says where and what to write instead.

statement = shape [ "for" range { ("and" | ",") range } ]
shape     = ("increasing" | "decreasing" | "convex" | "concave" | "even" | "odd") "in" column
          | "symmetric" "in" column "," column { "," column }
          | "depends" "on" column
          | "f" "->" formula "as" column "->" number
          | comparison of "f" or "f(column=number, ...)" with formulas of the columns
range     = comparison of a column with one or two numbers
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NoReturn, cast

from spl.errors import KnowledgeError, shorten, suggest_name
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
)
from spl.kernels.programs import tokens as tk
from spl.knowledge.statements import (
    Compared,
    Curved,
    Dependent,
    Limit,
    Mirrored,
    Monotone,
    Range,
    Relation,
    Statement,
    Symmetric,
)

MAX_CHARACTERS = 500  # in one statement
FORMULA_NAME = "f"  # what statements call the formula; the name of the target means the same
SHAPES: Final = ("increasing", "decreasing", "convex", "concave", "even", "odd", "symmetric", "depends")
_MIRRORED_RELATION: Final[dict[str, Relation]] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_NUMBERS: Final = {"inf": math.inf, "pi": math.pi}
_REMEDIES: Final = {  # for what people might write
    "positive": "f > 0",
    "negative": "f < 0",
    "nonnegative": "f >= 0",
    "monotone": "increasing in x",
    "monotonic": "increasing in x",
    "rising": "increasing in x",
    "falling": "decreasing in x",
    "bounded": "0 < f < 1",
    "periodic": "f > 0 (periods cannot be stated; allow sin or cos in the grammar)",
}
_EXAMPLES: Final = "Examples: `f > 0`, `increasing in x`, `f(x=0) = 0`, `even in x`, `f -> 0 as x -> inf`."
_LEXER: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<quoted>'[^']*'(?!\w)|"[^"]*")
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d]\w*'{0,2})
    |(?P<relation>->|<=|>=|==|!=|<|>|=)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a statement: what kind, its text, and where it begins and ends."""

    kind: Literal["quoted", "number", "word", "relation", "sign", "end"]
    text: str
    start: int
    end: int


def read_statement(text: str, columns: Sequence[str], target: str = "y") -> Statement:
    """Return a statement about a formula of these columns, which is called `f` or by the name of the target.

    Examples:
        >>> read_statement("increasing in T for p < 3", ["T", "p"])
        Monotone(text='increasing in T for p < 3', region=(Range(column='p', low=-inf, high=3.0),), column='T', sign=1)
        >>> read_statement("increasing in Temp", ["temp", "p"])
        Traceback (most recent call last):
        ...
        spl.errors.KnowledgeError: Column 15: There is no column 'Temp'. Did you mean 'temp'?
            increasing in Temp
                          ^
    """
    if not isinstance(text, str):
        raise KnowledgeError(f"A statement must be text, such as 'f > 0'; got {shorten(repr(text))}.")
    if len(text) > MAX_CHARACTERS:
        raise KnowledgeError(f"A statement has {len(text)} characters; at most {MAX_CHARACTERS} are read. Split it.")
    try:
        return _Reader(text, tuple(columns), target).read()
    except ReadingError as error:
        raise KnowledgeError(
            f"Column {error.column + 1}: {error.what}\n{point_at(text, error.column)}", column=error.column + 1
        ) from None


class _Reader:
    """Reads one statement, word by word."""

    def __init__(self, text: str, columns: tuple[str, ...], target: str) -> None:
        self._text, self._columns = text, columns
        self._formula_names = {FORMULA_NAME, *({target} if target not in columns else ())}
        found = (match for match in _LEXER.finditer(text) if match.lastgroup != "space")
        self._words = [
            _Word(cast(Literal["word"], match.lastgroup), match.group(), match.start(), match.end()) for match in found
        ]
        self._end = _Word("end", "", len(text), len(text))
        self._at = 0

    def read(self) -> Statement:
        first = self._peek()
        if first.kind == "end":
            self._fail(f"There is no statement here. {_EXAMPLES}", first)
        for word in self._words:
            if word.text == ";":
                self._fail("Write one statement per line, without ';'.", word)
        if first.kind == "word" and first.text.lower() in SHAPES:
            statement = self._shape(self._next().text.lower())
        else:
            statement = self._comparison()
        if self._peek().text == "for":
            self._next()
            statement = replace(statement, region=self._region())
        if self._peek().kind != "end":
            self._fail(
                f"The statement is complete before '{shorten(self._peek().text)}'. Write one statement per line; begin a part of the "
                "box with `for`, as in `increasing in x for x < 3`."
            )
        return statement

    # ---- shapes --------------------------------------------------------------------------------

    def _shape(self, word: str) -> Statement:
        if word == "depends":
            self._expect("on", "depends on x")
            return Dependent(self._text, self._column())
        self._expect("in", f"{word} in {'a, b' if word == 'symmetric' else 'x'}")
        match word:
            case "increasing" | "decreasing":
                return Monotone(self._text, self._column(), 1 if word == "increasing" else -1)
            case "convex" | "concave":
                return Curved(self._text, self._column(), 1 if word == "convex" else -1)
            case "even" | "odd":
                return Mirrored(self._text, self._column(), 1 if word == "even" else -1)
        return Symmetric(self._text, self._exchanged())

    def _exchanged(self) -> tuple[str, ...]:
        columns = [self._column()]
        while self._peek().text in (",", "and"):
            self._next()
            place = self._peek()
            column = self._column()
            if column in columns:
                self._fail(f"Column '{shorten(column)}' appears twice. Name each column once.", place)
            columns.append(column)
        if len(columns) < 2:
            self._fail("A symmetry needs two columns or more: `symmetric in a, b`.")
        return tuple(columns)

    # ---- comparisons and limits ------------------------------------------------------------------

    def _comparison(self) -> Statement:
        """Read parts that relations separate; `f` is one of them, at the beginning, in the middle or at the end."""
        parts, relations = [self._part()], []
        while self._peek().kind == "relation":
            relations.append(self._next())
            parts.append(self._part())
        places = [place for place, part in enumerate(parts) if self._is_formula(part)]
        if len(places) != 1 or len(parts) > 3:
            self._refuse(parts[0], len(places))
        [place] = places
        at = self._values_of(parts[place])
        if any(each.text == "->" for each in relations):
            return self._limit(parts, relations, at)
        if not relations:
            self._fail(f"What is known about `f`? {_EXAMPLES}", self._peek())
        if len(parts) == 3 and place != 1:
            self._fail("Between two limits, `f` stands in the middle: `0 < f < 1`.", parts[2][0])
        if len(parts) == 3 and relations[0].text.rstrip("=") != relations[1].text.rstrip("="):
            self._fail("Both signs must point the same way: `0 < f < 1`.", relations[1])
        sides = []
        for k, relation in enumerate(relations):
            name = self._relation(relation)
            side = parts[k] if k < place else parts[k + 1]
            sides.append((_MIRRORED_RELATION[name] if k < place else name, self._formula(side, at)))
        return Compared(self._text, tuple(sides), at)

    def _refuse(self, first: list[_Word], n_formulas: int) -> NoReturn:
        """Explain a text that is neither a shape nor a comparison of `f`."""
        if n_formulas > 1:
            self._fail("`f` appears more than once. Compare it with formulas of the columns.", first[0])
        word = first[0].text.lower()
        if word in _REMEDIES:
            self._fail(
                f"'{shorten(first[0].text)}' is not a statement. Write, for example, `{_REMEDIES[word]}`.", first[0]
            )
        near = suggest_name(word, SHAPES) if first[0].kind == "word" and len(first) > 1 else ""
        if near:
            self._fail(f"A statement cannot begin with '{shorten(first[0].text)}'.{near}", first[0])
        self._fail(f"A statement is about the formula, which is called `f`. {_EXAMPLES}", first[0])

    def _part(self) -> list[_Word]:
        """Return the words up to the next relation, `for` or `as`, outside of brackets."""
        part: list[_Word] = []
        depth = 0
        while self._peek().kind != "end":
            word = self._peek()
            is_outside = depth == 0 and (
                word.kind == "relation" or (word.kind == "word" and word.text in ("for", "as"))
            )
            if is_outside:
                break
            depth += (word.text == "(") - (word.text == ")")
            part.append(self._next())
        if not part:
            self._fail(f"Something is missing here. {_EXAMPLES}")
        return part

    def _is_formula(self, part: list[_Word]) -> bool:
        is_named = part[0].kind == "word" and part[0].text in self._formula_names
        return is_named and (len(part) == 1 or (part[1].text == "(" and part[-1].text == ")"))

    def _values_of(self, part: list[_Word]) -> tuple[tuple[str, float], ...]:
        """Return the values of columns in `f(x=0, y=1)`."""
        if len(part) == 1:
            return ()
        inner = _Reader(self._text, self._columns, FORMULA_NAME)
        inner._words, inner._end = part[2:-1], replace(part[-1], kind="end")
        values: dict[str, float] = {}
        while True:
            place = inner._peek()
            column = inner._column()
            if column in values:
                self._fail(f"Column '{shorten(column)}' appears twice.", place)
            if inner._peek().text not in ("=", "=="):
                self._fail("Name the column and its value, as in `f(x=0)`.", inner._peek())
            inner._next()
            values[column] = inner._number(may_be_infinite=False)
            if inner._peek().kind == "end":
                return tuple(values.items())
            if inner._peek().text != ",":
                self._fail("Separate columns by commas, as in `f(x=0, y=1)`.", inner._peek())
            inner._next()

    def _limit(self, parts: list[list[_Word]], relations: list[_Word], at: tuple[tuple[str, float], ...]) -> Limit:
        usage = "`f -> 0 as x -> inf`"
        if len(parts) != 2 or not self._is_formula(parts[0]) or at:
            self._fail(f"Write a limit as {usage}.", relations[0])
        if self._peek().text != "as":
            self._fail(f"When does `f` tend to that? Write {usage}.")
        self._next()
        column = self._column()
        if self._peek().text != "->":
            self._fail(f"Write what the column tends to: {usage}.")
        self._next()
        to = self._number()
        infinite = self._infinity(parts[1])
        value = infinite if infinite is not None else self._formula(parts[1], ((column, to),))
        return Limit(self._text, column, to, value)

    def _infinity(self, part: list[_Word]) -> float | None:
        words = [word.text for word in part]
        return {("inf",): math.inf, ("+", "inf"): math.inf, ("-", "inf"): -math.inf}.get(tuple(words))

    def _relation(self, word: _Word) -> Relation:
        if word.text == "!=":
            self._fail("`!=` cannot be stated. Use `<`, `<=`, `>`, `>=` or `=`.", word)
        return cast(Relation, "=" if word.text == "==" else word.text)

    def _formula(self, part: list[_Word], fixed: tuple[tuple[str, float], ...]) -> Program:
        """Return a part as a formula of the columns, without those that have given values."""
        literals: list[float] = []
        number = number_literals(literals)
        fixed_names = {name for name, _ in fixed}
        known = [name for name in self._columns if name not in fixed_names]

        def leaf(name: str, quoted: bool) -> int | None:
            if name in fixed_names:
                raise ReadingError(f"'{shorten(name)}' has a given value here. Write the value instead.")
            if name in self._columns:
                return make_token(tk.VARIABLE, self._columns.index(name))
            return number(_NUMBERS[name]) if name == "pi" and not quoted else None

        start, end = part[0].start, part[-1].end
        try:
            tokens = read_tokens(self._text[start:end], Names(leaf, number, known))
        except ReadingError as error:
            raise ReadingError(error.what, start + error.column) from None
        if CONSTANT_TOKEN in tokens:
            self._fail("`C` is a number that a search finds. Write a number or a formula of the columns.", part[0])
        return Program(tokens, Vocabulary(self._columns, tuple(literals)))

    # ---- regions ---------------------------------------------------------------------------------

    def _region(self) -> tuple[Range, ...]:
        ranges = [self._range()]
        while self._peek().text in ("and", ","):
            self._next()
            ranges.append(self._range())
        return tuple(ranges)

    def _range(self) -> Range:
        """Read `x < 3`, `3 > x` or `1 < x < 3`; whether the ends belong to it makes no difference."""
        start = self._peek()
        if start.kind in ("number", "sign") or (start.text in _NUMBERS and start.text not in self._columns):
            first = self._number()
            limits = [(_MIRRORED_RELATION[self._side()], first)]
            column = self._column()
            if self._peek().kind == "relation":
                limits.append((self._side(), self._number()))
        else:
            column = self._column()
            limits = [(self._side(), self._number())]
        low, high = -math.inf, math.inf
        for relation, number in limits:
            low = max(low, number) if relation in (">", ">=", "=") else low
            high = min(high, number) if relation in ("<", "<=", "=") else high
        if not low <= high:
            self._fail(f"No value of '{shorten(column)}' lies between {low:g} and {high:g}.", start)
        return Range(column, low, high)

    def _side(self) -> Relation:
        word = self._peek()
        if word.kind != "relation" or word.text in ("->", "!="):
            self._fail("Compare the column with a number, as in `for x < 3`.")
        return self._relation(self._next())

    # ---- words -----------------------------------------------------------------------------------

    def _peek(self) -> _Word:
        return self._words[self._at] if self._at < len(self._words) else self._end

    def _next(self) -> _Word:
        word = self._peek()
        self._at += 1
        return word

    def _expect(self, word: str, usage: str) -> None:
        if self._peek().text != word:
            self._fail(f"Write `{usage}`.")
        self._next()

    def _column(self) -> str:
        word = self._next()
        if word.kind not in ("word", "quoted"):
            listed = ", ".join(shorten(quote_name(name)) for name in self._columns[:20])
            self._fail(f"The name of a column is missing here. Columns: {listed}.", word)
        name = word.text[1:-1] if word.kind == "quoted" else word.text
        if name not in self._columns:
            listed = ", ".join(shorten(quote_name(other)) for other in self._columns[:20])
            alike = [other for other in self._columns if other.lower() == name.lower()]
            remedy = f" Did you mean '{alike[0]}'?" if alike else suggest_name(name, self._columns)
            remedy = remedy or f" Columns: {listed}."
            self._fail(f"There is no column '{shorten(name)}'.{remedy}", word)
        return name

    def _number(self, *, may_be_infinite: bool = True) -> float:
        start = self._peek()
        sign = 1.0
        while self._peek().text in ("+", "-"):
            sign *= -1.0 if self._next().text == "-" else 1.0
        word = self._next()
        if word.kind == "number":
            value = float(word.text)
            if not math.isfinite(value):
                self._fail(f"The number {shorten(word.text)} is too large.", word)
        elif word.kind == "word" and word.text in _NUMBERS:
            value = _NUMBERS[word.text]
        else:
            self._fail("A number is missing here.", word)
        if math.isinf(value) and not may_be_infinite:
            self._fail("The value must be finite. For infinity, write a limit: `f -> 0 as x -> inf`.", start)
        return sign * value

    def _fail(self, what: str, word: _Word | None = None) -> NoReturn:
        raise ReadingError(what, (self._peek() if word is None else word).start)
