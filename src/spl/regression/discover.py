"""The search from request to front, Algorithm 1 of the paper: grow the trees, assess what they found, report, transplant modules.

This is the only place that knows the order of the steps, and the loop by which modules return to the search. Most searches have one
view of the data; `views` says when there are more, and whose turn it is.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Protocol

from spl.errors import FormulaNotFound, RunFileError
from spl.formulas.text import to_text
from spl.kernels.runtime import store
from spl.kernels.runtime.building import are_all_stored
from spl.noise.models import AUTO, NORMAL, STUDENT
from spl.regression.assess import Assessment, Assessor, count_episodes_left, has_settled
from spl.regression.blas_threads import one_blas_thread
from spl.regression.candidate import Candidate
from spl.regression.checkpoint import Checkpoint, ViewCheckpoint, pack_candidates, unpack_candidates
from spl.regression.column_screening import describe_screening
from spl.regression.column_view import ColumnView
from spl.regression.doubts import (
    find_contradiction,
    find_dependence,
    find_doubts,
    find_failure,
    find_misfit,
    find_pattern,
)
from spl.regression.fit import fit, fit_constant, price_numbers
from spl.regression.front import VALIDATION, Front, check_has_held_out, rule_while_running
from spl.regression.held_out import HeldOutVerdict, judge_front
from spl.regression.knowledge_doubts import explain_exclusion, find_cost_of_knowledge
from spl.regression.noise_choice import (
    PLAIN_NOISE,
    NoiseChoice,
    best_description,
    describe,
    explain_choice,
    note_of_doubt,
    note_of_error_bars,
    price,
    rival_models,
)
from spl.regression.outliers import find_outliers
from spl.regression.parallel import Workers
from spl.regression.polish import polish_front
from spl.regression.request import RegressionRequest
from spl.regression.rival_collection import collect_rivals
from spl.regression.schedule import Position, batch_end
from spl.regression.setup import SearchSetup, plant, set_up
from spl.regression.simplify import start_loading as start_loading_sympy
from spl.regression.tidy_front import tidy_candidate
from spl.regression.transplantation import keep_best, module_size
from spl.regression.trees import share_evaluations
from spl.regression.view import View, Yardstick
from spl.regression.views import Views
from spl.regression.warm_up import compile_kernels


@dataclass(frozen=True, slots=True)
class Progress:
    """What a watcher sees after each batch of episodes."""

    front: Front
    seconds: float
    n_episodes: int
    n_evaluations: int
    n_rounds: int = 0  # completed
    n_rows: int = 1  # different rows of the data
    floor: float = 0.0  # an error up to this is rounding error
    noise: str = "normal"  # the noise model that describes the data best so far


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a run found, and why it ended."""

    front: Front
    n_rows: int  # different rows that the front was assessed on
    floor: float  # an error up to this is rounding error
    seconds: float
    n_episodes: int
    n_evaluations: int
    stopped: str  # "exact", "settled", "timeout", "evaluations", "exhausted", "schedules", "fitted" or "interrupted"
    notes: tuple[str, ...] = ()  # for people: what was changed in the data, and reasons to doubt the answer
    noise: NoiseChoice = PLAIN_NOISE  # the noise model by which the formulas were fitted and chosen
    outliers: tuple[int, ...] = ()  # rows far from the formula, if the noise model expects such rows
    screened: str = ""  # for people: which columns of a wide table were searched; one of the notes
    held_out: HeldOutVerdict | None = None  # what rows that the search never saw say about the front
    rivals: Sequence[
        Candidate
    ] = ()  # distinct formulas with short descriptions, the shortest first; empty if none were kept

    def choose(self, selection: str) -> int:
        """Return the row of the front that a rule prefers: see `Front.choose`. While a search is running, "validation" is "mdl"."""
        if selection == VALIDATION:
            if self.held_out is not None:
                return self.held_out.preferred
            check_has_held_out(selection, not self.stopped)
        return self.front.choose(rule_while_running(selection), self.n_rows, self.floor)


MAX_TRIED_RIVALS = 200  # after each batch, if something is known of the law: the best formulas may break it
SAME_LOSS_SHARE = 1e-3  # losses that differ by less belong to the same formula, but for rounded numbers
NOTE_DIGITS = 4  # of the numbers of a formula in a note

Watcher = Callable[[Progress], None]


class Keeper(Protocol):
    """Keeps what it likes of a search after each batch, and what is needed to continue the search from there."""

    def __call__(self, progress: Progress, checkpoint: Callable[[], Checkpoint], *, is_last: bool) -> None:
        """Take note of the state of the search. To have a checkpoint, call `checkpoint` before returning."""


# ---- the search ----------------------------------------------------------------------------------


@one_blas_thread()
def discover(
    request: RegressionRequest,
    *,
    watch: Watcher | None = None,
    keep: Keeper | None = None,
    checkpoint: Checkpoint | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> Discovery:
    """Find the formula behind a dataset among those of a grammar.

    Ctrl-C ends the search, and so does `must_stop`, which is called several times a second; the best so far is returned. From a
    checkpoint, the search continues as if it had never stopped; its time limit counts from now, its evaluations from the beginning.
    """
    began = get_ready(request.n_jobs)
    setup = set_up(request, began, must_stop, checkpoint)
    views = Views.begin(setup) if checkpoint is None else _restore(setup, checkpoint)
    is_sound = True
    try:
        with setup.interruption.catch_ctrl_c():
            stopped = _search(setup, views, watch, keep)
    except KeyboardInterrupt:
        setup.interruption.request()
        stopped = "interrupted"
        _assess(setup, views, views.next())
        is_sound = False  # a tree may be in the middle of an episode
    try:
        if keep is not None and is_sound:
            keep(_progress(setup, views), partial(_take_checkpoint, setup, views), is_last=True)
        yardstick, front = _polish(setup, views)
    except KeyboardInterrupt:
        if not len(views.lead.front):
            raise
        yardstick, front = views.lead.yardstick, views.lead.tidier.tidy(views.lead.front)
        stopped = "interrupted"
    return _conclude(setup, views, yardstick, front, stopped)


def _search(setup: SearchSetup, views: Views, watch: Watcher | None, keep: Keeper | None) -> str:
    """Grow the trees, batch by batch and round by round, until there is a reason to stop; return it."""
    config = setup.request.config
    view = views.next()
    while config.max_schedules is None or view.position.schedule < config.max_schedules:
        _grow(setup, views, view)
        with setup.time.look():
            _assess(setup, views, view)
            _report(setup, views, watch, keep)
        reason = _reason_to_stop(setup, views, view)
        if reason:
            return reason
        if view.is_exhausted and not view.planting.columns.is_whole:
            views.widen(view)
        elif view.is_exhausted or view.is_last_batch:
            _transplant(view)
            view.position = view.position.next_round(config.n_transplants)
        else:
            view.position = view.position.next_batch()
        views.update(view)
        view = views.next()
    return "schedules"


# ---- its steps -----------------------------------------------------------------------------------


def _grow(setup: SearchSetup, views: Views, view: View) -> None:
    """Grow all trees of a view to the end of the batch, in parallel; each has its own share of the evaluations."""
    config, limits, trees = setup.request.config, setup.request.limits, view.trees
    n_grown = sum(tree.n_grown for tree in trees)
    end_after_exact = -(-(n_grown + _count_episodes_left(view)) // len(trees))
    end = min(batch_end(view.position.batch, config.n_episodes), end_after_exact)
    most = limits.max_evaluations
    if most is not None:
        most = max(most - (views.n_evaluations - view.n_evaluations), len(trees))
    view.planting.forest.grow(end, share_evaluations(most, len(trees)), setup.is_out_of_time)
    view.has_grown = all(tree.has_grown(end) for tree in trees)


def _assess(setup: SearchSetup, views: Views, view: View) -> None:
    """Assess what the trees of a view found since the last time, and what the first view found."""
    assessor = Assessor(
        view.yardstick.check,
        view.yardstick.data.n_rows,
        view.yardstick.floor,
        setup.request.allows,
        must_stop=setup.is_out_of_time,
        is_late=setup.is_late,
        respects=setup.respects,
        known=setup.known,
    )
    found = [*_candidates(setup, view), *setup.guesses]
    if view is not views.first:
        found += views.first.front
    view.assessment_before = view.assessment
    view.assessment = assessor.assess(found, view.assessment, view.n_episodes, len(view.trees))
    view.is_late = setup.is_late()


def _candidates(setup: SearchSetup, view: View) -> Iterator[Candidate]:
    """Yield the best that each tree has found, in the user's units; if some may break what is known of the law, many more."""
    for tree in view.trees:
        for candidate in tree.candidates():
            expressed = view.express(candidate, setup.request.grammar.vocabulary)
            if expressed is not None and setup.request.respects(expressed.program):
                yield expressed
    if setup.known.judge is not None:
        yield from islice(view.rough_rivals(setup.request.grammar.vocabulary, has_all=True), MAX_TRIED_RIVALS)


def _report(setup: SearchSetup, views: Views, watch: Watcher | None, keep: Keeper | None) -> None:
    """Tell those who watch and keep the search how far it is."""
    if watch is None and keep is None:
        return
    progress = _progress(setup, views)
    if watch is not None:
        watch(progress)
    if keep is not None:
        keep(progress, partial(_take_checkpoint, setup, views), is_last=False)


def _progress(setup: SearchSetup, views: Views) -> Progress:
    config, lead = setup.request.config, views.lead
    position = lead.position
    is_complete = lead.is_exhausted or (
        lead.is_last_batch and all(tree.has_grown(config.n_episodes) for tree in lead.trees)
    )
    return Progress(
        front=lead.tidier.tidy(lead.front),
        seconds=setup.seconds,
        n_episodes=views.n_episodes,
        n_evaluations=views.n_evaluations,
        n_rounds=position.schedule * config.n_transplants + position.round + is_complete,
        n_rows=lead.yardstick.data.n_rows,
        floor=lead.yardstick.floor,
        noise=lead.name,
    )


def _reason_to_stop(setup: SearchSetup, views: Views, view: View) -> str:
    """Return why to stop, or nothing."""
    is_out_of_time = setup.is_out_of_time()
    if setup.interruption.is_requested:
        return "interrupted"
    if _count_episodes_left(view) <= 0:
        views.lead = view
        return "exact"
    is_settled = has_settled(view.assessment.episodes_at_choice, view.n_episodes, setup.request.config)
    if view is views.lead and is_settled and views.are_tried:
        return "settled"
    if any(tree.has_used_up_evaluations for tree in view.trees):
        return "evaluations"  # the others stop where a run that continues would assess them
    if is_out_of_time:
        return "timeout"
    was_all_tried = view.is_exhausted and view.planting.columns.is_whole and not view.trees[0].planted
    return "exhausted" if was_all_tried else ""


def _transplant(view: View) -> None:
    """Plant new trees with the best modules so far as rules; without modules, if a new schedule starts."""
    config, trees = view.config, view.trees
    next_round = view.position.next_round(config.n_transplants).round
    found = [module for tree in trees for module in tree.modules()]
    modules = keep_best([*trees[0].planted, *found], config.max_modules)
    if next_round == 0:
        modules = ()
        for tree in trees:
            tree.forget_modules()
    for tree in trees:
        tree.plant(modules, module_size(config, next_round))


def _count_episodes_left(view: View) -> int:
    return count_episodes_left(view.assessment, view.n_episodes, len(view.trees))


# ---- beginning and end ---------------------------------------------------------------------------


def get_ready(n_jobs: int) -> float:
    """Load what a search needs, here and in the workers. Return when its time starts: compiling the kernels does not count."""
    began = time.monotonic()
    is_compiled = are_all_stored()
    compile_kernels()
    Workers(n_jobs).greet(compile_kernels)
    start_loading_sympy()
    return began if is_compiled else time.monotonic()


def _polish(setup: SearchSetup, views: Views) -> tuple[Yardstick, Front]:
    """Return the front by the noise model that describes the data best, with its formulas polished as far as there is time."""
    is_interrupted = setup.interruption.is_requested
    if not len(views.lead.front):
        if is_interrupted:
            raise KeyboardInterrupt  # there is nothing to return yet
        raise FormulaNotFound(
            explain_exclusion(setup.known)
            or "No formula of the grammar stays inside its domain on the data. Allow other operators or more time."
        )
    yardstick, front = views.decide()
    polished = polish_front(
        front,
        yardstick.data,
        yardstick.check,
        yardstick.floor,
        0.0 if is_interrupted else setup.time.seconds_left,
        derives=setup.request.allows,
        respects=setup.respects,
        known=setup.known,
    )
    return yardstick, polished


def _conclude(setup: SearchSetup, views: Views, yardstick: Yardstick, front: Front, stopped: str) -> Discovery:
    """Return the front with what people should know about it."""
    request, n_rows, floor = setup.request, yardstick.data.n_rows, yardstick.floor
    chosen = front[front.choose("mdl", n_rows, floor)]
    choice, doubt = _explain_noise(setup, views, yardstick, chosen)
    screened = (
        ""
        if setup.screening is None
        else describe_screening(setup.screening, views.lead.planting.columns, request.data)
    )
    verdict = _judge(request, yardstick, front, front.choose("mdl", n_rows, floor))
    unexplained = find_doubts(front, yardstick.data, floor)
    if unexplained:
        unexplained = find_contradiction(verdict) or unexplained
    else:
        given = request.grammar.vocabulary.literals
        unexplained = find_failure(verdict) or find_dependence(chosen, yardstick.check, given)
    doubts = [*unexplained, *find_misfit(chosen, yardstick.data), *doubt]
    doubts += find_cost_of_knowledge(chosen, setup.known, yardstick.check, floor)
    if yardstick.model is not NORMAL and request.noise == AUTO and chosen.loss > floor:
        doubts += find_pattern(chosen, yardstick.check, choice.name)
    notes = (*request.data.notes, *((screened,) if screened else ()), *doubts, *store.troubles)
    return Discovery(
        front,
        n_rows,
        floor,
        setup.seconds,
        views.n_episodes,
        views.n_evaluations,
        stopped,
        notes,
        choice,
        find_outliers(chosen.program, request.data) if choice.name == STUDENT.name else (),
        screened,
        verdict,
        collect_rivals(views, yardstick, front) if request.keeps_rivals else (),
    )


def _judge(request: RegressionRequest, yardstick: Yardstick, front: Front, chosen: int) -> HeldOutVerdict | None:
    """Return what the held-out rows say about the front, if there are any."""
    if request.held_out is None:
        return None
    constant = fit_constant(yardstick.check, request.grammar.vocabulary)
    return judge_front(front, chosen, constant.program, request.held_out, yardstick.noise, yardstick.floor)


def _explain_noise(
    setup: SearchSetup, views: Views, yardstick: Yardstick, chosen: Candidate
) -> tuple[NoiseChoice, tuple[str, ...]]:
    """Return the noise model of the answer in words, and a note if the data leaves it open."""
    rows, noise = setup.check, yardstick.model
    is_auto = setup.request.noise == AUTO
    if not is_auto and yardstick.noise is None:
        return PLAIN_NOISE, ()
    compared = []
    if is_auto and chosen.loss > yardstick.floor:
        compared = [best_description([chosen], model, rows) for model in (NORMAL, *rival_models(rows))]
    choice = explain_choice(chosen, noise, rows, [each for each in compared if each is not None], is_auto)
    if not is_auto or noise is NORMAL:
        note = note_of_error_bars(choice, rows.n_rows)
    else:
        note = _compare_with_plain(views, yardstick, chosen, choice)
    return choice, (note,) if note else ()


def _compare_with_plain(views: Views, yardstick: Yardstick, chosen: Candidate, choice: NoiseChoice) -> str:
    """Return a note if even noise would lead to another formula, and the rows cannot tell."""
    plain, rows = views.first.choice, views.setup.check
    if plain is None:
        return ""
    loss = fit(plain.program, yardstick.check).loss
    is_same = math.isclose(loss, chosen.loss, rel_tol=SAME_LOSS_SHARE)  # perhaps spelled otherwise
    difference = describe(plain, NORMAL, rows).nats - price(chosen, yardstick.model, rows).nats
    formula = "" if is_same else to_text(tidy_candidate(plain, rows).program, NOTE_DIGITS)
    return note_of_doubt(choice, rows.n_rows, difference, formula)


# ---- checkpoints ---------------------------------------------------------------------------------


def _take_checkpoint(setup: SearchSetup, views: Views) -> Checkpoint:
    """Return where the search is."""
    return Checkpoint(
        seconds=setup.seconds,
        n_entries=setup.memory.n_entries,
        lead=views.opened.index(views.lead),
        views=tuple(_take_view(view) for view in views.opened),
        literals=tuple(setup.literals),
    )


def _take_view(view: View) -> ViewCheckpoint:
    """Return where a view is. An assessment of an unfinished batch is left out: a search without a break never makes it."""
    is_whole = view.has_grown and not view.is_late
    assessment = view.assessment if is_whole else view.assessment_before
    return ViewCheckpoint(
        noise=view.name,
        weights=view.planting.weights,
        columns=view.planting.columns.columns,
        asked=view.asked,
        n_restarts=view.n_restarts,
        n_before=view.n_before,
        schedule=view.position.schedule,
        round=view.position.round,
        batch=view.position.batch,
        episodes_at_exact=assessment.episodes_at_exact,
        episodes_at_choice=assessment.episodes_at_choice,
        front=pack_candidates(assessment.front),
        seen=pack_candidates(assessment.seen.values()),
        rivals=pack_candidates(view.rivals),
        searchers=tuple(tree.state() for tree in view.trees),
    )


def _restore(setup: SearchSetup, checkpoint: Checkpoint) -> Views:
    """Return the views with their trees where they were."""
    views = Views.begin(setup)
    for stored in checkpoint.views[1:]:
        views.reopen(stored.noise, stored.weights, _stored_columns(setup, stored))
    for view, stored in zip(views.opened, checkpoint.views, strict=True):
        _restore_view(setup, view, stored)
    views.resume(checkpoint.lead)
    return views


def _stored_columns(setup: SearchSetup, stored: ViewCheckpoint) -> ColumnView:
    """Return the columns of a stored view; older runs have all. Raises an error if it is not one of this table."""
    n_columns = len(setup.data.names)
    is_sound = stored.weights.size == setup.drawn.n_rows and all(column < n_columns for column in stored.columns)
    if not is_sound or len({*stored.columns}) < len(stored.columns):
        raise RunFileError("The state of the search is that of another one, or damaged. Begin a new run.")
    return ColumnView(stored.columns, n_columns) if stored.columns else ColumnView.whole(n_columns)


def _restore_view(setup: SearchSetup, view: View, stored: ViewCheckpoint) -> None:
    """Put the trees of a view where they were."""
    if len(stored.searchers) != len(view.trees):
        raise RunFileError(f"The run was left with {len(stored.searchers)} trees; its settings say {len(view.trees)}.")
    vocabulary = setup.request.grammar.vocabulary
    if stored.n_restarts and view.n_restarts == 0:
        columns = _stored_columns(setup, stored)
        view.restart(plant(setup, view.yardstick.noise, stored.weights, columns, view.planting), vocabulary)
    for tree, state in zip(view.trees, stored.searchers, strict=True):
        tree.restore(state)
    for number in setup.literals:
        vocabulary = vocabulary.with_literal(number)
    front = Front(
        tuple(price_numbers(each, view.yardstick.check) for each in unpack_candidates(stored.front, vocabulary))
    )
    seen = {each.program.tokens: each for each in unpack_candidates(stored.seen, vocabulary)}
    if setup.known.judge is not None:
        seen = {}  # they are tried again: a checkpoint does not say which of them break what is known
    assessment = Assessment(front, seen, stored.episodes_at_exact, stored.episodes_at_choice)
    view.position = Position(stored.schedule, stored.round, stored.batch)
    view.n_restarts, view.n_before, view.asked = stored.n_restarts, stored.n_before, stored.asked
    view.rivals = unpack_candidates(stored.rivals, vocabulary)
    view.assessment = view.assessment_before = assessment
