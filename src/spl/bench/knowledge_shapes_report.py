"""The report on the part `shapes` of `spl bench knowledge`."""

import math
from collections.abc import Sequence

import numpy as np

from spl.bench.knowledge_shapes import GOOD_ERROR
from spl.bench.records import Record
from spl.bench.section import Section
from spl.bench.summaries import group, origin_lines
from spl.bench.text_table import TextTable

SHAPES_NOTE = (
    "Ten laws, each measured in 10 to 15 rows with 5 to 10 % noise and asked far outside of the data. Error: root mean square error "
    "there, without noise, as a share of the spread of the law there; the geometric mean over seeds. With: formulas may not "
    f"break what is known, where the law is measured and asked. Good: an error below {GOOD_ERROR:.0%}."
)
LARGEST_ERROR, SMALLEST_ERROR = 1e3, 1e-6  # in means: one formula that explodes should not be all that counts


def shapes_section(records: Sequence[Record]) -> Section:
    """Return the section: one row per law."""
    failures = [
        f"{record.trial.problem}, {record.trial.setting}, seed {record.trial.seed}: "
        + (f"`{record.outcome.formula}`" if record.outcome.formula else "nothing found")
        for record in records
        if not record.outcome.recovered
    ]
    return Section(
        title="Knowledge: shapes",
        notes=(*origin_lines(records), SHAPES_NOTE),
        table=shapes_table(records),
        failures=tuple(failures),
    )


def shapes_table(records: Sequence[Record]) -> TextTable:
    """Return the errors outside of the data, without and with statements, how many are good, and the times."""

    def cells(members: Sequence[Record]) -> tuple[str, ...]:
        plain, known = ([each for each in members if f"know={know}" in each.trial.setting] for know in ("no", "yes"))
        n_good = [sum(each.outcome.recovered for each in some) for some in (plain, known)]
        seconds = [
            f"{np.median([each.outcome.seconds for each in some]):.1f}" if some else "" for some in (plain, known)
        ]
        return (
            str(max(len(plain), len(known))),
            *(f"{_mean_error(some):.2g}" if some else "" for some in (plain, known)),
            *(str(n) for n in n_good),
            *seconds,
        )

    return TextTable(
        headings=("law", "tables", "error without", "error with", "good without", "good with", "s without", "s with"),
        rows=tuple((law, *cells(some)) for law, some in group(records, lambda record: record.trial.problem).items()),
        total=("all", *cells(records)),
    )


def _mean_error(records: Sequence[Record]) -> float:
    """Return the geometric mean of errors; formulas without a value, and searches without a formula, count as the largest."""
    errors = [LARGEST_ERROR if record.outcome.error is None else record.outcome.error for record in records]
    return math.exp(float(np.mean(np.log(np.clip(errors, SMALLEST_ERROR, LARGEST_ERROR)))))
