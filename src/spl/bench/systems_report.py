"""The report on `spl bench systems`: right equations of each tool, errors of their numbers, seconds."""

import statistics
from collections.abc import Callable, Sequence
from functools import partial

from spl.bench.equations import BREAK
from spl.bench.random import Condition
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.sindy import SindyConfig
from spl.bench.summaries import group, origin_lines, spell_seconds
from spl.bench.systems import SINDY, SINDY_WEAK, SYSTEMS_RULE, SYSTEMS_TOOLS, right_equations
from spl.bench.text_table import TextTable
from spl.bench.trials import OURS
from spl.datasets import SYSTEMS

_WEAK_CONFIG = SindyConfig(is_weak=True)
SETTINGS_NOTE = (
    "spl: the defaults of SPLDynamics with all its operators. "
    f"{SINDY}: STLSQ with threshold {_WEAK_CONFIG.threshold:g}, monomials up to degree {_WEAK_CONFIG.degree}, smoothed finite "
    f"differences; {SINDY_WEAK}: the same with the weak form, {_WEAK_CONFIG.n_domains} domains of {_WEAK_CONFIG.n_samples} samples. "
    "Threshold and domains are the best of those that we tried on six of these systems at 1 and 5 % noise. All systems use the same "
    "settings."
)
NOISE_NOTE = "Noise is its standard deviation over the root mean square of each state."
TOOL_HEADINGS = {OURS: "spl", SINDY: "sindy", SINDY_WEAK: "weak"}  # short, because columns must be narrow


def systems_sections(records: Sequence[Record]) -> list[Section]:
    """Return two sections per time limit and number of threads."""
    kinds = group(records, lambda record: (record.trial.timeout, Condition.of(record.trial.setting).n_threads))
    return [section for (_, n_threads), members in kinds.items() for section in _sections(n_threads, members)]


def _sections(n_threads: int, records: Sequence[Record]) -> tuple[Section, Section]:
    cores = "one thread per trial" if n_threads == 1 else f"{n_threads} threads per trial"
    return (
        Section(
            title="Well-known systems: right equations",
            notes=(*origin_lines(records, cores), NOISE_NOTE, SETTINGS_NOTE, SYSTEMS_RULE),
            table=systems_table(records),
            failures=tuple(line for record in records if record.trial.tool == OURS for line in _failures(record)),
        ),
        Section(
            title="Well-known systems: largest errors of numbers, and seconds",
            notes=(
                "Errors in percent, the median of the trials in which all equations are right. Seconds: the median of all.",
            ),
            table=errors_table(records),
        ),
    )


Columns = list[tuple[str, float]]  # tools and levels of noise


def systems_table(records: Sequence[Record]) -> TextTable:
    """Return one row per system: for each tool and level of noise, the number of right equations in all trials."""
    columns = _columns(records)
    return TextTable(
        headings=("system", *(f"{TOOL_HEADINGS[tool]} {noise:.3g}" for tool, noise in columns)),
        rows=tuple(
            (system, *(_right(_select(members, tool, noise)) for tool, noise in columns))
            for system, members in _by_system(records).items()
        ),
        total=("all", *(_right(_select(records, tool, noise)) for tool, noise in columns)),
    )


def errors_table(records: Sequence[Record]) -> TextTable:
    """Return one row per system: for each tool and level of noise the error of the numbers, for each tool the seconds."""
    columns = _columns(records)
    tools = list(dict.fromkeys(tool for tool, _ in columns))
    return TextTable(
        headings=(
            "system",
            *(f"{TOOL_HEADINGS[tool]} {noise:.3g}" for tool, noise in columns),
            *(f"{TOOL_HEADINGS[tool]} s" for tool in tools),
        ),
        rows=tuple(
            (
                system,
                *(_error(_select(members, tool, noise)) for tool, noise in columns),
                *(_seconds([record for record in members if record.trial.tool == tool]) for tool in tools),
            )
            for system, members in _by_system(records).items()
        ),
    )


def _columns(records: Sequence[Record]) -> Columns:
    """Return the tools, ours first, each with the levels of noise that there are."""
    tools = [tool for tool in SYSTEMS_TOOLS if any(record.trial.tool == tool for record in records)]
    levels = sorted({Condition.of(record.trial.setting).noise for record in records})
    return [(tool, noise) for tool in tools for noise in levels]


def _by_system(records: Sequence[Record]) -> dict[str, list[Record]]:
    found = group(records, lambda record: record.trial.problem)
    return {system: found[system] for system in SYSTEMS if system in found}


def _select(records: Sequence[Record], tool: str, noise: float) -> list[Record]:
    return [
        record for record in records if record.trial.tool == tool and Condition.of(record.trial.setting).noise == noise
    ]


def _are_right(record: Record) -> list[bool]:
    """Return which equations are right: all in a recovered system, which need not be checked again."""
    if record.outcome.recovered:
        return len(record.settings["truth"]) * [True]
    return right_equations(record.trial.problem, record.outcome.formula)


def _right(records: Sequence[Record]) -> str:
    right = [is_right for record in records for is_right in _are_right(record)]
    return f"{sum(right)}/{len(right)}" if right else ""


def _error(records: Sequence[Record]) -> str:
    errors = [record.outcome.error for record in records if record.outcome.recovered]
    known = [error for error in errors if error is not None]
    return f"{100 * statistics.median(known):.2g}" if known else ""


def _seconds(records: Sequence[Record]) -> str:
    return spell_seconds(statistics.median(record.outcome.seconds for record in records)) if records else ""


def _failures(record: Record) -> list[str]:
    trial = record.trial
    place = f"{trial.problem}, noise {Condition.of(trial.setting).noise:.3g}, seed {trial.seed}"
    return wrong_equations(record, place, partial(right_equations, trial.problem))


def wrong_equations(record: Record, place: str, are_right: Callable[[str], Sequence[bool]]) -> list[str]:
    """Return a line for each wrong equation of a trial: the true one, and the one found. `place` says which trial it is."""
    outcome = record.outcome
    if outcome.recovered:
        return []
    if not outcome.formula:
        return [f"{place}: nothing (stopped: {outcome.stopped})"]
    found = zip(record.settings["truth"], outcome.formula.split(BREAK), are_right(outcome.formula), strict=True)
    return [f"{place}: `{true}` is the truth; found `{text}`" for true, text, is_right in found if not is_right]
