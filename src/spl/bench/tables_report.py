"""The report on `spl bench tables`: one section per part."""

from collections.abc import Callable, Sequence

from spl.bench.random import RANDOM_RULE
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import failure_lines, group, origin_lines, spell_seconds, summarise
from spl.bench.table_tools import TABLE_TOOLS
from spl.bench.tables import (
    AUTO,
    FEW_MODELS,
    INFORMED,
    LAW_NAMES,
    MEASURED,
    NOISE_MODELS,
    TABLE_PARTS,
    TRUE_MODELS,
    is_same_formula,
    read_setting,
    says_cannot_tell,
)
from spl.bench.text_table import TextTable
from spl.bench.trials import OURS
from spl.datasets.law_tables import TABLE_VARIANTS

INFORMED_NOTE = (
    "Share: spl over the same information. That is our search with the normal model, where the noise of the same rows is normal and "
    "known. even: the same table. relative and counts: normal noise, with the true standard deviation of each row. outliers: only the "
    "rows without gross errors."
)
FEW_NOTE = (
    '20 rows, with the default and with noise="normal". A formula counts as other if it differs in more than its numbers. Then a note '
    "must say that the rows cannot tell: the last column must be 0."
)
UNRELATED_NOTE = (
    "Each noise model on targets of its own kind; auto on normal, relative, student and Poisson targets in turn."
)


def tables_sections(records: Sequence[Record]) -> list[Section]:
    """Return the sections of each time limit, one per part; two for the noise."""
    make: dict[str, Callable[[Sequence[Record]], list[Section]]] = {
        "noise": _noise_sections,
        "wide": _wide_sections,
        "few": _few_sections,
        "unrelated": _unrelated_sections,
    }
    sections = []
    for members in group(records, lambda record: record.trial.timeout).values():
        parts = group(members, lambda record: _value(record, "part"))
        sections += [section for part in TABLE_PARTS if part in parts for section in make[part](parts[part])]
    return sections


# ---- noise ---------------------------------------------------------------------------------------


def _noise_sections(records: Sequence[Record]) -> list[Section]:
    kinds = group(records, lambda record: _value(record, "rows"))
    return [section for n_rows, members in kinds.items() for section in _noise_sections_of(n_rows, members)]


def _noise_sections_of(n_rows: str, records: Sequence[Record]) -> tuple[Section, Section]:
    return (
        Section(
            title=f"Tables as they are measured: laws recovered from {n_rows} rows",
            notes=(*origin_lines(records), INFORMED_NOTE, RANDOM_RULE),
            table=noise_table(records),
        ),
        Section(
            title=f"Tables as they are measured: each law, {n_rows} rows",
            notes=("For each variant: recovered with our default, and with the same information.",),
            table=laws_table(records),
            failures=tuple(line for record in records if _is_ours(record) for line in _failures(record)),
        ),
    )


def noise_table(records: Sequence[Record]) -> TextTable:
    """Return one row per variant: what our default recovers, what the same information allows, named noise, other tools."""
    tools = [tool for tool in TABLE_TOOLS[1:] if any(record.trial.tool == tool for record in records)]

    def cells_of(members: Sequence[Record]) -> tuple[str, ...]:
        ours = [record for record in members if _is_ours(record)]
        informed = _select(members, data=INFORMED)
        others = ([record for record in members if record.trial.tool == tool] for tool in tools)
        seconds = spell_seconds(summarise(ours).median_seconds) if ours else ""
        return (_count(ours), _count(informed), _ratio(ours, informed), _named(ours), *map(_count, others), seconds)

    by_variant = group(records, lambda record: _value(record, "variant"))
    return TextTable(
        headings=("noise", "spl", "same information", "share %", "noise named", *tools, "spl s"),
        rows=tuple((variant, *cells_of(by_variant[variant])) for variant in TABLE_VARIANTS if variant in by_variant),
        total=("all", *cells_of(records)),
    )


def laws_table(records: Sequence[Record]) -> TextTable:
    """Return one row per law: for each variant, recovered with our default and with the same information."""
    by_law = group(records, lambda record: record.trial.problem)
    variants = [variant for variant in TABLE_VARIANTS if _select(records, variant=variant)]

    def cell_of(members: Sequence[Record], variant: str) -> str:
        ours, informed = (
            _count(_select(members, tool=OURS, variant=variant, data=data)) for data in (MEASURED, INFORMED)
        )
        return f"{ours}; {informed}" if ours or informed else ""

    return TextTable(
        headings=("law", *variants),
        rows=tuple(
            (law, *(cell_of(by_law[law], variant) for variant in variants)) for law in LAW_NAMES if law in by_law
        ),
    )


def _is_ours(record: Record) -> bool:
    """Return whether a trial of the part `noise` is one of our default."""
    return record.trial.tool == OURS and _value(record, "data") == MEASURED


def _named(records: Sequence[Record]) -> str:
    """Return in how many trials the default named the true noise model."""
    right = [_noise_of(record) == TRUE_MODELS[_value(record, "variant")] for record in records]
    return f"{sum(right)} of {len(right)}" if right else ""


def _failures(record: Record) -> list[str]:
    """Return a line with what a trial found instead of the law; none if it recovered it."""
    variant = _value(record, "variant") or f"{_value(record, 'columns')} columns, noise {_value(record, 'noise')}"
    place_and_found = [line.partition(": ") for line in failure_lines([record])]
    said = f"; noise model: {_noise_of(record)}" if _noise_of(record) else ""
    return [
        f"{place}, {variant}: `{record.settings['truth']}` is the truth; found {found.removesuffix(')')}{said})"
        for place, _, found in place_and_found
    ]


# ---- the other parts -----------------------------------------------------------------------------


def _wide_sections(records: Sequence[Record]) -> list[Section]:
    return [
        Section(
            title="Tables with many columns: laws recovered",
            notes=(
                *origin_lines(records),
                "2 to 5 relevant columns; 400 rows. Noise is its standard deviation over the root mean square of the exact values.",
                RANDOM_RULE,
            ),
            table=wide_table(records),
            failures=tuple(line for record in records if record.trial.tool == OURS for line in _failures(record)),
        )
    ]


def wide_table(records: Sequence[Record]) -> TextTable:
    """Return one row per number of columns and level of noise: what each tool recovers, and our seconds."""
    tools = [tool for tool in TABLE_TOOLS if any(record.trial.tool == tool for record in records)]
    kinds = group(records, lambda record: (int(_value(record, "columns")), float(_value(record, "noise"))))

    def cells_of(members: Sequence[Record]) -> list[str]:
        found = [[record for record in members if record.trial.tool == tool] for tool in tools]
        seconds = [spell_seconds(summarise(some).median_seconds) if some else "" for some in found]
        return [cell for count, median in zip(map(_count, found), seconds, strict=True) for cell in (count, median)]

    return TextTable(
        headings=("columns", "noise", *(heading for tool in tools for heading in (tool, f"{tool} s"))),
        rows=tuple(
            (str(n_columns), f"{noise:g}", *cells_of(members)) for (n_columns, noise), members in sorted(kinds.items())
        ),
    )


def _few_sections(records: Sequence[Record]) -> list[Section]:
    return [
        Section(
            title="Twenty rows: the default and the normal model",
            notes=(*origin_lines(records), FEW_NOTE, RANDOM_RULE),
            table=few_table(records),
            failures=tuple(_silent_lines(records)),
        )
    ]


def few_table(records: Sequence[Record]) -> TextTable:
    """Return one row per variant: what both models recover, and how often the default chooses another formula and says why."""

    def cells_of(members: Sequence[Record]) -> tuple[str, ...]:
        recovered = [_count(_select(members, model=model)) for model in FEW_MODELS]
        pairs = _pairs(members)
        others = [auto for auto, plain in pairs if _is_other(auto, plain)]
        n_said = sum(_says_cannot_tell(auto) for auto in others)
        return (*recovered, str(len(pairs) - len(others)), str(n_said), str(len(others) - n_said))

    by_variant = group(records, lambda record: _value(record, "variant"))
    return TextTable(
        headings=("noise", "recovered auto", "recovered normal", "same formula", "other, said", "other, not said"),
        rows=tuple((variant, *cells_of(by_variant[variant])) for variant in TABLE_VARIANTS if variant in by_variant),
        total=("all", *cells_of(records)),
    )


def _pairs(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Return the trials of one table with the default and with the normal model, where there are both."""
    tables = group(records, lambda r: (r.trial.problem, r.trial.seed, _value(r, "variant")))
    by_model = [{_value(record, "model"): record for record in members} for members in tables.values()]
    return [(found[AUTO], found["normal"]) for found in by_model if set(FEW_MODELS) <= set(found)]


def _is_other(auto: Record, plain: Record) -> bool:
    first, second = auto.outcome.formula, plain.outcome.formula
    if first == second:
        return False
    return not (first and second) or not is_same_formula(first, second, auto.trial.problem, _value(auto, "variant"))


def _says_cannot_tell(record: Record) -> bool:
    return says_cannot_tell(record.outcome.details.get("notes", ()))


def _silent_lines(records: Sequence[Record]) -> list[str]:
    """Return a line for each table whose rows the default takes for more than they tell."""
    return [
        f"{auto.trial.problem}, seed {auto.trial.seed}, {_value(auto, 'variant')}: `{auto.outcome.formula}` with "
        f"{_noise_of(auto)} noise, `{plain.outcome.formula}` with the normal model, and no note"
        for auto, plain in _pairs(records)
        if _is_other(auto, plain) and not _says_cannot_tell(auto)
    ]


def _unrelated_sections(records: Sequence[Record]) -> list[Section]:
    return [
        Section(
            title="Unrelated columns: a constant is chosen",
            notes=(*origin_lines(records), UNRELATED_NOTE),
            table=unrelated_table(records),
            failures=tuple(
                f"{record.trial.problem}, {_value(record, 'model')}: `{record.outcome.formula}`"
                for record in records
                if not record.outcome.recovered
            ),
        )
    ]


def unrelated_table(records: Sequence[Record]) -> TextTable:
    """Return one row per noise model: how often the chosen formula is a constant."""
    by_model = group(records, lambda record: _value(record, "model"))
    return TextTable(
        headings=("noise model", "constant", "median s"),
        rows=tuple(
            (model, _count(by_model[model]), spell_seconds(summarise(by_model[model]).median_seconds))
            for model in NOISE_MODELS
            if model in by_model
        ),
    )


# ---- cells ---------------------------------------------------------------------------------------


def _value(record: Record, name: str) -> str:
    """Return a value of the setting of a trial; empty if it has none of this name."""
    return read_setting(record.trial.setting).get(name, "")


def _select(records: Sequence[Record], tool: str | None = None, **values: str) -> list[Record]:
    """Return the records of a tool, or of all, whose setting has these values."""
    return [
        record
        for record in records
        if tool in (None, record.trial.tool) and all(_value(record, name) == value for name, value in values.items())
    ]


def _noise_of(record: Record) -> str:
    return str(record.outcome.details.get("noise", ""))


def _count(records: Sequence[Record]) -> str:
    return f"{sum(record.outcome.recovered for record in records)} of {len(records)}" if records else ""


def _ratio(ours: Sequence[Record], informed: Sequence[Record]) -> str:
    """Return the share recovered by our default over that with the same information, in percent."""
    if not ours or not informed or not summarise(informed).n_recovered:
        return ""
    return f"{100 * summarise(ours).rate / summarise(informed).rate:.0f}"
