"""A search that a page asks for: read from JSON, checked against the table, and written as an `spl fit` or `spl dynamics` command."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spl.data.column_choice import prepare_dataset
from spl.data.grouping_columns import NO_GROUPS
from spl.data.table_files import Table
from spl.data.trajectory_files import prepare_trajectories
from spl.dynamics.implicit import share_grammar
from spl.dynamics.request import add_known_inputs
from spl.dynamics.rows import AUTO_RATES, WEAK_METHOD, Plan, allows_rates
from spl.errors import SettingError
from spl.estimators.fitted_units import add_known
from spl.formulas.forms import Form
from spl.formulas.grammar import Grammar
from spl.formulas.guesses import check_guesses, read_guess
from spl.formulas.system import rate_names
from spl.knowledge.box import read_bounds
from spl.knowledge.knowledge import Judge, Knowledge
from spl.noise.models import AUTO, check_noise
from spl.regression.request import check_groupings, check_knowledge_suits, check_noise_suits, hold_units
from spl.settings import TIMEOUT, Limits, check_count
from spl.units.system_units import SystemUnits
from spl.units.table_units import TableUnits
from spl.web.given_units import GivenUnits, read_given_units
from spl.web.option_lists import join_names
from spl.web.request_fields import RequestFields

MAX_SECONDS = 7 * 24 * 3600.0
MAX_JOBS = 256
ORDERS = (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedFormulas:
    """The formulas to search: those of some operators, perhaps of a form, or those of rules; and formulas to begin with."""

    operators: tuple[str, ...] = ()
    rules: str | None = None
    has_constants: bool = True
    form: str | None = None
    guesses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.form is not None and self.rules is not None:
            raise SettingError(
                "A form cannot be combined with rules: both say which formulas are possible. Leave one out."
            )

    def grammar(self, columns: Sequence[str]) -> Grammar:
        """Return the grammar over the columns; raise a clear error if it is not valid."""
        if self.rules is not None:
            return Grammar.from_text(self.rules, variables=columns).bind(columns)
        if not self.operators:
            raise SettingError("No operator is selected. Select at least one, or write rules.")
        if self.form is not None:
            return Form.from_text(self.form, columns).grammar(self.operators, constants=self.has_constants)
        return Grammar.from_operators(self.operators, columns, constants=self.has_constants)

    def options(self, rules_file: str) -> list[str]:
        """Return these formulas as options of a command."""
        guesses = [f"--guess={guess}" for guess in self.guesses]
        if self.rules is not None:
            return [f"--grammar={rules_file}", *guesses]
        return [
            f"--operators={','.join(self.operators)}",
            *([] if self.has_constants else ["--no-constants"]),
            *([] if self.form is None else [f"--form={self.form}"]),
            *guesses,
        ]

    def check_guesses(self, grammar: Grammar) -> None:
        """Raise a clear error unless the formulas to begin with are possible."""
        form = None if self.form is None else Form.from_text(self.form, grammar.vocabulary.variables)
        for guess in check_guesses(self.guesses):
            read_guess(guess, grammar, form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A formula for one column in terms of others."""

    target: str
    features: tuple[str, ...]
    weights: str | None = None
    noise: str = AUTO
    sigma: str | None = None  # the column with the error bars of the target
    sigma_x: Mapping[str, str] = field(default_factory=dict)  # error bars of features: a column or a number each
    groups: tuple[str, ...] = ()  # columns that say to which group each row belongs
    knowledge: tuple[str, ...] = ()  # statements about the shape of the law
    bounds: tuple[str, ...] = ()  # where they hold: texts such as "x=0:10"
    units: GivenUnits | None = None

    command = "fit"

    def __post_init__(self) -> None:
        if self.knowledge and self.groups:
            raise SettingError("Statements about the law cannot be combined with groups. Leave out one of them.")
        if self.units is not None and self.groups:
            raise SettingError("Units cannot be combined with groups. Leave out one of them.")
        for name, bars in self.sigma_x.items():
            if not bars.strip():
                raise SettingError(f"The error bars of '{name}' are empty. Give a column or a number.")
            if self.groups:
                raise SettingError("Error bars of variables cannot be combined with groups. Leave out one of them.")
            if "=" in bars:  # `--sigma-x A=BARS` is split at the last equals sign
                raise SettingError(
                    f"The error bars of '{name}' cannot be '{bars}', because it contains '='. Rename that column in the file."
                )

    def read_units(self) -> TableUnits | None:
        """Return the units of the columns and the target; None if they play no part."""
        return None if self.units is None else self.units.read_law(self.features, self.target)

    def prepare(self, table: Table) -> tuple[Sequence[str], list[str]]:
        """Return the columns that formulas may use, and notes on what is left out; raise a clear error if the table is unusable."""
        noise = check_noise(self.noise)
        data, notes, groupings = prepare_dataset(
            table,
            target=self.target,
            features=self.features,
            weights=self.weights,
            sigma=self.sigma,
            sigma_columns=self.sigma_x,
            groups=self.groups or (NO_GROUPS,),
        )
        check_groupings(groupings, data.n_rows)
        check_noise_suits(noise, data)
        data = add_known(data, self.read_units())
        knowledge = Knowledge.read(self.knowledge, data.names, self.target, read_bounds(self.bounds))
        if knowledge.statements:
            check_knowledge_suits(knowledge, groupings)
            Judge(knowledge, data)  # raises an error if a statement is about no part of the data
        return data.names, notes

    def options(self) -> list[str]:
        """Return this law as options of `spl fit`."""
        bars = [f"{name}={given}" for name, given in self.sigma_x.items()]
        return [
            f"--target={self.target}",
            f"--features={join_names(self.features)}",
            *([] if self.weights is None else [f"--weights={self.weights}"]),
            *([] if self.sigma is None else [f"--sigma={self.sigma}"]),
            *([f"--sigma-x={join_names(bars)}"] if bars else []),
            *(f"--groups={name}" for name in self.groups),
            *([] if self.noise == AUTO else [f"--noise={self.noise}"]),
            *(f"--know={statement}" for statement in self.knowledge),
            *(f"--bounds={bounds}" for bounds in self.bounds),
            *([] if self.units is None else self.units.options()),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dynamics:
    """The equations of a system."""

    time: str
    states: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    group: str | None = None
    order: int = 1
    is_discrete: bool = False
    is_weak: bool = False
    implicit: bool | str = False  # "auto": if the data needs rates on both sides
    units: GivenUnits | None = None

    command = "dynamics"

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise SettingError(f"`order` must be 1 or 2; got {self.order}.")
        if self.is_discrete and self.is_weak:
            raise SettingError("A map has no derivatives, so it cannot be combined with the weak form. Choose one.")
        Plan(method=self._method, is_discrete=self.is_discrete, is_implicit=self.is_implicit)
        if self.units is not None and self.is_implicit:
            raise SettingError("Units cannot be combined with rates on both sides yet. Leave out one of them.")

    @property
    def _method(self) -> str:
        return WEAK_METHOD if self.is_weak else "auto"

    @property
    def is_implicit(self) -> bool:
        """Whether equations may have rates on both sides."""
        return allows_rates(self.implicit, self._method, is_discrete=self.is_discrete)

    def prepare(self, table: Table) -> tuple[Sequence[str], list[str]]:
        """Return the columns that formulas may use, and notes on what is left out; raise a clear error if the table is unusable."""
        runs, _ = prepare_trajectories(table, time=self.time, states=self.states, inputs=self.inputs, group=self.group)
        runs = add_known_inputs(runs, self.read_units())
        return runs.columns(self.order) + self.rates(), list(runs.notes)

    def read_units(self) -> SystemUnits | None:
        """Return the units of the states, the inputs and their equations; None if they play no part."""
        if self.units is None:
            return None
        return self.units.read_system(self.states, self.inputs, self.order, is_discrete=self.is_discrete)

    def rates(self) -> tuple[str, ...]:
        """Return the rates that formulas may use."""
        return rate_names(self.states, self.order) if self.is_implicit else ()

    def check_grammar(self, grammar: Grammar, columns: Sequence[str]) -> None:
        """Raise a clear error if the equation of a state can have no formula."""
        if self.is_implicit:
            share_grammar(grammar, self.states, self.order, columns[: len(columns) - len(self.states)])
        units = self.read_units()
        for table in () if units is None else units.tables:
            hold_units(grammar, table)

    def options(self) -> list[str]:
        """Return this system as options of `spl dynamics`."""
        return [
            f"--time={self.time}",
            f"--states={join_names(self.states)}",
            *([f"--inputs={join_names(self.inputs)}"] if self.inputs else []),
            *([] if self.group is None else [f"--group={self.group}"]),
            *(["--order=2"] if self.order == 2 else []),
            *(["--discrete"] if self.is_discrete else []),
            *(["--weak"] if self.is_weak else []),
            *(
                [f"--implicit={AUTO_RATES}"]
                if self.implicit == AUTO_RATES
                else ["--implicit=yes"]
                if self.implicit
                else []
            ),
            *([] if self.units is None else self.units.options()),
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search: the data, what to find, the allowed formulas, and the limits."""

    data: str  # name of a file in the folder of the studio
    sought: Law | Dynamics
    allowed: AllowedFormulas
    timeout: float = TIMEOUT
    jobs: int = 1
    seed: int = 0
    missing: tuple[str, ...] = ()  # texts to read as missing, besides the usual ones

    def __post_init__(self) -> None:
        check_seconds(self.timeout)
        check_count("jobs", self.jobs, at_least=1)
        if self.jobs > MAX_JOBS:
            raise SettingError(f"`jobs` must be {MAX_JOBS} or less; got {self.jobs}.")
        check_count("seed", self.seed, at_least=0)

    def check(self, table: Table) -> list[str]:
        """Return notes on what is left out of the table; raise a clear error if this search cannot start."""
        columns, notes = self.sought.prepare(table)
        grammar = self.allowed.grammar(columns)
        if isinstance(self.sought, Dynamics):
            self.sought.check_grammar(grammar, columns)
            if self.allowed.form is not None or self.allowed.guesses:
                raise SettingError("Forms and guesses are for one formula, not for systems. Leave them out.")
        else:
            grammar = hold_units(grammar, self.sought.read_units())
        self.allowed.check_guesses(grammar)
        return notes

    def arguments(self, data: str, rules_file: str, run_file: str) -> list[str]:
        """Return the arguments of the `spl` command that runs this search with these files.

        Values are written as `--option=value`, so that none can be mistaken for an option.
        """
        return [
            self.sought.command,
            data,
            *self.sought.options(),
            *self.allowed.options(rules_file),
            f"--timeout={self.timeout:g}",
            f"--jobs={self.jobs}",
            f"--seed={self.seed}",
            *([f"--missing={join_names(self.missing)}"] if self.missing else []),
            f"--run={run_file}",
        ]


def check_seconds(seconds: float) -> None:
    """Raise a clear error unless this is an allowed time limit."""
    Limits(timeout=seconds)
    if seconds > MAX_SECONDS:
        raise SettingError(f"The time limit must be {MAX_SECONDS:g} seconds or less; got {seconds:g}.")


# ---- JSON ----------------------------------------------------------------------------------------

_KINDS = {Law: "law", Dynamics: "dynamics"}
_JSON_NAMES = {  # where they differ
    "is_discrete": "discrete",
    "is_weak": "weak",
    "has_constants": "constants",
}


def write_request(request: SearchRequest) -> dict[str, Any]:
    """Return a search as JSON values; `read_request` is the inverse."""
    own = {name: getattr(request, name) for name in ("data", "timeout", "jobs", "seed", "missing")}
    parts = asdict(request.sought) | asdict(request.allowed) | own
    return {"kind": _KINDS[type(request.sought)]} | {
        _JSON_NAMES.get(name, name): value for name, value in parts.items()
    }


def read_request(given: object) -> SearchRequest:
    """Return the search that a page asks for; raise a clear error that names a missing or wrong field."""
    fields = RequestFields(given)
    kind = fields.text("kind")
    if kind == "law":
        sought: Law | Dynamics = Law(
            target=fields.text("target"),
            features=fields.texts("features"),
            weights=fields.text_or_none("weights"),
            noise=fields.text_or_none("noise") or AUTO,
            sigma=fields.text_or_none("sigma"),
            sigma_x=fields.texts_by_name("sigma_x"),
            groups=fields.texts("groups"),
            knowledge=fields.texts("knowledge"),
            bounds=fields.texts("bounds"),
            units=read_given_units(fields),
        )
    elif kind == "dynamics":
        sought = Dynamics(
            time=fields.text("time"),
            states=fields.texts("states"),
            inputs=fields.texts("inputs"),
            group=fields.text_or_none("group"),
            order=fields.whole("order", 1),
            is_discrete=fields.truth("discrete"),
            is_weak=fields.truth("weak"),
            implicit=fields.truth_or_auto("implicit"),
            units=read_given_units(fields),
        )
    else:
        raise SettingError(f"`kind` must be 'law' or 'dynamics'; got {kind!r}.")
    return SearchRequest(
        data=fields.text("data"),
        sought=sought,
        allowed=AllowedFormulas(
            operators=fields.texts("operators"),
            rules=fields.text_or_none("rules"),
            has_constants=fields.truth("constants", True),
            form=fields.text_or_none("form"),
            guesses=fields.texts("guesses"),
        ),
        timeout=fields.number("timeout", TIMEOUT),
        jobs=fields.whole("jobs", 1),
        seed=fields.whole("seed", 0),
        missing=fields.texts("missing"),
    )
