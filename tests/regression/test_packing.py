import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.operators import Operator
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.regression.packing import (
    pack_alphabet,
    pack_costs,
    pack_program,
    pack_rules,
    pack_table,
    unpack_program,
)

GRAMMAR = Grammar.from_text("""
    f -> f + g | C * f | x
    g -> sin(h) | g * g | 2
    h -> x
""")


def test_rules_of_a_symbol_lie_together_in_the_order_of_the_grammar():
    rules = pack_rules(GRAMMAR)
    assert rules.first.tolist() == [0, 3, 6, 7]
    for number, rule in enumerate(GRAMMAR.rules):
        assert tuple(rules.items[rules.items_first[number] : rules.items_first[number + 1]]) == rule.tokens


def test_the_rules_of_symbols_that_take_turns_in_the_text_are_sorted_by_symbol():
    rules = pack_rules(Grammar.from_text("f -> g\ng -> x\nf -> f + f\ng -> y"))
    assert rules.first.tolist() == [0, 2, 4]


def test_rest_is_the_fewest_rules_of_the_symbols_of_a_template():
    assert GRAMMAR.shortest == (1, 1, 1)
    assert pack_rules(GRAMMAR).rest.tolist() == [2, 1, 0, 1, 2, 0, 0]


def test_rules_of_the_grammar_count_for_one_and_have_no_guesses():
    rules = pack_rules(GRAMMAR)
    assert rules.size.tolist() == [1] * 7
    assert np.isnan(rules.guesses).all()


def test_a_module_is_a_further_rule_of_the_start_with_its_constants_as_guesses():
    module = parse_expression("C * x + C * sin(x)", GRAMMAR.vocabulary).with_constants(np.array([3.0, 4.0]))
    rules = pack_rules(GRAMMAR, [(module, 6)])
    assert rules.first.tolist() == [0, 4, 7, 8]
    assert (rules.size[3], rules.rest[3]) == (6, 0)
    items = slice(rules.items_first[3], rules.items_first[4])
    assert tuple(rules.items[items]) == module.tokens
    assert rules.guesses[items][~np.isnan(rules.guesses[items])].tolist() == [3.0, 4.0]


def test_the_types_of_packed_rules_are_those_of_the_kernels():
    rules = pack_rules(GRAMMAR)
    assert rules.items.dtype == np.int32
    assert {array.dtype for array in (rules.first, rules.shortest, rules.items_first, rules.size, rules.rest)} == {
        np.dtype(np.int64)
    }


def test_the_alphabet_holds_the_literals():
    assert pack_alphabet(Vocabulary(("x",), literals=(2.0, -0.5))).literals.tolist() == [2.0, -0.5]


def test_an_alphabet_without_operators_of_the_user_has_no_rows_for_them():
    assert pack_alphabet(Vocabulary(("x",))).user.shape == (0, 3)


@pytest.mark.slow
def test_operators_of_the_user_have_the_rows_of_their_tokens():
    square, sine, twist = Operator("sq", lambda a: a * a), Operator("si", np.sin), Operator("tw", lambda a, b: a * b)
    user = pack_alphabet(Vocabulary(("x",), own=(square, twist, sine))).user
    assert user.shape == (2 * tk.MAX_USER, 3)
    assert np.flatnonzero(user[:, 0]).tolist() == [0, 1, tk.MAX_USER]
    assert user[tk.MAX_USER, 2] != 0


@pytest.mark.slow
def test_costs_are_1_unless_an_operator_says_otherwise():
    costly = Operator("costly", lambda a, b: a * b, cost=9)
    costs = pack_costs(Vocabulary(("x",), own=(costly,)))
    assert costs[tk.USER_BINARY] == 9
    assert np.delete(costs, tk.USER_BINARY).tolist() == [1] * (costs.size - 1)


def test_a_table_knows_the_square_of_its_target():
    table = pack_table(Dataset.from_arrays([[1.0], [2.0], [3.0]], [1.0, 2.0, 6.0]))
    assert table.square == pytest.approx(14.0)
    assert table.columns.shape == (1, 3)


def test_the_square_of_a_constant_target_is_more_than_0():
    assert pack_table(Dataset.from_arrays([[1.0], [2.0]], [5.0, 5.0])).square > 0


def test_a_packed_program_comes_back_the_same():
    program = parse_expression("C * x + sin(C)", Vocabulary(("x",))).with_constants(np.array([2.0, 3.0]))
    packed = pack_program(program)
    assert (packed.n_open, packed.is_full) == (0, 0)
    assert unpack_program(packed.tokens[: packed.n_tokens], packed.guesses, program.vocabulary) == program


def test_an_unpacked_program_has_as_many_constants_as_tokens_for_them():
    program = parse_expression("C * x + C", Vocabulary(("x",))).with_constants(np.array([2.0, 3.0]))
    found = unpack_program(np.array(program.tokens, np.int32), np.arange(2.0, 22.0), program.vocabulary)
    assert found == program
    assert all(type(token) is int for token in found.tokens)
