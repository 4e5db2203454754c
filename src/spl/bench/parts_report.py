"""The report on `spl bench parts`: how much is recovered without each part, and how fast."""

from collections.abc import Sequence

from spl.bench.parts import EXACT_SETTING, NOISY_SETTING, POINTS20, VARIANTS, Variant
from spl.bench.random import RANDOM_RULE
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import group, origin_lines, spell_seconds, summarise
from spl.bench.text_table import TextTable

COLUMNS = {EXACT_SETTING: "random exact", NOISY_SETTING: "random noise 0.01", POINTS20: "Nguyen points20"}  # headings


def parts_sections(records: Sequence[Record]) -> list[Section]:
    """Return a section per time limit."""
    return [
        Section(
            title="The contribution of each part",
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
    """Return one row per variant, that with all parts first: recovered and median seconds for each setting of problems."""
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
