"""A first look at the data: the formula of a small bank that fits best, without any search.

It needs few kernels, so there is something to see while the others are compiled. The search itself does not use it.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.bank.bank import Bank
from spl.kernels.programs import tokens as tk
from spl.regression.bank_build import Tokens, grow_small_bank, spell_entry
from spl.regression.candidate import Candidate
from spl.regression.fit import evaluate, root_mean_square_error
from spl.regression.request import RegressionRequest
from spl.regression.scales import Scales, choose_scales

FIRST_ENTRIES = 20_000  # of the bank
FIRST_LOOK_ROUNDING = 1e-12  # of the spread of the target: a smaller loss is rounding error
SURE_DIGITS = 13  # of a number: what follows is rounding error
N_CLOSEST = 50  # entries that are fitted: those that look closest on the few rows of the bank


def look_first(request: RegressionRequest) -> Candidate | None:
    """Return the entry of a small bank that fits best: alone, with a factor, or with a factor and an offset. None if there is none."""
    if request.knowledge is not None:
        return None  # it might break what is known
    data, grammar = request.data, request.grammar
    scales = choose_scales(data, grammar) if request.config.relative_loss else Scales.plain(data)
    sample = scales.measure(data.sample(request.config.max_rows, np.random.default_rng(request.seed)))
    bank, rules = grow_small_bank(grammar, sample, FIRST_ENTRIES)
    entries = (spell_entry(bank, rules, entry) for entry in _closest_entries(bank, sample.target))
    fitted = [_fit(tokens, request, sample) for entry in entries for tokens in _forms_of(entry)]
    exact = FIRST_LOOK_ROUNDING * sample.spread
    found = min(filter(None, fitted), key=lambda each: (max(each.loss, exact), each.cost), default=None)
    expressed = None if found is None else scales.express(found)
    return _best_of(request, [] if expressed is None else [expressed])


def _best_of(request: RegressionRequest, found: list[Candidate]) -> Candidate | None:
    """Return the best of what was found and the guesses, with the numbers that these were given."""
    data = request.data
    guesses = [program for program in request.guessed if np.all(np.isfinite(program.constants))]
    if not guesses:
        return found[0] if found else None
    losses = [root_mean_square_error(program, data) for program in (*(each.program for each in found), *guesses)]
    candidates = [
        *found,
        *(Candidate(program, loss) for program, loss in zip(guesses, losses[len(found) :], strict=True)),
    ]
    place = int(np.argmin(losses))
    return candidates[place] if np.isfinite(losses[place]) else None


def _closest_entries(bank: Bank, target: NDArray[np.float64]) -> Iterator[int]:
    """Yield the entries of the start symbol that correlate best with the target."""
    n = bank.n_values
    members = bank.member[0, : bank.n_of[0]]
    rows = bank.values.reshape(-1, n)[members]
    rows = rows - rows.mean(axis=1, keepdims=True)
    goal = target[:n] - target[:n].mean()
    with np.errstate(all="ignore"):
        correlation = np.nan_to_num(np.abs(rows @ goal) / np.linalg.norm(rows, axis=1))
    yield from (int(members[k]) for k in np.argsort(-correlation, kind="stable")[:N_CLOSEST])


def _forms_of(entry: Tokens) -> Iterator[Tokens]:
    """Yield an entry by itself, with a factor, and with a factor and an offset."""
    if CONSTANT_TOKEN not in entry:
        scaled = (tk.MUL, CONSTANT_TOKEN, *entry)
        yield from (entry, scaled, (tk.ADD, *scaled, CONSTANT_TOKEN))


def _fit(tokens: Tokens, request: RegressionRequest, sample: Dataset) -> Candidate | None:
    """Return a form of an entry with its numbers; None if the grammar does not have it."""
    n_numbers = tokens.count(CONSTANT_TOKEN)
    program = Program(tokens, request.grammar.vocabulary, (1.0, 0.0)[:n_numbers])
    if not request.allows(program):
        return None
    values, root = evaluate(program, sample.columns), np.sqrt(sample.weights)
    if not np.isfinite(values).all():
        return None
    terms = np.column_stack([values, np.ones(values.size)])[:, :n_numbers]
    numbers = np.linalg.lstsq(terms * root[:, np.newaxis], sample.target * root, rcond=None)[0]
    numbers = np.array([float(f"{number:.{SURE_DIGITS}g}") for number in numbers])
    left = sample.target - (terms @ numbers if n_numbers else values)
    return Candidate(program.with_constants(numbers), float(np.sqrt(np.mean(sample.weights * left**2))))
