"""Tokens: kinds and opcodes do not overlap, and each has the arity and the function that its number says."""

import inspect

import pytest
from tests.kernels.program_twins import BINARY, UNARY

from spl.kernels.programs import tokens as tk
from spl.kernels.programs.evaluate import arity_of

KINDS = (tk.OPERATOR, tk.POWER, tk.VARIABLE, tk.CONSTANT, tk.LITERAL, tk.SYMBOL)
BUILT_IN = [*BINARY, *UNARY]


def test_kinds_are_numbered_without_gaps():
    assert sorted(KINDS) == list(range(len(KINDS)))


def test_opcodes_are_numbered_without_gaps():
    assert sorted(BUILT_IN) == list(range(tk.N_OPCODES))


def test_every_opcode_has_one_name():
    names = {
        value for name, value in inspect.getmembers(tk) if name.isalpha() and name.isupper() and name not in KIND_NAMES
    }
    assert set(BUILT_IN) <= names


KIND_NAMES = {"OPERATOR", "POWER", "VARIABLE", "CONSTANT", "LITERAL", "SYMBOL"}


@pytest.mark.parametrize(("opcodes", "arity"), [(BINARY, 2), (UNARY, 1)])
def test_binary_opcodes_are_below_the_first_unary_one(opcodes, arity):
    assert all((opcode < tk.FIRST_UNARY) == (arity == 2) for opcode in opcodes)
    assert {arity_of(opcode) for opcode in opcodes} == {arity}


def test_user_operators_lie_beyond_all_others_and_fit_into_the_payload():
    assert tk.N_OPCODES <= tk.USER_UNARY
    assert tk.USER_UNARY + tk.MAX_USER <= tk.USER_BINARY
    assert tk.USER_BINARY + tk.MAX_USER <= tk.PAYLOAD_MASK
    assert {arity_of(tk.USER_UNARY + k) for k in range(tk.MAX_USER)} == {1}
    assert {arity_of(tk.USER_BINARY + k) for k in range(tk.MAX_USER)} == {2}


def test_leaves_have_no_operands_whatever_their_payload():
    for kind in (tk.VARIABLE, tk.CONSTANT, tk.LITERAL, tk.SYMBOL):
        assert {arity_of((kind << tk.KIND_SHIFT) + payload) for payload in (0, 1, tk.PAYLOAD_MASK)} == {0}
