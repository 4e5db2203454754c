import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.own_operators import ROOT

from spl.checked_values import Damage
from spl.errors import ExpressionError, RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.json_codec import (
    check_no_stand_ins,
    decode_grammar,
    decode_program,
    encode_grammar,
    encode_program,
)
from spl.formulas.operators import Operator
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.kernels.programs import tokens as tk

WORDS = Vocabulary(("x", "Größe [m]"), (2.0,))


def through_json(value):
    return json.loads(json.dumps(value))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_program_comes_back_with_every_bit_of_its_constants(number):
    program = parse_expression("C * sin(x) / 2", WORDS).with_constants(np.array([number]))
    back = decode_program(through_json(encode_program(program)), WORDS)
    assert back == program
    assert np.signbit(back.constants[0]) == np.signbit(number)


def test_a_program_keeps_numbers_that_its_grammar_does_not_have():
    program = parse_expression("x**3 + 0.1", Vocabulary(("x",), (0.1,)))
    assert decode_program(encode_program(program), Vocabulary(("x",))) == program


@pytest.mark.parametrize(
    "text", ["f -> f + f | f*f | sin(g) | C*f | x\ng -> x | 2 | x**3", "f -> f - f | pow(f, C) | 0.5 | x | y"]
)
def test_a_grammar_comes_back_the_same(text):
    grammar = Grammar.from_text(text).bind(["y", "x"])
    assert decode_grammar(through_json(encode_grammar(grammar))) == grammar


def test_a_grammar_with_an_operator_of_the_users_own_comes_back_with_the_one_that_is_given():
    grammar = Grammar.from_text("f -> root(f) | x", own=[ROOT])
    back = decode_grammar(through_json(encode_grammar(grammar)), [ROOT])
    assert back == grammar
    check_no_stand_ins(back)


def test_without_its_function_an_operator_prints_but_cannot_be_used():
    grammar = decode_grammar(encode_grammar(Grammar.from_text("f -> root(f) | x", own=[ROOT])))
    program = parse_expression("root(x)", grammar.vocabulary)
    assert to_text(program) == "root(x)"
    assert program.cost == 4
    with pytest.raises(RunFileError, match=r"'root', an operator of your own.*operators=\[root\]"):
        check_no_stand_ins(grammar)


def test_another_operator_of_the_same_name_is_refused():
    plain = encode_grammar(Grammar.from_text("f -> root(f) | x", own=[ROOT]))
    with pytest.raises(RunFileError, match=r"costs 1; when the run began it took 1 and cost 3"):
        decode_grammar(plain, [Operator("root", lambda a: a, lambda a: 1.0)])


@pytest.mark.parametrize(
    "tokens",
    [[5 << 16], [99], [4 << 16 | 7], [2 << 16 | 2], [3 << 16 | 1], [-1], [1.0], [True], ["x"], [6 << 16], [0] * 999],
)
def test_tokens_that_stand_for_nothing_are_refused(tokens):
    with pytest.raises(Damage):
        decode_program({"tokens": tokens, "constants": [], "literals": [1.0]}, WORDS)


@pytest.mark.parametrize("constants", [["1"], [None], [float("nan")], [10**400], 1.0])
def test_constants_that_are_no_numbers_are_damage(constants):
    with pytest.raises(Damage):
        decode_program({"tokens": [tk.CONSTANT << tk.KIND_SHIFT], "constants": constants, "literals": []}, WORDS)


@pytest.mark.parametrize("constants", [[], [1.0, 2.0]])
def test_too_few_or_too_many_constants_are_refused(constants):
    with pytest.raises(ExpressionError, match="has 1 constants"):
        decode_program({"tokens": [tk.CONSTANT << tk.KIND_SHIFT], "constants": constants, "literals": []}, WORDS)


@pytest.mark.parametrize(
    "change",
    [
        {"symbols": None}, {"symbols": [1]}, {"rules": [[0, [0]]]}, {"rules": [1]}, {"variables": "xy"}, {"own": [{}]},
        {"own": [{"name": "root", "arity": 3, "cost": 1}]}, {"own": [{"name": 1, "arity": 1, "cost": 1}]},
    ],
)  # fmt: skip
def test_a_grammar_that_spl_never_writes_is_damage(change):
    with pytest.raises(Damage):
        decode_grammar(encode_grammar(Grammar.from_text("f -> f + f | x")) | change)
