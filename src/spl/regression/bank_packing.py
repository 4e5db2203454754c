"""Convert grammars to the arrays that the bank and the closers take."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.formulas.grammar import Grammar
from spl.formulas.operators import BY_OPCODE
from spl.formulas.program import Vocabulary, token_cost
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.bank.bank import MAX_HOLES, BankRules
from spl.kernels.bank.value_index import IDENTICAL, UP_TO_SCALE, UP_TO_SCALE_AND_OFFSET
from spl.kernels.programs import tokens as tk
from spl.kernels.tree.complete import (
    AFFINE_FORM,
    DIFFERENCE_FORM,
    FORM_LENGTH,
    N_FORMS,
    NUMBER_FORM,
    PRODUCT_FORM,
    QUOTIENT_FORM,
    RECIPROCAL_FORM,
    ROOT_FORM,
    SCALED_FORM,
    SHIFTED_FORM,
    SUM_FORM,
)

_COSTLY_FAMILIES = ("exponential", "trigonometric", "hyperbolic")


class _BankRule(NamedTuple):
    symbol: int
    tokens: tuple[int, ...]  # holes are variables beyond the last column
    holes: tuple[int, ...]
    n_rules: int
    cost: int
    operator: int


def pack_bank_rules(grammar: Grammar, capacity: int) -> BankRules:
    """Return the rules that make entries of the bank: a bare constant, and rules with at most two symbols and no constant."""
    rules = list(_bank_rules(grammar))
    n_symbols = len(grammar.symbols)
    share = np.full(n_symbols, capacity // (n_symbols + 1), np.int64)
    share[0] = capacity - (n_symbols - 1) * share[0]
    holes = np.full((max(len(rules), 1), MAX_HOLES), -1, np.int64)
    for number, rule in enumerate(rules):
        holes[number, : len(rule.holes)] = rule.holes
    return BankRules(
        symbol=np.array([rule.symbol for rule in rules], np.int64),
        cost=np.array([rule.cost for rule in rules], np.int64),
        n_rules=np.array([rule.n_rules for rule in rules], np.int64),
        n_holes=np.array([len(rule.holes) for rule in rules], np.int64),
        hole=holes,
        operator=np.array([rule.operator for rule in rules], np.int64),
        items_first=np.cumsum([0, *(len(rule.tokens) for rule in rules)]).astype(np.int64),
        items=np.array([token for rule in rules for token in rule.tokens] or [0], np.int32),
        mode=np.array([_mode_of(grammar, symbol) for symbol in range(n_symbols)], np.int64),
        capacity=share,
    )


def bank_cost(token: int, vocabulary: Vocabulary) -> int:
    """Return the cost of a token in the bank: 1 more than elsewhere for functions other than powers and roots.

    Otherwise functions of functions would fill the bank before sums of products, which are more common in laws.
    """
    is_costly = token in BY_OPCODE and BY_OPCODE[token].traits.family in _COSTLY_FAMILIES
    return token_cost(token, vocabulary) + is_costly


def _bank_rules(grammar: Grammar) -> Iterator[_BankRule]:
    n_columns = len(grammar.vocabulary.variables)
    for symbol in range(len(grammar.symbols)):
        for tokens, n_rules in _templates_of(grammar, symbol):
            holes = tuple(token & tk.PAYLOAD_MASK for token in tokens if token >> tk.KIND_SHIFT == tk.SYMBOL)
            if (CONSTANT_TOKEN in tokens and len(tokens) > 1) or len(holes) > MAX_HOLES:
                continue
            numbers = iter(range(n_columns, n_columns + MAX_HOLES))
            named = tuple(
                tk.VARIABLE << tk.KIND_SHIFT | next(numbers) if token >> tk.KIND_SHIFT == tk.SYMBOL else token
                for token in tokens
            )
            own = [token for token in tokens if token >> tk.KIND_SHIFT != tk.SYMBOL]
            cost = sum(bank_cost(token, grammar.vocabulary) for token in own)
            operator = tokens[0] if len(holes) == len(tokens) - 1 and holes else -1
            yield _BankRule(symbol, named, holes, n_rules, cost, operator)


def _templates_of(grammar: Grammar, symbol: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield each template that a symbol derives, directly or through rules that only rename it, and the number of rules."""
    seen, todo = {symbol}, [(symbol, 1)]
    while todo:
        current, n_rules = todo.pop(0)
        for rule in grammar.rules:
            if rule.symbol != current:
                continue
            if len(rule.tokens) == 1 and rule.tokens[0] >> tk.KIND_SHIFT == tk.SYMBOL:
                renamed = rule.tokens[0] & tk.PAYLOAD_MASK
                if renamed not in seen:
                    seen.add(renamed)
                    todo.append((renamed, n_rules + 1))
            else:
                yield rule.tokens, n_rules


def _mode_of(grammar: Grammar, symbol: int) -> int:
    """Return whether a symbol derives scaled and shifted forms of whatever it derives."""
    if find_form(grammar, symbol, "affine"):
        return UP_TO_SCALE_AND_OFFSET
    return UP_TO_SCALE if find_form(grammar, symbol, "scaled") else IDENTICAL


_S, _C = -1, CONSTANT_TOKEN  # a symbol to be named, a constant
_FORMS: dict[str, tuple[tuple[int, ...], ...]] = {
    "affine": (
        (tk.ADD, tk.MUL, _C, _S, _C),
        (tk.ADD, tk.MUL, _S, _C, _C),
        (tk.ADD, _C, tk.MUL, _C, _S),
        (tk.ADD, _C, tk.MUL, _S, _C),
    ),
    "scaled": ((tk.MUL, _C, _S), (tk.MUL, _S, _C)),
    "sum": ((tk.ADD, _S, _S),),
    "difference": ((tk.SUB, _S, _S),),
    "product": ((tk.MUL, _S, _S),),
    "quotient": ((tk.DIV, _S, _S),),
    "root": ((tk.SQRT, _S),),
    "number": ((_C,),),
    "shifted": ((tk.ADD, _S, _C), (tk.ADD, _C, _S)),
    "reciprocal": ((tk.DIV, _C, _S),),
}


def pack_forms(grammar: Grammar) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the forms that each symbol derives from itself, and their lengths."""
    n_symbols = len(grammar.symbols)
    forms = np.zeros((n_symbols, N_FORMS, FORM_LENGTH), np.int32)
    lengths = np.zeros((n_symbols, N_FORMS), np.int64)
    names = {
        SCALED_FORM: "scaled",
        AFFINE_FORM: "affine",
        SUM_FORM: "sum",
        DIFFERENCE_FORM: "difference",
        PRODUCT_FORM: "product",
        QUOTIENT_FORM: "quotient",
        ROOT_FORM: "root",
        NUMBER_FORM: "number",
        SHIFTED_FORM: "shifted",
        RECIPROCAL_FORM: "reciprocal",
    }
    for symbol in range(n_symbols):
        for form, name in names.items():
            tokens = find_form(grammar, symbol, name)
            forms[symbol, form, : len(tokens)] = tokens
            lengths[symbol, form] = len(tokens)
    return forms, lengths


def find_form(grammar: Grammar, symbol: int, name: str) -> tuple[int, ...]:
    """Return the tokens of a form, such as `C * S + C`, that a symbol S derives from itself; empty if it does not."""
    own = tk.SYMBOL << tk.KIND_SHIFT | symbol
    for form in _FORMS[name]:
        tokens = tuple(own if token == _S else token for token in form)
        if grammar.derives_template(tokens, symbol):
            return tokens
    return ()
