"""The request: what a search for a system is asked for. Everyone who starts one fills in this record."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from spl.data.trajectories import Trajectories
from spl.dynamics.implicit import check_own_rates
from spl.dynamics.own_names import OwnNames
from spl.dynamics.preparation import Preparation
from spl.dynamics.rows import Plan
from spl.errors import SettingError
from spl.formulas.grammar import Grammar
from spl.regression.request import hold_units
from spl.settings import Limits, SearchConfig
from spl.units.system_units import SystemUnits


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SystemRequest:
    """The trajectories of a system, which equations it may have, and how to search for them.

    `max_evaluations` of the limits is shared by the searches. Fits along the trajectories are then counted too.
    """

    data: Trajectories
    grammars: Sequence[Grammar]  # one per state
    plan: Plan = field(default_factory=Plan)
    config: SearchConfig = field(default_factory=SearchConfig)
    limits: Limits = field(default_factory=Limits)
    n_jobs: int = 1
    seed: int = 0
    may_drop_rates: bool = (
        False  # whether the data decides if rates on both sides are needed; the plan and the grammars have them
    )
    own: OwnNames | None = None  # which numbers may differ between runs; None if all are shared
    prepared: Preparation | None = None  # what that decision leaves for the searches
    units: SystemUnits | None = None  # of the columns, the last of which are named constants; None if they play no part

    def __post_init__(self) -> None:
        if self.plan.is_implicit:
            check_own_rates(self.grammars, self.data.states, self.plan.order)
        if self.own is not None:
            self.own.check(self.data, self.plan)
        if self.units is not None:
            self._check_units(self.units)
            columns = self.data.columns(self.plan.order)
            pairs = zip(self.grammars, self.units.tables, strict=True)
            held = tuple(hold_units(grammar.bind(columns), table) for grammar, table in pairs)
            object.__setattr__(self, "grammars", held)

    def _check_units(self, units: SystemUnits) -> None:
        """Raise a clear error if units do not go together with what else is asked for."""
        if self.plan.is_implicit:
            raise SettingError(
                "Units cannot be combined with rates on both sides yet. Leave out `implicit` or `units`."
            )
        if self.own is not None:
            raise SettingError("Units cannot be combined with own numbers of runs yet. Leave out `own` or `units`.")
        assert units.names == self.data.columns(self.plan.order), "units are those of the columns"
        units.check_possible()


def add_known_inputs(data: Trajectories, units: SystemUnits | None) -> Trajectories:
    """Return trajectories with named constants as their last inputs."""
    if units is None or not units.known:
        return data
    values = list(units.known_values.values())
    runs = tuple(replace(run, u=np.hstack([run.u, np.tile(values, (run.n_samples, 1))])) for run in data.runs)
    return replace(data, inputs=(*data.inputs, *units.known), runs=runs)
