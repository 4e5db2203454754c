"""Final polish of a front: its formulas are pruned, refitted, simplified, given round constants, and assessed on all rows."""

import math
import time

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.regression.candidate import Candidate
from spl.regression.fit import LAST_EFFORT, POLISH_EFFORT, loss_of
from spl.regression.front import Front
from spl.regression.known_fit import KnownFit
from spl.regression.prune import Derives, prune, respect_all
from spl.regression.round_constants import round_constants
from spl.regression.simplify import get_ready, simplify
from spl.regression.tidy_front import tidy_within

MAX_FITS_WITHIN = 10  # of versions of a formula that break what is known
MIN_POLISH_SECONDS = 0.4  # for the chosen formula, even if the time is up


class _OutOfTimeError(Exception):
    """Ends a simplification that takes too long."""


def polish_front(
    front: Front,
    data: Dataset,
    check: Dataset,
    floor: float,
    seconds: float,
    *,
    derives: Derives,
    respects: Derives = respect_all,
    known: KnownFit | None = None,
) -> Front:
    """Prune, refit, simplify and round the formulas of a front, and assess them on all rows.

    Pruning stays within the grammar: `derives` returns whether it has a formula. Other spellings and rounded numbers need only be what
    `respects` allows. The most promising formulas come first. When the time is up, the others are only tidied and keep their losses on
    the check rows; the chosen one always gets a little time. What is known of the law holds for every formula: one that would break it
    stays as it was.
    """
    end = time.monotonic() + seconds
    known = known or KnownFit()
    get_ready()
    last_moment = max(end, time.monotonic() + MIN_POLISH_SECONDS)
    polisher = _Polisher(data, check, floor, last_moment, respects, known)
    chosen = front.choose("mdl", data.n_rows, floor)
    polished: dict[tuple[int, ...], Candidate] = {}  # by their tokens before: many are the same when pruned
    longest = 0.0
    for k in sorted(range(len(front)), key=lambda k: abs(k - chosen)):
        began = time.monotonic()
        known.allow(MAX_FITS_WITHIN)
        is_late = began + longest > end
        if is_late and k != chosen:
            polished.setdefault(front[k].program.tokens, front[k])
            continue
        pruned = prune(
            front[k],
            check,
            floor,
            derives=derives,
            must_stop=lambda: time.monotonic() > last_moment,
            respects=respects,
            known=known,
        )
        for candidate in (pruned, front[k]):
            if candidate.program.tokens not in polished:
                known.allow(MAX_FITS_WITHIN)
                polished[candidate.program.tokens] = polisher.polish(candidate)
        longest = max(longest, time.monotonic() - began)
    tidied = (tidy_within(candidate, check, respects, known.keeps) for candidate in polished.values())
    return Front.from_candidates(tidied, floor, data.n_rows)


class _Polisher:
    """Polishes one formula at a time, until a last moment."""

    def __init__(
        self, data: Dataset, check: Dataset, floor: float, last_moment: float, respects: Derives, known: KnownFit
    ) -> None:
        self._data, self._check, self._floor, self._last_moment = data, check, floor, last_moment
        self._respects, self._known = respects, known

    def polish(self, candidate: Candidate) -> Candidate:
        """Return the candidate refitted, spelled simply, with round constants where the data allows them."""

        def refit(program: Program) -> Candidate:
            return self._known.fit(program, self._check, effort=POLISH_EFFORT, reward=candidate.reward)

        def refit_in_time(program: Program) -> Candidate:
            self._check_clock()
            return refit(program)

        final = refit(tidy_within(candidate, self._check, self._respects, self._known.keeps).program).program
        try:
            simpler = refit(simplify(final, self._have_same_error))
            rounded = round_constants(simpler, self._check.n_rows, self._floor, refit_in_time).program
            final = rounded if self._respects(rounded) else simpler.program
            if final != simpler.program:
                final = simplify(final, self._have_same_error)
        except _OutOfTimeError:
            pass  # a long formula: it stays as far as it got
        last = self._fit_to_all(final, candidate)
        if not math.isfinite(last.loss):
            last = self._fit_to_all(candidate.program, candidate)
        return last if math.isfinite(last.loss) or self._known.judge is None else candidate

    def _fit_to_all(self, program: Program, candidate: Candidate) -> Candidate:
        effort = POLISH_EFFORT if self._check is self._data else LAST_EFFORT
        return self._known.fit(program, self._data, effort=effort, reward=candidate.reward)

    def _have_same_error(self, original: Program, simpler: Program) -> bool:
        self._check_clock()
        if not self._respects(simpler):
            return False
        loss = loss_of(original, self._check)
        return loss_of(simpler, self._check) <= max(loss * (1 + 1e-6), self._floor)

    def _check_clock(self) -> None:
        if time.monotonic() > self._last_moment:
            raise _OutOfTimeError
