"""Convert grammars, programs and datasets to the arrays that kernels take, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import ExpressionError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program, Vocabulary, token_cost
from spl.formulas.user_operators import compile_operator
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.evaluate import Alphabet
from spl.kernels.programs.normal_equations import FitTable
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.derivation import DERIVATION, Rules


def pack_alphabet(vocabulary: Vocabulary) -> Alphabet:
    """Return the literals and the compiled user-defined operators."""
    user = np.zeros((2 * tk.MAX_USER if vocabulary.own else 0, 3), np.int64)
    for operator in vocabulary.own:
        token = vocabulary.operator_token(operator)
        row = token - tk.USER_UNARY if operator.arity == 1 else tk.MAX_USER + token - tk.USER_BINARY
        for k, compiled in enumerate(compile_operator(operator)):
            user[row, k] = compiled.address
    return Alphabet(np.array(vocabulary.literals or (0.0,), dtype=np.float64), user)


def pack_program(program: Program) -> Any:
    """Return a program as a finished derivation, with its constants as guesses."""
    if len(program) > tk.MAX_PROGRAM_LENGTH or program.n_constants > tk.MAX_CONSTANTS:
        raise ExpressionError(
            f"The formula has {len(program)} tokens and {program.n_constants} constants; "
            f"at most {tk.MAX_PROGRAM_LENGTH} and {tk.MAX_CONSTANTS} are possible. Split it."
        )
    packed = make_record(DERIVATION)
    packed.tokens[: len(program)] = program.tokens
    packed.guesses[: program.n_constants] = program.constants
    packed.n_tokens = len(program)
    packed.n_constants = program.n_constants
    return packed


def pack_table(dataset: Dataset) -> FitTable:
    """Return the samples of a dataset."""
    return FitTable(dataset.columns, dataset.target, dataset.weights, max(dataset.square, np.finfo(float).tiny))


def pack_costs(vocabulary: Vocabulary) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the cost of each operator token."""
    costs = np.ones(tk.USER_BINARY + tk.MAX_USER, np.int64)
    for operator in vocabulary.own:
        token = vocabulary.operator_token(operator)
        costs[token] = token_cost(token, vocabulary)
    return costs


def pack_rules(grammar: Grammar, modules: Sequence[tuple[Program, int]] = ()) -> Rules:
    """Return the rules of a grammar sorted by symbol, with each module as an additional rule of the start symbol.

    A module is a program and the number of rules it counts as; its constants become starting values.
    """
    rules: list[tuple[int, tuple[int, ...], tuple[float, ...], int]]
    rules = [(rule.symbol, rule.tokens, (), 1) for rule in grammar.rules]
    rules += [(0, program.tokens, program.constants, size) for program, size in modules]
    rules.sort(key=lambda rule: rule[0])
    symbols = np.array([rule[0] for rule in rules])
    items = [token for rule in rules for token in rule[1]]
    return Rules(
        first=np.searchsorted(symbols, np.arange(len(grammar.symbols) + 1)).astype(np.int64),
        shortest=np.array(grammar.shortest, np.int64),
        items_first=np.cumsum([0, *(len(rule[1]) for rule in rules)]).astype(np.int64),
        items=np.array(items, np.int32),
        guesses=np.concatenate([_guesses(rule[1], rule[2]) for rule in rules]),
        size=np.array([rule[3] for rule in rules], np.int64),
        rest=np.array([_rest(grammar, rule[1]) for rule in rules], np.int64),
    )


def _guesses(tokens: tuple[int, ...], constants: tuple[float, ...]) -> np.ndarray[Any, np.dtype[np.float64]]:
    guesses = np.full(len(tokens), np.nan)
    if constants:
        guesses[[token >> tk.KIND_SHIFT == tk.CONSTANT for token in tokens]] = constants
    return guesses


def _rest(grammar: Grammar, tokens: tuple[int, ...]) -> int:
    return sum(grammar.shortest[token & tk.PAYLOAD_MASK] for token in tokens if token >> tk.KIND_SHIFT == tk.SYMBOL)


def unpack_program(tokens: Sequence[int], constants: Sequence[float], vocabulary: Vocabulary) -> Program:
    """Return the program that a kernel wrote."""
    found = tuple(int(token) for token in tokens)
    n_constants = sum(token >> tk.KIND_SHIFT == tk.CONSTANT for token in found)
    return Program(found, vocabulary, tuple(float(value) for value in constants[:n_constants]))
