"""The `spl bench` commands: read options, run trials, show tables. Slow imports are inside functions."""

import importlib.util
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spl.bench.dynamics_commands import lorenz, sampling, systems
from spl.bench.groups_commands import groups
from spl.bench.knowledge_commands import knowledge
from spl.bench.options import (
    RESULTS_FOLDER,
    RunOptions,
    check_timeout,
    finite,
    method_option,
    problems_option,
    running_options,
    seeds_option,
    split_words,
    threads_option,
    timeout_option,
)
from spl.bench.physics_commands import balls, pendulum
from spl.bench.run_command import run_and_show
from spl.bench.table_commands import tables
from spl.bench.trust_commands import trust
from spl.errors import DataError, SettingError

if TYPE_CHECKING:
    from spl.bench.records import Record


@click.group()
def bench() -> None:
    """Run the experiments of the paper, and compare the results with its published ones.

    Every result is saved as soon as it is available. Ctrl-C ends a run at once; the same command continues it.

    \b
    Examples:
      spl bench nguyen --seeds 0-1            the Nguyen problems, two runs each
      spl bench ablation --seeds 0-1          the search without its adjustments
      spl bench noise --seeds 0-1             noise and few points
      spl bench random --formulas 0-19        random formulas
      spl bench tables --parts noise          tables as they are measured
      spl bench parts --formulas 0-9          the search without one of its parts
      spl bench trust --parts coverage        what we say about how sure we are
      spl bench groups --parts laws           numbers that each group has for itself
      spl bench knowledge --noise 0           laws with and without their units
      spl bench lorenz --seeds 0-1            the Lorenz system
      spl bench systems --noise 0.01          well-known systems
      spl bench sampling --noise 0            coarse samples
      spl bench balls --seeds 0-1             falling balls
      spl bench pendulum --seeds 0-1          a filmed double pendulum
      spl bench report -o report              all results as tables and figures
    """


bench.add_command(tables)
bench.add_command(trust)
bench.add_command(groups)
bench.add_command(knowledge)
bench.add_command(lorenz)
bench.add_command(systems)
bench.add_command(sampling)
bench.add_command(balls)
bench.add_command(pendulum)


# ---- the experiments -----------------------------------------------------------------------------


@bench.command()
@problems_option
@seeds_option("0-99")
@click.option(
    "--setting",
    type=click.Choice(["paper", "points20"]),
    default="paper",
    show_default=True,
    help="paper: grammars, hyperparameters, points and ranges of the paper. points20: 20 points, one grammar for all problems.",
)
@click.option(
    "--timeout",
    type=float,
    callback=check_timeout,
    metavar="SECONDS",
    help="Time limit of each trial in seconds; inf for no limit. [default: inf for paper, 60 for points20]",
)
@method_option
@running_options()
def nguyen(
    problems: str | None,
    seeds: str,
    setting: str,
    method: str,
    timeout: float | None,
    running: RunOptions,
) -> None:
    """Recover the Nguyen problems.

    A law counts as recovered if it equals the truth to 1e-6 on data that the search never saw. 6-code is Nguyen-6 as in
    the published code, 12-wide is Nguyen-12 on the range from 0 to 10.

    \b
    Examples:
      spl bench nguyen --seeds 0-9
      spl bench nguyen --seeds 0-9 --method paper
      spl bench nguyen --problems 1-4,9c --setting points20 --timeout 10
      spl bench nguyen --problems 12 --json | jq .rows
    """
    from spl.bench.nguyen import DEFAULT_TIMEOUTS, NGUYEN, nguyen_trials
    from spl.bench.selection import parse_problems, parse_seeds
    from spl.bench.trials import METHOD_TOOLS
    from spl.datasets import nguyen_problems

    known = nguyen_problems()
    chosen = known if problems is None else parse_problems(problems, known)
    limit = DEFAULT_TIMEOUTS[setting] if timeout is None else finite(timeout)
    trials = nguyen_trials(chosen, parse_seeds(seeds), setting, limit, METHOD_TOOLS[method])
    run_and_show(NGUYEN, trials, f"nguyen-{setting}", running)


@bench.command()
@click.option("--problems", metavar="LIST", help="Nguyen problems, for example 1-4,12. [default: 1-12]")
@seeds_option("0-9")
@timeout_option(20.0, "Time limit of each trial in seconds; inf for no limit, as in the paper, which takes days.")
@running_options()
def ablation(problems: str | None, seeds: str, timeout: float, running: RunOptions) -> None:
    """Search Nguyen-1 to -12 without the adjustments of the paper.

    Model A leaves out adaptive scaling, B the discount for long formulas, C module transplantation, D all three. Grammars,
    hyperparameters, points and ranges are those of the paper.

    \b
    Examples:
      spl bench ablation --seeds 0-1 --timeout 5
      spl bench ablation --problems 1-4
    """
    from spl.bench.ablation import ABLATION, ablation_problems, ablation_trials
    from spl.bench.selection import parse_problems, parse_seeds

    known = ablation_problems()
    chosen = known if problems is None else parse_problems(problems, known)
    trials = ablation_trials(chosen, parse_seeds(seeds), finite(timeout))
    run_and_show(ABLATION, trials, "ablation-paper", running)


@bench.command()
@click.option(
    "--tools",
    metavar="LIST",
    help="Any of spl, spl-paper (the search of the paper) and gplearn. [default: spl, and gplearn if installed]",
)
@seeds_option("0-9")
@timeout_option(math.inf)
@running_options()
def noise(tools: str | None, seeds: str, timeout: float, running: RunOptions) -> None:
    """Recover a cubic law from noisy and few points.

    Sixteen cells: noise of 0 to 30 percent, 20 to 1,000 points. Both tools use the settings that the paper states.

    \b
    Examples:
      spl bench noise --seeds 0-1
      spl bench noise --tools spl,spl-paper --seeds 0-19
    """
    from spl.bench.noise import NOISE, noise_trials
    from spl.bench.selection import parse_seeds

    chosen = _installed_tools() if tools is None else split_words(tools)
    trials = noise_trials(parse_seeds(seeds), chosen, finite(timeout))
    run_and_show(NOISE, trials, "noise-paper", running)


@bench.command()
@click.option(
    "--formulas", default="0-199", show_default=True, metavar="LIST", help="Random formulas, for example 0-19, or 3,17."
)
@click.option(
    "--noise",
    default="0,0.001,0.01,0.1",
    show_default=True,
    metavar="LIST",
    help="Levels of noise: standard deviation over the root mean square of the exact values.",
)
@seeds_option("0")
@timeout_option(30.0)
@threads_option
@running_options(n_jobs=1, shown="1", cores="each with its threads")
def random(
    formulas: str,
    noise: str,
    seeds: str,
    timeout: float,
    threads: int,
    running: RunOptions,
) -> None:
    """Recover random formulas with the defaults, from exact and noisy data.

    Formulas of 5 to 15 tokens over 1 to 5 variables, half of them with constants; 200 rows each. Without noise, a formula
    counts as recovered if it equals the truth to 1e-6 on data that the search never saw; with noise, if it is correct
    except for the exact values of its numbers.

    \b
    Examples:
      spl bench random --formulas 0-19 --noise 0 --timeout 10
      spl bench random
    """
    from spl.bench.random import RANDOM, random_trials
    from spl.bench.selection import parse_formulas, parse_noise, parse_seeds

    trials = random_trials(
        parse_formulas(formulas),
        parse_noise(noise),
        parse_seeds(seeds),
        timeout=finite(timeout),
        n_threads=threads,
    )
    run_and_show(RANDOM, trials, "random", running)


@bench.command()
@click.option("--formulas", default="0-39", show_default=True, metavar="LIST", help="Random formulas, for example 0-9.")
@problems_option
@seeds_option("0")
@timeout_option(5.0)
@running_options()
def parts(
    formulas: str,
    problems: str | None,
    seeds: str,
    timeout: float,
    running: RunOptions,
) -> None:
    """Search without one of the parts that we added to the paper's search.

    Random formulas, exact and with 1 percent noise, and the Nguyen problems with 20 points: once with all parts, and once
    without each of them: the bank and everything that uses it, inversion, each of the closers, jumps. All other settings are the
    defaults.

    \b
    Examples:
      spl bench parts --formulas 0-9 --problems 1,12
      spl bench parts
    """
    from spl.bench.parts import PARTS, parts_trials
    from spl.bench.selection import parse_formulas, parse_problems, parse_seeds
    from spl.datasets import nguyen_problems

    known = nguyen_problems()
    chosen = known if problems is None else parse_problems(problems, known)
    trials = parts_trials(parse_formulas(formulas), chosen, parse_seeds(seeds), finite(timeout))
    run_and_show(PARTS, trials, "parts", running)


def _installed_tools() -> list[str]:
    """Return all tools of the experiment; only ours, with a note, if gplearn is missing."""
    from spl.bench.gplearn import NO_GPLEARN
    from spl.bench.noise import USUAL_TOOLS

    if importlib.util.find_spec("gplearn") is not None:
        return list(USUAL_TOOLS)
    click.echo(f"Note: {NO_GPLEARN}", err=True)
    return ["spl"]


# ---- report --------------------------------------------------------------------------------------


@bench.command()
@click.argument("files", nargs=-1)
@click.option("-o", "--output", metavar="DIR", help="Folder for report.md and its figures. [default: print the tables]")
def report(files: tuple[str, ...], output: str | None) -> None:
    """Turn results into Markdown tables and figures.

    FILES are files of results, by default all in bench-results. If a trial is in several files, the last one counts.

    \b
    Examples:
      spl bench report
      spl bench report bench-results/nguyen-paper.jsonl -o report
    """
    from spl.bench.report import write_report

    records = _read_all([Path(name) for name in files] or sorted(RESULTS_FOLDER.glob("*.jsonl")))
    directory = None if output is None else Path(output)
    text = write_report(records, directory)
    if directory is None:
        click.echo(text)
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "report.md").write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingError(f"The report cannot be written to '{output}': {error.strerror or error}.") from None
    click.echo(f"Wrote {directory / 'report.md'}")


def _read_all(paths: Sequence[Path]) -> list["Record"]:
    from spl.bench.records import latest, read

    if not paths:
        raise DataError(f"There are no results in '{RESULTS_FOLDER}'. Run for example: spl bench nguyen --seeds 0-1")
    return latest(record for path in paths for record in read(path))
