"""Formulas as text: what is read, what is refused and how, and that text and program convert both ways."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.own_operators import BLEND, SINC

from spl.errors import ExpressionError
from spl.formulas.operators import BUILT_IN
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import exponent_of, parse_expression, power_token, quote_name, to_text, write_tokens
from spl.kernels.programs import tokens as tk

COLUMNS = ("x", "y", "flow rate [m/s]", "lambda", "µ", "C", "sin", 'it\'s "odd"\n\\')
WORDS = Vocabulary(COLUMNS, literals=(0.0, 1.0, -2.5, 3.0, 1e-300, -0.0), own=(SINC, BLEND))
X, Y = WORDS.variable_token("x"), WORDS.variable_token("y")
C = tk.CONSTANT << tk.KIND_SHIFT
POINTS = np.linspace(-2.3, 3.1, 7)


def read(text: str) -> Program:
    return parse_expression(text, WORDS)


def literals_of(program: Program) -> list[float]:
    kinds = [token for token in program.tokens if token >> tk.KIND_SHIFT == tk.LITERAL]
    return [program.vocabulary.literals[token & tk.PAYLOAD_MASK] for token in kinds]


def evaluate(program: Program) -> np.ndarray:
    """The slow, obvious value of a program: column k is the points times k + 1."""
    values, constants = [], list(program.constants)
    for token in reversed(program.tokens):
        kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
        arguments = [values.pop() for _ in range(program.vocabulary.arity_of(token))]
        match kind:
            case tk.VARIABLE:
                value = POINTS * (payload + 1)
            case tk.LITERAL:
                value = np.full_like(POINTS, program.vocabulary.literals[payload])
            case tk.CONSTANT:
                value = np.full_like(POINTS, constants.pop())
            case tk.POWER:
                value = arguments[0] ** float(payload - tk.POWER_OFFSET)
            case _:
                value = program.vocabulary.operator_of(token).function(*arguments)
        values.append(value)
    return values.pop()


def same_formula(first: Program, second: Program) -> bool:
    """The same tokens, whatever places the literals have in their tables."""
    blank = tk.LITERAL << tk.KIND_SHIFT
    shapes = [[blank if t >> tk.KIND_SHIFT == tk.LITERAL else t for t in p.tokens] for p in (first, second)]
    return shapes[0] == shapes[1] and literals_of(first) == literals_of(second)


LEAVES = st.sampled_from(
    [(tk.VARIABLE << tk.KIND_SHIFT | i,) for i in range(len(COLUMNS))]
    + [(tk.LITERAL << tk.KIND_SHIFT | i,) for i in range(len(WORDS.literals))]
    + [(C,)]
)
POWERS = [power_token(float(n)) for n in (-64, -7, -2, 4, 64)]
UNARY = st.sampled_from([*range(tk.FIRST_UNARY, tk.N_OPCODES), tk.USER_UNARY, *POWERS])
BINARY = st.sampled_from([*range(tk.POW), tk.USER_BINARY])  # without POW: a number as exponent is another token
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.tuples(UNARY, inner).map(lambda t: (t[0], *t[1]))
        | st.tuples(BINARY, inner, inner).map(lambda t: (t[0], *t[1], *t[2]))
        | st.tuples(inner, inner).map(lambda t: (tk.POW, *t[0], tk.SIN, *t[1]))
    ),
    max_leaves=12,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    tokens = draw(TREES)
    constants = draw(st.lists(NUMBERS, min_size=tokens.count(C), max_size=tokens.count(C)))
    return Program(tokens, WORDS, tuple(constants))


@given(programs())
@example(Program((tk.INV, tk.NEG, tk.LITERAL << tk.KIND_SHIFT), WORDS))
@example(Program((tk.INV, C), WORDS, (-0.0,)))
def test_text_reads_back_to_the_same_values(program):
    again = read(to_text(program))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(evaluate(again), evaluate(program))


@given(programs())
def test_reading_and_writing_settle_after_one_turn(program):
    once = read(to_text(program))
    assert same_formula(read(to_text(once)), once)


@given(st.text(max_size=40) | st.text("xyC123.()+-*/ '\"#,=sin\\\x00^|", max_size=40))
def test_any_text_is_read_or_refused_with_our_error(text):
    try:
        program = read(text)
    except ExpressionError:
        return
    assert read(to_text(program)).vocabulary.variables == program.vocabulary.variables


@given(st.text(max_size=20))
def test_any_column_name_can_be_quoted_and_read_back(name):
    words = Vocabulary((name,))
    program = Program((words.variable_token(name),), words)
    assert parse_expression(quote_name(name), words).tokens == program.tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("x", (X,)),
        ("+x", (X,)),
        ("x**2", (tk.SQUARE, X)),
        ("x**2.0", (tk.SQUARE, X)),
        ("x**3", (tk.CUBE, X)),
        ("x**-1", (tk.INV, X)),
        ("x**0.5", (tk.SQRT, X)),
        ("x**1", (X,)),
        ("x**4", (power_token(4.0), X)),
        ("x**-64", (power_token(-64.0), X)),
        ("pow(x, 2)", (tk.SQUARE, X)),
        ("x**y", (tk.POW, X, Y)),
        ("x**C", (tk.POW, X, C)),
        ("x - y - C", (tk.SUB, tk.SUB, X, Y, C)),
        ("x - (y - C)", (tk.SUB, X, tk.SUB, Y, C)),
        ("-x**2", (tk.NEG, tk.SQUARE, X)),
        ("ln(x)", (tk.LOG, X)),
        ("min(x, y)", (tk.MIN, X, Y)),
        ("sinc(blend(x, y))", (tk.USER_UNARY, tk.USER_BINARY, X, Y)),
        ("  x\n + y  # a comment", (tk.ADD, X, Y)),
    ],
)
def test_each_form_becomes_its_canonical_tokens(text, tokens):
    assert read(text).tokens == tokens


@pytest.mark.parametrize("text", ["x**65", "x**0", "x**-0.5", "x**(1/3)", "x**2.5"])
def test_other_exponents_take_the_general_power(text):
    assert read(text).tokens[0] == tk.POW


def test_a_minus_before_a_number_belongs_to_the_number():
    program = read("-3 * x")
    assert len(program) == 3
    assert literals_of(program) == [-3.0]


def test_quotes_tell_a_column_named_c_from_the_constant():
    assert read("'C' * C").tokens == (tk.MUL, WORDS.variable_token("C"), C)


def test_a_column_named_like_an_operator_can_stand_inside_it():
    assert read("sin(sin)").tokens == (tk.SIN, WORDS.variable_token("sin"))


def test_letters_that_python_would_replace_stay_as_they_are():
    assert read("µ").tokens == (WORDS.variable_token("µ"),)


def test_a_constant_that_is_read_has_no_value_yet():
    assert math.isnan(read("C * x").constants[0])


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("x + (y + x)", "x + (y + x)"),
        ("(x + y) + x", "x + y + x"),
        ("(x * y) / (x / y)", "x*y/(x/y)"),
        ("x + -2.5", "x - 2.5"),
        ("x - -2.5", "x + 2.5"),
        ("x + -2.5 * y * x", "x - 2.5*y*x"),
        ("x + -(y + 1)", "x - (y + 1)"),
        ("-(x * y)", "-(x*y)"),
        ("(-x)**2", "(-x)**2"),
        ("-x**2", "-x**2"),
        ("(-2)**x", "(-2)**x"),
        ("2**-x", "2**-x"),
        ("(x**y)**2", "(x**y)**2"),
        ("x**y**2", "x**y**2"),
        ("x * -2", "x*(-2)"),
        ("inv(x * y)", "1/(x*y)"),
        ("sqrt(x)**-3", "sqrt(x)**-3"),
        ("1e22 * x", "1e+22*x"),
        ("0.1 + x", "0.1 + x"),
        ("'flow rate [m/s]' * 'lambda'", "'flow rate [m/s]'*'lambda'"),
        ("max(x, neg(y))", "max(x, -y)"),
        ("C * x", "C*x"),
    ],
)
def test_formulas_are_printed_with_the_fewest_brackets(text, printed):
    assert to_text(read(text)) == printed


def test_constants_are_printed_as_numbers():
    program = Program((tk.ADD, tk.MUL, C, X, C), WORDS, (0.1, -1 / 3))
    assert to_text(program) == "0.1*x - 0.3333333333333333"
    assert to_text(program, digits=3) == "0.1*x - 0.333"


def test_constants_without_a_finite_value_are_printed_as_c():
    assert to_text(Program((tk.MUL, C, C), WORDS, (math.inf, math.nan))) == "C*C"


def test_tokens_without_values_are_printed_with_c():
    assert write_tokens((tk.MUL, C, X), WORDS) == "C*x"


def test_a_long_sum_is_printed_and_read():
    text = "x" + " + x" * 500
    assert to_text(read(text)) == text


@given(st.integers(-300, 300) | st.sampled_from([0.5, -0.5, 1e300, 2**31, 2.0000000001]))
def test_a_power_token_knows_its_exponent(exponent):
    token = power_token(exponent)
    assert token is None or exponent_of(token) == exponent


def test_the_usual_exponents_have_tokens():
    assert [exponent_of(power_token(exponent)) for exponent in (-4, -2, 2, 3, 4, 5, 12)] == [-4, -2, 2, 3, 4, 5, 12]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x^2", "Column 1: '^' is not a power here. Write `**`, as in `x**2`.\n    x^2\n    ^"),
        ("2x", "Column 1: A name follows a number directly. To multiply, write `2*x`."),
        ("x + * y", "Column 5: The formula cannot be read from here on.*\n    x + * y\n        ^"),
        ("µ + * y", "Column 5: The formula cannot be read from here on.*\n    µ + * y\n        ^"),
        ("µ + zeta", "Column 5: There is no variable 'zeta'.*\n    µ + zeta\n        ^"),
        ("sin(x", "Column 4: The formula cannot be read: '(' was never closed."),
        ("x + 'y", "Column 5: The formula cannot be read: unterminated string literal."),
        ("", "Column 1: There is no formula here. Write one, for example `2 * x`."),
        ("zeta", "There is no variable 'zeta'. Known names: x, y, 'flow rate [m/s]'"),
        ("'flow rate'", "There is no variable 'flow rate'. Did you mean 'flow rate [m/s]'?"),
        ("cos * x", "Operator 'cos' needs its argument in brackets: cos(...)."),
        ("sine(x)", "There is no operator 'sine'. Did you mean 'sin'?"),
        ("np.sin(x)", "`np.sin` is not an operator. Write only `sin(...)`."),
        ("x(2)", "'x' is not an operator. To multiply, write `x * (...)`."),
        ("(x)(2)(3)", "`(x)(2)` cannot be called. Write `*` to multiply."),
        ("min(x)", "Operator 'min' takes two arguments; here it has 1. Write min(a, b)."),
        ("sin(x, y)", "Operator 'sin' takes one argument; here it has 2. Write sin(a)."),
        ("sin(x=1)", "Operator 'sin' takes plain arguments only: sin(a)."),
        ("sin(*x)", "Operator 'sin' takes plain arguments only: sin(a)."),
        ("x < y", "`x < y` cannot be used in a formula. Use numbers, names, + - * / **, and operators such as sin(x)."),
        ("True", "`True` cannot be used in a formula."),
        ("2j", "`2j` cannot be used in a formula."),
        ("x.real", "`x.real` cannot be used in a formula."),
        ("f'{x}'", "`f'{x}'` cannot be used in a formula."),
        ("[x for x in y]", "cannot be used in a formula."),
        ("1e999", "The number 1e999 is too large."),
        ("-1e999", "The number 1e999 is too large."),
        ("9" * 400, "The number 9999999999999999999999999999999999999... is too large."),
        ("9" * 5000, "A number has too many digits to be read."),
        ("x" + " " * 10_000 + "+ y", "The formula has 10004 characters; at most 10000 are read."),
        ("-" * 9_000 + "x", "The formula is nested too deeply to be read."),
        ("x" + "**x" * 3_000, "The formula is nested too deeply to be read."),
        ("(" * 300 + "x" + ")" * 300, "The formula cannot be read: too many nested parentheses."),
        ("x\0", "The formula "),
        ("'\ud800'", "The formula has characters that are not text."),
        ("x + " + "C + " * 21 + "x", "A formula may have at most 20 constants; this one has 21. Use fewer."),
        (None, "A formula must be text; got None."),
    ],
)
def test_a_mistake_is_refused_with_its_place_and_the_remedy(text, message):
    with pytest.raises(ExpressionError) as caught:
        read(text)
    head, _, tail = message.partition("*\n")
    assert head in str(caught.value)
    assert tail in str(caught.value)


def test_a_mistake_far_along_a_line_is_shown_with_the_text_around_it():
    with pytest.raises(ExpressionError) as caught:
        read("x + " * 200 + "zeta" + " + x" * 200)
    shown, caret = str(caught.value).splitlines()[1:]
    assert len(shown) <= 104
    assert shown[caret.index("^") :].startswith("zeta")


def test_every_built_in_operator_prints_and_reads_back():
    for operator in BUILT_IN.values():
        program = Program((operator.opcode, X, Y)[: operator.arity + 1], WORDS)
        expected = read("1/x").tokens if operator.name == "inv" else program.tokens
        assert read(to_text(program)).tokens == expected
