"""Results as tables compared with the paper's, and as one Markdown document with figures.

Each experiment has a function that makes sections from records; the terminal and the document show the same sections.
"""

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from spl.bench.ablation import ABLATION_MODELS, ablation_problems, paper_rate
from spl.bench.balls_report import balls_sections
from spl.bench.groups_report import groups_sections
from spl.bench.knowledge_report import knowledge_sections
from spl.bench.lorenz_report import lorenz_sections
from spl.bench.parts_report import parts_sections
from spl.bench.pendulum_report import pendulum_sections
from spl.bench.random import ACCURACY_RULE, RANDOM_RULE, Condition, rate_of_accurate
from spl.bench.records import Record
from spl.bench.sampling_report import sampling_sections
from spl.bench.section import Section, write_section
from spl.bench.summaries import Summary, failure_lines, group, origin_lines, spell_seconds, spell_timeout, summarise
from spl.bench.systems_report import systems_sections
from spl.bench.tables_report import tables_sections
from spl.bench.text_table import TextTable
from spl.bench.trials import EXPERIMENTS, OURS
from spl.bench.trust_report import trust_sections
from spl.datasets.nguyen import Problem, nguyen_problems
from spl.datasets.random_formulas import MAX_FORMULA_VARIABLES
from spl.errors import DataError

NO_FIGURES = 'No figures: they need matplotlib. Install it with: pip install "symbolic-physics-learner[plot]"'
COST_BANDS = ((5, 7), (8, 10), (11, 13), (14, 15))  # of random formulas
_UNSEEN = {"paper": "the separate test range", "points20": "1,000 other points of the same range"}


# ---- the Nguyen problems -------------------------------------------------------------------------


def nguyen_sections(records: Sequence[Record]) -> list[Section]:
    """Return a section per setting, method and time limit."""
    kinds = group(records, lambda record: (record.trial.setting, record.trial.tool, record.trial.timeout))
    return [_nguyen_section(setting, tool, timeout, members) for (setting, tool, timeout), members in kinds.items()]


def _nguyen_section(setting: str, tool: str, timeout: float | None, records: Sequence[Record]) -> Section:
    by_problem = group(records, lambda record: record.trial.problem)
    found = {
        problem: summarise(by_problem[problem.name]) for problem in nguyen_problems() if problem.name in by_problem
    }
    rule = f"Recovered: equal to the truth to 1e-6 on {_UNSEEN[setting]}, which the search never saw."
    columns = (
        "SPL, NGGP, GP: the paper's rates in percent in its own setting, and its average seconds on its own machine."
    )

    def draw(path: Path) -> None:
        from spl.bench.figures import draw_times

        draw_times(found, path)

    is_default = tool == OURS
    return Section(
        title=f"Nguyen problems, setting {setting}" + ("" if is_default else ", method of the paper"),
        notes=(*origin_lines(records), rule, columns),
        table=nguyen_table(found),
        failures=tuple(failure_lines(_in_order(by_problem, list(found)))),
        figure=f"nguyen-{setting}"
        + ("" if is_default else "-method-paper")
        + ("" if timeout is None else f"-{timeout:g}s"),
        draw=draw,
    )


def _in_order(by_problem: dict[str, list[Record]], problems: Sequence[Problem]) -> list[Record]:
    return [record for p in problems for record in sorted(by_problem[p.name], key=lambda record: record.trial.seed)]


def nguyen_table(found: dict[Problem, Summary]) -> TextTable:
    """Return one row per problem: how often it was recovered, the effort, and the paper's results."""
    headings = (
        "problem",
        "recovered",
        "paper SPL",
        "paper NGGP",
        "paper GP",
        "median s",
        "worst s",
        "formulas tried",
        "SPL s",
        "NGGP s",
    )
    rows = tuple(
        (
            problem.name,
            f"{summary.n_recovered} of {summary.n_trials}",
            *map(_percent, (problem.paper_spl, problem.paper_nggp, problem.paper_gp)),
            *map(spell_seconds, (summary.median_seconds, summary.worst_seconds)),
            "" if summary.median_evaluations is None else f"{summary.median_evaluations:,}",
            *map(spell_seconds, (problem.paper_seconds, problem.paper_nggp_seconds)),
        )
        for problem, summary in found.items()
    )
    return TextTable(headings=headings, rows=rows, total=_nguyen_average(found))


def _nguyen_average(found: dict[Problem, Summary]) -> tuple[str, ...] | None:
    """Return the mean rates over the rows that the paper also has; None if there are fewer than two."""
    both = {problem: summary for problem, summary in found.items() if problem.paper_spl is not None}
    if len(both) < 2:
        return None
    rates = [
        statistics.fmean(rate for problem in both if (rate := getattr(problem, field)) is not None)
        for field in ("paper_spl", "paper_nggp", "paper_gp")
    ]
    ours = statistics.fmean(summary.rate for summary in both.values())
    return (f"average of {len(both)}", f"{_percent(ours)} %", *map(_percent, rates), "", "", "", "", "")


def _percent(rate: float | None) -> str:
    return "" if rate is None else f"{100 * rate:.1f}".removesuffix(".0")


# ---- the ablation study --------------------------------------------------------------------------


def ablation_sections(records: Sequence[Record]) -> list[Section]:
    """Return a section per time limit."""
    return [_ablation_section(members) for members in group(records, lambda record: record.trial.timeout).values()]


def _ablation_section(records: Sequence[Record]) -> Section:
    timeout = records[0].trial.timeout
    cells = {
        name: summarise(members)
        for name, members in group(records, lambda record: (record.trial.problem, record.trial.setting)).items()
    }
    models = "; ".join(f"{model.name}: {model.without}" for model in ABLATION_MODELS)

    def draw(path: Path) -> None:
        from spl.bench.figures import draw_ablation

        draw_ablation(cells, path)

    return Section(
        title="Ablation study: recovered, in percent",
        notes=(
            *origin_lines(records),
            f"Models: {models}.",
            f"The paper states no time limit; ours: {spell_timeout(timeout)}.",
        ),
        table=ablation_table(cells),
        figure="ablation" + ("" if timeout is None else f"-{timeout:g}s"),
        draw=draw,
    )


def ablation_table(cells: dict[tuple[str, str], Summary]) -> TextTable:
    """Return one row per problem: the rates of our five models, then those of the paper."""
    problems = [problem.name for problem in ablation_problems() if any(name == problem.name for name, _ in cells)]
    ours = [[_rate(cells.get((name, model.name))) for model in ABLATION_MODELS] for name in problems]
    theirs = [[paper_rate(model, name) for model in ABLATION_MODELS] for name in problems]
    n_trials = {name: max(s.n_trials for (problem, _), s in cells.items() if problem == name) for name in problems}
    return TextTable(
        headings=(
            "problem",
            "trials",
            *(f"ours {model.name}" for model in ABLATION_MODELS),
            *(f"paper {model.name}" for model in ABLATION_MODELS),
        ),
        rows=tuple(
            (name, str(n_trials[name]), *map(_percent, (*our, *their)))
            for name, our, their in zip(problems, ours, theirs, strict=True)
        ),
        total=("average", "", *map(_average, zip(*ours, strict=True)), *map(_average, zip(*theirs, strict=True))),
    )


def _rate(summary: Summary | None) -> float | None:
    return None if summary is None else summary.rate


def _average(rates: Sequence[float | None]) -> str:
    known = [rate for rate in rates if rate is not None]
    return _percent(statistics.fmean(known)) if known else ""


# ---- noise and scarcity --------------------------------------------------------------------------


def noise_sections(records: Sequence[Record]) -> list[Section]:
    """Return a section per time limit."""
    from spl.bench.noise import draw_noise, noise_notes, noise_table

    return [
        Section(
            title="Noise and scarcity",
            notes=tuple(noise_notes(members)),
            table=noise_table(members),
            figure="noise" if timeout is None else f"noise-{timeout:g}s",
            draw=partial(draw_noise, members),
        )
        for timeout, members in group(records, lambda record: record.trial.timeout).items()
    ]


# ---- random formulas -----------------------------------------------------------------------------


def random_sections(records: Sequence[Record]) -> list[Section]:
    """Return a section per time limit and number of threads."""
    kinds = group(records, lambda record: (record.trial.timeout, Condition.of(record.trial.setting).n_threads))
    return [_random_section(timeout, n_threads, members) for (timeout, n_threads), members in kinds.items()]


def _random_section(timeout: float | None, n_threads: int, records: Sequence[Record]) -> Section:
    cores = "one thread per trial" if n_threads == 1 else f"{n_threads} threads per trial"

    def draw(path: Path) -> None:
        from spl.bench.figures import draw_random

        draw_random(records, path)

    return Section(
        title="Random formulas: recovered",
        notes=(
            *origin_lines(records, cores),
            "Default operators, constants and search; 200 rows. Noise is its standard deviation over the root mean square of "
            "the exact values. Cost: tokens of the simplest form.",
            f"{RANDOM_RULE} {ACCURACY_RULE}",
        ),
        table=random_table(records),
        failures=tuple(_random_failure(record) for record in records if not record.outcome.recovered),
        figure=f"random-{n_threads}-threads" + ("" if timeout is None else f"-{timeout:g}s"),
        draw=draw,
    )


def _random_failure(record: Record) -> str:
    """Return a line with the formula that a trial found, and the true one."""
    noise = Condition.of(record.trial.setting).noise
    place, _, rest = failure_lines([record])[0].partition(": ")
    return f"{place}, noise {noise:.3g}: `{record.settings['truth']}` is the truth; found {rest}"


def random_table(records: Sequence[Record]) -> TextTable:
    """Return rows by cost, constants and variables: recovered at each level of noise, then accurate at each, in percent."""
    levels = sorted({Condition.of(record.trial.setting).noise for record in records})
    return TextTable(
        headings=(
            "formulas",
            "trials",
            *(f"noise {noise:.3g}" for noise in levels),
            *(f"accurate {noise:.3g}" for noise in levels),
            "median s",
        ),
        rows=tuple(
            (name, *_random_cells(members, levels)) for name, members in _random_rows(records).items() if members
        ),
        total=("all", *_random_cells(records, levels)),
    )


def _random_rows(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the rows of the table: the same records by cost, by constants and by number of variables."""
    rows = {
        f"cost {low} to {high}": [record for record in records if low <= record.settings["cost"] <= high]
        for low, high in COST_BANDS
    }
    for has_constants, name in ((False, "without constants"), (True, "with constants")):
        rows[name] = [record for record in records if record.settings["has_constants"] is has_constants]
    for n_variables in range(1, MAX_FORMULA_VARIABLES + 1):
        name = "1 variable" if n_variables == 1 else f"{n_variables} variables"
        rows[name] = [record for record in records if record.settings["n_variables"] == n_variables]
    return rows


def _random_cells(records: Sequence[Record], levels: Sequence[float]) -> list[str]:
    by_level = group(records, lambda record: Condition.of(record.trial.setting).noise)
    members = [by_level.get(noise, []) for noise in levels]
    return [
        str(len(records)),
        *(_percent(summarise(some).rate) if some else "" for some in members),
        *(_percent(rate_of_accurate(some)) if some else "" for some in members),
        spell_seconds(summarise(records).median_seconds),
    ]


# ---- other tools ---------------------------------------------------------------------------------


def against_sections(records: Sequence[Record]) -> list[Section]:
    """Return a section per setting and time limit: one row per problem, two columns per tool."""
    kinds = group(records, lambda record: (record.trial.setting, record.trial.timeout))
    return [
        Section(
            title=f"Comparison with other tools, setting {setting}",
            notes=(*origin_lines(members), "The same data, time limit and rule of recovery for all tools."),
            table=against_table(members),
        )
        for (setting, _), members in kinds.items()
    ]


def against_table(records: Sequence[Record]) -> TextTable:
    """Return one row per problem: how often each tool recovered it, and its median seconds."""
    cells = {
        name: summarise(members)
        for name, members in group(records, lambda record: (record.trial.problem, record.trial.tool)).items()
    }
    tools = list(dict.fromkeys(tool for _, tool in cells))
    order = {problem.name: index for index, problem in enumerate(nguyen_problems())}
    problems = sorted({name for name, _ in cells}, key=lambda name: (order.get(name, len(order)), name))

    def cells_of(summary: Summary | None) -> tuple[str, str]:
        if summary is None:
            return "", ""
        return f"{summary.n_recovered} of {summary.n_trials}", f"{summary.median_seconds:.2f}"

    totals = [summarise([record for record in records if record.trial.tool == tool]) for tool in tools]
    return TextTable(
        headings=("problem", *(heading for tool in tools for heading in (tool, f"{tool} seconds"))),
        rows=tuple(
            (name, *(cell for tool in tools for cell in cells_of(cells.get((name, tool))))) for name in problems
        ),
        total=("all", *(cell for summary in totals for cell in cells_of(summary))),
    )


# ---- the document --------------------------------------------------------------------------------

SECTIONS: dict[str, Callable[[Sequence[Record]], list[Section]]] = {
    "nguyen": nguyen_sections,
    "ablation": ablation_sections,
    "noise": noise_sections,
    "random": random_sections,
    "tables": tables_sections,
    "parts": parts_sections,
    "trust": trust_sections,
    "groups": groups_sections,
    "knowledge": knowledge_sections,
    "lorenz": lorenz_sections,
    "systems": systems_sections,
    "sampling": sampling_sections,
    "balls": balls_sections,
    "pendulum": pendulum_sections,
    "against": against_sections,
}


def write_report(records: Sequence[Record], directory: Path | None) -> str:
    """Return a Markdown document on all experiments in the records; figures go into the directory, if given."""
    if not records:
        raise DataError("There are no results yet. Run for example: spl bench nguyen --seeds 0-1")
    has_figures = directory is not None and can_draw()
    parts = ["# Results of the experiments\n"]
    by_experiment = group(records, lambda record: record.trial.experiment)
    for experiment in (name for name in EXPERIMENTS if name in by_experiment):
        for section in SECTIONS[experiment](by_experiment[experiment]):
            parts.append(write_section(section, directory if has_figures else None))
    if directory is not None and not has_figures:
        parts.append(f"{NO_FIGURES}\n")
    return "\n".join(parts)


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True
