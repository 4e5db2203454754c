"""Rollouts: random completions, completions by look-up and by least squares, and variants of the best programs."""

from unittest import mock

import numpy as np
import pytest
from tests.kernels.doors import open_door
from tests.kernels.search_twins import SlowDerivation, fewer, finished_derivations
from tests.kernels.small_search import EFFORT, POLICY, POLYNOMIALS, WAVES, Search, best_loss, complete, found_in

import spl.regression.bank_build
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.prices import PARENT_TOKEN_NATS
from spl.kernels.tree.derivation import begin_derivation, take_rule
from spl.kernels.tree.ledger import N_EPISODES
from spl.kernels.tree.rollout import (
    EXACT_EPISODES,
    LOOK_UP_CLOSER,
    NEAREST_CLOSER,
    NO_GOAL,
    ONE_HOLE,
    POWER_CLOSER,
    PRODUCTS_CLOSER,
    SCAN_CLOSER,
    can_look_up,
    complete_by_products,
    complete_leaf,
    complete_target,
    draw_exchange,
    jump,
    pick_parent,
    prepare_holes,
    roll_out,
    with_one_start,
)
from spl.regression.packing import unpack_program
from spl.settings import CLOSERS

pytestmark = pytest.mark.slow

call_roll_out, call_prepare = open_door(roll_out), open_door(prepare_holes)
call_draw_exchange = open_door(draw_exchange)
call_by_products, call_target = open_door(complete_by_products), open_door(complete_target)
call_complete_leaf, call_jump = open_door(complete_leaf), open_door(jump)


def use_only(*names):
    """Return the policy's switches of the closers with all but these off."""
    return np.array([name in names for name in CLOSERS], np.int64)


def test_the_places_of_closers_are_those_of_the_settings():
    places = {"look-up": LOOK_UP_CLOSER, "scan": SCAN_CLOSER, "power": POWER_CLOSER, "nearest": NEAREST_CLOSER}
    places["products"] = PRODUCTS_CLOSER
    assert {name: CLOSERS.index(name) for name in places} == places


@pytest.mark.parametrize(("name", "expected"), [("look-up", True), ("power", True), ("scan", False), ("none", False)])
def test_goals_are_looked_up_by_two_closers(name, expected):
    assert bool(can_look_up(POLICY._replace(closers=use_only(name)))) == expected


def test_closers_fit_from_one_start():
    quick = with_one_start(EFFORT)
    assert tuple(quick) == (1, 0, EFFORT.max_iterations, EFFORT.tolerance)


# --- random completions


def start(search, taken=()):
    """Put the derivation that takes these rules into the node of the episode."""
    begin_derivation(search.rules, search.work.node)
    for rule in taken:
        take_rule(search.rules, search.work.node, rule)


def test_the_reward_of_a_rollout_is_the_highest_of_its_programs():
    search = Search(policy=POLICY._replace(n_simulations=5))
    for _ in range(20):
        search.ledger.front.loss, search.ledger.front.reward = np.inf, 0.0
        search.ledger.keys[:] = 0
        start(search)
        reward = call_roll_out(search.context)
        assert reward == search.ledger.front[0].reward > 0.0


def test_rollouts_reach_every_program_below_the_node_and_no_other():
    search = Search(policy=POLICY._replace(n_simulations=1, max_rules=5))
    begun = SlowDerivation().take(search.rules, 0)  # f + f
    expected = {tuple(d.tokens) for d in finished_derivations(search.rules, 5) if d.tokens[0] == begun.tokens[0]}
    found = set()
    for _ in range(fewer(3_000, 1_500)):
        start(search, [0])
        call_roll_out(search.context)
        found.add(tuple(search.work.leaf.tokens[: search.work.leaf.n_tokens].tolist()))
    assert found == expected


# --- completions


def make_completing(text=POLYNOMIALS, target=None, **settings):
    policy = POLICY._replace(**({"n_completions": 64, "max_rules": 25} | settings))
    with mock.patch.multiple(spl.regression.bank_build, N_CHEAP=30, MAX_MONOMIAL_DEGREE=2):
        return Search(text, policy, target=target)


def test_a_derivation_with_one_open_symbol_has_one_hole_and_its_goal():
    search = make_completing()
    start(search)
    assert call_prepare(search.work.node, search.context) == ONE_HOLE
    frame = search.completion.frame
    np.testing.assert_array_equal(frame.rows[: frame.n], search.table.target[: frame.n])


def test_a_finished_derivation_has_no_goal():
    search = make_completing()
    start(search, [2])  # x
    assert call_prepare(search.work.node, search.context) == NO_GOAL


def test_the_varied_hole_is_another_than_the_one_to_be_closed():
    search = make_completing()
    start(search, [0, 0])  # f + f + f
    varied = [int(call_prepare(search.work.node, search.context)) for _ in range(50)]
    assert set(varied) == {0, 1, 2}
    assert all(call_prepare(search.work.node, search.context) != search.completion.skeleton.hole for _ in range(50))


def test_a_path_with_more_operators_than_allowed_has_no_goal():
    search = make_completing("f -> exp(f) | x | y", max_steps=2)
    for n_operators, expected in ((2, ONE_HOLE), (3, NO_GOAL)):
        start(search, [0] * n_operators)
        search.completion.frame.rows[: search.completion.frame.n] = 20.0
        assert call_prepare(search.work.node, search.context) == expected


def test_a_leaf_is_completed_to_an_exact_law():
    search = make_completing(target=lambda x, y: x * y + y * y * x, closers=use_only("look-up"))
    start(search, [0])  # f + f
    rewards = [call_complete_leaf(search.work.node, search.context) for _ in range(10)]
    assert max(rewards) == search.ledger.front[0].reward > 0.9 * POLICY.eta**9
    assert best_loss(search) < 1e-12


def test_a_leaf_is_not_completed_without_look_ups():
    search = make_completing(closers=use_only("scan"))
    start(search, [0])
    assert call_complete_leaf(search.work.node, search.context) == 0.0


def test_a_completion_with_too_many_rules_is_not_scored():
    search = make_completing(target=lambda x, y: x * y + y * y * x, closers=use_only("look-up"), max_rules=4)
    start(search, [0])
    assert max(call_complete_leaf(search.work.node, search.context) for _ in range(10)) == 0.0


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("f -> f + f | f * f | sin(f) | x | y", lambda x, y: np.sin(x) * (x * y + y)),
        ("f -> f + f | f * f | C * f | sin(f) | x | y", lambda x, y: np.sin(x * y) + 0.7 * np.sin(x)),
        ("f -> f + g | f * f | x\ng -> exp(h) | g * g | y\nh -> h * h | h - y | x", lambda x, y: x + np.exp(x * x - y)),
    ],
)
def test_completion_finds_in_few_episodes_what_few_simulations_cannot(text, target):
    policy = POLICY._replace(n_simulations=1, max_rules=25)
    for seed in range(1, 9):
        alone = Search(text, policy, seed, target=target)
        alone.run(30)
        assert best_loss(alone) > 1e-3
    assert any(best_loss(complete(text, target, 30, seed)) < 1e-8 for seed in range(1, 9))


@pytest.mark.parametrize("text", [POLYNOMIALS + " | C * f | sin(f)", WAVES])
def test_the_grammar_derives_all_that_completion_finds(text):
    search = complete(text, lambda x, y: np.exp(x) + np.sin(y), fewer(60, 12))
    for record in found_in(search):
        program = unpack_program(record.tokens[: record.length], record.constants, search.grammar.vocabulary)
        assert search.grammar.derives(program)
        assert record.n_rules <= 25


# --- variants of the best programs


def pick_slowly(losses, n_rows, picks):
    """Return the place with the shortest description among those that are picked."""
    places = [k for k in range(1, len(losses)) if losses[k] < np.inf]
    lengths = {k: n_rows * np.log(losses[k]) + k * PARENT_TOKEN_NATS for k in places}
    return min((places[pick] for pick in picks), key=lengths.get)


def test_a_parent_is_one_of_the_front_with_a_short_description():
    search = Search()
    losses = np.full(search.ledger.front.size, np.inf)
    losses[[0, 2, 5, 9]] = 0.1, 0.5, 0.3, 0.29
    search.ledger.front.loss = losses
    found = [int(pick_parent(search.ledger, 10, search.random)) for _ in range(300)]
    best = pick_slowly(losses, 10, [0, 1, 2])
    assert set(found) == {2, 5, 9}
    assert np.bincount(found).argmax() == best == 5
    assert np.mean(np.array(found) == best) == pytest.approx(1 - (2 / 3) ** 3, abs=0.1)


def test_an_empty_front_has_no_parent():
    search = Search()
    assert pick_parent(search.ledger, 10, search.random) == -1


SINES = "f -> f + f | f * f | sin(f) | x | y"


def jump_from_a_product(n_holes, closer, noise):
    """Return the lowest loss of many jumps from x * y, with one closer, to a law with a part that is not in the bank."""
    only = np.array([name == closer for name in CLOSERS], np.int64)
    policy = POLICY._replace(n_completions=4096, max_rules=25, closers=only)
    with mock.patch.multiple(spl.regression.bank_build, N_CHEAP=30, MAX_MONOMIAL_DEGREE=2):
        search = Search(SINES, policy, target=lambda x, y: x * (np.sin(x + y) + y * y * y) + noise)
    search.ledger.totals[N_EPISODES] = EXACT_EPISODES * (closer == "nearest")
    front, product = search.ledger.front, search.ledger.front[3]
    x = tk.VARIABLE << tk.KIND_SHIFT
    lowest = np.inf
    for _ in range(200):
        front.loss = np.inf  # what a jump has found is not varied by the next
        product.tokens[:3], product.origin[:3] = (tk.MUL, x, x + 1), 0
        product.length, product.n_rules, product.loss = 3, 3, 1.0
        call_jump(np.int64(n_holes), search.context)
        lowest = min(lowest, best_loss(search))
    return lowest


@pytest.mark.parametrize(("closer", "size"), [("look-up", 0.0), ("nearest", 1e-3)])
def test_a_jump_with_two_holes_finds_a_part_that_is_larger_than_all_entries_of_the_bank(closer, size, rng):
    noise = size * rng.standard_normal(20)
    assert jump_from_a_product(1, closer, noise) > 1e-2
    assert jump_from_a_product(2, closer, noise) < 1e-8 + 2 * size


def test_the_target_itself_is_compared_with_all_of_the_bank_under_noise(rng):
    noise = 1e-3 * rng.standard_normal(20)
    only_nearest = np.array([name == "nearest" for name in CLOSERS], np.int64)
    policy = POLICY._replace(n_completions=1, n_simulations=1, max_rules=25, is_jumping=False, closers=only_nearest)
    losses = []
    for n_before in (EXACT_EPISODES + 1, EXACT_EPISODES):
        search = Search(SINES, policy, target=lambda x, y: np.sin(x + y) + noise)
        search.ledger.totals[N_EPISODES] = n_before
        search.run(1)
        losses.append(best_loss(search))
    assert losses[0] > 1e-2
    assert losses[1] < 2e-3


def test_noise_is_no_obstacle_to_the_nearest_entry(rng):
    text = "f -> f + f | f * f | C * f | sin(f) | x | y"
    noise = 1e-3 * rng.standard_normal(20)
    only_nearest = np.array([name == "nearest" for name in CLOSERS], np.int64)
    policy = POLICY._replace(n_completions=4096, n_simulations=1, max_rules=25, is_jumping=False, closers=only_nearest)
    losses = []
    for is_late in (False, True):
        with mock.patch.multiple(spl.regression.bank_build, N_CHEAP=30, MAX_MONOMIAL_DEGREE=2):
            search = Search(text, policy, target=lambda x, y: np.sin(x) * (x * y + y) + noise)
        search.ledger.totals[N_EPISODES] = EXACT_EPISODES * is_late
        search.run(60)
        losses.append(best_loss(search))
    assert losses[0] > 1e-2
    assert losses[1] < 2e-3


PRODUCTS = "f -> f + f | f * f | C * f | sqrt(f) | sin(f) | cos(f) | C | x | y"


def close_products(target, *names):
    """Return a search that closes by these closers, for a law with sums of products."""
    return Search(PRODUCTS, POLICY._replace(n_completions=64, max_rules=40, closers=use_only(*names)), target=target)


def test_sums_of_products_are_found_for_the_target_itself():
    losses = []
    for names in ((), ("products",)):
        search = close_products(lambda x, y: 1.3 * x * np.cos(y) - 0.7 * y * y * np.sin(x), *names)
        call_target(search.context)
        losses.append(best_loss(search))
    assert losses[0] == np.inf
    assert losses[1] < 1e-9


def test_sums_of_products_are_found_inside_a_derivation():
    search = close_products(lambda x, y: np.sqrt(1.3 * x * x * y + 0.7 * y * np.sin(x)), "products")
    derivation = search.work.ancestor
    begin_derivation(search.rules, derivation)
    take_rule(search.rules, derivation, 3)
    call_by_products(derivation, np.int64(8), search.context)
    assert best_loss(search) < 1e-9


def test_episodes_close_by_products_now_and_then():
    losses = []
    for names in ((), ("products",)):
        search = close_products(lambda x, y: 1.3 * x * np.cos(y) - 0.7 * y * y * np.sin(x), *names)
        search.run(fewer(200, 60))
        losses.append(best_loss(search))
    assert losses[1] < 0.1 * losses[0]


def draw_exchanges(search):
    """Return how many of 400 calls look for a sum of products, if one in four should."""
    return sum(bool(call_draw_exchange(np.int64(4), search.context)) for _ in range(400))


def test_sums_of_products_are_looked_for_in_one_of_so_many_calls():
    assert 60 <= draw_exchanges(close_products(lambda x, y: x * y, "products")) <= 140


def test_sums_of_products_are_not_looked_for_without_the_closer_or_factors_or_anything_to_explain():
    explained = close_products(lambda x, y: x * y, "products")
    explained.ledger.front[3].loss = 1e-12
    policy = POLICY._replace(n_completions=64)
    searches = [close_products(lambda x, y: x * y, "scan"), Search(POLYNOMIALS, policy), explained]
    assert [draw_exchanges(search) for search in searches] == [0, 0, 0]
