import numpy as np
import pytest

from spl.formulas.grammar import Grammar
from spl.formulas.text import CONSTANT_TOKEN, parse_expression
from spl.kernels.bank.value_index import IDENTICAL, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET
from spl.kernels.programs import tokens as tk
from spl.kernels.tree.complete import (
    AFFINE_FORM,
    DIFFERENCE_FORM,
    NUMBER_FORM,
    PRODUCT_FORM,
    QUOTIENT_FORM,
    ROOT_FORM,
    SCALED_FORM,
    SUM_FORM,
)
from spl.regression.bank_packing import bank_cost, find_form, pack_bank_rules, pack_forms

X = tk.VARIABLE << tk.KIND_SHIFT
F = tk.SYMBOL << tk.KIND_SHIFT
C = CONSTANT_TOKEN


def make_grammar(text, variables=("x", "y")):
    return Grammar.from_text(text).bind(variables)


def templates_of(rules):
    """Return symbol and tokens of each rule."""
    first = rules.items_first
    return [
        (int(rules.symbol[k]), tuple(rules.items[first[k] : first[k + 1]].tolist())) for k in range(rules.symbol.size)
    ]


def test_the_symbols_of_a_template_become_the_columns_after_the_variables():
    rules = pack_bank_rules(make_grammar("f -> f + g | x * sin(g) | x\ng -> y"), 100)
    hole = X + 2
    assert templates_of(rules) == [
        (0, (tk.ADD, hole, hole + 1)),
        (0, (tk.MUL, X, tk.SIN, hole)),
        (0, (X,)),
        (1, (X + 1,)),
    ]
    assert rules.n_holes.tolist() == [2, 1, 0, 0]
    assert rules.hole.tolist() == [[0, 1], [1, -1], [-1, -1], [-1, -1]]
    assert rules.cost.tolist() == [1, 4, 1, 1]


def test_only_an_operator_of_its_symbols_is_applied_directly():
    rules = pack_bank_rules(make_grammar("f -> f * f | sin(f) | f**5 | x * f | f + sin(f) | x"), 100)
    power = (tk.POWER << tk.KIND_SHIFT) + tk.POWER_OFFSET + 5
    assert rules.operator.tolist() == [tk.MUL, tk.SIN, power, -1, -1, -1]


def test_rules_with_constants_or_three_symbols_make_no_entries_but_a_constant_by_itself_does():
    rules = pack_bank_rules(make_grammar("f -> C * f | f + f * f | C | f * f | x"), 100)
    assert templates_of(rules) == [(0, (CONSTANT_TOKEN,)), (0, (tk.MUL, X + 2, X + 3)), (0, (X,))]


def test_rules_that_only_rename_a_symbol_are_resolved_and_counted():
    rules = pack_bank_rules(make_grammar("f -> g | sin(f)\ng -> h | x\nh -> y | f"), 100)
    of_f = [
        (tokens, int(n)) for (symbol, tokens), n in zip(templates_of(rules), rules.n_rules, strict=True) if symbol == 0
    ]
    assert sorted(of_f) == sorted([((tk.SIN, X + 2), 1), ((X,), 2), ((X + 1,), 3)])
    of_h = [
        (tokens, int(n)) for (symbol, tokens), n in zip(templates_of(rules), rules.n_rules, strict=True) if symbol == 2
    ]
    assert sorted(of_h) == sorted([((X + 1,), 1), ((tk.SIN, X + 2), 2), ((X,), 3)])


def test_a_function_that_is_no_power_costs_more_in_the_bank_than_elsewhere():
    grammar = make_grammar("f -> sin(f) / sqrt(f) | x")
    costs = {token: grammar.vocabulary.operator_of(token).cost for token in (tk.DIV, tk.SIN, tk.SQRT)}
    assert pack_bank_rules(grammar, 100).cost[0] == sum(costs.values()) + 1
    assert [bank_cost(token, grammar.vocabulary) - cost for token, cost in costs.items()] == [0, 1, 0]


@pytest.mark.parametrize("capacity", [2, 3, 10, 1000])
def test_the_shares_of_the_symbols_are_the_capacity_and_the_start_has_the_largest(capacity):
    rules = pack_bank_rules(make_grammar("f -> g + h | x\ng -> y\nh -> x"), capacity)
    assert rules.capacity.sum() == capacity
    assert rules.capacity[0] == rules.capacity.max()
    assert rules.capacity[1] == rules.capacity[2]


def test_a_grammar_with_constants_in_every_rule_has_no_rules_for_the_bank():
    rules = pack_bank_rules(make_grammar("f -> C * x | C + x"), 100)
    assert rules.symbol.size == 0
    assert rules.items.dtype == np.int32


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("f -> f + f | x", IDENTICAL),
        ("f -> C * x | x", IDENTICAL),  # of x, not of whatever it derives
        ("f -> C * f | x", UP_TO_SCALE),
        ("f -> f * C | x", UP_TO_SCALE),
        ("f -> f * f | C | x", UP_TO_SCALE),
        ("f -> f + f | C | x", IDENTICAL),
        ("f -> C * f + C | x", UP_TO_SCALE_AND_OFFSET),
        ("f -> C + f * C | x", UP_TO_SCALE_AND_OFFSET),
        ("f -> f + f | f * f | C | x", UP_TO_SCALE_AND_OFFSET),
        ("f -> g | x\ng -> C * f", UP_TO_SCALE),
    ],
)
def test_the_mode_says_which_forms_a_symbol_derives_of_itself(text, mode):
    assert pack_bank_rules(make_grammar(text), 100).mode[0] == mode


def test_each_symbol_has_a_mode_of_its_own():
    assert pack_bank_rules(make_grammar("f -> C * f | g\ng -> g + g | x"), 100).mode.tolist() == [
        UP_TO_SCALE,
        IDENTICAL,
    ]


@pytest.mark.parametrize(
    ("text", "form", "tokens"),
    [
        ("f -> C * f | x", SCALED_FORM, (tk.MUL, C, F)),
        ("f -> f * C | x", SCALED_FORM, (tk.MUL, F, C)),
        ("f -> C * f + C | x", AFFINE_FORM, (tk.ADD, tk.MUL, C, F, C)),
        ("f -> C + C * f | x", AFFINE_FORM, (tk.ADD, C, tk.MUL, C, F)),
        ("f -> C + f * C | x", AFFINE_FORM, (tk.ADD, C, tk.MUL, F, C)),
        ("f -> f * C + C | x", AFFINE_FORM, (tk.ADD, tk.MUL, F, C, C)),
        ("f -> f + f | x", SUM_FORM, (tk.ADD, F, F)),
        ("f -> f - f | x", DIFFERENCE_FORM, (tk.SUB, F, F)),
        ("f -> f * f | x", PRODUCT_FORM, (tk.MUL, F, F)),
        ("f -> f / f | x", QUOTIENT_FORM, (tk.DIV, F, F)),
        ("f -> sqrt(f) | x", ROOT_FORM, (tk.SQRT, F)),
        ("f -> C | f * x", NUMBER_FORM, (C,)),
    ],
)
def test_a_form_is_packed_as_the_grammar_spells_it(text, form, tokens):
    forms, lengths = pack_forms(make_grammar(text))
    assert tuple(forms[0, form, : lengths[0, form]].tolist()) == tokens
    assert np.count_nonzero(lengths) == 1


def test_the_symbol_derives_each_form_that_is_packed():
    grammar = make_grammar("f -> f + f | f * f | f / g | C | sqrt(f) | g\ng -> g - g | C * g | y")
    forms, lengths = pack_forms(grammar)
    for symbol in range(2):
        for tokens, length in zip(forms[symbol], lengths[symbol], strict=True):
            assert length == 0 or grammar.derives_template(tokens[:length].tolist(), symbol)
    assert lengths[0, QUOTIENT_FORM] == 0  # f / g is no f / f


def test_a_form_that_is_not_there_is_empty():
    assert find_form(make_grammar("f -> f + f | x"), 0, "product") == ()


def test_a_template_with_other_leaves_is_not_derived():
    grammar = make_grammar("f -> f + g | x\ng -> y")
    g = F + 1
    assert grammar.derives_template((tk.ADD, F, g), 0)
    assert grammar.derives_template((tk.ADD, tk.ADD, F, g, X + 1), 0)
    assert not grammar.derives_template((tk.ADD, g, F), 0)
    assert not grammar.derives_template((tk.ADD, F, g), 1)
    assert grammar.derives_template((g,), 1)
    assert not grammar.derives_template((g,), 0)
    tokens = parse_expression("x + y + y", grammar.vocabulary).tokens
    assert grammar.derives_template(tokens, 0)
