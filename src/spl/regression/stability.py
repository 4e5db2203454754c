"""How stable a formula is: if the same rows were measured again, would it be found again?

New targets are drawn from the formula and its fitted noise, and searched again with a small budget. The formulas of the front compete
too, fitted to the new targets, so that a formula is lost to a better description and not to bad luck of a short search. Which terms,
columns and whole formulas come back is counted; formulas are compared as functions, not as text.
"""

import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import UndefinedError
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.knowledge.knowledge import Judge
from spl.noise.models import IMPOSSIBLE, NORMAL
from spl.noise.new_values import FittedNoise
from spl.noise.redraw import redraw_targets
from spl.regression.discover import Discovery, discover
from spl.regression.fit import evaluate
from spl.regression.front import Front, rule_while_running
from spl.regression.known_fit import KnownFit
from spl.regression.parallel import Parcel, Workers, pack
from spl.regression.request import RegressionRequest
from spl.regression.same_structure import Numbers, columns_of, comparison_points, have_same_structure, split_terms
from spl.regression.uncertainty import free_numbers, measure_curvature, rows_of_fit
from spl.regression.warm_up import compile_kernels
from spl.settings import Limits, check_count

if TYPE_CHECKING:
    import pandas as pd

N_SEARCHES = 20
BUDGET = 1_000  # formulas that each search may try: a few seconds
TERM_DIGITS = 4  # of the numbers in formulas and terms
SHOWN_OTHERS = 5  # formulas and terms that came instead, in print

Watch = Callable[[int, int], None]  # told how many searches are done, and of how many


# ---- the answer ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counted:
    """A formula, a term or a column, and how often it was found."""

    text: str
    count: int
    is_chosen: bool  # whether it is part of the formula in question, or is that formula


@dataclass(frozen=True, slots=True)
class Stability:
    """How often a formula, its terms and its columns came back in searches of redrawn targets.

    Attributes:
        n_asked: searches that were asked for.
        n_done: searches that were done: fewer, if they were interrupted.
    """

    n_asked: int
    n_done: int
    counted_equations: tuple[Counted, ...]  # the formula in question is the first
    counted_terms: tuple[Counted, ...]  # its terms come first
    counted_columns: tuple[Counted, ...]

    @property
    def structure(self) -> float:
        """The share of searches in which the whole formula came back, but for its numbers; NaN if none is done."""
        return self._share(self.counted_equations[0])

    @property
    def equations(self) -> "pd.DataFrame":
        """The formulas that were found, with `share` and `is_chosen`; the one in question first. Numbers are those of one search."""
        return self._frame("equation", self.counted_equations)

    @property
    def terms(self) -> "pd.DataFrame":
        """The terms of these formulas, with `share` and `is_chosen`; those of the formula in question first."""
        return self._frame("term", self.counted_terms)

    @property
    def columns(self) -> "pd.DataFrame":
        """All columns of the data, with `share` and `is_chosen`."""
        return self._frame("column", self.counted_columns)

    def __str__(self) -> str:
        """Return the counts as lines for people."""
        return "\n".join(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values, as `--json` prints them."""
        groups = {"equations": self.counted_equations, "terms": self.counted_terms, "columns": self.counted_columns}
        return {
            "asked": self.n_asked,
            "done": self.n_done,
            "structure": self.structure if self.n_done else None,
            **{
                name: [{"text": each.text, "count": each.count, "is_chosen": each.is_chosen} for each in counted]
                for name, counted in groups.items()
            },
        }

    def _lines(self) -> Iterable[str]:
        formula, *others = self.counted_equations
        searches = "1 search" if self.n_done == 1 else f"{self.n_done:,} searches"
        if self.n_done < self.n_asked:
            yield f"Interrupted after {self.n_done} of {self.n_asked} searches."
        if not self.n_done:
            return
        yield f"Of {searches} of redrawn targets, {formula.count} found the formula again."
        yield from self._group("Terms", self.counted_terms)
        yield from self._group("Columns", [each for each in self.counted_columns if each.count or each.is_chosen])
        if others:
            yield from self._group("Formulas found instead", others)

    def _group(self, heading: str, counted: Iterable[Counted]) -> Iterable[str]:
        counted = list(counted)
        if not counted:
            return
        shown = [each for each in counted if each.is_chosen]
        rest = [each for each in counted if not each.is_chosen]
        yield f"{heading}:"
        for each in (*shown, *rest[:SHOWN_OTHERS]):
            yield f"  {each.count:>4}  {each.text}{'' if each.is_chosen or not shown else '  (not in the formula)'}"
        if len(rest) > SHOWN_OTHERS:
            yield f"        and {len(rest) - SHOWN_OTHERS} more"

    def _frame(self, name: str, counted: tuple[Counted, ...]) -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame(
            {
                name: [each.text for each in counted],
                "share": [self._share(each) for each in counted],
                "is_chosen": [each.is_chosen for each in counted],
            }
        )

    def _share(self, counted: Counted) -> float:
        return counted.count / self.n_done if self.n_done else float("nan")


# ---- the searches --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class StabilityPlan:
    """What is searched again: a formula and its noise, its rivals on the front, and how to search."""

    request: RegressionRequest  # with the rows that the formula was fitted to, and the budget of one search
    noise: FittedNoise
    program: Program
    front: tuple[Program, ...]
    selection: str

    @classmethod
    def make(
        cls,
        request: RegressionRequest,
        found: Discovery,
        chosen: int,
        *,
        selection: str = "mdl",
        max_evaluations: int = BUDGET,
        seed: int = 0,
    ) -> "StabilityPlan":
        """Return the plan for a formula of a front.

        Args:
            request: of the search that found it.
            found: what it found.
            chosen: the row of the front.
            selection: the rule by which formulas are chosen; "validation" becomes "mdl", because redrawn rows have no others.
            max_evaluations: formulas that each search may try.
            seed: of the new targets and the searches.
        """
        check_count("max_evaluations", max_evaluations, at_least=1)
        program = found.front[chosen].program
        rows = rows_of_fit(request.data, found.noise, request.noise)
        curvature = measure_curvature(free_numbers(program, request.grammar.vocabulary.literals), rows)
        if curvature.scatter is IMPOSSIBLE:
            raise UndefinedError(
                "The formula has no value on some rows, or none that the noise model allows: no targets can be drawn from it."
            )
        values = evaluate(curvature.program, rows.columns)
        noise = FittedNoise(rows.noise or NORMAL, curvature.scatter, rows.measured_rows(), values, curvature.degrees)
        again = replace(
            request,
            data=replace(rows, noise=None, notes=()),
            limits=Limits(timeout=None, max_evaluations=max_evaluations),
            n_jobs=1,
            seed=seed,
            noise=rows.noise or NORMAL,
            held_out=None,
            keeps_rivals=False,
        )
        programs = tuple(candidate.program for candidate in found.front)
        return cls(again, noise, program, programs, rule_while_running(selection))

    def search(self, number: int, must_stop: Callable[[], bool]) -> Program | None:
        """Return what a search of redrawn targets chooses; None if it was interrupted."""
        target_seed, search_seed = np.random.SeedSequence([self.request.seed, number]).spawn(2)
        target = redraw_targets(self.noise, np.random.default_rng(target_seed))
        data = replace(self.request.data, target=target)
        seed = int(search_seed.generate_state(1)[0])
        found = discover(replace(self.request, data=data, seed=seed), must_stop=must_stop)
        if found.stopped == "interrupted":
            return None
        rows = replace(data, noise=None if self._is_plain else self.noise.model)
        knowledge = self.request.knowledge
        known = KnownFit(None if knowledge is None else Judge(knowledge, rows))
        known.allow(len(self.front))
        rivals = [known.fit(program, rows) for program in self.front]
        front = Front.from_candidates([*found.front, *rivals], found.floor, found.n_rows)
        return front[front.choose(self.selection, found.n_rows, found.floor)].program

    @property
    def _is_plain(self) -> bool:
        data = self.request.data
        return self.noise.model is NORMAL and data.sigma is None and data.sigma_columns is None


def measure_stability(
    plan: StabilityPlan, n: int = N_SEARCHES, *, n_jobs: int = 1, watch: Watch = lambda done, asked: None
) -> Stability:
    """Search redrawn targets several times, and return how often the formula, its terms and its columns come back.

    Ctrl-C ends it with the searches that are done. The answer does not depend on `n_jobs`.

    Args:
        plan: what is searched again.
        n: number of searches.
        n_jobs: searches at once: in threads, or on the joblib backend that the caller has chosen.
        watch: is told how many searches are done, and of how many.
    """
    check_count("n", n, at_least=1)
    found: list[Program] = []
    flag = threading.Event()
    workers = Workers(min(n_jobs, n))
    try:
        send = _prepare(workers, plan, flag)
        watch(0, n)
        for start in range(0, n, min(n_jobs, n)):
            numbers = range(start, min(start + n_jobs, n))
            programs = send(numbers)
            found += [program for program in programs if program is not None]
            watch(len(found), n)
            if None in programs:
                break
    except KeyboardInterrupt:
        flag.set()
    given = plan.request.grammar.vocabulary.literals
    return count_returns(plan.program, found, plan.request.data, n, given)


def _prepare(workers: Workers, plan: StabilityPlan, flag: threading.Event) -> Callable[[range], list[Program | None]]:
    """Return a function that makes the searches with these numbers: in this process, or in others."""
    if workers.share_memory:
        return lambda numbers: workers.run(plan.search, [(number, flag.is_set) for number in numbers])
    workers.greet(compile_kernels)
    parcel = workers.share(pack(plan))
    return lambda numbers: workers.run(_search_elsewhere, [(parcel, number) for number in numbers])


def _search_elsewhere(parcel: Parcel, number: int) -> Program | None:
    """Search in a worker process, which must not pass parts of the work on to others."""
    from joblib import parallel_config

    plan: StabilityPlan = parcel.unpack()
    with parallel_config("threading", n_jobs=1):
        return plan.search(number, lambda: False)


# ---- counting ------------------------------------------------------------------------------------


def count_returns(
    program: Program, found: Collection[Program], data: Dataset, n_asked: int, given: Collection[float] = ()
) -> Stability:
    """Return how often a formula, its terms and its columns are among those found.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> data = Dataset.from_arrays(np.random.default_rng(0).uniform(1, 2, (50, 2)), np.arange(50.0), names=["x", "y"])
        >>> law, *found = (parse_expression(text, Vocabulary(("x", "y"))) for text in ("2*x + y", "y + 2.1*x", "y*1.5", "3*x + y"))
        >>> print(count_returns(law, found, data, n_asked=3))
        Of 3 searches of redrawn targets, 2 found the formula again.
        Terms:
             2  2*x
             3  y
        Columns:
             2  x
             3  y
        Formulas found instead:
             1  y*1.5
    """
    points = comparison_points(data)
    names = program.vocabulary.variables
    equations = _Tally([program], points, given)
    terms = _Tally(split_terms(program), points, given)
    for each in found:
        equations.add([each])
        terms.add(split_terms(each))
    columns = tuple(
        Counted(name, sum(column in columns_of(each) for each in found), column in columns_of(program))
        for column, name in enumerate(names)
    )
    return Stability(n_asked, len(found), equations.counted(), terms.counted(), columns)


class _Tally:
    """Counts formulas or terms; those of the same structure are one."""

    def __init__(self, first: Collection[Program], points: Numbers, given: Collection[float]) -> None:
        self._known = list(first)
        self._counts = [0] * len(self._known)
        self._n_first = len(self._known)
        self._points, self._given = points, given

    def add(self, programs: Iterable[Program]) -> None:
        """Count those that are found together; each of them once."""
        places = {self._find(program) for program in programs}
        for place in places:
            self._counts[place] += 1

    def _find(self, program: Program) -> int:
        for place, known in enumerate(self._known):
            if have_same_structure(program, known, self._points, self._given):
                return place
        self._known.append(program)
        self._counts.append(0)
        return len(self._known) - 1

    def counted(self) -> tuple[Counted, ...]:
        """Return the first ones in their order, then the others, the most frequent first."""
        entries = [
            Counted(to_text(program, TERM_DIGITS), count, place < self._n_first)
            for place, (program, count) in enumerate(zip(self._known, self._counts, strict=True))
        ]
        first, others = entries[: self._n_first], entries[self._n_first :]
        return (*first, *sorted(others, key=lambda each: -each.count))
