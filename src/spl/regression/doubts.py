"""Reasons to doubt what a search found, in words for people."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.noise.first_weights import distance_from_neighbours
from spl.noise.models import NORMAL
from spl.noise.repeats import DOUBTFUL_CHANCE, find_repeats, misfit_chance
from spl.regression.candidate import Candidate
from spl.regression.cross_validation import cross_losses
from spl.regression.description_length import count_numbers, description_length
from spl.regression.fit import evaluate, find_scatter, fit_constant
from spl.regression.front import Front
from spl.regression.held_out import LARGEST_CHANCE, HeldOutVerdict
from spl.regression.same_structure import columns_of

PATTERN_CHANCE = 1e-4  # errors are doubted if noise would be so like that of their neighbours less often than this
UNEXPLAINED = "The columns do not explain the target: a constant describes it best."
UNCONFIRMED = "The columns do not explain the target of the validation rows"  # begins a note


def find_misfit(chosen: Candidate, data: Dataset) -> tuple[str, ...]:
    """Return a note if repeated measurements scatter so little that the formula cannot be the whole law; usually none."""
    repeats = find_repeats(data.columns, data.target)
    if repeats is None:
        return ()
    scatter = find_scatter(chosen.program, data if data.noise is not None else replace(data, noise=NORMAL))
    if scatter.precisions.size != data.n_rows:
        return ()
    values = evaluate(chosen.program, data.columns[:, repeats.rows])
    chance = misfit_chance(repeats, values, scatter.precisions[repeats.rows], count_numbers(chosen.program))
    if chance >= DOUBTFUL_CHANCE:
        return ()
    return (
        f"The formula misses part of the law: repeated measurements of the same inputs scatter by {repeats.deviation:.3g} only "
        f"({repeats.n_free + np.unique(repeats.group).size} rows), and the formula is farther from their means than that explains.",
    )


def find_pattern(chosen: Candidate, data: Dataset, noise: str) -> tuple[str, ...]:
    """Return a note if the errors of a formula with an unusual noise model follow the columns, as those of a wrong formula do."""
    with np.errstate(all="ignore"):
        errors = data.target - evaluate(chosen.program, data.columns)
    apart = distance_from_neighbours(data.columns, errors, data.columns, errors)
    if apart is None or not np.all(np.isfinite(errors)):
        return ()
    from scipy.stats import spearmanr

    found = spearmanr(errors, errors - apart)
    if not (found.statistic > 0 and found.pvalue < PATTERN_CHANCE):
        return ()
    return (
        f"The errors follow the columns: neighbouring rows err alike. So the formula probably misses part of the law, and the noise "
        f"model '{noise}' describes what it misses.",
    )


def find_failure(verdict: HeldOutVerdict | None) -> tuple[str, ...]:
    """Return a note if the chosen formula is no better than chance on held-out rows; usually none.

    Examples:
        >>> find_failure(HeldOutVerdict(20, (1.1, 1.0), 1.1, 0, 1.0, 0.4))
        ('The columns do not explain the target of the validation rows: the formula predicts ... (chance 0.4), on 20 rows.',)
    """
    if verdict is None or verdict.is_explained:
        return ()
    if verdict.chance > LARGEST_CHANCE:
        why = f"the order of their targets no better than chance does (chance {verdict.chance:.2g})"
    else:
        why = "them no better than a constant"
    return (f"{UNCONFIRMED}: the formula predicts {why}, on {verdict.n_rows:,} rows.",)


def find_contradiction(verdict: HeldOutVerdict | None) -> tuple[str, ...]:
    """Return a note if held-out rows clearly speak for a formula, to be said where a constant describes the other rows best.

    Examples:
        >>> find_contradiction(HeldOutVerdict(20, (1.1, 0.4), 1.1, 1, 0.4, 0.002))
        ('A constant describes the rows of the fit best, but ... (chance 0.002). ...',)
    """
    if verdict is None or not verdict.is_clear:
        return ()
    return (
        "A constant describes the rows of the fit best, but formulas of the front predict the validation rows better than chance does "
        f"(chance {verdict.chance:.2g}). Compare their validation losses, search for longer, or give more rows.",
    )


def find_dependence(chosen: Candidate, data: Dataset, given: Collection[float]) -> tuple[str, ...]:
    """Return a note if a formula predicts rows that its numbers were not fitted to no better than a constant; usually none.

    `given` are the numbers of the grammar, which are exact.
    """
    constant = fit_constant(data, Vocabulary(data.names))
    if not columns_of(chosen.program) or not chosen.loss < constant.loss:
        return ()
    of_formula, of_constant = cross_losses([chosen.program, constant.program], data, given)
    if not of_formula >= of_constant:
        return ()
    return (
        "The columns hardly explain the target: the formula rests on a few rows. Rows that its numbers are not fitted to, it predicts "
        f"no better than a constant does (cross-validated loss {of_formula:.3g}, of a constant {of_constant:.3g}).",
    )


def find_doubts(front: Front, data: Dataset, floor: float) -> tuple[str, ...]:
    """Return reasons why the formula that the default rule chooses may not be the answer; usually none.

    Examples:
        >>> from spl.regression.candidate import Candidate
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays([[1.0], [2.0], [3.0]], [0.4, 0.1, 0.3], names=["x"])
        >>> line = Candidate(parse_expression("0.3*x", Vocabulary(("x",))), loss=0.5)
        >>> find_doubts(Front((line,)), data, floor=0.0)
        ('The columns do not explain the target: a constant describes it best.',)
    """
    if not len(front):
        return ()
    chosen = front[front.choose("mdl", data.n_rows, floor)]
    constant = fit_constant(data, chosen.program.vocabulary)
    if constant.loss <= floor:
        return ()  # the target is constant
    lengths = [description_length(candidate, data.n_rows, floor) for candidate in (constant, chosen)]
    return () if columns_of(chosen.program) and lengths[1] < lengths[0] else (UNEXPLAINED,)
