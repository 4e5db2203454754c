"""Grammars of strangers: each is read or refused in words, and what was read can be explained, written and searched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fuzz.guard import cases, guarded
from tests.fuzz.texts import ATTACKS, NAMES, NUMBERS, anything, deep, formula, hostile_formula, name, soup, spoiled

from spl.data.dataset import Dataset
from spl.errors import GrammarError, OperatorError, SplError
from spl.formulas.grammar import Grammar
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

pytestmark = pytest.mark.slow

SHORT = SearchConfig(max_rules=6, n_episodes=20, n_transplants=1, max_schedules=1, n_simulations=2, n_completions=16)
symbol = st.one_of(st.sampled_from(["f", "g", "h"]), st.sampled_from(NAMES))
side = st.one_of(
    st.sampled_from(["f + f", "f * g", "C * f", "x", "y", "h", "sin(x)", "C"]),
    formula,
    st.sampled_from([*ATTACKS, *NUMBERS]),
)
line = st.tuples(symbol, st.lists(side, min_size=1, max_size=4).map(" | ".join)).map(" -> ".join)
grammar = st.lists(line, min_size=1, max_size=4).map("\n".join)
plain = st.lists(
    st.tuples(st.sampled_from("fgh"), st.lists(st.one_of(st.sampled_from(["f + f", "f*g", "C*f", "g", "x", "x**2/y", "C"]), formula), min_size=1, max_size=4)),
    min_size=1,
    max_size=3,
).map(lambda rules: "\n".join(f"{left} -> {' | '.join(right)}" for left, right in rules))  # fmt: skip
hostile_grammar = st.one_of(
    anything,
    soup,
    grammar,
    spoiled(grammar),
    deep().map("f -> ".__add__),
    hostile_formula.map("f -> f + f | x | {}".format),
)


@cases(500)
@given(hostile_grammar)
def test_any_text_is_a_grammar_or_an_error_in_words(text):
    with guarded("grammars"):
        try:
            found = Grammar.from_text(text)
        except GrammarError as error:
            assert len(str(error)) < 1_000
            return
        found.explain()
        written = str(found)
        again = Grammar.from_text(written)
        assert [(rule.symbol, rule.tokens) for rule in again.rules] == [
            (rule.symbol, rule.tokens) for rule in found.rules
        ]


@cases(150)
@given(plain)
def test_a_grammar_that_was_read_says_of_each_formula_whether_it_derives_it(text):
    with guarded("grammars"):
        try:
            found = Grammar.from_text(text, variables=["x", "y", "flow rate"])
        except GrammarError:
            return
        for each in ("x", "C", "x + y", "2*x", "1e300**x**y", "sin(cos(x))"):
            assert found.derives(each) in (True, False)


@cases(8)
@given(plain)
def test_a_grammar_that_was_read_can_be_searched(text):
    with guarded("searches"):
        rng = np.random.default_rng(0)
        data = Dataset.from_arrays(rng.normal(size=(20, 3)), rng.normal(size=20), names=["x", "y", "flow rate"])
        try:
            discover(
                RegressionRequest(
                    data, Grammar.from_text(text), config=SHORT, limits=Limits(timeout=5, max_evaluations=100)
                )
            )
        except SplError as error:
            assert len(str(error)) < 1_000


operators = st.lists(
    st.one_of(
        st.sampled_from(["+", "-", "*", "/", "sin", "exp", "pow", "**", "square"]), name, st.none(), st.integers()
    ),
    max_size=5,
)


@cases(200)
@given(
    operators,
    st.lists(name, max_size=4),
    st.one_of(st.sampled_from(["anything", "variables", "polynomials"]), st.none(), name),
    st.one_of(st.integers(-3, 200), st.floats(), st.none()),
    st.lists(st.one_of(st.integers(), st.floats(), st.none()), max_size=3),
)
def test_operators_and_names_make_a_grammar_or_an_error_in_words(operators, names, inside, max_power, integers):
    with guarded("grammars"):
        try:
            found = Grammar.from_operators(operators, names, inside=inside, max_power=max_power, integers=integers)
        except (GrammarError, OperatorError) as error:
            assert len(str(error)) < 1_000
            return
        assert Grammar.from_text(str(found), variables=names).symbols == found.symbols
