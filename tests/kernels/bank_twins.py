"""The bank from its definition: all programs of a grammar by cost, those with new values kept. And small banks to try."""

from typing import NamedTuple

import numpy as np
from tests.kernels.program_twins import evaluate_slowly

from spl.formulas.grammar import Grammar
from spl.kernels.bank.bank import Bank, BankRules, grow_bank, make_bank, spell_entry_tokens
from spl.kernels.bank.value_index import EQUAL_VALUES_SHARE, LARGEST_VALUE, N_AXES
from spl.kernels.programs import tokens as tk
from spl.regression.bank_packing import bank_cost, pack_bank_rules
from spl.regression.packing import pack_alphabet

NO_LIMIT = 1 << 40
POLYNOMIALS = "f -> f + f | f * f | x | y"
DIFFERENCES = "f -> f - f | f / f | sqrt(f) | log(f) | x"  # with zeros, and values outside the domain
TWO_SYMBOLS = "f -> f + g | f * f | sin(g) | x\ng -> g * g | y | 2"
RENAMED = "f -> g | f + f\ng -> h | cos(h)\nh -> x | y | g * h"
TEMPLATES = "f -> x**2 * f | (f + x) / (f * y) | sin(x + f) | x * y + 1 | x"
SCALED = "f -> f + f | f * f | C * f | sin(f) | x | y | 1"
SHIFTED = "f -> f + f | f * f | C * f + C | sin(f) | x | y"
GRAMMARS = [POLYNOMIALS, DIFFERENCES, TWO_SYMBOLS, RENAMED, TEMPLATES, SCALED, SHIFTED]
MAX_COST = 5


class SmallBank(NamedTuple):
    """A bank with what it was made from."""

    grammar: Grammar
    columns: np.ndarray
    bank: Bank
    rules: BankRules

    def entries(self, symbol=0):
        return self.bank.member[symbol, : self.bank.n_of[symbol]].tolist()

    def values(self, entry):
        n = self.bank.n_values
        return self.bank.values[entry * n : (entry + 1) * n].copy()

    def spell(self, entry):
        """Return the tokens of an entry and the symbol that made each subtree, -1 for none."""
        tokens, origin = np.zeros((2, tk.MAX_PROGRAM_LENGTH), np.int32)
        length = spell_entry_tokens(self.bank, self.rules, entry, tokens, origin)
        assert length > 0
        return tokens[:length].tolist(), origin[:length].tolist()


def make_directions(n):
    """Return unit vectors that are orthogonal to each other and to a constant."""
    raw = np.random.default_rng(n).standard_normal((n, N_AXES))
    basis, _ = np.linalg.qr(np.hstack([np.ones((n, 1)), raw]))
    return np.ascontiguousarray(basis.T[1:])


def make_columns(n=9, n_columns=2):
    return np.random.default_rng(1).uniform(0.5, 2.0, (n_columns, n))


def make_small_bank(text, max_cost=4, capacity=2_000, columns=None, max_tried=NO_LIMIT):
    columns = make_columns() if columns is None else columns
    grammar = Grammar.from_text(text).bind(("x", "y")[: len(columns)])
    rules = pack_bank_rules(grammar, capacity)
    bank = make_bank(columns, len(grammar.symbols), capacity, max_cost, make_directions(columns.shape[1]))
    grow_bank(bank, rules, pack_alphabet(grammar.vocabulary), max_tried)
    return SmallBank(grammar, columns, bank, rules)


def programs_by_cost(grammar, columns, max_cost):
    """Return the programs without constants of each symbol and cost, as found[symbol][cost], by trying all derivations.

    What a symbol stands for must have values that are finite, not too large and not all 0.
    """
    found = [[[] for _ in range(max_cost + 1)] for _ in grammar.symbols]
    for cost in range(1, max_cost + 1):
        is_growing = True
        while is_growing:  # rules that only rename a symbol add programs of the same cost
            is_growing = False
            for rule in grammar.rules:
                for tokens in _fill(grammar, rule.tokens, cost, found):
                    has_values = _count(evaluate_slowly(tokens, (), grammar.vocabulary.literals, columns))
                    if has_values and tokens not in found[rule.symbol][cost]:
                        found[rule.symbol][cost].append(tokens)
                        is_growing = True
    return found


def _fill(grammar, items, cost, found):
    """Return all ways to put programs in place of the symbols of a template, of this cost together."""
    if not items:
        return [()] if cost == 0 else []
    item, rest = items[0], items[1:]
    kind = item >> tk.KIND_SHIFT
    if kind == tk.CONSTANT or cost <= 0:
        return []
    if kind != tk.SYMBOL:
        return [(item, *tail) for tail in _fill(grammar, rest, cost - bank_cost(item, grammar.vocabulary), found)]
    return [
        (*head, *tail)
        for c in range(1, cost + 1)
        for head in list(found[item & tk.PAYLOAD_MASK][c])
        for tail in _fill(grammar, rest, cost - c, found)
    ]


def _count(values):
    square = np.sum(values**2)
    return 0.0 < square < LARGEST_VALUE**2


def distinct_values(programs, grammar, columns):
    """Return the values of programs in order, [cost][row], without those that came before."""
    kept, levels = [], []
    for level in programs:
        new = []
        for tokens in level:
            values = evaluate_slowly(tokens, (), grammar.vocabulary.literals, columns)
            if not any(are_same(values, other) for other in kept):
                kept.append(values)
                new.append(values)
        levels.append(new)
    return levels


def are_same(values, other):
    return np.linalg.norm(values - other) <= EQUAL_VALUES_SHARE * np.linalg.norm(values)


def every_entry(small):
    """Return each symbol with each of its entries."""
    entries = [(symbol, entry) for symbol in range(len(small.grammar.symbols)) for entry in small.entries(symbol)]
    assert entries
    return entries
