"""The commands `spl bench lorenz` and `spl bench systems`. Slow imports are inside functions."""

import importlib.util

import click

from spl.bench.options import (
    RunOptions,
    finite,
    running_options,
    seeds_option,
    split_words,
    threads_option,
    timeout_option,
)
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--data",
    default="paper,paper-states,simulated",
    show_default=True,
    metavar="LIST",
    help="paper: the paper's states and derivatives. paper-states: only its states. simulated: our own simulation.",
)
@click.option(
    "--noise",
    default="0.05,0.1,0.2,0.5,1",
    show_default=True,
    metavar="LIST",
    help="Levels of noise of simulated data: standard deviation over the root mean square of each state.",
)
@seeds_option("0-9")
@timeout_option(60.0)
@threads_option
@running_options(n_jobs=1, shown="1", cores="each with its threads")
def lorenz(
    data: str,
    noise: str,
    seeds: str,
    timeout: float,
    threads: int,
    running: RunOptions,
) -> None:
    """Recover the Lorenz system from the paper's data and from simulated data with noise.

    Equations may contain + - * / and numbers, as in the paper. The system counts as recovered if all three equations have
    exactly the true terms.

    \b
    Examples:
      spl bench lorenz --seeds 0-1
      spl bench lorenz --data simulated --noise 0.05,0.1
    """
    from spl.bench.lorenz import LORENZ, lorenz_trials
    from spl.bench.selection import parse_noise, parse_seeds

    trials = lorenz_trials(
        split_words(data), parse_noise(noise), parse_seeds(seeds), timeout=finite(timeout), n_threads=threads
    )
    run_and_show(LORENZ, trials, "lorenz", running)


@click.command()
@click.option(
    "--systems", metavar="LIST", help="Systems, for example duffing,sir. [default: all of spl.datasets.SYSTEMS]"
)
@click.option(
    "--noise",
    default="0,0.01,0.05,0.1",
    show_default=True,
    metavar="LIST",
    help="Levels of noise: standard deviation over the root mean square of each state.",
)
@click.option(
    "--tools",
    metavar="LIST",
    help="Any of spl, pysindy and pysindy-weak, its weak form. [default: spl, and the others if pysindy is installed]",
)
@seeds_option("0")
@timeout_option(60.0)
@threads_option
@running_options(n_jobs=1, shown="1", cores="each with its threads")
def systems(
    systems: str | None,
    noise: str,
    tools: str | None,
    seeds: str,
    timeout: float,
    threads: int,
    running: RunOptions,
) -> None:
    """Recover twelve well-known systems at several levels of noise, and compare with pysindy on the same data.

    All systems use the same settings: our defaults; for pysindy, monomials up to degree 3. An equation counts as right if it is
    correct except for the exact values of its numbers, a system if all of its equations are right.

    \b
    Examples:
      spl bench systems --systems van_der_pol,duffing --noise 0.01 --tools spl
      spl bench systems
    """
    from spl.bench.selection import parse_noise, parse_seeds
    from spl.bench.systems import SYSTEMS_EXPERIMENT, systems_trials
    from spl.datasets import SYSTEMS

    trials = systems_trials(
        list(SYSTEMS) if systems is None else split_words(systems),
        parse_noise(noise),
        parse_seeds(seeds),
        tools=_installed_tools() if tools is None else split_words(tools),
        timeout=finite(timeout),
        n_threads=threads,
    )
    run_and_show(SYSTEMS_EXPERIMENT, trials, "systems", running)


def _installed_tools() -> list[str]:
    """Return all tools; only ours, with a note, if pysindy is missing."""
    from spl.bench.sindy import NO_PYSINDY
    from spl.bench.systems import SYSTEMS_TOOLS
    from spl.bench.trials import OURS

    if importlib.util.find_spec("pysindy") is not None:
        return list(SYSTEMS_TOOLS)
    click.echo(f"Note: {NO_PYSINDY}", err=True)
    return [OURS]
