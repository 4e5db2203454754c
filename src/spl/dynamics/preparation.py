"""What precedes the searches for a system: rows, grammars without rates that are columns, and sums of simple terms."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spl.data.trajectories import Trajectories
from spl.dynamics.implicit import drop_copied_rates, find_unused_rates
from spl.dynamics.proposals import TermSums, fit_sums
from spl.dynamics.rows import Plan, SystemRows, make_rows
from spl.formulas.grammar import Grammar
from spl.units.system_units import SystemUnits


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Preparation:
    """All that the searches for a system begin with."""

    grammars: Sequence[Grammar]  # one per state; a rate that is a column is left out
    rows: SystemRows
    sums: Sequence[TermSums]  # one per state
    seconds: float = 0.0  # that were used before the run began
    has_tried_rates: bool = False  # whether rates on both sides were tried and do not explain the data


def prepare(
    data: Trajectories,
    plan: Plan,
    grammars: Sequence[Grammar],
    seed: int,
    max_seconds: float | None = None,
    units: SystemUnits | None = None,
) -> Preparation:
    """Make the rows and fit the sums for each state; only the first ones if they take longer than `max_seconds`."""
    rows = make_rows(data, plan)
    if plan.is_implicit:
        grammars = drop_copied_rates(grammars, rows)
        rows = replace(rows, unused_rates=find_unused_rates(grammars, rows))
    seconds = None if max_seconds is None else max_seconds / len(grammars)
    sums = [
        fit_sums(
            rows.dataset(state),
            grammar.bind(rows.variables),
            seconds,
            seed,
            None if units is None else units.tables[state],
        )
        for state, grammar in enumerate(grammars)
    ]
    return Preparation(grammars=grammars, rows=rows, sums=sums)
