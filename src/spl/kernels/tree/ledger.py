"""What a tree has found: the loss of every distinct program, the best program of each cost, the best modules."""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.prices import EQUAL_LOSS_SHARE, NUMBER_COST
from spl.kernels.programs.tokens import CONSTANT, KIND_SHIFT, MAX_CONSTANTS, MAX_PROGRAM_LENGTH, OPERATOR
from spl.kernels.runtime.compiler import kernel

# Places in `Ledger.totals`
N_EVALUATIONS, N_REPEATS, N_KEYS, N_CLEARED, N_MODULES, N_OVERLONG, N_EPISODES = range(7)
N_TOTALS = 7
MAX_RIVALS = 256  # kept by a tree, 1.5 KB each


# A program with its constants; an empty record has an infinite loss
RECORD = np.dtype(
    [
        ("tokens", np.int32, MAX_PROGRAM_LENGTH),
        ("origin", np.int32, MAX_PROGRAM_LENGTH),  # see `DERIVATION`
        ("length", np.int64),
        ("constants", np.float64, MAX_CONSTANTS),
        ("loss", np.float64),
        ("reward", np.float64),
        ("n_rules", np.int64),  # of the derivation
    ],
    align=True,
)


# What is known of every distinct program
KNOWN = np.dtype([("key", np.uint64), ("loss", np.float64)])


class Ledger(NamedTuple):
    """All that outlives an episode except the tree itself."""

    keys: np.ndarray  # uint64[H], H a power of two; 0 marks a free place
    losses: np.ndarray  # float64[H]
    front: (
        np.ndarray
    )  # RECORD[K], place k: the program of cost k with the lowest loss; place 0: the one with the highest reward
    modules: np.ndarray  # RECORD[M], highest rewards first
    rivals: np.ndarray  # RECORD[P], distinct programs with short descriptions; see `rival_pool`
    rival_lengths: np.ndarray  # float64[P], of their descriptions; infinite where a place is free
    worst_rival: np.ndarray  # int64[1], the first place with the longest description
    costs: np.ndarray  # int64[256], cost of each operator
    totals: np.ndarray  # int64[N_TOTALS]


def make_records(n_places):
    """Return empty records."""
    records = np.recarray(n_places, RECORD)
    records.length = 0
    records.loss = np.inf
    records.reward = 0.0
    return records


def make_ledger(max_cost, max_modules, n_keys, costs):
    """Return an empty ledger. `n_keys` is a power of two."""
    return Ledger(
        keys=np.zeros(n_keys, KNOWN["key"]),
        losses=np.zeros(n_keys, KNOWN["loss"]),
        front=make_records(max_cost + 1),
        modules=make_records(max(max_modules, 1)),
        rivals=make_records(MAX_RIVALS),
        rival_lengths=np.full(MAX_RIVALS, np.inf),
        worst_rival=np.zeros(1, np.int64),
        costs=costs,
        totals=np.zeros(N_TOTALS, np.int64),
    )


@kernel
def find_key(ledger, key):
    """Return the place of a key, or of the free place where it belongs."""
    mask = np.uint64(ledger.keys.size - 1)
    at = np.int64(key & mask)
    while ledger.keys[at] != key and ledger.keys[at] != np.uint64(0):
        at = (at + 1) & np.int64(mask)
    return at


@kernel
def store_loss(ledger, key, loss):
    """Store the loss of a program. A table that is three quarters full is emptied first; that only costs evaluations."""
    if 4 * ledger.totals[N_KEYS] >= 3 * ledger.keys.size:
        ledger.keys[:] = np.uint64(0)
        ledger.totals[N_KEYS] = 0
        ledger.totals[N_CLEARED] += 1
    at = find_key(ledger, key)
    if ledger.keys[at] == np.uint64(0):
        ledger.keys[at] = key
        ledger.totals[N_KEYS] += 1
    ledger.losses[at] = loss


@kernel
def description_cost(tokens, length, costs):
    """Return the sum of the costs of all tokens; a constant costs NUMBER_COST."""
    cost = 0
    for i in range(length):
        kind = tokens[i] >> KIND_SHIFT
        cost += costs[tokens[i]] if kind == OPERATOR else (NUMBER_COST if kind == CONSTANT else 1)
    return cost


@kernel
def write_record(record, derivation, constants, loss, reward):
    """Write a program into a record."""
    for i in range(derivation.n_tokens):
        record.tokens[i] = derivation.tokens[i]
        record.origin[i] = derivation.origin[i]
    for i in range(derivation.n_constants):
        record.constants[i] = constants[i]
    record.length = derivation.n_tokens
    record.loss = loss
    record.reward = reward
    record.n_rules = derivation.n_rules


@kernel
def copy_record(source, target):
    """Copy one record to another."""
    for i in range(source.length):
        target.tokens[i] = source.tokens[i]
        target.origin[i] = source.origin[i]
    for i in range(MAX_CONSTANTS):
        target.constants[i] = source.constants[i]
    target.length = source.length
    target.loss = source.loss
    target.reward = source.reward
    target.n_rules = source.n_rules


@kernel
def enter_front(ledger, derivation, constants, cost, loss, reward):
    """Keep the program if it is the best of its cost, or has the highest reward of all."""
    front = ledger.front
    if cost < front.size and loss < front[cost].loss:
        write_record(front[cost], derivation, constants, loss, reward)
    if reward > front[0].reward:
        write_record(front[0], derivation, constants, loss, reward)


@kernel
def lowest_loss(ledger):
    """Return the lowest loss of all programs; infinity if there is none."""
    lowest = np.inf
    for k in range(ledger.front.size):
        lowest = min(lowest, ledger.front[k].loss)
    return lowest


@kernel
def module_place(ledger, loss, reward):
    """Return the place that a module would take among the best, or -1. Of two with equal losses only the shorter one stays."""
    modules = ledger.modules
    n = ledger.totals[N_MODULES]
    for k in range(n):
        if abs(modules[k].loss - loss) <= EQUAL_LOSS_SHARE * loss:
            return k if reward > modules[k].reward else -1
    if n < modules.size:
        return n
    return n - 1 if reward > modules[n - 1].reward else -1


@kernel
def enter_modules(ledger, derivation, constants, loss, reward):
    """Insert the program into the best modules, ordered by reward, if it is good enough."""
    modules = ledger.modules
    place = module_place(ledger, loss, reward)
    if place < 0:
        return
    if place == ledger.totals[N_MODULES]:
        ledger.totals[N_MODULES] += 1
    while place > 0 and modules[place - 1].reward < reward:
        copy_record(modules[place - 1], modules[place])
        place -= 1
    write_record(modules[place], derivation, constants, loss, reward)
