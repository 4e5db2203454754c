"""Settings: one frozen class per subject, checked on construction."""

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real

from spl.errors import SettingError, shorten, show_value

TIMEOUT = 60.0  # default time limit of a search in seconds, for estimators, commands and pages
BACKUPS = ("max", "mean")
MANY = 10**12  # more than any search reaches
# The least and the most of each count. What a search allocates, or does without checking the clock, is bounded.
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
CLOSERS = ("look-up", "combination", "monomial", "correlation", "scan", "power", "nearest", "products")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """How a search works: how long formulas may get, how widely it looks, when it stops on its own.

    You rarely need one: `timeout`, `operators` and `grammar` matter far more, and the defaults work for most data. Make one if the
    law takes more than 50 rules (`max_rules`), the search should use all of its time (`patience=None`), you have more cores than trees
    (`n_trees`), memory is short (`max_memory`), 256 rows do not show everything in the data (`max_rows`), or you want the search of
    the paper (`n_completions=0, patience=None`).

    A formula is built rule by rule, and all unfinished formulas form a tree. An episode walks down that tree and tries formulas at the
    end of its walk. A round is `n_episodes` per tree; the best parts it finds become modules, extra rules for the next round. A
    schedule is `n_transplants` rounds, after which the search starts over. The paper's names are in brackets.

    Args:
        max_rules: the most rules a formula may be built from (t_max, maximum tree size).
        n_episodes: episodes per tree in a round.
        n_transplants: rounds in a schedule; with 1 there are no modules.
        max_modules: how many modules are kept (maximum augmented grammars); with 0 there are none.
        module_size: the most rules of a module in the first round; it grows to `max_rules` in the last.
        max_schedules: schedules after which the search stops; None repeats them until another limit is reached.
        patience: stop after this many times the episodes it took to find the current choice; None never stops early. A system under
            noise stops when a short search does not change its choice, unless this is None.
        n_simulations: random rollouts from each new leaf of a tree.
        n_completions: bank entries tried to complete a new leaf near the root, fewer deeper down; 0 tries none, as in the paper.
        max_inversions: the most operators between the root of a formula and the part that is looked up; 0 looks up whole formulas.
        closers: the methods that find the last part of a formula: any of "look-up", "combination", "monomial", "correlation",
            "scan", "power", "nearest", "products".
        jumping: whether parts of the best formulas are replaced by better ones.
        eta: factor on the reward per rule; below 1, shorter formulas are preferred.
        explore: weight of rarely tried branches against good ones (c); 0 is greedy.
        epsilon: share of the steps down a tree that are random.
        backup: what a node keeps of its rewards: "max", as in the paper, or "mean".
        adaptive_scaling: whether rewards are divided by the highest so far.
        relative_loss: whether the reward uses the error relative to the spread of the target, so that units do not matter; in the
            paper it does not.
        n_trees: independent trees, which share modules after each round; each can use one core.
        max_rows: rows that the search looks at; the final formulas are fitted to and judged on all rows.
        max_memory: megabytes for the search's tables and trees; the process needs about 250 on top.

    Examples:
        >>> SearchConfig(max_rules=20, eta=0.99)
        SearchConfig(max_rules=20, eta=0.99)
        >>> SearchConfig(explore=-1)
        Traceback (most recent call last):
        ...
        spl.errors.SettingError: `explore` must be 0 or more; got -1.
    """

    max_rules: int = 50
    n_episodes: int = 10_000
    n_transplants: int = 20
    max_modules: int = 5
    module_size: int = 10
    max_schedules: int | None = None
    patience: float | None = 8.0
    n_simulations: int = 10
    n_completions: int = 4096
    max_inversions: int = 24
    closers: tuple[str, ...] = CLOSERS
    jumping: bool = True
    eta: float = 0.9999
    explore: float = 1 / math.sqrt(2)
    epsilon: float = 0.2
    backup: str = "max"
    adaptive_scaling: bool = True
    relative_loss: bool = True
    n_trees: int = 2
    max_rows: int = 256
    max_memory: float = 600.0

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            if name != "max_schedules" or self.max_schedules is not None:
                check_count(name, getattr(self, name), at_least=least, at_most=most)
                object.__setattr__(self, name, int(getattr(self, name)))  # small numpy integers overflow
        check_number("max_memory", self.max_memory, above=0.0)
        if self.patience is not None:
            check_number("patience", self.patience, at_least=1.0)
            object.__setattr__(self, "patience", float(self.patience))
        check_number("eta", self.eta, above=0.0, at_most=1.0)
        check_number("explore", self.explore, at_least=0.0)
        check_number("epsilon", self.epsilon, at_least=0.0, at_most=1.0)
        if not isinstance(self.backup, str) or self.backup not in BACKUPS:
            raise SettingError(f"`backup` must be one of {', '.join(BACKUPS)}; got {show_value(self.backup)}.")
        if not isinstance(self.closers, tuple | list) or any(name not in CLOSERS for name in self.closers):
            raise SettingError(f"`closers` must be some of {', '.join(CLOSERS)}; got {show_value(self.closers)}.")

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        changed = [field for field in fields(self) if getattr(self, field.name) != field.default]
        return f"SearchConfig({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in changed)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a search."""

    timeout: float | None = TIMEOUT  # seconds
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
    if not _is_truth(value):
        raise SettingError(f"`{name}` must be True or False; got {show_value(value)}.")


def check_verbose(value: object) -> None:
    """Raise a clear error unless the value is a level of output: True, False, or a count."""
    if not _is_truth(value):
        check_count("verbose", value, at_least=0)


def _is_truth(value: object) -> bool:
    import numpy as np  # here, because every command imports this file to read its defaults

    return isinstance(value, bool | np.bool_)


def check_count(name: str, value: object, *, at_least: int, at_most: int | None = None) -> None:
    """Raise a clear error unless the value is a whole number in range."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise SettingError(f"`{name}` must be a whole number; got {show_value(value)}.")
    if value < at_least:
        raise SettingError(f"`{name}` must be {at_least} or more; got {shorten(str(value))}.")
    if at_most is not None and not value <= at_most:
        raise SettingError(f"`{name}` must be {at_most} or less; got {shorten(str(value))}.")


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
        raise SettingError(f"`{name}` must be a number; got {show_value(value)}.")
    number = float(value)
    if above is not None and not number > above:
        raise SettingError(f"`{name}` must be more than {above:g}; got {value}.")
    if at_least is not None and number < at_least:
        raise SettingError(f"`{name}` must be {at_least:g} or more; got {value}.")
    if at_most is not None and number > at_most:
        raise SettingError(f"`{name}` must be {at_most:g} or less; got {value}.")
