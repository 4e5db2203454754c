"""What a run for a system found, as the tables that `SPLDynamics` offers."""

from dataclasses import fields

import pandas as pd

from spl.display.systems import SystemNumber, system_numbers
from spl.dynamics.discover import SystemDiscovery
from spl.dynamics.quality import measure_r2
from spl.formulas.printed_numbers import OWN_KIND
from spl.formulas.text import to_text


def tabulate_fronts(found: SystemDiscovery, digits: int) -> list[pd.DataFrame]:
    """Return the front of each state: cost, loss, score, equation."""
    return [
        pd.DataFrame(
            {
                "cost": [candidate.cost for candidate in search.front],
                "loss": [candidate.loss for candidate in search.front],
                "score": search.front.scores(search.floor),
                "equation": [to_text(candidate.program, digits) for candidate in search.front],
            }
        )
        for search in found.searches
    ]


def tabulate_numbers(found: SystemDiscovery) -> pd.DataFrame:
    """Return the numbers of all equations, one per row, with their standard errors, and with their units if there are any.

    If runs have own numbers, these follow, one row per number and run, with its name and the label of the run in further columns.
    """
    of_states = system_numbers(found.system, found.standard_errors, units=found.units)
    numbers = [number for of_state in of_states for number in of_state]
    table = pd.DataFrame(numbers, columns=[field.name for field in fields(SystemNumber)])
    table = table.drop(columns="unit") if found.units is None else table
    if not found.system.own:
        return table
    own = pd.DataFrame(
        [
            (number.name, label, value, error, OWN_KIND)
            for number, errors in zip(found.system.own, found.own_errors, strict=True)
            for label, value, error in zip(number.labels, number.values, errors, strict=True)
        ],
        columns=["name", "run", "value", "standard_error", "kind"],
    )
    joined = pd.concat([table.assign(name="", run=""), own.assign(state="", term=own["name"])], ignore_index=True)
    return joined[["state", "name", "run", "value", "standard_error", "kind", "term"]]


def tabulate_r2(found: SystemDiscovery) -> pd.Series:
    """Return R2 of the derivative of each state, of the next value for a map."""
    return pd.Series(measure_r2(found.system, found.rows), index=list(found.system.states), name="r2")
