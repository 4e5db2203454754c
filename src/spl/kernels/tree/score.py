"""The reward of a finished program: it is fitted once, or a few times from other guesses, and recorded if it is among the best."""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.constant_roles import assign_roles
from spl.kernels.programs.fit import PROBE_ROWS, fit_constants, guessed_error, refit_constants
from spl.kernels.programs.normal_equations import FIT_WORK, squared_error
from spl.kernels.programs.rounding_error import is_stable
from spl.kernels.programs.tokens import MAX_CONSTANTS
from spl.kernels.runtime.compiler import kernel, make_record
from spl.kernels.runtime.linking import apart
from spl.kernels.tree.derivation import DERIVATION
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
from spl.kernels.tree.program_keys import KEY_WORK, again_key, structure_key, value_key

MAX_FITS = 4  # from better guesses, of a program whose constants have many local optima: a poor first guess must not be the last
HOPELESS = 3.0  # a program so many times as bad as the best of its cost gets no second start for its constants


class Policy(NamedTuple):
    """The hyperparameters of the search."""

    eta: float  # discount of the reward for each rule
    explore: float  # weight of the bound's uncertainty term
    epsilon: float  # share of selections made at random
    n_simulations: int  # random completions of each new leaf
    n_completions: int  # entries tried in a second hole of a leaf near the root; fewer farther from it; 0: no look-ups
    max_steps: int  # operators that may be inverted on the way to a hole
    closers: np.ndarray  # int64[7], whether to close by each of `CLOSERS`
    is_jumping: bool  # vary the best programs
    max_rules: int  # the paper's t_max
    module_size: int  # most rules of a module at present
    is_scaled: bool  # divide Q by the highest reward so far
    is_greedy: bool  # Q is the highest reward, else the mean
    loss_scale: float  # loss in the reward is multiplied by this


class SearchWork(NamedTuple):
    """Scratch of one thread."""

    fit: np.record  # FIT_WORK
    keys: np.record  # KEY_WORK
    node: np.record  # DERIVATION, the state at the node that the episode has reached
    leaf: np.record  # DERIVATION, a completion of it
    ancestor: np.record  # DERIVATION, the state at a node on the way
    path: np.ndarray  # int64[max_rules + 2], nodes of the episode
    slots: np.ndarray  # int64[max_rules + 2], the place in `child` that led to each of them


def make_search_work(max_rules):
    """Return scratch for derivations of at most that many rules."""
    return SearchWork(
        fit=make_record(FIT_WORK),
        keys=make_record(KEY_WORK),
        node=make_record(DERIVATION),
        leaf=make_record(DERIVATION),
        ancestor=make_record(DERIVATION),
        path=np.zeros(max_rules + 2, np.int64),
        slots=np.zeros(max_rules + 2, np.int64),
    )


@kernel
def reward_of(loss, n_rules, policy):
    """Return the reward eta**rules / (1 + loss); 0 if the loss is infinite."""
    return policy.eta**n_rules / (1.0 + loss * policy.loss_scale)


@kernel
def is_promising(loss, n_rules, cost, policy, ledger):
    """Tell whether a loss on a few rows may belong to one of the best programs."""
    if cost < ledger.front.size and loss < ledger.front[cost].loss:
        return True
    reward = reward_of(loss, n_rules, policy)
    return reward >= ledger.front[0].reward or (
        n_rules <= policy.module_size and module_place(ledger, loss, reward) >= 0
    )


@kernel
def fitted_loss(derivation, alphabet, table, effort, policy, ledger, cost, work, random):
    """Return the loss of a program with constants, fitted to a few rows, and to all if it may be one of the best."""
    ledger.totals[N_EVALUATIONS] += 1
    n_rows = table.target.size
    n_probe = min(n_rows, PROBE_ROWS)
    tokens, length = derivation.tokens, derivation.n_tokens
    hopeless = np.inf
    if cost < ledger.front.size:
        hopeless = n_probe * (HOPELESS * ledger.front[cost].loss) ** 2
    error = fit_constants(
        tokens, length, alphabet, table, n_probe, derivation.guesses, hopeless, effort, work.fit, random
    )
    loss = np.sqrt(error / n_probe)
    if n_probe == n_rows or not is_promising(loss, derivation.n_rules, cost, policy, ledger):
        return loss
    return np.sqrt(refit_constants(tokens, length, alphabet, table, effort, work.fit) / n_rows)


@kernel
def plain_loss(derivation, alphabet, table, policy, ledger, cost, work):
    """Return the loss of a program without constants on a few rows, and on all if it may be one of the best.

    A program that equals an earlier one on the first rows takes over its loss.
    """
    n_rows = table.target.size
    n_probe = min(n_rows, PROBE_ROWS)
    tokens, length = derivation.tokens, derivation.n_tokens
    error = squared_error(tokens, length, work.fit.best, alphabet, table, n_probe, work.fit)
    key = value_key(work.fit.stack, n_probe)
    at = find_key(ledger, key)
    if ledger.keys[at] == key:
        ledger.totals[N_REPEATS] += 1
        return ledger.losses[at]
    ledger.totals[N_EVALUATIONS] += 1
    loss = np.sqrt(error / n_probe)
    if n_probe < n_rows and is_promising(loss, derivation.n_rules, cost, policy, ledger):
        loss = np.sqrt(squared_error(tokens, length, work.fit.best, alphabet, table, n_rows, work.fit) / n_rows)
    store_loss(ledger, key, loss)
    return loss


@kernel
def note_fit(key, k, ledger):
    """Take note that the program of a key was fitted for the k-th time; return whether that is new."""
    again = again_key(key, k)
    if ledger.keys[find_key(ledger, again)] == again:
        return False
    store_loss(ledger, again, np.inf)
    return True


@kernel
def may_fit_again(derivation, key, before, alphabet, table, effort, ledger, work):
    """Return whether a program that was fitted before, with this loss, deserves another fit; take note of it if it does.

    It has a constant inside a function, where a fit ends in the optimum next to its start. Then a fit with all effort is worth while
    once, and a guess that is better than the last fit at most `MAX_FITS` times.
    """
    if derivation.n_constants == 0 or not assign_roles(derivation.tokens, derivation.n_tokens, work.fit):
        return False
    if work.fit.n_outside == work.fit.n_fitted:
        return False
    if effort.n_starts > 1:
        return note_fit(key, 0, ledger)
    n_probe = min(table.target.size, PROBE_ROWS)
    tokens, guesses = derivation.tokens, derivation.guesses
    error = guessed_error(tokens, derivation.n_tokens, alphabet, table, n_probe, guesses, work.fit)
    if not error < n_probe * before * before:
        return False
    for k in range(1, MAX_FITS + 1):
        if note_fit(key, k, ledger):
            return True
    return False


@kernel
def can_be_recorded(derivation, table, alphabet, cost, loss, policy, ledger, work):
    """Return whether a program with a finite loss may stand among the best: one that fits by its rounding error may not.

    Programs that are not among the best anyway are not looked at.
    """
    if not is_promising(loss, derivation.n_rules, cost, policy, ledger):
        return True
    n_probe = min(table.target.size, PROBE_ROWS)
    return is_stable(derivation.tokens, derivation.n_tokens, work.fit.best, alphabet, table, n_probe, work.fit)


@apart
def score(derivation, alphabet, table, effort, policy, ledger, work, random):
    """Return the reward of a finished program: eta**rules / (1 + loss), 0 outside its domain; record it if it is new and good."""
    if derivation.is_full == 1 or derivation.n_constants > MAX_CONSTANTS:
        ledger.totals[N_OVERLONG] += 1
        return 0.0
    key = structure_key(derivation.tokens, derivation.n_tokens, work.keys)
    at = find_key(ledger, key)
    before = np.inf
    if ledger.keys[at] == key:
        before = ledger.losses[at]
        if not may_fit_again(derivation, key, before, alphabet, table, effort, ledger, work):
            ledger.totals[N_REPEATS] += 1
            return reward_of(before, derivation.n_rules, policy)
    cost = description_cost(derivation.tokens, derivation.n_tokens, ledger.costs)
    if derivation.n_constants > 0:
        loss = fitted_loss(derivation, alphabet, table, effort, policy, ledger, cost, work, random)
    else:
        loss = plain_loss(derivation, alphabet, table, policy, ledger, cost, work)
    if np.isfinite(loss) and not can_be_recorded(derivation, table, alphabet, cost, loss, policy, ledger, work):
        loss = np.inf
    store_loss(ledger, key, min(loss, before))
    if not loss < before:
        return reward_of(before, derivation.n_rules, policy)
    reward = reward_of(loss, derivation.n_rules, policy)
    enter_front(ledger, derivation, work.fit.best, cost, loss, reward)
    if derivation.n_rules <= policy.module_size:
        enter_modules(ledger, derivation, work.fit.best, loss, reward)
    return reward
