"""The request: what a search for a system is asked for. Everyone who starts one fills in this record."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from spl.data.trajectories import Trajectories
from spl.dynamics.implicit import check_own_rates
from spl.dynamics.own_names import OwnNames
from spl.dynamics.preparation import Preparation
from spl.dynamics.rows import Plan
from spl.formulas.grammar import Grammar
from spl.settings import Limits, SearchConfig


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

    def __post_init__(self) -> None:
        if self.plan.is_implicit:
            check_own_rates(self.grammars, self.data.states, self.plan.order)
        if self.own is not None:
            self.own.check(self.data, self.plan)
