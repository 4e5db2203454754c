"""`spl bench noise`: one law under sixteen conditions of noise and scarcity, searched by us and gplearn (Section 4.1 of the paper).

The paper states the law, the range, the search space and the settings of both tools, but neither its levels of noise nor when a
law counts as recovered under noise. Here, the terms must be right; the error measures the numbers.
"""

import re
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spl.bench.gplearn import GplearnConfig, fit_gplearn, require_gplearn
from spl.bench.records import Record
from spl.bench.summaries import Summary, group, origin_lines, summarise
from spl.bench.text_table import TextTable
from spl.bench.trials import (
    OURS,
    OURS_AS_IN_PAPER,
    RECORDED_DIGITS,
    Experiment,
    Outcome,
    Trial,
    noise_of,
    relative_error,
)
from spl.data.dataset import Dataset
from spl.errors import SettingError
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.regression.discover import discover
from spl.regression.fit import evaluate
from spl.regression.request import RegressionRequest
from spl.settings import Limits, SearchConfig

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

LAW = "0.3*x**3 + 0.5*x**2 + 2*x"
COEFFICIENTS = (2.0, 0.5, 0.3)  # of x, x**2, x**3
X_RANGE = 10.0  # x is drawn from -X_RANGE to X_RANGE
CUBIC_NOISE_LEVELS = (0.0, 0.05, 0.1, 0.3)  # standard deviation of the noise / root mean square of the exact values
N_POINTS = (20, 50, 200, 1000)
NOISE_TOOLS = (OURS, OURS_AS_IN_PAPER, "gplearn")
USUAL_TOOLS = (OURS, "gplearn")
PAPER_P_VALUE = 1.06e-7

# The search space of both: + - * /, numbers, x. A number is a leaf, as in gplearn.
CUBIC_GRAMMAR = "A -> A + A | A - A | A * A | A / A | C | x"
# The paper: eta 0.99, t_max 50, 10,000 episodes per trial. We spread them over its usual 20 rounds of transplantation.
CUBIC_CONFIG = SearchConfig(
    eta=0.99, max_rules=50, n_episodes=500, n_transplants=20, max_schedules=1, relative_loss=False, n_trees=1
)
CUBIC_PAPER_CONFIG = replace(CUBIC_CONFIG, n_completions=0, patience=None)  # the paper's search
GPLEARN_CONFIG = GplearnConfig()  # population 2,000, 20 generations, numbers from -10 to 10

# The rule of recovery uses a formula's values from -20 to 20, at points that are not round numbers, where quotients such as
# x*x/x are not 0/0; half of them are outside the data.
NODES = 2 * X_RANGE * np.polynomial.chebyshev.chebpts1(200)
TERM_VALUES = (NODES[:, np.newaxis] / (2 * X_RANGE)) ** np.array([1, 2, 3])  # [200, 3], each at most 1
ABSENT = 1e-9  # largest residual of the three terms, as a share of the largest value: rounding error
PRESENT = 1e-6  # least size of each of them, as a share of the largest value
CUBIC_RULE = (
    "Recovered: the chosen formula is a*x + b*x**2 + c*x**3 and nothing else, with none of the three 0: on 200 points from -20 to 20 "
    f"these terms reproduce its values to {ABSENT:g}, and each has a share of at least {PRESENT:g}. The error is the largest "
    "deviation from the exact law on [-10, 10], as a share of its largest value."
)


# ---- the experiment ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the sixteen cells.

    Examples:
        >>> Condition(0.05, 50).setting
        'noise=0.05 points=50'
        >>> Condition.of("noise=0.05 points=50")
        Condition(noise=0.05, n_points=50)
    """

    noise: float
    n_points: int

    @property
    def setting(self) -> str:
        """The name of the condition in a trial."""
        return f"noise={self.noise:g} points={self.n_points}"

    @classmethod
    def of(cls, setting: str) -> "Condition":
        """Return the condition with this name."""
        match = re.fullmatch(r"noise=(\S+) points=(\d+)", setting)
        if match is None:
            raise SettingError(f"'{setting}' is not a condition of noise. Write for example 'noise=0.05 points=50'.")
        return cls(float(match[1]), int(match[2]))

    def make_train(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return X [N, 1] and y [N], the same for every tool. The levels of noise scale the same random numbers."""
        rng = np.random.default_rng(seed)
        x = rng.uniform(-X_RANGE, X_RANGE, self.n_points)
        exact = law_at(x)
        deviation = self.noise * np.sqrt(np.mean(exact**2))
        return x[:, np.newaxis], exact + deviation * rng.standard_normal(self.n_points)


CONDITIONS = tuple(Condition(noise, n_points) for noise in CUBIC_NOISE_LEVELS for n_points in N_POINTS)


def law_at(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the exact values of the law."""
    return sum((c * x**power for power, c in enumerate(COEFFICIENTS, start=1)), np.zeros_like(x))


def noise_trials(seeds: Sequence[int], tools: Sequence[str] = USUAL_TOOLS, timeout: float | None = None) -> list[Trial]:
    """Return the trials, seed by seed, so that the finished ones are always a fair sample."""
    for tool in tools:
        if tool not in NOISE_TOOLS:
            raise SettingError(f"There is no tool '{tool}' in this experiment. Choose from: {', '.join(NOISE_TOOLS)}.")
    if "gplearn" in tools:
        require_gplearn()
    return [
        Trial(experiment="noise", setting=condition.setting, tool=tool, problem="cubic", seed=seed, timeout=timeout)
        for seed in seeds
        for condition in CONDITIONS
        for tool in tools
    ]


def run_noise(trial: Trial) -> Outcome:
    """Search the law of a trial with its tool under its condition, on one core."""
    table, target = Condition.of(trial.setting).make_train(trial.seed)
    return _run_gplearn(trial, table, target) if trial.tool == "gplearn" else _run_ours(trial, table, target)


def noise_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the tool."""
    return GPLEARN_CONFIG.to_dict() if trial.tool == "gplearn" else _config_of(trial).to_dict()


NOISE = Experiment(name="noise", run=run_noise, settings=noise_settings)


def _config_of(trial: Trial) -> SearchConfig:
    return CUBIC_PAPER_CONFIG if trial.tool == OURS_AS_IN_PAPER else CUBIC_CONFIG


def _run_ours(trial: Trial, table: NDArray[np.float64], target: NDArray[np.float64]) -> Outcome:
    began = time.perf_counter()
    found = discover(
        RegressionRequest(
            Dataset.from_arrays(table, target, names=("x",)),
            Grammar.from_text(CUBIC_GRAMMAR),
            config=_config_of(trial),
            noise=noise_of(_config_of(trial)),
            limits=Limits(timeout=trial.timeout),
            seed=trial.seed,
        )
    )
    seconds = time.perf_counter() - began
    program = found.front[found.front.choose("mdl", found.n_rows, found.floor)].program
    return Outcome(
        formula=to_text(program, RECORDED_DIGITS),
        recovered=has_terms_of_law(evaluate(program, NODES[np.newaxis])),
        error=_error_of(evaluate(program, _unseen()[np.newaxis])),
        seconds=seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


def _run_gplearn(trial: Trial, table: NDArray[np.float64], target: NDArray[np.float64]) -> Outcome:
    began = time.perf_counter()
    found = fit_gplearn(table, target, names=("x",), config=GPLEARN_CONFIG, seed=trial.seed, timeout=trial.timeout)
    seconds = time.perf_counter() - began
    return Outcome(
        formula=to_text(found.program, RECORDED_DIGITS),
        recovered=has_terms_of_law(found.predict(NODES[:, np.newaxis])),
        error=_error_of(found.predict(_unseen()[:, np.newaxis])),
        seconds=seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
    )


# ---- the rule of recovery ------------------------------------------------------------------------


def has_terms_of_law(values: NDArray[np.float64]) -> bool:
    """Return whether values at NODES are those of a polynomial with exactly the terms x, x**2, x**3, whatever its coefficients.

    Examples:
        >>> has_terms_of_law(NODES * (1 + 2 * NODES) * NODES + NODES)
        True
        >>> has_terms_of_law(NODES**3 + NODES)
        False
    """
    scale = float(np.max(np.abs(values)))
    if not (np.isfinite(scale) and scale > 0):
        return False
    shares = np.linalg.lstsq(TERM_VALUES, values / scale, rcond=None)[0]
    rest = np.abs(TERM_VALUES @ shares - values / scale)
    return bool(np.max(rest) <= ABSENT and np.min(np.abs(shares)) >= PRESENT)


def _unseen() -> NDArray[np.float64]:
    return np.linspace(-X_RANGE, X_RANGE, 1000)


def _error_of(values: NDArray[np.float64]) -> float | None:
    return relative_error(values, law_at(_unseen()))


# ---- the report ----------------------------------------------------------------------------------

Cells = dict[tuple[Condition, str], list[Record]]


def noise_notes(records: Sequence[Record]) -> list[str]:
    """Return the notes of the table: the origin of the records, the experiment, the rule and the statistical test."""
    return [
        *origin_lines(records),
        f"Target {LAW}, x uniform on [-10, 10]; noise is its standard deviation over the root mean square of the exact values. "
        "The paper also has a grid of 4 x 4, but does not print its levels.",
        f"spl: grammar `{CUBIC_GRAMMAR}`, eta {CUBIC_CONFIG.eta:g}, t_max {CUBIC_CONFIG.max_rules}, 10,000 episodes as "
        f"{CUBIC_CONFIG.n_transplants} rounds of {CUBIC_CONFIG.n_episodes}; spl-paper: the same without completion. gplearn: "
        "population 2,000, 20 generations, numbers from -10 to 10, + - * /, otherwise its defaults.",
        CUBIC_RULE,
        describe_test(records),
    ]


def noise_table(records: Sequence[Record]) -> TextTable:
    """Return one row per cell: how often each tool recovered the law, its median error and its median seconds."""
    cells = _cells(records)
    tools = _tools(records)
    return TextTable(
        headings=(
            "noise, points",
            *tools,
            *(f"{tool} error" for tool in tools),
            *(f"{tool} seconds" for tool in tools),
        ),
        rows=tuple(
            (
                f"{condition.noise:.0%}, {condition.n_points:,}",
                *_row([cells.get((condition, tool), []) for tool in tools]),
            )
            for condition in _conditions(cells)
        ),
        total=("all", *_row([[record for record in records if record.trial.tool == tool] for tool in tools])),
    )


def _row(members: Sequence[Sequence[Record]]) -> list[str]:
    found = [summarise(records) if records else None for records in members]
    return [
        *("" if summary is None else f"{summary.n_recovered} of {summary.n_trials}" for summary in found),
        *(_median_error(records) for records in members),
        *("" if summary is None else f"{summary.median_seconds:.1f}" for summary in found),
    ]


def _median_error(records: Sequence[Record]) -> str:
    """Return the median error; one that cannot be computed counts as larger than any other."""
    errors = [np.inf if record.outcome.error is None else record.outcome.error for record in records]
    return f"{statistics.median_high(errors):.1g}" if errors else ""


def _cells(records: Sequence[Record]) -> Cells:
    return group(records, lambda record: (Condition.of(record.trial.setting), record.trial.tool))


def _conditions(cells: Cells) -> list[Condition]:
    return sorted({condition for condition, _ in cells}, key=lambda cell: (cell.noise, cell.n_points))


def _tools(records: Sequence[Record]) -> list[str]:
    """Return the tools that have results, ours first."""
    return [tool for tool in NOISE_TOOLS if any(record.trial.tool == tool for record in records)]


def describe_test(records: Sequence[Record]) -> str:
    """Return the paper's T-test in words: is our recovery rate higher, over the cells that both tools have?"""
    cells = _cells(records)
    tool = OURS if any(record.trial.tool == OURS for record in records) else OURS_AS_IN_PAPER
    pair = (tool, "gplearn")
    both = [condition for condition in _conditions(cells) if all((condition, tool) in cells for tool in pair)]
    ours, theirs = ([summarise(cells[condition, tool]).rate for condition in both] for tool in pair)
    test = f"T-test, paired over {len(both)} cells, one-sided ({tool} higher; scipy.stats.ttest_rel)"
    if len({our - their for our, their in zip(ours, theirs, strict=True)}) < 2:
        return f"{test}: not defined, because the difference of the rates is the same in all cells."
    from scipy.stats import ttest_rel

    p_value = float(ttest_rel(ours, theirs, alternative="greater").pvalue)
    return f"{test}: p = {p_value:.2g}. The paper reports p = {PAPER_P_VALUE:.2e} and does not say which T-test."


def draw_noise(records: Sequence[Record], path: Path) -> None:
    """Draw a heat map of recovery rates for each tool, noise by points, on one colour scale and with the values as text."""
    from matplotlib.figure import Figure

    from spl.bench.figures import save_figure

    cells = {name: summarise(members) for name, members in _cells(records).items()}
    tools = _tools(records)
    figure = Figure(figsize=(1.2 + 3.7 * len(tools), 4.2), layout="constrained")
    maps = figure.subplots(1, len(tools), sharey=True, squeeze=False)[0]
    for axes, tool in zip(maps, tools, strict=True):
        image = _draw_rates(axes, cells, tool)
    maps[0].set_ylabel("noise")
    figure.colorbar(image, ax=list(maps), label="recovered, %", shrink=0.8)
    save_figure(figure, path)


def _draw_rates(axes: "Axes", cells: dict[tuple[Condition, str], Summary], tool: str) -> "AxesImage":
    conditions = {condition for condition, _ in cells}
    levels = sorted({condition.noise for condition in conditions})
    counts = sorted({condition.n_points for condition in conditions})
    found = [[cells.get((Condition(noise, n_points), tool)) for n_points in counts] for noise in levels]
    rates = [[np.nan if summary is None else 100 * summary.rate for summary in row] for row in found]
    image = axes.imshow(rates, cmap="cividis", vmin=0.0, vmax=100.0)
    n_trials = {summary.n_trials for row in found for summary in row if summary is not None}
    axes.set_title(f"{tool} (trials per cell: {min(n_trials)})" if len(n_trials) == 1 else tool)
    axes.set_xticks(range(len(counts)), [f"{n_points:,}" for n_points in counts])
    axes.set_yticks(range(len(levels)), [f"{noise:.0%}" for noise in levels])
    axes.set_xlabel("points")
    for row, values in enumerate(rates):
        for column, rate in enumerate(values):
            if rate == rate:
                colour = "black" if rate > 50 else "white"
                axes.text(column, row, f"{rate:.0f}", ha="center", va="center", color=colour)
    return image
