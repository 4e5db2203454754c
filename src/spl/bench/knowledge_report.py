"""The report on `spl bench knowledge`: one section per part."""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from spl.bench.knowledge import KNOWLEDGE_PARTS, read_knowledge_setting
from spl.bench.knowledge_shapes_report import shapes_section
from spl.bench.knowledge_units import UNITS_VARIANTS, WITH, WITHOUT
from spl.bench.random import RANDOM_RULE
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import group, origin_lines, spell_seconds
from spl.bench.text_table import TextTable
from spl.datasets.handbook_tables import N_HANDBOOK_ROWS

UNITS_NOTE = (
    f"{N_HANDBOOK_ROWS:,} rows. Noise: its standard deviation over that of the exact values. With units: of columns and target, "
    "and the named constants of the law. Without: the same columns as plain numbers; fitted numbers absorb named constants."
)
EFFORT_NOTE = (
    "Evaluations and seconds: medians until the law first was the choice, over the laws that both recover. Share: the median over "
    "these laws of the effort with units over that without."
)
LAWS_NOTE = "For each level of noise: evaluations until the law first was the choice, with units; without. A dash: not recovered."
DEPTH_NOTE = (
    "The bank before the search, on exact rows; with units, of dimensionless groups. Possible: share of its formulas that do not "
    "contradict the units. Law: whether the bank holds the law itself, up to a factor and an offset."
)
NOT_RECOVERED = "–"

Pair = tuple[Record, Record]  # the same trial with and without units


def knowledge_sections(records: Sequence[Record]) -> list[Section]:
    """Return the sections of each time limit, one or two per part."""
    make: dict[str, Callable[[Sequence[Record]], list[Section]]] = {
        "units": _units_sections,
        "depth": lambda members: [_depth_section(members)],
        "shapes": lambda members: [shapes_section(members)],
    }
    sections = []
    for members in group(records, lambda record: record.trial.timeout).values():
        parts = group(members, lambda record: _value(record, "part"))
        sections += [section for part in KNOWLEDGE_PARTS if part in parts for section in make[part](parts[part])]
    return sections


def _value(record: Record, name: str) -> str:
    return read_knowledge_setting(record.trial.setting)[name]


def _units_sections(records: Sequence[Record]) -> list[Section]:
    timeout = records[0].trial.timeout

    def draw(path: Path) -> None:
        from spl.bench.knowledge_figure import draw_effort

        draw_effort(records, path)

    return [
        Section(
            title="Laws with units: recovered with and without units",
            notes=(*origin_lines(records), UNITS_NOTE, EFFORT_NOTE, RANDOM_RULE),
            table=units_table(records),
            figure="knowledge-units" + ("" if timeout is None else f"-{timeout:g}s"),
            draw=draw,
        ),
        Section(
            title="Laws with units: each law",
            notes=(LAWS_NOTE,),
            table=effort_table(records),
            failures=tuple(_failure(record) for record in records if not record.outcome.recovered),
        ),
    ]


def units_table(records: Sequence[Record]) -> TextTable:
    """Return one row per level of noise: recovered with and without units, and the effort to the solution of both."""
    by_noise = group(records, lambda record: float(_value(record, "noise")))
    return TextTable(
        headings=(
            "noise",
            *UNITS_VARIANTS,
            "evaluations with",
            "without",
            "share %",
            "seconds with",
            "without",
            "share %",
        ),
        rows=tuple((f"{noise:g}", *_units_cells(by_noise[noise])) for noise in sorted(by_noise)),
        total=("all", *_units_cells(records)),
    )


def _units_cells(records: Sequence[Record]) -> tuple[str, ...]:
    pairs = solved_pairs(records)
    counts = (
        _count([record for record in records if _value(record, "units") == variant]) for variant in UNITS_VARIANTS
    )
    evaluations = _efforts(pairs, "solution_evaluations", lambda effort: f"{effort:,.0f}")
    return (*counts, *evaluations, *_efforts(pairs, "solution_seconds", spell_seconds))


def _count(records: Sequence[Record]) -> str:
    return f"{sum(record.outcome.recovered for record in records)} of {len(records)}" if records else ""


def _efforts(pairs: Sequence[Pair], kind: str, spell: Callable[[float], str]) -> tuple[str, str, str]:
    """Return the median efforts with and without units, and the median share."""
    if not pairs:
        return "", "", ""
    efforts = [tuple(float(record.outcome.details[kind]) for record in pair) for pair in pairs]
    shares = [with_units / without for with_units, without in efforts if without > 0]
    medians = (spell(statistics.median(each)) for each in zip(*efforts, strict=True))
    return (*medians, f"{100 * statistics.median(shares):.0f}" if shares else "")  # type: ignore[return-value]


def solved_pairs(records: Sequence[Record]) -> list[Pair]:
    """Return the trials in which a law was recovered and chosen both with and without units."""
    solved = [record for record in records if record.outcome.details.get("solution_evaluations") is not None]
    trials = group(solved, _table_of)
    pairs = []
    for members in trials.values():
        variants = {_value(record, "units"): record for record in members}
        if set(variants) == {WITH, WITHOUT}:
            pairs.append((variants[WITH], variants[WITHOUT]))
    return pairs


def _table_of(record: Record) -> tuple[str, str, int]:
    """Return what says which table a trial searched."""
    return record.trial.problem, _value(record, "noise"), record.trial.seed


def effort_table(records: Sequence[Record]) -> TextTable:
    """Return one row per law: at each level of noise, the median evaluations to the solution with and without units."""
    levels = sorted({float(_value(record, "noise")) for record in records})
    by_law = group(records, lambda record: record.trial.problem)
    return TextTable(
        headings=("law", "columns", *(f"noise {noise:g}" for noise in levels)),
        rows=tuple(
            (law, str(members[0].settings["n_variables"]), *(_effort_cell(members, noise) for noise in levels))
            for law, members in by_law.items()
        ),
    )


def _effort_cell(records: Sequence[Record], noise: float) -> str:
    members = [record for record in records if float(_value(record, "noise")) == noise]
    by_variant = group(members, lambda record: _value(record, "units"))
    return "; ".join(_spell_effort(by_variant.get(variant, ())) for variant in UNITS_VARIANTS)


def _spell_effort(records: Sequence[Record]) -> str:
    if not records:
        return ""
    efforts = [record.outcome.details.get("solution_evaluations") for record in records]
    known = [effort for effort in efforts if effort is not None]
    return f"{statistics.median(known):,.0f}" if known else NOT_RECOVERED


def _failure(record: Record) -> str:
    trial, outcome = record.trial, record.outcome
    kept = "; the law is on its front" if outcome.details.get("on_front") else ""
    return (
        f"{trial.problem}, seed {trial.seed}, noise {_value(record, 'noise')}, {_value(record, 'units')} units: "
        f"`{record.settings['truth']}` is the truth; found `{outcome.formula}` (stopped: {outcome.stopped}{kept})"
    )


# ---- depth ---------------------------------------------------------------------------------------


def _depth_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Laws with units: what the bank holds",
        notes=(*origin_lines(records), DEPTH_NOTE),
        table=depth_table(records),
    )


def depth_table(records: Sequence[Record]) -> TextTable:
    """Return one row per law: entries, largest cost and possible share with and without units, and whether the bank holds the law."""
    by_law = group(records, lambda record: record.trial.problem)
    kinds = ("entries", "cost", "possible %", "law")
    return TextTable(
        headings=("law", "columns", *(f"{kind} {variant}" for variant in UNITS_VARIANTS for kind in kinds)),
        rows=tuple(
            (law, str(members[0].settings["n_variables"]), *_depth_cells(members)) for law, members in by_law.items()
        ),
        total=("all", "", *_depth_cells(records)),
    )


def _depth_cells(records: Sequence[Record]) -> tuple[str, ...]:
    """Return the cells of one law, or of all: medians, and how many laws are held."""
    by_variant = group(records, lambda record: _value(record, "units"))
    return tuple(cell for variant in UNITS_VARIANTS for cell in _depth_cells_of(by_variant.get(variant, ())))


def _depth_cells_of(records: Sequence[Record]) -> tuple[str, ...]:
    if not records:
        return ("", "", "", "")
    entries, cost, possible = (
        statistics.median(record.outcome.details[kind] for record in records)
        for kind in ("entries", "largest_cost", "possible_share")
    )
    return f"{entries:,.0f}", f"{cost:g}", f"{100 * possible:.0f}", _count(records)
