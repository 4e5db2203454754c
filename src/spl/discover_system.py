"""The whole run for a dynamical system: rows, one search for each state, then the system as a whole.

Each search gives a front. Which of its formulas are right is decided together: equations are integrated and compared with the
measured trajectories, on stretches that their constants were not fitted to. Then all constants are fitted to all of the data.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from spl.choose_system import ChosenSystem, SystemChooser
from spl.config import Limits, SearchConfig
from spl.discover import Discovery, Progress, compile_kernels, discover
from spl.expression import parse_expression
from spl.fit import evaluate
from spl.front import Front
from spl.grammar import Grammar
from spl.program import Vocabulary
from spl.refine import refine
from spl.system import System
from spl.system_rows import Plan, SystemRows, make_rows
from spl.trajectories import Trajectories, Trajectory
from spl.weak_fit import fit_weakly

SEARCH_SHARE = 0.6  # of the time limit is for the searches; the rest for the system as a whole
NEAR = 0.2  # of the spread of a derivative may be left unexplained by the formula to begin with
NOT_FOLLOWED = "The equations could not be followed along the data; their numbers are those of the derivatives."
LAST_SECONDS = 0.5  # for each equation that is left when a search was interrupted


@dataclass(frozen=True, slots=True)
class SystemProgress:
    """What a watcher sees: which state is searched, and how that goes."""

    state: str
    progress: Progress


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SystemDiscovery(ChosenSystem):
    """What a run found: the equations, and where they came from."""

    searches: tuple[Discovery, ...]  # one a state, with its front
    rows: SystemRows
    seconds: float
    is_interrupted: bool


SystemWatcher = Callable[[SystemProgress], None]


def discover_system(
    data: Trajectories,
    grammars: Sequence[Grammar],
    *,
    plan: Plan | None = None,
    config: SearchConfig | None = None,
    timeout: float | None = 60.0,
    n_jobs: int = 1,
    seed: int = 0,
    watch: SystemWatcher | None = None,
) -> SystemDiscovery:
    """Search the equations of a system, one grammar a state, and refine them together."""
    plan = plan or Plan()
    compile_kernels()
    _compile_integration()
    began = time.monotonic()
    rows = make_rows(data, plan)
    searches = _search_all(data.states, rows, grammars, timeout, config=config, n_jobs=n_jobs, seed=seed, watch=watch)
    if rows.weak:
        searches = [_judge_weakly(found, rows, state) for state, found in enumerate(searches)]
    shortest = tuple(found.front.choose("mdl", found.n_rows, found.floor) for found in searches)
    if plan.is_discrete:  # no smoothing tells the noise of a map: what the formulas leave over does
        rows = replace(rows, noise=np.array([found.front[k].loss for found, k in zip(searches, shortest, strict=True)]))
    deadline = None if timeout is None else began + timeout
    chooser = SystemChooser(data, rows, plan, grammars, [found.front for found in searches], deadline)
    is_interrupted = any(found.stopped == "interrupted" for found in searches)
    result = None
    try:
        if not is_interrupted:
            simple = tuple(_begin_with(found, rows.dataset(state).spread) for state, found in enumerate(searches))
            result = chooser.choose(shortest if plan.is_discrete else simple) or chooser.take(shortest, NOT_FOLLOWED)
    except KeyboardInterrupt:
        is_interrupted = True
    result = result or chooser.take(shortest)
    return SystemDiscovery(
        system=result.system,
        free=result.free,
        standard_errors=result.standard_errors,
        chosen=result.chosen,
        refined=result.refined,
        searches=tuple(searches),
        rows=rows,
        seconds=time.monotonic() - began,
        notes=(*data.notes, *result.notes),
        is_interrupted=is_interrupted,
    )


def _search_all(
    states: Sequence[str],
    rows: SystemRows,
    grammars: Sequence[Grammar],
    timeout: float | None,
    *,
    config: SearchConfig | None,
    n_jobs: int,
    seed: int,
    watch: SystemWatcher | None,
) -> list[Discovery]:
    """Search the equation of each state in turn; once one is interrupted, the others get only as long as an answer takes."""
    seconds = None if timeout is None else SEARCH_SHARE * timeout / len(grammars)
    searches: list[Discovery] = []
    for state, grammar in enumerate(grammars):
        see = None if watch is None else partial(_pass_on, watch, states[state])
        is_over = any(found.stopped == "interrupted" for found in searches)
        limits = Limits(timeout=LAST_SECONDS if is_over else seconds)
        data = rows.dataset(state)
        searches.append(discover(data, grammar, config=config, limits=limits, n_jobs=n_jobs, seed=seed, watch=see))
    return searches


@cache
def _compile_integration() -> None:
    """Compile the kernel that integrates systems, or load it from the cache, by fitting a small one."""
    t = np.linspace(0.0, 1.0, 16)
    run = Trajectory(t, np.exp(-t)[:, np.newaxis], np.empty((t.size, 0)), None)
    decay = parse_expression("C * x", Vocabulary(("x",))).with_constants(np.array([-1.0]))
    refine(System(("x",), (), (decay,)), [run], [run.x], [0.1], is_quick=True)


def _pass_on(watch: SystemWatcher, state: str, progress: Progress) -> None:
    watch(SystemProgress(state, progress))


def _begin_with(found: Discovery, spread: float) -> int:
    """Return the simplest formula that gives most of the derivative: costlier ones may only describe what smoothing did to it."""
    return next((k for k, candidate in enumerate(found.front) if candidate.loss <= NEAR * spread), len(found.front) - 1)


def _judge_weakly(found: Discovery, rows: SystemRows, state: int) -> Discovery:
    """Return the front with constants and losses of the weak form: means of formulas instead of formulas of means."""
    candidates = [fit_weakly(candidate, rows.weak, state, evaluate) for candidate in found.front]
    n_independent = sum(form.n_independent for form in rows.weak)
    return replace(found, front=Front.from_candidates(candidates, found.floor), n_rows=n_independent)
