"""The reward of a finished program: its constants are fitted, and it is recorded if it is among the best."""

import numpy as np

from spl.kernels.programs.constant_roles import assign_roles
from spl.kernels.programs.fit import PROBE_ROWS, fit_constants, guessed_error, refit_constants
from spl.kernels.programs.normal_equations import squared_error
from spl.kernels.programs.rounding_error import is_stable
from spl.kernels.programs.tokens import MAX_CONSTANTS
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel
from spl.kernels.tree.ledger import (
    N_EVALUATIONS,
    N_OVERLONG,
    N_REPEATS,
    description_cost,
    enter_front,
    enter_modules,
    find_key,
    module_place,
    store_loss,
)
from spl.kernels.tree.program_keys import again_key, structure_key, value_key
from spl.kernels.tree.rival_pool import enter_rivals, rough_length

MAX_FITS = 4  # repeated fits from better guesses, for programs whose constants have many local optima
HOPELESS_LOSS_RATIO = (
    3.0  # constants get no second start if the loss is this many times that of the best program of the same cost
)


@kernel
def reward_of(loss, n_rules, policy):
    """Return the reward eta**rules / (1 + loss); 0 if the loss is infinite."""
    return policy.eta**n_rules / (1.0 + loss * policy.loss_scale)


@kernel
def is_promising(loss, n_rules, cost, context):
    """Return whether a loss on a few rows may belong to one of the best programs."""
    policy, ledger = context.policy, context.ledger
    if cost < ledger.front.size and loss < ledger.front[cost].loss:
        return True
    reward = reward_of(loss, n_rules, policy)
    return reward >= ledger.front[0].reward or (
        n_rules <= policy.module_size and module_place(ledger, loss, reward) >= 0
    )


@kernel
def fitted_loss(derivation, cost, effort, context):
    """Return the loss of a program with constants, fitted to a few rows, and to all if it may be one of the best."""
    alphabet, table, ledger, work = context.alphabet, context.table, context.ledger, context.work.fit
    ledger.totals[N_EVALUATIONS] += 1
    n_rows = table.target.size
    n_probe = min(n_rows, PROBE_ROWS)
    tokens, length = derivation.tokens, derivation.n_tokens
    hopeless = np.inf
    if cost < ledger.front.size:
        hopeless = n_probe * (HOPELESS_LOSS_RATIO * ledger.front[cost].loss) ** 2
    error = fit_constants(
        tokens, length, alphabet, table, n_probe, derivation.guesses, hopeless, effort, work, context.random
    )
    loss = np.sqrt(error / n_probe)
    if n_probe == n_rows or not is_promising(loss, derivation.n_rules, cost, context):
        return loss
    return np.sqrt(refit_constants(tokens, length, alphabet, table, effort, work) / n_rows)


@kernel
def loss_without_constants(derivation, cost, context):
    """Return the loss of a program without constants on a few rows, and on all if it may be one of the best.

    A program that equals an earlier one on the first rows takes over its loss.
    """
    alphabet, table, ledger, work = context.alphabet, context.table, context.ledger, context.work.fit
    n_rows = table.target.size
    n_probe = min(n_rows, PROBE_ROWS)
    tokens, length = derivation.tokens, derivation.n_tokens
    error = squared_error(tokens, length, work.best, alphabet, table, n_probe, work)
    key = value_key(work.stack, n_probe)
    at = find_key(ledger, key)
    if ledger.keys[at] == key:
        ledger.totals[N_REPEATS] += 1
        return ledger.losses[at]
    ledger.totals[N_EVALUATIONS] += 1
    loss = np.sqrt(error / n_probe)
    if n_probe < n_rows and is_promising(loss, derivation.n_rules, cost, context):
        loss = np.sqrt(squared_error(tokens, length, work.best, alphabet, table, n_rows, work) / n_rows)
    store_loss(ledger, key, loss)
    return loss


@kernel
def note_fit(key, k, ledger):
    """Note that the program of a key was fitted for the k-th time; return whether that is new."""
    again = again_key(key, k)
    if ledger.keys[find_key(ledger, again)] == again:
        return False
    store_loss(ledger, again, np.inf)
    return True


@kernel
def may_fit_again(derivation, key, before, effort, context):
    """Return whether a program that was fitted before, with loss `before`, deserves another fit; note it if it does.

    Only programs with a constant inside a function do: there a fit ends in the optimum next to its start. They get one fit with full
    effort, and at most `MAX_FITS` from guesses that are better than the last fit.
    """
    table, ledger, work = context.table, context.ledger, context.work.fit
    if derivation.n_constants == 0 or not assign_roles(derivation.tokens, derivation.n_tokens, work):
        return False
    if work.n_outside == work.n_fitted:
        return False
    if effort.n_starts > 1:
        return note_fit(key, 0, ledger)
    n_probe = min(table.target.size, PROBE_ROWS)
    tokens, guesses = derivation.tokens, derivation.guesses
    error = guessed_error(tokens, derivation.n_tokens, context.alphabet, table, n_probe, guesses, work)
    if not error < n_probe * before * before:
        return False
    for k in range(1, MAX_FITS + 1):
        if note_fit(key, k, ledger):
            return True
    return False


@kernel
def can_be_recorded(derivation, cost, loss, context):
    """Return whether a program with a finite loss may be recorded; one that fits by its rounding error may not.

    Programs that would not be among the best anyway are not examined.
    """
    if not is_promising(loss, derivation.n_rules, cost, context):
        return True
    table, work = context.table, context.work.fit
    n_probe = min(table.target.size, PROBE_ROWS)
    return is_stable(derivation.tokens, derivation.n_tokens, work.best, context.alphabet, table, n_probe, work)


@linked_kernel
def score(derivation, effort, context) -> float:
    """Return the reward of a finished program: eta**rules / (1 + loss), 0 outside its domain; record it if it is new and good."""
    policy, ledger, work = context.policy, context.ledger, context.work
    if derivation.is_full == 1 or derivation.n_constants > MAX_CONSTANTS:
        ledger.totals[N_OVERLONG] += 1
        return 0.0
    key = structure_key(derivation.tokens, derivation.n_tokens, work.keys)
    at = find_key(ledger, key)
    before = np.inf
    if ledger.keys[at] == key:
        before = ledger.losses[at]
        if not may_fit_again(derivation, key, before, effort, context):
            ledger.totals[N_REPEATS] += 1
            return reward_of(before, derivation.n_rules, policy)
    cost = description_cost(derivation.tokens, derivation.n_tokens, ledger.costs)
    if derivation.n_constants > 0:
        loss = fitted_loss(derivation, cost, effort, context)
    else:
        loss = loss_without_constants(derivation, cost, context)
    if np.isfinite(loss) and not can_be_recorded(derivation, cost, loss, context):
        loss = np.inf
    store_loss(ledger, key, min(loss, before))
    if not loss < before:
        return reward_of(before, derivation.n_rules, policy)
    reward = reward_of(loss, derivation.n_rules, policy)
    enter_front(ledger, derivation, work.fit.best, cost, loss, reward)
    enter_rivals(ledger, derivation, work.fit.best, loss, reward, rough_length(derivation, loss, context))
    if derivation.n_rules <= policy.module_size:
        enter_modules(ledger, derivation, work.fit.best, loss, reward)
    return reward
