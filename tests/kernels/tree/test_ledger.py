"""The ledger against a dict, a minimum per cost and a sorted list."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.program_twins import CONSTANT, LITERAL, X0, power_token
from tests.kernels.search_twins import fewer

from spl.kernels.programs import tokens as tk
from spl.kernels.programs.prices import NUMBER_COST
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.derivation import DERIVATION
from spl.kernels.tree.ledger import (
    N_CLEARED,
    N_KEYS,
    N_MODULES,
    RECORD,
    copy_record,
    description_cost,
    enter_front,
    enter_modules,
    find_key,
    make_ledger,
    make_records,
    module_place,
    store_loss,
)

COSTS = np.ones(256, np.int64)
N_EXAMPLES = fewer(150, 60)


def make_small_ledger(max_cost=5, max_modules=3, n_keys=16):
    return make_ledger(max_cost, max_modules, n_keys, COSTS)


def make_program(number, n_rules=3):
    """Return a finished derivation that tells its number by its token, and the constants that go with it."""
    derivation = make_record(DERIVATION)
    derivation.tokens[:2] = [X0 + number, CONSTANT]
    derivation.n_tokens = 2
    derivation.n_constants = 1
    derivation.n_rules = n_rules
    return derivation, np.full(tk.MAX_CONSTANTS, float(number))


def number_of(record):
    return int(record.tokens[0]) - X0


def recall(ledger, key):
    """Return the loss of a key, None if it is not there."""
    at = find_key(ledger, np.uint64(key))
    return float(ledger.losses[at]) if int(ledger.keys[at]) == key else None


# Few keys with equal low bits, so that they crowd into the same places and some come again
KEYS = st.builds(lambda high, low: high * 16 + low, st.integers(1, 2**59), st.integers(12, 15)) | st.integers(1, 40)


@pytest.mark.slow
@settings(max_examples=N_EXAMPLES)
@given(st.lists(st.tuples(KEYS, st.floats(0, 1e300)), max_size=60))
def test_the_table_is_a_dict_that_is_emptied_when_three_quarters_full(entries):
    ledger, twin, n_cleared = make_small_ledger(n_keys=16), {}, 0
    for key, loss in entries:
        if len(twin) >= 12:
            twin.clear()
            n_cleared += 1
        twin[key] = loss
        store_loss(ledger, np.uint64(key), loss)
    assert {key: recall(ledger, key) for key, _ in entries} == {key: twin.get(key) for key, _ in entries}
    assert (ledger.totals[N_KEYS], ledger.totals[N_CLEARED]) == (len(twin), n_cleared)


def test_a_key_stored_again_has_its_last_loss():
    ledger = make_small_ledger()
    store_loss(ledger, np.uint64(7), 1.0)
    store_loss(ledger, np.uint64(7), 2.0)
    assert (recall(ledger, 7), ledger.totals[N_KEYS]) == (2.0, 1)


def test_an_infinite_loss_is_remembered():
    ledger = make_small_ledger()
    store_loss(ledger, np.uint64(7), np.inf)
    assert recall(ledger, 7) == np.inf


def test_a_crowd_of_keys_goes_round_the_end_of_the_table():
    ledger = make_small_ledger(n_keys=8)
    keys = [7, 15, 23, 31]
    for key in keys:
        store_loss(ledger, np.uint64(key), float(key))
    assert [recall(ledger, key) for key in keys] == keys
    assert recall(ledger, 39) is None


def test_the_cost_of_a_description_is_the_sum_of_the_costs_of_its_tokens_and_numbers():
    costs = COSTS.copy()
    costs[tk.SIN] = 5
    costs[tk.USER_BINARY] = 7
    tokens = np.array([tk.USER_BINARY, tk.SIN, power_token(4), X0, tk.MUL, CONSTANT, LITERAL], np.int32)
    assert description_cost(tokens, tokens.size, costs) == 7 + 5 + 4 + NUMBER_COST
    assert description_cost(tokens, 2, costs) == 12


SCORES = st.sampled_from([0.125, 0.25, 0.5, 0.75, 0.875]) | st.floats(0.001, 0.999)
FIND = st.tuples(st.integers(1, 7), SCORES, SCORES)  # cost, loss, reward
FINDS = st.lists(FIND, max_size=25)


def enter_all_into_front(finds):
    ledger = make_small_ledger(max_cost=5)
    for number, (cost, loss, reward) in enumerate(finds):
        derivation, constants = make_program(number)
        enter_front(ledger, derivation, constants, cost, loss, reward)
    return ledger.front


@settings(max_examples=N_EXAMPLES)
@given(FINDS)
def test_the_front_keeps_the_lowest_loss_of_each_cost_and_the_first_of_equals(finds):
    front = enter_all_into_front(finds)
    for cost in range(1, 6):
        rivals = [(loss, number) for number, (c, loss, _) in enumerate(finds) if c == cost]
        if rivals:
            assert (front[cost].loss, number_of(front[cost])) == min(rivals)
        else:
            assert front[cost].loss == np.inf


@settings(max_examples=N_EXAMPLES)
@given(st.lists(FIND, min_size=1, max_size=25))
def test_place_0_keeps_the_highest_reward_of_any_cost(finds):
    front = enter_all_into_front(finds)
    reward, number = max((reward, -number) for number, (_, _, reward) in enumerate(finds))
    assert (front[0].reward, number_of(front[0])) == (reward, -number)


def test_a_record_holds_the_whole_program():
    ledger = make_small_ledger()
    derivation, constants = make_program(4, n_rules=9)
    enter_front(ledger, derivation, constants, 2, 0.5, 0.25)
    record = ledger.front[2]
    assert record.tokens[: record.length].tolist() == [X0 + 4, CONSTANT]
    assert (record.constants[0], record.loss, record.reward, record.n_rules) == (4.0, 0.5, 0.25, 9)


def enter_slowly(kept, loss, reward, number, n_kept):
    """Return the best modules, best first, as (loss, reward, number); of two with one loss the better stays."""
    same = [module for module in kept if abs(module[0] - loss) <= 1e-9 * loss]
    if same and reward <= same[0][1]:
        return kept
    others = [module for module in kept if module not in same[:1]]
    return sorted([*others, (loss, reward, number)], key=lambda module: -module[1])[:n_kept]


MODULE_SCORES = st.integers(1, 40).map(lambda k: k / 64)  # far apart or equal, never nearly so


@pytest.mark.slow
@settings(max_examples=N_EXAMPLES)
@given(st.lists(st.tuples(MODULE_SCORES, MODULE_SCORES), max_size=25), st.integers(1, 4))
def test_modules_are_the_best_of_distinct_losses_in_the_order_of_their_rewards(finds, n_kept):
    ledger, twin = make_small_ledger(max_modules=n_kept), []
    for number, (loss, reward) in enumerate(finds):
        derivation, constants = make_program(number)
        has_place = module_place(ledger, loss, reward) >= 0
        enter_modules(ledger, derivation, constants, loss, reward)
        before, twin = twin, enter_slowly(twin, loss, reward, number, n_kept)
        assert has_place == (twin != before)
    modules = ledger.modules[: ledger.totals[N_MODULES]]
    assert [(module.loss, module.reward, number_of(module)) for module in modules] == twin


def test_modules_whose_losses_agree_to_nine_digits_are_one():
    ledger = make_small_ledger()
    for number, (loss, reward) in enumerate([(0.5, 0.4), (0.5 * (1 + 1e-10), 0.6), (0.5 * (1 - 1e-10), 0.5)]):
        enter_modules(ledger, *make_program(number), loss, reward)
    assert (ledger.totals[N_MODULES], number_of(ledger.modules[0])) == (1, 1)


def test_two_exact_modules_are_one():
    ledger = make_small_ledger()
    enter_modules(ledger, *make_program(0), 0.0, 0.9)
    enter_modules(ledger, *make_program(1), 0.0, 0.95)
    assert (ledger.totals[N_MODULES], number_of(ledger.modules[0])) == (1, 1)


def test_a_copied_record_is_equal_and_apart():
    source, target = make_records(2)
    source.tokens[:3] = [tk.ADD, X0, CONSTANT]
    source.origin[:3] = [0, 1, -1]
    source.length, source.loss, source.reward, source.n_rules = 3, 0.25, 0.75, 4
    source.constants[:] = np.arange(tk.MAX_CONSTANTS)
    copy_record(source, target)
    source.tokens[0] = tk.MUL
    assert target.tokens[:3].tolist() == [tk.ADD, X0, CONSTANT]
    assert target.origin[:3].tolist() == [0, 1, -1]
    assert (target.length, target.loss, target.reward, target.n_rules) == (3, 0.25, 0.75, 4)
    np.testing.assert_array_equal(target.constants, np.arange(tk.MAX_CONSTANTS))


def test_new_places_are_empty():
    records = make_records(3)
    assert records.dtype.fields.keys() == RECORD.fields.keys()
    assert (records.loss.tolist(), records.reward.tolist(), records.length.tolist()) == (
        [np.inf] * 3,
        [0.0] * 3,
        [0] * 3,
    )
