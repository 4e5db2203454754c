"""Reads a grammar from text: lines become alternatives, names become symbols and variables.

    f   -> f + f | f * f | sin(arg) | C * f | x      # one symbol per line, the start first
    arg -> arg + arg | x
         | x**2                                      # a line that begins with `|` continues

The arrow may also be written `→`. Alternatives are read like any other formula, by `formulas/text`; `Grammar` checks that
the rules make sense.
"""

import ast
import keyword
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from spl.errors import SHOWN_PATH, GrammarError, shorten
from spl.formulas.grammar import MAX_GRAMMAR_RULES, Grammar, Rule
from spl.formulas.operators import BUILT_IN, SPELLINGS, Operator
from spl.formulas.own_numbers import OWN_NAME
from spl.formulas.primes import hide_primes
from spl.formulas.program import Vocabulary
from spl.formulas.text import Names, ReadingError, make_token, number_literals, point_at, read_tokens
from spl.kernels.programs import tokens as tk

MAX_GRAMMAR_CHARACTERS = 1_000_000  # in one grammar
EXAMPLE_RULES = "`f -> f + f | C * f | x`"
_ARROWS = ("->", "→")
_OTHER_ARROWS = (
    "::=",
    ":=",
    "==>",
    "=>",
    "-->",
    "–>",
    "—>",
    "⇒",
    "⟶",
    "=",
    ":",
)  # as other tools write it; longer ones first
_OTHER_RULE = re.compile(  # a name and such an arrow; `C:\\rules.txt` is a path
    rf"""\s*(\w+|'[^']*'|"[^"]*")\s*({"|".join(_OTHER_ARROWS)})(?![\\/])"""
)


class _Part(NamedTuple):
    """A piece of the text and its place."""

    text: str
    line: str
    line_number: int
    column: int

    def error(self, what: str, column: int = 0) -> GrammarError:
        """Return an error that points at a column of this part."""
        at = self.column + column
        message = f"Line {self.line_number}, column {at + 1}: {what}\n{point_at(self.line, at)}"
        return GrammarError(message, line=self.line_number, column=at + 1)

    def cut(self, first: int, last: int) -> "_Part":
        """Return a piece of this part without surrounding blanks."""
        text = self.text[first:last]
        blanks = len(text) - len(text.lstrip())
        return self._replace(text=text.strip(), column=self.column + first + blanks)


class _Alternative(NamedTuple):
    """One right-hand side and the name of its symbol."""

    symbol: str
    part: _Part


def read_grammar(text: str, own: tuple[Operator, ...] = (), variables: tuple[str, ...] | None = None) -> Grammar:
    """Return the grammar that a text describes. See `Grammar.from_text`."""
    if not isinstance(text, str):
        raise GrammarError(f"A grammar must be text; got {type(text).__name__}.")
    if len(text) > MAX_GRAMMAR_CHARACTERS:
        raise GrammarError(f"The grammar has {len(text)} characters; at most {MAX_GRAMMAR_CHARACTERS} are read.")
    alternatives = list(_find_alternatives(text, own))
    if len(alternatives) > MAX_GRAMMAR_RULES:
        raise GrammarError(
            f"The grammar has {len(alternatives)} rules; at most {MAX_GRAMMAR_RULES} are possible. Use fewer."
        )
    symbols = {name: number for number, name in enumerate(dict.fromkeys(item.symbol for item in alternatives))}
    for name in variables or ():
        if name in symbols:
            raise GrammarError(f"'{shorten(name)}' has rules, but is also a column. Give the symbol another name.")
    words = _Words(symbols, own, variables)
    rules = tuple(words.read_rule(alternative) for alternative in alternatives)
    vocabulary = Vocabulary(tuple(words.variables), tuple(words.literals), own)
    return Grammar(tuple(symbols), rules, vocabulary)


def read_text_or_file(given: str, own: tuple[Operator, ...] = (), variables: Sequence[str] | None = None) -> Grammar:
    """Return the grammar of a text, which is either rules or the path of a file with rules. Rules have an arrow.

    Examples:
        >>> read_text_or_file("f -> x | C").symbols
        ('f',)
        >>> read_text_or_file("f.txt")
        Traceback (most recent call last):
        ...
        spl.errors.GrammarError: 'f.txt' is neither a file nor a grammar. Rules are written with an arrow: `f -> f + f | C * f | x`.
    """
    if not given.strip():
        raise GrammarError(f"`grammar` is empty. Write rules, such as {EXAMPLE_RULES}, or name a file that has them.")
    if not any(arrow in given for arrow in _ARROWS):
        if _is_file(given):
            return Grammar.from_file(given, own, variables)
        if not looks_like_rules(given):
            shown = shorten(given, SHOWN_PATH)
            raise GrammarError(
                f"'{shown}' is neither a file nor a grammar. Rules are written with an arrow: {EXAMPLE_RULES}."
            )
    return Grammar.from_text(given, own, variables)


def looks_like_rules(text: str) -> bool:
    """Return whether a text looks like rules, perhaps with another arrow, rather than the path of a file.

    Examples:
        >>> [looks_like_rules(text) for text in ("f -> x", "f = x", "rules/law=1.txt")]
        [True, True, False]
    """
    return any(sign in text for sign in (*_ARROWS, "\n", "|")) or _OTHER_RULE.match(text) is not None


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except (OSError, ValueError):  # too long, or not a path at all
        return False


class _Words:
    """The names and numbers read so far, each with its place."""

    def __init__(self, symbols: dict[str, int], own: tuple[Operator, ...], variables: tuple[str, ...] | None) -> None:
        self._symbols = symbols
        self._is_open = variables is None  # whether every new name is a variable
        self._operators = _operator_names(own)
        self.variables = {name: place for place, name in enumerate(variables or ())}
        self.literals: list[float] = []
        self._names = Names(self._leaf, number_literals(self.literals), [*symbols, *self.variables], own)

    def read_rule(self, alternative: _Alternative) -> Rule:
        """Return the rule of one alternative."""
        part = alternative.part
        try:
            tokens = read_tokens(part.text, self._names)
        except ReadingError as error:
            raise part.error(error.what, error.column) from None
        return Rule(self._symbols[alternative.symbol], tokens, part.text)

    def _leaf(self, name: str, quoted: bool) -> int | None:
        if name in self._symbols:
            return make_token(tk.SYMBOL, self._symbols[name])
        if name not in self.variables:
            is_own_number = name == OWN_NAME and not quoted  # who binds the grammar knows whether there are groups
            if not (self._is_open or is_own_number) or (name in self._operators and not quoted):
                return None
            self.variables[name] = len(self.variables)
        return make_token(tk.VARIABLE, self.variables[name])


def _operator_names(own: tuple[Operator, ...]) -> set[str]:
    return {*BUILT_IN, *SPELLINGS, *(operator.name for operator in own)}


def _find_alternatives(text: str, own: tuple[Operator, ...]) -> Iterator[_Alternative]:
    """Yield the alternatives of all lines, in order."""
    symbol: str | None = None
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        whole = _Part(line, line, number, 0)
        marks = _find_marks(whole)
        content = whole.cut(0, marks.end)
        if not content.text:
            continue
        if (other := _OTHER_RULE.match(content.text)) is not None:
            raise _explain_arrow(content, other)
        if marks.arrow is not None:
            symbol = _read_symbol(whole.cut(0, marks.arrow), own)
            first = marks.arrow_end
        elif symbol is not None and content.text.startswith("|"):
            first = content.column + 1
        else:
            raise content.error(
                "There is no `->`. Write `name -> formula | formula`, or begin with `|` to continue the rule above."
            )
        borders = [first - 1, *(bar for bar in marks.bars if bar >= first), marks.end]
        for before, after in pairwise(borders):
            part = whole.cut(before + 1, after)
            if not part.text:
                raise part.error(
                    f"An alternative of '{shorten(symbol)}' is empty. Write a formula, or delete the sign before it."
                )
            yield _Alternative(symbol, part)


def _explain_arrow(content: _Part, other: re.Match[str]) -> GrammarError:
    """Return the error for a rule with the wrong arrow, which shows the rule as it should be."""
    written = f"{other[1]} -> {content.text[other.end() :].strip()}".strip()
    return content.error(f"The arrow of a rule is `->`, not `{other[2]}`. Write `{shorten(written)}`.", other.start(2))


class _Marks(NamedTuple):
    """Where the arrow, bars and comment of a line are, outside quotes and brackets."""

    arrow: int | None
    arrow_end: int
    bars: tuple[int, ...]
    end: int  # where the comment begins or the line ends


def _find_marks(whole: _Part) -> _Marks:
    """Find the first arrow, the bars and the end of a line."""
    line = hide_primes(whole.line)
    arrow: int | None = None
    arrow_end = 0
    bars: list[int] = []
    depth = at = 0
    while at < len(line):
        letter = line[at]
        if letter == "#":
            break
        if letter in "'\"":
            at = _skip_quoted(whole, line, at)
            continue
        sign = next((sign for sign in _ARROWS if line.startswith(sign, at)), "")
        if sign:
            if arrow is not None:
                raise whole.error(f"This line has a second `{sign}`. Give each symbol its own line.", at)
            arrow, arrow_end = at, at + len(sign)
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "|" and depth <= 0:
            bars.append(at)
        at += 1
    return _Marks(arrow, arrow_end, tuple(bars), at)


def _skip_quoted(whole: _Part, line: str, begin: int) -> int:
    """Return the place after a quoted name."""
    at = begin + 1
    while at < len(line) and line[at] != line[begin]:
        at += 2 if line[at] == "\\" else 1
    if at >= len(line):
        raise whole.error("This quote is never closed.", begin)
    return at + 1


def _read_symbol(part: _Part, own: tuple[Operator, ...]) -> str:
    """Return the name on the left-hand side."""
    name = part.text
    if name[:1] in ("'", '"'):
        try:
            name = str(ast.literal_eval(name))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            raise part.error(f"The left-hand side must be one name; got {shorten(name)}.") from None
    elif not name.isidentifier() or keyword.iskeyword(name):
        what = f"it is `{shorten(name)}`" if name else "there is none"
        raise part.error(f"The left-hand side must be one name; {what}. Names that are not plain words need quotes.")
    if name == "C":
        raise part.error("A symbol cannot be named 'C', which is the constant to be fitted. Give it another name.")
    if name in _operator_names(own):
        raise part.error(f"A symbol cannot be named '{name}', which is an operator. Give it another name.")
    return name
