"""The setup of a search: the rows it sees, in which scales, its clock and limits; and the views that it opens on the data."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.grammar_restriction import arrange_grammar, restrict_grammar
from spl.knowledge.knowledge import Judge
from spl.noise.first_weights import distance_from_neighbours, guess_precisions, robust_deviation
from spl.noise.models import AUTO, NORMAL, STUDENT, NoiseModel
from spl.noise.repeats import Repeats, find_repeats
from spl.regression.bank_build import count_entries
from spl.regression.candidate import Candidate
from spl.regression.checkpoint import Checkpoint
from spl.regression.column_screening import MAX_NARROW, Screening, screen_columns
from spl.regression.column_view import ColumnView
from spl.regression.fit import evaluate
from spl.regression.form_reading import FormReader
from spl.regression.guess_fits import fit_guesses, vary_guesses
from spl.regression.interruption import Interruption
from spl.regression.known_fit import KnownFit
from spl.regression.memory_budget import MemoryPlan, plan_memory
from spl.regression.prune import Derives
from spl.regression.request import RegressionRequest
from spl.regression.scales import Scales, choose_scales
from spl.regression.tidy_front import FrontTidier
from spl.regression.time_limit import TimeLimit
from spl.regression.trees import Forest, Recipe
from spl.regression.view import Planting, View, Yardstick
from spl.settings import SearchConfig
from spl.units.group_grammar import make_group_grammar, treats_columns_alike
from spl.units.groups import can_reach_target, choose_groups

CHECK_ROWS = 10_000  # rows on which candidates are assessed during the search
FORM_SIMULATIONS = 1  # random completions of each new leaf, if a form has numbers outside of its holes
MIN_SCREENED_ROWS = 20  # with fewer rows, screening finds nothing beyond chance


@dataclass(frozen=True, slots=True, eq=False)
class SearchSetup:
    """What a search works with. Nothing in it changes, but for what `known` counts, and `literals`, which grows."""

    request: RegressionRequest
    noise: NoiseModel | None  # of the first view; None: plain least squares
    data: Dataset  # all rows; for plain least squares, equal ones are merged, as they are for the models that "auto" compares
    check: Dataset  # the rows on which candidates are assessed
    drawn: Dataset  # the rows that the trees see
    known: KnownFit  # fits formulas within what is known of the law
    screening: Screening | None  # of the columns of a wide table
    repeats: Repeats | None  # rows that were measured more than once
    seeds: tuple[int, ...]  # of the trees of the first view
    memory: MemoryPlan
    time: TimeLimit
    interruption: Interruption
    seconds_before: float  # of the runs that this one continues
    respects: Derives  # whether a spelling is allowed: with units, one that keeps to them; with a form, one whose parts can be told
    guesses: tuple[Candidate, ...]  # formulas to begin with, fitted
    literals: list[float]  # of formulas of groups that were written in columns: all have them in the same order

    @property
    def seconds(self) -> float:
        """How long the search took so far, with the runs before."""
        return self.seconds_before + self.time.seconds

    def is_out_of_time(self) -> bool:
        """Return whether the search must stop: it was interrupted, or the rest of the time is for the final polish."""
        return self.interruption.check() or self.time.is_time_to_finish()

    def is_late(self) -> bool:
        """Return whether the time limit is over."""
        return self.time.seconds_left <= 0


def set_up(
    request: RegressionRequest, began: float, must_stop: Callable[[], bool], checkpoint: Checkpoint | None
) -> SearchSetup:
    """Return the setup of a search: the same rows for all trees, and for each tree its own random numbers."""
    data, grammar, config, limits = request.data, request.grammar, request.config, request.limits
    time_limit = TimeLimit(limits.timeout, data.n_rows, began)
    noise = _first_noise(request)
    if noise is not None:
        data = replace(data, noise=noise).sort()
    elif data.n_rows <= CHECK_ROWS:
        data = data.merge()
    sequence = np.random.SeedSequence(request.seed)
    random = np.random.default_rng(sequence)
    known = KnownFit(None if request.knowledge is None else Judge(request.knowledge, request.data))
    drawn = data.sample(config.max_rows, random)
    check = data if data.n_rows <= CHECK_ROWS else data.sample(CHECK_ROWS, random)
    is_wide = len(data.names) > MAX_NARROW and data.n_rows >= MIN_SCREENED_ROWS
    memory = plan_memory(
        config,
        n_entries=count_entries(limits.timeout) if checkpoint is None else checkpoint.n_entries,
        n_symbols=len(grammar.symbols),
        n_rows=drawn.n_rows,
        most_rules_of_symbol=max(Counter(rule.symbol for rule in grammar.rules).values()) + config.max_modules,
    )
    return SearchSetup(
        request=request,
        noise=noise,
        data=data,
        check=check,
        drawn=drawn,
        known=known,
        screening=screen_columns(check) if is_wide else None,
        repeats=find_repeats(check.columns, check.target),
        seeds=tuple(int(seed) for seed in sequence.generate_state(config.n_trees, np.uint64)),
        memory=memory,
        time=time_limit,
        interruption=Interruption(must_stop),
        seconds_before=0.0 if checkpoint is None else checkpoint.seconds,
        respects=_find_respects(request, check),
        guesses=tuple(fit_guesses(request.guessed, check)),
        literals=[] if checkpoint is None else list(checkpoint.literals),
    )


def _first_noise(request: RegressionRequest) -> NoiseModel | None:
    """Return the noise model that a search begins with; None where plain least squares is the same."""
    has_bars = request.data.sigma is not None or request.data.sigma_columns is not None
    if request.noise == AUTO or request.noise is NORMAL:
        return NORMAL if has_bars else None
    assert isinstance(request.noise, NoiseModel)
    return request.noise


# ---- views -----------------------------------------------------------------------------------------


def open_first_view(setup: SearchSetup) -> View:
    """Return the view that a search begins with."""
    weights = setup.drawn.weights
    if setup.noise is not None and setup.noise is not NORMAL:
        weights = guess_weights(setup, setup.noise, None)
    planting = plant(setup, setup.noise, weights, _first_columns(setup))
    floor = max(setup.data.floor, setup.request.target_error)
    return _open(setup, Yardstick(setup.noise, setup.data, setup.check, floor), planting)


def open_view(
    setup: SearchSetup, noise: NoiseModel, weights: NDArray[np.float64], columns: ColumnView, like: Planting
) -> View:
    """Return another view of the same rows."""
    return _open(setup, make_yardstick(setup, noise), plant(setup, noise, weights, columns, like))


def make_yardstick(setup: SearchSetup, noise: NoiseModel) -> Yardstick:
    """Return what formulas are assessed by if another noise model is assumed."""
    rows = replace(setup.check, noise=noise)
    data = rows if setup.request.data.n_rows <= CHECK_ROWS else replace(setup.request.data, noise=noise).sort()
    return Yardstick(noise, data, rows, max(data.floor, setup.request.target_error))


def _open(setup: SearchSetup, yardstick: Yardstick, planting: Planting) -> View:
    request, floor = setup.request, yardstick.floor
    tidier = FrontTidier(yardstick.check, floor, yardstick.data.n_rows, setup.respects, setup.known.keeps)
    return View(yardstick, planting, request.config, tidier, request.units)


def _first_columns(setup: SearchSetup) -> ColumnView:
    """Return all columns, or the promising ones of a wide table, if the grammar has formulas of them."""
    grammar, n_columns = setup.request.grammar, len(setup.data.names)
    if setup.screening is None:
        return ColumnView.whole(n_columns)
    promising = with_named_constants(setup.request, ColumnView(setup.screening.promising, n_columns))
    is_possible = restrict_grammar(grammar, promising.take(setup.data).names) is not None
    return promising if is_possible else ColumnView.whole(n_columns)


def with_named_constants(request: RegressionRequest, columns: ColumnView) -> ColumnView:
    """Return columns together with the named constants; all columns if these cannot have the unit of the target."""
    units = request.units
    if units is None:
        return columns
    known = range(len(units.names) - len(units.known), len(units.names))
    more = ColumnView(tuple(dict.fromkeys((*columns.columns, *known))), columns.n_columns)
    is_enough = units.are_numbers_free or can_reach_target(units.take(more.columns))
    return more if is_enough else ColumnView.whole(columns.n_columns)


def plant(
    setup: SearchSetup,
    noise: NoiseModel | None,
    weights: NDArray[np.float64],
    columns: ColumnView,
    like: Planting | None = None,
    n_restarts: int = 0,
) -> Planting:
    """Return new trees. If other trees are given and see the same columns, their bank is used."""
    request = setup.request
    data, grammar = columns.take(setup.data), request.grammar
    if not columns.is_whole:
        restricted = restrict_grammar(grammar, data.names)
        assert restricted is not None
        grammar = arrange_grammar(restricted, data.names)
    sample = replace(columns.take(setup.drawn), weights=weights, noise=None)
    groups = None
    if request.units is not None and not request.units.are_numbers_free and treats_columns_alike(grammar):
        groups = choose_groups(request.units.take(columns.columns), data.columns)
    loss_factor = 1.0
    if groups is not None:
        grammar, data, loss_factor = (
            make_group_grammar(grammar, groups),
            groups.measure(data),
            groups.loss_factor(sample),
        )
        sample = groups.measure(sample)
    scales = (
        choose_scales(data, grammar, are_pure=groups is not None)
        if request.config.relative_loss
        else Scales.plain(data)
    )
    sample = scales.measure(sample)
    seeds = setup.seeds
    if like is not None:
        name = "normal" if noise is None else noise.name
        sequence = np.random.SeedSequence([request.seed, n_restarts, *name.encode()])
        seeds = tuple(int(seed) for seed in sequence.generate_state(request.config.n_trees, np.uint64))
    bank_of = like.forest if like is not None and like.columns == columns else None
    forest = Forest(Recipe(grammar, sample, _suited_config(request), setup.memory), seeds, request.n_jobs, bank_of)
    if request.guessed:
        forest.take_up(tuple(fit_guesses(tuple(vary_guesses(request.guessed, grammar)), sample)))
    return Planting(weights, columns, groups, scales, forest, loss_factor, setup.literals)


def _find_respects(request: RegressionRequest, check: Dataset) -> Derives:
    if request.form is None:
        return request.respects
    has_form = FormReader(request.form, check).has_form
    return lambda program: request.respects(program) and has_form(program)


def _suited_config(request: RegressionRequest) -> SearchConfig:
    """Return the settings of the trees. A form with a number outside of its holes has fewer random completions.

    Nothing is looked up in derivations with a number that is not fitted yet, so jumps find such laws; random completions only take
    their time. Measured on four searches for two laws: 3,000 to 8,000 evaluations to the law instead of 9,000 to more than 26,000.
    """
    config, form = request.config, request.form
    if form is None or not form.template.constants or not config.jumping or config.n_completions == 0:
        return config
    return replace(config, n_simulations=min(config.n_simulations, FORM_SIMULATIONS))


def guess_weights(setup: SearchSetup, noise: NoiseModel, best: Candidate | None) -> NDArray[np.float64]:
    """Return first weights of the rows of the search for a noise model, from the targets, their neighbours, or the best formula."""
    drawn, rows = setup.drawn, setup.check
    residual = None
    if noise is STUDENT:
        residual = distance_from_neighbours(rows.columns, rows.target, drawn.columns, drawn.target)
        if best is not None:
            of_formula = drawn.target - evaluate(best.program, drawn.columns)
            if residual is None or robust_deviation(of_formula) < robust_deviation(residual):
                residual = of_formula
    return scaled_weights(drawn.weights * guess_precisions(noise, drawn.target, residual))


def scaled_weights(precisions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights with mean 1."""
    return np.asarray(precisions / precisions.mean())
