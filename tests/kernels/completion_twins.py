"""Completions of small grammars, and what the kernels of completion make of them, as plain Python."""

import random
from unittest import mock

import numpy as np
from tests.kernels.doors import open_door
from tests.kernels.program_twins import evaluate_slowly
from tests.kernels.search_twins import rules_of

import spl.regression.bank_build
from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.kernels.bank.value_index import look_up
from spl.kernels.programs import tokens as tk
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.complete import spell_entry
from spl.kernels.tree.derivation import DERIVATION, begin_derivation, take_rule
from spl.kernels.tree.skeleton import MAX_INVERSIONS, assemble, find_path, lay_out_derivation
from spl.kernels.tree.sum_closers import find_weights
from spl.regression.bank_build import make_completion
from spl.regression.packing import pack_alphabet, pack_rules, unpack_program

HOLE_COLUMNS = tk.VARIABLE << tk.KIND_SHIFT
SIMPLE = "f -> f + f | f * f | sin(f) | x | y"  # each rule adds one token
SMOOTH = (
    "f -> f + g | f - g | f * g | f / f | sin(g) | exp(g) | x**2 * f | f**3 | x\ng -> sqrt(f) | cos(g) | g * g | y | 2"
)
ROUGH = SMOOTH.replace("| x\n", "| abs(f) | min(f, g) | x\n")
WITH_CONSTANTS = "f -> f + f | C * f | sin(g) | f / (f + C) | x\ng -> f | C * y + C | g * g"

call_assemble = open_door(assemble)
call_look_up = open_door(look_up)
call_weights = open_door(find_weights)
call_lay_out, call_find_path = open_door(lay_out_derivation), open_door(find_path)
call_spell = open_door(spell_entry)


class SmallCompletion:
    """A completion with a small bank, and the grammar and rows it was made from."""

    def __init__(
        self,
        text,
        n_rows=24,
        n_entries=120,
        target=None,
        names=("x", "y"),
        low=0.5,
        weights=None,
        max_degree=3,
        columns=None,
    ):
        self.grammar = Grammar.from_text(text).bind(names)
        uniform = np.random.default_rng(2).uniform(low, 2.0, (len(names), n_rows))
        self.columns = uniform if columns is None else columns
        n_rows = self.columns.shape[1]
        values = np.ones(n_rows) if target is None else np.asarray(target(*self.columns), float)
        self.sample = Dataset.from_arrays(self.columns.T, values, names=names, weights=weights)
        with mock.patch.multiple(spl.regression.bank_build, N_CHEAP=n_entries, MAX_MONOMIAL_DEGREE=max_degree):
            self.completion = make_completion(self.grammar, self.sample, n_entries=n_entries)
        self.rules = pack_rules(self.grammar)
        self.alphabet = pack_alphabet(self.grammar.vocabulary)
        self.skeleton = self.completion.skeleton
        self.bank = self.completion.bank
        self.n_columns = len(names)

    def entry_of(self, values, symbol=0):
        """Return the entry with these values on the first rows; it must be there."""
        entry = call_look_up(self.bank, symbol, 0, np.ascontiguousarray(values[: self.bank.n_values]), 0)
        assert entry >= 0
        return int(entry)

    def set_target(self, values):
        self.completion.wide.rows[: self.completion.wide.n] = values
        self.completion.frame.rows[: self.completion.frame.n] = values[: self.completion.frame.n]

    def fill(self, hole, entry):
        """Put an entry into a hole of both frames: the values that the bank has, or would have on all rows."""
        self.skeleton.entry[hole] = entry
        n = self.bank.n_values
        values = self.bank.values[entry * n : (entry + 1) * n]
        for frame in (self.completion.frame, self.completion.wide):
            assert frame.n == n, "give a sample that is not larger than the rows of the bank"
            frame.columns[self.n_columns + hole] = values

    def assemble(self):
        """Return the finished derivation; None if there is no room."""
        leaf = make_record(DERIVATION)
        return (
            leaf if call_assemble(self.completion.skeleton, self.completion.bank, self.completion.rules, leaf) else None
        )

    def program_of(self, leaf):
        return unpack_program(leaf.tokens[: leaf.n_tokens], leaf.guesses, self.grammar.vocabulary)

    def assembled_text(self):
        return to_text(self.program_of(self.assemble()))

    def closing(self):
        """Return the tokens that close the hole and the guesses of their constants."""
        skeleton = self.skeleton
        guesses = skeleton.closing_guesses[: skeleton.n_closing_guesses].tolist()
        return skeleton.closing[: skeleton.closing_length].tolist(), guesses

    def closing_text(self):
        tokens, guesses = self.closing()
        return to_text(unpack_program(tokens, np.array(guesses), self.grammar.vocabulary))

    def begin_with_hole(self, goal, symbol=0):
        """Make the skeleton nothing but a hole of this symbol, with a goal."""
        skeleton = self.skeleton
        skeleton.tokens[0] = HOLE_COLUMNS + self.n_columns
        skeleton.origin[0] = -1
        skeleton.length = skeleton.n_open = 1
        skeleton.hole = skeleton.position[0] = skeleton.n_steps = skeleton.n_constants = skeleton.n_rules = 0
        skeleton.symbol[0] = symbol
        self.set_target(goal)


def assert_origins_derive(small, leaf):
    """Hold each subtree with an origin to it: that symbol derives the subtree."""
    tokens = leaf.tokens[: leaf.n_tokens].tolist()
    for at, symbol in enumerate(leaf.origin[: leaf.n_tokens].tolist()):
        end, n_open = at, 1
        while n_open > 0:
            n_open += small.grammar.vocabulary.arity_of(tokens[end]) - 1
            end += 1
        assert symbol < 0 or small.grammar.derives_template(tokens[at:end], symbol)


def set_goal(small, goal, slope=1.0):
    """Make the skeleton a bare hole with this goal, each row of which has the square of the slope as its weight."""
    small.begin_with_hole(goal)
    wide = small.completion.wide
    wide.rows[(2 * MAX_INVERSIONS + 1) * wide.n :][: wide.n] = slope
    return call_weights(small.completion)


def closing_values(small, constants=None):
    """Return the values of what closes the hole, with these constants or with their guesses."""
    tokens, guesses = small.closing()
    literals = small.grammar.vocabulary.literals
    return evaluate_slowly(tokens, guesses if constants is None else constants, literals, small.columns)


def assert_derived(small):
    """Hold the finished program to the grammar."""
    leaf = small.assemble()
    assert small.grammar.derives(small.program_of(leaf))
    assert_origins_derive(small, leaf)


def weights_of(small):
    """Return the weight of each row of the goal."""
    wide = small.completion.wide
    return wide.rows[(2 * MAX_INVERSIONS + 1) * wide.n :][: wide.n].copy()


def make_state(seed):
    """Return the state of a random generator."""
    return np.array([seed], np.uint64)


def derive(small, taken):
    """Return the derivation that takes these rules."""
    derivation = make_record(DERIVATION)
    begin_derivation(small.rules, derivation)
    for rule in taken:
        take_rule(small.rules, derivation, rule)
    return derivation


def derive_at_random(small, choose, n_rules):
    """Return an unfinished derivation without constants."""
    derivation = derive(small, ())
    for _ in range(n_rules):
        symbol = int(derivation.open[derivation.n_open - 1]) & tk.PAYLOAD_MASK
        take_rule(small.rules, derivation, choose.choice(rules_of(small.rules, symbol)))
        if derivation.n_open == 0:
            return derive_at_random(small, choose, n_rules)
    return derivation


def lay_out_at_random(small, seed, n_rules=4):
    """Make a random skeleton with entries in all holes but one, which is noted; return whether there is one."""
    choose = random.Random(seed)
    if not call_lay_out(
        derive_at_random(small, choose, choose.randrange(1, n_rules + 1)), small.n_columns, small.skeleton
    ):
        return False
    for hole in range(small.skeleton.n_open):
        small.fill(hole, choose.choice(members(small, small.skeleton.symbol[hole])[:30]))
    small.skeleton.hole = choose.randrange(small.skeleton.n_open)
    return True


def members(small, symbol):
    """Return the entries of a symbol."""
    return small.bank.member[symbol, : small.bank.n_of[symbol]].tolist()
