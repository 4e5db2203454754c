"""Formulas as text, read and written in Python's infix syntax. Text is parsed, never evaluated.

Grammars read their right-hand sides with `read_tokens` too, so the same text gives the same tokens everywhere.
"""

import ast
import keyword
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from spl.errors import ExpressionError, OperatorError, shorten, suggest_name
from spl.formulas.infix import Piece, write_product, write_sum
from spl.formulas.operators import BUILT_IN, NAMED_POWERS, SPELLINGS, Binding, Operator, find_operator
from spl.formulas.primes import explain_rate, hide_primes, show_primes, without_primes
from spl.formulas.program import Program, Vocabulary
from spl.kernels.programs import tokens as tk

MAX_FORMULA_CHARACTERS = 10_000  # in one formula
MAX_POWER = 64  # the largest power that is one token; the kernels multiply it out

CONSTANT_TOKEN = tk.CONSTANT << tk.KIND_SHIFT
_NAMED_EXPONENTS: Final = {token: exponent for exponent, token in NAMED_POWERS.items()}
_SIGN_TOKENS: Final[dict[type[ast.operator], int]] = {
    ast.Add: tk.ADD,
    ast.Sub: tk.SUB,
    ast.Mult: tk.MUL,
    ast.Div: tk.DIV,
}
_SHOWN_WIDTH = 100  # characters of a line that an error message shows


class ReadingError(Exception):
    """A mistake in a text and its column; the caller turns it into an error for the user."""

    def __init__(self, what: str, column: int = 0) -> None:
        super().__init__(what)
        self.what = what
        self.column = column


@dataclass(frozen=True, slots=True)
class Names:
    """What names and numbers mean while a text is read."""

    leaf: Callable[[str, bool], int | None]  # the token of a name, given whether it is quoted; None if unknown
    literal: Callable[[float], int]  # the token of a number
    known: Sequence[str]  # names to suggest
    own: tuple[Operator, ...] = ()
    hole: Callable[[str, tuple[str | None, ...]], int] | None = None  # the token of `name(column, ...)`; see `forms`


def parse_expression(text: str, vocabulary: Vocabulary) -> Program:
    """Return the program of a formula. Its numbers are literals; each `C` is a constant without a value yet (NaN).

    Names that are not plain words are quoted: `'flow rate [m/s]' * 2`. A word may end in one or two primes: `x'`.

    Examples:
        >>> words = Vocabulary(variables=("x", "flow rate"))
        >>> to_text(parse_expression("2 * ('flow rate' - x) ** 2", words))
        "2*('flow rate' - x)**2"
        >>> parse_expression("sine(x)", words)
        Traceback (most recent call last):
        ...
        spl.errors.ExpressionError: Column 1: There is no operator 'sine'. Did you mean 'sin'?
            sine(x)
            ^
    """
    if not isinstance(text, str):
        raise ExpressionError(f"A formula must be text; got {text!r}.")
    literals = list(vocabulary.literals)
    variables = {name: place for place, name in enumerate(vocabulary.variables)}

    def leaf(name: str, quoted: bool) -> int | None:
        return make_token(tk.VARIABLE, variables[name]) if name in variables else None

    try:
        tokens = read_tokens(text, Names(leaf, number_literals(literals), vocabulary.variables, vocabulary.own))
    except ReadingError as error:
        raise ExpressionError(f"Column {error.column + 1}: {error.what}\n{point_at(text, error.column)}") from None
    n_constants = tokens.count(CONSTANT_TOKEN)
    if n_constants > tk.MAX_CONSTANTS:
        raise ExpressionError(
            f"A formula may have at most {tk.MAX_CONSTANTS} constants; this one has {n_constants}. Use fewer."
        )
    return Program(tokens, replace(vocabulary, literals=tuple(literals)), (math.nan,) * n_constants)


def make_token(kind: int, payload: int) -> int:
    """Return the token of a kind with a payload."""
    return kind << tk.KIND_SHIFT | payload


def number_literals(literals: list[float]) -> Callable[[float], int]:
    """Return a function from numbers to literal tokens; it appends new numbers to the list."""
    places = {number: place for place, number in reversed(list(enumerate(literals)))}

    def literal(number: float) -> int:
        if number not in places:
            places[number] = len(literals)
            literals.append(number)
        return make_token(tk.LITERAL, places[number])

    return literal


def power_token(exponent: float) -> int | None:
    """Return the single token that raises to a power, or None if only the general power does.

    Examples:
        >>> power_token(2.0) == tk.SQUARE, power_token(0.3)
        (True, None)
    """
    if exponent in NAMED_POWERS:
        return NAMED_POWERS[exponent]
    if math.isfinite(exponent) and exponent == int(exponent) and 2 <= abs(exponent) <= MAX_POWER:
        return make_token(tk.POWER, int(exponent) + tk.POWER_OFFSET)
    return None


def exponent_of(token: int) -> float | None:
    """Return the exponent of a token that raises to a fixed power, or None for any other token.

    Examples:
        >>> exponent_of(tk.SQRT), exponent_of(tk.SIN)
        (0.5, None)
    """
    if token >> tk.KIND_SHIFT == tk.POWER:
        return float((token & tk.PAYLOAD_MASK) - tk.POWER_OFFSET)
    return _NAMED_EXPONENTS.get(token)


def read_tokens(text: str, names: Names) -> tuple[int, ...]:
    """Return the prefix tokens of a formula in canonical form: `x**2` is a square, `-3` a number.

    Raises `ReadingError` at the first mistake.
    """
    reader = _Reader(text, names)
    open_nodes: list[ast.expr] = [reader.parse()]
    tokens: list[int] = []
    while open_nodes:
        step = reader.read(open_nodes.pop())
        tokens.extend(step.tokens)
        open_nodes.extend(reversed(step.arguments))
    return tuple(tokens)


class _Step(NamedTuple):
    """The tokens of one node of the syntax tree, and the nodes to read next."""

    tokens: tuple[int, ...]
    arguments: tuple[ast.expr, ...] = ()


class _Reader:
    """Turns the nodes of one text's syntax tree into tokens."""

    def __init__(self, text: str, names: Names) -> None:
        self._names = names
        self._source = hide_primes(text.strip().replace("\n", " ").replace("\r", " "))
        self._bytes = self._source.encode("utf-8", "replace")  # the parser counts columns in bytes
        self._indent = len(text) - len(text.lstrip())
        self._vocabulary = Vocabulary((), own=names.own)

    def parse(self) -> ast.expr:
        """Return the syntax tree of the text."""
        if not self._source:
            raise ReadingError("There is no formula here. Write one, for example `2 * x`.", self._indent)
        if len(self._source) > MAX_FORMULA_CHARACTERS:
            raise ReadingError(
                f"The formula has {len(self._source)} characters; at most {MAX_FORMULA_CHARACTERS} are read.",
                self._indent,
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about escapes in strings: here, these are quoted names
                return ast.parse(self._source, mode="eval").body
        except SyntaxError as error:
            column = min(max((error.offset or 1) - 1, 0), len(self._source)) + self._indent
            raise ReadingError(_explain_syntax(error.msg), column) from None
        except (RecursionError, MemoryError):
            raise ReadingError("The formula is nested too deeply to be read.", self._indent) from None
        except ValueError:
            raise ReadingError("The formula has characters that are not text.", self._indent) from None

    def read(self, node: ast.expr) -> _Step:
        """Return the tokens of a node and its arguments."""
        number = self._number(node)
        if number is not None:
            return _Step((self._names.literal(number),))
        match node:
            case ast.Name():
                return self._name(node, self._cut(node), quoted=False)
            case ast.Constant(value=str(name)):
                return self._name(node, name, quoted=True)
            case ast.BinOp(left, ast.Pow(), right):
                return self._power(left, right)
            case ast.BinOp(left, sign, right) if type(sign) in _SIGN_TOKENS:
                return _Step((_SIGN_TOKENS[type(sign)],), (left, right))
            case ast.BinOp(op=ast.BitXor()):
                raise self._error(node, "'^' is not a power here. Write `**`, as in `x**2`.")
            case ast.UnaryOp(ast.USub(), ast.UnaryOp(ast.USub(), twice)):
                return _Step((), (twice,))  # or many signs would print as brackets nested too deeply to be read again
            case ast.UnaryOp(ast.USub(), operand):
                return _Step((tk.NEG,), (operand,))
            case ast.UnaryOp(ast.UAdd(), operand):
                return _Step((), (operand,))
            case ast.Call():
                return self._call(node)
        known = "Use numbers, names, + - * / **, and operators such as sin(x)."
        raise self._error(node, f"`{shorten(self._cut(node))}` cannot be used in a formula. {known}")

    def _number(self, node: ast.expr) -> float | None:
        """Return the value of a number, with its minus sign if there is one, or None if the node is something else."""
        is_negative = False
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            is_negative, node = True, node.operand
        written = node.value if isinstance(node, ast.Constant) else None
        if isinstance(written, bool) or not isinstance(written, int | float):
            return None
        try:
            value = float(written)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            raise self._error(node, f"The number {shorten(self._cut(node))} is too large.")
        if is_negative and value == 0:
            return None  # the table of literals does not distinguish -0 from 0, so it is the negative of a number
        return -value if is_negative else value

    def _name(self, node: ast.expr, name: str, quoted: bool) -> _Step:
        if name == "C" and not quoted:
            return _Step((CONSTANT_TOKEN,))
        token = self._names.leaf(name, quoted)
        if token is not None:
            return _Step((token,))
        if not quoted and self._is_operator(name):
            raise self._error(node, f"Operator '{name}' needs its argument in brackets: {name}(...).")
        known = self._names.known
        listed = f" Known names: {', '.join(shorten(quote_name(other)) for other in known[:20])}." if known else ""
        remedy = explain_rate(name, known) or suggest_name(name, known) or listed
        raise self._error(node, f"There is no variable '{shorten(name)}'.{remedy}")

    def _power(self, base: ast.expr, exponent: ast.expr) -> _Step:
        number = self._number(exponent)
        if number == 1:
            return _Step((), (base,))
        token = None if number is None else power_token(number)
        return _Step((tk.POW,), (base, exponent)) if token is None else _Step((token,), (base,))

    def _call(self, node: ast.Call) -> _Step:
        if isinstance(node.func, ast.Attribute):
            raise self._error(
                node, f"`{shorten(self._cut(node.func))}` is not an operator. Write only `{node.func.attr}(...)`."
            )
        if not isinstance(node.func, ast.Name):
            raise self._error(node, f"`{shorten(self._cut(node.func))}` cannot be called. Write `*` to multiply.")
        name = show_primes(node.func.id)
        if name in self._names.known and not self._is_operator(name):
            raise self._error(node, f"'{name}' is not an operator. To multiply, write `{name} * (...)`.")
        if self._names.hole is not None and not self._is_operator(name):
            return self._hole(node, name, self._names.hole)
        try:
            operator = find_operator(name, self._names.own)
        except OperatorError as error:
            raise self._error(node, str(error)) from None
        usage = f"{name}(a)" if operator.arity == 1 else f"{name}(a, b)"
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self._error(node, f"Operator '{name}' takes plain arguments only: {usage}.")
        if len(node.args) != operator.arity:
            takes = "one argument" if operator.arity == 1 else "two arguments"
            raise self._error(node, f"Operator '{name}' takes {takes}; here it has {len(node.args)}. Write {usage}.")
        if operator.opcode == tk.POW:
            return self._power(*node.args)
        return _Step((self._vocabulary.operator_token(operator),), tuple(node.args))

    def _hole(self, node: ast.Call, name: str, token_of: Callable[[str, tuple[str | None, ...]], int]) -> _Step:
        """Return the token of a hole; what is no name in its brackets is None."""
        given = tuple(self._name_of(argument) for argument in node.args) + (None,) * len(node.keywords)
        try:
            return _Step((token_of(name, given),))
        except ReadingError as error:
            raise self._error(node, error.what) from None

    def _name_of(self, node: ast.expr) -> str | None:
        match node:
            case ast.Name():
                return self._cut(node)
            case ast.Constant(value=str(name)):
                return name
        return None

    def _is_operator(self, name: str) -> bool:
        try:
            find_operator(name, self._names.own)
        except OperatorError:
            return False
        return True

    def _cut(self, node: ast.expr) -> str:
        """Return the text of a node as written; Python normalizes some letters in names, such as the micro sign."""
        return show_primes(self._bytes[node.col_offset : node.end_col_offset].decode())

    def _error(self, node: ast.expr, what: str) -> ReadingError:
        return ReadingError(what, len(self._bytes[: node.col_offset].decode()) + self._indent)


def _explain_syntax(message: str) -> str:
    """Return a message of Python's parser in terms of formulas."""
    if message.startswith("invalid decimal literal"):
        return "A name follows a number directly. To multiply, write `2*x`."
    if message.startswith(("invalid syntax", "cannot assign", "unexpected EOF")):
        return "The formula cannot be read from here on. Is an operator or an argument missing, or one too many?"
    if message.startswith("Exceeds the limit"):
        return "A number has too many digits to be read."
    return f"The formula cannot be read: {message.removesuffix(' (detected at line 1)')}."


def point_at(line: str, column: int) -> str:
    """Return the line, or the part of it around a column, with a caret under that column.

    Examples:
        >>> print(point_at("x + * y", 4))
            x + * y
                ^
    """
    first = max(0, column - _SHOWN_WIDTH // 2)
    shown = "".join(letter if letter.isprintable() else " " for letter in line[first : first + _SHOWN_WIDTH])
    return f"    {shown.rstrip()}\n    {' ' * (column - first)}^"


def to_text(program: Program, digits: int | None = None) -> str:
    """Return the formula as text that `parse_expression` reads back to the same values.

    Constants are printed as numbers, with `digits` significant digits or as many as it takes to read the same number back.
    A constant without a finite value is printed as `C`.

    Examples:
        >>> words = Vocabulary(variables=("x",))
        >>> to_text(parse_expression("C * (x + -2.50)", words))
        'C*(x - 2.5)'
    """
    return write_tokens(program.tokens, program.vocabulary, program.constants, digits)


def write_tokens(
    tokens: Sequence[int], vocabulary: Vocabulary, constants: Sequence[float] = (), digits: int | None = None
) -> str:
    """Return the text of a prefix sequence of tokens; constants without a value are printed as `C`."""
    pieces: list[Piece] = []
    values = [math.nan] * (tokens.count(CONSTANT_TOKEN) - len(constants)) + list(constants)
    for token in reversed(tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        if kind == tk.VARIABLE:
            piece = Piece(quote_name(vocabulary.variables[payload]), Binding.ATOM)
        elif kind == tk.LITERAL:
            piece = _write_number(vocabulary.literals[payload], digits)
        elif kind == tk.CONSTANT:
            piece = _write_number(values.pop(), digits)
        else:
            piece = _write_operator(token, [pieces.pop() for _ in range(vocabulary.arity_of(token))], vocabulary)
        pieces.append(piece)
    return pieces.pop().text


def quote_name(name: str) -> str:
    """Return a name as formulas and grammars write it: in quotes unless it is one word, perhaps with primes.

    Examples:
        >>> quote_name("x1"), quote_name("flow rate"), quote_name("lambda"), quote_name("x'")
        ('x1', "'flow rate'", "'lambda'", "x'")
    """
    word = without_primes(name)
    is_word = (
        word.isidentifier()
        and not keyword.iskeyword(word)
        and word != "C"
        and word not in BUILT_IN
        and word not in SPELLINGS
    )
    return name if is_word else repr(name)


def _write_number(value: float, digits: int | None) -> Piece:
    if not math.isfinite(value):
        return Piece("C", Binding.ATOM)
    text = repr(abs(value)) if digits is None else f"{abs(value):.{digits}g}"
    positive = Piece(text.removesuffix(".0"), Binding.ATOM)
    return Piece(f"-{positive.text}", Binding.MINUS, positive) if math.copysign(1, value) < 0 else positive


def _write_operator(token: int, arguments: list[Piece], vocabulary: Vocabulary) -> Piece:
    match token, arguments:
        case tk.NEG, [only]:
            return Piece(f"-{only.within(Binding.POWER)}", Binding.MINUS, only._replace(negative=None))
        case tk.INV, [only]:
            return Piece(f"1/{only.within(Binding.POWER)}", Binding.PRODUCT)
    power = exponent_of(token)
    if power is not None and token != tk.SQRT:
        return Piece(f"{arguments[0].within(Binding.ATOM)}**{int(power)}", Binding.POWER)
    operator = vocabulary.operator_of(token)
    match operator.traits.binding, arguments:
        case Binding.SUM, [left, right]:
            return write_sum(token == tk.ADD, left, right)
        case Binding.PRODUCT, [left, right]:
            return write_product(operator.infix, left, right)
        case Binding.POWER, [base, exponent]:
            return Piece(f"{base.within(Binding.ATOM)}{operator.infix}{exponent.within(Binding.MINUS)}", Binding.POWER)
    return Piece(f"{operator.name}({', '.join(piece.text for piece in arguments)})", Binding.ATOM)
