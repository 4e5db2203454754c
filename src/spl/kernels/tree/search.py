"""The tree search: Algorithm 1 of the paper, one compiled loop over episodes.

`select`, `run_episode`, `roll_out` and `backpropagate` are the paper's selection, expansion, simulation and backpropagation. Three
details go beyond the paper: completions that cannot finish are never sampled, subtrees with nothing left to explore are closed, and
each program is evaluated once. By default, `rollout` also completes each new leaf from the bank, which finds most laws; with
`n_completions=0` the loop is the paper's.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.runtime.random import random_below, random_unit
from spl.kernels.tree.derivation import begin_derivation, copy_derivation, current_symbol, is_allowed, take_rule
from spl.kernels.tree.ledger import N_EPISODES, N_EVALUATIONS
from spl.kernels.tree.rollout import (
    EXACT_EPISODES,
    EXCHANGE_EPISODES,
    complete_ancestor,
    complete_by_least_squares,
    complete_by_products,
    complete_leaf,
    complete_target,
    draw_exchange,
    jump,
    match_target,
    roll_out,
)
from spl.kernels.tree.score import score

UNVISITED = -1  # a child that no episode has taken yet
CLOSED = -2  # a child with nothing left to explore, or from which no program can finish within max_rules


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
        ("n_open", np.int64),  # children not closed
    ],
    align=True,
)


CHILD = np.dtype(np.int64)


class Tree(NamedTuple):
    """T nodes, P places for children. Node 0 is the root."""

    nodes: np.ndarray  # NODE[T]
    child: np.ndarray  # int64[P], a node, UNVISITED or CLOSED
    used: np.ndarray  # int64[2]


def make_tree(n_nodes, max_rules_of_symbol):
    """Return a tree with only a root, and room for n_nodes nodes."""
    nodes = np.recarray(n_nodes, NODE)
    nodes.visits = 0
    nodes.best = 0.0
    nodes.total = 0.0
    nodes.first_child = -1
    nodes.n_open = 0
    return Tree(nodes, np.empty(n_nodes * max_rules_of_symbol, CHILD), np.array([1, 0], np.int64))


@kernel
def open_children(tree, node, rules, derivation, policy):
    """Give a node its children on its first visit; those that cannot finish within max_rules are closed from the start."""
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
    """Return a random child: an unvisited one if `wanted` is UNVISITED, any open one if it is 0; -1 if there is none."""
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
    """Return the child with the highest bound Q + c sqrt(ln N / n); the first in a tie."""
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


@linked_kernel
def select(tree, context) -> int:
    """Follow the highest bound from the root to a child that no episode has taken; fill path and slots, return the path's length.

    Afterwards `work.node` is the derivation with that child's rule taken, and `slots` ends with its place.
    """
    rules, policy, work, random = context.rules, context.policy, context.work, context.random
    best_reward = context.ledger.front[0].reward
    scale = best_reward if policy.is_scaled and best_reward > 0.0 else 1.0
    begin_derivation(rules, work.node)
    node = np.int64(0)  # a bare 0 has a type of its own: numba would compile the callees twice
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


@linked_kernel
def run_episode(tree, context) -> None:
    """Run one episode: selection, expansion, simulation, backpropagation."""
    policy, work = context.policy, context.work
    n_path = select(tree, context)
    if work.node.n_open == 0:
        reward = score(work.node, context.effort, context)
        backpropagate(tree, reward, n_path, work.path)
        close_upwards(tree, n_path, work.path, work.slots)
        return
    node = tree.used[N_NODES]
    tree.used[N_NODES] += 1
    tree.child[work.slots[n_path]] = node
    work.path[n_path] = node
    reward = roll_out(context)
    if policy.n_completions > 0:
        reward = max(reward, complete_leaf(work.node, context))
        complete_ancestor(work.ancestor, context)
        if random_below(context.random, 2) == 0:
            reward = max(reward, complete_by_least_squares(work.node, context))
        if draw_exchange(np.int64(EXCHANGE_EPISODES), context):
            complete_by_products(work.ancestor, np.int64(1), context)
        if policy.is_jumping:
            for n_holes in range(1, 3):
                jump(n_holes, context)
    backpropagate(tree, reward, n_path + 1, work.path)


@kernel
def run_episodes(n_episodes, max_evaluations, tree, context):
    """Run up to n_episodes episodes; return why they ended. They stop before the tree is full, and when nothing is left to explore."""
    rules, totals = context.rules, context.ledger.totals
    most_rules = 0
    for s in range(rules.shortest.size):
        most_rules = max(most_rules, rules.first[s + 1] - rules.first[s])
    for _ in range(n_episodes):
        if tree.used[N_NODES] + 1 >= tree.nodes.size or tree.used[N_CHILDREN] + 2 * most_rules > tree.child.size:
            return TREE_FULL
        if tree.nodes[0].first_child >= 0 and tree.nodes[0].n_open == 0:
            return TREE_EXHAUSTED
        if totals[N_EVALUATIONS] >= max_evaluations:
            return ENOUGH_EVALUATIONS
        if context.policy.n_completions > 0 and totals[N_EPISODES] == EXACT_EPISODES:
            match_target(context)
            complete_target(context)
        run_episode(tree, context)
        totals[N_EPISODES] += 1
    return ALL_DONE
