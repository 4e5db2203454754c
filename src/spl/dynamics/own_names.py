"""Which numbers of a system may differ between runs, as people ask for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from spl.data.trajectories import Trajectories
from spl.dynamics.rows import Plan
from spl.errors import DataError, SettingError, show_value

AUTO = "auto"
MAX_OWN_RUNS = 200  # trajectories whose numbers may differ
MIN_OWN_SAMPLES = 10  # of each trajectory: fewer say too little about its own numbers


@dataclass(frozen=True, slots=True)
class OwnNames:
    """The names of own numbers; without names, the data decides how many there are.

    Examples:
        >>> OwnNames.read("auto").names, OwnNames.read(["mass"]).names
        ((), ('mass',))
    """

    names: tuple[str, ...] = ()

    @classmethod
    def read(cls, own: object) -> "OwnNames":
        """Return what `own` asks for: "auto", a name or several."""
        if isinstance(own, str):
            return cls(() if own == AUTO else (own,))
        if not isinstance(own, Sequence) or not own or not all(isinstance(name, str) for name in own):
            raise SettingError(
                f'`own` must be "{AUTO}", or names of numbers such as ("k",), or None; got {show_value(own)}.'
            )
        return cls(tuple(own))

    def __post_init__(self) -> None:
        for name in self.names:
            if not name.isidentifier():
                raise SettingError(f"`own` has the name {name!r}. Names of numbers have letters and digits, as in k1.")
            if self.names.count(name) > 1:
                raise SettingError(f"`own` has the name {name!r} twice. Give each number its own name.")

    @property
    def most(self) -> int | None:
        """How many own numbers there may be; None for no limit."""
        return len(self.names) or None

    def check(self, data: Trajectories, plan: Plan) -> None:
        """Raise a clear error unless runs of these data can have own numbers."""
        if plan.is_implicit:
            raise SettingError(
                "Runs with own numbers cannot have rates on both sides of their equations. Leave out `own`, or `implicit`."
            )
        n_runs = len(data.run_labels)
        if n_runs < 2:
            raise DataError("There is one trajectory, so no number can differ between runs. Leave out `own`.")
        if n_runs > MAX_OWN_RUNS:
            raise DataError(
                f"There are {n_runs} trajectories; up to {MAX_OWN_RUNS} can have own numbers. Give fewer, or leave out `own`."
            )
        for place, label in enumerate(data.run_labels):
            count = sum(run.n_samples for run in data.runs if run.experiment == place)
            if count < MIN_OWN_SAMPLES:
                raise DataError(
                    f"Run {label} has {count} samples; own numbers need at least {MIN_OWN_SAMPLES}. Leave the run out, or `own`."
                )
        taken = next((name for name in self.names if name in data.columns(plan.order)), None)
        if taken is not None:
            raise SettingError(f"`own` has the name {taken!r}, but a column has it already. Choose another name.")
