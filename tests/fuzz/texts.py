"""Hostile texts: formulas, names and grammars that people would never write, and some that they would."""

from hypothesis import strategies as st

# Names that Python normalises, reads from right to left, keeps for itself, or that sympy has its own idea of
NAMES = [
    "x", "y", "C", "f", "I", "E", "S", "N", "O", "Q", "pi", "oo", "nan", "inf", "zoo", "beta", "gamma", "zeta", "lambda", "None", "True",
    "class", "import", "__import__", "__class__", "_", "__", "x" * 300, "ﬁ", "µ", "μ", "K", "Å", "ℯ", "𝑥", "ªb", "שלום", "مرحبا", "变量",
    "e\u0301", "é", "x\u200b", "x\u202e", "\u202ex", "\ufeffx", "a b", "a'b", 'a"b', "a\\b", "a\nb", "a\tb", "\0", "\x1b[31m", "1x", "", " ",
    "x.y", "x[0]", "-", "->", "|", "#", "{x}", "%s", "\ud800", "💥", "x²", "ⅷ", "x₁", "sin", "exp", "sqrt", "add", "C1", "Symbol", "symbols",
]  # fmt: skip
NUMBERS = [
    "0", "-0", "1", "00", "1_000", "0x10", "0b1", "0o7", "1e999", "-1e999", "1e-999", "1e308", "5e-324", ".5", "5.", "1j", "1e", "9" * 10_000,
    "9" * 400, "0." + "0" * 400 + "1", "1" + "0" * 308, "1" + "0" * 309, "nan", "inf", "٣", "1__0", "0777", "1.2.3", "1e+", "1,5", "½",
]  # fmt: skip
ATTACKS = [
    "__import__('os').system('true')", "().__class__.__bases__[0].__subclasses__()", "open('/etc/passwd').read()", "eval('1')", "exec('1')",
    "lambda: 0", "(lambda x: x)(1)", "[x for x in y]", "{x: y}", "{x}", "[x]", "(x, y)", "x if y else x", "x and y", "not x", "x < y", "x == y",
    "f'{x}'", "f'{__import__(1)}'", "b'x'", "(x := 1)", "*x", "**x", "x.real", "x[0]", "x[1:2]", "await x", "yield x", "x; y", "x = 1",
    "import os", "del x", "...", "None", "True", "print(x)", "sin(x)(y)", "sin(x=1)", "sin(*x)", "sin(**x)", "x @ y", "x % y", "x // y", "x << 9",
    "x ^ 2", "~x", "x | y", "x & y", "'x'.format(1)", "'%s' % x", "Symbol('x')", "sympify('x')", "sympy.Integer(1)", "1 .real", "x!", "$x", "`x`",
    "9**9**9", "9**9**9**9", "2**-9**9", "x**9**9", "(((9**99)**99)**99)", "10**400", "2**60000*x", "x**1e308", "exp(1e308)", "1e308*1e308", "0/0",
    "1/0", "x/0", "0**-1", "log(0)", "sqrt(-1)", "(-8)**0.3", "x**65", "x**-64", "x**64**64", "((x+y)**64)**64", "0**0", "tan(1e308)",
]  # fmt: skip
PIECES = [
    "+", "-", "*", "/", "**", "(", ")", ",", " ", "  ", "\t", "\n", "\r\n", "\\\n", ";", "#", "|", "->", "'", '"', "'''", "[", "]", "{", "}", ":", ":=",
    "=", "==", ".", "@", "!", "?", "$", "^", "%", "\\", "\0", "\x0c", "\u2028", "\ufeff", "sin(", "cos(", "exp(", "log(", "sqrt(", "max(x,", "pow(x,",
    "f -> ", "f | ", "C * ", "x", "y", "f", "g", "C",
]  # fmt: skip

piece = st.one_of(st.sampled_from(PIECES), st.sampled_from(NAMES), st.sampled_from(NUMBERS), st.sampled_from(ATTACKS))
soup = st.lists(piece, max_size=12).map("".join)
anything = st.text(st.characters(), max_size=80)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return longer formulas made of formulas."""
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**", " + ", "*-"]), inner).map("".join),
        inner.map("({})".format),
        inner.map("-{}".format),
        st.tuples(st.sampled_from(["sin", "cos", "exp", "log", "sqrt", "cbrt", "abs", "tanh", "asin", "sign", "inv"]), inner).map("{0[0]}({0[1]})".format),
        st.tuples(st.sampled_from(["max", "min", "pow"]), inner, inner).map("{0[0]}({0[1]}, {0[2]})".format),
    )  # fmt: skip


leaf = st.one_of(
    st.sampled_from(["x", "y", "C", "'flow rate'"]), st.floats(allow_nan=False).map(repr), st.integers().map(str)
)
formula = st.recursive(leaf, _grow, max_leaves=12)


@st.composite
def spoiled(draw: st.DrawFn, whole: st.SearchStrategy[str]) -> str:
    """Return a text with a piece put in or cut out somewhere."""
    text = draw(whole)
    at, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    return text[:at] + draw(piece) + text[draw(st.sampled_from([at, end])) :]


@st.composite
def deep(draw: st.DrawFn) -> str:
    """Return a text that is nested deeply, or very long."""
    number = draw(st.sampled_from([50, 99, 150, 250, 900, 3_000, 20_000, 200_000]))
    opening, inside, closing = draw(
        st.sampled_from(
            [("(", "x", ")"), ("sin(", "x", ")"), ("-", "x", ""), ("x+", "x", ""), ("x**", "x", ""), ("", "x", "**2"), ("[", "x", "]"), ("(", "", ""),
             ("x/(", "x", ")"), ("x*", "y", ""), ("max(x,", "y", ")"), ("9", "9", ""), ("'", "", ""), ("lambda:", "x", ""), ("f'{", "x", "}'"), ("x(", "", ")"),
             ("not ", "x", ""), ("x.", "x", ""), ("\\\n", "x", ""), (" ", "x", " "), ("é", "é", "")]
        )
    )  # fmt: skip
    return opening * number + inside + closing * number


hostile_formula = st.one_of(
    anything, soup, formula, spoiled(formula), st.sampled_from(ATTACKS), st.sampled_from(NUMBERS), deep()
)
name = st.one_of(st.sampled_from(NAMES), st.text(st.characters(), max_size=10))
