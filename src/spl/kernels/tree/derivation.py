"""Derivation of programs from a grammar: open items on a stack, rules as templates, random completion.

A derivation is leftmost: the symbol on top of the stack is replaced next, and the tokens of the program appear in order.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.tokens import CONSTANT, KIND_SHIFT, MAX_CONSTANTS, MAX_PROGRAM_LENGTH, PAYLOAD_MASK, SYMBOL
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.random import random_below

N_DRAWS = 8  # random picks before the allowed rules are counted


class Rules(NamedTuple):
    """A grammar: R rules sorted by symbol, S symbols (the first is the start), I items in all templates."""

    first: np.ndarray  # int64[S + 1], rules of symbol s are first[s] to first[s + 1]
    shortest: np.ndarray  # int64[S], fewest rules that finish a symbol
    items_first: np.ndarray  # int64[R + 1], where the template of each rule begins
    items: np.ndarray  # int32[I], tokens and symbols
    guesses: np.ndarray  # float64[I], starting value of each constant item, NaN if there is none
    size: np.ndarray  # int64[R], the number of rules it counts as: 1, or all rules inside a module
    rest: np.ndarray  # int64[R], fewest rules that finish the symbols of its template


# An unfinished program
DERIVATION = np.dtype(
    [
        ("tokens", np.int32, MAX_PROGRAM_LENGTH),
        (
            "origin",
            np.int32,
            MAX_PROGRAM_LENGTH,
        ),  # the symbol from which each token's subtree was derived; -1 if none
        ("guesses", np.float64, MAX_CONSTANTS),
        ("open", np.int32, MAX_PROGRAM_LENGTH),  # items to come, the next one last
        ("open_guesses", np.float64, MAX_PROGRAM_LENGTH),
        ("n_tokens", np.int64),
        ("n_constants", np.int64),
        ("n_open", np.int64),
        ("n_rules", np.int64),
        ("n_rest", np.int64),  # fewest rules that finish the open symbols
        ("is_full", np.int64),  # the program or the stack outgrew its array
    ],
    align=True,
)


@kernel
def begin_derivation(rules, derivation):
    """Reset the derivation to the start symbol."""
    derivation.n_tokens = 0
    derivation.n_constants = 0
    derivation.n_rules = 0
    derivation.is_full = 0
    derivation.open[0] = SYMBOL << KIND_SHIFT
    derivation.n_open = 1
    derivation.n_rest = rules.shortest[0]


@kernel
def copy_derivation(source, target):
    """Make the target equal to the source."""
    for i in range(source.n_tokens):
        target.tokens[i] = source.tokens[i]
        target.origin[i] = source.origin[i]
    for i in range(source.n_open):
        target.open[i] = source.open[i]
        target.open_guesses[i] = source.open_guesses[i]
    for i in range(min(source.n_constants, MAX_CONSTANTS)):
        target.guesses[i] = source.guesses[i]
    target.n_tokens = source.n_tokens
    target.n_constants = source.n_constants
    target.n_open = source.n_open
    target.n_rules = source.n_rules
    target.n_rest = source.n_rest
    target.is_full = source.is_full


@kernel
def current_symbol(derivation):
    """Return the symbol that is replaced next; the derivation must have an open one."""
    return derivation.open[derivation.n_open - 1] & PAYLOAD_MASK


@kernel
def is_allowed(rules, derivation, rule, symbol, max_rules):
    """Return whether the program can still be finished within max_rules after this rule."""
    return (
        derivation.n_rules + rules.size[rule] + rules.rest[rule] + derivation.n_rest - rules.shortest[symbol]
        <= max_rules
    )


@kernel
def take_rule(rules, derivation, rule):
    """Replace the current symbol by the rule's template and move finished tokens to the program.

    A program or stack longer than its array sets is_full and ends the derivation.
    """
    symbol = current_symbol(derivation)
    derivation.n_open -= 1
    derivation.n_rules += rules.size[rule]
    derivation.n_rest += rules.rest[rule] - rules.shortest[symbol]
    first, last = rules.items_first[rule], rules.items_first[rule + 1]
    if derivation.n_open + last - first > derivation.open.size:
        derivation.is_full = 1
        derivation.n_open = 0
        return
    for i in range(last - 1, first - 1, -1):
        derivation.open[derivation.n_open] = rules.items[i]
        derivation.open_guesses[derivation.n_open] = rules.guesses[i]
        derivation.n_open += 1
    origin = symbol
    while derivation.n_open > 0:
        item = derivation.open[derivation.n_open - 1]
        if item >> KIND_SHIFT == SYMBOL:
            return
        derivation.n_open -= 1
        if derivation.n_tokens == derivation.tokens.size:
            derivation.is_full = 1
            derivation.n_open = 0
            return
        derivation.tokens[derivation.n_tokens] = item
        derivation.origin[derivation.n_tokens] = origin
        origin = np.int64(-1)
        derivation.n_tokens += 1
        if item >> KIND_SHIFT == CONSTANT:
            if derivation.n_constants < MAX_CONSTANTS:
                derivation.guesses[derivation.n_constants] = derivation.open_guesses[derivation.n_open]
            derivation.n_constants += 1


@kernel
def random_rule(rules, derivation, max_rules, random):
    """Return one of the rules allowed for the current symbol, each with the same chance."""
    symbol = current_symbol(derivation)
    first, last = rules.first[symbol], rules.first[symbol + 1]
    for _ in range(N_DRAWS):
        rule = first + random_below(random, last - first)
        if is_allowed(rules, derivation, rule, symbol, max_rules):
            return rule
    n_allowed = 0
    for rule in range(first, last):
        n_allowed += is_allowed(rules, derivation, rule, symbol, max_rules)
    pick = random_below(random, n_allowed)
    for rule in range(first, last):
        if is_allowed(rules, derivation, rule, symbol, max_rules):
            if pick == 0:
                return rule
            pick -= 1
    return first


@kernel
def complete_at_random(rules, derivation, max_rules, random):
    """Take random rules until nothing is open. It ends within max_rules if the derivation can."""
    while derivation.n_open > 0:
        take_rule(rules, derivation, random_rule(rules, derivation, max_rules, random))
