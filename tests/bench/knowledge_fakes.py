"""Searches and records of `spl bench knowledge`, made up for the tests."""

from dataclasses import replace

from tests.bench.fakes import make_record, make_trial

from spl.bench.knowledge import knowledge_settings
from spl.bench.knowledge_fit import Choice, KnowledgeFit
from spl.bench.records import Record
from spl.datasets.handbook_laws import HandbookLaw
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression


def read_formula(law: HandbookLaw, text: str, *, has_units: bool = True):
    """Return the program of a formula of a law's columns, and of its named constants if the search knew them."""
    return parse_expression(text, Vocabulary((*law.variables, *(law.constants if has_units else ()))))


def make_fit(law: HandbookLaw, *texts: str, has_units: bool = True) -> KnowledgeFit:
    """Return a search whose choices were these formulas, one after another; all of them are on its front."""
    programs = [read_formula(law, text, has_units=has_units) for text in texts]
    return KnowledgeFit(
        program=programs[-1],
        front=tuple(programs),
        choices=tuple(Choice(program, 1.0 + k, 100 * (k + 1)) for k, program in enumerate(programs)),
        notes=("A note.",),
        seconds=9.0,
        cpu_seconds=8.0,
        n_evaluations=5_000,
        stopped="settled",
    )


def units_record(problem: str, units: str, noise: float, effort: int | None, **outcome) -> Record:
    """Return a record of the part `units`; `effort` is the number of evaluations to the solution, None if there is none."""
    trial = make_trial(
        problem, experiment="knowledge", setting=f"part=units noise={noise:g} units={units}", timeout=30.0
    )
    details = {
        "solution_evaluations": effort,
        "solution_seconds": None if effort is None else effort / 1_000,
        "on_front": effort is not None,
    }
    record = make_record(trial, **({"recovered": effort is not None, "details": details} | outcome))
    return replace(record, settings=knowledge_settings(trial))


def depth_record(problem: str, units: str, *, cost: int, share: float, holds_law: bool) -> Record:
    """Return a record of the part `depth`, of a bank of 100,000 entries."""
    trial = make_trial(problem, experiment="knowledge", setting=f"part=depth units={units}")
    details = {"entries": 100_000, "largest_cost": cost, "possible_share": share}
    record = make_record(trial, recovered=holds_law, formula="", evaluations=None, details=details)
    return replace(record, settings=knowledge_settings(trial))
