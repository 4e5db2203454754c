"""The last hand on the formulas of a front: pruned, constants at their optimum, spelled simply, judged on all rows."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from spl.data.dataset import Dataset
from spl.formulas.edits import drop_one_number, drop_one_term, replace_one_function_by_powers
from spl.formulas.minus_signs import move_minus
from spl.formulas.program import Program
from spl.regression.candidate import Candidate
from spl.regression.description_length import description_length
from spl.regression.fit import LAST_EFFORT, POLISH_EFFORT, fit, root_mean_square_error
from spl.regression.front import Front
from spl.regression.round_constants import clean
from spl.regression.simplify import get_ready, simplify
from spl.regression.tidy_front import tidy_candidate

LAST_SECONDS = 0.4  # that there are in any case to simplify what was chosen
REACH = 5.0  # nats that a description gets longer by at most when the first of two parts is left out: about those of a number

Derives = Callable[[Program], bool]  # whether a formula is one of the grammar


class _OutOfTimeError(Exception):
    """Ends a simplification that takes too long."""


def finish(front: Front, data: Dataset, check: Dataset, floor: float, seconds: float, *, derives: Derives) -> Front:
    """Prune, polish, simplify and clean the formulas of a front, and judge them on all rows.

    Nothing is left out that the grammar, whose formulas `derives` knows, demands. The most promising come first; when the seconds are
    over, the others are only tidied, judged on the check rows. A little time for the first of them there is in any case.
    """
    end = time.monotonic() + seconds
    get_ready()
    last_moment = max(end, time.monotonic() + LAST_SECONDS)
    finisher = _Finisher(data, check, floor, last_moment)
    chosen = front.choose("mdl", data.n_rows, floor)
    finished: dict[tuple[int, ...], Candidate] = {}  # by the tokens it had; many are the same when pruned
    longest = 0.0
    for k in sorted(range(len(front)), key=lambda k: abs(k - chosen)):
        began = time.monotonic()
        is_late = began + longest > end
        if is_late and k != chosen:
            finished.setdefault(front[k].program.tokens, front[k])
            continue
        pruned = prune(front[k], check, floor, derives=derives, must_stop=lambda: time.monotonic() > last_moment)
        for candidate in (pruned, front[k]):
            if candidate.program.tokens not in finished:
                finished[candidate.program.tokens] = finisher.polish(candidate)
        longest = max(longest, time.monotonic() - began)
    tidied = (tidy_candidate(candidate, check) for candidate in finished.values())
    return Front.from_candidates(tidied, floor, data.n_rows)


def prune(
    candidate: Candidate, data: Dataset, floor: float, *, derives: Derives, must_stop: Callable[[], bool]
) -> Candidate:
    """Return the candidate with ever fewer numbers, terms and functions, as long as that makes its description shorter.

    Two are left out at once where one alone makes it a little longer: a factor of 1.001, for example, and what makes up for it.
    """

    def length(candidate: Candidate) -> float:
        return description_length(candidate, data.n_rows, floor)

    def leave_one_out(candidate: Candidate) -> list[Candidate]:
        program = candidate.program
        others = _spell_in_grammar(chain(drop_one_term(program), replace_one_function_by_powers(program)), derives)
        plainer = {other.tokens: other for other in chain(drop_one_number(program), others)}
        return [fit(other, data, reward=candidate.reward) for other in plainer.values() if not must_stop()]

    while not must_stop():
        without_one = leave_one_out(candidate)
        shortest = min((candidate, *without_one), key=length)
        if shortest is candidate:
            nearly = (other for other in without_one if length(other) < length(candidate) + REACH)
            without_two = (leave_one_out(other) for other in nearly if not must_stop())
            shortest = min((candidate, *chain.from_iterable(without_two)), key=length)
        if shortest is candidate:
            break
        candidate = shortest
    return candidate


def _spell_in_grammar(programs: Iterable[Program], derives: Derives) -> Iterator[Program]:
    """Yield the programs that a grammar has, and of the others those that it has with a minus sign elsewhere."""
    for program in programs:
        if derives(program):
            yield program
        else:
            yield from filter(derives, move_minus(program))


class _Finisher:
    """Formulas at their best on given rows, until a last moment."""

    def __init__(self, data: Dataset, check: Dataset, floor: float, last_moment: float) -> None:
        self._data, self._check, self._floor, self._last_moment = data, check, floor, last_moment

    def polish(self, candidate: Candidate) -> Candidate:
        """Return the candidate at its best: constants at the optimum, spelled simply, clean where the data cannot tell."""

        def refit(program: Program) -> Candidate:
            return fit(program, self._check, effort=POLISH_EFFORT, reward=candidate.reward)

        def refit_in_time(program: Program) -> Candidate:
            self._look_at_clock()
            return refit(program)

        final = refit(tidy_candidate(candidate, self._check).program).program
        try:
            simpler = refit(simplify(final, self._agree))
            cleaned = clean(simpler, self._check.n_rows, self._floor, refit_in_time)
            final = cleaned.program
            if final != simpler.program:
                final = simplify(final, self._agree)
        except _OutOfTimeError:
            pass  # a long formula: it stays as it was found
        last = self._fit_to_all(final, candidate)
        return last if math.isfinite(last.loss) else self._fit_to_all(candidate.program, candidate)

    def _fit_to_all(self, program: Program, candidate: Candidate) -> Candidate:
        effort = POLISH_EFFORT if self._check is self._data else LAST_EFFORT
        return fit(program, self._data, effort=effort, reward=candidate.reward)

    def _agree(self, original: Program, simpler: Program) -> bool:
        self._look_at_clock()
        loss = root_mean_square_error(original, self._check)
        return root_mean_square_error(simpler, self._check) <= max(loss * (1 + 1e-6), self._floor)

    def _look_at_clock(self) -> None:
        if time.monotonic() > self._last_moment:
            raise _OutOfTimeError
