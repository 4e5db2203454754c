"""What the kernels of a tree search share: settings, data, results and scratch, in one record."""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.evaluate import Alphabet
from spl.kernels.programs.fit import FitEffort
from spl.kernels.programs.normal_equations import FIT_WORK, FitTable
from spl.kernels.runtime.compiler import make_record
from spl.kernels.tree.complete import Completion
from spl.kernels.tree.derivation import DERIVATION, Rules
from spl.kernels.tree.ledger import Ledger
from spl.kernels.tree.program_keys import KEY_WORK


class Policy(NamedTuple):
    """The hyperparameters of the search."""

    eta: float  # discount of the reward per rule
    explore: float  # weight of the exploration term
    epsilon: float  # share of selections made at random
    n_simulations: int  # random completions of each new leaf
    n_completions: int  # entries tried in a second hole of a leaf near the root; fewer farther from it; 0: no look-ups
    max_steps: int  # operators that may be inverted on the way to a hole
    closers: np.ndarray  # int64[8], whether each of `settings.CLOSERS` is used
    is_jumping: bool  # whether to vary the best programs
    max_rules: int  # the paper's t_max
    module_size: int  # most rules of a module at present
    is_scaled: bool  # divide Q by the highest reward so far
    is_greedy: bool  # Q is the highest reward, else the mean
    loss_scale: float  # factor of the loss in the reward


class SearchWork(NamedTuple):
    """Scratch of one thread."""

    fit: np.record  # FIT_WORK
    keys: np.record  # KEY_WORK
    node: np.record  # DERIVATION, the state at the node that the episode has reached
    leaf: np.record  # DERIVATION, a completion of it
    ancestor: np.record  # DERIVATION, the state at a node on the path to it
    path: np.ndarray  # int64[max_rules + 2], nodes of the episode
    slots: np.ndarray  # int64[max_rules + 2], the place in `child` that led to each of them


class SearchContext(NamedTuple):
    """All that the kernels of one tree read and write, but for the tree itself."""

    rules: Rules
    alphabet: Alphabet
    table: FitTable
    effort: FitEffort  # of a fit without guesses
    policy: Policy
    completion: Completion
    ledger: Ledger
    work: SearchWork
    random: np.ndarray  # uint64[1], state of the generator


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
