"""The tree search, watched episode by episode against its definition, and run to the end of trees small enough."""

from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from scipy import stats
from tests.kernels.program_twins import evaluate_slowly
from tests.kernels.search_twins import (
    SlowDerivation,
    all_derivations,
    fewer,
    finished_derivations,
    next_derivations,
    rules_of,
)
from tests.kernels.small_search import POLICY, POLYNOMIALS, WAVES, Search, complete, found_in

import spl.regression.bank_build
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.prices import NUMBER_COST
from spl.kernels.tree.ledger import (
    N_EPISODES,
    N_EVALUATIONS,
    N_MODULES,
    N_OVERLONG,
    N_REPEATS,
)
from spl.kernels.tree.search import (
    ALL_DONE,
    CLOSED,
    ENOUGH_EVALUATIONS,
    N_CHILDREN,
    N_NODES,
    TREE_EXHAUSTED,
    TREE_FULL,
    UNVISITED,
)

pytestmark = pytest.mark.slow


class Snapshot(NamedTuple):
    """The tree at one moment, as plain Python."""

    visits: list[int]
    best: list[float]
    total: list[float]
    first_child: list[int]
    n_open: list[int]
    child: list[int]
    best_reward: float


def look_at(search):
    n_nodes, n_children = search.tree.used[N_NODES], search.tree.used[N_CHILDREN]
    nodes = search.tree.nodes[:n_nodes]
    columns = [np.array(nodes[name]).tolist() for name in ("visits", "best", "total", "first_child", "n_open")]
    return Snapshot(*columns, search.tree.child[:n_children].tolist(), float(search.ledger.front[0].reward))


class Follower:
    """Follows a search from outside: one episode, then what changed in the tree, and whether that is allowed."""

    def __init__(self, search):
        self.search = search
        self.derivation = {0: SlowDerivation()}  # of each node
        self.below = {0: []}  # nodes ever made under each node

    def quality(self, before, node):
        policy = self.search.policy
        value = before.best[node] if policy.is_greedy else before.total[node] / before.visits[node]
        return value / before.best_reward if policy.is_scaled and before.best_reward > 0 else value

    def bound(self, before, parent, node):
        doubt = np.sqrt(np.log(before.visits[parent]) / before.visits[node])
        return self.quality(before, node) + self.search.policy.explore * doubt

    def children_of(self, tree, node):
        n_rules = len(rules_of(self.search.rules, self.derivation[node].symbol))
        return tree.child[tree.first_child[node] : tree.first_child[node] + n_rules]

    def follow_one_episode(self):
        """Run an episode; return the nodes it went through, checked against the definition of each step."""
        before = look_at(self.search)
        assert self.search.run(1) == ALL_DONE
        after = look_at(self.search)
        old = range(len(before.visits))
        touched = {node for node in old if after.visits[node] > before.visits[node]}
        path = [0]
        while True:
            node = path[-1]
            opened = before.first_child[node] >= 0
            children = self.children_of(before if opened else after, node)
            if not opened or UNVISITED in children:
                break  # expansion
            open_children = [child for child in children if child >= 0]
            [chosen] = touched & set(open_children)
            self.check_choice(before, node, open_children, chosen)
            path.append(chosen)
        assert touched == set(path)
        new = list(range(len(before.visits), len(after.visits)))
        self.check_expansion(before, after, path[-1], new)
        self.check_backpropagation(before, after, path, new)
        return path + new

    def check_choice(self, before, node, open_children, chosen):
        bounds = {child: self.bound(before, node, child) for child in open_children}
        best = [child for child in open_children if bounds[child] >= max(bounds.values()) - 1e-12]
        assert chosen in (best if self.search.policy.epsilon == 0 else open_children)

    def check_expansion(self, before, after, node, new):
        """One child that nobody took becomes a node, or is closed for good if it is a finished program."""
        children = self.children_of(after, node)
        rules = rules_of(self.search.rules, self.derivation[node].symbol)
        followers = [self.derivation[node].take(self.search.rules, rule) for rule in rules]
        fits = [follower.fewest(self.search.rules) <= self.search.policy.max_rules for follower in followers]
        if before.first_child[node] < 0:
            earlier = [UNVISITED if fit else CLOSED for fit in fits]
        else:
            earlier = self.children_of(before, node)
        [place] = [k for k, (a, b) in enumerate(zip(earlier, children, strict=True)) if a != b]
        assert earlier[place] == UNVISITED
        assert children[place] == (new[0] if new else CLOSED)
        assert bool(followers[place].open) == bool(new)
        if new:
            self.derivation[new[0]] = followers[place]
            self.below[new[0]] = []
            self.below[node].append(new[0])

    def check_backpropagation(self, before, after, path, new):
        reward = after.total[0] - before.total[0]
        for node in path:
            assert after.visits[node] == before.visits[node] + 1
            assert after.total[node] - before.total[node] == pytest.approx(reward, abs=1e-9)
            assert after.best[node] == pytest.approx(max(before.best[node], reward), abs=1e-9)
        for node in new:
            assert after.visits[node] == 1
            assert after.best[node] == pytest.approx(reward, abs=1e-9)


@pytest.mark.parametrize("is_scaled", [True, False])
@pytest.mark.parametrize("is_greedy", [True, False])
@pytest.mark.parametrize("explore", [0.0, 0.7, 5.0])
def test_every_episode_follows_the_definition(is_scaled, is_greedy, explore):
    policy = POLICY._replace(is_scaled=is_scaled, is_greedy=is_greedy, explore=explore, max_rules=7)
    follower = Follower(Search(policy=policy))
    for _ in range(fewer(150, 40)):
        follower.follow_one_episode()


@pytest.mark.parametrize("text", [POLYNOMIALS, WAVES])
def test_every_episode_follows_the_definition_on_other_grammars_and_at_random(text):
    follower = Follower(Search(text, POLICY._replace(epsilon=0.5, max_rules=8)))
    for _ in range(fewer(150, 40)):
        follower.follow_one_episode()


def test_the_reward_of_an_episode_is_that_of_a_program_under_its_new_node():
    search = Search(policy=POLICY._replace(n_simulations=1, max_rules=5))
    follower = Follower(search)
    n_new = 0
    for _ in range(fewer(100, 30)):
        before = look_at(search)
        path = follower.follow_one_episode()
        node, after = path[-1], look_at(search)
        reward = after.total[0] - before.total[0]
        if len(after.visits) == len(before.visits):
            continue
        n_new += 1
        possible = [search.reward_of(d) for d in completions(search, follower.derivation[node])]
        assert np.min(np.abs(np.array(possible) - reward)) < 1e-9
    assert n_new >= 10


def completions(search, derivation):
    """Return every finished derivation that begins like this one."""
    todo, found = [derivation], []
    while todo:
        for follower in next_derivations(search.rules, todo.pop(), search.policy.max_rules):
            (todo if follower.open else found).append(follower)
    return found


def test_a_node_has_at_least_the_visits_of_its_children_together():
    search = Search(policy=POLICY._replace(epsilon=0.2, max_rules=9))
    follower = Follower(search)
    for _ in range(fewer(300, 60)):
        follower.follow_one_episode()
    tree = look_at(search)
    for node, children in follower.below.items():
        assert tree.visits[node] >= sum(tree.visits[child] for child in children)


def test_a_node_remembers_the_best_reward_below_it():
    search = Search(policy=POLICY._replace(epsilon=0.2, max_rules=9))
    follower = Follower(search)
    for _ in range(fewer(300, 60)):
        follower.follow_one_episode()
    tree = look_at(search)
    for node, children in follower.below.items():
        assert tree.best[node] >= max((tree.best[child] for child in children), default=0.0)


def test_a_closed_subtree_is_never_entered_again():
    search = Search(policy=POLICY._replace(max_rules=5, epsilon=0.3))
    frozen = {}
    while search.run(1) == ALL_DONE:
        tree = look_at(search)
        is_closed = [first >= 0 and n_open == 0 for first, n_open in zip(tree.first_child, tree.n_open, strict=True)]
        for node in np.flatnonzero(is_closed).tolist():
            assert frozen.setdefault(node, tree.visits[node]) == tree.visits[node]
    assert len(frozen) == search.tree.used[N_NODES]


# --- run to the end

SMALL = [(POLYNOMIALS, 5), (WAVES, 5), ("f -> sin(f) | x", 9), ("f -> x", 1)]


@pytest.mark.parametrize(("text", "max_rules"), SMALL)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_tree_is_exhausted_exactly_when_every_derivation_had_its_episode(text, max_rules, seed):
    search = Search(text, POLICY._replace(max_rules=max_rules, epsilon=0.2), seed=seed)
    assert search.run_to_the_end() == TREE_EXHAUSTED
    assert search.totals(N_EPISODES) == len(list(all_derivations(search.rules, max_rules)))


@pytest.mark.parametrize(("text", "max_rules"), SMALL)
def test_an_exhausted_tree_stays_as_it_is(text, max_rules):
    search = Search(text, POLICY._replace(max_rules=max_rules))
    search.run_to_the_end()
    before = look_at(search)
    assert search.run(10) == TREE_EXHAUSTED
    assert look_at(search) == before


@pytest.mark.parametrize(("text", "max_rules"), SMALL)
@pytest.mark.parametrize("is_greedy", [True, False])
def test_the_front_of_an_exhausted_tree_holds_the_lowest_loss_of_each_cost(text, max_rules, is_greedy):
    search = Search(text, POLICY._replace(max_rules=max_rules, is_greedy=is_greedy))
    search.run_to_the_end()
    lowest = {}
    for derivation in finished_derivations(search.rules, max_rules):
        cost = search.cost_of(derivation)
        lowest[cost] = min(lowest.get(cost, np.inf), search.loss_of(derivation))
    found = {cost: record.loss for cost, record in enumerate(search.ledger.front) if cost and np.isfinite(record.loss)}
    assert found == pytest.approx(lowest, rel=1e-12)


@pytest.mark.parametrize(("text", "max_rules"), SMALL)
def test_the_highest_reward_of_an_exhausted_tree_is_that_of_the_best_program(text, max_rules):
    search = Search(text, POLICY._replace(max_rules=max_rules))
    search.run_to_the_end()
    rewards = [search.reward_of(derivation) for derivation in finished_derivations(search.rules, max_rules)]
    assert search.ledger.front[0].reward == pytest.approx(max(rewards), rel=1e-12)
    assert search.tree.nodes[0].best == pytest.approx(max(rewards), rel=1e-12)


@pytest.mark.parametrize(("text", "max_rules"), SMALL)
def test_programs_are_evaluated_once_per_value(text, max_rules):
    search = Search(text, POLICY._replace(max_rules=max_rules))
    search.run_to_the_end()
    finished = finished_derivations(search.rules, max_rules)
    n_distinct = len({f"{search.loss_of(derivation):.9e}" for derivation in finished})
    assert search.totals(N_EVALUATIONS) == n_distinct
    assert search.totals(N_REPEATS) >= len(finished) - n_distinct


def test_the_modules_of_an_exhausted_tree_are_its_best_small_programs():
    search = Search(policy=POLICY._replace(max_rules=5, module_size=3), max_modules=4)
    search.run_to_the_end()
    small = [d for d in finished_derivations(search.rules, 5) if d.n_rules <= 3]
    best = {}
    for derivation in small:
        key = f"{search.loss_of(derivation):.9e}"
        best[key] = max(best.get(key, 0.0), search.reward_of(derivation))
    modules = search.ledger.modules[: search.totals(N_MODULES)]
    assert [module.reward for module in modules] == pytest.approx(sorted(best.values(), reverse=True)[:4])
    assert all(module.n_rules <= 3 for module in modules)


def test_a_record_tells_the_rules_of_its_derivation():
    search = Search(policy=POLICY._replace(max_rules=5))
    search.run_to_the_end()
    for record in found_in(search):
        assert record.n_rules == record.length  # in this grammar each rule adds one token


def test_constants_are_fitted_inside_the_search():
    text = "f -> C * x + C * y | C * x + C | C * y"
    search = Search(text, POLICY._replace(max_rules=1))
    search.run_to_the_end()
    x, y = search.table.columns
    designs = {(7, 2): np.stack([x, y]), (5, 2): np.stack([x, np.ones_like(x)]), (3, 1): y[None]}
    for (n_tokens, n_numbers), design in designs.items():
        cost = n_tokens + n_numbers * (NUMBER_COST - 1)
        _, [square], *_ = np.linalg.lstsq(design.T, search.table.target, rcond=None)
        assert search.ledger.front[cost].loss == pytest.approx(np.sqrt(square / x.size), rel=1e-8)


def test_the_loss_of_the_front_is_that_on_all_rows():
    search = Search(POLYNOMIALS + " | C * f", POLICY._replace(max_rules=6), n_rows=150)
    search.run(fewer(300, 25))
    literals, rows = search.grammar.vocabulary.literals, search.table
    for record in found_in(search):
        values = evaluate_slowly(record.tokens[: record.length].tolist(), record.constants, literals, rows.columns)
        assert record.loss == pytest.approx(np.sqrt(np.mean((rows.target - values) ** 2)), rel=1e-9)


def test_the_loss_in_the_reward_is_scaled():
    search = Search(policy=POLICY._replace(loss_scale=10.0))
    search.run_to_the_end()
    rewards = [search.reward_of(derivation) for derivation in finished_derivations(search.rules, 5)]
    assert search.ledger.front[0].reward == pytest.approx(max(rewards), rel=1e-12)


def test_a_program_outside_its_domain_has_the_reward_0():
    search = Search("f -> log(f) | x - 5", POLICY._replace(max_rules=3))
    assert search.run_to_the_end() == TREE_EXHAUSTED
    kept = [record.tokens[: record.length].tolist() for record in search.ledger.front if np.isfinite(record.loss)]
    assert [tokens[0] for tokens in kept] == [tk.SUB, tk.SUB]  # x - 5, by its reward and by its cost
    assert np.isfinite(search.tree.nodes[0].total)


def test_programs_longer_than_their_array_are_counted_and_left_out():
    long_rule = " + ".join(["x"] * 90)
    search = Search(f"f -> {long_rule} | x | y", POLICY._replace(max_rules=1))
    assert search.run_to_the_end() == TREE_EXHAUSTED
    assert search.totals(N_OVERLONG) == 1


# --- completions


# --- limits


def test_completion_begins_with_the_same_numbers_for_the_same_seed():
    first, second = (complete(POLYNOMIALS, None, fewer(40, 8)) for _ in range(2))
    assert look_at(first) == look_at(second)


def test_a_search_with_completion_exhausts_its_tree_as_one_without_does():
    policy = POLICY._replace(max_rules=4)
    with mock.patch.multiple(spl.regression.bank_build, N_CHEAP=10, MAX_MONOMIAL_DEGREE=1):
        search = Search(policy=policy._replace(n_completions=16))
    assert search.run_to_the_end() == TREE_EXHAUSTED
    assert search.totals(N_EPISODES) == len(list(all_derivations(search.rules, 4)))


def test_a_search_stops_when_it_has_enough_evaluations():
    search = Search(policy=POLICY._replace(max_rules=9, n_simulations=3))
    assert search.run(10_000, max_evaluations=20) == ENOUGH_EVALUATIONS
    assert 20 <= search.totals(N_EVALUATIONS) < 20 + 3


def test_a_search_stops_before_its_tree_is_over_full():
    search = Search(policy=POLICY._replace(max_rules=12), n_nodes=12)
    assert search.run(10_000) == TREE_FULL
    assert search.tree.used[N_NODES] <= 12
    assert search.run(10_000) == TREE_FULL


def test_a_tree_has_room_for_as_many_episodes_as_it_has_nodes_less_two():
    search = Search(policy=POLICY._replace(max_rules=12), n_nodes=42)
    assert search.run(40) == ALL_DONE


def test_all_episodes_are_run_and_counted():
    search = Search(policy=POLICY._replace(max_rules=12))
    assert [search.run(7), search.run(5)] == [ALL_DONE, ALL_DONE]
    assert search.totals(N_EPISODES) == 12
    assert search.tree.nodes[0].visits == 12


# --- chance


def run_with_seed(seed, slices):
    search = Search(POLYNOMIALS + " | C * f", POLICY._replace(max_rules=9, epsilon=0.3), seed=seed)
    for n in slices:
        search.run(n)
    return look_at(search)


def test_the_same_seed_gives_the_same_tree_however_the_episodes_are_sliced():
    n = fewer(120, 24)
    assert run_with_seed(3, [n]) == run_with_seed(3, [n // 3] * 3)


def test_another_seed_gives_another_tree():
    assert run_with_seed(3, [20]) != run_with_seed(4, [20])


def root_visits(epsilon, explore, n_episodes):
    """Return the visits of the children of a root whose three children never close."""
    policy = POLICY._replace(max_rules=40, epsilon=epsilon, explore=explore, n_simulations=1)
    search = Search("f -> sin(f) | cos(f) | x + f | x", policy, target=lambda x, y: np.sin(x))
    search.run(n_episodes)
    first = search.tree.nodes[0].first_child
    nodes = [node for node in search.tree.child[first : first + 4] if node >= 0]
    return [int(search.tree.nodes[node].visits) for node in nodes]


def test_epsilon_1_selects_every_child_equally_often():
    visits = root_visits(1.0, 0.0, fewer(3_000, 300))
    assert len(visits) == 3
    assert stats.chisquare(visits).pvalue > 1e-4


def test_epsilon_0_without_exploration_stays_with_the_best_child():
    n_episodes = fewer(300, 100)
    assert max(root_visits(0.0, 0.0, n_episodes)) >= n_episodes - 6


def test_much_exploration_visits_all_children_alike():
    visits = root_visits(0.0, 1000.0, fewer(300, 100))
    assert max(visits) - min(visits) <= 1


@pytest.mark.parametrize("switch", ["is_scaled", "is_greedy"])
def test_a_switch_of_q_changes_the_search(switch):
    policy = POLICY._replace(max_rules=9, explore=0.2)
    on, off = Search(policy=policy._replace(**{switch: True})), Search(policy=policy._replace(**{switch: False}))
    for search in (on, off):
        search.run(fewer(300, 60))
    assert look_at(on) != look_at(off)
