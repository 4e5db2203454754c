"""Settings: one frozen class a subject, checked when made."""

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real

import numpy as np

from spl.errors import SettingError, shorten

BACKUPS = ("max", "mean")
MANY = 10**12  # more than any search comes to
# The least and the most of each count. What a search allocates, or does without looking at the clock, is bounded.
_RANGES = {
    "max_rules": (1, 1_000),
    "n_episodes": (1, MANY),
    "n_transplants": (1, MANY),
    "max_modules": (0, 1_000),
    "module_size": (1, MANY),
    "max_schedules": (1, MANY),
    "n_simulations": (1, 10_000),
    "n_completions": (0, 1_000_000),
    "max_inversions": (0, MANY),
    "n_trees": (1, 256),
    "max_rows": (16, 10_000),
}
CLOSERS = ("look-up", "combination", "monomial", "correlation", "scan", "power", "nearest")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """The hyperparameters of the tree search, with the names of the paper in brackets. Nothing about the data or the rules.

    Examples:
        >>> SearchConfig(max_rules=20, eta=0.99).n_transplants
        20
        >>> SearchConfig(explore=-1)
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: `explore` must be 0 or more; it is -1.
    """

    max_rules: int = 50  # rules of a derivation (t_max, maximum tree size)
    n_episodes: int = 10_000  # of each tree between two transplantations
    n_transplants: int = 20  # rounds of a schedule, each on a grammar with newer modules; 1 is no transplantation
    max_modules: int = 5  # modules kept (maximum augmented grammars); 0 is no transplantation
    module_size: int = 10  # rules of a module in the first round; grows to max_rules in the last
    max_schedules: int | None = None  # schedules to run; None repeats them until another limit ends the search
    patience: float | None = 8.0  # end once the search is so many times as old as its choice was when new; None: never
    n_simulations: int = 10  # random completions of each new leaf
    n_completions: int = 4096  # look-ups for each new leaf near the root, fewer deeper down; 0 is the paper's search
    max_inversions: int = 24  # operators between the root of a formula and the hole that is filled; 0 is none
    closers: tuple[str, ...] = CLOSERS  # ways to fill the last hole of a formula
    jumping: bool = True  # vary the best formulas, and complete what is left
    eta: float = 0.9999  # discount of the reward for each rule; 1 is none
    explore: float = 1 / math.sqrt(2)  # weight of the bound's uncertainty term (c); 0 is greedy
    epsilon: float = 0.2  # share of the selections made at random
    backup: str = "max"  # what a node remembers of its rewards: "max" as in the paper, or "mean"
    adaptive_scaling: bool = True  # divide Q by the highest reward so far
    relative_loss: bool = True  # divide the error in the reward by the spread of the target; the paper does not
    n_trees: int = 2  # independent trees; they share modules after each round
    max_rows: int = 256  # rows a search looks at; answers are fitted to and judged on all
    max_memory: float = 600.0  # megabytes of bank, ledgers and trees; a process needs some 250 beside them

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            if name != "max_schedules" or self.max_schedules is not None:
                check_count(name, getattr(self, name), at_least=least, at_most=most)
                object.__setattr__(self, name, int(getattr(self, name)))  # small integers of numpy overflow
        check_number("max_memory", self.max_memory, above=0.0)
        if self.patience is not None:
            check_number("patience", self.patience, at_least=1.0)
            object.__setattr__(self, "patience", float(self.patience))
        check_number("eta", self.eta, above=0.0, at_most=1.0)
        check_number("explore", self.explore, at_least=0.0)
        check_number("epsilon", self.epsilon, at_least=0.0, at_most=1.0)
        if not isinstance(self.backup, str) or self.backup not in BACKUPS:
            raise SettingError(f"`backup` must be one of {', '.join(BACKUPS)}; it is {shorten(repr(self.backup))}.")
        if not isinstance(self.closers, tuple | list) or any(name not in CLOSERS for name in self.closers):
            raise SettingError(f"`closers` must be some of {', '.join(CLOSERS)}; it is {shorten(repr(self.closers))}.")

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a search ends at the latest."""

    timeout: float | None = 60.0  # seconds
    max_evaluations: int | None = None  # distinct programs fitted or evaluated

    def __post_init__(self) -> None:
        if self.timeout is not None:
            check_number("timeout", self.timeout, above=0.0)
            object.__setattr__(self, "timeout", float(self.timeout))
        if self.max_evaluations is not None:
            check_count("max_evaluations", self.max_evaluations, at_least=1, at_most=MANY)
            object.__setattr__(self, "max_evaluations", int(self.max_evaluations))


def check_switch(name: str, value: object) -> None:
    """Raise a clear error unless the value is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise SettingError(f"`{name}` must be True or False; it is {shorten(repr(value))}.")


def check_verbose(value: object) -> None:
    """Raise a clear error unless the value says how much to print."""
    if not isinstance(value, bool | np.bool_):
        check_count("verbose", value, at_least=0)


def check_count(name: str, value: object, *, at_least: int, at_most: int | None = None) -> None:
    """Raise a clear error unless the value is a whole number in range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SettingError(f"`{name}` must be a whole number; it is {shorten(repr(value))}.")
    if value < at_least:
        raise SettingError(f"`{name}` must be {at_least} or more; it is {shorten(str(value))}.")
    if at_most is not None and not value <= at_most:
        raise SettingError(f"`{name}` must be {at_most} or less; it is {shorten(str(value))}.")


def _is_finite(value: Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number or a fraction beyond all floats
        return False


def check_number(
    name: str, value: object, *, above: float | None = None, at_least: float | None = None, at_most: float | None = None
) -> None:
    """Raise a clear error unless the value is a finite number in range."""
    if isinstance(value, bool) or not isinstance(value, Real) or not _is_finite(value):
        raise SettingError(f"`{name}` must be a number; it is {shorten(repr(value))}.")
    number = float(value)
    if above is not None and not number > above:
        raise SettingError(f"`{name}` must be more than {above:g}; it is {value}.")
    if at_least is not None and number < at_least:
        raise SettingError(f"`{name}` must be {at_least:g} or more; it is {value}.")
    if at_most is not None and number > at_most:
        raise SettingError(f"`{name}` must be {at_most:g} or less; it is {value}.")
