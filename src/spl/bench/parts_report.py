"""The section of the report on `spl bench parts`: what is recovered without each part, and how soon."""

from collections.abc import Sequence

from spl.bench.parts import EXACT, NOISY, POINTS20, VARIANTS, Variant
from spl.bench.random import RULE as RANDOM_RULE
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import group, origin_lines, spell_seconds, summarise
from spl.bench.text_table import TextTable

COLUMNS = {EXACT: "random exact", NOISY: "random noise 0.01", POINTS20: "Nguyen points20"}  # headings


def parts_sections(records: Sequence[Record]) -> list[Section]:
    """Return a section for each time limit."""
    return [
        Section(
            title="What each part brings",
            notes=(
                *origin_lines(members),
                "Each row is the search without one of the parts that we added to the paper's; without the bank, it is the paper's.",
                "Random formulas: default operators and constants; 200 rows, exact, or with noise of 0.01 of the root mean square "
                "of the exact values. Nguyen problems: 20 points, exact.",
                RANDOM_RULE,
            ),
            table=parts_table(members),
        )
        for members in group(records, lambda record: record.trial.timeout).values()
    ]


def parts_table(records: Sequence[Record]) -> TextTable:
    """Return one row a variant, that with all parts first: recovered, and the median seconds, for each way to pose a problem."""
    trials = group(records, lambda record: record.trial.setting)

    def cells_of(variant: Variant) -> list[str]:
        members = [trials.get(variant.setting(posed), []) for posed in COLUMNS]
        return [cell for some in members for cell in _recovered_and_seconds(some)]

    return TextTable(
        headings=("variant", *(heading for name in COLUMNS.values() for heading in (name, "median s"))),
        rows=tuple((f"{variant.name}: {variant.without}", *cells_of(variant)) for variant in VARIANTS),
    )


def _recovered_and_seconds(records: Sequence[Record]) -> tuple[str, str]:
    if not records:
        return "", ""
    summary = summarise(records)
    return f"{summary.n_recovered} of {summary.n_trials}", spell_seconds(summary.median_seconds)
