"""MathML is well formed whatever the names are."""

from xml.etree import ElementTree

import pytest

from spl.formulas.operators import BUILT_IN
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.mathml import mathml_derivative, mathml_name, to_mathml

NAMES = ("x", "<script>alert('x')</script>", "a & b", 'quo"te', "\x00\x0b", "温度", "", "omega_0")


def calls():
    for operator in BUILT_IN.values():
        yield f"{operator.name}({', '.join(['x'] * operator.arity)})"


@pytest.mark.parametrize("text", [*calls(), "x**5", "2.5e-7*x", "-x/2", "(x - 1)*(x + 1)"])
def test_every_operator_gives_a_well_formed_element(text):
    root = ElementTree.fromstring(to_mathml(parse_expression(text, Vocabulary(("x",)))))
    assert root.tag == "math"
    assert "x" in "".join(root.itertext())


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_text_and_never_markup(name):
    root = ElementTree.fromstring(f"<math>{mathml_name(name)}</math>")
    assert {element.tag for element in root.iter()} <= {"math", "mi", "mn", "msub"}


@pytest.mark.parametrize("name", [name for name in NAMES if name.isprintable() and "_" not in name])
def test_a_name_is_shown_as_it_is(name):
    assert "".join(ElementTree.fromstring(f"<math>{mathml_name(name)}</math>").itertext()).strip() == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [("x1", ("x", "1")), ("x_12", ("x", "12")), ("v_max", ("v", "max")), ("theta", ("θ",)), ("Omega_k", ("Ω", "k"))],
)
def test_letters_have_subscripts_and_greek_words_are_letters(name, shown):
    assert tuple(ElementTree.fromstring(f"<math>{mathml_name(name)}</math>").itertext()) == shown


@pytest.mark.parametrize("name", ["lambda", "Lambda", "phi", "epsilon", "varphi"])
def test_every_greek_word_of_latex_is_a_letter(name):
    assert len("".join(ElementTree.fromstring(f"<math>{mathml_name(name)}</math>").itertext())) == 1


@pytest.mark.parametrize(
    ("options", "shown"), [({}, "dxdt"), ({"order": 2}, "d2xdt2"), ({"is_discrete": True}, "xk+1")]
)
def test_left_hand_sides_of_systems(options, shown):
    assert "".join(ElementTree.fromstring(f"<math>{mathml_derivative('x', **options)}</math>").itertext()) == shown


def test_the_left_hand_side_stands_before_the_formula():
    program = parse_expression("x + 1", Vocabulary(("x",)))
    assert "".join(ElementTree.fromstring(to_mathml(program, left=mathml_name("y"))).itertext()) == "y=x+1"
