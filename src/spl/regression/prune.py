"""Pruning: numbers, terms and functions are left out of a formula as long as that makes its description shorter."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from spl.data.dataset import Dataset
from spl.formulas.edits import drop_one_number, drop_one_term, replace_one_function_by_powers
from spl.formulas.minus_signs import move_minus
from spl.formulas.program import Program
from spl.regression.candidate import Candidate
from spl.regression.description_length import description_length
from spl.regression.known_fit import KnownFit

HIGHEST_LOSS = 2.0  # losses of the formula: one that breaks what is known is fitted within it only if its loss is lower
REACH_NATS = 5.0  # by which leaving out the first of two parts may lengthen a description: about the price of a number

Derives = Callable[[Program], bool]  # whether the grammar has a formula


def respect_all(_: Program) -> bool:
    """Return True: of a formula whose numbers may be left out and rounded at will."""
    return True


def prune(
    candidate: Candidate,
    data: Dataset,
    floor: float,
    *,
    derives: Derives,
    must_stop: Callable[[], bool],
    respects: Derives = respect_all,
    known: KnownFit | None = None,
) -> Candidate:
    """Return the candidate without the parts that only make its description longer. What the grammar demands stays.

    Numbers may be left out of a formula whatever the grammar says, but only if `respects` allows the rest.
    Two parts are left out together if leaving out one makes the description slightly longer: for example a factor of 1.001 and
    the term that compensates for it. What is known of the law is kept.
    """
    known = known or KnownFit()

    def length(candidate: Candidate) -> float:
        return description_length(candidate, data.n_rows, floor)

    def leave_one_out(candidate: Candidate) -> list[Candidate]:
        program = candidate.program
        others = _spell_in_grammar(chain(drop_one_term(program), replace_one_function_by_powers(program)), derives)
        shorter = {other.tokens: other for other in chain(filter(respects, drop_one_number(program)), others)}
        worth = HIGHEST_LOSS * max(candidate.loss, floor)
        return [
            known.fit(other, data, reward=candidate.reward, worth=worth)
            for other in shorter.values()
            if not must_stop()
        ]

    while not must_stop():
        without_one = leave_one_out(candidate)
        shortest = min((candidate, *without_one), key=length)
        if shortest is candidate:
            nearly = (other for other in without_one if length(other) < length(candidate) + REACH_NATS)
            without_two = (leave_one_out(other) for other in nearly if not must_stop())
            shortest = min((candidate, *chain.from_iterable(without_two)), key=length)
        if shortest is candidate:
            break
        candidate = shortest
    return candidate


def _spell_in_grammar(programs: Iterable[Program], derives: Derives) -> Iterator[Program]:
    """Yield the programs that the grammar has, and for each of the others its spellings with a minus sign moved that it has."""
    for program in programs:
        if derives(program):
            yield program
        else:
            yield from filter(derives, move_minus(program))
