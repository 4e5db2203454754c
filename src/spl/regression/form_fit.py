"""A form without holes: there is nothing to search for, only its numbers are fitted, thoroughly and from many starts.

The formula stays as it was written: nothing is pruned, rounded or simplified.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import FormulaNotFound, GrammarError, shorten
from spl.formulas.program import Program
from spl.kernels.programs.fit import FitEffort
from spl.kernels.runtime import store
from spl.noise.models import AUTO, NORMAL, STUDENT, NoiseModel
from spl.regression.blas_threads import one_blas_thread
from spl.regression.candidate import Candidate
from spl.regression.discover import Discovery, Progress, Watcher, get_ready
from spl.regression.domain import explain_undefined
from spl.regression.doubts import find_doubts, find_misfit
from spl.regression.fit import POLISH_EFFORT, fit, fit_constant
from spl.regression.front import Front
from spl.regression.held_out import judge_front
from spl.regression.interruption import Interruption
from spl.regression.noise_choice import (
    MARGIN_NATS,
    PLAIN_NOISE,
    Description,
    NoiseChoice,
    describe,
    explain_choice,
    note_of_error_bars,
    price,
    rival_models,
)
from spl.regression.outliers import find_outliers
from spl.regression.request import RegressionRequest
from spl.regression.time_limit import TimeLimit

N_ROUNDS = 8  # of starts, each with random numbers of its own
ROUND_EFFORT = FitEffort(n_starts=8, n_scans=200, max_iterations=60, tolerance=1e-10)
MAX_START_ROWS = 2_000  # on which starts are compared; the best is fitted to all rows
SAME_LOSS = 1e-3  # losses that differ by less belong to the same numbers
FEWEST_ROUNDS = 2  # that should lead to the best numbers; with fewer, there may be better ones


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A fit of the form by a noise model."""

    candidate: Candidate
    noise: NoiseModel | None
    choice: NoiseChoice


@one_blas_thread()
def fit_form(
    request: RegressionRequest, *, watch: Watcher | None = None, must_stop: Callable[[], bool] = lambda: False
) -> Discovery:
    """Return the form of a request with its numbers fitted. Raises `FormulaNotFound` if it has no value on the rows."""
    began = get_ready(request.n_jobs)
    time = TimeLimit(request.limits.timeout, request.data.n_rows, began)
    interruption = Interruption(must_stop)
    has_bars = request.data.sigma is not None or request.data.sigma_columns is not None
    first = NORMAL if has_bars else None
    if isinstance(request.noise, NoiseModel) and request.noise is not NORMAL:
        first = request.noise
    rows = replace(request.data, noise=first)
    assert request.form is not None
    program = request.form.template
    if not request.respects(program.with_constants(np.ones(program.n_constants))):
        raise GrammarError(
            f"The form '{shorten(request.form.text)}' does not have the unit of the target. Change the form or the units, or let "
            "its numbers have units."
        )
    losses: list[float] = []
    best: Candidate | None = None
    with interruption.catch_ctrl_c():
        for candidate in _try_starts(program, rows, request.seed):
            losses.append(candidate.loss)
            if best is None or candidate.loss < best.loss:
                best = candidate
            if interruption.check() or time.seconds_left <= 0:
                break
    assert best is not None
    if not math.isfinite(best.loss):
        raise _explain_failure(request, best.program)
    fitted = _choose_noise(request, fit(best.program, rows, effort=POLISH_EFFORT), first)
    found = _conclude(request, fitted, _note_starts(losses, rows.floor), time.seconds, len(losses))
    if interruption.is_requested:
        found = replace(found, stopped="interrupted")
    if watch is not None:
        watch(
            Progress(found.front, found.seconds, 0, found.n_evaluations, 0, found.n_rows, found.floor, found.noise.name)
        )
    return found


def _try_starts(program: Program, rows: Dataset, seed: int) -> Iterator[Candidate]:
    """Yield fits from different starts, each continued on all rows."""
    few = rows.sample(MAX_START_ROWS, np.random.default_rng(seed))
    for k in range(N_ROUNDS if program.constants else 1):
        started = fit(program, few, effort=ROUND_EFFORT, seed=seed + k)
        yield started if few.n_rows == rows.n_rows else fit(started.program, rows)


def _choose_noise(request: RegressionRequest, found: Candidate, first: NoiseModel | None) -> _Fitted:
    """Return the fit by the noise model that was asked for, or by the one with the shortest description."""
    rows, is_auto = request.data, request.noise == AUTO
    if not is_auto and first is None:
        return _Fitted(found, None, PLAIN_NOISE)
    model = first or NORMAL
    compared: list[Description] = []
    if is_auto and found.loss > rows.floor:
        compared = [price(found, model, rows)] + [describe(found, rival, rows) for rival in rival_models(rows)]
        shortest = min(compared, key=lambda each: each.nats)
        if shortest.noise is not model and shortest.nats + MARGIN_NATS < compared[0].nats:
            model = shortest.noise
            found = fit(shortest.candidate.program, replace(rows, noise=model), effort=POLISH_EFFORT)
    noise = first if model is NORMAL else model
    return _Fitted(found, noise, explain_choice(found, model, rows, compared, is_auto))


def _conclude(
    request: RegressionRequest, fitted: _Fitted, doubts: tuple[str, ...], seconds: float, n_rounds: int
) -> Discovery:
    rows = replace(request.data, noise=fitted.noise)
    front, floor = Front((fitted.candidate,)), rows.floor
    verdict = None
    if request.held_out is not None:
        constant = fit_constant(rows, request.grammar.vocabulary)
        verdict = judge_front(front, 0, constant.program, request.held_out, fitted.noise, floor)
    note = note_of_error_bars(fitted.choice, rows.n_rows) if fitted.choice.name == NORMAL.name else ""
    notes = (
        *request.data.notes,
        *doubts,
        *find_doubts(front, rows, floor),
        *find_misfit(fitted.candidate, rows),
        *([note] if note else []),
        *store.troubles,
    )
    outliers = find_outliers(fitted.candidate.program, request.data) if fitted.choice.name == STUDENT.name else ()
    n_evaluations = n_rounds * ROUND_EFFORT.n_starts
    return Discovery(
        front, rows.n_rows, floor, seconds, 0, n_evaluations, "fitted", notes, fitted.choice, outliers, held_out=verdict
    )


def _note_starts(losses: list[float], floor: float) -> tuple[str, ...]:
    """Return a note if few of the starts led to the best numbers: then there may be better ones.

    Examples:
        >>> _note_starts([1.0, 1.0, 2.0], 0.0)
        ()
        >>> _note_starts([1.0, 3.0, 2.0], 0.0)
        ('Only 1 of 3 rounds of starting values led to these numbers, so there may be better ones. ...',)
    """
    best = min(losses)
    n_same = sum(loss <= max(best * (1 + SAME_LOSS), floor) for loss in losses)
    if best <= floor or n_same >= min(FEWEST_ROUNDS, len(losses)):
        return ()
    return (
        f"Only {n_same} of {len(losses)} rounds of starting values led to these numbers, so there may be better ones. Compare the "
        "curve with the data, or give numbers that you know in the form.",
    )


def _explain_failure(request: RegressionRequest, program: Program) -> FormulaNotFound:
    """Return the error for a form without values on the rows."""
    assert request.form is not None
    ones = program.with_constants(np.ones(program.n_constants))
    why = explain_undefined(ones, request.data.columns)
    numbers = " with each of its numbers at 1" if program.constants else ""
    told = f" For example{numbers}: {why}" if why else ""
    return FormulaNotFound(
        f"The form '{shorten(request.form.text)}' has no value on some rows, whatever numbers were tried.{told} Leave out these "
        "rows, or change the form."
    )
