"""Simple forms: short formulas with numbers in all natural places, tried on grouped data before any search.

In a table of experiments, the law of one group is usually short, but its numbers differ from group to group, which hides it from a
search on all rows; and the rows of one group may be too few. A form is fitted to several groups at once, so that noise counts less.
Forms are sums and products of two pieces, each a function of one column that the grammar has.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement, product

from spl.errors import SplError
from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression, quote_name

MAX_FORMS = 700
MAX_FORM_COLUMNS = 4

# Pieces of one column x with the numbers inside them; factors in front are added later.
PIECES = (
    "{x}",
    "exp(C*{x})",
    "sin(C*{x} + C)",
    "cos(C*{x} + C)",
    "1/({x} + C)",
    "{x}**2",
    "log({x})",
    "sqrt({x})",
    "exp(C/{x})",
    "1/{x}",
    "{x}**C",
    "exp(C*log({x}))",
    "log({x} + C)",
    "sqrt({x} + C)",
    "tanh(C*{x} + C)",
    "1/(exp(C*{x}) + C)",
    "exp(C*{x}**2 + C*{x})",
    "1/({x}**2 + C)",
    "1/({x}**2 + C*{x} + C)",
)


def simple_forms(
    columns: Sequence[str], derives: Callable[[Program], bool], own: tuple[Operator, ...] = ()
) -> list[Program]:
    """Return the forms that a grammar has, the shortest first.

    Args:
        columns: their names.
        derives: returns whether the grammar has a formula.
        own: operators of the user.

    Examples:
        >>> from spl.formulas.grammar import Grammar
        >>> from spl.formulas.text import to_text
        >>> grammar = Grammar.from_operators(["+", "*"], ["x"])
        >>> [to_text(form) for form in simple_forms(["x"], grammar.derives)][:3]
        ['C*x', 'x + C', 'C*(x*x)']
    """
    words = Vocabulary(tuple(columns), own=own)
    found: dict[tuple[int, ...], Program] = {}
    for text in _write_forms(columns):
        for spelling in _spellings(text):
            program = _read(spelling, words)
            if program is not None and derives(program):
                found.setdefault(program.tokens, program)
                break
    return sorted(found.values(), key=lambda each: (each.cost, each.n_constants))[:MAX_FORMS]


def _read(text: str, words: Vocabulary) -> Program | None:
    try:
        return parse_expression(text, words)
    except SplError:  # too many constants
        return None


def _spellings(text: str) -> Iterator[str]:
    """Yield the form, and with squares as products, if the grammar has no squares."""
    yield text
    yield _without_squares(text)


def _without_squares(text: str) -> str:
    while "**2" in text:
        end = text.index("**2")
        start = _start_of_operand(text, end)
        base = text[start:end]
        text = f"{text[:start]}({base}*{base}){text[end + 3 :]}"
    return text


def _start_of_operand(text: str, end: int) -> int:
    """Return where the operand that ends before a position begins: a bracket or a name."""
    if text[end - 1] == ")":
        depth, at = 0, end - 1
        while True:
            depth += (text[at] == ")") - (text[at] == "(")
            if not depth:
                return at
            at -= 1
    if text[end - 1] == "'":
        return text.rindex("'", 0, end - 1)
    at = end
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at


def _write_forms(columns: Sequence[str]) -> Iterator[str]:
    names = [quote_name(column) for column in columns[:MAX_FORM_COLUMNS]]
    pieces = {name: [piece.format(x=name) for piece in PIECES] for name in names}
    for name in names:
        yield from _with_numbers(pieces[name])
    for name in names:
        for a, b in combinations_with_replacement(pieces[name], 2):
            yield from _join(a, b)
    for one, other in combinations(names, 2):
        for a, b in product(pieces[one], pieces[other]):
            yield from _join(a, b)
    for chosen in combinations(names, 3):
        for a, b, c in product(*(pieces[name][:6] for name in chosen)):
            yield f"C*({a})*({b})*({c})"
            yield f"C*({a}) + C*({b}) + C*({c}) + C"


def _with_numbers(pieces: Sequence[str]) -> Iterator[str]:
    for piece in pieces:
        yield from (f"C*({piece})", f"({piece}) + C", f"C*({piece}) + C")


def _join(a: str, b: str) -> Iterator[str]:
    """Yield products and sums of two pieces with numbers."""
    yield f"C*({a})*({b})"
    yield f"C*({a})*({b}) + C"
    if a != b or "C" in a:
        yield f"C*({a}) + C*({b})"
        yield f"C*({a}) + C*({b}) + C"
