"""What holes became: read from formulas in any spelling, and never a wrong part."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spl.formulas.form_parts import fill_form, find_filling, find_parts
from spl.formulas.forms import Form
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.fit import evaluate

NAMES = ("p", "T", "x")
ROWS = np.random.default_rng(0).uniform(0.5, 2.0, (3, 30))


def agree(one, other):
    with np.errstate(all="ignore"):
        values, others = evaluate(one, ROWS), evaluate(other, ROWS)
    return bool(np.allclose(values, others, rtol=1e-9, atol=0.0))


def parts_of(form, formula, names=NAMES):
    found = find_parts(Form.from_text(form, NAMES), parse_expression(formula, Vocabulary(names)), agree)
    return None if found is None else {name: to_text(part, 6) for name, part in found.items()}


@pytest.mark.parametrize(
    ("form", "formula", "parts"),
    [
        ("a(T)*exp(-b(p, T)) + C", "2.5*T**1.5*exp(-1.7*p/T) + 0.8", {"a": "2.5*T**1.5", "b": "1.7*p/T"}),
        ("a(T)*exp(-b(p, T)) + C", "3 + 2*abs(T + 0.5)/exp(p/(T + 0.5))", {"a": "2*abs(T + 0.5)", "b": "p/(T + 0.5)"}),
        ("a(T)*exp(-b(p, T)) + C", "2.5*exp(p)", {"a": "2.5", "b": "-p"}),
        ("a(T)*exp(-b(p, T)) + C", "3 - 2*T", {"a": "-2*T", "b": "0"}),
        ("a(T)*sin(b(p, T)) + c(p)", "log(p) - 3*sin(p*T)/T", {"a": "-3/T", "b": "p*T", "c": "log(p)"}),
        ("a(T)*sin(b(p, T))", "-sin(p)", {"a": "-1", "b": "p"}),
        ("a(T)*b(p)", "3*T/p", {"a": "3*T", "b": "1/p"}),
        ("x/(1 + a(T))", "x/(T**2 + 3)", {"a": "T**2 + 2"}),
        ("x/(1 + a(T))", "x/T", {"a": "T - 1"}),
        ("x - a(T)", "x + T", {"a": "-T"}),
        ("2*a(T)", "5*T", {"a": "2.5*T"}),
        ("x + a(x)", "3*x", {"a": "2*x"}),
        ("exp(a(T) + b(p))", "3*exp(T)/exp(p)", {"a": "T + 1.09861", "b": "-p"}),
        ("exp(a(T)*b(p))", "exp(T/p)", {"a": "T", "b": "1/p"}),
        ("a(T)**b(p)", "T**2", {"a": "T", "b": "2"}),
        ("sqrt(a(T)**2 + b(p)**2)", "sqrt(p**2 + T**2)", {"a": "T", "b": "p"}),
        ("min(a(T), b(p))", "min(p, T)", {"a": "T", "b": "p"}),
        ("a(T)", "T + 1", {"a": "T + 1"}),
    ],
)
def test_parts_are_found_in_other_spellings(form, formula, parts):
    assert parts_of(form, formula) == parts


@pytest.mark.parametrize(
    ("form", "formula"),
    [
        ("a(T)", "T + x"),
        ("a(T)*exp(-b(p))", "T + exp(p)"),
        ("2*x + a(T)", "3*x + 5*T"),
        ("a(T)*b(p)", "sqrt(T + p)"),
        ("x*a(T) - b(p)", "x + T + p"),
        ("sin(a(T))", "0.5*sin(T)"),
    ],
)
def test_a_formula_of_another_form_has_no_parts(form, formula):
    assert parts_of(form, formula) is None


def test_numbers_of_groups_may_be_in_any_part():
    form = Form.from_text("a(T) + C", NAMES)
    program = parse_expression("k1*T + k2", Vocabulary((*NAMES, "k1", "k2")))
    found = find_parts(form, program, lambda one, other: True)
    assert to_text(found["a"]) == "T*k1"


def test_constants_keep_their_values():
    form = Form.from_text("a(T)*exp(-b(p)) + C", NAMES)
    program = parse_expression("C*T*exp(-C*p) + C", Vocabulary(NAMES)).with_constants([2.0, 0.3, 5.0])
    filling = find_filling(form, program, agree)
    assert agree(fill_form(form, filling, program.vocabulary), program)
    assert {to_text(part) for part in filling.values()} == {"2*T", "0.3*p", "5"}


PARTS = st.sampled_from(["T", "2*T", "T**2", "sqrt(T) + 1", "3", "1/T", "T - 2", "-T", "sin(T)/2"])
FORMS = ["{}*exp(-({})) + 1.5", "{} - {}", "x/({} + {})", "log(1 + exp({}))*{}", "({})*sin({})", "sqrt(({})**2 + {})"]


@settings(max_examples=60)
@given(st.sampled_from(FORMS), PARTS, PARTS)
def test_the_form_with_its_parts_is_the_formula(template, one, other):
    form = Form.from_text(template.format("a(T)", "b(p)").replace("1.5", "C"), NAMES)
    second = other.replace("T", "p")
    program = parse_expression(template.format(f"({one})", f"({second})"), Vocabulary(NAMES))
    with np.errstate(all="ignore"):
        assume(bool(np.isfinite(evaluate(program, ROWS)).all()))
    filling = find_filling(form, program, agree)
    assert filling is not None
    assert agree(fill_form(form, filling, program.vocabulary), program)
