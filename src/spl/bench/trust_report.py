"""The report on `spl bench trust`: one section per part."""

from collections.abc import Callable, Sequence

from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import group, origin_lines
from spl.bench.text_table import TextTable
from spl.bench.trust import TRUST_PARTS, read_trust_setting
from spl.bench.trust_chance import A_LAW, HELD_OUT_SHARE, NO_LAW
from spl.bench.trust_coverage import KINDS, LEAST_COVERAGE, MOST_COVERAGE, N_COVERED
from spl.bench.trust_identifiability import LEAST_FLAGGED, MOST_FALSE_ALARMS
from spl.bench.trust_suggest import N_MORE_ROWS
from spl.datasets.small_laws import N_SMALL_ROWS, SMALL_NOISE
from spl.regression.rivals import WITHIN_NATS

CHANCE_NOTE = (
    f"{HELD_OUT_SHARE:.0%} of the rows are held out. Called unexplained: a constant describes the other rows best, or the chosen "
    "formula is no better than chance on the held-out rows. The last two columns say how often each was the reason."
)
COVERAGE_NOTE = (
    f"Share of 95 % intervals that hold the truth, of {N_COVERED} tables per row; the true formula is fitted, without a search. All "
    f"must be between {LEAST_COVERAGE:.0%} and {MOST_COVERAGE:.0%}. Noise: standard deviation over that of the law."
)
_TABLES_NOTE = (
    f"Tables of {N_SMALL_ROWS} rows of 20 simple laws of one to three columns; noise of {SMALL_NOISE:.0%} of their spread. A formula "
    "is right if it is the law but for the values of its numbers."
)
RIVALS_NOTE = f"Rivals: formulas within {WITHIN_NATS:g} nats of the chosen one. Where that is wrong, the law should be among them."
SUGGEST_NOTE = (
    f"Where the first formula is wrong, the table gets {N_MORE_ROWS} more rows at suggested or random points, and is searched again. "
    "The law should be found at least 1.5 times as often with suggested points. If it is no rival, points separate it from "
    "the others only by luck."
)

IDENTIFIABILITY_NOTE = (
    "Each system is measured along one trajectory. Flagged: other simple equations fit the trajectory as well. Where this is true, at "
    f"least {LEAST_FLAGGED:.0%} should be flagged, and at most {MOST_FALSE_ALARMS:.0%} of the others."
)


def trust_sections(records: Sequence[Record]) -> list[Section]:
    """Return the sections, one per part."""
    make: dict[str, Callable[[Sequence[Record]], Section]] = {
        "chance": _chance_section,
        "coverage": _coverage_section,
        "rivals": _rivals_section,
        "suggest": _suggest_section,
        "identifiability": _identifiability_section,
    }
    parts = group(records, lambda record: _values(record)["part"])
    return [make[part](parts[part]) for part in TRUST_PARTS if part in parts]


def _values(record: Record) -> dict[str, str]:
    return read_trust_setting(record.trial.setting)


# ---- chance ------------------------------------------------------------------------------------------


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


# ---- coverage ----------------------------------------------------------------------------------------


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


# ---- rivals ------------------------------------------------------------------------------------------


def _rivals_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Trust: the law among the rivals",
        notes=(*origin_lines(records), _TABLES_NOTE, RIVALS_NOTE),
        table=rivals_table(records),
        failures=tuple(
            f"{record.trial.problem}, seed {record.trial.seed}: `{record.outcome.formula}`, without the law among "
            f"{record.outcome.details.get('rivals')} rivals"
            for record in records
            if not record.outcome.recovered
        ),
    )


def rivals_table(records: Sequence[Record]) -> TextTable:
    """Return one row per law, and all together: how often it was chosen, and where not, how often it was among the rivals."""

    def cells(members: Sequence[Record]) -> tuple[str, ...]:
        wrong = [record for record in members if not record.outcome.details.get("is_right")]
        n_among = sum(record.outcome.recovered for record in wrong)
        n_rivals = sum(int(record.outcome.details.get("rivals", 0)) for record in members)
        return str(len(members)), str(len(wrong)), str(n_among), f"{n_rivals / len(members):.1f}"

    return TextTable(
        headings=("law", "tables", "wrong", "law among rivals", "rivals per table"),
        rows=tuple((law, *cells(some)) for law, some in group(records, lambda record: record.trial.problem).items()),
        total=("all", *cells(records)),
    )


# ---- suggest -----------------------------------------------------------------------------------------


def _suggest_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Trust: suggested points",
        notes=(*origin_lines(records), _TABLES_NOTE, SUGGEST_NOTE),
        table=suggest_table(records),
    )


def suggest_table(records: Sequence[Record]) -> TextTable:
    """Return how often the law was found with suggested and with random points, by whether it was among the rivals before."""
    wrong = [record for record in records if not record.outcome.details.get("is_right")]
    by_rivals = group(wrong, lambda record: record.outcome.details.get("nats_of_law") is not None)
    names = {True: "among the rivals", False: "not among them"}

    def cells(members: Sequence[Record]) -> tuple[str, ...]:
        suggested = sum(record.outcome.recovered for record in members)
        random = sum(bool(record.outcome.details.get("random_is_right")) for record in members)
        return str(len(members)), str(suggested), str(random), f"{suggested / random:.2f}" if random else ""

    return TextTable(
        headings=("law before", "wrong tables", "found with suggested points", "found with random points", "ratio"),
        rows=tuple((name, *cells(by_rivals[kind])) for kind, name in names.items() if kind in by_rivals),
        total=("all", *cells(wrong)),
    )


# ---- identifiability ---------------------------------------------------------------------------------


def _identifiability_section(records: Sequence[Record]) -> Section:
    return Section(
        title="Trust: systems measured along one trajectory",
        notes=(*origin_lines(records), IDENTIFIABILITY_NOTE),
        table=identifiability_table(records),
        failures=tuple(
            f"{record.trial.problem}, seed {record.trial.seed}: {'' if record.outcome.details.get('flagged') else 'not '}flagged; "
            f"`{record.outcome.formula}`"
            for record in records
            if not record.outcome.recovered
        ),
    )


def identifiability_table(records: Sequence[Record]) -> TextTable:
    """Return a row for systems that their trajectory does not determine, and one for the others: how many were flagged."""
    by_kind = group(records, lambda record: bool(record.outcome.details.get("is_unique")))
    names = {False: "other equations fit as well", True: "determined by the trajectory"}

    def cells(kind: bool) -> tuple[str, ...]:
        members = by_kind[kind]
        flagged = sum(bool(record.outcome.details.get("flagged")) for record in members)
        return str(len(members)), str(flagged), f"{flagged / len(members):.0%}"

    return TextTable(
        headings=("systems", "number", "flagged", "share"),
        rows=tuple((name, *cells(kind)) for kind, name in names.items() if kind in by_kind),
    )
