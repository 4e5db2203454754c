"""`spl bench tables`: the default settings on tables as they are measured, compared with gplearn and pyoperon.

It has four parts:

noise       twenty laws, each with four variants of noise. Our default, which has to find out the noise itself, is compared with a
            search that has the same information: normal noise that it is told (see `law_tables`).
wide        ten laws among 20, 100 and 500 columns, exact and with 5 % noise.
few         the twenty laws with 20 rows, with our default and with the normal model: another noise model may lead to another formula
            only if a note says that the rows cannot tell.
unrelated   a hundred tables whose columns explain nothing, with every noise model: the answer is a constant.

A law is recovered if the chosen formula is correct except for the exact values of its numbers, which `structure` checks on 1,000 rows
that the search never saw; from exact data, if it equals the law to 1e-6 there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spl.bench.random import unexplained_error
from spl.bench.structure import has_structure_of_law
from spl.bench.table_tools import TableFit, TableTask, check_tools, describe_tool, fit_table
from spl.bench.trials import OURS, Experiment, Outcome, Trial, is_recovered, relative_error
from spl.datasets.law_tables import (
    N_LAW_ROWS,
    OVER_DECADES,
    TABLE_VARIANTS,
    make_informed_table,
    make_law_table,
    make_law_test,
)
from spl.datasets.laws import LAWS, load_law
from spl.datasets.unrelated import TARGET_KINDS, make_unrelated
from spl.datasets.wide_tables import (
    WIDE_COLUMNS,
    WIDE_LAWS,
    WIDE_NOISE_LEVELS,
    load_wide_law,
    make_wide_table,
    make_wide_test,
)
from spl.errors import SettingError, explain_unknown
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate

TABLE_PARTS = ("noise", "wide", "few", "unrelated")
AUTO = "auto"  # the default noise model of ours: it chooses one of the others
TRUE_MODELS = {"even": "normal", "relative": "relative", "outliers": "student", "counts": "poisson"}  # of each variant
NOISE_MODELS = (AUTO, *TARGET_KINDS)
MEASURED, INFORMED = "measured", "informed"  # the table, and its partner with the same information
N_FEW_ROWS = 20
FEW_MODELS = (AUTO, "normal")
N_UNRELATED = 100
LAW_NAMES = tuple(law.name for law in LAWS)
WIDE_LAW_NAMES = tuple(law.name for law in WIDE_LAWS)
CANNOT_TELL = "cannot tell"  # words of the note that says that the rows do not decide between noise models


# ---- the trials ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesPlan:
    """What is run: parts, laws, variants, tools and seeds. Tools other than ours run only in `noise` and `wide`.

    Examples:
        >>> plan = TablesPlan(parts=("noise",), laws=("hill",), variants=("counts",))
        >>> [trial.setting for trial in plan.trials()]
        ['part=noise variant=counts data=measured rows=200', 'part=noise variant=counts data=informed rows=200']
    """

    parts: tuple[str, ...] = TABLE_PARTS
    laws: tuple[str, ...] = (*LAW_NAMES, *WIDE_LAW_NAMES)
    variants: tuple[str, ...] = TABLE_VARIANTS
    tools: tuple[str, ...] = (OURS,)
    seeds: tuple[int, ...] = (0,)
    timeout: float | None = 30.0  # seconds per trial; None for no limit
    n_rows: int = N_LAW_ROWS  # of the part `noise`
    n_unrelated: int = N_UNRELATED  # tables per noise model

    def __post_init__(self) -> None:
        _check_names("part", self.parts, TABLE_PARTS)
        _check_names("law", self.laws, (*LAW_NAMES, *WIDE_LAW_NAMES))
        _check_names("variant", self.variants, TABLE_VARIANTS)
        if self.n_rows < 1 or self.n_unrelated < 1:
            raise SettingError(f"`rows` and `tables` must be 1 or more; got {min(self.n_rows, self.n_unrelated)}.")
        check_tools(self.tools, self.timeout)

    def trials(self) -> list[Trial]:
        """Return the trials, part by part and seed by seed, all tools on the same table in turn."""
        list_trials = {
            "noise": self._noise_trials,
            "wide": self._wide_trials,
            "few": self._few_trials,
            "unrelated": self._unrelated_trials,
        }
        return [trial for part in self.parts for seed in self.seeds for trial in list_trials[part](seed)]

    def _noise_trials(self, seed: int) -> list[Trial]:
        searches = [(tool, MEASURED) for tool in self.tools]
        if OURS in self.tools:
            searches.append((OURS, INFORMED))
        return [
            self._trial(law, seed, tool, part="noise", variant=variant, data=data, rows=self.n_rows)
            for law in self._chosen(LAW_NAMES)
            for variant in self.variants
            for tool, data in searches
        ]

    def _wide_trials(self, seed: int) -> list[Trial]:
        return [
            self._trial(law, seed, tool, part="wide", columns=n_columns, noise=f"{noise:g}")
            for law in self._chosen(WIDE_LAW_NAMES)
            for n_columns in WIDE_COLUMNS
            for noise in WIDE_NOISE_LEVELS
            for tool in self.tools
        ]

    def _few_trials(self, seed: int) -> list[Trial]:
        return [
            self._trial(law, seed, OURS, part="few", variant=variant, model=model)
            for law in self._chosen(LAW_NAMES)
            for variant in self.variants
            for model in FEW_MODELS
        ]

    def _unrelated_trials(self, seed: int) -> list[Trial]:
        return [
            self._trial(f"unrelated-{number:03d}", seed, OURS, part="unrelated", model=model)
            for number in range(self.n_unrelated)
            for model in NOISE_MODELS
        ]

    def _chosen(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.laws]

    def _trial(self, problem: str, seed: int, tool: str, **setting: object) -> Trial:
        return Trial(
            experiment="tables",
            setting=write_setting(**setting),
            tool=tool,
            problem=problem,
            seed=seed,
            timeout=self.timeout,
        )


def _check_names(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise SettingError(explain_unknown(what, name, known))
    if not names:
        raise SettingError(f"No {what} is named. Choose from: {', '.join(known)}.")


def write_setting(**values: object) -> str:
    """Return the setting of a trial as text.

    Examples:
        >>> write_setting(part="wide", columns=100, noise=0.05)
        'part=wide columns=100 noise=0.05'
    """
    return " ".join(f"{name}={value}" for name, value in values.items())


def read_setting(setting: str) -> dict[str, str]:
    """Return the values of a setting by name.

    Examples:
        >>> read_setting("part=wide columns=100 noise=0.05")
        {'part': 'wide', 'columns': '100', 'noise': '0.05'}
    """
    values = dict(word.split("=", 1) for word in setting.split() if "=" in word)
    if values.get("part") not in TABLE_PARTS:
        raise SettingError(f"'{setting}' is not a setting of tables. Write for example 'part=unrelated model=auto'.")
    return values


# ---- running one ---------------------------------------------------------------------------------


def run_tables(trial: Trial) -> Outcome:
    """Search the table of a trial with its tool."""
    values = read_setting(trial.setting)
    run = {"noise": _run_noise, "wide": _run_wide, "few": _run_few, "unrelated": _run_unrelated}[values["part"]]
    return run(trial, values)


def tables_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the tool, and the true formula."""
    part = read_setting(trial.setting)["part"]
    settings = describe_tool(trial.tool, trial.timeout)
    if part == "unrelated":
        return settings
    law = load_wide_law(trial.problem) if part == "wide" else load_law(trial.problem)
    return settings | {"truth": law.expression}


TABLES = Experiment(name="tables", run=run_tables, settings=tables_settings)


def _run_noise(trial: Trial, values: dict[str, str]) -> Outcome:
    law, variant, is_informed = load_law(trial.problem), values["variant"], values["data"] == INFORMED
    make = make_informed_table if is_informed else make_law_table
    rows = make(law, variant, trial.seed, int(values["rows"]))
    task = TableTask(
        names=law.variables,
        table=rows.table,
        target=rows.target,
        seed=trial.seed,
        timeout=trial.timeout,
        noise_model="normal" if is_informed else AUTO,
        sigma=rows.deviations if is_informed and variant in OVER_DECADES else None,
    )
    return _judge(fit_table(trial.tool, task), *make_law_test(law, variant, trial.seed), is_noisy=True)


def _run_wide(trial: Trial, values: dict[str, str]) -> Outcome:
    law, n_columns, noise = load_wide_law(trial.problem), int(values["columns"]), float(values["noise"])
    names, table, target = make_wide_table(law, n_columns, trial.seed, noise=noise)
    task = TableTask(names=names, table=table, target=target, seed=trial.seed, timeout=trial.timeout)
    _, test_table, truth = make_wide_test(law, n_columns, trial.seed)
    return _judge(fit_table(trial.tool, task), test_table, truth, is_noisy=noise > 0)


def _run_few(trial: Trial, values: dict[str, str]) -> Outcome:
    law, variant = load_law(trial.problem), values["variant"]
    rows = make_law_table(law, variant, trial.seed, N_FEW_ROWS)
    task = TableTask(
        names=law.variables,
        table=rows.table,
        target=rows.target,
        seed=trial.seed,
        timeout=trial.timeout,
        noise_model=values["model"],
    )
    return _judge(fit_table(trial.tool, task), *make_law_test(law, variant, trial.seed), is_noisy=True)


def _run_unrelated(trial: Trial, values: dict[str, str]) -> Outcome:
    number, model = int(trial.problem.removeprefix("unrelated-")), values["model"]
    table, target = make_unrelated(number, unrelated_kind(number, model))
    names = tuple(f"x{column}" for column in range(table.shape[1]))
    task = TableTask(names=names, table=table, target=target, seed=trial.seed, timeout=trial.timeout, noise_model=model)
    found = fit_table(trial.tool, task)
    return _outcome(found, recovered=not has_column(found.readings[0]), error=None)


def unrelated_kind(number: int, model: str) -> str:
    """Return the kind of target that a noise model is tried on: its own; for `auto` all that it chooses from, in turn.

    Examples:
        >>> unrelated_kind(0, "poisson"), [unrelated_kind(number, "auto") for number in range(4)]
        ('poisson', ['normal', 'relative', 'student', 'poisson'])
    """
    choices = tuple(TRUE_MODELS.values())
    return choices[number % len(choices)] if model == AUTO else model


def _judge(found: TableFit, test_table: NDArray[np.float64], truth: NDArray[np.float64], *, is_noisy: bool) -> Outcome:
    """Return the outcome of a fit, decided on exact rows that the tool never saw."""
    values = found.predict(test_table)
    recovered = (
        any(has_structure_of_law(reading, test_table, truth) for reading in found.readings)
        if is_noisy
        else is_recovered(relative_error(values, truth))
    )
    return _outcome(found, recovered=recovered, error=unexplained_error(values, truth))


def _outcome(found: TableFit, *, recovered: bool, error: float | None) -> Outcome:
    return Outcome(
        formula=found.formula,
        recovered=recovered,
        error=error,
        seconds=found.seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
        details=found.details,
    )


# ---- comparing formulas --------------------------------------------------------------------------


def has_column(program: Program) -> bool:
    """Return whether a formula contains any column.

    Examples:
        >>> [has_column(parse_expression(text, Vocabulary(("x",)))) for text in ("2 + x", "3.1")]
        [True, False]
    """
    return any(token >> tk.KIND_SHIFT == tk.VARIABLE for token in program.tokens)


def is_same_formula(first: str, second: str, law_name: str, variant: str) -> bool:
    """Return whether two formulas found for a law are the same except for the values of their numbers.

    Examples:
        >>> is_same_formula("2.4*s/(0.6 + s)", "1/(0.4 + 0.3/s)", "michaelis_menten", "even")
        True
        >>> is_same_formula("2.4*s/(0.6 + s)", "2*sqrt(s)", "michaelis_menten", "even")
        False
    """
    law = load_law(law_name)
    one, other = (parse_expression(text, Vocabulary(law.variables)) for text in (first, second))
    if literals_to_constants(one).tokens == literals_to_constants(other).tokens:
        return True
    if not (has_column(one) and has_column(other)):
        return has_column(one) == has_column(other)
    table, _ = make_law_test(law, variant, seed=0)
    return _can_become(one, other, table) or _can_become(other, one, table)


def _can_become(program: Program, other: Program, table: NDArray[np.float64]) -> bool:
    """Return whether a formula is another one once its numbers are fitted, where the other has values."""
    values = evaluate(other, np.ascontiguousarray(table.T))
    is_defined = np.isfinite(values)
    return bool(is_defined.any()) and has_structure_of_law(program, table[is_defined], values[is_defined])


def says_cannot_tell(notes: Sequence[str]) -> bool:
    """Return whether any note says that the rows cannot tell one noise model from another.

    Examples:
        >>> says_cannot_tell(["The rows cannot tell normal from relative noise."])
        True
    """
    return any(CANNOT_TELL in note for note in notes)
