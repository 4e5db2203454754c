"""What a new leaf of the tree may be worth: completions at random as in the paper, by look-up and by least squares.

`complete_leaf` and `complete_ancestor` look goals up, `complete_by_least_squares` fits approximate goals, and `jump` does both for
variants of the best programs so far. `complete_by_products` closes by sums of products. That takes longer, so it is called rarely.
The steps are in `complete` and the `*_closers`.
"""

import numpy as np

from spl.kernels.bank.bank import MAX_HOLES
from spl.kernels.bank.spatial_index import no_match
from spl.kernels.programs.fit import FitEffort
from spl.kernels.programs.prices import PARENT_TOKEN_NATS
from spl.kernels.programs.rows import copy_row
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
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
    find_goal,
    find_goal_slope,
    random_place,
)
from spl.kernels.tree.derivation import begin_derivation, complete_at_random, copy_derivation
from spl.kernels.tree.ledger import N_EPISODES, lowest_loss
from spl.kernels.tree.product_closers import close_by_monomial, close_by_power_look_up
from spl.kernels.tree.product_sum_closers import close_by_products
from spl.kernels.tree.score import score
from spl.kernels.tree.skeleton import (
    MAX_OPEN,
    assemble,
    find_path,
    lay_out_derivation,
    lay_out_variant,
    sibling_step,
)
from spl.kernels.tree.sum_closers import close_by_combination, find_weights

FARTHEST = 8  # some look-ups go this many times deeper into the bank than there are look-ups
N_CONTENDERS = 3  # programs of the front that compete to be varied
TINY_LOSS = 1e-300  # keeps the logarithm of a loss of 0 finite
# Places in `Policy.closers`
(
    LOOK_UP_CLOSER,
    COMBINATION_CLOSER,
    MONOMIAL_CLOSER,
    CORRELATION_CLOSER,
    SCAN_CLOSER,
    POWER_CLOSER,
    NEAREST_CLOSER,
    PRODUCTS_CLOSER,
) = range(8)
ONE_HOLE, NO_GOAL = np.int64(-1), np.int64(-2)  # what `prepare_holes` may return instead of a hole
ALL_SHARE = 24  # one in this many jumps with one hole compares its goal with the whole bank
N_TARGET_STARTS = 8  # sums of products that are tried for the target itself
EXCHANGE_EPISODES = 32  # one in this many episodes closes a derivation on its path by a sum of products ...
EXCHANGE_GOALS = 96  # ... and one in this many goals of the least-squares closers is closed by one, too ...
MANY_PRODUCTS = 16_384  # ... if there are at most this many products, else fewer: it takes 6 to 30 ms
EXPLAINED = 1e-9  # a loss that is a smaller share of the target's spread leaves nothing to explain
EXACT_EPISODES = (
    200  # episodes at the start of a tree in which goals are taken as exact: most laws without noise are found then
)
AS_GOOD_FACTOR = 1.5  # a program with this many times the lowest loss on a few rows may be as good as the best


@kernel
def roll_out(context):
    """Return the highest reward of several random completions of the new leaf.

    Each draws its own bound on the number of rules, between the fewest possible and max_rules: short programs are tried as often as
    long ones, and cost less. Measured on Nguyen-4: 180,000 evaluations to the solution instead of 440,000.
    """
    rules, policy, work, random = context.rules, context.policy, context.work, context.random
    highest = 0.0
    for _ in range(policy.n_simulations):
        copy_derivation(work.node, work.leaf)
        fewest = work.leaf.n_rules + work.leaf.n_rest
        bound = fewest + random_below(random, policy.max_rules - fewest + 1)
        complete_at_random(rules, work.leaf, bound, random)
        highest = max(highest, score(work.leaf, context.effort, context))
    return highest


@kernel
def with_one_start(effort):
    """Return the effort of a fit from one start: closers guess all constants."""
    return FitEffort(np.int64(1), np.int64(0), effort.max_iterations, effort.tolerance)


@kernel
def can_look_up(policy):
    """Return whether exact goals are looked up at all."""
    return policy.closers[LOOK_UP_CLOSER] > 0 or policy.closers[POWER_CLOSER] > 0


@kernel
def assemble_leaf(context):
    """Write the closed skeleton into `work.leaf`; return whether it has room and few enough rules."""
    completion, leaf = context.completion, context.work.leaf
    is_whole = assemble(completion.skeleton, completion.bank, completion.rules, leaf)
    return is_whole and leaf.n_rules <= context.policy.max_rules


@kernel
def look_up_and_score(context):
    """Return the reward of the program that the goal leads to; 0 if there is none."""
    completion, policy = context.completion, context.policy
    is_closed = policy.closers[LOOK_UP_CLOSER] > 0 and close_by_look_up(completion)
    if not is_closed and not (policy.closers[POWER_CLOSER] > 0 and close_by_power_look_up(completion)):
        return 0.0
    return score(context.work.leaf, context.effort, context) if assemble_leaf(context) else 0.0


@kernel
def prepare_goal(varied, context):
    """Invert the operators from the root towards the hole to be closed, as far as the varied hole; return whether that is possible."""
    completion, alphabet = context.completion, context.alphabet
    skeleton, frame = completion.skeleton, completion.frame
    if not find_path(skeleton, context.random) or skeleton.n_steps > context.policy.max_steps:
        return False
    n_steps = skeleton.n_steps
    varied_step = sibling_step(skeleton, varied) if varied >= 0 else n_steps
    for k in range(n_steps):
        if k != varied_step:
            evaluate_sibling(skeleton, k, alphabet, frame)
    skeleton.n_steps = varied_step
    is_possible = find_goal(skeleton, np.int64(0), alphabet, frame)
    skeleton.n_steps = n_steps
    return is_possible


@linked_kernel
def prepare_holes(derivation, context) -> int:
    """Lay out a derivation with one hole to be closed and another to be varied; return the varied one.

    All others get random entries. Returns ONE_HOLE if there is no other and its goal is known, NO_GOAL if nothing can be completed.
    """
    completion, random = context.completion, context.random
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    n_columns = bank.columns.shape[0] - MAX_HOLES
    if not lay_out_derivation(derivation, n_columns, skeleton):
        return NO_GOAL
    n_open = skeleton.n_open
    skeleton.hole = random_below(random, n_open)
    varied = ONE_HOLE
    if n_open > 1:
        varied = (skeleton.hole + 1 + random_below(random, n_open - 1)) % n_open
    for k in range(n_open):
        if k != skeleton.hole and k != varied:
            symbol = skeleton.symbol[k]
            if bank.n_of[symbol] == 0:
                return NO_GOAL
            place = random_place(bank.n_cheapest[symbol], bank.n_of[symbol], random)
            fill_hole(skeleton, k, np.int64(bank.member[symbol, place]), bank, frame, n_columns)
    return varied if prepare_goal(varied, context) else NO_GOAL


@kernel
def vary_hole(varied, place, context):
    """Put an entry into the varied hole; return whether there is a goal then."""
    completion, alphabet = context.completion, context.alphabet
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    n_columns = bank.columns.shape[0] - MAX_HOLES
    step = sibling_step(skeleton, varied)
    fill_hole(skeleton, varied, np.int64(bank.member[skeleton.symbol[varied], place]), bank, frame, n_columns)
    evaluate_sibling(skeleton, step, alphabet, frame)
    return find_goal(skeleton, step, alphabet, frame)


@linked_kernel
def complete_leaf(derivation, context) -> float:
    """Return the highest reward of completions of a new leaf: one hole is looked up for each of many entries in another.

    These are the cheapest entries, in order, and some of those that follow; the closer the leaf is to the root, the more.
    """
    policy, random = context.policy, context.random
    skeleton, bank = context.completion.skeleton, context.completion.bank
    if not can_look_up(policy):
        return 0.0
    varied = prepare_holes(derivation, context)
    if varied == NO_GOAL:
        return 0.0
    if varied == ONE_HOLE:
        return look_up_and_score(context)
    n_of = bank.n_of[skeleton.symbol[varied]]
    n_tries = policy.n_completions >> min(2 * max(skeleton.n_rules - 1, 0), 6)
    highest = 0.0
    for i in range(min(n_tries, n_of)):
        place = np.int64(i)
        if 2 * i >= n_tries:
            place = min(i + random_below(random, FARTHEST * n_tries), n_of - 1)
        if vary_hole(varied, place, context):
            highest = max(highest, look_up_and_score(context))
    return highest


@linked_kernel
def look_up_goals(varied, context) -> None:
    """Score the programs that the goals of random entries in the varied hole lead to."""
    policy = context.policy
    skeleton, bank = context.completion.skeleton, context.completion.bank
    if not can_look_up(policy):
        return
    if varied == ONE_HOLE:
        look_up_and_score(context)
        return
    n_of = bank.n_of[skeleton.symbol[varied]]
    for _ in range(min(policy.n_completions >> 5, n_of)):
        if vary_hole(varied, random_place(np.int64(0), n_of, context.random), context):
            look_up_and_score(context)


@kernel
def score_match(match, context):
    """Score the program in which an entry close to its goal closes the hole."""
    if close_by_match(context.completion, match) and assemble_leaf(context):
        score(context.work.leaf, with_one_start(context.effort), context)


@linked_kernel
def match_best(varied, context) -> None:
    """Score the best of the entries closest to the goals of random entries in the varied hole.

    Only entries about as good as the best program so far count; the better the first ones, the closer the next must be.
    """
    completion, policy = context.completion, context.policy
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    if policy.closers[NEAREST_CLOSER] == 0:
        return
    best_place, best = np.int64(0), no_match(frame.n * (AS_GOOD_FACTOR * lowest_loss(context.ledger)) ** 2)
    n_of = bank.n_of[skeleton.symbol[varied]] if varied >= 0 else 1
    for _ in range(min(policy.n_completions >> 6, n_of)):
        place = np.int64(0)
        if varied >= 0:
            place = random_place(np.int64(0), n_of, context.random)
            if not vary_hole(varied, place, context):
                continue
        found = find_match(completion, context.alphabet, best.error)
        if found.entry >= 0:
            best_place, best = place, found
    if best.entry < 0:
        return
    if varied >= 0:
        skeleton.entry[varied] = bank.member[skeleton.symbol[varied], best_place]
    score_match(best, context)


@linked_kernel
def match_all(context) -> None:
    """Score the entries of the whole bank that are closest to the goal."""
    if context.policy.closers[NEAREST_CLOSER] == 0:
        return
    for k in range(rank_matches(context.completion, context.alphabet)):
        score_match(ranked_match(context.completion, k), context)


@linked_kernel
def match_target(context) -> None:
    """Score the entries of the whole bank that are closest to the target itself."""
    begin_derivation(context.rules, context.work.leaf)
    if prepare_holes(context.work.leaf, context) == ONE_HOLE:
        match_all(context)


@linked_kernel
def complete_ancestor(derivation, context) -> None:
    """Score completions of a derivation that was completed before: random entries in one hole, another looked up.

    After the first episodes, also by the entry that is closest to the goal.
    """
    varied = prepare_holes(derivation, context)
    if varied != NO_GOAL:
        look_up_goals(varied, context)
    if context.ledger.totals[N_EPISODES] < EXACT_EPISODES:
        return
    varied = prepare_holes(derivation, context)
    if varied != NO_GOAL:
        match_best(varied, context)


@kernel
def close_by(closer, context):
    """Close the hole by one of the closers for approximate goals; return whether it could."""
    completion = context.completion
    if closer == COMBINATION_CLOSER:
        return close_by_combination(completion, context.random)
    if closer == MONOMIAL_CLOSER:
        return close_by_monomial(completion)
    if closer == CORRELATION_CLOSER:
        return close_by_correlation(completion)
    return close_by_scan(completion, context.alphabet, context.random)


@linked_kernel
def draw_exchange(n_calls, context) -> bool:
    """Return whether this is one of the n_calls calls in which a sum of products is looked for; never if a program explains all."""
    n_products = context.completion.factor_table.size.size
    if context.policy.closers[PRODUCTS_CLOSER] == 0 or n_products == 0:
        return False
    if random_below(context.random, n_calls * (1 + n_products // MANY_PRODUCTS)) > 0:
        return False
    return not is_explained(context)


@kernel
def is_explained(context):
    """Return whether a program explains all of the target."""
    table = context.table
    return table.target.size * lowest_loss(context.ledger) ** 2 <= EXPLAINED * EXPLAINED * table.square


@linked_kernel
def exchange_and_score(context) -> float:
    """Return the reward of the program that closes the hole by a sum of products, after `prepare_wide_goal`; 0 if there is none."""
    if not (close_by_products(context.completion, context.random) and assemble_leaf(context)):
        return 0.0
    return score(context.work.leaf, with_one_start(context.effort), context)


@kernel
def prepare_wide_goal(context):
    """Find the goal of the skeleton's hole on all rows, and the weights of these; return whether there is one."""
    completion, alphabet = context.completion, context.alphabet
    skeleton, wide = completion.skeleton, completion.wide
    if not find_path(skeleton, context.random) or skeleton.n_steps > context.policy.max_steps:
        return False
    for k in range(skeleton.n_steps):
        evaluate_sibling(skeleton, k, alphabet, wide)
    if not find_goal(skeleton, np.int64(0), alphabet, wide):
        return False
    find_goal_slope(skeleton, alphabet, wide)
    return find_weights(completion)


@linked_kernel
def close_by_least_squares(context) -> float:
    """Return the highest reward of the programs that the closers for approximate goals make of the skeleton."""
    policy = context.policy
    if not prepare_wide_goal(context):
        return 0.0
    highest = 0.0
    for closer in range(COMBINATION_CLOSER, SCAN_CLOSER + 1):
        if policy.closers[closer] > 0 and close_by(closer, context) and assemble_leaf(context):
            highest = max(highest, score(context.work.leaf, with_one_start(context.effort), context))
    if draw_exchange(np.int64(EXCHANGE_GOALS), context):
        highest = max(highest, exchange_and_score(context))
    return highest


@linked_kernel
def fill_all_but_one(derivation, context) -> bool:
    """Lay out a derivation with cheap entries in all holes but a random one, on all rows; return whether that is possible."""
    completion, random = context.completion, context.random
    skeleton, bank, wide = completion.skeleton, completion.bank, completion.wide
    n_columns = bank.columns.shape[0] - MAX_HOLES
    if not lay_out_derivation(derivation, n_columns, skeleton):
        return False
    skeleton.hole = random_below(random, skeleton.n_open)
    for k in range(skeleton.n_open):
        symbol = skeleton.symbol[k]
        n_cheap = completion.n_cheap[symbol]
        if k == skeleton.hole:
            continue
        if n_cheap == 0:
            return False
        place = random_place(bank.n_cheapest[symbol], n_cheap, random)
        skeleton.entry[k] = bank.member[symbol, place]
        at = (symbol * completion.cheap_values.shape[1] + place) * wide.n
        copy_row(completion.cheap_values, at, wide.columns, (n_columns + k) * wide.n, wide.n)
    return True


@linked_kernel
def complete_by_least_squares(derivation, context) -> float:
    """Return the highest reward of completions of the new leaf by least squares: all holes but one get cheap entries."""
    return close_by_least_squares(context) if fill_all_but_one(derivation, context) else 0.0


@linked_kernel
def complete_by_products(derivation, n_starts, context) -> None:
    """Score completions of a derivation by sums of products: all holes but one get cheap entries."""
    if fill_all_but_one(derivation, context) and prepare_wide_goal(context):
        for _ in range(n_starts):
            exchange_and_score(context)


@linked_kernel
def complete_target(context) -> None:
    """Score sums of products that are close to the target itself."""
    if context.policy.closers[PRODUCTS_CLOSER] > 0 and not is_explained(context):
        begin_derivation(context.rules, context.work.leaf)
        complete_by_products(context.work.leaf, np.int64(N_TARGET_STARTS), context)


@kernel
def pick_parent(ledger, n_rows, random):
    """Return the place in the front of the program with the shortest description among several random ones; -1 if there is none."""
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
                    length = n_rows * np.log(ledger.front[k].loss + TINY_LOSS) + k * PARENT_TOKEN_NATS
                    if length < shortest:
                        shortest = length
                        chosen = k
                pick -= 1
    return chosen


@kernel
def spread_constants(skeleton, frame, n_columns):
    """Fill the columns that stand for the constants of a skeleton."""
    for c in range(skeleton.n_constants):
        for j in range(frame.n):
            frame.columns[n_columns + MAX_OPEN + c, j] = skeleton.constants[c]


@linked_kernel
def jump(n_holes, context) -> None:
    """Complete a variant of one of the best programs: a part of it is replaced by a hole, or joined by one.

    With two holes, both operands of an operator are new: one is varied over entries of the bank, the other is looked up.
    """
    completion, ledger, random = context.completion, context.ledger, context.random
    chosen = pick_parent(ledger, context.table.target.size, random)
    if chosen < 0:
        return
    skeleton, bank, frame = completion.skeleton, completion.bank, completion.frame
    n_columns = bank.columns.shape[0] - MAX_HOLES
    if not lay_out_variant(ledger.front[chosen], n_holes, completion.rules, n_columns, skeleton, random):
        return
    varied = ONE_HOLE
    if n_holes == 1:
        spread_constants(skeleton, completion.wide, n_columns)
        close_by_least_squares(context)
    else:
        skeleton.hole = random_below(random, 2)
        varied = 1 - skeleton.hole
    spread_constants(skeleton, frame, n_columns)
    if not prepare_goal(varied, context):
        return
    if ledger.totals[N_EPISODES] < EXACT_EPISODES:
        look_up_goals(varied, context)
    elif n_holes == 1 and random_below(random, ALL_SHARE) == 0:
        match_all(context)
    else:
        match_best(varied, context)
