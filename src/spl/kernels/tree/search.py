"""The tree search: Algorithm 1 of the paper, one compiled loop over episodes.

Selection, expansion, simulation and backpropagation are functions of that name below. Three habits go beyond the paper: a completion
that cannot finish is never sampled, a subtree without anything left to explore is closed, and a program is evaluated once.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import apart
from spl.kernels.runtime.random import random_below, random_unit
from spl.kernels.tree.derivation import begin, copy_derivation, current_symbol, is_allowed, take_rule
from spl.kernels.tree.ledger import N_EPISODES, N_EVALUATIONS
from spl.kernels.tree.rollout import (
    EXACT_EPISODES,
    complete,
    complete_again,
    complete_nearly,
    jump,
    match_target,
    simulate,
)
from spl.kernels.tree.score import score

UNVISITED = -1  # a child that no episode has taken yet
CLOSED = -2  # a child with nothing left to explore, or one from which no program can finish in time


# Why `run_episodes` returned
ALL_DONE, TREE_FULL, TREE_EXHAUSTED, ENOUGH_EVALUATIONS = range(4)

# Places in `Tree.used`
N_NODES, N_CHILDREN = range(2)


NODE = np.dtype(
    [
        ("visits", np.int64),
        ("best", np.float64),  # highest reward seen through the node
        ("total", np.float64),  # sum of the rewards
        ("first_child", np.int64),  # where its children begin; -1 before the first visit
        ("n_open", np.int64),  # children that are not closed
    ],
    align=True,
)


class Tree(NamedTuple):
    """T nodes, P places for children. Node 0 is the root."""

    nodes: np.ndarray  # NODE[T]
    child: np.ndarray  # int64[P], a node, UNVISITED or CLOSED
    used: np.ndarray  # int64[2]


def make_tree(n_nodes, max_rules_of_symbol):
    """Return a tree with only a root, and room for that many nodes."""
    nodes = np.recarray(n_nodes, NODE)
    nodes.visits = 0
    nodes.best = 0.0
    nodes.total = 0.0
    nodes.first_child = -1
    nodes.n_open = 0
    return Tree(nodes, np.empty(n_nodes * max_rules_of_symbol, np.int64), np.array([1, 0], np.int64))


@kernel
def open_children(tree, node, rules, derivation, policy):
    """Give a node its children on its first visit; those that cannot finish in time are closed from the start."""
    symbol = current_symbol(derivation)
    first_rule, last_rule = rules.first[symbol], rules.first[symbol + 1]
    at = tree.used[N_CHILDREN]
    tree.nodes[node].first_child = at
    tree.used[N_CHILDREN] += last_rule - first_rule
    for rule in range(first_rule, last_rule):
        allowed = is_allowed(rules, derivation, rule, symbol, policy.max_rules)
        tree.child[at + rule - first_rule] = UNVISITED if allowed else CLOSED
        tree.nodes[node].n_open += allowed


@kernel
def random_child(tree, first, n, wanted, random):
    """Return one of the children at random: an unvisited one, or any open one if `wanted` is 0; -1 if there is none."""
    count = 0
    for k in range(n):
        count += tree.child[first + k] == wanted or (wanted == 0 and tree.child[first + k] >= 0)
    if count == 0:
        return -1
    pick = random_below(random, count)
    for k in range(n):
        if tree.child[first + k] == wanted or (wanted == 0 and tree.child[first + k] >= 0):
            if pick == 0:
                return k
            pick -= 1
    return -1


@kernel
def best_child(tree, node, first, n, policy, scale):
    """Return the child with the highest bound Q + c sqrt(ln N / n); the first of equals."""
    log_visits = np.log(tree.nodes[node].visits)
    chosen = -1
    highest = -np.inf
    for k in range(n):
        child = tree.child[first + k]
        if child < 0:
            continue
        quality = tree.nodes[child].best if policy.is_greedy else tree.nodes[child].total / tree.nodes[child].visits
        bound = quality / scale + policy.explore * np.sqrt(log_visits / tree.nodes[child].visits)
        if bound > highest:
            highest = bound
            chosen = k
    return chosen


@apart
def select(tree, rules, policy, best_reward, work, random):
    """Walk from the root to a child that no episode has taken, by the bound; fill path and slots, return the path's length.

    Afterwards `work.node` is the derivation with that child's rule taken, and `slots` ends with its place.
    """
    scale = best_reward if policy.is_scaled and best_reward > 0.0 else 1.0
    begin(rules, work.node)
    node = np.int64(0)  # a plain 0 would make numba compile a second version of what it is passed to
    n_path = 0
    while True:
        work.path[n_path] = node
        n_path += 1
        if tree.nodes[node].first_child < 0:
            open_children(tree, node, rules, work.node, policy)
        first = tree.nodes[node].first_child
        symbol = current_symbol(work.node)
        first_rule = rules.first[symbol]
        n = rules.first[symbol + 1] - first_rule
        k = random_child(tree, first, n, np.int64(UNVISITED), random)
        is_new = k >= 0
        if not is_new and random_unit(random) < policy.epsilon:
            k = random_child(tree, first, n, np.int64(0), random)
        elif not is_new:
            k = best_child(tree, node, first, n, policy, scale)
        work.slots[n_path] = first + k
        if policy.n_completions > 0 and random_below(random, n_path) == 0:
            copy_derivation(work.node, work.ancestor)
        take_rule(rules, work.node, first_rule + k)
        if is_new:
            return n_path
        node = tree.child[first + k]


@kernel
def backpropagate(tree, reward, n_path, path):
    """Add the reward to every node of the path."""
    for i in range(n_path):
        node = path[i]
        tree.nodes[node].visits += 1
        tree.nodes[node].total += reward
        tree.nodes[node].best = max(tree.nodes[node].best, reward)


@kernel
def close_upwards(tree, n_path, path, slots):
    """Close the child that ends the path, and every node above it that has no open child left."""
    for i in range(n_path, 0, -1):
        tree.child[slots[i]] = CLOSED
        parent = path[i - 1]
        tree.nodes[parent].n_open -= 1
        if tree.nodes[parent].n_open > 0:
            return


@apart
def run_episode(tree, rules, completion, alphabet, table, effort, policy, ledger, work, random):
    """Run one episode: selection, expansion, simulation, backpropagation."""
    n_path = select(tree, rules, policy, ledger.front[0].reward, work, random)
    if work.node.n_open == 0:
        reward = score(work.node, alphabet, table, effort, policy, ledger, work, random)
        backpropagate(tree, reward, n_path, work.path)
        close_upwards(tree, n_path, work.path, work.slots)
        return
    node = tree.used[N_NODES]
    tree.used[N_NODES] += 1
    tree.child[work.slots[n_path]] = node
    work.path[n_path] = node
    reward = simulate(rules, alphabet, table, effort, policy, ledger, work, random)
    if policy.n_completions > 0:
        found = complete(work.node, completion, alphabet, table, effort, policy, ledger, work, random)
        reward = max(reward, found)
        complete_again(work.ancestor, completion, alphabet, table, effort, policy, ledger, work, random)
        if random_below(random, 2) == 0:
            found = complete_nearly(work.node, completion, alphabet, table, effort, policy, ledger, work, random)
            reward = max(reward, found)
        if policy.is_jumping:
            for n_holes in range(1, 3):
                jump(n_holes, completion, alphabet, table, effort, policy, ledger, work, random)
    backpropagate(tree, reward, n_path + 1, work.path)


@kernel(entry=True)
def run_episodes(
    n_episodes, max_evaluations, tree, rules, completion, alphabet, table, effort, policy, ledger, work, random
):
    """Run up to so many episodes; return why it ended. Stops before the tree is over-full, and when nothing is left to explore."""
    most_rules = 0
    for s in range(rules.shortest.size):
        most_rules = max(most_rules, rules.first[s + 1] - rules.first[s])
    for _ in range(n_episodes):
        if tree.used[N_NODES] + 1 >= tree.nodes.size or tree.used[N_CHILDREN] + 2 * most_rules > tree.child.size:
            return TREE_FULL
        if tree.nodes[0].first_child >= 0 and tree.nodes[0].n_open == 0:
            return TREE_EXHAUSTED
        if ledger.totals[N_EVALUATIONS] >= max_evaluations:
            return ENOUGH_EVALUATIONS
        if policy.n_completions > 0 and ledger.totals[N_EPISODES] == EXACT_EPISODES:
            match_target(rules, completion, alphabet, table, effort, policy, ledger, work, random)
        run_episode(tree, rules, completion, alphabet, table, effort, policy, ledger, work, random)
        ledger.totals[N_EPISODES] += 1
    return ALL_DONE
