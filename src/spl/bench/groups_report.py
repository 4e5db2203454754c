"""The report on `spl bench groups`: one section per part."""

from collections.abc import Callable, Sequence

from spl.bench.groups import GROUPS_PARTS, read_groups_setting
from spl.bench.groups_coverage import KINDS, N_COVERED, N_COVERED_GROUPS
from spl.bench.groups_laws import ALL_GROUPS, ONE_GROUP
from spl.bench.groups_structure import GROUPS_RULE
from spl.bench.groups_systems import SYSTEMS_NOTE
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import group, origin_lines, spell_seconds, summarise
from spl.bench.text_table import TextTable
from spl.bench.trust_coverage import LEAST_COVERAGE, MOST_COVERAGE
from spl.datasets.grouped_tables import N_GROUP_ROWS, N_GROUPS

_NOISE_NOTE = "Noise: its standard deviation over the root mean square of the exact values."
LAWS_NOTE = (
    f"{N_GROUPS} groups of {N_GROUP_ROWS} rows. {_NOISE_NOTE} One group: the rows of the first group alone, where its own numbers are "
    "constants like all others."
)
SIZES_NOTE = f"{N_GROUP_ROWS} rows per group. {_NOISE_NOTE} Each trial has a process of its own, of whose memory this is the peak."
COVERAGE_NOTE = (
    f"Share of 95 % intervals that hold the truth, of {N_COVERED} tables of {N_COVERED_GROUPS} groups per row; the true formula is "
    f"fitted, without a search. All must be between {LEAST_COVERAGE:.0%} and {MOST_COVERAGE:.0%}. {_NOISE_NOTE}"
)
LABELS_NOTE = "Twenty simple laws, 100 rows, 10 % noise, and labels that are drawn at random. The law: correct except for its numbers."


def groups_sections(records: Sequence[Record]) -> list[Section]:
    """Return the sections of each time limit, one per part."""
    make: dict[str, Callable[[Sequence[Record]], Section]] = {
        "laws": _laws_section,
        "pairs": _pairs_section,
        "sizes": _sizes_section,
        "systems": _systems_section,
        "coverage": _coverage_section,
        "random-labels": _labels_section,
    }
    sections = []
    for members in group(records, lambda record: record.trial.timeout).values():
        parts = group(members, lambda record: _values(record)["part"])
        sections += [make[part](parts[part]) for part in GROUPS_PARTS if part in parts]
    return sections


def _values(record: Record) -> dict[str, str]:
    return read_groups_setting(record.trial.setting)


def _failures(records: Sequence[Record]) -> tuple[str, ...]:
    """Return a line for each trial that missed the law: the truth, what was found, and what each group has for itself in it."""
    return tuple(_failure(record) for record in records if not record.outcome.recovered)


def _failure(record: Record) -> str:
    trial, outcome = record.trial, record.outcome
    condition = trial.setting.partition(" ")[2]
    return (
        f"{trial.problem}, seed {trial.seed}, {condition}: `{record.settings['truth']}` is the truth; found `{outcome.formula}`"
        f"{_spell_own(record)} (stopped: {outcome.stopped})"
    )


def _spell_own(record: Record) -> str:
    own = record.outcome.details.get("own", {})
    return f" with own {', '.join(f'{name} ({grouping})' for name, grouping in own.items())}" if own else ""


# ---- laws and pairs ------------------------------------------------------------------------------


def _laws_section(records: Sequence[Record]) -> Section:
    ours = [record for record in records if _values(record)["data"] == ALL_GROUPS]
    return Section(
        title="Laws with own numbers: recovered with the right numbers shared",
        notes=(*origin_lines(records), LAWS_NOTE, GROUPS_RULE),
        table=laws_table(records),
        failures=_failures(ours),
    )


def _pairs_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Laws with two groupings: recovered with the right numbers shared",
        notes=(*origin_lines(records), _NOISE_NOTE, GROUPS_RULE),
        table=laws_table(records),
        failures=_failures(records),
    )


def laws_table(records: Sequence[Record]) -> TextTable:
    """Return one row per law: recovered with all groups and with one alone, at each level of noise, and seconds."""
    levels = sorted({float(_values(record)["noise"]) for record in records})
    kinds = [(data, noise) for data in (ALL_GROUPS, ONE_GROUP) for noise in levels]
    kinds = [kind for kind in kinds if _select(records, *kind)]
    headings = [f"{'groups' if data == ALL_GROUPS else 'one group'} {noise:g}" for data, noise in kinds]

    def cells(members: Sequence[Record]) -> tuple[str, ...]:
        ours = [record for record in members if _values(record)["data"] == ALL_GROUPS]
        counts = (_count(_select(members, *kind)) for kind in kinds)
        return (*counts, spell_seconds(summarise(ours).median_seconds) if ours else "")

    by_law = group(records, lambda record: record.trial.problem)
    return TextTable(
        headings=("law", *headings, "median s"),
        rows=tuple((law, *cells(members)) for law, members in by_law.items()),
        total=("all", *cells(records)),
    )


def _select(records: Sequence[Record], data: str, noise: float) -> list[Record]:
    chosen = []
    for record in records:
        values = _values(record)
        if values["data"] == data and float(values["noise"]) == noise:
            chosen.append(record)
    return chosen


def _count(records: Sequence[Record]) -> str:
    return f"{sum(record.outcome.recovered for record in records)} of {len(records)}" if records else ""


# ---- sizes ---------------------------------------------------------------------------------------


def _sizes_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Laws with own numbers: many groups",
        notes=(*origin_lines(records), SIZES_NOTE, GROUPS_RULE),
        table=sizes_table(records),
        failures=_failures(records),
    )


def sizes_table(records: Sequence[Record]) -> TextTable:
    """Return one row per law and level of noise: for each number of groups, recovered, median seconds and largest peak of memory."""
    sizes = sorted({int(_values(record)["groups"]) for record in records})
    by_row = group(records, lambda record: (record.trial.problem, float(_values(record)["noise"])))

    def cells(members: Sequence[Record]) -> list[str]:
        by_size = group(members, lambda record: int(_values(record)["groups"]))
        found = []
        for size in sizes:
            some = by_size.get(size, [])
            megabytes = max((record.outcome.details.get("megabytes", 0) for record in some), default=0)
            found += [_count(some), spell_seconds(summarise(some).median_seconds) if some else "", str(megabytes or "")]
        return found

    return TextTable(
        headings=("law", "noise", *(f"{size:,} groups{what}" for size in sizes for what in ("", " s", " MB"))),
        rows=tuple((law, f"{noise:g}", *cells(members)) for (law, noise), members in by_row.items()),
        total=("all", "", *cells(records)),
    )


# ---- systems -------------------------------------------------------------------------------------


def _systems_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Systems with own parameters: recovered with the right numbers shared",
        notes=(*origin_lines(records), SYSTEMS_NOTE),
        table=systems_table(records),
        failures=_failures(records),
    )


def systems_table(records: Sequence[Record]) -> TextTable:
    """Return one row per system: recovered, right equations and right sharing at each level of noise, and seconds."""
    levels = sorted({float(_values(record)["noise"]) for record in records})

    def cells(members: Sequence[Record]) -> tuple[str, ...]:
        by_level = group(members, lambda record: float(_values(record)["noise"]))
        counts = [
            count
            for level in levels
            for some in [by_level.get(level, [])]
            for count in (_count(some), _share(some, "right_equations"), _share(some, "right_sharing"))
        ]
        return (*counts, spell_seconds(summarise(members).median_seconds))

    by_system = group(records, lambda record: record.trial.problem)
    words = ("recovered", "equations", "sharing")
    return TextTable(
        headings=("system", *(f"{word} {level:g}" for level in levels for word in words), "median s"),
        rows=tuple((name, *cells(members)) for name, members in by_system.items()),
        total=("all", *cells(records)),
    )


def _share(records: Sequence[Record], name: str) -> str:
    return f"{sum(bool(record.outcome.details.get(name)) for record in records)} of {len(records)}" if records else ""


# ---- coverage ------------------------------------------------------------------------------------


def _coverage_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Own numbers: coverage of 95 % intervals",
        notes=(*origin_lines(records), COVERAGE_NOTE),
        table=coverage_table(records),
        failures=tuple(
            f"{record.trial.problem}, {record.trial.setting.partition(' ')[2]}: {record.outcome.details.get('coverage')}"
            for record in records
            if not record.outcome.recovered
        ),
    )


def coverage_table(records: Sequence[Record]) -> TextTable:
    """Return one row per law, noise and number of rows: the share of intervals that hold the truth, in percent."""
    rows = []
    for record in records:
        values, shares = _values(record), record.outcome.details.get("coverage", {})
        cells = (f"{100 * shares[kind]:.1f}" if kind in shares else "" for kind in KINDS)
        rows.append((record.trial.problem, f"{float(values['noise']):.0%}", values["rows"], *cells))
    return TextTable(headings=("law", "noise", "rows per group", "shared %", "own %"), rows=tuple(rows))


# ---- random labels -------------------------------------------------------------------------------


def _labels_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Groups that mean nothing: no number becomes own",
        notes=(*origin_lines(records), LABELS_NOTE),
        table=labels_table(records),
        failures=_failures(records),
    )


def labels_table(records: Sequence[Record]) -> TextTable:
    """Return one row per number of groups: in how many tables no number is own, and in how many the law was found."""
    by_size = group(records, lambda record: int(_values(record)["groups"]))

    def cells(members: Sequence[Record]) -> tuple[str, ...]:
        n_laws = sum(bool(record.outcome.details.get("is_law")) for record in members)
        return _count(members), f"{n_laws} of {len(members)}", spell_seconds(summarise(members).median_seconds)

    return TextTable(
        headings=("groups", "no own number", "the law", "median s"),
        rows=tuple((str(size), *cells(members)) for size, members in sorted(by_size.items())),
        total=("all", *cells(records)),
    )
