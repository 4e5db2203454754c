"""The search for one law with own numbers of groups, from request to front.

Structures are proposed by simple forms, and by ordinary searches on the rows of one group, on targets without the offset or scale of
their group, and on all rows. Each promising structure is fitted to all groups together, which decides what numbers they share.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spl.errors import FormulaNotFound, shorten
from spl.formulas.grammar_spelling import spell_in_grammar
from spl.formulas.guesses import MAX_GUESSES
from spl.formulas.own_numbers import OWN_NAME
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.groups.fit import JointFit
from spl.groups.forms import simple_forms
from spl.groups.formula import GroupedCandidate
from spl.groups.grammar import GroupedGrammar
from spl.groups.noise import decide_noise
from spl.groups.notes import note_groups
from spl.groups.polish import polish_fits
from spl.groups.pool import Pool, search_rows
from spl.groups.rows import GroupedRows
from spl.groups.sources import FIRST_EVALUATIONS, Source, find_sources, search_source, seed_of
from spl.kernels.programs import tokens as tk
from spl.kernels.runtime import store
from spl.noise.models import NORMAL, NoiseModel
from spl.regression.blas_threads import one_blas_thread
from spl.regression.discover import Discovery, Progress, Watcher, discover, get_ready
from spl.regression.fit import fit_constant
from spl.regression.form_fit import fit_form
from spl.regression.front import Front
from spl.regression.interruption import Interruption
from spl.regression.request import RegressionRequest
from spl.regression.time_limit import TimeLimit

MAX_SEARCH_GROUPS, MAX_SEARCH_ROWS = 24, 720  # of the search; the answer is fitted to all rows
MOST_FORMS_SHARED = 16  # simple forms that get the choice of shared numbers
MOST_PROPOSALS_SHARED = 8  # formulas of one search that do
SETTLED_TURNS = 1.5  # rounds of all sources without a change of the choice, after which it is settled
UNEXPLAINED_BY_COLUMNS = "The columns do not explain the target: numbers alone describe it best."
LAST_SHARE = 0.15  # of the time, for the fit to all rows
TURN_SHARE = 0.2  # of the time, that one turn may take


@dataclass(slots=True, eq=False)
class GroupedSearch:
    """A grouped search that is running."""

    request: RegressionRequest
    rows: GroupedRows  # all rows that count
    pool: Pool
    grammar: GroupedGrammar
    time: TimeLimit
    interruption: Interruption
    watch: Watcher | None
    n_episodes: int = 0
    n_evaluations: int = 0  # of the ordinary searches

    def is_out_of_time(self) -> bool:
        """Return whether the search must stop."""
        limit = self.request.limits.timeout
        reserve = 0.0 if limit is None else LAST_SHARE * limit
        return self.interruption.check() or self.time.seconds_left <= reserve

    def evaluations_left(self) -> float:
        """Return how many evaluations are left."""
        most = self.request.limits.max_evaluations
        return np.inf if most is None else most - self.n_evaluations - self.pool.n_evaluations

    def has_evaluations(self) -> bool:
        """Return whether there are evaluations left."""
        return self.evaluations_left() > 0

    def report(self) -> None:
        """Tell the watcher what was found so far."""
        if self.watch is not None and self.pool.fits:
            rows = self.pool.rows
            front = _make_front(list(self.pool.fits.values()), rows)
            total = self.n_evaluations + self.pool.n_evaluations
            self.watch(Progress(front, self.time.seconds, self.n_episodes, total, 0, rows.data.n_rows, rows.data.floor))


def discover_any(
    request: RegressionRequest, *, watch: Watcher | None = None, must_stop: Callable[[], bool] = lambda: False
) -> Discovery:
    """Find the formula behind a dataset, with numbers of groups if there are groups; fit a form without holes as it is."""
    find = discover_grouped if request.groupings else fit_form if request.has_known_form else discover
    return find(request, watch=watch, must_stop=must_stop)


@one_blas_thread()
def discover_grouped(
    request: RegressionRequest, *, watch: Watcher | None = None, must_stop: Callable[[], bool] = lambda: False
) -> Discovery:
    """Find one law for the rows of all groups, in which some numbers have a value for each group.

    Ctrl-C ends the search, and so does `must_stop`; the best so far is returned.
    """
    began = get_ready(request.n_jobs)
    search = _set_up(request, watch, must_stop, began)
    try:
        with search.interruption.catch_ctrl_c():
            stopped = _search(search)
    except KeyboardInterrupt:
        search.interruption.request()
        stopped = "interrupted"
    if not search.pool.fits:
        if stopped == "interrupted":
            raise KeyboardInterrupt  # there is nothing to return yet
        raise _explain_failure(request)
    return _conclude(search, stopped)


def _explain_failure(request: RegressionRequest) -> FormulaNotFound:
    """Return the error for a search without any formula."""
    form = request.form
    if form is not None and OWN_NAME in form.template.vocabulary.variables and OWN_NAME not in request.data.names:
        return FormulaNotFound(
            f"No formula of the form '{shorten(form.text)}' was found that suits all groups. Write `C` for `{OWN_NAME}`: then the "
            "data decides which numbers groups have for themselves."
        )
    return FormulaNotFound(
        "No formula of the grammar stays inside its domain on the rows of all groups. Allow other operators or more time."
    )


def _set_up(
    request: RegressionRequest, watch: Watcher | None, must_stop: Callable[[], bool], began: float
) -> GroupedSearch:
    noise = request.noise if isinstance(request.noise, NoiseModel) and request.noise is not NORMAL else None
    if request.data.sigma is not None or request.data.sigma_columns is not None:
        noise = noise or NORMAL
    usable = np.flatnonzero(request.data.weights > 0)
    data = replace(request.data, noise=noise)
    groupings = tuple(each.take(usable) for each in request.groupings)
    rows = GroupedRows(data.take(usable), groupings)
    random = np.random.default_rng(request.seed)
    seen = search_rows(rows, MAX_SEARCH_GROUPS, MAX_SEARCH_ROWS, random)
    grammar = GroupedGrammar(request.grammar, request.data.names)
    interruption, time = Interruption(must_stop), TimeLimit(request.limits.timeout, data.n_rows, began)
    search: GroupedSearch
    pool = Pool(seen, grammar.allows, grammar.derives, grammar.given, lambda: search.is_out_of_time())
    search = GroupedSearch(request, rows, pool, grammar, time, interruption, watch)
    return search


def _search(search: GroupedSearch) -> str:
    """Try proposals by turns until there is a reason to stop; return it."""
    pool, names = search.pool, search.request.data.names
    pool.add(_constant_first(search), most=1)
    guesses = (spell_in_grammar(_share_numbers(each), search.grammar.shared) for each in search.request.guessed)
    pool.add([each for each in guesses if each is not None], most=MAX_GUESSES)
    pool.add(simple_forms(names, search.grammar.derives, search.grammar.shared.vocabulary.own), most=MOST_FORMS_SHARED)
    pool.prune()
    pool.grow(search.has_evaluations)
    search.report()
    sources = find_sources(pool.rows)
    turn, turn_of_choice, choice = 0, 0, pool.best
    while True:
        reason = _reason_to_stop(search, turn - turn_of_choice, len(sources))
        if reason:
            return reason
        _take_turn(search, sources[turn % len(sources)], turn, FIRST_EVALUATIONS * 2 ** (turn // len(sources)))
        turn += 1
        if pool.best is not choice:
            pool.prune()
            pool.grow(search.has_evaluations)
            choice, turn_of_choice = pool.best, turn
        search.report()


def _share_numbers(program: Program) -> Program:
    """Return a guess with a constant, still without a value, for each `K` in it."""
    words = program.vocabulary
    if OWN_NAME not in words.variables:
        return program
    own, values = words.variable_token(OWN_NAME), iter(program.constants)
    tokens = tuple(CONSTANT_TOKEN if token == own else token for token in program.tokens)
    constants = [1.0 if token == own else next(values) for token in program.tokens if token in (own, CONSTANT_TOKEN)]
    return Program(tokens, words, tuple(constants))


def _constant_first(search: GroupedSearch) -> list[Program]:
    """Return the constant, which every law has to beat."""
    constant = Program(
        (CONSTANT_TOKEN,), search.grammar.shared.vocabulary, (float(search.pool.rows.data.target.mean()),)
    )
    return [constant]


def _take_turn(search: GroupedSearch, source: Source, turn: int, budget: int) -> None:
    limit, left = search.request.limits.timeout, search.evaluations_left()
    seconds = (
        None if limit is None else max(min(TURN_SHARE * limit, search.time.seconds_left - LAST_SHARE * limit), 0.2)
    )
    budget = int(min(budget, max(left, 1)))
    request = replace(search.request, grammar=search.grammar.shared, groupings=(), form=None, guesses=())
    programs, found = search_source(source, request, budget, seconds, seed_of(request, turn), search.is_out_of_time)
    if found is not None:
        search.n_episodes += found.n_episodes
        search.n_evaluations += found.n_evaluations
    derives = search.grammar.derives
    structures = [each for program in programs for each in source.structures(program, derives)]
    search.pool.add(structures, most=MOST_PROPOSALS_SHARED)


def _reason_to_stop(search: GroupedSearch, n_unchanged: int, n_sources: int) -> str:
    """Return why to stop, or nothing."""
    if search.interruption.check():
        return "interrupted"
    if search.pool.is_exact:
        return "exact"
    if search.evaluations_left() <= 0:
        return "evaluations"
    if search.is_out_of_time():
        return "timeout"
    patience = search.request.config.patience
    is_settled = patience is not None and n_unchanged >= SETTLED_TURNS * n_sources
    return "settled" if is_settled else ""


# ---- the end -------------------------------------------------------------------------------------


def _make_front(fits: list[JointFit], rows: GroupedRows) -> Front:
    return Front.from_candidates((fit.candidate(rows) for fit in fits), rows.data.floor, rows.data.n_rows)


def _conclude(search: GroupedSearch, stopped: str) -> Discovery:
    """Fit the front to all rows, polish the choice, and say what people should know about it."""
    rows, request = search.rows, search.request
    polished = polish_fits(search.pool, rows, search.grammar, lambda: search.time.seconds_left <= 0)
    decided = decide_noise(polished, rows, request.noise)
    front = _make_front(decided.fits, decided.rows)
    chosen = front[front.choose("mdl", rows.data.n_rows, rows.data.floor)]
    assert isinstance(chosen, GroupedCandidate)
    usable = np.flatnonzero(request.data.weights > 0)
    notes = (
        *request.data.notes,
        *note_groups(chosen, rows),
        *_find_doubts(chosen, rows),
        *decided.notes,
        *store.troubles,
    )
    return Discovery(
        front,
        rows.data.n_rows,
        rows.data.floor,
        search.time.seconds,
        search.n_episodes,
        search.n_evaluations + search.pool.n_evaluations,
        stopped,
        notes,
        decided.choice,
        tuple(int(usable[row]) for row in decided.outliers),
    )


def _find_doubts(chosen: GroupedCandidate, rows: GroupedRows) -> tuple[str, ...]:
    """Return a note if the columns do not explain the target."""
    is_constant = fit_constant(rows.data, chosen.program.vocabulary).loss <= rows.data.floor
    uses_columns = any(
        token >> tk.KIND_SHIFT == tk.VARIABLE and token & tk.PAYLOAD_MASK < len(rows.data.names)
        for token in chosen.program.tokens
    )
    return () if uses_columns or is_constant else (UNEXPLAINED_BY_COLUMNS,)
