"""The report on `spl bench trust`: one section per part."""

from collections.abc import Callable, Sequence

from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import group, origin_lines
from spl.bench.text_table import TextTable
from spl.bench.trust import TRUST_PARTS, read_trust_setting
from spl.bench.trust_chance import A_LAW, HELD_OUT_SHARE, NO_LAW
from spl.bench.trust_coverage import KINDS, LEAST_COVERAGE, MOST_COVERAGE, N_TABLES

CHANCE_NOTE = (
    f"{HELD_OUT_SHARE:.0%} of the rows are held out. Called unexplained: a constant describes the other rows best, or the chosen "
    "formula is no better than chance on the held-out rows. The last two columns say how often each was the reason."
)
COVERAGE_NOTE = (
    f"Share of 95 % intervals that hold the truth, of {N_TABLES} tables per row; the true formula is fitted, without a search. All "
    f"must be between {LEAST_COVERAGE:.0%} and {MOST_COVERAGE:.0%}. Noise: standard deviation over that of the law."
)


def trust_sections(records: Sequence[Record]) -> list[Section]:
    """Return the sections, one per part."""
    make: dict[str, Callable[[Sequence[Record]], Section]] = {"chance": _chance_section, "coverage": _coverage_section}
    parts = group(records, lambda record: _values(record)["part"])
    return [make[part](parts[part]) for part in TRUST_PARTS if part in parts]


def _values(record: Record) -> dict[str, str]:
    return read_trust_setting(record.trial.setting)


def _chance_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Trust: targets that no column explains",
        notes=(*origin_lines(records), CHANCE_NOTE),
        table=chance_table(records),
        failures=tuple(
            f"{record.trial.problem}, seed {record.trial.seed}: `{record.outcome.formula}`"
            for record in records
            if not record.outcome.recovered
        ),
    )


def chance_table(records: Sequence[Record]) -> TextTable:
    """Return a row for tables without a law, and one for those with a law."""
    by_kind = group(records, lambda record: _values(record)["law"])
    names = {NO_LAW: "no law", A_LAW: "a law"}

    def cells(kind: str) -> tuple[str, ...]:
        members = by_kind[kind]
        is_called = [record.outcome.recovered == (kind == NO_LAW) for record in members]
        details = [record.outcome.details for record in members]
        by_description = sum(bool(each.get("constant_is_best")) for each in details)
        return str(len(members)), str(sum(is_called)), str(by_description), str(sum(is_called) - by_description)

    return TextTable(
        headings=("tables with", "tables", "called unexplained", "a constant is best", "no better than chance"),
        rows=tuple((name, *cells(kind)) for kind, name in names.items() if kind in by_kind),
    )


def _coverage_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Trust: coverage of 95 % intervals",
        notes=(*origin_lines(records), COVERAGE_NOTE),
        table=coverage_table(records),
        failures=tuple(
            f"{record.trial.problem}, {record.trial.setting}: {record.outcome.details.get('coverage')}"
            for record in records
            if not record.outcome.recovered
        ),
    )


def coverage_table(records: Sequence[Record]) -> TextTable:
    """Return one row per law, noise and number of rows: the share of intervals that hold the truth."""
    rows = []
    for record in records:
        values, shares = _values(record), record.outcome.details.get("coverage", {})
        noise = values["model"] if values["model"] != "normal" else f"{float(values['noise']):.0%}"
        cells = (f"{100 * shares[kind]:.1f}" if kind in shares else "" for kind in KINDS)
        rows.append((f"{record.trial.problem}: `{record.outcome.formula}`", noise, values["rows"], *cells))
    headings = ("law", "noise", "rows", "constants %", "law %", "new %", "constants by profile %")
    return TextTable(headings=headings, rows=tuple(rows))
