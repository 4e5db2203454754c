"""Runs for tests of reports, made without a search."""

from pathlib import Path

import numpy as np

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories
from spl.dynamics.rows import Plan, make_rows
from spl.formulas.grammar import Grammar
from spl.formulas.printed_numbers import number_positions
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.discover import Discovery
from spl.regression.fit import root_mean_square_error
from spl.regression.front import Front
from spl.runs.reader import Improvement, Moment, StoredRun, StoredSearch, StoredSystem

HOSTILE = "<script>alert(1)</script>"
NAMES = ("x", HOSTILE)
FORMULAS = ("2.5", "abs(x)", f"x * '{HOSTILE}'")  # x is above 0
RULES = f"f -> f + f | f * f | C | x | '{HOSTILE}'"


def make_search(name, formulas, data, grammar):
    """Return a search whose front has these formulas."""
    programs = [parse_expression(text, Vocabulary(data.names)) for text in formulas]
    candidates = tuple(Candidate(program, root_mean_square_error(program, data)) for program in programs)
    losses = [candidate.loss for candidate in candidates]
    found = Discovery(Front(candidates), data.n_rows, 1e-13, 2.5, 500, 12_345, "timeout")
    improvements = tuple(Improvement(k + 0.5, c.cost, c.loss, "") for k, c in enumerate(candidates))
    return StoredSearch(name, grammar, found.front, improvements, (Moment(9.0, 5, 9, 1, min(losses)),), found)


def make_run(
    *, n_rows=200, formulas=FORMULAS, target="<b>y</b>", status="finished", rules=RULES, names=NAMES, **changes
):
    """Return a run for a table whose names try to be markup."""
    columns = np.random.default_rng(0).uniform(1, 3, (len(names), n_rows))
    data = Dataset.from_arrays(columns.T, columns[0] * columns[1], names=names)
    search = make_search(target, formulas, data, Grammar.from_text(rules).bind(names))
    settings = {"config": {"n_trees": 2, "closers": ["scan"]}, "seed": 3, "limits": {"timeout": None}, "jobs": 1}
    parts = {
        "path": Path("run.spl"),
        "kind": "regression",
        "status": status,
        "stopped": "timeout",
        "settings": settings,
        "versions": {"numpy": "2.0"},
        "facts": {"began": "2026-01-02T03:04:05+00:00", "source": "<i>data.csv</i>", "selection": "mdl"},
        "data": data,
        "searches": (search,),
        "system": None,
    }
    return StoredRun(**parts | changes)


def make_system_run(
    names=("x", "v"), formulas=("v", "-4 * x"), *, order=1, method="auto", is_discrete=False, n_samples=400
):
    """Return a run for an oscillator."""
    t = np.linspace(0, 6, n_samples)
    states = np.column_stack([np.sin(2 * t), 2 * np.cos(2 * t)])[:, : len(names)]
    if is_discrete:
        t = np.arange(n_samples) * 1.0
    data = Trajectories.from_arrays(states, t, names=names)
    plan = Plan(method=method, order=order, is_discrete=is_discrete)
    columns = data.columns(order)
    rows = make_rows(data, plan)
    grammar = Grammar.from_operators(["+", "*"], columns)
    words = Vocabulary(columns)
    searches = tuple(
        make_search(name, ("1.5", f"1 * ({text})"), rows.dataset(place), grammar)
        for place, (name, text) in enumerate(zip(names, formulas, strict=True))
    )
    system = System(names, (), tuple(parse_expression(text, words) for text in formulas), order, is_discrete)
    stored = StoredSystem(
        system=system,
        standard_errors=tuple(np.full(len(number_positions(program)), 0.01) for program in system.programs),
        chosen=(1,) * len(names),
        noise=rows.noise,
        notes=("A note.",),
        seconds=5.0,
        is_interrupted=False,
    )
    settings = {"seed": 0, "plan": {"method": method, "order": order, "is_discrete": is_discrete}}
    return make_run(kind="dynamics", data=data, searches=searches, system=stored, settings=settings)
