"""The command `spl bench tables`. Slow imports are inside functions."""

import importlib.util

import click

from spl.bench.options import RunOptions, finite, running_options, seeds_option, split_words, timeout_option
from spl.bench.run_command import run_and_show


@click.command()
@click.option(
    "--parts",
    default="noise,wide,few,unrelated",
    show_default=True,
    metavar="LIST",
    help="noise: laws with four variants of noise. wide: many columns. few: 20 rows. unrelated: columns that explain nothing.",
)
@click.option(
    "--laws",
    metavar="LIST",
    help="Laws, for example hill,darcy, and of the part wide, for example wave. [default: all of spl.datasets.LAWS and WIDE_LAWS]",
)
@click.option(
    "--variants",
    default="even,relative,outliers,counts",
    show_default=True,
    metavar="LIST",
    help="Variants of noise in the parts noise and few.",
)
@click.option(
    "--tools",
    metavar="LIST",
    help="Any of spl, gplearn and pyoperon; the others run in the parts noise and wide. "
    "[default: spl, and those of the others that are installed]",
)
@click.option("--rows", type=click.IntRange(min=1), default=200, show_default=True, help="Rows in the part noise.")
@click.option(
    "--tables",
    "n_tables",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Tables per noise model in the part unrelated.",
)
@seeds_option("0")
@timeout_option(30.0)
@running_options()
def tables(
    parts: str,
    laws: str | None,
    variants: str,
    tools: str | None,
    rows: int,
    n_tables: int,
    seeds: str,
    timeout: float,
    running: RunOptions,
) -> None:
    """Recover laws from tables as they are measured, with the defaults.

    Twenty laws of biology, chemistry, earth science and engineering, with even noise, relative noise, gross errors, or as counts;
    laws among up to 500 columns; tables of 20 rows; and columns that explain nothing. A law counts as recovered if it is correct
    except for the exact values of its numbers.

    \b
    Examples:
      spl bench tables --parts noise --laws hill,darcy --variants counts --tools spl
      spl bench tables --parts wide --laws wave --tools spl,gplearn
      spl bench tables --parts unrelated --tables 10
      spl bench tables
    """
    from spl.bench.selection import parse_seeds
    from spl.bench.tables import LAW_NAMES, TABLES, WIDE_LAW_NAMES, TablesPlan

    plan = TablesPlan(
        parts=tuple(split_words(parts)),
        laws=(*LAW_NAMES, *WIDE_LAW_NAMES) if laws is None else tuple(split_words(laws)),
        variants=tuple(split_words(variants)),
        tools=_installed_tools() if tools is None else tuple(split_words(tools)),
        seeds=tuple(parse_seeds(seeds)),
        timeout=finite(timeout),
        n_rows=rows,
        n_unrelated=n_tables,
    )
    run_and_show(TABLES, plan.trials(), "tables", running)


def _installed_tools() -> tuple[str, ...]:
    """Return ours and those of the other tools that are installed; a note names each that is missing."""
    from spl.bench.gplearn import NO_GPLEARN
    from spl.bench.pyoperon import NO_PYOPERON
    from spl.bench.table_tools import GPLEARN, PYOPERON
    from spl.bench.trials import OURS

    tools = [OURS]
    for tool, note in ((GPLEARN, NO_GPLEARN), (PYOPERON, NO_PYOPERON)):
        if importlib.util.find_spec(tool) is None:
            click.echo(f"Note: {note}", err=True)
        else:
            tools.append(tool)
    return tuple(tools)
