"""Formulas as MathML, which browsers and notebooks render on their own."""

import re
import unicodedata
from collections.abc import Sequence
from html import escape

from spl.formulas.primes import count_primes, without_primes
from spl.formulas.program import Program
from spl.notation.formula_layout import NO_SIGN, write_formula

INVISIBLE_TIMES, APPLY = "\u2062", "\u2061"
PRIME_SIGNS = ("", "\u2032", "\u2033")  # by how many there are
NAMESPACE = "http://www.w3.org/1998/Math/MathML"
_GREEK_VARIANTS = {
    "lambda": "λ",
    "Lambda": "Λ",
    "varepsilon": "ε",
    "vartheta": "ϑ",
    "varphi": "φ",
    "epsilon": "ϵ",
    "phi": "ϕ",
}


def to_mathml(program: Program, *, left: str = "", digits: int = 6, is_block: bool = True) -> str:
    """Return a formula as a MathML element.

    Args:
        program: the formula.
        left: the left-hand side as MathML, from `mathml_name` or `mathml_derivative`; empty for none.
        digits: significant digits of its numbers.
        is_block: whether the formula is on a separate line.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> to_mathml(parse_expression("x / 2", Vocabulary(("x",))), is_block=False)
        '<math><mfrac><mi>x</mi><mn>2</mn></mfrac></math>'
    """
    right = write_formula(program, MathNotation(), digits)
    inner = f"<mrow>{left}<mo>=</mo>{right}</mrow>" if left else right
    return f'<math display="block">{inner}</math>' if is_block else f"<math>{inner}</math>"


def mathml_name(name: str) -> str:
    """Return the name of a column: a letter or Greek letter with its subscript and primes, anything else upright.

    Examples:
        >>> mathml_name("x"), mathml_name("theta_1"), mathml_name("x'")
        ('<mi>x</mi>', '<msub><mi>θ</mi><mn>1</mn></msub>', '<msup><mi>x</mi><mo>′</mo></msup>')
        >>> mathml_name("flow <b>")
        '<mi mathvariant="normal">flow &lt;b&gt;</mi>'
    """
    if n_primes := count_primes(name):
        return f"<msup>{mathml_name(without_primes(name))}<mo>{PRIME_SIGNS[n_primes]}</mo></msup>"
    match = re.fullmatch(r"([A-Za-z]+)(?:_?([0-9]+)|_([A-Za-z0-9]+))?", name)
    if match is None:
        return _word(name)
    word, number, below = match.groups()
    if number or below:
        return f"<msub>{_word(word)}{f'<mn>{number}</mn>' if number else _word(below)}</msub>"
    return _word(word)


def mathml_derivative(state: str, order: int = 1, is_discrete: bool = False) -> str:
    """Return the left-hand side of the equation of a state.

    Examples:
        >>> mathml_derivative("x")
        '<mfrac><mrow><mi mathvariant="normal">d</mi><mi>x</mi></mrow><mrow><mi mathvariant="normal">d</mi><mi>t</mi></mrow></mfrac>'
    """
    name = mathml_name(state)
    if is_discrete:
        return f"<msub>{name}<mrow><mi>k</mi><mo>+</mo><mn>1</mn></mrow></msub>"
    d = '<mi mathvariant="normal">d</mi>'
    if order == 1:
        return f"<mfrac><mrow>{d}{name}</mrow><mrow>{d}<mi>t</mi></mrow></mfrac>"
    above, below = f"<msup>{d}<mn>{order}</mn></msup>", f"<msup><mi>t</mi><mn>{order}</mn></msup>"
    return f"<mfrac><mrow>{above}{name}</mrow><mrow>{d}{below}</mrow></mfrac>"


class MathNotation:
    """The parts of a formula in MathML."""

    def name(self, name: str) -> str:
        """Return the name of a column."""
        return mathml_name(name)

    def word(self, text: str) -> str:
        """Return a number without its sign, or a letter with a fixed meaning."""
        return f"<mn>{text}</mn>" if text[-1].isdigit() else f'<mi mathvariant="normal">{text}</mi>'

    def row(self, parts: Sequence[str]) -> str:
        """Return parts side by side; a part that is not an element is a sign."""
        return f"<mrow>{''.join(part if part.startswith('<') else self._sign(part) for part in parts)}</mrow>"

    def fraction(self, above: str, below: str) -> str:
        """Return a fraction."""
        return f"<mfrac>{above}{below}</mfrac>"

    def power(self, base: str, exponent: str) -> str:
        """Return a power."""
        return f"<msup>{base}{exponent}</msup>"

    def root(self, inner: str, degree: int) -> str:
        """Return a square or a cube root."""
        return f"<msqrt>{inner}</msqrt>" if degree == 2 else f"<mroot>{inner}<mn>{degree}</mn></mroot>"

    def bracket(self, inner: str) -> str:
        """Return a part in brackets."""
        return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"

    def bars(self, inner: str) -> str:
        """Return an absolute value."""
        bar = '<mo stretchy="true" form="{}">|</mo>'
        return f"<mrow>{bar.format('prefix')}{inner}{bar.format('postfix')}</mrow>"

    def call(self, name: str, arguments: Sequence[str]) -> str:
        """Return a function of arguments."""
        inner = "<mo>,</mo>".join(arguments)
        return f'<mrow><mi mathvariant="normal">{escape(name)}</mi><mo>{APPLY}</mo>{self.bracket(inner)}</mrow>'

    def _sign(self, sign: str) -> str:
        return f"<mo>{INVISIBLE_TIMES if sign == NO_SIGN else sign}</mo>"


def _word(word: str) -> str:
    letter = _greek_letter(word)
    if letter:
        return f"<mi>{letter}</mi>"
    if len(word) == 1:
        return f"<mn>{word}</mn>" if word.isdigit() else f"<mi>{escape(word)}</mi>"
    printable = "".join(sign if sign.isprintable() else " " for sign in word) or " "
    return f'<mi mathvariant="normal">{escape(printable)}</mi>'


def _greek_letter(word: str) -> str | None:
    if word in _GREEK_VARIANTS:
        return _GREEK_VARIANTS[word]
    if not word.isascii() or not word.isalpha() or len(word) < 2 or word[1:] != word[1:].lower():
        return None
    case = "SMALL" if word[0].islower() else "CAPITAL"
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {word.upper()}")
    except KeyError:
        return None
