"""Simulation: what a new leaf of the tree may be worth, by completions at random as in the paper, by look-up and by least squares.

`complete` and `complete_again` look goals up, `complete_nearly` fits goals that are only about right, `jump` does both for variants of
the best programs so far. See the files `complete`, `closers`, `products` and `matching` for the single steps.
"""

import numpy as np

from spl.kernels.bank.bank import MAX_HOLES
from spl.kernels.bank.spatial_index import no_match
from spl.kernels.programs.fit import Effort
from spl.kernels.programs.rows import copy_row
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import apart
from spl.kernels.runtime.random import random_below
from spl.kernels.tree.bank_closers import (
    close_by_correlation,
    close_by_match,
    close_by_scan,
    find_match,
    rank_matches,
    ranked_match,
)
from spl.kernels.tree.complete import (
    close_by_look_up,
    evaluate_sibling,
    fill_hole,
    find_slope,
    random_place,
    walk,
)
from spl.kernels.tree.derivation import begin, complete_at_random, copy_derivation
from spl.kernels.tree.ledger import N_EPISODES, lowest_loss
from spl.kernels.tree.product_closers import close_by_monomial, close_by_power_look_up
from spl.kernels.tree.score import score
from spl.kernels.tree.skeleton import MAX_OPEN, assemble, find_way, lay_out, lay_out_jump, step_with
from spl.kernels.tree.sum_closers import close_by_combination, find_weights

FARTHEST = 8  # how much deeper into the bank than the number of look-ups some of them go
N_CONTENDERS = 3  # programs of the front that compete to be varied
TOKEN_NATS = 1.0  # what a token costs in this
TINY = 1e-300
LOOK_UP, POWER, NEAREST = 0, 5, 6  # places in `Policy.closers`
ONE_HOLE, NOTHING = np.int64(-1), np.int64(-2)  # what `prepare` may return instead of a hole
ALL_SHARE = 24  # of the jumps with one hole, one in so many compares its goal with all of the bank
EXACT_EPISODES = 200  # of a tree, in which most laws without noise are found: goals are taken as exact
ABOUT = 1.5  # errors on a few rows that are so many times the lowest loss may belong to a program that is as good


@kernel
def simulate(rules, alphabet, table, effort, policy, ledger, work, random):
    """Return the highest reward of several random completions of the new leaf.

    Each draws its own bound on the number of rules, between the fewest possible and max_rules: short programs are tried as often as
    long ones, and cost less. Measured on Nguyen-4: 180,000 evaluations to the solution instead of 440,000.
    """
    highest = 0.0
    for _ in range(policy.n_simulations):
        copy_derivation(work.node, work.leaf)
        fewest = work.leaf.n_rules + work.leaf.n_rest
        bound = fewest + random_below(random, policy.max_rules - fewest + 1)
        complete_at_random(rules, work.leaf, bound, random)
        highest = max(highest, score(work.leaf, alphabet, table, effort, policy, ledger, work, random))
    return highest


@kernel
def without_starts(effort):
    """Return the effort of a fit from one start: closers guess all constants."""
    return Effort(np.int64(1), np.int64(0), effort.max_iterations, effort.tolerance)


@kernel
def can_look_up(policy):
    """Tell whether exact goals are looked up at all."""
    return policy.closers[LOOK_UP] > 0 or policy.closers[POWER] > 0


@kernel
def close_and_score(completion, alphabet, table, effort, policy, ledger, work, random):
    """Return the reward of the program that the goal leads to; 0 if there is none."""
    is_closed = policy.closers[LOOK_UP] > 0 and close_by_look_up(completion)
    if not is_closed and not (policy.closers[POWER] > 0 and close_by_power_look_up(completion)):
        return 0.0
    skeleton = completion.skeleton
    if not assemble(skeleton, completion.bank, completion.rules, work.leaf) or work.leaf.n_rules > policy.max_rules:
        return 0.0
    return score(work.leaf, alphabet, table, effort, policy, ledger, work, random)


@kernel
def open_way(varied, completion, alphabet, policy, random):
    """Walk from the root towards the hole to be closed, as far as the one to be varied; tell whether that is possible."""
    skeleton, frame = completion.skeleton, completion.frame
    if not find_way(skeleton, random) or skeleton.n_steps > policy.max_steps:
        return False
    n_steps = skeleton.n_steps
    varied_step = step_with(skeleton, varied) if varied >= 0 else n_steps
    for k in range(n_steps):
        if k != varied_step:
            evaluate_sibling(skeleton, k, alphabet, frame)
    skeleton.n_steps = varied_step
    is_open = walk(skeleton, np.int64(0), alphabet, frame)
    skeleton.n_steps = n_steps
    return is_open


@apart
def prepare(derivation, completion, alphabet, policy, random):
    """Lay a derivation out with one hole to be closed and another to be varied; return the latter.

    All others get random entries. -1 says that there is but one hole, and its goal is known; -2 that there is nothing to complete.
    """
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    n_columns = bank.columns.shape[0] - MAX_HOLES
    if not lay_out(derivation, n_columns, skeleton):
        return NOTHING
    n_open = skeleton.n_open
    skeleton.hole = random_below(random, n_open)
    varied = ONE_HOLE
    if n_open > 1:
        varied = (skeleton.hole + 1 + random_below(random, n_open - 1)) % n_open
    for k in range(n_open):
        if k != skeleton.hole and k != varied:
            symbol = skeleton.symbol[k]
            if bank.n_of[symbol] == 0:
                return NOTHING
            place = random_place(bank.n_cheapest[symbol], bank.n_of[symbol], random)
            fill_hole(skeleton, k, np.int64(bank.member[symbol, place]), bank, frame, n_columns)
    return varied if open_way(varied, completion, alphabet, policy, random) else NOTHING


@kernel
def vary(completion, alphabet, varied, place):
    """Put an entry into the hole that is varied; tell whether there is a goal then."""
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    n_columns = bank.columns.shape[0] - MAX_HOLES
    step = step_with(skeleton, varied)
    fill_hole(skeleton, varied, np.int64(bank.member[skeleton.symbol[varied], place]), bank, frame, n_columns)
    evaluate_sibling(skeleton, step, alphabet, frame)
    return walk(skeleton, step, alphabet, frame)


@apart
def complete(derivation, completion, alphabet, table, effort, policy, ledger, work, random):
    """Return the highest reward of completions of a new leaf: one hole is looked up for each of many entries in another.

    These are the cheapest entries, in order, and some of those that follow; the nearer the leaf is to the root, the more.
    """
    skeleton, bank = completion.skeleton, completion.bank
    if not can_look_up(policy):
        return 0.0
    varied = prepare(derivation, completion, alphabet, policy, random)
    if varied == NOTHING:
        return 0.0
    if varied == ONE_HOLE:
        return close_and_score(completion, alphabet, table, effort, policy, ledger, work, random)
    n_of = bank.n_of[skeleton.symbol[varied]]
    n_tries = policy.n_completions >> min(2 * max(skeleton.n_rules - 1, 0), 6)
    highest = 0.0
    for i in range(min(n_tries, n_of)):
        place = np.int64(i)
        if 2 * i >= n_tries:
            place = min(i + random_below(random, FARTHEST * n_tries), n_of - 1)
        if vary(completion, alphabet, varied, place):
            highest = max(highest, close_and_score(completion, alphabet, table, effort, policy, ledger, work, random))
    return highest


@apart
def look_up_all(varied, completion, alphabet, table, effort, policy, ledger, work, random):
    """Score what the goals of random entries in the hole that is varied lead to."""
    skeleton, bank = completion.skeleton, completion.bank
    if not can_look_up(policy):
        return
    if varied == ONE_HOLE:
        close_and_score(completion, alphabet, table, effort, policy, ledger, work, random)
        return
    n_of = bank.n_of[skeleton.symbol[varied]]
    for _ in range(min(policy.n_completions >> 5, n_of)):
        if vary(completion, alphabet, varied, random_place(np.int64(0), n_of, random)):
            close_and_score(completion, alphabet, table, effort, policy, ledger, work, random)


@kernel
def score_match(match, completion, alphabet, table, effort, policy, ledger, work, random):
    """Score the program in which an entry that comes near to its goal closes the hole."""
    if (
        close_by_match(completion, match)
        and assemble(completion.skeleton, completion.bank, completion.rules, work.leaf)
        and work.leaf.n_rules <= policy.max_rules
    ):
        score(work.leaf, alphabet, table, without_starts(effort), policy, ledger, work, random)


@apart
def match_best(varied, completion, alphabet, table, effort, policy, ledger, work, random):
    """Score the best of what comes nearest to the goals of random entries in the hole that is varied.

    What is looked for is at least about as good as the best program so far; the better the first ones, the nearer must the next be.
    """
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    if policy.closers[NEAREST] == 0:
        return
    best_place, best = np.int64(0), no_match(frame.n * (ABOUT * lowest_loss(ledger)) ** 2)
    n_of = bank.n_of[skeleton.symbol[varied]] if varied >= 0 else 1
    for _ in range(min(policy.n_completions >> 6, n_of)):
        place = np.int64(0)
        if varied >= 0:
            place = random_place(np.int64(0), n_of, random)
            if not vary(completion, alphabet, varied, place):
                continue
        found = find_match(completion, alphabet, best.error)
        if found.entry >= 0:
            best_place, best = place, found
    if best.entry < 0:
        return
    if varied >= 0:
        skeleton.entry[varied] = bank.member[skeleton.symbol[varied], best_place]
    score_match(best, completion, alphabet, table, effort, policy, ledger, work, random)


@apart
def match_all(completion, alphabet, table, effort, policy, ledger, work, random):
    """Score the entries of all the bank that come nearest to the goal."""
    if policy.closers[NEAREST] == 0:
        return
    for k in range(rank_matches(completion, alphabet)):
        match = ranked_match(completion, k)
        score_match(match, completion, alphabet, table, effort, policy, ledger, work, random)


@apart
def match_target(rules, completion, alphabet, table, effort, policy, ledger, work, random):
    """Score the entries of all the bank that come nearest to the target itself."""
    begin(rules, work.leaf)
    if prepare(work.leaf, completion, alphabet, policy, random) == ONE_HOLE:
        match_all(completion, alphabet, table, effort, policy, ledger, work, random)


@apart
def complete_again(derivation, completion, alphabet, table, effort, policy, ledger, work, random):
    """Score completions of a derivation that was completed before, for random entries in one hole, by look-up of another.

    Later on, also by the entry that comes nearest to the goal.
    """
    varied = prepare(derivation, completion, alphabet, policy, random)
    if varied != NOTHING:
        look_up_all(varied, completion, alphabet, table, effort, policy, ledger, work, random)
    if ledger.totals[N_EPISODES] < EXACT_EPISODES:
        return
    varied = prepare(derivation, completion, alphabet, policy, random)
    if varied != NOTHING:
        match_best(varied, completion, alphabet, table, effort, policy, ledger, work, random)


@apart
def close_nearly(completion, alphabet, table, effort, policy, ledger, work, random):
    """Return the highest reward of what the closers make of the skeleton."""
    skeleton, wide = completion.skeleton, completion.wide
    if not find_way(skeleton, random) or skeleton.n_steps > policy.max_steps:
        return 0.0
    for k in range(skeleton.n_steps):
        evaluate_sibling(skeleton, k, alphabet, wide)
    if not walk(skeleton, np.int64(0), alphabet, wide):
        return 0.0
    find_slope(skeleton, alphabet, wide)
    if not find_weights(completion):
        return 0.0
    quick = without_starts(effort)
    highest = 0.0
    for closer in range(4):
        if policy.closers[1 + closer] == 0:
            continue
        if closer == 0:
            is_closed = close_by_combination(completion, random)
        elif closer == 1:
            is_closed = close_by_monomial(completion)
        elif closer == 2:
            is_closed = close_by_correlation(completion)
        else:
            is_closed = close_by_scan(completion, alphabet, random)
        if (
            is_closed
            and assemble(skeleton, completion.bank, completion.rules, work.leaf)
            and work.leaf.n_rules <= policy.max_rules
        ):
            highest = max(highest, score(work.leaf, alphabet, table, quick, policy, ledger, work, random))
    return highest


@apart
def complete_nearly(derivation, completion, alphabet, table, effort, policy, ledger, work, random):
    """Return the highest reward of completions of the new leaf by least squares: all holes but one get cheap entries."""
    skeleton, bank, wide = completion.skeleton, completion.bank, completion.wide
    n_columns = bank.columns.shape[0] - MAX_HOLES
    if not lay_out(derivation, n_columns, skeleton):
        return 0.0
    skeleton.hole = random_below(random, skeleton.n_open)
    for k in range(skeleton.n_open):
        symbol = skeleton.symbol[k]
        n_near = completion.n_near[symbol]
        if k == skeleton.hole:
            continue
        if n_near == 0:
            return 0.0
        place = random_place(bank.n_cheapest[symbol], n_near, random)
        skeleton.entry[k] = bank.member[symbol, place]
        at = (symbol * completion.near.shape[1] + place) * wide.n
        copy_row(completion.near, at, wide.columns, (n_columns + k) * wide.n, wide.n)
    return close_nearly(completion, alphabet, table, effort, policy, ledger, work, random)


@kernel
def pick_parent(ledger, n_rows, random):
    """Return the place in the front of one of several random programs: that with the shortest description; -1 if there is none."""
    n_best = 0
    for k in range(1, ledger.front.size):
        n_best += ledger.front[k].loss < np.inf
    if n_best == 0:
        return -1
    chosen = -1
    shortest = np.inf
    for _ in range(N_CONTENDERS):
        pick = random_below(random, n_best)
        for k in range(1, ledger.front.size):
            if ledger.front[k].loss < np.inf:
                if pick == 0:
                    length = n_rows * np.log(ledger.front[k].loss + TINY) + k * TOKEN_NATS
                    if length < shortest:
                        shortest = length
                        chosen = k
                pick -= 1
    return chosen


@kernel
def spread_constants(skeleton, frame, n_columns):
    """Make columns of the constants of a skeleton."""
    for c in range(skeleton.n_constants):
        for j in range(frame.n):
            frame.columns[n_columns + MAX_OPEN + c, j] = skeleton.constants[c]


@apart
def jump(n_holes, completion, alphabet, table, effort, policy, ledger, work, random):
    """Complete a variant of one of the best programs: a part of it is left out, or a hole is put beside it.

    With two holes, both operands of an operator are new: one goes through entries of the bank, the other is looked for.
    """
    chosen = pick_parent(ledger, table.target.size, random)
    if chosen < 0:
        return
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    n_columns = bank.columns.shape[0] - MAX_HOLES
    if not lay_out_jump(ledger.front[chosen], n_holes, completion.rules, n_columns, skeleton, random):
        return
    varied = ONE_HOLE
    if n_holes == 1:
        spread_constants(skeleton, completion.wide, n_columns)
        close_nearly(completion, alphabet, table, effort, policy, ledger, work, random)
    else:
        skeleton.hole = random_below(random, 2)
        varied = 1 - skeleton.hole
    spread_constants(skeleton, frame, n_columns)
    if not open_way(varied, completion, alphabet, policy, random):
        return
    if ledger.totals[N_EPISODES] < EXACT_EPISODES:
        look_up_all(varied, completion, alphabet, table, effort, policy, ledger, work, random)
    elif n_holes == 1 and random_below(random, ALL_SHARE) == 0:
        match_all(completion, alphabet, table, effort, policy, ledger, work, random)
    else:
        match_best(varied, completion, alphabet, table, effort, policy, ledger, work, random)
