"""Summaries of records: how often a law was recovered, and the effort."""

import statistics
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from spl.bench.records import Record
from spl.bench.selection import spell_numbers

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary of several trials of one kind."""

    n_trials: int
    n_recovered: int
    median_seconds: float
    worst_seconds: float
    median_evaluations: int | None  # None if the tool does not say

    @property
    def rate(self) -> float:
        """The share of trials in which the law was recovered."""
        return self.n_recovered / self.n_trials


def summarise(records: Sequence[Record]) -> Summary:
    """Return the summary of one or more records."""
    outcomes = [record.outcome for record in records]
    evaluations = [outcome.evaluations for outcome in outcomes if outcome.evaluations is not None]
    return Summary(
        n_trials=len(outcomes),
        n_recovered=sum(outcome.recovered for outcome in outcomes),
        median_seconds=statistics.median(outcome.seconds for outcome in outcomes),
        worst_seconds=max(outcome.seconds for outcome in outcomes),
        median_evaluations=round(statistics.median(evaluations)) if evaluations else None,
    )


def group(records: Iterable[Record], name_of: Callable[[Record], Name]) -> dict[Name, list[Record]]:
    """Return the records by name, in the order in which the names first appear."""
    groups: dict[Name, list[Record]] = defaultdict(list)
    for record in records:
        groups[name_of(record)].append(record)
    return dict(groups)


def describe_rows(records: Iterable[Record]) -> list[dict[str, object]]:
    """Return one row of plain values for each setting, tool and problem, as `--json` prints them."""
    kinds = group(records, lambda record: (record.trial.setting, record.trial.tool, record.trial.problem))
    rows: list[dict[str, object]] = []
    for (setting, tool, problem), members in kinds.items():
        summary = summarise(members)
        rows.append(
            {
                "problem": problem,
                "setting": setting,
                "tool": tool,
                "trials": summary.n_trials,
                "recovered": summary.n_recovered,
                "median_seconds": summary.median_seconds,
                "worst_seconds": summary.worst_seconds,
                "median_evaluations": summary.median_evaluations,
            }
        )
    return rows


# ---- the origin of results -----------------------------------------------------------------------


def origin_lines(records: Sequence[Record], cores: str = "one core per trial") -> list[str]:
    """Return lines about the seeds, limits, version and machine of the records."""
    seeds = spell_numbers(record.trial.seed for record in records)
    timeouts = {record.trial.timeout for record in records}
    limits = ", ".join(sorted(spell_timeout(timeout) for timeout in timeouts))
    commits = _distinct(record.commit for record in records)
    machines = _distinct(f"{r.machine['cpu']} with {r.machine['cores']} cores, {r.machine['system']}" for r in records)
    versions = _distinct(", ".join(f"{name} {version}" for name, version in r.versions.items()) for r in records)
    lines = [
        f"Seeds {seeds}; {limits}; {cores}.",
        f"Commit {' and '.join(commits)}; {' and '.join(machines)}; {' and '.join(versions)}.",
    ]
    if len(commits) > 1:
        lines.append(f"Note: these results come from {len(commits)} versions of the program; --fresh starts over.")
    return lines


def spell_timeout(timeout: float | None) -> str:
    """Return a time limit in words."""
    return "no time limit" if timeout is None else f"at most {timeout:g} s per trial"


def spell_seconds(seconds: float | None) -> str:
    """Return seconds as the cell of a table; empty if they are not known.

    Examples:
        >>> spell_seconds(0.1234), spell_seconds(2001.4), spell_seconds(None)
        ('0.123', '2001', '')
    """
    return "" if seconds is None else f"{seconds:.3g}" if seconds < 1000 else f"{seconds:.0f}"


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def failure_lines(records: Iterable[Record]) -> list[str]:
    """Return a line for each trial that did not recover the law: what it found instead, and the error."""
    lines = []
    for record in records:
        trial, outcome = record.trial, record.outcome
        if outcome.recovered:
            continue
        found = f"`{outcome.formula}`" if outcome.formula else "nothing"
        error = "no finite error" if outcome.error is None else f"error {outcome.error:.2g}"
        lines.append(f"{trial.problem}, seed {trial.seed}: {found} ({error}; stopped: {outcome.stopped})")
    return lines
