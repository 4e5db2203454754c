"""The bank against an enumeration of all programs."""

import numpy as np
import pytest
from tests.kernels.bank_twins import (
    DIFFERENCES,
    GRAMMARS,
    MAX_COST,
    POLYNOMIALS,
    RENAMED,
    SCALED,
    TWO_SYMBOLS,
    are_same,
    distinct_values,
    every_entry,
    make_small_bank,
    programs_by_cost,
)
from tests.kernels.doors import open_door
from tests.kernels.program_twins import X0, X1, evaluate_slowly
from tests.kernels.search_twins import fewer

from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.bank.bank import (
    N_ENTRIES,
    N_TRIED_PROGRAMS,
    evaluate_entries,
    grow_sums,
    spell_entry_tokens,
    write_entry,
)
from spl.kernels.programs import tokens as tk
from spl.regression.bank_packing import bank_cost
from spl.regression.packing import pack_alphabet

N_EXAMPLES = fewer(100, 30)
call_write_entry = open_door(write_entry)


@pytest.fixture(scope="module")
def small_banks():
    with np.errstate(all="ignore"):
        return {text: make_small_bank(text, MAX_COST) for text in GRAMMARS}


@pytest.fixture(params=GRAMMARS)
def small(request, small_banks):
    return small_banks[request.param]


# --- what is in it


def test_the_entries_are_the_programs_with_new_values_of_each_cost(small):
    programs = programs_by_cost(small.grammar, small.columns, MAX_COST)
    for symbol, levels in enumerate(programs):
        expected = distinct_values(levels, small.grammar, small.columns)
        for cost, values in enumerate(expected):
            found = [small.values(e) for e in small.entries(symbol) if small.bank.cost[e] == cost]
            assert len(found) == len(values)
            assert all(any(are_same(a, b) for b in found) for a in values)


def test_no_two_entries_of_a_symbol_have_the_same_values(small):
    for symbol in range(len(small.grammar.symbols)):
        rows = [small.values(entry) for entry in small.entries(symbol)]
        assert not any(are_same(a, b) for k, a in enumerate(rows) for b in rows[:k])


def test_the_entries_of_a_symbol_become_no_cheaper(small):
    for symbol in range(len(small.grammar.symbols)):
        costs = small.bank.cost[small.entries(symbol)]
        assert np.all(np.diff(costs) >= 0)


def test_the_entries_of_a_cost_are_where_first_and_last_say(small):
    for symbol in range(len(small.grammar.symbols)):
        for cost in range(1, MAX_COST + 1):
            place = range(small.bank.first[symbol, cost], small.bank.last[symbol, cost])
            assert [e for e in small.entries(symbol) if small.bank.cost[e] == cost] == list(place)


def test_no_entry_has_values_that_are_all_zero_or_outside_their_domain(small_banks):
    small = small_banks[DIFFERENCES]
    for _, entry in every_entry(small):
        values = small.values(entry)
        assert np.all(np.isfinite(values))
        assert np.any(values != 0.0)


# --- capacity


@pytest.mark.parametrize("capacity", [2, 3, 7, 20])
def test_a_bank_is_never_fuller_than_its_capacity(capacity):
    small = make_small_bank(TWO_SYMBOLS, 6, capacity)
    assert small.bank.used[N_ENTRIES] < capacity
    assert small.bank.n_of.sum() == small.bank.used[N_ENTRIES]
    assert np.all(small.bank.n_of <= small.rules.capacity)


def test_a_symbol_that_is_full_leaves_room_to_others():
    small = make_small_bank(TWO_SYMBOLS, 8, 60)
    assert small.rules.capacity.tolist() == [40, 20]
    assert small.bank.n_of[1] <= 20
    assert small.bank.n_of[0] > 30


def test_a_full_bank_holds_the_first_entries_of_a_larger_one(small_banks):
    small, large = make_small_bank(POLYNOMIALS, MAX_COST, 20), small_banks[POLYNOMIALS]
    n = int(small.bank.used[N_ENTRIES])
    assert n == 19
    assert [small.spell(entry) for entry in range(n)] == [large.spell(entry) for entry in range(n)]


@pytest.mark.parametrize("text", [POLYNOMIALS, SCALED, "f -> f + f | f - f | f * f | x | y"])
def test_sums_and_differences_of_given_entries_are_added_at_the_end(text):
    small = make_small_bank(text, max_cost=3)
    members = small.entries()
    n_before = len(members)
    rules = small.rules._replace(capacity=small.rules.capacity + 1000)
    grow_sums(small.bank, rules, pack_alphabet(small.grammar.vocabulary), 0, np.array(members, np.int64), n_before)
    known = [small.values(entry) for entry in members]
    for later, a in enumerate(known[:]):
        for b in known[:later]:
            candidates = [a + b, a - b, b - a] if "f - f" in text else [a + b]
            known += [c for c in candidates if np.any(c != 0) and not any(are_same(c, other) for other in known)]
    assert len(small.entries()) == len(known) > n_before
    for entry, values in zip(small.entries(), known, strict=True):
        assert any(are_same(small.values(entry), other) for other in known)
        np.testing.assert_allclose(
            evaluate_slowly(small.spell(entry)[0], [], small.grammar.vocabulary.literals, small.columns),
            small.values(entry),
        )
        del values


def test_sums_stop_at_the_capacity():
    small = make_small_bank(POLYNOMIALS, max_cost=3)
    n_before = len(small.entries())
    rules = small.rules._replace(capacity=np.array([n_before + 2]))
    members = np.array(small.entries(), np.int64)
    grow_sums(small.bank, rules, pack_alphabet(small.grammar.vocabulary), 0, members, n_before)
    assert len(small.entries()) == n_before + 2


def test_sums_are_those_with_the_first_few_entries():
    small = make_small_bank("f -> f + f | f * f | x | y", max_cost=3)
    members = small.entries()
    rules = small.rules._replace(capacity=small.rules.capacity + 1000)
    grow_sums(small.bank, rules, pack_alphabet(small.grammar.vocabulary), 0, np.array(members, np.int64), 1)
    first = small.values(members[0])
    sums = small.entries()[len(members) :]
    assert sums
    for entry in sums:
        assert any(are_same(small.values(entry), first + small.values(other)) for other in members)


def test_a_symbol_with_constants_has_the_number_1_beside_its_cheapest_entries_and_in_no_other():
    small = make_small_bank("f -> f + f | f * f | C | x | y")
    assert small.bank.n_cheapest.tolist() == [3]
    one = small.entries()[2]
    assert small.spell(one) == ([CONSTANT_TOKEN], [0])
    np.testing.assert_array_equal(small.values(one), 1.0)
    assert all(CONSTANT_TOKEN not in small.spell(entry)[0] for entry in small.entries() if entry != one)
    assert len(small.entries()) > 3


def test_a_symbol_without_constants_has_its_variables_as_the_cheapest_entries():
    assert make_small_bank(POLYNOMIALS).bank.n_cheapest.tolist() == [2]


def test_nothing_is_tried_without_tries():
    small = make_small_bank(POLYNOMIALS, max_tried=0)
    assert (small.bank.used[N_TRIED_PROGRAMS], small.bank.used[N_ENTRIES]) == (0, 0)


def test_a_cost_that_was_begun_is_finished_even_if_that_takes_more_tries(small_banks):
    large = small_banks[POLYNOMIALS]
    small = make_small_bank(POLYNOMIALS, MAX_COST, max_tried=3)
    assert small.entries() == [entry for entry in large.entries() if large.bank.cost[entry] <= 3]


# --- spelling


def test_the_tokens_of_an_entry_have_its_values(small):
    for _, entry in every_entry(small):
        values = evaluate_slowly(small.spell(entry)[0], (), small.grammar.vocabulary.literals, small.columns)
        np.testing.assert_allclose(values, small.values(entry), rtol=1e-9)


def test_its_symbol_derives_each_entry(small):
    for symbol, entry in every_entry(small):
        tokens, _ = small.spell(entry)
        assert small.grammar.derives_template(tokens, symbol)
        assert small.grammar.derives(Program(tuple(tokens), small.grammar.vocabulary), small.grammar.symbols[symbol])


def test_an_entry_tells_the_cost_of_its_tokens(small):
    for _, entry in every_entry(small):
        tokens = small.spell(entry)[0]
        assert small.bank.cost[entry] == sum(bank_cost(token, small.grammar.vocabulary) for token in tokens)


def test_origins_are_the_symbols_of_the_subtrees_that_rules_made(small):
    for _, entry in every_entry(small):
        assert small.spell(entry) == spell_slowly(small, entry)


def spell_slowly(small, entry):
    """Return tokens and origins by recursion: a template begins with its symbol, its holes begin with theirs."""
    rules, bank = small.rules, small.bank
    rule = int(bank.rule[entry])
    n_columns = len(small.columns)
    tokens, origin = [], []
    for item in rules.items[rules.items_first[rule] : rules.items_first[rule + 1]].tolist():
        if item in (X0 + n_columns, X0 + n_columns + 1):
            inner = spell_slowly(small, int((bank.left if item == X0 + n_columns else bank.right)[entry]))
            tokens += inner[0]
            origin += inner[1]
        else:
            tokens.append(item)
            origin.append(-1)
    origin[0] = int(rules.symbol[rule])
    return tokens, origin


def test_each_subtree_with_an_origin_is_derived_from_that_symbol(small):
    for _, entry in every_entry(small):
        tokens, origin = small.spell(entry)
        places = [at for at, symbol in enumerate(origin) if symbol >= 0]
        assert places[0] == 0
        for at in places:
            assert small.grammar.derives_template(subtree(tokens, at, small.grammar), origin[at])


def subtree(tokens, at, grammar):
    end, n_open = at, 1
    while n_open > 0:
        n_open += grammar.vocabulary.arity_of(tokens[end]) - 1
        end += 1
    return tokens[at:end]


def test_an_entry_made_through_rules_that_rename_counts_all_of_them(small_banks):
    small = small_banks[RENAMED]
    entries = {tuple(small.spell(entry)[0]): entry for entry in small.entries()}
    assert small.bank.n_rules[entries[(X0,)]] == 3  # f -> g -> h -> x
    assert small.bank.n_rules[entries[(tk.COS, X1)]] == 3  # f -> g -> cos(h) -> cos(y)
    assert small.bank.n_rules[entries[(tk.ADD, X0, X0)]] == 7
    assert small.spell(entries[(tk.COS, X1)])[1] == [0, 2]


@pytest.mark.parametrize("n_before", [0, 3])
def test_an_entry_is_appended_or_refused_without_writing_elsewhere(small, n_before):
    for _, entry in every_entry(small)[-40:]:
        expected, origins = small.spell(entry)
        for room in range(len(expected) + 3):
            size = n_before + room
            arrays = np.full((2, size + 4), 77, np.int32)
            tokens, origin = arrays[:, :size]
            length = call_write_entry(small.bank, small.rules, entry, tokens, origin, n_before)
            assert np.all(arrays[:, size:] == 77)
            assert np.all(arrays[:, :n_before] == 77)
            assert length == (n_before + len(expected) if room > len(expected) else -1)  # one more to work in
            written = arrays[:, n_before : max(length, n_before)].tolist()
            assert written == ([expected, origins] if room > len(expected) else [[], []])


def test_nothing_is_appended_to_what_had_no_room_before(small_banks):
    small = small_banks[POLYNOMIALS]
    tokens, origin = np.full((2, 20), 77, np.int32)
    assert call_write_entry(small.bank, small.rules, 0, tokens, origin, -1) == -1
    assert np.all(tokens == 77)


def test_spelling_into_too_small_an_array_is_refused(small_banks):
    small = small_banks[POLYNOMIALS]
    tokens, origin = np.zeros((2, 3), np.int32)
    assert spell_entry_tokens(small.bank, small.rules, small.entries()[-1], tokens, origin) == -1


# --- values on other rows


def test_entries_are_evaluated_on_other_rows(small_banks):
    small = small_banks[DIFFERENCES]
    columns = np.random.default_rng(3).uniform(-0.5, 2.0, (2, 20))
    entries = np.array(small.entries()[:40], np.int64)
    out = np.full((entries.size, 20), 77.0)
    scratch = np.zeros((2, tk.MAX_PROGRAM_LENGTH), np.int32)
    alphabet = pack_alphabet(small.grammar.vocabulary)
    stack = np.zeros(tk.MAX_PROGRAM_LENGTH * 64)
    evaluate_entries(small.bank, small.rules, alphabet, columns, entries, out, scratch[0], scratch[1], stack)
    n_outside = 0
    for entry, row in zip(entries.tolist(), out, strict=True):
        values = evaluate_slowly(small.spell(entry)[0], (), (0.0,), columns)
        is_whole = bool(np.all(np.isfinite(values)))
        n_outside += not is_whole
        np.testing.assert_allclose(row, values if is_whole else np.zeros(20), rtol=1e-9)
    assert n_outside > 0
