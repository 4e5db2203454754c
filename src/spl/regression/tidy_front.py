"""Fronts as people see them: every formula is tidied, also during the search and when there is no time for more."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.program import Program
from spl.formulas.tidying.tidy import tidy
from spl.regression.candidate import Candidate
from spl.regression.fit import evaluate, price_numbers
from spl.regression.front import Front
from spl.regression.prune import Derives, respect_all

MAX_SHIFT = 1e-9  # values may change by this share of the largest, because merging numbers rounds them
MAX_SHIFT_OF_LOSS = 1e-6  # ... but by no more than this share of the loss


class FrontTidier:
    """Tidies the formulas of a changing front, unless it may not keep the tidied ones; those that stay in it are not tidied again."""

    def __init__(
        self,
        data: Dataset,
        floor: float,
        n_rows: int,
        respects: Derives = respect_all,
        keeps: Callable[[Program], bool] = respect_all,
    ) -> None:
        self._data, self._floor, self._n_rows = data, floor, n_rows
        self._respects, self._keeps = respects, keeps
        self._tidied: dict[Candidate, Candidate] = {}

    def tidy(self, front: Front) -> Front:
        """Return the front of the same formulas, tidied; those that become the same are one."""
        self._tidied = {known: self._tidied.get(known) or self._tidy(known) for known in front}
        return Front.from_candidates(self._tidied.values(), self._floor, self._n_rows)

    def _tidy(self, candidate: Candidate) -> Candidate:
        return tidy_within(candidate, self._data, self._respects, self._keeps)


def tidy_within(candidate: Candidate, data: Dataset, respects: Derives, keeps: Callable[[Program], bool]) -> Candidate:
    """Return the candidate tidied, unless that breaks what is known: it may change a formula outside of the data."""
    tidied = tidy_candidate(candidate, data, respects)
    return tidied if tidied is candidate or keeps(tidied.program) else candidate


def tidy_candidate(candidate: Candidate, data: Dataset, respects: Derives = respect_all) -> Candidate:
    """Return the candidate tidied as a whole, or only in the parts where that is allowed and changes no value on the data."""
    program = candidate.program
    at = 0
    while at < len(program):
        tidied = program.with_part(at, tidy(program.part(at)))
        if tidied == program:
            at = program.end_of(at)
        elif respects(tidied) and _are_same(candidate, tidied, data):
            program = tidied
            at = program.end_of(at)
        else:
            at += 1
    if program == candidate.program:
        return candidate
    return price_numbers(replace(candidate, program=program), data)  # it may have fewer or other numbers


def _are_same(candidate: Candidate, tidied: Program, data: Dataset) -> bool:
    """Return whether a formula has the values of a candidate on the data, up to rounding."""
    columns = data.columns[:, data.weights > 0]
    values = evaluate(candidate.program, columns)
    with np.errstate(invalid="ignore"):
        difference = np.max(np.abs(evaluate(tidied, columns) - values))
    rounding = max(np.finfo(float).eps * np.max(np.abs(values)), data.floor)
    limit = min(MAX_SHIFT * np.max(np.abs(values)), MAX_SHIFT_OF_LOSS * candidate.loss)
    return bool(difference <= max(limit, rounding))
